//! path.9, transactions beside the peers: W9 by loops in the server and by clients, durable and
//! delayed, and what a second session adds on a second processor.

use super::program::Ground;
use super::{Figure, bench};
use crate::workspace::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut figures = bench::figures(ground, &["w9"])?;
    figures.extend(bench::figures(ground, &["pair"])?);
    Ok(figures)
}
