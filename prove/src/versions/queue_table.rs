//! versions.3, a queue table: eight producers and eight consumers, a million rows, and a snapshot
//! that stays open.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

const ROWS: i64 = 1_000_000;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let rows = ground.scaled(ROWS).to_string();
    let mut figures = bench::figures(ground, &["queue", "--rows", &rows])?;
    for figure in &mut figures {
        figure.pass &= ground.is_whole();
        figure.limit += ground.of_the_whole();
    }
    Ok(figures)
}
