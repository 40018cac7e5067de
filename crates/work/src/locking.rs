//! Row and page locks of a transaction, counted by statement and hobt, and their exchange for one
//! lock on the table.
//!
//! The lock table advises, this acts: the table lock is tried without waiting, S where only shared
//! locks are held, X where the transaction holds an intent to change. What became superfluous
//! goes, in every hobt of the table that the transaction has locked rows of.
//!
//! Invariants
//!  1. A hobt is listed from its first counted lock to the end of the transaction.
//!  2. Counts are of the statement at hand.
//!  3. Where locking is optimized a transaction holds X on itself from before its number stands on
//!     a page of the database to its end, and rows that it changes only while it changes them.

use crate::home::Home;
use crate::lock_counts::{HobtCount, LockedHobt};
use crate::unit::Work;
use base::{HobtId, Xsn};
use lock::{Duration, LockError, Mode, Outcome, Resource};

impl Work {
    /// A statement begins: what it locks is counted from nothing.
    pub fn statement_begins(&mut self) {
        debug_assert!(self.is_active() || !self.counts.has_ranges(), "ranges are a transaction's");
        debug_assert!(self.is_active() || self.counts.list.is_empty(), "invariant 1");
        self.counts.statement_begins();
    }

    /// Asks for a row's or page's lock under its page's latch. A lock that is kept counts toward
    /// escalation, which is tried here and now: it never waits.
    ///
    /// # Errors
    /// [`LockError::OutOfLockMemory`], where escalation could not make room.
    pub fn try_lock_row(
        &mut self,
        of: &LockedHobt,
        resource: Resource,
        mode: Mode,
        duration: Duration,
    ) -> Result<Outcome, LockError> {
        assert!(resource.is_within_hobt(of.hobt), "{resource:?} is of another hobt");
        debug_assert_eq!(resource.database_id(), of.database, "a hobt's rows are in its database");
        debug_assert!(self.is_active() || duration != Duration::Long, "kept by a transaction");
        debug_assert!(!self.owner.is_rolling_back(), "an undo needs no lock: it has them all");
        let counter = match duration {
            Duration::Long => Some(self.counts.counter(of)),
            Duration::Short | Duration::Instant => None,
        };
        let locks = &self.engine.locks;
        let outcome = locks.try_lock(&self.owner, resource, mode, duration, counter);
        self.escalated(of, outcome)
    }

    /// The same without a place in the queue; whether the lock is held.
    ///
    /// # Errors
    /// As of [`Work::try_lock_row`].
    pub fn try_lock_row_now(
        &mut self,
        of: &LockedHobt,
        resource: Resource,
        mode: Mode,
        duration: Duration,
    ) -> Result<bool, LockError> {
        assert!(resource.is_within_hobt(of.hobt), "{resource:?} is of another hobt");
        assert!(duration != Duration::Instant, "what is held is asked for");
        let counter = match duration {
            Duration::Long => Some(self.counts.counter(of)),
            Duration::Short | Duration::Instant => None,
        };
        let locks = &self.engine.locks;
        let got = locks.try_lock_now(&self.owner, resource, mode, duration, counter);
        let outcome = match got {
            Ok(None) => return Ok(false),
            Ok(Some(granted)) => Ok(Outcome::Granted { escalate: granted.escalate }),
            Err(e) => Err(e),
        };
        self.escalated(of, outcome).map(|_| true)
    }

    /// Escalates where that is advised, or where there is no memory for one lock more.
    #[inline]
    fn escalated(
        &mut self,
        of: &LockedHobt,
        outcome: Result<Outcome, LockError>,
    ) -> Result<Outcome, LockError> {
        match outcome {
            Ok(Outcome::Granted { escalate: true }) => {
                self.escalate(of);
                Ok(Outcome::Granted { escalate: false })
            }
            Err(LockError::OutOfLockMemory) => match self.escalate(of) {
                true => Ok(Outcome::AlreadyHeld),
                false => Err(LockError::OutOfLockMemory),
            },
            outcome => outcome,
        }
    }

