//! Settling: the deleter removes its own ghosts right after its commit.
//!
//! The first go under its locks, by their keys: nobody else can be in the way, so a short
//! transaction asks for nothing. Who waits for a long one waits for them alone: the rest goes once
//! the locks have been given back, page by page, as the cleaner removes ghosts. The deleter does
//! it itself, so that nobody deletes faster than ghosts go; of rows it remembers their pages only.
//!
//! ```text
//!   commit ── the first, by key ── locks go ── pages of the rest ── off the database's list
//! ```
//!
//! Keys live in one buffer that is reused, so a delete costs no allocation.
//!
//! Invariants
//!  1. At most `UNDER_LOCKS` (`engine.rs`) ghosts are settled while others wait.
//!  2. The pages of the rest are noted before the log that tells of them may go: so the cleaner
//!     comes where the deleter does not, and after a crash.
//!  3. The transaction stays on its databases' lists of active ones meanwhile, so that none is
//!     dropped; it keeps no log from anybody.
//!  4. Without its locks a deleter goes by a key only where nobody puts that key again
//!     ([`crate::Settler::gives_keys_once`]). Elsewhere whoever has X on a key of a page finds a
//!     committed ghost there, the deleter's or another's, or none.

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

    /// Settles the rest, once the locks are gone. Where the user wants no more, or others hold
    /// something, the cleaner comes.
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
