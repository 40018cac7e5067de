//! Settling: the deleter removes its own ghosts right after its commit.
//!
//! Keys live in one buffer that is reused, so a delete costs no allocation.

use crate::unit::Engine;
use base::PageId;
use lock::Owner;
use std::sync::Arc;
use wal::Group;

/// A transaction remembers so many ghosts; more are the cleaner's.
const GHOSTS_MAX: usize = 50_000;

/// What became of a ghost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settled {
    /// It is gone, or was gone already.
    Done,
    /// It could not be removed now; the cleaner comes back.
    Later,
}

/// A hobt whose ghosts can be settled.
pub trait Settler: Send + Sync {
    /// Removes a committed ghost that no snapshot needs. The caller still holds the deleter's
    /// locks; where that is no lock on the row, the row is asked for.
    fn settle(
        &self,
        deleter: (&Engine, &Arc<Owner>),
        group: &mut Group,
        key: &[u8],
        hint: (PageId, u16),
    ) -> Settled;

    /// Leaves a page with ghosts to the cleaner.
    fn leave(&self, page: PageId);
}

/// A ghost to settle after commit.
pub struct Ghost {
    pub(crate) settler: Arc<dyn Settler>,
    pub(crate) key: std::ops::Range<usize>,
    pub(crate) hint: (PageId, u16),
}

/// The ghosts of a unit of work.
#[derive(Default)]
pub(crate) struct Ghosts {
    pub(crate) list: Vec<Ghost>,
    pub(crate) keys: Vec<u8>,
}

impl Ghosts {
    /// Whether there is room for it. What has no key is told once in a row.
    pub(crate) fn push(
        &mut self,
        settler: Arc<dyn Settler>,
        key: &[u8],
        hint: (PageId, u16),
    ) -> bool {
        let twice = |g: &Ghost| g.hint == hint && Arc::ptr_eq(&g.settler, &settler);
        if key.is_empty() && self.list.last().is_some_and(twice) {
            return true;
        }
        if self.list.len() >= GHOSTS_MAX {
            return false;
        }
        let from = self.keys.len();
        let end = self.list.last().map_or(0, |g| g.key.end);
        debug_assert_eq!(from, end, "keys stand one behind the other, without a gap");
        debug_assert!(!hint.0.is_none(), "a ghost is on a page");
        self.keys.extend_from_slice(key);
        self.list.push(Ghost { settler, key: from..self.keys.len(), hint });
        true
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        assert!(len <= self.list.len(), "a mark is at or before the last ghost");
        self.list.truncate(len);
        self.keys.truncate(self.list.last().map_or(0, |g| g.key.end));
        debug_assert!(len > 0 || self.keys.is_empty(), "no ghost, no key");
    }
}
