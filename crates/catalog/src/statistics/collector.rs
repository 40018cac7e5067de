//! `Collector`: sorted keys in, a distribution out, in one pass and bounded memory.
//!
//! Every different value of the first column begins as a run of its own. When there are too many
//! runs, neighbours are merged whose merging costs least:
//!
//! ```text
//! cost = rows between the keys
//!      + 16 * sqrt(squared deviation of those values' row counts)
//!      + 4 * rows by which a straight line between the keys would misplace a key that goes
//! ```
//!
//! The first term keeps steps of equal height, so a range is never off by more than the rows of
//! two steps; the second keeps apart values whose counts differ, so that a frequent value ends
//! as the key of a step, which is exact; the third ends steps where a gap begins. Of the keys that
//! went, a run remembers the one that is misplaced most. While rows come in, the limit on the
//! cost rises by half when what it allows is not enough, and several times more runs are kept
//! than steps are asked for; at the end the cheapest pairs are merged one by one.
//!
//! A sample counts for the whole table: a value seen more than once has its share of the rows. A
//! value seen once stands for sqrt(rows / sampled) different ones (Charikar et al., "Towards
//! estimation error guarantees for distinct values", PODS 2000), or for rows / sampled when the
//! sample has no value twice.

use super::histogram::position;
use super::strings::Strings;
use super::{Distribution, Prefix, STEPS_MAX, Step};
use types::{Collation, SqlType, StorageOrder, compare_storage};

/// Runs before neighbours are merged, and how many are left.
const RUNS_MAX: usize = 1_024;
const RUNS_KEPT: usize = RUNS_MAX / 2;
/// What a squared deviation weighs against height.
const DEVIATION: f64 = 16.0;
/// What misplaced rows weigh.
const MISPLACED: f64 = 4.0;
/// Bytes of a value that a key keeps; a longer one is cut, and equal beginnings count as equal.
const KEY_BYTES_MAX: usize = 400;

/// What is known beside the keys.
#[derive(Clone, Copy, Debug)]
pub struct StatisticsHeader<'a> {
    /// Rows of the table.
    pub rows: u64,
    /// Now, in nanoseconds since 1970 UTC.
    pub updated_ns: i64,
    /// The counter of the first column before the first row was read.
    pub modified: u64,
    /// The table's column ids of the key's columns.
    pub columns: &'a [i32],
}

/// Counts keys that come in ascending order of their first column, equal beginnings together.
#[derive(Debug)]
pub struct Collector {
    orders: Vec<StorageOrder>,
    /// The first column's type.
    first: SqlType,
    last: Vec<Option<Vec<u8>>>,
    rows: u64,
    prefixes: Vec<Count>,
    runs: Vec<Run>,
    /// The cost up to which neighbours are merged while rows come in.
    limit: f64,
    strings: Strings,
}

/// Of the first columns together.
#[derive(Clone, Debug, Default)]
struct Count {
    distinct: u64,
    /// Combinations that one row has.
    once: u64,
    /// Rows of the present one.
    run: u64,
    bytes: u64,
}

/// A step in the making.
#[derive(Debug, Default)]
struct Run {
    key: Option<Box<[u8]>>,
    equal: u64,
    range: u64,
    distinct: u64,
    /// Values in the range that one row has.
    once: u64,
    /// The sum of squared rows of the values in the range.
    squares: f64,
    /// Where the key is on a line, for types that have a distance.
    position: Option<f64>,
    /// The key in the range that a straight line through it misplaces most.
    worst: Option<LostKey>,
}

/// A key that is no step's any more.
#[derive(Clone, Copy, Debug)]
struct LostKey {
    position: f64,
    /// Rows of the range below it, and with it.
    below: u64,
    through: u64,
}

