//! Chosen plans beside forced orders: forty joins of four to seven tables, each as the optimizer
//! likes it and in a hundred orders of the text.

use super::shops::{self, Dice, Walk};
use crate::ground::figure::{Figure, median};
use crate::ground::program::Ground;
use checks::Outcome;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const QUERIES: usize = 40;
const ORDERS: usize = 100;
/// Times that the chosen plan runs; the quickest counts, as the quickest of the orders does.
const CHOSEN: usize = 3;
/// CPU that differs by less than this many milliseconds is the same.
const GRAIN_MS: f64 = 3.0;
const FACTOR_MAX: f64 = 3.0;

pub(crate) fn judge(ground: &Ground<'_>, work: &Path, data: &Path) -> Outcome<Vec<Figure>> {
    let mut dice = Dice(60);
    let walks: Vec<Walk> = (0..QUERIES).map(|n| Walk::draw(&mut dice, 4 + n % 4)).collect();
    let mut script = String::from("SET NOCOUNT ON; SET STATISTICS TIME ON;\nGO\n");
    for (n, walk) in walks.iter().enumerate() {
        for run in 0..CHOSEN {
            let _ = writeln!(
                script,
                "SELECT 'run', {n}, {run}, COUNT_BIG(*) {};\nGO",
                walk.text(&walk.tables)
            );
        }
        for run in 0..ORDERS {
            let text = walk.text(&walk.shuffled(&mut dice));
            let run = CHOSEN + run;
            let _ = writeln!(
                script,
                "SELECT 'run', {n}, {run}, COUNT_BIG(*) {text} OPTION (FORCE ORDER);\nGO"
            );
        }
    }
    let finished = shops::run(ground, (work, data), "orders", &script)?;
    let runs = times(&finished.output);
    let mut factors = Vec::with_capacity(QUERIES);
    let mut worst = String::new();
    for (n, walk) in walks.iter().enumerate() {
        let of = |chosen: bool| {
            let own = runs.iter().filter(|((q, run), _)| *q == n && (*run < CHOSEN) == chosen);
            own.map(|(_, r)| r.ms).fold(f64::INFINITY, f64::min)
        };
        let answers: Vec<i64> =
            runs.iter().filter(|((q, _), _)| *q == n).map(|(_, r)| r.rows).collect();
        if answers.len() != CHOSEN + ORDERS || answers.windows(2).any(|w| w[0] != w[1]) {
            return Err(format!("orders of one query differ: {}", walk.text(&walk.tables)));
        }
        let factor = (of(true) + GRAIN_MS) / (of(false) + GRAIN_MS);
        if factors.iter().all(|f| *f < factor) {
            let text = walk.text(&walk.tables);
            worst = format!("{:.0} ms for {:.0}: {text}", of(true), of(false));
        }
        factors.push(factor);
    }
    let most = factors.iter().copied().fold(0.0, f64::max);
    println!("worst of the chosen plans: {worst}");
    Ok(vec![Figure {
        what: format!(
            "CPU of {QUERIES} chosen plans / best of {ORDERS} forced orders (median {:.2})",
            median(factors)
        ),
        figure: format!("{most:.2}"),
        limit: format!("at most {FACTOR_MAX}"),
        pass: most <= FACTOR_MAX,
    }])
}

/// A run: its answer and its CPU time.
struct Run {
    rows: i64,
    ms: f64,
}

/// Runs by query and number, from rows with the lines of STATISTICS TIME behind them.
fn times(output: &str) -> BTreeMap<(usize, usize), Run> {
    let mut found = BTreeMap::new();
    let mut at: Option<(usize, usize, i64)> = None;
    let mut executed = false;
    for line in output.lines() {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["run", query, run, rows] = parts.as_slice() {
            let numbers = (query.parse().ok(), run.parse().ok(), rows.parse().ok());
            if let (Some(query), Some(run), Some(rows)) = numbers {
                at = Some((query, run, rows));
            }
            continue;
        }
        executed |= line.contains("Execution Times");
        let cpu = line.trim().strip_prefix("CPU time = ").filter(|_| executed);
        if let Some(ms) = cpu.and_then(|c| c.split_whitespace().next()?.parse().ok()) {
            executed = false;
            if let Some((query, run, rows)) = at.take() {
                found.insert((query, run), Run { rows, ms });
            }
        }
    }
    found
}
