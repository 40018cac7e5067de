//! The ranges of a seek: bounds are computed at open, in the form in which rows store them.
//!
//! Several ranges are sorted by key, and overlapping ones are merged. So a row that satisfies
//! several of them is read once, and rows come in the order of the key.

use super::stored::StoredValues;
use crate::expr::Expr;
use crate::run::Run;
use access::{KeyBound, ScanRange};
use base::SqlResult;
use plan::{Bound, Seek, SeekRange};
use std::cmp::Ordering;
use types::{Collation, SqlType, Value, compare};

/// A compiled seek.
pub(crate) struct Seeks {
    types: Vec<SqlType>,
    descending: Vec<bool>,
    collations: Vec<Collation>,
    ranges: Vec<Range>,
    /// What is read, in this order: from where one range begins to where one ends.
    live: Vec<(usize, usize)>,
    backward: bool,
    pub(crate) unique: bool,
}

struct Range {
    equal: Vec<(Expr, bool)>,
    lower: Option<End>,
    upper: Option<End>,
    /// Where it begins and ends in this open, kept where ranges must be put in order.
    from: Place,
    to: Place,
    low: StoredValues,
    high: StoredValues,
    /// Whether there is a lower and an upper bound in this open.
    bounded: [bool; 2],
}

/// A place between keys: before or after all that begin with some values.
#[derive(Default)]
struct Place {
    values: Vec<Value>,
    after: bool,
}

struct End {
    value: Expr,
    inclusive: bool,
    after_null: bool,
    unless_null: bool,
}

impl Seeks {
    pub(crate) fn new(seek: &Seek, backward: bool) -> SqlResult<Seeks> {
        Ok(Seeks {
            types: seek.types.clone(),
            descending: seek.descending.clone(),
            collations: seek.collations.clone(),
            ranges: seek.ranges.iter().map(Range::new).collect::<SqlResult<_>>()?,
            live: Vec::with_capacity(seek.ranges.len()),
            backward,
            unique: seek.unique,
        })
    }

    /// Computes bounds and order of the ranges.
    ///
    /// # Errors
    /// What computing bounds meets.
    pub(crate) fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.live.clear();
        let several = self.ranges.len() > 1;
        for (i, range) in self.ranges.iter_mut().enumerate() {
            if range.open(&self.types, several, run)? {
                self.live.push((i, i));
            }
        }
        if several {
            self.put_in_order();
        }
        Ok(())
    }

    /// Ranges in key order, none overlapping another.
    fn put_in_order(&mut self) {
        let Seeks { ranges, live, descending, collations, backward, .. } = self;
        let order = |a: &Place, b: &Place| a.compare(b, descending, collations);
        live.retain(|&(n, _)| order(&ranges[n].from, &ranges[n].to).is_lt());
        live.sort_by(|a, b| order(&ranges[a.0].from, &ranges[b.0].from));
        live.dedup_by(|next, one| {
            let (begins, ends) = (&ranges[next.0].from, &ranges[next.1].to);
            if order(begins, &ranges[one.1].to).is_gt() {
                return false;
            }
            if order(ends, &ranges[one.1].to).is_gt() {
                one.1 = next.1;
            }
            true
        });
        if *backward {
            live.reverse();
        }
    }

    /// How many ranges there are to read.
    pub(crate) fn count(&self) -> usize {
        self.live.len()
    }

    /// Hands the n-th range to `f`.
    pub(crate) fn with_range<R>(&self, n: usize, f: impl FnOnce(&ScanRange<'_>) -> R) -> R {
        let (from, to) = self.live[n];
        let (from, to) = (&self.ranges[from], &self.ranges[to]);
        from.low.with_fields(|low| {
            to.high.with_fields(|high| {
                let lower = KeyBound { fields: low, inclusive: from.includes(LOW) };
                let upper = KeyBound { fields: high, inclusive: to.includes(HIGH) };
                f(&ScanRange {
                    lower: from.is_bounded(LOW).then_some(lower),
                    upper: to.is_bounded(HIGH).then_some(upper),
                    backward: self.backward,
                })
            })
        })
    }
}