impl Run {
    /// The key that a line from the key before to the next one misplaces most when this run is
    /// merged, and by how many rows.
    fn misplaced(&self, before: &Run, next: &Run) -> (f64, Option<LostKey>) {
        let (Some(low), Some(at), Some(high)) = (before.position, self.position, next.position)
        else {
            return (0.0, None);
        };
        let through = self.range + self.equal;
        let slope = (through + next.range) as f64 / (high - low);
        let own = LostKey { position: at, below: self.range, through };
        let later = next.worst.map(|l| LostKey {
            below: l.below + through,
            through: l.through + through,
            ..l
        });
        // One that is well placed now may not be when more is merged.
        let mut worst = (f64::NEG_INFINITY, None);
        for lost in [Some(own), self.worst, later].into_iter().flatten() {
            let line = slope * (lost.position - low);
            let rows = (lost.below as f64 - line).max(line - lost.through as f64);
            if rows > worst.0 {
                worst = (rows, Some(lost));
            }
        }
        worst
    }

    /// What merging this run into the next one costs.
    fn cost(&self, before: &Run, next: &Run) -> f64 {
        let range = (self.range + self.equal + next.range) as f64;
        let distinct = (self.distinct + 1 + next.distinct) as f64;
        let equal = self.equal as f64;
        let squares = self.squares + equal * equal + next.squares;
        let deviation = (squares - range * range / distinct).max(0.0);
        range + DEVIATION * deviation.sqrt() + MISPLACED * self.misplaced(before, next).0.max(0.0)
    }

    /// The run becomes a part of the next one's range.
    fn merge_into(self, before: &Run, next: &mut Run) {
        next.worst = self.misplaced(before, next).1;
        let equal = self.equal as f64;
        next.range += self.range + self.equal;
        next.distinct += self.distinct + 1;
        next.once += self.once + u64::from(self.equal == 1);
        next.squares += self.squares + equal * equal;
    }
}

impl Collector {
    /// For keys of columns of these types.
    ///
    /// # Panics
    /// When there are none.
    pub fn new(columns: &[(SqlType, Collation)]) -> Collector {
        let first = columns.first().expect("statistics have a first column").0;
        let orders: Vec<StorageOrder> =
            columns.iter().map(|&(t, collation)| compare_storage(t, collation)).collect();
        Collector {
            first,
            last: vec![None; orders.len()],
            prefixes: vec![Count::default(); orders.len()],
            orders,
            rows: 0,
            runs: Vec::new(),
            limit: 1.0,
            strings: Strings::of(first),
        }
    }

