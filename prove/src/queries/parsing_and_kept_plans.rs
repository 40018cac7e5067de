//! query.8, texts and plans: the parser's speed, and the memory of 10,000 kept plans.

use crate::ground::bench;
use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::Outcome;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    bench::figures(ground, &["plans"])
}
