//! The queue of the background cleaner: pages with ghosts that their deleter does not settle.
//!
//! A page is noted here by recovery (a crash ends the deleter before it settles), by a settle that
//! failed or met another transaction's lock, by a transaction with more ghosts than it remembers
//! (`settle.rs`), by a rollback that left a ghost, and by readers that met one. A note is only a
//! hint: the cleaner looks at the page and asks for locks. A page without ghosts costs one look; a
//! page that was not noted waits until a reader meets its ghosts.
//!
//! The queue is ordered only by page. Once a second the cleaner passes over all noted pages, in
//! steps. It stops early only after a step in which other threads held every page; the next pass
//! begins after these pages. An order by the deleters' commits would help only if a pass took
//! longer than a second. It does not, because deleters clean their own pages and few pages are
//! noted. For the same reason a full queue delays no thread: the deleter has already tried, and a
//! page that is then not noted has ghosts that another transaction held.
//!
//! Invariants
//!  1. There are never more than `PAGES_MAX` noted pages.
//!  2. A page that was taken out stays known until it is dealt with: a checkpoint records it, too.
//!  3. Only one thread looks at a page at a time, the cleaner or a deleter of its rows.

use base::PageId;
use os::sync::Mutex;
use std::collections::BTreeSet;

/// The most pages that are remembered: 2 GB of the data, 4 MB of memory. Readers note other pages
/// again.
const PAGES_MAX: usize = 1 << 18;

/// The pages at which the cleaner must look.
#[derive(Default)]
pub struct GhostQueue {
    noted: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    pages: BTreeSet<PageId>,
    /// Pages that were taken out and are not dealt with yet.
    taken: BTreeSet<PageId>,
}

impl GhostQueue {
    /// Notes a page that may have a ghost which no deleter removes.
    pub fn note(&self, page: PageId) {
        assert!(!page.is_none(), "a ghost is on a page");
        let mut noted = self.noted.lock();
        if noted.pages.len() < PAGES_MAX {
            noted.pages.insert(page);
        }
        debug_assert!(noted.pages.len() <= PAGES_MAX, "invariant 1");
    }

    /// Takes out the first pages after `last`, at most `count`, in the order of page ids. Each
    /// stays known until [`Self::dealt_with`].
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

    /// Takes one page out, noted or not, for a deleter that left ghosts there. Returns false if
    /// another thread has the page. It stays known until [`Self::dealt_with`].
    pub fn take(&self, page: PageId) -> bool {
        assert!(!page.is_none(), "a ghost is on a page");
        let mut noted = self.noted.lock();
        let is_one = noted.taken.insert(page);
        if is_one {
            noted.pages.remove(&page);
        }
        is_one
    }

    /// Says that a page that was taken out has been looked at.
    pub fn dealt_with(&self, page: PageId) {
        assert!(!page.is_none(), "a page was taken");
        let was_taken = self.noted.lock().taken.remove(&page);
        assert!(was_taken, "{page} is dealt with once, after it was taken");
    }

    /// The first known pages, at most `count`.
    pub fn known(&self, count: usize) -> Vec<PageId> {
        let noted = self.noted.lock();
        debug_assert!(noted.pages.len() <= PAGES_MAX, "invariant 1");
        noted.taken.union(&noted.pages).take(count).copied().collect()
    }

    /// The number of noted pages.
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