/// The ends of a range.
const LOW: usize = 0;
const HIGH: usize = 1;

impl Place {
    fn compare(&self, other: &Place, descending: &[bool], collations: &[Collation]) -> Ordering {
        for (i, (x, y)) in self.values.iter().zip(&other.values).enumerate() {
            let collation = collations.get(i).copied().unwrap_or_default();
            let order = compare(x, y, collation);
            if order.is_ne() {
                let reversed = descending.get(i).is_some_and(|&d| d);
                return if reversed { order.reverse() } else { order };
            }
        }
        // What has fewer values lies outside of all keys that begin with them.
        let side = |p: &Place| if p.after { Ordering::Greater } else { Ordering::Less };
        match self.values.len().cmp(&other.values.len()) {
            Ordering::Less => side(self),
            Ordering::Greater => side(other).reverse(),
            Ordering::Equal => self.after.cmp(&other.after),
        }
    }
}

impl Range {
    fn new(range: &SeekRange) -> SqlResult<Range> {
        let null_matches = |i: usize| range.null_matches.get(i).is_some_and(|&n| n);
        let equal = range.equal.iter().enumerate();
        let part = |(i, s): (usize, &plan::Scalar)| Ok((Expr::new(s)?, null_matches(i)));
        Ok(Range {
            equal: equal.map(part).collect::<SqlResult<_>>()?,
            lower: range.lower.as_ref().map(End::new).transpose()?,
            upper: range.upper.as_ref().map(End::new).transpose()?,
            from: Place::default(),
            to: Place::default(),
            low: StoredValues::default(),
            high: StoredValues::default(),
            bounded: [false; 2],
        })
    }

    fn includes(&self, end: usize) -> bool {
        let bound = if end == LOW { &self.lower } else { &self.upper };
        let itself = |e: &End| e.inclusive && !e.after_null;
        !self.bounded[end] || bound.as_ref().is_none_or(itself)
    }

    fn is_bounded(&self, end: usize) -> bool {
        self.bounded[end] || !self.equal.is_empty()
    }

    /// Computes its bounds, and keeps them where they are to be compared; false when no row can
    /// match.
    fn open(&mut self, types: &[SqlType], keep: bool, run: &mut Run<'_>) -> SqlResult<bool> {
        self.low.clear();
        self.high.clear();
        self.from.values.clear();
        self.to.values.clear();
        for (i, (x, null_matches)) in self.equal.iter().enumerate() {
            let (low, high) = (&mut self.low, &mut self.high);
            let (from, to) = (&mut self.from.values, &mut self.to.values);
            let matches = x.with(run, |v| {
                low.push(v, types[i]);
                high.push(v, types[i]);
                if keep {
                    from.push(v.clone());
                    to.push(v.clone());
                }
                *null_matches || !v.is_null()
            })?;
            if !matches {
                return Ok(false);
            }
        }
        let next = self.equal.len();
        let [low, high] = &mut self.bounded;
        let (from, to) = (&mut self.from.values, &mut self.to.values);
        for (end, out, place, bounded) in
            [(&self.lower, &mut self.low, from, low), (&self.upper, &mut self.high, to, high)]
        {
            *bounded = end.is_some();
            let Some(end) = end else { continue };
            let matches = end.value.with(run, |v| {
                if end.unless_null && v.is_null() {
                    *bounded = false;
                    return true;
                }
                out.push(v, types[next]);
                if keep {
                    place.push(v.clone());
                }
                end.after_null || !v.is_null()
            })?;
            if !matches {
                return Ok(false);
            }
        }
        self.from.after = !self.includes(LOW);
        self.to.after = self.includes(HIGH);
        Ok(true)
    }
}

impl End {
    fn new(bound: &Bound) -> SqlResult<End> {
        Ok(End {
            value: Expr::new(&bound.value)?,
            inclusive: bound.inclusive,
            after_null: bound.after_null,
            unless_null: bound.unless_null,
        })
    }
}
