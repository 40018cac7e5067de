//! The ranges of a seek: bounds computed when opened, in the form in which rows store them.

use crate::expr::Expr;
use crate::run::Run;
use crate::stored::Stored;
use access::{KeyBound, ScanRange};
use base::SqlResult;
use plan::{Bound, Seek, SeekRange};
use std::cmp::Ordering;
use types::{Collation, SqlType, Value, compare};

/// A compiled seek.
pub(crate) struct Seeks {
    types: Vec<SqlType>,
    descending: Vec<bool>,
    ranges: Vec<Range>,
    /// Those that can match anything, in the order in which they are read.
    live: Vec<usize>,
    backward: bool,
    pub(crate) unique: bool,
}

struct Range {
    equal: Vec<(Expr, bool, Collation)>,
    lower: Option<End>,
    upper: Option<End>,
    /// The equal values of this open, kept where ranges must be put in order.
    point: Vec<Value>,
    low: Stored,
    high: Stored,
    /// Whether there is a lower and an upper bound in this open.
    bounded: [bool; 2],
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
                self.live.push(i);
            }
        }
        if several {
            self.put_in_order();
        }
        Ok(())
    }

    /// Points in key order, each once.
    fn put_in_order(&mut self) {
        let (ranges, descending, backward) = (&self.ranges, &self.descending, self.backward);
        let order = |&a: &usize, &b: &usize| {
            let order = compare_points(&ranges[a], &ranges[b], descending);
            if backward { order.reverse() } else { order }
        };
        self.live.sort_by(order);
        let same = |a: &mut usize, b: &mut usize| {
            ranges[*a].is_point() && ranges[*b].is_point() && order(a, b).is_eq()
        };
        self.live.dedup_by(same);
    }

    /// How many ranges there are to read.
    pub(crate) fn count(&self) -> usize {
        self.live.len()
    }

    /// Hands the n-th range to `f`.
    pub(crate) fn with_range<R>(&self, n: usize, f: impl FnOnce(&ScanRange<'_>) -> R) -> R {
        let range = &self.ranges[self.live[n]];
        let includes = |end: &Option<End>, bounded: bool| {
            !bounded || end.as_ref().is_none_or(|e| e.inclusive && !e.after_null)
        };
        let [low_bounded, high_bounded] = range.bounded;
        let lower_inclusive = includes(&range.lower, low_bounded);
        let upper_inclusive = includes(&range.upper, high_bounded);
        let bounded = |itself: bool| itself || !range.equal.is_empty();
        range.low.with_fields(|low| {
            range.high.with_fields(|high| {
                let lower = KeyBound { fields: low, inclusive: lower_inclusive };
                let upper = KeyBound { fields: high, inclusive: upper_inclusive };
                f(&ScanRange {
                    lower: bounded(low_bounded).then_some(lower),
                    upper: bounded(high_bounded).then_some(upper),
                    backward: self.backward,
                })
            })
        })
    }
}

fn compare_points(a: &Range, b: &Range, descending: &[bool]) -> Ordering {
    for (i, (x, y)) in a.point.iter().zip(&b.point).enumerate() {
        let collation = a.equal.get(i).map_or(Collation::default(), |e| e.2);
        let order = compare(x, y, collation);
        if order.is_ne() {
            let reversed = descending.get(i).is_some_and(|&d| d);
            return if reversed { order.reverse() } else { order };
        }
    }
    a.point.len().cmp(&b.point.len())
}

impl Range {
    fn new(range: &SeekRange) -> SqlResult<Range> {
        let null_matches = |i: usize| range.null_matches.get(i).is_some_and(|&n| n);
        let equal = range.equal.iter().enumerate();
        let part =
            |(i, s): (usize, &plan::Scalar)| Ok((Expr::new(s)?, null_matches(i), s.ty.collation));
        Ok(Range {
            equal: equal.map(part).collect::<SqlResult<_>>()?,
            lower: range.lower.as_ref().map(End::new).transpose()?,
            upper: range.upper.as_ref().map(End::new).transpose()?,
            point: Vec::new(),
            low: Stored::default(),
            high: Stored::default(),
            bounded: [false; 2],
        })
    }

    fn is_point(&self) -> bool {
        self.lower.is_none() && self.upper.is_none()
    }

    /// Computes its bounds; false when no row can match.
    fn open(&mut self, types: &[SqlType], keep: bool, run: &mut Run<'_>) -> SqlResult<bool> {
        self.low.clear();
        self.high.clear();
        self.point.clear();
        for (i, (x, null_matches, _)) in self.equal.iter().enumerate() {
            let (low, high, point) = (&mut self.low, &mut self.high, &mut self.point);
            let matches = x.with(run, |v| {
                low.push(v, types[i]);
                high.push(v, types[i]);
                if keep {
                    point.push(v.clone());
                }
                *null_matches || !v.is_null()
            })?;
            if !matches {
                return Ok(false);
            }
        }
        let next = self.equal.len();
        let [low, high] = &mut self.bounded;
        for (end, out, bounded) in
            [(&self.lower, &mut self.low, low), (&self.upper, &mut self.high, high)]
        {
            *bounded = end.is_some();
            let Some(end) = end else { continue };
            let matches = end.value.with(run, |v| {
                if end.unless_null && v.is_null() {
                    *bounded = false;
                    return true;
                }
                out.push(v, types[next]);
                end.after_null || !v.is_null()
            })?;
            if !matches {
                return Ok(false);
            }
        }
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
