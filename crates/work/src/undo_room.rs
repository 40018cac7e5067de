//! The log that a transaction's part keeps reserved for its undo.
//!
//! ```text
//!   records   |--- at most UNDONE_MAX ---|------------------------------------>
//!             the log undoes these,      versions undo all together
//!             where there are no more
//!   number 1  |-------------------------------------->|  number 2 |------------>
//!                    mark |----- its tail ------------|
//! ```
//!
//! What versions do not undo needs room for its undo in any case. Where versions undo the rest, its
//! records need room as long as the log undoes them all the same: while the transaction is short,
//! and behind a mark that lies within a number (`numbers.rs`), as long as that mark is there. Rows
//! of such a tail may have been changed again under a later number, and are reverted first when the
//! tail is undone: so there is room for as many reverts as the tail has records.
//!
//! Invariants
//!  1. What is undone from the log has room: [`UndoRoom::bytes`] is never less than what its
//!     records and reverts may write.

use crate::numbers::OpenMarks;
use std::sync::Arc;

/// Log that a revert writes beside the two records.
const REVERT_BESIDE: u64 = 128;

/// Records behind marks that lie within one number.
#[derive(Default)]
struct Tail {
    marks: OpenMarks<()>,
    records: u64,
    bytes: u64,
}

/// The room that a part needs for its undo.
pub(crate) struct UndoRoom {
    /// Transactions of so many records or fewer are undone from the log.
    undone_max: u64,
    /// For records as long as the whole transaction is undone from the log.
    whole: u64,
    /// For records that versions do not undo.
    unversioned: u64,
    /// Behind marks within the current number.
    current: Tail,
    /// Behind marks within numbers before.
    closed: Vec<Tail>,
    /// The most that a revert of a record writes, where such tails are.
    revert: u64,
}

impl UndoRoom {
    pub(crate) fn new(undone_max: u64) -> UndoRoom {
        UndoRoom {
            undone_max,
            whole: 0,
            unversioned: 0,
            current: Tail::default(),
            closed: Vec::new(),
            revert: 0,
        }
    }

    /// For a loser, whose records are undone from the log.
    pub(crate) fn of_loser(undone_max: u64, bytes: u64) -> UndoRoom {
        UndoRoom { whole: bytes, ..UndoRoom::new(undone_max) }
    }

    /// A change was logged, whose undo takes so many bytes: the part has `records` in all now,
    /// `more` of them by this change. Returns whether much room is needed no more.
    pub(crate) fn logged(
        &mut self,
        bytes: u64,
        (records, more): (u64, u64),
        (unversioned, relies): (bool, bool),
    ) -> bool {
        if unversioned {
            self.unversioned += bytes;
            return false;
        }
        if self.current.marks.oldest().is_some() {
            self.current.records += more;
            self.current.bytes += bytes;
        }
        match relies && records > self.undone_max {
            true => std::mem::take(&mut self.whole) > 0,
            false => {
                self.whole += bytes;
                false
            }
        }
    }

    /// A mark lies within the current number. Returns whether much room is needed no more.
    pub(crate) fn marked(&mut self, seat: &Arc<()>) -> bool {
        let before = self.closed.len();
        self.closed.retain_mut(|tail| tail.marks.oldest().is_some());
        if self.current.marks.oldest().is_none() {
            self.current = Tail::default();
        }
        self.current.marks.add(seat, ());
        self.closed.len() < before
    }

    /// Another number begins.
    pub(crate) fn number_begins(&mut self) {
        let mut tail = std::mem::take(&mut self.current);
        if tail.records > 0 && tail.marks.oldest().is_some() {
            self.closed.push(tail);
        }
    }

    /// The current number was aborted, with what is behind marks within it.
    pub(crate) fn number_aborted(&mut self) {
        self.current = Tail::default();
    }

    /// Room for the undo of all records so far, where a change that logs so many bytes is next.
    pub(crate) fn bytes(&mut self, next: u64) -> u64 {
        let closed: u64 = self.closed.iter().map(|tail| tail.records).sum();
        if closed > 0 {
            self.revert = self.revert.max(next + REVERT_BESIDE);
        }
        self.for_undo() + closed * self.revert
    }

    /// The same without reverts.
    pub(crate) fn for_undo(&self) -> u64 {
        let closed: u64 = self.closed.iter().map(|tail| tail.bytes).sum();
        self.unversioned + self.whole.max(self.current.bytes + closed)
    }

    /// The transaction is over.
    pub(crate) fn clear(&mut self) {
        *self = UndoRoom::new(self.undone_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONED: (bool, bool) = (false, true);

    /// A short transaction has room for all of its undo, a long one for what versions do not undo.
    #[test]
    fn a_long_transaction_needs_room_for_what_versions_do_not_undo() {
        let mut room = UndoRoom::new(3);
        for records in 1..=3 {
            assert!(!room.logged(100, (records, 1), VERSIONED));
        }
        assert!(!room.logged(7, (3, 1), (true, true)));
        assert_eq!(room.bytes(50), 307);
        assert!(room.logged(100, (4, 1), VERSIONED));
        assert!(!room.logged(100, (5, 1), VERSIONED));
        assert_eq!(room.bytes(50), 7);
    }

    /// What is behind a mark within a number has room as long as the mark is there, and room to be
    /// reverted once another number has begun.
    #[test]
    fn a_tail_has_room_as_long_as_its_mark_is_there() {
        let mut room = UndoRoom::new(0);
        room.logged(100, (1, 1), VERSIONED);
        let seat = Arc::new(());
        room.marked(&seat);
        room.logged(100, (2, 1), VERSIONED);
        room.logged(100, (3, 1), VERSIONED);
        assert_eq!(room.bytes(50), 200);
        room.number_begins();
        room.logged(100, (4, 1), VERSIONED);
        assert_eq!(room.bytes(50), 200 + 2 * (50 + REVERT_BESIDE));
        drop(seat);
        assert!(room.marked(&Arc::new(())));
        assert_eq!(room.bytes(50), 0);
    }
}
