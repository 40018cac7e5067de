//! Settling: the deleter removes its own ghosts right after its commit.
//!
//! The deleter removes its first ghosts by their keys, while it still holds its locks. No other
//! transaction can be in the way, so a short transaction needs no further locks. A long transaction
//! makes other transactions wait only for these first ghosts. It removes the rest after it has
//! released its locks, page by page, as the cleaner does. The deleter does this work itself, so
//! that no session deletes rows faster than it removes ghosts. Of the rest it remembers only the
//! pages.
//!
//! ```text
//!   commit ── the first, by key ── release locks ── pages of the rest ── off the database's list
//! ```
//!
//! All keys lie in one buffer that is reused, so a delete costs no allocation.
//!
//! Invariants
//!  1. At most `UNDER_LOCKS` (`engine.rs`) ghosts are settled while other transactions may wait for
//!     the locks.
//!  2. The pages of the rest are noted for the cleaner before the log that tells of these ghosts
//!     may be truncated. So the cleaner finds the pages that the deleter does not reach, also after
//!     a crash.
//!  3. Meanwhile the transaction stays on its databases' lists of active transactions, so that none
//!     of the databases is dropped. It does not keep the log from being truncated.
//!  4. After its locks are released, a deleter finds a ghost by its key only if no transaction can
//!     put that key again ([`crate::Settler::gives_keys_once`]). Otherwise it asks for X on the
//!     keys of the ghosts in a page. With X on a key, it finds under that key no ghost or a
//!     committed one, its own or another transaction's.

use crate::ghosts::{Ghost, Ghosts, SettleOutcome};
use crate::part::Part;
use crate::unit::Work;

impl Work {
    /// Settles the first ghosts under their locks.
    pub(crate) fn settle(&mut self) {
        assert!(self.is_active(), "rule 2: ghosts go under their deleter's locks");
        let mut ghosts = self.take_ghosts();
        let first = ghosts.first();
        debug_assert!(first <= ghosts.under_locks, "invariant 1");
        ghosts.list[..first].iter().for_each(|g| self.settle_one(&ghosts, g));
        if first == ghosts.list.len() && ghosts.pages.is_empty() {
            ghosts.clear();
        }
        assert!(self.ghosts.is_empty(), "settling makes no ghosts");
        self.ghosts = ghosts;
    }

    /// Settles the rest, after the locks are released. The cleaner does what is left when the user
    /// cancels, or when other transactions hold locks.
    pub(crate) fn settle_rest(&mut self) {
        if self.ghosts.is_empty() {
            return;
        }
        assert!(!self.is_active(), "others wait no more");
        assert_eq!(self.owner.held_count(), 0, "invariant 1");
        let mut ghosts = self.take_ghosts();
        ghosts.leave_rest();
        self.parts.iter_mut().for_each(Part::rests_on_notes);
        for ghost in &ghosts.list[ghosts.first()..] {
            self.settle_one(&ghosts, ghost);
        }
        for (settler, page) in ghosts.each_page() {
            if self.owner.waiter().check().is_err() {
                break;
            }
            settler.clean(self, page);
            self.parts.iter_mut().for_each(Part::rests_on_notes);
        }
        ghosts.clear();
        assert!(self.ghosts.is_empty(), "settling makes no ghosts");
        self.ghosts = ghosts;
    }

    fn take_ghosts(&mut self) -> Ghosts {
        let ghosts = std::mem::take(&mut self.ghosts);
        let keys_end = ghosts.list.last().map_or(0, |g| g.key.end);
        assert_eq!(keys_end, ghosts.keys.len(), "keys are of ghosts");
        ghosts
    }

    fn settle_one(&mut self, ghosts: &Ghosts, ghost: &Ghost) {
        let key = &ghosts.keys[ghost.key.clone()];
        let deleter = (&*self.engine, &self.owner);
        let settled = ghost.settler.settle(deleter, &mut self.scratch, key, ghost.hint);
        if settled == SettleOutcome::Later {
            ghost.settler.leave(ghost.hint.0);
        }
    }
}
