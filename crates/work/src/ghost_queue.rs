//! Pages with ghosts that their deleter does not settle: the background cleaner's work.
//!
//! A page comes here from recovery (whoever deletes settles only until a crash), from a settle
//! that failed or met somebody's lock, from a transaction with more ghosts than it remembers
//! (`settle.rs`), from a rollback that left a ghost, and from readers that met one. What is here is
//! a hint: the cleaner looks at the page and asks for locks, so a page too many costs a look, and
//! one too few waits for a reader.
//!
//! There is no order but that of pages. The cleaner looks at all that is noted once a second; it
//! stops early only behind a step of pages that others hold, all of them, and begins behind them
//! the next time. To take the ghosts first whose deleters committed first would help where a pass
//! takes longer than that; but deleters clean their own pages, so what is noted is little. For the
//! same reason nobody is held up when the queue is full: who deletes has done his part, and what
//! is not noted then is what others held.
//!
//! Invariants
//!  1. There are never more than `PAGES_MAX` pages.
//!  2. A page that is being looked at is still known: a checkpoint takes it along.
//!  3. One looks at a page at a time, the cleaner or a deleter of its rows.

use base::PageId;
use os::sync::Mutex;
use std::collections::BTreeSet;

/// So many pages are remembered: 2 GB of the data, 4 MB of memory. Readers bring others again.
const PAGES_MAX: usize = 1 << 18;

/// Pages that the cleaner is to look at.
#[derive(Default)]
pub struct GhostQueue {
    noted: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    pages: BTreeSet<PageId>,
    /// What was taken out and is not yet dealt with.
    taken: BTreeSet<PageId>,
}

impl GhostQueue {
    /// A page may have a ghost that nobody else clears away.
    pub fn note(&self, page: PageId) {
        assert!(!page.is_none(), "a ghost is on a page");
        let mut noted = self.noted.lock();
        if noted.pages.len() < PAGES_MAX {
            noted.pages.insert(page);
        }
        debug_assert!(noted.pages.len() <= PAGES_MAX, "invariant 1");
    }

    /// Takes out the first pages behind one, at most so many, in the order of their places. Each
    /// is known until [`Self::dealt_with`].
    pub fn take_after(&self, last: Option<PageId>, count: usize) -> Vec<PageId> {
        assert!(count > 0, "who takes nothing never comes to the end");
        let mut noted = self.noted.lock();
        let Notes { pages, taken: in_hand } = &mut *noted;
        let behind = pages.iter().filter(|p| last.is_none_or(|last| **p > last));
        let free = behind.filter(|p| !in_hand.contains(p));
        let taken: Vec<PageId> = free.take(count).copied().collect();
        for page in &taken {
            let was_there = pages.remove(page);
            assert!(was_there, "what is taken was noted");
            let is_one = in_hand.insert(*page);
            assert!(is_one, "invariant 3");
        }
        debug_assert!(taken.first().is_none_or(|p| last.is_none_or(|last| last < *p)), "behind it");
        debug_assert!(taken.iter().all(|p| in_hand.contains(p)), "invariant 2");
        taken
    }

    /// Takes one page out, noted or not, for whoever has left ghosts there; false where somebody
    /// is at it. It is known until [`Self::dealt_with`].
    pub fn take(&self, page: PageId) -> bool {
        assert!(!page.is_none(), "a ghost is on a page");
        let mut noted = self.noted.lock();
        let is_one = noted.taken.insert(page);
        if is_one {
            noted.pages.remove(&page);
        }
        is_one
    }

    /// A page that was taken has been looked at.
    pub fn dealt_with(&self, page: PageId) {
        assert!(!page.is_none(), "a page was taken");
        let was_taken = self.noted.lock().taken.remove(&page);
        assert!(was_taken, "{page} is dealt with once, after it was taken");
    }

    /// The first pages that are known, at most so many.
    pub fn known(&self, count: usize) -> Vec<PageId> {
        let noted = self.noted.lock();
        debug_assert!(noted.pages.len() <= PAGES_MAX, "invariant 1");
        noted.taken.union(&noted.pages).take(count).copied().collect()
    }

    /// How many are noted.
    pub fn count(&self) -> usize {
        self.noted.lock().pages.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_once_in_order_and_their_number_is_bounded() {
        let queue = GhostQueue::default();
        for n in [7, 3, 9, 3] {
            queue.note(PageId::new(1, n));
        }
        assert_eq!(queue.take_after(None, 2), [PageId::new(1, 3), PageId::new(1, 7)]);
        queue.note(PageId::new(1, 3));
        let known = [3, 7, 9].map(|n| PageId::new(1, n));
        assert_eq!((queue.known(9), queue.known(2)), (known.to_vec(), known[..2].to_vec()));
        queue.dealt_with(PageId::new(1, 7));
        assert_eq!(queue.known(9), [known[0], known[2]]);
        assert_eq!(queue.take_after(Some(PageId::new(1, 7)), 5), [PageId::new(1, 9)]);
        assert_eq!(queue.count(), 1);
        // Page 3 is in somebody's hands, though it was noted again.
        assert!(!queue.take(known[0]) && queue.take_after(None, 5).is_empty());
        queue.dealt_with(known[0]);
        assert!(queue.take(known[0]) && queue.take(PageId::new(1, 4)));
        assert_eq!((queue.count(), queue.known(9).len()), (0, 3));
        for n in 10..PAGES_MAX as u32 + 100 {
            queue.note(PageId::new(1, n));
        }
        assert_eq!(queue.count(), PAGES_MAX);
    }
}
