//! Two sessions that update different tables in memory, against one: how far the engine's
//! shared structures let two processors work.

use crate::engine::{Durability, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight;
use std::path::Path;

const RATIO_MIN: f64 = 1.7;

pub(crate) fn run(
    binary: &Path,
    folder: &Path,
    updates: u64,
    repetitions: usize,
) -> Outcome<Vec<Figure>> {
    let start = Start { binary, folder, durability: Durability::Delayed, memory_mb: None };
    let Some(mut engine) = ghostlight::start(&start)? else {
        return Err("Ghostlight is not there".to_owned());
    };
    engine.run(&engine.script("pair")?)?;
    let run = [format!("exec update_a {updates}"), format!("exec update_b {updates}")];
    engine.run_together(&run)?;
    let mut ratios = Vec::new();
    for _ in 0..repetitions {
        let one = engine.run_together(&run[..1])?;
        let two = engine.run_together(&run)?;
        ratios.push(2.0 * one / two);
        println!("pair: one {one:.3} s, two {two:.3} s, ratio {:.2}", 2.0 * one / two);
    }
    let ratio = median(ratios);
    Ok(vec![Figure {
        what: format!("work of two sessions on two tables, median of {repetitions}"),
        figure: format!("{ratio:.2}"),
        limit: format!("at least {RATIO_MIN}"),
        pass: ratio >= RATIO_MIN,
    }])
}
