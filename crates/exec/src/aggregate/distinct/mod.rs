//! The distinct values of a DISTINCT aggregate, of all its current groups.
//!
//! A value is identified by its group's number and its sort key: the pair. Where only the number of
//! values matters, a pair of at most eight bytes is a number (`numbers.rs`). Other pairs are kept
//! as bytes, beside the values that the aggregate needs (`long.rs`). Both spill to disk beyond the
//! grant. The aggregate takes in each value once: when it comes, or when all rows have been read
//! (`settle`).

mod long;
mod numbers;

use crate::run::Run;
use base::SqlResult;
use long::LongPairs;
use numbers::Numbers;
use types::{Collation, Value};

/// Values of a call.
pub(crate) struct DistinctSet {
    collation: Collation,
    /// The aggregate asks for each value, not only for how many there are.
    wants_values: bool,
    numbers: Numbers,
    long: LongPairs,
    pair: Vec<u8>,
}

/// A pair of at most eight bytes as a number; no pair begins another one, so they differ.
fn number_of(pair: &[u8]) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..pair.len())?.copy_from_slice(pair);
    Some(u64::from_le_bytes(bytes))
}

impl DistinctSet {
    pub(crate) fn new(collation: Collation, wants_values: bool) -> DistinctSet {
        DistinctSet {
            collation,
            wants_values,
            numbers: Numbers::new(0),
            long: LongPairs::new(collation),
            pair: Vec::new(),
        }
    }

    /// Whether a value, not NULL, is to be taken in now.
    pub(crate) fn insert(
        &mut self,
        run: &mut Run<'_>,
        group: u32,
        value: &Value,
    ) -> SqlResult<bool> {
        long::write_pair(group, value, self.collation, &mut self.pair);
        if !self.wants_values
            && let Some(number) = number_of(&self.pair)
        {
            return self.numbers.insert(run, number);
        }
        self.long.insert(run, group, value, &self.pair)
    }

    /// All rows have been seen: hands what was not taken in yet to `take`, and forgets
    /// everything. `spilled` counts the bytes of files. Where values are not wanted, `take` gets
    /// any value that is not NULL.
    pub(crate) fn settle(
        &mut self,
        run: &mut Run<'_>,
        spilled: &mut u64,
        mut take: impl FnMut(u32, &Value) -> SqlResult<()>,
    ) -> SqlResult<()> {
        self.numbers.settle(run, spilled, &mut |number| {
            take(long::group_of(&number.to_le_bytes()), &Value::Int(1))
        })?;
        self.long.settle(run, spilled, take)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        self.numbers.clear(run);
        self.long.clear(run);
    }

    /// Forgets everything; the grant is over.
    pub(crate) fn drop_keys(&mut self) {
        *self = DistinctSet::new(self.collation, self.wants_values);
    }
}
