//! W1: a table of one row, its key updated again and again, a transaction each, no wait for the
//! disk, nobody else there. Measured is the CPU time of the engine's processes.

use crate::engine::{Durability, SERVERS, Start, Starter};
use crate::figure::{Figure, Outcome, median};
use crate::python::LIBRARIES;
use std::path::Path;

pub(crate) fn run(
    binary: &Path,
    folder: &Path,
    transactions: u64,
    repetitions: usize,
) -> Outcome<Vec<Figure>> {
    let mut costs: Vec<(&str, f64)> = Vec::new();
    println!("W1: microseconds of CPU a transaction, {transactions} transactions");
    for (name, start) in SERVERS {
        // Each in its better way: found by a scan, or by its key.
        for way in ["w1_scan", "w1_seek"] {
            let with = Start { binary, folder, durability: Durability::Delayed, memory_mb: None };
            let cost = repeat(repetitions, || server(&with, start, way, transactions))?;
            note(&mut costs, name, way, cost);
        }
    }
    for library in &LIBRARIES {
        let cost = repeat(repetitions, || library.w1(folder, transactions))?;
        note(&mut costs, library.name, "by its key", cost);
    }
    Ok(vec![judge(&costs)])
}

/// The median of some runs; `None` where the engine is absent.
fn repeat(times: usize, once: impl Fn() -> Outcome<Option<f64>>) -> Outcome<Option<f64>> {
    let mut costs = Vec::new();
    for _ in 0..times {
        match once()? {
            Some(cost) => costs.push(cost),
            None => return Ok(None),
        }
    }
    Ok(Some(median(costs)))
}

fn server(start: &Start<'_>, starter: Starter, way: &str, count: u64) -> Outcome<Option<f64>> {
    let Some(mut engine) = starter(start)? else { return Ok(None) };
    engine.run(&engine.script(way)?.replace("{n}", &count.to_string()))?;
    let before = engine.cpu_seconds();
    engine.run(engine_loop(engine.name()))?;
    let cpu = engine.cpu_seconds() - before;
    let key = engine.number("select id from test")?;
    if key.unsigned_abs() != count {
        return Err(format!("{}: the key is {key} after {count} updates", engine.name()));
    }
    Ok(Some(cpu * 1e6 / count as f64))
}

pub(crate) fn engine_loop(name: &str) -> &'static str {
    if name == "Ghostlight" { "exec ghost" } else { "call ghost()" }
}

fn note(costs: &mut Vec<(&'static str, f64)>, name: &'static str, way: &str, cost: Option<f64>) {
    match cost {
        None => println!("  {name}: not installed"),
        Some(cost) => {
            println!("  {name}, {way}: {cost:.2}");
            costs.push((name, cost));
        }
    }
}

/// Ghostlight's dearer way against the cheapest of all others.
fn judge(costs: &[(&'static str, f64)]) -> Figure {
    let of = |ours: bool| costs.iter().filter(move |(name, _)| (*name == "Ghostlight") == ours);
    let ours = of(true).map(|c| c.1).fold(0.0, f64::max);
    let best = of(false).min_by(|a, b| a.1.total_cmp(&b.1));
    let (limit, pass) = match best {
        Some((name, cost)) => (format!("{cost:.2} us, {name}"), ours > 0.0 && ours <= *cost),
        None => ("no peer is installed".to_owned(), false),
    };
    Figure {
        what: "W1, CPU of a transaction, beside the peers".to_owned(),
        figure: format!("{ours:.2} us"),
        limit,
        pass,
    }
}
