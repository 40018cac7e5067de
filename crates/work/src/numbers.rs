//! The sequence numbers under which a transaction writes, and when it draws another.
//!
//! ```text
//!   BEGIN TRAN      number 1                                    number 2
//!     UPDATE ...   |----------------------------------->|
//!     SAVE TRAN s            ^ mark, within number 1    |
//!     UPDATE ...             |--- at most UNDONE_MAX ---|-------------------->
//!     ROLLBACK TRAN s        the log undoes these        the aborted map has number 2
//! ```
//!
//! Where versions undo a transaction (accelerated recovery), a number in the tags of rows is what
//! can be aborted as a whole: the transaction's, or that of a part. A part is what comes behind a
//! mark: a savepoint, or the begin of a statement that may fail. Most parts are small. So a part
//! goes on under the number that is current at its mark until it has logged as many records as the
//! log undoes soon. Then the transaction draws another number. A rollback to the mark aborts the
//! numbers that were drawn behind it, and undoes the records before them from the log, whose
//! records are kept while the mark is.
//!
//! Invariants
//!  1. Numbers ascend. Rows that a transaction changed under a number are behind all that it
//!     changed under lesser ones. So a rollback to a mark aborts the last numbers, or none.
//!  2. A number that was aborted is never written under again: it is in the list no more.
//!  3. Another number is drawn at the begin of a change, before any record has a tag.

use base::Xsn;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The numbers under which a transaction has written, without those that were rolled back.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    /// Ascending.
    list: Vec<Xsn>,
    /// The next change draws another.
    closed: bool,
}

impl Numbers {
    /// The number for changes, unless another is to be drawn.
    #[inline]
    pub(crate) fn current(&self) -> Option<Xsn> {
        self.list.last().copied().filter(|_| !self.closed)
    }

    /// Whether it is one of them.
    #[inline]
    pub(crate) fn has(&self, xsn: Xsn) -> bool {
        match &self.list[..] {
            [] => false,
            [one] => *one == xsn,
            all => all.binary_search(&xsn).is_ok(),
        }
    }

    pub(crate) fn list(&self) -> &[Xsn] {
        &self.list
    }

    /// The newest; [`Xsn::NONE`] before there is one.
    pub(crate) fn newest(&self) -> Xsn {
        self.list.last().copied().unwrap_or(Xsn::NONE)
    }

    /// How many are above one.
    pub(crate) fn above(&self, xsn: Xsn) -> usize {
        self.list.len() - self.list.partition_point(|number| *number <= xsn)
    }

    pub(crate) fn begin(&mut self, xsn: Xsn) {
        assert!(xsn > self.newest(), "invariant 1");
        self.list.push(xsn);
        self.closed = false;
    }

    /// The next change draws another number.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the next change draws another number than the last.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed && !self.list.is_empty()
    }

    /// The next change goes on under the last number.
    pub(crate) fn reopen(&mut self) {
        self.closed = false;
    }

    /// Those above a number were rolled back: takes them out.
    pub(crate) fn cut(&mut self, above: Xsn) -> Vec<Xsn> {
        let kept = self.list.partition_point(|xsn| *xsn <= above);
        // Invariant 2.
        self.closed = true;
        self.list.split_off(kept)
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.closed = false;
    }
}

/// Marks that may be rolled back to, as long as somebody holds their seats, oldest first. Each has
/// a place `P`, and places ascend.
pub(crate) struct OpenMarks<P> {
    marks: VecDeque<(Weak<()>, P)>,
    /// With more, those that are gone are taken out.
    many: usize,
}

impl<P> Default for OpenMarks<P> {
    fn default() -> Self {
        OpenMarks { marks: VecDeque::new(), many: 16 }
    }
}

impl<P: Copy + PartialEq> OpenMarks<P> {
    /// One more. Marks at one place have one seat.
    pub(crate) fn open(&mut self, at: P) -> Arc<()> {
        let last = self.marks.back().filter(|last| last.1 == at);
        if let Some(seat) = last.and_then(|last| last.0.upgrade()) {
            return seat;
        }
        let seat = Arc::new(());
        self.add(&seat, at);
        seat
    }

    /// One more, which has a seat.
    pub(crate) fn add(&mut self, seat: &Arc<()>, at: P) {
        if self.marks.len() >= self.many {
            self.marks.retain(|mark| mark.0.strong_count() > 0);
            self.many = 2 * self.marks.len() + 16;
        }
        self.marks.push_back((Arc::downgrade(seat), at));
    }

    /// The place of the oldest that is still there.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Option<P> {
        while let Some((mark, at)) = self.marks.front() {
            if mark.strong_count() > 0 {
                return Some(*at);
            }
            self.marks.pop_front();
        }
        None
    }

    /// The places of all that are there, oldest first.
    pub(crate) fn held(&self) -> Vec<P> {
        let held = self.marks.iter().filter(|mark| mark.0.strong_count() > 0);
        held.map(|mark| mark.1).collect()
    }

    pub(crate) fn clear(&mut self) {
        self.marks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers are found until they are cut off; after that another is drawn.
    #[test]
    fn a_cut_takes_the_last_numbers_and_closes_the_one_before() {
        let mut numbers = Numbers::default();
        assert_eq!((numbers.current(), numbers.newest()), (None, Xsn::NONE));
        for xsn in [3, 5, 9] {
            numbers.begin(Xsn(xsn));
            assert_eq!(numbers.current(), Some(Xsn(xsn)));
        }
        assert!(numbers.has(Xsn(5)) && !numbers.has(Xsn(4)));
        assert_eq!(numbers.cut(Xsn(3)), [Xsn(5), Xsn(9)]);
        assert!(numbers.has(Xsn(3)) && !numbers.has(Xsn(9)));
        assert_eq!((numbers.current(), numbers.newest()), (None, Xsn(3)));
        numbers.begin(Xsn(12));
        assert_eq!(numbers.list(), [Xsn(3), Xsn(12)]);
    }

    /// The oldest mark is the oldest whose seat somebody holds. Marks at one place share a seat.
    #[test]
    fn the_oldest_mark_is_one_that_is_held() {
        let mut marks = OpenMarks::default();
        let first = marks.open(1_u64);
        let again = marks.open(1);
        let second = marks.open(7);
        assert!(Arc::ptr_eq(&first, &again));
        drop(first);
        assert_eq!(marks.oldest(), Some(1));
        drop(again);
        assert_eq!(marks.oldest(), Some(7));
        for at in 8..1000 {
            drop(marks.open(at));
        }
        assert!(marks.marks.len() < 40, "those that are gone take no memory");
        drop(second);
        assert_eq!(marks.oldest(), None);
    }
}
