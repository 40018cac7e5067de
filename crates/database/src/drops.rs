//! Dropped units, from the commit of their drop until their pages are free.
//!
//! A transaction that drops a hobt moves its units to `sysdrops`. After its commit, while it still
//! holds its locks, the units are entered here. Then the committing thread frees their pages, step
//! by step. If a full log, a lock on `sysdrops` or a crash prevents this, the checkpointer and the
//! next start repeat it.
//!
//! Invariants
//!  1. A unit is in the list of open hobts, or here, or free. CHECKDB asks in this order, so it
//!     knows the owner of every page even during a drop.
//!  2. One task at a time frees a unit: the thread that committed its drop, and the checkpointer
//!     only after that thread has given up. Neither waits for a lock, so CHECKDB blocks neither.
//!  3. A hobt is marked as dropped under the locks of its drop. The ghost cleaner, which holds IX
//!     while it works, does not touch what is being freed.
//!  4. Nothing is freed in a closed database: a task stops at its next step, and closing waits for
//!     that.

use crate::database::Database;
use base::{AllocUnitId, SqlResult};
use catalog::{Changes, DroppedUnit, SystemHobts};
use lock::Timeout;
use os::sync::{Condvar, Mutex};
use space::AllocUnit;
use work::CommitMode;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The committing thread is about to free it.
    Entered,
    /// A task frees it.
    Taken,
    /// It could not be freed yet.
    Left,
}

struct Drop {
    unit: DroppedUnit,
    stage: Stage,
}

/// The dropped units of a database.
#[derive(Default)]
pub(crate) struct Drops {
    list: Mutex<Vec<Drop>>,
    given_back: Condvar,
}

impl Drops {
    pub(crate) fn enter(&self, dropped: &[DroppedUnit]) {
        let mut list = self.list.lock();
        for unit in dropped {
            let id = unit.places.unit;
            debug_assert!(list.iter().all(|d| d.unit.places.unit != id), "{id:?} is dropped once");
            list.push(Drop { unit: *unit, stage: Stage::Entered });
        }
    }

    /// The dropped units, for CHECKDB: they own pages, too.
    pub(crate) fn units(&self) -> Vec<DroppedUnit> {
        self.list.lock().iter().map(|d| d.unit).collect()
    }

    /// Takes the units of a stage, which the caller then frees.
    fn take(&self, stage: Stage, which: impl Fn(&DroppedUnit) -> bool) -> Vec<DroppedUnit> {
        assert!(stage != Stage::Taken, "invariant 2");
        let mut list = self.list.lock();
        let free = list.iter_mut().filter(|d| d.stage == stage && which(&d.unit));
        free.map(|d| {
            d.stage = Stage::Taken;
            d.unit
        })
        .collect()
    }

    /// A unit was freed and removed from `sysdrops`, or must be tried again.
    fn give_back(&self, unit: AllocUnitId, freed: bool) {
        let mut list = self.list.lock();
        let at = list.iter().position(|d| d.unit.places.unit == unit);
        let at = at.expect("invariant 2: who took it gives it back");
        assert!(list[at].stage == Stage::Taken, "invariant 2: it was taken");
        match freed {
            true => drop(list.swap_remove(at)),
            false => list[at].stage = Stage::Left,
        }
        drop(list);
        self.given_back.notify_all();
    }

    /// Waits until no task frees a unit.
    fn rest(&self) {
        let mut list = self.list.lock();
        while list.iter().any(|d| d.stage == Stage::Taken) {
            self.given_back.wait(&mut list);
        }
    }
}

/// A unit that a task has taken to free it.
struct ClaimedUnit<'d> {
    drops: &'d Drops,
    unit: AllocUnitId,
    freed: bool,
}

impl std::ops::Drop for ClaimedUnit<'_> {
    fn drop(&mut self) {
        if !os::sched::crashed() {
            self.drops.give_back(self.unit, self.freed);
        }
    }
}

impl Database {
    /// Enters the units of hobts whose drop has committed; nobody opens these hobts any more. The
    /// caller holds the locks of the drop.
    pub(crate) fn enter_drops(&self, dropped: &[DroppedUnit]) {
        self.drops.enter(dropped);
        dropped.iter().for_each(|d| self.hobts.forget(d.hobt));
    }

    /// Frees the units that were just entered and that `which` selects.
    pub(crate) fn free_entered(&self, which: impl Fn(&DroppedUnit) -> bool) {
        let taken = self.drops.take(Stage::Entered, which);
        taken.iter().for_each(|dropped| self.free_taken(dropped));
    }

    /// Tries again to free units that could not be freed.
    pub(crate) fn free_left(&self) {
        let taken = self.drops.take(Stage::Left, |_| true);
        taken.iter().for_each(|dropped| self.free_taken(dropped));
    }

    /// The database is being closed: waits until no task frees a unit in it.
    pub(crate) fn end_freeing(&self) {
        assert!(self.stopping.check().is_err(), "invariant 4: who frees is told to stop first");
        self.drops.rest();
    }

    fn free_taken(&self, dropped: &DroppedUnit) {
        // A unit that is not freed stays in the list and in `sysdrops`, even after a panic.
        let mut taken = ClaimedUnit { drops: &self.drops, unit: dropped.places.unit, freed: false };
        taken.freed = self.free_drop(dropped).is_ok();
    }

    fn free_drop(&self, dropped: &DroppedUnit) -> SqlResult<()> {
        self.stopping.check()?;
        let unit = AllocUnit::open(dropped.places.unit, dropped.places.first_iam);
        let told = |e: space::SpaceError| e.into_sql("", &self.home.name());
        // A format without pages has units without a place.
        let is_placed = !unit.first_iam.is_none();
        if is_placed && self.space.unit_exists(&unit).map_err(told)? {
            self.space.drop_unit(&unit, &self.stopping).map_err(told)?;
        }
        self.strike(dropped)
    }

    /// Removes a unit from `sysdrops`.
    fn strike(&self, dropped: &DroppedUnit) -> SqlResult<()> {
        let mut work = self.system_work();
        work.set_timeout(Timeout::NO_WAIT);
        work.begin(false, "DeferredAllocUnitDrop");
        let system: &dyn SystemHobts = &*self.hobts;
        let struck = Changes::new(system).finish_drop(&mut work, dropped.places.unit);
        match struck {
            Ok(()) => work.commit(CommitMode::Delayed).map_err(|e| e.into_sql(&self.home.name())),
            Err(e) => {
                work.roll_back().map_err(|e| e.into_sql(&self.home.name()))?;
                Err(e)
            }
        }
    }
}
