//! query.3, queries over tables like TPC-H's: answers, CPU and time beside PostgreSQL.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["w8"])
}
