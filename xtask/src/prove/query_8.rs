//! query.8, texts and plans: the parser's speed, and the memory of 10,000 kept plans.

use super::program::Ground;
use super::{Figure, bench};
use crate::workspace::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["plans"])
}
