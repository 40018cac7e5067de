//! Room for versions, and who gives way when tempdb has none.
//!
//! First goes what everybody has left behind. Then those become victims who have read the longest
//! and written nothing, as far as the store has something that is kept for them: its background
//! takes that out, and they are refused (3966) when they want it. Where that brings nothing the
//! writer goes on and keeps no version: its record says that there was one (`Previous::Lost`), and
//! who looks for it is refused (3958).
//!
//! All that holds for the store in tempdb, which databases share. A database whose versions go to a
//! store of its own has no victims: where that store is full the change is refused.
//!
//! Invariants
//!  1. Where versions are not kept a writer waits for nobody: it goes on at once, or it is the one
//!     who shrinks the store, once a second at most.
//!  2. Nobody becomes a victim where that frees nothing.

use crate::engine::Engine;
use crate::home::Home;
use crate::unit::Work;
use base::{SessionId, SqlError, TransactionId, messages};
use os::clock::monotonic_ns;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{CommitTime, OpenSnapshot, Outcome, Reader};
use version::{PageCopy, VersionError, VersionStore as _};

/// Rounds of victims for one version that wants room.
const ROUNDS_MAX: usize = 64;
/// While versions are not kept the store is shrunk so often at most: it is gone over whole.
const SHRINK_NS: u64 = 1_000_000_000;
/// Pages of the store that are looked at before others may.
const STEP_PAGES: usize = 64;

impl Work {
    /// Sees to it that a record of a database and of that length can be kept, or that it is known
    /// that the next is not. No latch is held.
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

    /// Another record is about to be changed: what was refused for the one before, which may not
    /// have been changed then, does not hold for it.
    #[inline]
    pub fn asks_for_room_anew(&mut self) {
        self.versions.without = false;
    }

    /// Whether the version that there is no room for is not kept; asked once for each.
    pub fn goes_without_version(&mut self) -> bool {
        std::mem::take(&mut self.versions.without)
    }
}

impl Engine {
    /// Writes into the error log what is told of a session.
    fn write_error_log(&self, session: SessionId, told: &SqlError) {
        if let Some(write) = self.error_log.get() {
            write(session, told);
        }
    }

    /// Takes versions out that nobody reads but victims, and makes some where it must. Whether
    /// anything went; what cannot be read now is left where it is.
    fn shrink_versions(&self) -> bool {
        let (store, asked) = (self.shared_store(), monotonic_ns());
        let mut last = match self.shrinking.try_lock() {
            Some(last) => last,
            None if store.is_without() => return false,
            None => self.shrinking.lock(),
        };
        if *last >= asked {
            // Another has done it meanwhile.
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

    /// Takes out what is kept for victims alone, or for nobody; how many versions.
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

    /// When the version in the store was superseded that was so first, of those whose superseder
    /// is committed.
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
