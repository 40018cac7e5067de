//! A tempdb without room: a unit of nobody takes all that it has.

use base::{AllocUnitId, DatabaseId, FileId};
use buffer::{Change, Undo};
use instance::Instance;
use os::wait::Waiter;
use space::{AllocUnit, GrowthOptions, Space};
use std::sync::Arc;
use wal::{Group, LogReservation, TransactionChain};

/// A number that no table and no spill file has.
const UNIT: AllocUnitId = AllocUnitId(0xE000_0000);
const FILE: FileId = FileId(1);

/// What takes the room.
pub(crate) struct FilledSpace {
    space: Arc<Space>,
    unit: AllocUnit,
    growth: GrowthOptions,
}

impl FilledSpace {
    pub(crate) fn tempdb(instance: &Instance) -> FilledSpace {
        let tempdb = instance.database(DatabaseId(2)).expect("tempdb is open");
        let space = Arc::clone(tempdb.space());
        let growth = space.growth(FILE).expect("its data file");
        space.set_growth(FILE, GrowthOptions { pages: 0, ..growth });
        let mut group = Group::new();
        let log = || {
            let mut log = LogReservation::none(space.pages().log());
            log.grow(8192).expect("room in the log");
            log
        };
        let held = log();
        let made = space.create_unit(UNIT, Undo::Never).expect("room for a unit");
        let mut change = Change::new(space.pages(), &mut group);
        let unit = made.apply(&mut change).expect("sound maps");
        change.finish(&mut TransactionChain::default());
        drop(held);
        while let Ok(claim) = space.claim(&unit, 8) {
            let _held = log();
            let mut change = Change::new(space.pages(), &mut group);
            space.allocate_past_pool(&mut change, &unit, claim).expect("sound maps");
            change.finish(&mut TransactionChain::default());
        }
        FilledSpace { space, unit, growth }
    }

    pub(crate) fn free(self) {
        self.space.drop_unit(&self.unit, &Waiter::new()).expect("sound maps");
        self.space.set_growth(FILE, self.growth);
    }
}
