//! Equal pairs of two columns: their histograms laid side by side, in one walk.
//!
//! ```text
//!   a   10 ───── 20 ─────────── 40      a key of both: its rows multiplied
//!   b      15 ───── 20 ── 30 ── 40      a key of one: with an average value of the other's range
//! ```
//! Between two keys the side with fewer different values is taken to be contained in the other.

use super::{Histogram, Step};
use std::cmp::Ordering;

/// What is left of a step's range.
#[derive(Clone, Copy, Default)]
struct StepRemainder {
    rows: f64,
    distinct: f64,
}

impl StepRemainder {
    fn of(step: Option<&Step>) -> StepRemainder {
        let zero = StepRemainder::default();
        step.map_or(zero, |s| StepRemainder { rows: s.range_rows, distinct: s.distinct_range_rows })
    }

    /// Takes a part of it.
    fn take(&mut self, part: f64) -> StepRemainder {
        let taken = StepRemainder { rows: self.rows * part, distinct: self.distinct * part };
        self.rows -= taken.rows;
        self.distinct -= taken.distinct;
        taken
    }

    fn pairs(self, other: StepRemainder) -> f64 {
        self.rows * other.rows / self.distinct.max(other.distinct).max(1.0)
    }
}

/// Rows of an average value of a step's range.
fn average(step: &Step) -> f64 {
    if step.distinct_range_rows > 0.0 { step.average_range_rows() } else { 0.0 }
}

impl Histogram<'_> {
    /// Pairs of rows of two columns of one type and collation that are equal.
    pub fn equal_pairs(&self, other: &Histogram<'_>) -> f64 {
        let (mut a, mut b) = (self.values().peekable(), other.values().peekable());
        let (mut of_a, mut of_b) =
            (StepRemainder::of(a.peek().copied()), StepRemainder::of(b.peek().copied()));
        let mut low: Option<&[u8]> = None;
        let mut pairs = 0.0;
        while let (Some(x), Some(y)) = (a.peek().copied(), b.peek().copied()) {
            let (Some(key), Some(beside)) = (x.key.as_deref(), y.key.as_deref()) else { break };
            let part = |value, high| low.map_or(1.0, |low| self.part(low, value, high));
            let order = self.compare(key, beside);
            match order {
                Ordering::Equal => {
                    pairs += of_a.pairs(of_b) + x.equal_rows * y.equal_rows;
                }
                Ordering::Less => {
                    pairs += of_a.pairs(of_b.take(part(key, beside)));
                    pairs += x.equal_rows * average(y);
                }
                Ordering::Greater => {
                    pairs += of_a.take(part(beside, key)).pairs(of_b);
                    pairs += y.equal_rows * average(x);
                }
            }
            low = Some(if order.is_gt() { beside } else { key });
            if order.is_le() {
                a.next();
                of_a = StepRemainder::of(a.peek().copied());
            }
            if order.is_ge() {
                b.next();
                of_b = StepRemainder::of(b.peek().copied());
            }
        }
        pairs
    }
}
