//! query.1, sets beyond the memory that there is: joined, sorted and counted beside PostgreSQL.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["sets"])
}
