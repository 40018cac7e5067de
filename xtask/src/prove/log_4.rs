//! log.4, fill factors: full leaves, leaves with much room, and what FILLFACTOR = AUTO chooses, for
//! rows that come all over five of six indexes, in order, and in one place.
//!
//! Each run begins with a new table: 100,000 rows, a build, 100,000 rows more, which AUTO learns
//! from, the build in question; 100,000 rows more are what is measured.

use super::Figure;
use super::client::Client;
use super::crowd::asked;
use super::path_2::median;
use super::program::{Ground, Serving};
use super::scene::{number, script, session};
use crate::workspace::Outcome;
use std::time::Instant;

const ROWS: i64 = 100_000;
const VARIANTS: [(&str, &str); 3] = [
    ("AllOver", "in no order of five indexes of six"),
    ("InOrder", "in the order of all indexes"),
    ("OnePlace", "in one place of all indexes"),
];
const FILLS: [&str; 3] = ["100", "40", "AUTO"];
const REPETITIONS: usize = 3;
/// AUTO against the better of the others.
const RATIO_MAX: f64 = 1.10;

/// What 100,000 rows cost, and what they leave.
#[derive(Clone, Copy, Default)]
struct Cost {
    seconds: f64,
    cpu: f64,
    log_bytes: f64,
    splits: f64,
    pages: f64,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.4")?;
    let mut server = Serving::start(&ground.binary()?, &work.join("data"))?;
    drop(server.client()?);
    let mut figures = Vec::new();
    for (table, what) in VARIANTS {
        println!("  rows {what}:");
        println!("    FILLFACTOR   seconds    CPU s   log MB   splits    pages");
        let [full, roomy, auto] = costs(ground, &server, table)?;
        figures.extend(compare(what, &auto, [&full, &roomy]));
    }
    server.stop()?;
    Ok(figures)
}

/// The medians of some runs by each fill factor, in turns: a machine that becomes slower does so
/// for all.
fn costs(ground: &Ground<'_>, server: &Serving, table: &str) -> Outcome<[Cost; 3]> {
    let mut runs = FILLS.map(|_| Vec::new());
    for _ in 0..REPETITIONS {
        for (runs, fill) in runs.iter_mut().zip(FILLS) {
            runs.push(one(ground, server, (table, fill))?);
        }
    }
    let mut costs = [Cost::default(); 3];
    for ((cost, fill), runs) in costs.iter_mut().zip(FILLS).zip(runs) {
        *cost = shown(fill, runs);
    }
    Ok(costs)
}

/// The medians, and what AUTO chose in the last run.
fn shown(fill: &str, runs: Vec<(Cost, String)>) -> Cost {
    let chosen = runs.last().map(|run| run.1.clone()).unwrap_or_default();
    let runs: Vec<Cost> = runs.into_iter().map(|run| run.0).collect();
    let mid = |part: fn(&Cost) -> f64| median(runs.iter().map(part).collect());
    let cost = Cost {
        seconds: mid(|c| c.seconds),
        cpu: mid(|c| c.cpu),
        log_bytes: mid(|c| c.log_bytes),
        splits: mid(|c| c.splits),
        pages: mid(|c| c.pages),
    };
    println!(
        "    {:>10} {:>9.2} {:>8.2} {:>8.1} {:>8} {:>8}",
        fill,
        cost.seconds,
        cost.cpu,
        cost.log_bytes / 1e6,
        cost.splits,
        cost.pages
    );
    if !chosen.is_empty() {
        println!("      AUTO of index {chosen}");
    }
    cost
}

/// One run, and what AUTO chose in it.
fn one(
    ground: &Ground<'_>,
    server: &Serving,
    (table, fill): (&str, &str),
) -> Outcome<(Cost, String)> {
    let mut client = session(server, "master")?;
    script(ground, &mut client, "write_path/7_fill_factors.sql")?;
    drop(client);
    let mut client = session(server, "FillFactors")?;
    let rows = ground.scaled(ROWS);
    let add = |client: &mut Client, early: u8| {
        asked(client, &format!("EXEC dbo.Add{table} {rows}, {early}")).map(drop)
    };
    let build = |client: &mut Client, fill: &str| {
        let text = format!("ALTER INDEX ALL ON dbo.{table} REBUILD WITH (FILLFACTOR = {fill})");
        asked(client, &text).map(drop)
    };
    add(&mut client, 1)?;
    build(&mut client, "AUTO")?;
    add(&mut client, 0)?;
    build(&mut client, fill)?;
    let chosen = if fill == "AUTO" { chosen(&mut client, table)? } else { String::new() };
    asked(&mut client, "CHECKPOINT")?;
    let log = "SELECT num_of_bytes_written FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)";
    let written = number(&mut client, log)?;
    let (cpu, began) = (server.cpu()?, Instant::now());
    add(&mut client, 0)?;
    asked(&mut client, "EXEC sys.sp_flush_log")?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), (server.cpu()? - cpu).as_secs_f64());
    let log_bytes = (number(&mut client, log)? - written) as f64;
    let splits = format!(
        "SELECT SUM(split_count) FROM sys.dm_db_index_fill_factors \
         WHERE object_id = OBJECT_ID('dbo.{table}')"
    );
    let pages = format!(
        "SELECT SUM(in_row_used_page_count) FROM sys.dm_db_partition_stats \
         WHERE object_id = OBJECT_ID('dbo.{table}')"
    );
    let splits = number(&mut client, &splits)? as f64;
    let pages = number(&mut client, &pages)? as f64;
    Ok((Cost { seconds, cpu, log_bytes, splits, pages }, chosen))
}

/// What was chosen, by index.
fn chosen(client: &mut Client, table: &str) -> Outcome<String> {
    let chosen = asked(
        client,
        &format!(
            "SELECT CAST(index_id AS bigint), CAST(fill_factor AS bigint), \
             CAST(chosen_by_spread_percent AS bigint) FROM sys.dm_db_index_fill_factors \
             WHERE object_id = OBJECT_ID('dbo.{table}') ORDER BY index_id"
        ),
    )?;
    let of = |row: &Vec<i64>| match row[..] {
        [index, factor, spread] => format!("{index}: {factor} (splits on {spread} %)"),
        _ => String::new(),
    };
    let all: Vec<String> = chosen.rows.iter().map(of).collect();
    Ok(all.join(", "))
}

fn compare(what: &str, auto: &Cost, others: [&Cost; 2]) -> Vec<Figure> {
    let figure = |name: &str, part: fn(&Cost) -> f64| {
        let [full, roomy] = others.map(part);
        let ratio = part(auto) / full.min(roomy);
        Figure {
            what: format!("rows {what}: {name} under AUTO against the better of 100 and 40"),
            figure: format!("{ratio:.3}"),
            limit: format!("{RATIO_MAX:.2}"),
            pass: ratio > 0.0 && ratio <= RATIO_MAX,
        }
    };
    vec![figure("CPU", |c| c.cpu), figure("pages", |c| c.pages)]
}