    /// Locks the transaction itself in a database where locking is optimized: whoever meets its
    /// number there waits for this lock.
    ///
    /// # Errors
    /// [`LockError::OutOfLockMemory`].
    pub fn lock_itself(&mut self, home: &Home, xsn: Xsn) -> Result<(), LockError> {
        debug_assert_eq!(self.versions.numbers.current(), Some(xsn), "its own number");
        if self.counts.itself.contains(&home.database) {
            return Ok(());
        }
        let xact = Resource::xact(home.database, xsn);
        let locks = &self.engine.locks;
        let got = locks.try_lock_now(&self.owner, xact, Mode::X, Duration::Long, None)?;
        assert!(got.is_some(), "nobody waits for a number that stands on no page");
        self.counts.itself.push(home.database);
        Ok(())
    }

    /// What the transaction is known to hold on a table to its end, without a look at the lock
    /// table: rows that are changed one after the other are mostly of one.
    #[inline]
    pub fn known_table_lock(&self, table: Resource) -> Option<Mode> {
        self.counts.table.filter(|(known, _)| *known == table).map(|(_, held)| held)
    }

    /// It holds this on a table, to its end.
    #[inline]
    pub fn note_table_lock(&mut self, table: Resource, held: Mode) {
        debug_assert!(self.is_active(), "what is held to its end is a transaction's");
        self.counts.table = Some((table, held));
    }

    /// A row and its page were locked for the change at hand alone.
    pub fn row_passes(&mut self, row: Resource, page: Option<Resource>) {
        self.counts.passing.extend(page);
        self.counts.passing.push(row);
    }

    /// The change is done, or failed: what was locked for it alone is given back.
    #[inline]
    pub fn give_rows_back(&mut self) {
        while let Some(resource) = self.counts.passing.pop() {
            self.engine.locks.release(&self.owner, resource);
        }
    }

    /// Exchanges the row and page locks on a table for one on the table, unless others are in the
    /// way. Whether it did.
    pub fn escalate(&mut self, of: &LockedHobt) -> bool {
        let table = of.table();
        assert_eq!(table.database_id(), of.database, "a table is in the database of its rows");
        let locks = &self.engine.locks;
        let mode = match locks.held_mode(&self.owner, table) {
            Mode::IS | Mode::S | Mode::SchS => Mode::S,
            Mode::NL => return false,
            _ => Mode::X,
        };
        let same = |c: &&HobtCount| c.of.database == of.database && c.of.object == of.object;
        let hobts: Vec<HobtId> = self.counts.list.iter().filter(same).map(|c| c.of.hobt).collect();
        debug_assert!(mode == Mode::S || mode == Mode::X, "escalation ends at S or X");
        let done = locks.escalate(&self.owner, table, mode, &hobts);
        self.counts.table = None;
        self.counts.attempts += 1;
        assert!(
            !done || locks.held_mode(&self.owner, table) != Mode::NL,
            "row locks were exchanged for one on the table"
        );
        self.counts.escalations += u64::from(done);
        done
    }

    /// How often row locks were exchanged: a cursor that has seen another number looks again
    /// which locks its rows need.
    #[inline]
    pub fn escalations(&self) -> u64 {
        self.counts.escalations
    }

    /// How often that was tried, and done.
    #[inline]
    pub fn escalation_attempts(&self) -> (u64, u64) {
        debug_assert!(self.counts.attempts >= self.counts.escalations, "what is done was tried");
        (self.counts.attempts, self.counts.escalations)
    }

    /// Notes that the transaction has locked a range of keys.
    #[inline]
    pub fn locks_ranges(&mut self) {
        debug_assert!(self.is_active(), "a range is locked for a transaction");
        self.counts.has_ranges = true;
    }

    /// Whether it has: then what it takes back to a savepoint stays as a ghost, since the lock on
    /// its key may guard a gap.
    #[inline]
    pub fn has_locked_ranges(&self) -> bool {
        self.counts.has_ranges()
    }
}
