//! The lock protocol of one row, tried under the page latch.
//!
//! A read-committed reader that reads under the latch needs no lock of its own: it asks whether
//! anybody holds one that conflicts (an instant request). Whoever keeps rows stable locks them.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use access::{Granule, Isolation, LockPlan, Strength};
use base::PageId;
use lock::{Duration, Mode, Outcome, Resource, Ticket, Timeout};
use std::sync::Arc;
use work::Work;

/// What a scan asks of each row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowLock {
    /// Nothing: the table lock covers it, or the level reads uncommitted rows.
    None,
    /// Whether somebody else holds a conflicting lock.
    Test(Mode),
    /// A lock until the row is given up.
    Short(Mode),
    /// A lock to the end of the transaction.
    Long(Mode),
}

/// What became of a request under the latch.
pub(crate) enum Tried {
    Granted,
    Wait(Ticket),
}

/// FNV-1a over a key's bytes: the 48 bits of KEY resources.
pub(crate) fn key_hash(bytes: &[u8]) -> u64 {
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    for &b in bytes {
        h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    }
    (h ^ (h >> 48)) & 0xFFFF_FFFF_FFFF
}

pub(crate) fn timeout_of(work: &Work, plan: &LockPlan) -> Timeout {
    if plan.no_wait { Timeout::NO_WAIT } else { work.timeout() }
}

impl RowHobt {
    /// Takes the table lock that a reference needs and says what each row needs beside it.
    pub(crate) fn lock_table(&self, work: &mut Work, plan: &LockPlan) -> RowResult<RowLock> {
        let serializable = plan.isolation == Isolation::Serializable;
        let keep = plan.hold || serializable || plan.isolation == Isolation::RepeatableRead;
        let whole = plan.granule == Granule::Table || serializable;
        let reads_anything = plan.isolation == Isolation::ReadUncommitted
            && plan.strength == Strength::Shared
            && !plan.hold;
        let (table, row) = match (plan.strength, whole) {
            (Strength::Shared, _) if reads_anything => (Mode::SchS, RowLock::None),
            (Strength::Shared, true) => (Mode::S, RowLock::None),
            (Strength::Shared, false) if keep => (Mode::IS, RowLock::Long(Mode::S)),
            (Strength::Shared, false) => (Mode::IS, RowLock::Test(Mode::S)),
            (Strength::Update, true) => (Mode::X, RowLock::None),
            (Strength::Update, false) if plan.hold => (Mode::IX, RowLock::Long(Mode::U)),
            (Strength::Update, false) => (Mode::IX, RowLock::Short(Mode::U)),
            (Strength::Exclusive, true) => (Mode::X, RowLock::None),
            (Strength::Exclusive, false) => (Mode::IX, RowLock::Long(Mode::X)),
        };
        let long = keep || plan.strength != Strength::Shared;
        let duration = if long { Duration::Long } else { Duration::Short };
        let resource = self.object_resource();
        let owner = Arc::clone(work.owner());
        let timeout = timeout_of(work, plan);
        work.locks().lock(&owner, resource, table, duration, timeout, None)?;
        let held = work.locks().held_mode(&owner, resource);
        Ok(if covers_rows(held, row) { RowLock::None } else { row })
    }

    /// Asks for a row's lock while its page is latched.
    pub(crate) fn try_row(
        &self,
        work: &Work,
        page: PageId,
        row: Resource,
        ask: RowLock,
    ) -> RowResult<Tried> {
        let (mode, duration) = match ask {
            RowLock::None => return Ok(Tried::Granted),
            RowLock::Test(mode) => (mode, Duration::Instant),
            RowLock::Short(mode) => (mode, Duration::Short),
            RowLock::Long(mode) => (mode, Duration::Long),
        };
        let owner = work.owner();
        if duration != Duration::Instant {
            let page_duration =
                if duration == Duration::Long { Duration::Long } else { Duration::Short };
            let intent = match mode {
                Mode::S => Mode::IS,
                Mode::U => Mode::IU,
                _ => Mode::IX,
            };
            let resource = self.page_resource(page);
            match work.locks().try_lock(owner, resource, intent, page_duration, None)? {
                Outcome::Wait(ticket) => return Ok(Tried::Wait(ticket)),
                Outcome::Granted { .. } | Outcome::AlreadyHeld => {}
            }
        }
        match work.locks().try_lock(owner, row, mode, duration, None)? {
            Outcome::Wait(ticket) => Ok(Tried::Wait(ticket)),
            Outcome::Granted { .. } | Outcome::AlreadyHeld => Ok(Tried::Granted),
        }
    }

    /// Waits for a request that could not be granted under the latch; no latch is held now.
    pub(crate) fn wait(&self, work: &Work, ticket: Ticket, plan: &LockPlan) -> RowResult<()> {
        work.locks().wait(ticket, timeout_of(work, plan), None)?;
        Ok(())
    }

    /// X on a row that is changed, IX above: tried under the latch. Nothing under a table X.
    pub(crate) fn try_exclusive(
        &self,
        work: &Work,
        page: PageId,
        row: Resource,
    ) -> RowResult<Tried> {
        self.try_row(work, page, row, RowLock::Long(Mode::X))
    }

    /// The table lock of a change; whether rows need none beside it.
    pub(crate) fn lock_for_change(&self, work: &mut Work, plan: &LockPlan) -> RowResult<bool> {
        let mode = if plan.granule == Granule::Table { Mode::X } else { Mode::IX };
        let resource = self.object_resource();
        let owner = Arc::clone(work.owner());
        let timeout = timeout_of(work, plan);
        work.locks().lock(&owner, resource, mode, Duration::Long, timeout, None)?;
        let held = work.locks().held_mode(&owner, resource);
        Ok(covers_rows(held, RowLock::Long(Mode::X)))
    }
}

/// Whether a table lock makes a row lock needless.
fn covers_rows(table: Mode, row: RowLock) -> bool {
    match row {
        RowLock::None => true,
        RowLock::Test(m) | RowLock::Short(m) | RowLock::Long(m) => match m {
            Mode::S => matches!(table, Mode::S | Mode::SIX | Mode::SIU | Mode::X | Mode::SchM),
            _ => matches!(table, Mode::X | Mode::SchM),
        },
    }
}
