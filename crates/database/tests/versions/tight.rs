//! A tempdb that has no room for versions now and then: another unit takes all that is free, and
//! somebody holds the empty pages of the store.

use base::limits::RECORD_BYTES_MAX;
use base::{AllocUnitId, FileId, SqlError};
use buffer::{Change, Undo};
use os::sync::Mutex;
use os::wait::Waiter;
use space::{AllocUnit, GrowthOptions, Space};
use std::cell::Cell;
use std::sync::Arc;
use version::{Place, TempdbStore, VersionStore as _};
use wal::{Group, LogReservation, TransactionChain};
use work::Engine;

/// Unit numbers that nobody else has.
const FIRST_UNIT: u32 = 0xE000_0000;

pub(crate) struct TightStore {
    space: Arc<Space>,
    store: Arc<TempdbStore>,
    taken: Option<AllocUnit>,
    held: Vec<Place>,
    next: u32,
    told: Arc<Mutex<Vec<i32>>>,
    /// Reads that were refused.
    pub(crate) refusals: Cell<u64>,
}

impl TightStore {
    pub(crate) fn new(engine: &Engine, space: Arc<Space>) -> TightStore {
        let told = Arc::new(Mutex::new(Vec::new()));
        let numbers = Arc::clone(&told);
        let write = move |_, e: &SqlError| numbers.lock().push(e.number());
        assert!(engine.error_log.set(Box::new(write)).is_ok(), "one log");
        let has = space.size_pages(FileId(1)).unwrap();
        space.set_growth(FileId(1), GrowthOptions { pages: 64, percent: 0, max_pages: has + 64 });
        TightStore {
            space,
            store: Arc::clone(engine.shared_store()),
            taken: None,
            held: Vec::new(),
            next: FIRST_UNIT,
            told,
            refusals: Cell::new(0),
        }
    }

    /// Takes all room, or gives it back.
    pub(crate) fn turn(&mut self) {
        match self.taken {
            Some(_) => self.open(),
            None => self.fill(),
        }
    }

    pub(crate) fn open(&mut self) {
        if let Some(unit) = self.taken.take() {
            self.space.drop_unit(&unit, &Waiter::new()).unwrap();
            for mut place in self.held.drain(..) {
                self.store.leave(&mut place).unwrap();
            }
        }
    }

    fn fill(&mut self) {
        self.next += 1;
        let log = || {
            let mut log = LogReservation::none(self.space.pages().log());
            log.grow(8192).unwrap();
            log
        };
        let _log = log();
        let made = self.space.create_unit(AllocUnitId(self.next), Undo::Never).unwrap();
        let mut group = Group::new();
        let mut change = Change::new(self.space.pages(), &mut group);
        let unit = made.apply(&mut change).unwrap();
        change.finish(&mut TransactionChain::default());
        while let Ok(claim) = self.space.claim(&unit, 8) {
            let _log = log();
            let mut change = Change::new(self.space.pages(), &mut group);
            self.space.allocate_past_pool(&mut change, &unit, claim).unwrap();
            change.finish(&mut TransactionChain::default());
        }
        self.taken = Some(unit);
        let mut place = Place::default();
        while self.store.make_room(&mut place, RECORD_BYTES_MAX).is_ok() {
            self.held.push(std::mem::take(&mut place));
        }
    }

    /// Whether an error is what a reader is refused with for want of a version.
    pub(crate) fn refused(&self, e: &SqlError) -> bool {
        let refused = [3958, 3966].contains(&e.number());
        self.refusals.set(self.refusals.get() + u64::from(refused));
        refused
    }

    /// How often a message was written into the error log.
    pub(crate) fn told(&self, number: i32) -> usize {
        self.told.lock().iter().filter(|n| **n == number).count()
    }
}
