//! log.6, an update of five million rows that is killed before its commit, or rolled back, with
//! accelerated recovery off: the first answer after the kill, full use, and the rollback's time
//! beside the peers.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

const ROWS: i64 = 5_000_000;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let rows = ground.scaled(ROWS).max(1);
    let mut figures = bench::figures(ground, &["w3", "--rows", &rows.to_string()])?;
    for figure in &mut figures {
        figure.limit += ground.of_the_whole();
        figure.pass &= ground.is_whole();
    }
    Ok(figures)
}
