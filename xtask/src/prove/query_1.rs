//! query.1, sets beyond the memory that there is: joined, sorted and counted beside PostgreSQL.

use super::program::Ground;
use super::{Figure, bench};
use crate::workspace::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["sets"])
}
