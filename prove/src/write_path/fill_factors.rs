//! log.4, fill factors: full leaves, leaves with much room, and what FILLFACTOR = AUTO chooses, for
//! rows that come all over five of six indexes, in order, and in one place.
//!
//! A turn has a new database for each fill factor: 100,000 rows, a build, 100,000 rows more, which
//! AUTO learns from, the build in question; 100,000 rows more are what is measured. These come in
//! slices, a slice for each database in an order that rotates: a machine that becomes slower for a
//! second does so for all three, and nobody is always the last. AUTO is compared with the better
//! of the others within each turn, and the median of the turns is the figure.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{batches, number, session, text};
use checks::Outcome;
use std::array;
use std::time::Instant;

const ROWS: i64 = 100_000;
const VARIANTS: [(&str, &str); 3] = [
    ("AllOver", "in no order of five indexes of six"),
    ("InOrder", "in the order of all indexes"),
    ("OnePlace", "in one place of all indexes"),
];
const FILLS: [&str; 3] = ["100", "40", "AUTO"];
const TURNS: usize = 5;
/// A multiple of the fill factors: each is first as often as last.
const SLICES: i64 = 18;
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

/// What one turn came to, by fill factor.
type Turn = [Cost; 3];

/// A table that is built with one fill factor, in a database of its own.
struct Stage {
    table: &'static str,
    fill: &'static str,
    client: Client,
    cost: Cost,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.4")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    drop(server.client()?);
    let mut figures = Vec::new();
    for (table, what) in VARIANTS {
        println!("  rows {what}:");
        let turns: Outcome<Vec<Turn>> =
            (0..TURNS).map(|n| turn(ground, &server, table, n)).collect();
        let turns = turns?;
        show(&turns);
        figures.extend(compare(what, &turns));
    }
    server.stop()?;
    Ok(figures)
}

/// One turn; `number` says who begins.
fn turn(
    ground: &Ground<'_>,
    server: &ServerProcess,
    table: &'static str,
    number: usize,
) -> Outcome<Turn> {
    let rows = ground.scaled(ROWS);
    let mut stages = Vec::new();
    for fill in FILLS {
        stages.push(Stage::new(ground, server, (table, fill))?);
    }
    for stage in &mut stages {
        stage.add(rows, 1)?;
        stage.build("AUTO")?;
        stage.add(rows, 0)?;
        stage.build(stage.fill)?;
    }
    if number + 1 == TURNS {
        println!("    AUTO of index {}", stages[FILLS.len() - 1].chosen()?);
    }
    let mut written = Vec::new();
    for stage in &mut stages {
        asked(&mut stage.client, "CHECKPOINT")?;
        written.push(stage.log_bytes()?);
    }
    for slice in 0..SLICES {
        let first = number + slice as usize;
        let count = rows * (slice + 1) / SLICES - rows * slice / SLICES;
        for n in first..first + FILLS.len() {
            stages[n % FILLS.len()].measure(server, count)?;
        }
    }
    for (stage, written) in stages.iter_mut().zip(written) {
        stage.end(written)?;
    }
    Ok(array::from_fn(|n| stages[n].cost))
}

impl Stage {
    /// A new database with an empty table.
    fn new(
        ground: &Ground<'_>,
        server: &ServerProcess,
        (table, fill): (&'static str, &'static str),
    ) -> Outcome<Stage> {
        let mut client = session(server, "master")?;
        let name = format!("FillFactors{fill}");
        let made = text(ground, "write_path/7_fill_factors.sql")?.replace("FillFactors", &name);
        batches(&mut client, &made)?;
        drop(client);
        let client = session(server, &name)?;
        Ok(Stage { table, fill, client, cost: Cost::default() })
    }

    fn add(&mut self, rows: i64, early: u8) -> Outcome<()> {
        let text = format!("EXEC dbo.Add{} {rows}, {early}", self.table);
        asked(&mut self.client, &text).map(drop)
    }

