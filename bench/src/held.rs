//! W1 beside a transaction that reads as of an earlier moment and stays open: how much dearer the
//! one row's updates become, in all and from the first tenth of them to the last.
//!
//! PostgreSQL keeps each former version where the update passes it again, so its cost grows with
//! every one. Ghostlight keeps the one that somebody reads.

use crate::engine::{Durability, SERVERS, Start, Starter};
use crate::figure::{Figure, Outcome, median};
use crate::w1;
use std::path::Path;

const TENTHS: usize = 10;
/// Ghostlight's limits: a transaction's CPU against that without the snapshot, whichever is more.
const TIMES_MAX: f64 = 1.3;
const MORE_US_MAX: f64 = 1.0;
const TENTH_MAX: f64 = 1.1;

/// CPU microseconds of a transaction in each tenth.
type Tenths = Vec<f64>;

/// What an engine does alone, and beside an open snapshot.
struct Pair {
    name: &'static str,
    alone: Tenths,
    beside: Tenths,
}

pub(crate) fn run(
    binary: &Path,
    folder: &Path,
    transactions: u64,
    repetitions: usize,
) -> Outcome<Vec<Figure>> {
    println!(
        "W1 beside an open snapshot: microseconds of CPU a transaction, {transactions} of them"
    );
    let mut pairs = Vec::new();
    for (name, start) in SERVERS {
        let with = Start { binary, folder, durability: Durability::Delayed, memory_mb: None };
        let mut runs = [Vec::new(), Vec::new()];
        for _ in 0..repetitions {
            for (held, runs) in [false, true].into_iter().zip(&mut runs) {
                runs.extend(once(&with, start, transactions, held)?);
            }
        }
        if runs[0].is_empty() {
            println!("  {name}: not installed");
            continue;
        }
        let [alone, beside] = runs.map(|runs| middle(&runs));
        let pair = Pair { name, alone, beside };
        println!(
            "  {name}: {:.2} alone, {:.2} beside it, {:.2} times; its last tenth {:.2}, its first {:.2}",
            mean(&pair.alone),
            mean(&pair.beside),
            pair.growth(),
            pair.beside[TENTHS - 1],
            pair.beside[0],
        );
        pairs.push(pair);
    }
    judge(&pairs)
}

/// Each tenth of a run in a new server; `None` where the engine is absent.
fn once(
    start: &Start<'_>,
    starter: Starter,
    transactions: u64,
    held: bool,
) -> Outcome<Option<Tenths>> {
    let Some(mut engine) = starter(start)? else { return Ok(None) };
    let each = transactions / TENTHS as u64;
    engine.run(&engine.script("w1_scan")?.replace("{n}", &each.to_string()))?;
    if engine.name() == "Ghostlight" {
        engine.run("ALTER DATABASE bench SET READ_COMMITTED_SNAPSHOT ON")?;
        engine.run("ALTER DATABASE bench SET ALLOW_SNAPSHOT_ISOLATION ON")?;
    }
    let open = if held { Some(engine.hold(&engine.script("held")?)?) } else { None };
    let mut tenths = Vec::new();
    for _ in 0..TENTHS {
        let before = engine.cpu_seconds();
        engine.run(w1::engine_loop(engine.name()))?;
        tenths.push((engine.cpu_seconds() - before) * 1e6 / each as f64);
    }
    drop(open);
    let key = engine.number("select id from test")?;
    if key.unsigned_abs() != each * TENTHS as u64 {
        return Err(format!("{}: the key is {key} at the end", engine.name()));
    }
    Ok(Some(tenths))
}

/// The median of each tenth.
fn middle(runs: &[Tenths]) -> Tenths {
    (0..TENTHS).map(|n| median(runs.iter().map(|run| run[n]).collect())).collect()
}

fn mean(tenths: &Tenths) -> f64 {
    tenths.iter().sum::<f64>() / tenths.len() as f64
}

impl Pair {
    fn growth(&self) -> f64 {
        mean(&self.beside) / mean(&self.alone)
    }

    fn last_to_first(&self) -> f64 {
        self.beside[TENTHS - 1] / self.beside[0]
    }
}

fn judge(pairs: &[Pair]) -> Outcome<Vec<Figure>> {
    let [ours, peers @ ..] = pairs else { return Err("Ghostlight is not there".to_owned()) };
    let (alone, beside) = (mean(&ours.alone), mean(&ours.beside));
    let limit = (alone * TIMES_MAX).max(alone + MORE_US_MAX);
    let told = |of: fn(&Pair) -> f64| {
        let all: Vec<String> = peers.iter().map(|p| format!("{} {:.2}", p.name, of(p))).collect();
        all.join(", ")
    };
    Ok(vec![
        Figure {
            what: "W1 beside an open snapshot, CPU of a transaction".to_owned(),
            figure: format!("{beside:.2} us, {:.2} x", ours.growth()),
            limit: format!("{limit:.2} us; {}", told(Pair::growth)),
            pass: beside > 0.0 && beside <= limit && !peers.is_empty(),
        },
        Figure {
            what: "its last tenth against its first".to_owned(),
            figure: format!("{:.2}", ours.last_to_first()),
            limit: format!("{TENTH_MAX}; {}", told(Pair::last_to_first)),
            pass: ours.last_to_first() <= TENTH_MAX && !peers.is_empty(),
        },
    ])
}
