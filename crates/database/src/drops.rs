//! Dropped units, from the commit of their drop until their pages are free.
//!
//! The transaction that drops a hobt moves its units to `sysdrops`. When it has committed, and
//! still under its locks, they are entered here; then their pages are freed, step by step, by who
//! committed. What a full log or a crash prevents, the checkpointer and the next start repeat.
//!
//! Invariants
//!  1. A unit is in the list of open hobts, or here, or free: CHECKDB, which asks in this order,
//!     knows the owner of every page also while a drop is under way.
//!  2. One task at a time frees a unit.
//!  3. A hobt is marked as dropped under the locks of its drop: the ghost cleaner, which holds IX
//!     while it works, does not touch what is being freed.

use crate::database::Database;
use base::{AllocUnitId, SqlResult};
use catalog::{Changes, DroppedUnit, SystemHobts};
use os::sync::Mutex;
use space::AllocUnit;
use work::CommitMode;

struct Drop {
    unit: DroppedUnit,
    /// Somebody is freeing it.
    taken: bool,
}

/// The dropped units of a database.
#[derive(Default)]
pub(crate) struct Drops(Mutex<Vec<Drop>>);

impl Drops {
    pub(crate) fn enter(&self, dropped: &[DroppedUnit]) {
        let mut drops = self.0.lock();
        for unit in dropped {
            let id = unit.places.unit;
            debug_assert!(drops.iter().all(|d| d.unit.places.unit != id), "{id:?} is dropped once");
            drops.push(Drop { unit: *unit, taken: false });
        }
    }

    /// As CHECKDB needs them: who else owns pages.
    pub(crate) fn units(&self) -> Vec<DroppedUnit> {
        self.0.lock().iter().map(|d| d.unit).collect()
    }

    /// Those that nobody is freeing: the caller does now.
    fn take(&self, which: impl Fn(&DroppedUnit) -> bool) -> Vec<DroppedUnit> {
        let mut drops = self.0.lock();
        let free = drops.iter_mut().filter(|d| !d.taken && which(&d.unit));
        free.map(|d| {
            d.taken = true;
            d.unit
        })
        .collect()
    }

    fn give_back(&self, unit: AllocUnitId) {
        let mut drops = self.0.lock();
        let given = drops.iter_mut().find(|d| d.unit.places.unit == unit);
        let given = given.expect("invariant 2: who took it gives it back");
        assert!(given.taken, "invariant 2: it was taken");
        given.taken = false;
    }

    fn done(&self, unit: AllocUnitId) {
        let mut drops = self.0.lock();
        let before = drops.len();
        drops.retain(|d| d.unit.places.unit != unit);
        assert_eq!(drops.len() + 1, before, "invariant 2: who took it is done once");
    }
}

impl Database {
    /// Hobts whose drop has committed: nobody opens them any more. The caller holds its locks.
    pub(crate) fn enter_drops(&self, dropped: &[DroppedUnit]) {
        self.drops.enter(dropped);
        dropped.iter().for_each(|d| self.hobts.forget(d.hobt));
    }

    /// Frees the units of the list that are among `which`.
    pub(crate) fn free_drops(&self, which: impl Fn(&DroppedUnit) -> bool) {
        for dropped in self.drops.take(which) {
            let unit = dropped.places.unit;
            match self.free_drop(&dropped) {
                Ok(()) => self.drops.done(unit),
                // It stays on the list, and in `sysdrops`.
                Err(_) => self.drops.give_back(unit),
            }
        }
    }

    fn free_drop(&self, dropped: &DroppedUnit) -> SqlResult<()> {
        let unit = AllocUnit::open(dropped.places.unit, dropped.places.first_iam);
        let told = |e: space::SpaceError| e.into_sql("", &self.home.name());
        if self.space.unit_exists(&unit).map_err(told)? {
            self.space.drop_unit(&unit).map_err(told)?;
        }
        self.strike(dropped)
    }

    /// Takes it off `sysdrops`.
    fn strike(&self, dropped: &DroppedUnit) -> SqlResult<()> {
        let mut work = self.system_work();
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