    fn build(&mut self, fill: &str) -> Outcome<()> {
        let table = self.table;
        let text = format!("ALTER INDEX ALL ON dbo.{table} REBUILD WITH (FILLFACTOR = {fill})");
        asked(&mut self.client, &text).map(drop)
    }

    /// A slice of the rows that are measured, until they are durable.
    fn measure(&mut self, server: &ServerProcess, rows: i64) -> Outcome<()> {
        let (cpu, began) = (server.cpu()?, Instant::now());
        self.add(rows, 0)?;
        asked(&mut self.client, "EXEC sys.sp_flush_log")?;
        self.cost.seconds += began.elapsed().as_secs_f64();
        self.cost.cpu += (server.cpu()? - cpu).as_secs_f64();
        Ok(())
    }

    fn log_bytes(&mut self) -> Outcome<i64> {
        let log = "SELECT num_of_bytes_written FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)";
        number(&mut self.client, log)
    }

    /// What the rows have left, after so many bytes of log.
    fn end(&mut self, written: i64) -> Outcome<()> {
        self.cost.log_bytes = (self.log_bytes()? - written) as f64;
        let splits = format!(
            "SELECT SUM(split_count) FROM sys.dm_db_index_fill_factors \
             WHERE object_id = OBJECT_ID('dbo.{}')",
            self.table
        );
        let pages = format!(
            "SELECT SUM(in_row_used_page_count) FROM sys.dm_db_partition_stats \
             WHERE object_id = OBJECT_ID('dbo.{}')",
            self.table
        );
        self.cost.splits = number(&mut self.client, &splits)? as f64;
        self.cost.pages = number(&mut self.client, &pages)? as f64;
        Ok(())
    }

    /// What AUTO chose, by index.
    fn chosen(&mut self) -> Outcome<String> {
        let chosen = asked(
            &mut self.client,
            &format!(
                "SELECT CAST(index_id AS bigint), CAST(fill_factor AS bigint), \
                 CAST(chosen_by_spread_percent AS bigint) FROM sys.dm_db_index_fill_factors \
                 WHERE object_id = OBJECT_ID('dbo.{}') ORDER BY index_id",
                self.table
            ),
        )?;
        let of = |row: &Vec<i64>| match row[..] {
            [index, factor, spread] => format!("{index}: {factor} (splits on {spread} %)"),
            _ => String::new(),
        };
        let all: Vec<String> = chosen.rows.iter().map(of).collect();
        Ok(all.join(", "))
    }
}

/// The medians of the turns.
fn show(turns: &[Turn]) {
    println!("    FILLFACTOR   seconds    CPU s   log MB   splits    pages");
    for (n, fill) in FILLS.iter().enumerate() {
        let mid = |part: fn(&Cost) -> f64| median(turns.iter().map(|t| part(&t[n])).collect());
        println!(
            "    {:>10} {:>9.2} {:>8.3} {:>8.1} {:>8} {:>8}",
            fill,
            mid(|c| c.seconds),
            mid(|c| c.cpu),
            mid(|c| c.log_bytes) / 1e6,
            mid(|c| c.splits),
            mid(|c| c.pages)
        );
    }
}

fn compare(what: &str, turns: &[Turn]) -> Vec<Figure> {
    let figure = |name: &str, part: fn(&Cost) -> f64| {
        let of = |turn: &Turn| {
            let [full, roomy, auto] = turn.map(|cost| part(&cost));
            auto / full.min(roomy)
        };
        let ratios: Vec<f64> = turns.iter().map(of).collect();
        let (least, most) = (
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratios.iter().copied().fold(0.0, f64::max),
        );
        let ratio = median(ratios);
        Figure {
            what: format!("rows {what}: {name} under AUTO against the better of 100 and 40"),
            figure: format!("{ratio:.3} ({least:.3} to {most:.3})"),
            limit: format!("{RATIO_MAX:.2}"),
            pass: ratio > 0.0 && ratio <= RATIO_MAX,
        }
    };
    vec![figure("CPU", |c| c.cpu), figure("pages", |c| c.pages)]
}
