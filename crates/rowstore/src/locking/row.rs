//! The lock protocol of one row, tried under the page latch.
//!
//! A read-committed reader that reads under the latch needs no lock of its own: it only tests
//! whether a conflicting lock is held (an instant request). A reader that must keep rows stable
//! locks them. A reader that must keep ranges stable also locks the gap below each key, and the
//! first key beyond the range. `locking/gap.rs` has the request of an insert for its gap.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use access::{Deed, Granule, Isolation, LockPlan, Strength};
use base::PageId;
use btree::KeyOrder;
use lock::{Duration, Kind, Mode, Outcome, Resource, Ticket, Timeout};
use page::Field;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use work::{LockedHobt, Work};

/// The lock request of a scan for each row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowLock {
    /// Nothing: the table lock covers it, or the level reads uncommitted rows.
    None,
    /// Whether another owner holds a conflicting lock.
    Test(Mode),
    /// A lock until the row is given up.
    Short(Mode),
    /// A lock to the end of the transaction.
    Long(Mode),
    /// A lock on the row in that mode and on the gap below it, to the end of the transaction.
    Range(Mode),
}

impl RowLock {
    /// The requested mode and duration.
    fn mode(self) -> Option<(Mode, Duration)> {
        if let RowLock::Range(mode) = self {
            debug_assert!(matches!(mode, Mode::S | Mode::U | Mode::X), "a row's mode: {mode:?}");
        }
        Some(match self {
            RowLock::None => return None,
            RowLock::Test(mode) => (mode, Duration::Instant),
            RowLock::Short(mode) => (mode, Duration::Short),
            RowLock::Long(mode) => (mode, Duration::Long),
            RowLock::Range(Mode::S) => (Mode::RangeSS, Duration::Long),
            RowLock::Range(Mode::U) => (Mode::RangeSU, Duration::Long),
            RowLock::Range(_) => (Mode::RangeXX, Duration::Long),
        })
    }

    /// The request for a row that was found by its whole unique key: without the gap.
    pub(crate) fn of_the_row(self) -> RowLock {
        match self {
            RowLock::Range(mode) => RowLock::Long(mode),
            other => other,
        }
    }

    /// Whether it guards gaps.
    pub(crate) fn is_range(self) -> bool {
        matches!(self, RowLock::Range(_))
    }
}

/// How a scan prevents phantoms, if its isolation level asks for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    /// It locks the gaps below its keys.
    Gaps,
    /// It locks the whole table: a heap has no order, and so no gaps.
    Table,
    /// There can be none: it reads one RID.
    Nothing,
}

/// The result of a lock request under the latch.
pub(crate) enum Attempt {
    Granted,
    Wait(Ticket),
}

