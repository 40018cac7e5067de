//! Optimized locking (transaction-ID locking): a transaction that has written rows holds them by
//! one lock on itself.
//!
//! In a database with this option, a transaction holds X on itself (`work/src/locking.rs`,
//! invariant 3). A row that it changes is locked X only during the change. From then on the row's
//! version tag names its writer. So a transaction that comes to a row first reads its tag, under
//! the latch. If the tag's writer is active, it waits for the writer's end (an instant S request on
//! the writer's lock).
//!
//! ```text
//!   latch the leaf ── tag of another active writer? ── yes: a ticket for its end; look again
//!                     │ no
//!                     the row's lock ───────────────── in use: a ticket for the row; look again
//! ```
//!
//! Invariants
//!  1. No transaction requests a lock on a record whose writer, other than itself, is active. So no
//!     transaction holds one that it got after the change, and a lock from before would have kept
//!     the writer away. Therefore undo, which may take the record out of the tree, meets no lock on
//!     it.
//!  2. A transaction that must wait for a row's lock waits without getting it (an instant request)
//!     and reads the tag again: the lock's holder may have written the row.
//!  3. A ghost of an active transaction stays on its page, though no lock holds it.
//!  4. A transaction has its lock before its number is on a page, and releases it after its number
//!     has ended. The option is switched on or off only while no session uses the database, and
//!     switched off only while no transaction has such a lock. So a number that is active is
//!     locked, or its rows are.
//!  5. A transaction that locks the table, or sees that no other has an intent to write it, need
//!     not read tags: writers keep their intent lock on the table.
//!
//! Not here: gaps. An insert requests its gap as without the option. Rows that a transaction locks
//! to read at REPEATABLE READ and above stay locked, even if it then changes them.

use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use crate::locking::row::{Attempt, RowLock, intent};
use crate::versions::outcome;
use access::{Deed, HobtKind};
use base::{PageId, Xsn};
use lock::{AwaitedRow, Duration, Mode, Outcome, Resource, Ticket};
use txn::{Mutation, Outcome as Ended};
use work::{Engine, Work};

impl RowHobt {
    /// Whether row locks are released right after the change.
    #[inline]
    pub(crate) fn is_optimized(&self) -> bool {
        self.home.has_optimized_locking() && self.spec.versions
    }

    /// A ticket for the end of a record's writer, if that is another active transaction. The
    /// record's page is latched.
    #[inline]
    pub(crate) fn try_writer(
        &self,
        work: &Work,
        at: (&[u8], (PageId, u16)),
        modifies: bool,
    ) -> RowResult<Option<Ticket>> {
        match self.is_optimized() {
            true => self.end_of_writer(work, at, modifies),
            false => Ok(None),
        }
    }

    fn end_of_writer(
        &self,
        work: &Work,
        (record, place): (&[u8], (PageId, u16)),
        modifies: bool,
    ) -> RowResult<Option<Ticket>> {
        let Some(tag) = self.tag_of(record, place) else { return Ok(None) };
        let (writer, engine) = (tag.writer, work.engine());
        let passed = engine.transactions.mutations.has(Mutation::WriterPassed);
        if work.owns(writer) || !self.goes_on(engine, writer) || passed {
            return Ok(None);
        }
        let row = match self.spec.kind {
            HobtKind::Heap => {
                let (page, slot) = page::home_of(record).unwrap_or(place);
                Some(self.rid_resource(page, slot))
            }
            HobtKind::Clustered | HobtKind::Nonclustered => self.record_resource(record),
        };
        // A record without a key is damaged: the reader of its fields reports it.
        let Some(row) = row else { return Ok(None) };
        let xact = Resource::xact(self.home.database, writer);
        let behind = AwaitedRow { row, modifies };
        // A transaction that could not be undone before the option was set holds its rows by their
        // own locks instead.
        work.locks().try_end_of(work.owner(), xact, behind).map_err(RowError::from)
    }

    /// Whether a number belongs to an active transaction.
    pub(crate) fn goes_on(&self, engine: &Engine, writer: Xsn) -> bool {
        writer != Xsn::NONE
            && !self.home.is_settled(writer)
            && outcome(engine, writer) == Ended::Active
    }

    /// Whether the transaction has written a record itself.
    pub(crate) fn wrote(&self, work: &Work, at: (&[u8], (PageId, u16))) -> bool {
        self.tag_of(at.0, at.1).is_some_and(|tag| work.owns(tag.writer))
    }

    /// Requests the locks of a row and its page without entering their queues (invariant 2).
    pub(crate) fn try_row_now(
        &self,
        work: &mut Work,
        (page, row): (Resource, Resource),
        (mode, duration): (Mode, Duration),
    ) -> RowResult<Attempt> {
        let of = self.locked();
        loop {
            let (first, then) = (intent(mode), mode);
            let mut refused = None;
            self.did(Deed::PageLock);
            if !work.try_lock_row_now(&of, page, first, duration)? {
                refused = Some((page, first));
            } else if !self.asks_now(work, row, (then, duration))? {
                if duration == Duration::Short {
                    work.locks().release(work.owner(), page);
                }
                refused = Some((row, then));
            }
            let Some((resource, mode)) = refused else {
                debug_assert!(self.holds(work, row, mode), "what was granted is held");
                return Ok(Attempt::Granted);
            };
            match work.try_lock_row(&of, resource, mode, Duration::Instant)? {
                Outcome::Wait(ticket) => return Ok(Attempt::Wait(ticket)),
                // The holder has released it meanwhile.
                Outcome::Granted { .. } | Outcome::AlreadyHeld => {}
            }
        }
    }

    pub(crate) fn asks_now(
        &self,
        work: &mut Work,
        row: Resource,
        (mode, duration): (Mode, Duration),
    ) -> RowResult<bool> {
        let attempts = work.escalation_attempts();
        let got = work.try_lock_row_now(&self.locked(), row, mode, duration);
        self.asked_for_row(work, attempts);
        Ok(got?)
    }

    /// Requests the lock of a row that is about to be changed or inserted: to the end of the
    /// transaction, or, with optimized locking, to the end of the change.
    pub(crate) fn try_changed(
        &self,
        work: &mut Work,
        page: PageId,
        row: Resource,
        ask: RowLock,
    ) -> RowResult<Attempt> {
        let RowLock::Long(mode) = ask else { return self.try_row(work, page, row, ask) };
        if !self.is_optimized() {
            return self.try_row(work, page, row, ask);
        }
        let tried = self.try_row(work, page, row, RowLock::Short(mode))?;
        if matches!(tried, Attempt::Granted) {
            work.row_passes(row, Some(self.page_resource(page)));
        }
        Ok(tried)
    }

    /// Keeps the lock of a row that the change left as it was: such a row gets no tag.
    pub(crate) fn keep_unchanged(
        &self,
        work: &mut Work,
        page: PageId,
        row: Resource,
    ) -> RowResult<()> {
        let locks = work.locks();
        if !self.is_optimized() || !locks.held_mode(work.owner(), row).covers(Mode::X) {
            return Ok(());
        }
        let of = self.locked();
        for (resource, mode) in [(self.page_resource(page), Mode::IX), (row, Mode::X)] {
            let kept = work.try_lock_row(&of, resource, mode, Duration::Long)?;
            debug_assert!(!matches!(kept, Outcome::Wait(_)), "what is held is granted");
        }
        Ok(())
    }
}
