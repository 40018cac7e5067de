//! Merge union: two inputs in one order, merged into that order.
//!
//! ```text
//! left    1  2  2  5        the lesser row is returned, the left one where both are equal;
//! right   2  2  6           for UNION both sides then skip what equals it: 1 2 5 6
//! ```
//!
//! Invariants
//!  1. Between two calls each side's row lies in its own slots, which no operator above changes.
//!     But the row that was returned may be overwritten by an operator that restores older rows, so
//!     its values are kept.
//!  2. No row is read before the returned one is done with: a consumer that stops early causes no
//!     further reads.

use super::{Node, Operator};
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::{Slot, SortKey};
use std::cmp::Ordering;
use types::{Collation, Value, compare};

/// Puts two ordered inputs together.
pub(crate) struct MergeUnion {
    left: Side,
    right: Side,
    columns: Vec<Slot>,
    keys: Vec<Key>,
    distinct: bool,
    /// The row that was given, where equal ones are left out.
    last: Vec<Value>,
    /// The side of that row.
    given: Option<Origin>,
}

/// An input.
struct Side {
    node: Node,
    slots: Vec<Slot>,
    /// There is a row in the slots.
    present: bool,
}

/// A part of the order.
struct Key {
    /// Position among the columns.
    at: usize,
    collation: Collation,
    descending: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Left,
    Right,
}

impl Side {
    fn advance(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.present {
            run.tick()?;
            self.present = self.node.next(run)?;
        }
        Ok(())
    }

    /// Skips all rows that equal the given row.
    fn pass_by(&mut self, keys: &[Key], last: &[Value], run: &mut Run<'_>) -> SqlResult<()> {
        let equals = |slots: &[Slot], run: &Run<'_>| {
            let same = |k: &Key| compare(run.slot(slots[k.at]), &last[k.at], k.collation).is_eq();
            keys.iter().all(same)
        };
        while self.present && equals(&self.slots, run) {
            self.advance(run)?;
        }
        Ok(())
    }
}

impl MergeUnion {
    pub(crate) fn new(union: &plan::MergeUnion, left: Node, right: Node) -> SqlResult<MergeUnion> {
        let key = |k: &SortKey| {
            let at = union.columns.iter().position(|&slot| slot == k.slot);
            let at = at.ok_or_else(|| {
                SqlError::new(messages::INTERNAL, &[&"a merge orders by its columns"])
            })?;
            Ok(Key { at, collation: k.collation, descending: k.descending })
        };
        let side = |node, slots: &[Slot]| Side { node, slots: slots.to_vec(), present: false };
        Ok(MergeUnion {
            left: side(left, &union.left_slots),
            right: side(right, &union.right_slots),
            columns: union.columns.clone(),
            keys: union.keys.iter().map(key).collect::<SqlResult<_>>()?,
            distinct: union.distinct,
            last: Vec::new(),
            given: None,
        })
    }

    fn begin(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        (self.left.present, self.right.present) = (true, true);
        self.given = None;
        self.left.advance(run)?;
        self.right.advance(run)
    }

    /// The sides are done with the row that was given.
    fn go_on(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        match self.given.take() {
            None => Ok(()),
            Some(_) if self.distinct => {
                self.left.pass_by(&self.keys, &self.last, run)?;
                self.right.pass_by(&self.keys, &self.last, run)
            }
            Some(Origin::Left) => self.left.advance(run),
            Some(Origin::Right) => self.right.advance(run),
        }
    }

    /// How the rows at hand order.
    fn order(&self, run: &Run<'_>) -> Ordering {
        for key in &self.keys {
            let left = run.slot(self.left.slots[key.at]);
            let right = run.slot(self.right.slots[key.at]);
            let order = compare(left, right, key.collation);
            if order.is_ne() {
                return if key.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}

impl Operator for MergeUnion {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.left.node.open(run)?;
        self.right.node.open(run)?;
        self.begin(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.go_on(run)?;
        let from = match (self.left.present, self.right.present) {
            (false, false) => return Ok(false),
            (true, false) => Origin::Left,
            (false, true) => Origin::Right,
            (true, true) if self.order(run).is_gt() => Origin::Right,
            (true, true) => Origin::Left,
        };
        let side = if from == Origin::Left { &self.left } else { &self.right };
        self.last.clear();
        for (&slot, &column) in side.slots.iter().zip(&self.columns) {
            let value = run.slot(slot).clone();
            if self.distinct {
                self.last.push(value.clone());
            }
            run.set(column, value);
        }
        self.given = Some(from);
        Ok(true)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.left.node.rewind(run)?;
        self.right.node.rewind(run)?;
        self.begin(run)
    }

    fn close(&mut self) {
        self.last = Vec::new();
        self.given = None;
        self.left.node.close();
        self.right.node.close();
    }
}
