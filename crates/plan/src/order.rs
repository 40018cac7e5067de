//! ORDER BY and TOP.

use crate::{Reads, Scalar, Slot};
use types::{Collation, Value};

/// A column to order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Where its value is.
    pub slot: Slot,
    /// For characters.
    pub collation: Collation,
    /// Greater first; NULL is the least.
    pub descending: bool,
}

/// How many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// A bigint (a float when `percent`), read once per open; NULL and negative
    /// ones are error 1014. `None`: all.
    pub count: Option<Scalar>,
    /// Of all rows, rounded up.
    pub percent: bool,
    /// WITH TIES: and rows that equal the last one in these keys.
    pub ties: Option<Vec<SortKey>>,
    /// OFFSET: rows left out first, a bigint.
    pub offset: Option<Scalar>,
}

impl Top {
    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        self.count.iter().chain(&self.offset).for_each(|x| x.read_into(out));
        if let Some(keys) = &self.ties {
            out.slots.extend(keys.iter().map(|k| k.slot));
        }
    }

    /// Whether it lets one row at most through.
    pub fn is_one(&self) -> bool {
        let count = self.count.as_ref().and_then(Scalar::as_constant).and_then(Value::as_i64);
        !self.percent && self.ties.is_none() && count.is_some_and(|n| n <= 1)
    }
}