    /// The stored bytes of one row's key.
    ///
    /// # Panics
    /// When the key has not as many columns as there are orders.
    pub fn push(&mut self, key: &[Option<&[u8]>]) {
        assert_eq!(key.len(), self.orders.len(), "a key has all columns");
        if let Some(value) = key.first().copied().flatten() {
            self.strings.push(value);
        }
        let mut bytes = 0;
        let mut changed = self.rows == 0;
        for (n, &value) in key.iter().enumerate() {
            bytes += value.map_or(0, <[u8]>::len) as u64;
            let kept = if n == 0 { KEY_BYTES_MAX } else { usize::MAX };
            let value = value.map(|v| &v[..v.len().min(kept)]);
            let same = match (&self.last[n], value) {
                (None, None) => true,
                (Some(last), Some(value)) => self.orders[n].of(last, value).is_eq(),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !same {
                self.last[n] = value.map(<[u8]>::to_vec);
            }
            changed |= !same;
            self.prefixes[n].count(changed, bytes);
            if n == 0 {
                self.count_first(changed);
            }
        }
        self.rows += 1;
    }

    fn count_first(&mut self, changed: bool) {
        if let Some(run) = self.runs.last_mut().filter(|_| !changed) {
            run.equal += 1;
            return;
        }
        if self.runs.len() == RUNS_MAX {
            self.merge_cheap();
        }
        let key = self.last[0].as_deref().map(Box::from);
        let position = key.as_deref().and_then(|k| position(k, self.first));
        self.runs.push(Run { key, equal: 1, position, ..Run::default() });
    }

    /// How many runs at the front are never merged: NULL and the least value (invariant 1).
    fn fixed(&self) -> usize {
        let null = self.runs.first().is_some_and(|r| r.key.is_none());
        1 + usize::from(null)
    }

    fn merge_cheap(&mut self) {
        let fixed = self.fixed();
        while self.runs.len() > RUNS_KEPT {
            let mut kept: Vec<Run> = Vec::with_capacity(RUNS_MAX);
            for mut run in self.runs.drain(..) {
                if kept.len() > fixed
                    && let [.., before, last] = &*kept
                    && last.cost(before, &run) <= self.limit
                    && let Some(last) = kept.pop()
                    && let Some(before) = kept.last()
                {
                    last.merge_into(before, &mut run);
                }
                kept.push(run);
            }
            if kept.len() > RUNS_KEPT {
                self.limit *= 1.5;
            }
            self.runs = kept;
        }
    }

    fn merge_cheapest(&mut self) {
        let fixed = self.fixed();
        let cost = |runs: &[Run], at: usize| match runs.get(at.saturating_sub(1)..at + 2) {
            Some([before, run, next]) if at >= fixed => run.cost(before, next),
            _ => f64::INFINITY,
        };
        let mut costs: Vec<f64> = (0..self.runs.len()).map(|at| cost(&self.runs, at)).collect();
        while self.runs.len() > STEPS_MAX {
            let least = costs.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            let Some((at, _)) = least.filter(|(at, _)| *at >= fixed) else { return };
            let run = self.runs.remove(at);
            costs.remove(at);
            if let Some([before, next]) = self.runs.get_mut(at - 1..at + 1) {
                run.merge_into(before, next);
            }
            for changed in [at.wrapping_sub(1), at] {
                if let Some(c) = costs.get_mut(changed) {
                    *c = cost(&self.runs, changed);
                }
            }
        }
    }

    /// What was found; none without rows.
    pub fn finish(mut self, whole: &StatisticsHeader<'_>) -> Option<Distribution> {
        if self.rows == 0 {
            return None;
        }
        self.merge_cheapest();
        let rows = whole.rows.max(self.rows);
        let share = rows as f64 / self.rows as f64;
        for prefix in &mut self.prefixes {
            prefix.once += u64::from(prefix.run == 1);
        }
        let sampled = self.rows;
        let growth = |c: &Count| if c.once == sampled { share } else { share.sqrt() };
        let first = growth(&self.prefixes[0]);
        let prefixes = self.prefixes.iter().zip(whole.columns).map(|(c, &column_id)| Prefix {
            column_id,
            distinct: (c.distinct - c.once) as f64 + c.once as f64 * growth(c),
            average_bytes: c.bytes as f64 / sampled as f64,
        });
        let fixed = self.fixed();
        let steps = self.runs.iter().enumerate();
        Some(Distribution {
            updated_ns: whole.updated_ns,
            rows,
            sampled,
            modified: whole.modified,
            prefixes: prefixes.collect(),
            steps: steps.map(|(n, run)| step(run, share, first, n >= fixed)).collect(),
            strings: self.strings.finish(),
        })
    }
}

/// A run as a step of the whole table. `between`: there may be rows between it and the one before.
fn step(run: &Run, share: f64, growth: f64, between: bool) -> Step {
    let mut step = Step {
        key: run.key.clone(),
        range_rows: run.range as f64 * share,
        equal_rows: run.equal as f64 * share,
        distinct_range_rows: (run.distinct - run.once) as f64 + run.once as f64 * growth,
    };
    // A key seen once stands for others beside it; those of the least value are not told.
    if run.equal == 1 && run.key.is_some() {
        step.equal_rows = share / growth;
        if between {
            step.range_rows += share - step.equal_rows;
            step.distinct_range_rows += growth - 1.0;
        }
    }
    step
}

impl Count {
    fn count(&mut self, changed: bool, bytes: u64) {
        self.bytes += bytes;
        if changed {
            self.once += u64::from(self.run == 1);
            self.distinct += 1;
            self.run = 0;
        }
        self.run += 1;
    }
}
