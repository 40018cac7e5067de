//! Finds ghosts in the graveyard among the rows of a batch, for readers as of a moment.
//!
//! Invariants
//!  1. The leaf is looked at first: a ghost that is moved meanwhile is met twice, and not missed. A
//!     moment sees one row of a key, so the second is skipped.
//!  2. After a pass, all rows that its moment sees up to its position have been returned. When the
//!     graveyard has more than a batch, the position goes back to the last row that is returned.

use super::{BATCH_BYTES_MAX, IndexCursor, Limit, State};
use crate::error::RowResult;
use crate::ghosts::graveyard::Bound;
use crate::place::NOWHERE;
use crate::versions::{Visibility, conflict};
use access::Strength;
use base::PageId;
use btree::{KeyBuf, KeyFields, Position};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use txn::CommitTime;
use work::Work;

/// The rows from the graveyard, which stand behind those of the leaf.
#[derive(Default)]
struct ExhumedGhosts {
    /// For each: how many rows of the leaf come before it.
    places: Vec<usize>,
    /// The key of the last one, if there may be more.
    cut: Option<KeyBuf>,
}

impl IndexCursor<'_> {
    /// Notes where a pass begins.
    #[inline]
    pub(super) fn note_begin(&mut self) {
        if self.plan.as_of.is_none() {
            return;
        }
        match self.state {
            State::Before => self.begun.clear(),
            State::After => self.begun.clone_from(self.position.key()),
            // The pass continues after a wait. The graveyard was not searched yet for the keys
            // before the row that blocked.
            State::Again | State::Beyond | State::Done => return,
        }
        self.own_gone.clear();
    }

    /// Notes the key of a row that the transaction has deleted itself. For this reader, ghosts with
    /// the key in the graveyard are no rows either.
    pub(super) fn note_own(&mut self, work: &Work, record: &[u8]) {
        let mut key = KeyFields::default();
        if self.hobt.is_own(work, record)
            && !self.hobt.state.graves.is_empty()
            && self.hobt.tree().key_of(record, &mut key).is_some()
        {
            self.own_gone.push(KeyBuf::of(key.as_slice()));
        }
    }

    /// Adds the rows in the graveyard whose keys lie in the pass, and sorts them in among the
    /// others.
    #[inline]
    pub(super) fn merge_graves(&mut self, work: &Work) -> RowResult<()> {
        let Some(at) = self.plan.as_of else { return Ok(()) };
        let found = self.point && !self.rows.is_empty();
        if found || !self.hobt.state.graves.may_be_seen(at) {
            return Ok(());
        }
        let exhumed = self.exhume(work, at)?;
        self.own_gone.clear();
        if !exhumed.places.is_empty() {
            self.arrange(exhumed);
        }
        Ok(())
    }

    /// Copies the rows in the graveyard that the moment sees, behind those of the leaf.
    #[cold]
    fn exhume(&mut self, work: &Work, at: CommitTime) -> RowResult<ExhumedGhosts> {
        debug_assert!(matches!(self.state, State::After | State::Done), "a pass has ended");
        let (tree, hobt) = (self.hobt.tree(), self.hobt);
        let (begun, lower, upper) = (self.begun.clone(), self.lower.clone(), self.upper.clone());
        let passed = (self.state == State::After).then(|| self.position.key().clone());
        let (lower, upper) = (lower.as_ref().map(bound), upper.as_ref().map(bound));
        let begun = (!begun.is_empty()).then_some(Bound { key: &begun, inclusive: false });
        let passed = passed.as_ref().map(|key| Bound { key, inclusive: true });
        let (backward, of_leaf) = (self.backward, self.rows.len());
        let between = match backward {
            false => (begun.or(lower), passed.or(upper)),
            true => (passed.or(lower), begun.or(upper)),
        };
        let behind = if backward { Ordering::Less } else { Ordering::Greater };
        let (mut exhumed, mut before, mut gone) = (ExhumedGhosts::default(), 0, 0);
        let mut unseen = 0;
        let mut former = std::mem::take(&mut self.former);
        let done = hobt.state.graves.each(tree, between, backward, &mut |ghost| {
            let mut key = KeyFields::default();
            if tree.key_of(ghost, &mut key).is_none() {
                return Ok(ControlFlow::Continue(()));
            }
            while let Some(own) = self.own_gone.get(gone) {
                match tree.compare(ghost, own.fields().as_slice()) {
                    Some(Ordering::Equal) => return Ok(ControlFlow::Continue(())),
                    Some(order) if order == behind => gone += 1,
                    Some(_) | None => break,
                }
            }
            while before < of_leaf {
                let row = &self.bytes[self.rows[before].bytes.clone()];
                match tree.compare(row, key.as_slice()) {
                    Some(Ordering::Equal) => return Ok(ControlFlow::Continue(())),
                    Some(order) if order == behind => break,
                    Some(_) | None => before += 1,
                }
            }
            match hobt.as_of(work, at, (ghost, NOWHERE), &mut former)? {
                Visibility::Former if self.plan.strength != Strength::Shared => {
                    return Err(conflict(work, &self.plan));
                }
                Visibility::Former => self.copy(&former, PageId::NONE, 0)?,
                Visibility::AsItIs | Visibility::Nothing => {
                    unseen += 1;
                    return Ok(ControlFlow::Continue(()));
                }
            }
            exhumed.places.push(before);
            let full =
                exhumed.places.len() >= self.batch || self.bytes.len() >= 2 * BATCH_BYTES_MAX;
            if full {
                exhumed.cut = Some(KeyBuf::of(key.as_slice()));
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        });
        self.former = former;
        self.count_ghosts(unseen);
        done.map(|()| exhumed)
    }

    /// Sorts the rows, and drops those of the leaf that come after a cut.
    fn arrange(&mut self, exhumed: ExhumedGhosts) {
        let ExhumedGhosts { places, cut } = exhumed;
        let of_leaf = self.rows.len() - places.len();
        let given = match (&cut, places.last()) {
            (Some(_), Some(last)) => *last,
            _ => of_leaf,
        };
        let mut order = Vec::with_capacity(self.rows.len());
        let mut next = 0;
        for (n, before) in places.into_iter().enumerate() {
            order.extend(next..before);
            order.push(of_leaf + n);
            next = before;
        }
        order.extend(next..given);
        let mut place_of = vec![None; self.rows.len()];
        order.iter().enumerate().for_each(|(now, was)| place_of[*was] = Some(now));
        self.rows = order.iter().map(|was| self.rows[*was].clone()).collect();
        self.values.retain_mut(|value| {
            let place = place_of[value.row];
            value.row = place.unwrap_or(value.row);
            place.is_some()
        });
        self.values.sort_by_key(|value| value.row);
        if let Some(key) = cut {
            (self.position, self.state, self.onward) = (Position::at(key), State::After, None);
        }
    }
}

fn bound(limit: &Limit) -> Bound<'_> {
    Bound { key: &limit.key, inclusive: limit.inclusive }
}
