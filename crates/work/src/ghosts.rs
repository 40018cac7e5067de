//! The ghosts that a unit of work has left, and who removes them when it has committed. `settle.rs`
//! has the order and the invariants.

use crate::engine::Engine;
use crate::unit::Work;
use base::PageId;
use lock::Owner;
use std::collections::BTreeSet;
use std::sync::Arc;
use wal::Group;

/// So many are known by their keys, where they can go by them without locks.
const BY_KEY_MAX: usize = 50_000;

/// A transaction remembers so many pages beside: 512 MB of the data, 1 MB of memory. More are the
/// cleaner's.
const PAGES_MAX: usize = 1 << 16;

/// What became of a ghost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettleOutcome {
    /// It is gone, or was gone already.
    Done,
    /// It could not be removed now; the cleaner comes back.
    Later,
}

/// A hobt whose ghosts can be settled.
pub trait Settler: Send + Sync {
    /// Removes a committed ghost that no snapshot needs. The caller still holds the deleter's
    /// locks, or its key is given once; where that is no lock on the row, the row is asked for.
    fn settle(
        &self,
        deleter: (&Engine, &Arc<Owner>),
        group: &mut Group,
        key: &[u8],
        hint: (PageId, u16),
    ) -> SettleOutcome;

    /// Whether no ghost's key is ever put again, so that it is found by it without a lock.
    fn gives_keys_once(&self) -> bool;

    /// Removes of a noted page the ghosts that nobody holds and no snapshot needs, unless somebody
    /// is at it; what stays is noted. The deleter holds nothing any more.
    fn clean(&self, deleter: &Work, page: PageId);

    /// Leaves a page with ghosts to the cleaner.
    fn leave(&self, page: PageId);
}

/// A ghost to settle after commit.
pub struct Ghost {
    pub(crate) settler: Arc<dyn Settler>,
    pub(crate) key: std::ops::Range<usize>,
    pub(crate) hint: (PageId, u16),
}

/// The pages of a hobt with ghosts that are not known by their keys.
pub(crate) struct Pages {
    settler: Arc<dyn Settler>,
    /// The one that came last: mostly the next is the same.
    last: PageId,
    all: BTreeSet<PageId>,
}

/// The ghosts of a unit of work.
#[derive(Default)]
pub(crate) struct Ghosts {
    pub(crate) list: Vec<Ghost>,
    pub(crate) keys: Vec<u8>,
    pub(crate) pages: Vec<Pages>,
    pub(crate) under_locks: usize,
}

impl Ghosts {
    /// A transaction begins, which settles so many under its locks.
    pub(crate) fn begin(&mut self, under_locks: usize) {
        assert!(self.is_empty(), "the last one left nothing");
        self.under_locks = under_locks;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.pages.is_empty()
    }

    /// Remembers a ghost; false where there is no room for it. What has no key is told once in a
    /// row.
    pub(crate) fn push(
        &mut self,
        settler: Arc<dyn Settler>,
        key: &[u8],
        hint: (PageId, u16),
    ) -> bool {
        debug_assert!(!hint.0.is_none(), "a ghost is on a page");
        let twice = |g: &Ghost| g.hint == hint && Arc::ptr_eq(&g.settler, &settler);
        if key.is_empty() && self.list.last().is_some_and(twice) {
            return true;
        }
        let count = self.list.len();
        if count >= self.under_locks && (count >= BY_KEY_MAX || !settler.gives_keys_once()) {
            return self.push_page(settler, hint.0);
        }
        let from = self.keys.len();
        let end = self.list.last().map_or(0, |g| g.key.end);
        debug_assert_eq!(from, end, "keys stand one behind the other, without a gap");
        self.keys.extend_from_slice(key);
        self.list.push(Ghost { settler, key: from..self.keys.len(), hint });
        true
    }

    fn push_page(&mut self, settler: Arc<dyn Settler>, page: PageId) -> bool {
        let at = self.pages.iter().position(|p| Arc::ptr_eq(&p.settler, &settler));
        let at = at.unwrap_or_else(|| {
            self.pages.push(Pages { settler, last: PageId::NONE, all: BTreeSet::new() });
            self.pages.len() - 1
        });
        if self.pages[at].last == page || self.pages[at].all.contains(&page) {
            return true;
        }
        if self.pages.iter().map(|p| p.all.len()).sum::<usize>() >= PAGES_MAX {
            return false;
        }
        self.pages[at].last = page;
        self.pages[at].all.insert(page)
    }

    /// A page got ghosts of another by a split: the latter may be among those that are remembered.
    pub(crate) fn moved_to(&mut self, settler: &Arc<dyn Settler>, page: PageId) {
        if self.pages.iter().any(|p| Arc::ptr_eq(&p.settler, settler)) {
            // Where there is no room for it, it is noted already.
            self.push_page(Arc::clone(settler), page);
        }
    }

    /// Goes back to a mark. Pages stay: that is a look too many.
    pub(crate) fn truncate(&mut self, len: usize) {
        assert!(len <= self.list.len(), "a mark is at or before the last ghost");
        self.list.truncate(len);
        self.keys.truncate(self.list.last().map_or(0, |g| g.key.end));
        debug_assert!(len > 0 || self.keys.is_empty(), "no ghost, no key");
    }

    pub(crate) fn clear(&mut self) {
        self.truncate(0);
        self.pages.clear();
        debug_assert!(self.is_empty(), "nothing is left to the next");
    }

    pub(crate) fn each_page(&self) -> impl Iterator<Item = (&Arc<dyn Settler>, PageId)> {
        self.pages.iter().flat_map(|of| of.all.iter().map(|page| (&of.settler, *page)))
    }

    /// Leaves to the cleaner what does not go under locks (invariant 2).
    pub(crate) fn leave_rest(&self) {
        self.list[self.first()..].iter().for_each(|g| g.settler.leave(g.hint.0));
        self.each_page().for_each(|(settler, page)| settler.leave(page));
    }

    /// Ghosts that go under locks.
    pub(crate) fn first(&self) -> usize {
        self.list.len().min(self.under_locks)
    }
}