/// The 48 bits of a KEY resource: FNV-1a over what equal keys have in common. So a key that is
/// changed to an equal spelling ('abc', 'ABC') keeps its resource, with its holders and waiters.
pub(crate) fn key_hash(order: &KeyOrder, key: &[Field<'_>]) -> u64 {
    assert!(key.len() <= order.len(), "a key has the columns of its order");
    let mut h = Fnv(0xcbf2_9ce4_8422_2325);
    if order.columns().iter().all(|c| c.hash.is_none()) {
        key.iter().for_each(|field| btree::spell(*field, |bytes| h.write(bytes)));
        return h.bits();
    }
    for (field, column) in key.iter().zip(order.columns()) {
        let Some(bytes) = field.inline() else {
            h.write_u8(0);
            continue;
        };
        h.write_u8(1);
        match column.hash {
            Some(hash) => hash(bytes, column.rule, &mut h),
            None => h.write(bytes),
        }
    }
    h.bits()
}

struct Fnv(u64);

impl Fnv {
    fn bits(&self) -> u64 {
        (self.0 ^ (self.0 >> 48)) & 0xFFFF_FFFF_FFFF
    }
}

impl Hasher for Fnv {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// A word at once: it takes as long as a byte.
    #[inline]
    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) fn timeout_of(work: &Work, plan: &LockPlan) -> Timeout {
    if plan.no_wait { Timeout::NO_WAIT } else { work.timeout() }
}

/// The intent lock on the page of a locked row.
pub(crate) fn intent(mode: Mode) -> Mode {
    debug_assert!(mode != Mode::NL && mode != Mode::RangeIN, "a test asks for no page");
    match mode {
        Mode::S | Mode::RangeSS => Mode::IS,
        Mode::U | Mode::RangeSU => Mode::IU,
        _ => Mode::IX,
    }
}

impl RowHobt {
    pub(crate) fn locked(&self) -> LockedHobt {
        LockedHobt { database: self.home.database, object: self.spec.object, hobt: self.spec.hobt }
    }

    /// Takes the table lock that a reference needs. Returns the lock that each row needs in
    /// addition.
    pub(crate) fn lock_table(
        &self,
        work: &mut Work,
        plan: &LockPlan,
        guard: Guard,
    ) -> RowResult<RowLock> {
        assert_eq!(guard == Guard::Gaps, self.tree.is_some(), "rule 13: heaps have no gaps");
        let serializable = plan.isolation == Isolation::Serializable;
        let keep = plan.hold || serializable || plan.isolation == Isolation::RepeatableRead;
        let whole = plan.granule == Granule::Table || (serializable && guard == Guard::Table);
        let ranges = serializable && guard == Guard::Gaps;
        let reads_anything = plan.isolation == Isolation::ReadUncommitted
            && plan.strength == Strength::Shared
            && !plan.hold;
        let reads_versions = plan.as_of.is_some() && plan.strength == Strength::Shared && !whole;
        assert!(!reads_versions || !keep, "a moment is asked for by plain reads alone");
        if plan.as_of.is_some() {
            work.reads_versions();
        }
        let (table, row) = match (plan.strength, whole) {
            (Strength::Shared, _) if reads_anything || reads_versions => {
                (Mode::SchS, RowLock::None)
            }
            (Strength::Shared, true) => (Mode::S, RowLock::None),
            (Strength::Shared, false) if ranges => (Mode::IS, RowLock::Range(Mode::S)),
            (Strength::Shared, false) if keep => (Mode::IS, RowLock::Long(Mode::S)),
            (Strength::Shared, false) => (Mode::IS, RowLock::Test(Mode::S)),
            (Strength::Update | Strength::Exclusive, true) => (Mode::X, RowLock::None),
            (Strength::Update, false) if ranges => (Mode::IX, RowLock::Range(Mode::U)),
            (Strength::Update, false) if keep => (Mode::IX, RowLock::Long(Mode::U)),
            (Strength::Update, false) => (Mode::IX, RowLock::Short(Mode::U)),
            (Strength::Exclusive, false) if ranges => (Mode::IX, RowLock::Range(Mode::X)),
            (Strength::Exclusive, false) => (Mode::IX, RowLock::Long(Mode::X)),
        };
        debug_assert!(row == RowLock::None || !covers_rows(table, row), "or rows need no lock");
        let passing = matches!(row, RowLock::Test(_) | RowLock::Short(_));
        assert!(!keep || !passing, "what is kept is locked to the end: {row:?}");
        let long = keep || plan.strength != Strength::Shared;
        let duration = if long { Duration::Long } else { Duration::Short };
        debug_assert!(!long || work.is_active(), "what is kept is a transaction's");
        let resource = self.object_resource();
        let owner = Arc::clone(work.owner());
        let timeout = timeout_of(work, plan);
        work.locks().lock(&owner, resource, table, duration, timeout, None)?;
        let held = work.locks().held_mode(&owner, resource);
        assert!(held.covers(table), "the table is locked as was asked: {held:?}, not {table:?}");
        if ranges {
            work.locks_ranges();
            // Before it latches a leaf (locking/gap.rs, invariant 3).
            self.state.ranges.store(true, Relaxed);
        }
        Ok(if covers_rows(held, row) { RowLock::None } else { row })
    }

    /// The lock that rows need in addition to the table lock that is held now.
    pub(crate) fn still_needed(&self, work: &Work, row: RowLock) -> RowLock {
        let held = work.locks().held_mode(work.owner(), self.object_resource());
        debug_assert!(held != Mode::NL, "a table whose rows are read is locked");
        if covers_rows(held, row) { RowLock::None } else { row }
    }

    /// Whether the rows of the latched page need no tests one by one. If S on the table would be
    /// granted, no other transaction has an intent to write, so none holds a row exclusively. One
    /// that gets a row lock from now on waits for the latch before the row changes. So one test a
    /// page replaces a test of each row.
    pub(crate) fn nobody_writes(&self, work: &Work, ask: RowLock) -> bool {
        let RowLock::Test(mode) = ask else { return false };
        mode == Mode::S && work.locks().would_grant(work.owner(), self.object_resource(), Mode::S)
    }

    /// Asks for a row's lock while its page is latched.
    pub(crate) fn try_row(
        &self,
        work: &mut Work,
        page: PageId,
        row: Resource,
        ask: RowLock,
    ) -> RowResult<Attempt> {
        let Some((mode, duration)) = ask.mode() else { return Ok(Attempt::Granted) };
        let of = self.locked();
        let page = self.page_resource(page);
        if duration != Duration::Instant {
            if self.is_optimized() {
                return self.try_row_now(work, (page, row), (mode, duration));
            }
            self.did(Deed::PageLock);
            match work.try_lock_row(&of, page, intent(mode), duration)? {
                Outcome::Wait(ticket) => return Ok(Attempt::Wait(ticket)),
                Outcome::Granted { .. } | Outcome::AlreadyHeld => {}
            }
        }
        let attempts = work.escalation_attempts();
        let asked = work.try_lock_row(&of, row, mode, duration);
        self.asked_for_row(work, attempts);
        match asked? {
            Outcome::Wait(ticket) => {
                if duration == Duration::Short {
                    // It is requested again together with the row.
                    work.locks().release(work.owner(), page);
                }
                Ok(Attempt::Wait(ticket))
            }
            Outcome::Granted { .. } | Outcome::AlreadyHeld => {
                let kept = duration != Duration::Instant;
                debug_assert!(!kept || self.holds(work, row, mode), "what was granted is held");
                Ok(Attempt::Granted)
            }
        }
    }

    /// Counts a request for a row's lock, and the lock escalations that it attempted: those since
    /// the counters were at `attempts`.
    #[inline]
    pub(crate) fn asked_for_row(&self, work: &Work, attempts: (u64, u64)) {
        let counts = self.state.counts();
        counts.add(Deed::RowLock, 1);
        let now = work.escalation_attempts();
        if now != attempts {
            counts.add(Deed::PromotionAttempt, now.0 - attempts.0);
            counts.add(Deed::Promotion, now.1 - attempts.1);
        }
    }

    /// Keeps a row of a change's target locked when the cursor moves on before the row is changed.
    /// The short lock becomes one to the end of the transaction, and counts toward escalation. With
    /// optimized locking it is only held to the end of the statement: then the row's tag stands for
    /// the lock.
    pub(crate) fn keep_row(
        &self,
        work: &mut Work,
        (row, page): (Resource, Resource),
    ) -> RowResult<()> {
        if self.is_optimized() {
            return Ok(());
        }
        let of = self.locked();
        for (resource, mode) in [(page, intent(Mode::U)), (row, Mode::U)] {
            let kept = work.try_lock_row(&of, resource, mode, Duration::Long)?;
            debug_assert!(!matches!(kept, Outcome::Wait(_)), "what is held is granted");
            work.locks().release(work.owner(), resource);
        }
        debug_assert!(self.holds(work, row, Mode::U), "it is held still");
        Ok(())
    }

    /// Guards the gap behind the last key, while the last leaf is latched.
    pub(crate) fn try_end(&self, work: &mut Work, ask: RowLock) -> RowResult<Attempt> {
        assert!(ask.is_range(), "only ranges reach beyond the last key");
        let Some((mode, duration)) = ask.mode() else { return Ok(Attempt::Granted) };
        self.did(Deed::RowLock);
        match work.try_lock_row(&self.locked(), self.end_resource(), mode, duration)? {
            Outcome::Wait(ticket) => Ok(Attempt::Wait(ticket)),
            Outcome::Granted { .. } | Outcome::AlreadyHeld => {
                let end = self.end_resource();
                debug_assert!(self.holds(work, end, mode), "rule 9: the end is an anchor");
                Ok(Attempt::Granted)
            }
        }
    }

    /// Waits for a request that could not be granted under the latch, or for the end of a row's
    /// writer; no latch is held now.
    pub(crate) fn wait(&self, work: &Work, ticket: Ticket, plan: &LockPlan) -> RowResult<()> {
        let of = ticket.resource().database_id();
        assert_eq!(of, self.home.database, "a row's lock is of its database");
        let within = ticket.resource().is_within_hobt(self.spec.hobt);
        assert!(within || ticket.resource().kind() == Kind::Xact, "and of its hobt");
        let (resource, mode, duration) = (ticket.resource(), ticket.mode(), ticket.duration());
        let began = os::clock::monotonic_ns();
        let waited = work.locks().wait(ticket, timeout_of(work, plan), None);
        let counts = self.state.counts();
        counts.add(Deed::RowLockWait, 1);
        counts.add(Deed::RowLockWaitNs, os::clock::monotonic_ns() - began);
        waited?;
        let held = duration == Duration::Instant || self.holds(work, resource, mode);
        debug_assert!(held, "what was waited for is held");
        Ok(())
    }

    /// Requests X on a row that is changed, and IX on its page, under the latch. The caller has
    /// looked at the row's writer before. Under X on the table the caller needs no row lock.
    pub(crate) fn try_exclusive(
        &self,
        work: &mut Work,
        page: PageId,
        row: Resource,
    ) -> RowResult<Attempt> {
        debug_assert!(work.is_active(), "a change belongs to a transaction");
        self.try_changed(work, page, row, RowLock::Long(Mode::X))
    }

    /// Takes the table lock of a change. Returns whether rows need no locks in addition.
    pub(crate) fn lock_for_change(&self, work: &mut Work, plan: &LockPlan) -> RowResult<bool> {
        let mode = if plan.granule == Granule::Table { Mode::X } else { Mode::IX };
        let resource = self.object_resource();
        assert!(work.is_active(), "a change belongs to a transaction");
        if self.is_private() {
            return Ok(true);
        }
        if let Some(held) = work.known_table_lock(resource).filter(|held| held.covers(mode)) {
            return Ok(covers_rows(held, RowLock::Long(Mode::X)));
        }
        let owner = Arc::clone(work.owner());
        let timeout = timeout_of(work, plan);
        work.locks().lock(&owner, resource, mode, Duration::Long, timeout, None)?;
        let held = work.locks().held_mode(&owner, resource);
        assert!(held.covers(mode), "the table is locked as was asked: {held:?}, not {mode:?}");
        work.note_table_lock(resource, held);
        Ok(covers_rows(held, RowLock::Long(Mode::X)))
    }

    /// Whether this unit of work holds that lock on a row, directly or through the table: a change
    /// of the row relies on it.
    pub(crate) fn holds(&self, work: &Work, row: Resource, mode: Mode) -> bool {
        assert!(row.is_within_hobt(self.spec.hobt), "a row of this hobt");
        let (locks, owner) = (work.locks(), work.owner());
        self.is_private()
            || locks.held_mode(owner, row).covers(mode)
            || covers_rows(locks.held_mode(owner, self.object_resource()), RowLock::Long(mode))
    }
}

/// Whether a table lock makes a row lock unnecessary.
fn covers_rows(table: Mode, row: RowLock) -> bool {
    match row.mode() {
        None => true,
        Some((Mode::S | Mode::RangeSS, _)) => {
            matches!(table, Mode::S | Mode::SIX | Mode::SIU | Mode::X | Mode::SchM)
        }
        Some(_) => matches!(table, Mode::X | Mode::SchM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_lock_covers_conflicts_with_whatever_the_row_lock_would_keep_away() {
        // Another's change of a row or of a gap needs IX on the table.
        let asks = [Mode::S, Mode::U, Mode::X].map(|m| [RowLock::Long(m), RowLock::Range(m)]);
        for ask in asks.into_iter().flatten() {
            for &table in Mode::ALL {
                if !covers_rows(table, ask) {
                    continue;
                }
                assert!(table.conflicts(Mode::IX), "{table:?} for {ask:?}");
                let others = ask != RowLock::Long(Mode::S) && ask != RowLock::Range(Mode::S);
                assert!(!others || table.conflicts(Mode::IS), "{table:?} for {ask:?}");
            }
            assert!(!covers_rows(Mode::IX, ask) && covers_rows(Mode::X, ask));
        }
    }
}
