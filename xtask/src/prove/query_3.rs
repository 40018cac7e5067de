//! query.3, queries over tables like TPC-H's: answers, CPU and time beside PostgreSQL.

use super::program::Ground;
use super::{Figure, bench};
use crate::workspace::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["w8"])
}
