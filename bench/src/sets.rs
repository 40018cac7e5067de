//! Sets beyond the memory that there is (proof query.1): a join of two tables of 2 million rows on
//! a column without index, 5 million rows in order, 5 million distinct values, with 128 MB for
//! pages and queries together. Measured is the CPU time of the engine's processes, engines in
//! turns.

use crate::engine::{Durability, Engine, Start, Starter};
use crate::figure::{Figure, Outcome, median};
use crate::{ghostlight, postgresql};
use std::path::Path;

const MEMORY_MB: u32 = 128;
const PEAK_KB_MAX: u64 = 224 << 10;
/// CPU against PostgreSQL's.
const RATIO_MAX: f64 = 2.0;
/// What is compared: Ghostlight, then the peer.
const ENGINES: [Starter; 2] = [ghostlight::start, postgresql::start];

/// A query, and the number it answers; without one its rows are read.
struct Query {
    what: &'static str,
    sql: &'static str,
    answer: Option<i64>,
}

const QUERIES: [Query; 4] = [
    Query {
        what: "join of 2 x 2 million rows",
        sql: "select sum(cast(a.v + b.v as bigint)) from a join b on a.k = b.k",
        answer: Some(1_997_997_164),
    },
    Query {
        what: "5 million rows in order, to the last",
        sql: "select k from s order by k offset 4999999 rows",
        answer: Some(5_000_010),
    },
    Query {
        what: "5 million rows in order, to the client",
        sql: "select k, v from s order by k",
        answer: None,
    },
    Query {
        what: "5 million distinct values",
        sql: "select count(distinct k) from s",
        answer: Some(5_000_000),
    },
];

pub(crate) fn run(binary: &Path, folder: &Path, repetitions: usize) -> Outcome<Vec<Figure>> {
    let mut engines = Vec::new();
    for start in ENGINES {
        let folder = folder.join(format!("sets{}", engines.len()));
        let durability = Durability::Delayed;
        let with = Start { binary, folder: &folder, durability, memory_mb: Some(MEMORY_MB) };
        let Some(mut engine) = start(&with)? else { continue };
        engine.run(&engine.script("sets")?)?;
        engines.push(engine);
    }
    let mut figures = Vec::new();
    for query in &QUERIES {
        let mut costs: Vec<Vec<f64>> = vec![Vec::new(); engines.len()];
        for _ in 0..repetitions {
            for (engine, costs) in engines.iter_mut().zip(&mut costs) {
                costs.push(cost(engine.as_mut(), query)?);
            }
        }
        let costs: Vec<f64> = costs.into_iter().map(median).collect();
        let each = engines.iter().zip(&costs).map(|(e, c)| format!("{} {c:.2} s", e.name()));
        println!("sets: {}: {}", query.what, each.collect::<Vec<_>>().join(", "));
        figures.push(judge(query, &costs));
    }
    let peak_kb = engines.first().map_or(0, |ours| ours.peak_kb());
    figures.push(Figure {
        what: "peak memory of the server".to_owned(),
        figure: format!("{} MB", peak_kb >> 10),
        limit: format!("{} MB", PEAK_KB_MAX >> 10),
        pass: peak_kb > 0 && peak_kb <= PEAK_KB_MAX,
    });
    Ok(figures)
}

/// CPU seconds of a query that answers as it must.
fn cost(engine: &mut dyn Engine, query: &Query) -> Outcome<f64> {
    let before = engine.cpu_seconds();
    let Some(answer) = query.answer else {
        engine.read(query.sql)?;
        return Ok(engine.cpu_seconds() - before);
    };
    let said = engine.number(query.sql)?;
    let cpu = engine.cpu_seconds() - before;
    match said == answer {
        true => Ok(cpu),
        false => Err(format!("{}: {}: {said} instead of {answer}", engine.name(), query.sql)),
    }
}

fn judge(query: &Query, costs: &[f64]) -> Figure {
    let [ours, theirs] = costs else {
        return Figure {
            what: query.what.to_owned(),
            figure: format!("{costs:?}"),
            limit: "PostgreSQL is not installed".to_owned(),
            pass: false,
        };
    };
    Figure {
        what: format!("{}, CPU", query.what),
        figure: format!("{ours:.2} s, {:.2} of PostgreSQL's", ours / theirs),
        limit: format!("{RATIO_MAX} x {theirs:.2} s"),
        pass: *ours > 0.0 && *ours <= RATIO_MAX * theirs,
    }
}
