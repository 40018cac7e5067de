//! Locks of a transaction that are counted, by statement and hobt, and those that are known to be
//! held. `locking.rs` asks for them, and has the invariants.

use base::{DatabaseId, HobtId, ObjectId};
use lock::{EscalationCounter, Mode, Resource};

/// What a row or page lock belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockedHobt {
    /// The database.
    pub database: DatabaseId,
    /// The object that is locked instead, when there are too many.
    pub object: ObjectId,
    /// The heap or index.
    pub hobt: HobtId,
}

impl LockedHobt {
    /// What row locks are exchanged for.
    pub const fn table(&self) -> Resource {
        Resource::object(self.database, self.object)
    }
}

/// A hobt whose row and page locks are counted.
pub(crate) struct HobtCount {
    pub(crate) of: LockedHobt,
    counter: EscalationCounter,
}

/// The hobts that a transaction has locked rows of.
#[derive(Default)]
pub(crate) struct LockCounts {
    pub(crate) list: Vec<HobtCount>,
    /// The one that was counted last: mostly the next, too.
    last: usize,
    /// Exchanges so far: a cursor that sees another number looks at its locks again.
    pub(crate) escalations: u64,
    /// How often that was tried.
    pub(crate) attempts: u64,
    /// Whether a range of keys is locked.
    pub(crate) has_ranges: bool,
    /// Where the transaction holds X on itself.
    pub(crate) itself: Vec<DatabaseId>,
    /// Rows and pages that are locked for the change at hand alone.
    pub(crate) passing: Vec<Resource>,
    /// The table whose long lock was asked for last, and what was held on it then: what is asked of
    /// it, IX or X, is held to the end.
    pub(crate) table: Option<(Resource, Mode)>,
}

impl LockCounts {
    pub(crate) fn counter(&mut self, of: &LockedHobt) -> &mut EscalationCounter {
        if self.list.get(self.last).is_none_or(|c| c.of != *of) {
            let found = self.list.iter().position(|c| c.of == *of);
            self.last = found.unwrap_or_else(|| {
                self.list.push(HobtCount { of: *of, counter: EscalationCounter::new() });
                self.list.len() - 1
            });
        }
        assert!(self.list[self.last].of == *of, "what is counted is listed");
        debug_assert!(
            self.list
                .iter()
                .filter(|c| c.of.hobt == of.hobt && c.of.database == of.database)
                .count()
                == 1,
            "a hobt is of one object, and listed once"
        );
        &mut self.list[self.last].counter
    }

    pub(crate) const fn has_ranges(&self) -> bool {
        self.has_ranges
    }

    pub(crate) fn statement_begins(&mut self) {
        for counted in &mut self.list {
            counted.counter = EscalationCounter::new();
        }
    }

    pub(crate) fn transaction_ends(&mut self) {
        self.list.clear();
        self.itself.clear();
        self.passing.clear();
        self.table = None;
        (self.last, self.has_ranges) = (0, false);
        debug_assert!(self.list.is_empty() && !self.has_ranges, "nothing outlives a transaction");
    }
}
