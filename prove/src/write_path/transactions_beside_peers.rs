//! path.9, transactions beside the peers: W9 by loops in the server and by clients, durable and
//! delayed, and what a second session adds on a second processor.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut figures = bench::figures(ground, &["w9"])?;
    figures.extend(bench::figures(ground, &["pair"])?);
    Ok(figures)
}
