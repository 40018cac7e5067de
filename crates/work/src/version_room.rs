//! Room for row versions, and what happens when tempdb has none.
//!
//! A writer that finds the version store full first removes the versions that no snapshot needs.
//! If this frees nothing, the readers with the oldest snapshots become victims: those for which the
//! store still keeps a version, provided that none of them has written anything. The writer removes
//! the versions that were kept for them, and a victim that looks for one gets error 3966. If this
//! frees nothing either, the writer continues without keeping the version. Its record says that
//! there was one (`Previous::Lost`), and a reader that looks for it gets error 3958.
//!
//! All this is about the store in tempdb, which databases share. A database with a version store of
//! its own has no victims: when that store is full, the change is refused.
//!
//! Invariants
//!  1. While versions are not kept, a writer waits for no other thread. It continues at once, or it
//!     shrinks the store itself, which happens at most once a second.
//!  2. No reader becomes a victim if that frees nothing.

use crate::engine::Engine;
use crate::home::Home;
use crate::unit::Work;
use base::{SessionId, SqlError, TransactionId, messages};
use os::clock::monotonic_ns;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{CommitTime, OpenSnapshot, Outcome, Reader};
use version::{PageCopy, VersionError, VersionStore as _};

/// The most rounds of shrinking for one version.
const ROUNDS_MAX: usize = 64;
/// While versions are not kept, the time between two attempts to shrink the store. An attempt reads
/// the whole store.
const SHRINK_NS: u64 = 1_000_000_000;
/// Pages of the store that one step of shrinking reads.
const STEP_PAGES: usize = 64;

impl Work {
    /// Makes room for a version of that length, or decides that the next version is not kept. The
    /// caller holds no latch.
    ///
    /// # Errors
    /// A page of the store that cannot be read; [`VersionError::Full`] of a database's own store.
    pub fn make_version_room(
        &mut self,
        home: &Home,
        record_bytes: usize,
    ) -> Result<(), VersionError> {
        if home.version_stores().keeps_own() {
            return self.versions.places.make_room(home.version_store(), record_bytes);
        }
        let engine = Arc::clone(&self.engine);
        for _ in 0..ROUNDS_MAX {
            match self.versions.places.make_room(home.version_store(), record_bytes) {
                Err(VersionError::Full) if engine.shrink_versions() => {}
                Err(VersionError::Full) => break,
                done => {
                    self.versions.without = false;
                    return done;
                }
            }
        }
        if engine.shared_store().begins_without() {
            let full = SqlError::new(messages::VERSION_STORE_FULL, &[]);
            engine.write_error_log(self.session(), &full);
        }
        self.versions.without = true;
        Ok(())
    }

    /// The writer is about to change another record. It must ask for room again: a refusal held
    /// only for the record before, which perhaps was not changed in the end.
    #[inline]
    pub fn asks_for_room_anew(&mut self) {
        self.versions.without = false;
    }

    /// Whether the next version is not kept, for want of room. The answer holds for one version.
    pub fn goes_without_version(&mut self) -> bool {
        std::mem::take(&mut self.versions.without)
    }
}

impl Engine {
    /// Writes a message about a session into the error log.
    fn write_error_log(&self, session: SessionId, told: &SqlError) {
        if let Some(write) = self.error_log.get() {
            write(session, told);
        }
    }

    /// Removes versions that only victims may need, and makes victims if it must. Returns whether
    /// it is worth to ask for room again. Pages that cannot be read stay as they are.
    fn shrink_versions(&self) -> bool {
        let (store, asked) = (self.shared_store(), monotonic_ns());
        let mut last = match self.shrinking.try_lock() {
            Some(last) => last,
            None if store.is_without() => return false,
            None => self.shrinking.lock(),
        };
        if *last >= asked {
            // Another thread has shrunk the store meanwhile.
            return !store.is_without();
        }
        if store.is_without() && asked < *last + SHRINK_NS {
            return false;
        }
        let gone = self.give_way();
        *last = monotonic_ns();
        gone
    }

    fn give_way(&self) -> bool {
        if self.reclaim_versions().is_ok_and(|n| n > 0) {
            return true;
        }
        let Ok(Some(until)) = self.oldest_kept() else { return false };
        let open = self.transactions.open();
        let writers: BTreeSet<TransactionId> =
            open.iter().filter(|o| o.xsn.is_some()).map(|o| o.id).collect();
        let may = |by: &Reader| {
            let writes = by.transaction.is_some_and(|id| writers.contains(&id));
            by.session != Reader::NOBODY.session && !writes
        };
        let victims = self.transactions.snapshots.victimise(until, may);
        victims.iter().flatten().for_each(|victim| self.tell_victim(victim));
        victims.is_some() && self.reclaim_versions().is_ok_and(|n| n > 0)
    }

    /// Removes the versions that no reader needs, apart from victims. Returns how many.
    fn reclaim_versions(&self) -> Result<usize, VersionError> {
        let commits = &self.transactions.commits;
        let horizon = self.transactions.snapshots.store_horizon(commits);
        let (mut from, mut gone) = (Some(0), 0);
        while let Some(at) = from {
            let is_past = |superseder| commits.is_past(superseder, horizon);
            let step = self.shared_store().reclaim(at, STEP_PAGES, &is_past)?;
            (from, gone) = (step.next, gone + step.versions);
        }
        Ok(gone)
    }

    /// The earliest commit time at which a version in the store was superseded. Versions with an
    /// uncommitted superseder do not count.
    fn oldest_kept(&self) -> Result<Option<CommitTime>, VersionError> {
        let (store, commits) = (self.shared_store(), &self.transactions.commits);
        let (mut oldest, mut copy) = (None, PageCopy::default());
        for page in store.pages() {
            if !store.copy_page(page, &mut copy)? {
                continue;
            }
            for (_, version) in copy.versions() {
                if let Outcome::Committed(at) = commits.outcome(version.superseder) {
                    oldest = Some(oldest.map_or(at, |before: CommitTime| before.min(at)));
                }
            }
        }
        Ok(oldest)
    }

    fn tell_victim(&self, victim: &OpenSnapshot) {
        let by = &victim.by;
        let transaction = by.transaction.map_or(0, |id| id.0);
        let users = self.version_users();
        let user = users.iter().find(|u| Some(u.transaction) == by.transaction);
        let xsn = user.and_then(|u| u.xsn).map_or(0, |xsn| xsn.0);
        let seconds = monotonic_ns().saturating_sub(by.since_ns) / 1_000_000_000;
        let facts: [&dyn std::fmt::Display; 4] = [&transaction, &xsn, &by.session.0, &seconds];
        let told = SqlError::new(messages::VERSIONS_VICTIM_MARKED, &facts);
        self.write_error_log(by.session, &told);
    }
}
