//! A second storage format behind the border: rows in a `Vec` (`rows.rs`). The database makes,
//! opens, reads, writes, loads, widens, counts, checks and drops its hobts without knowing of it.
//!
//! Files that the format had to touch: 2.
//!  1. `tests/toy_format/rows.rs`: the format, as its crate would be.
//!  2. `tests/toy_format/main.rs`: its line in the list of formats (`environment`).
//!
//! As a crate of its own it would touch 6: `Cargo.toml` and `layers.toml` of the workspace, its own
//! `Cargo.toml` and `lib.rs`, `database/Cargo.toml`, and its line in `database/src/formats.rs`.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod rows;
mod tables;

use access::{
    EntryPart, Field, Fill, Fingerprint, Hobt, Isolation, KeyBound, LockPlan, RowKey, RowLocation,
    ScanRange, StoredHobt, TableSource, WriteError,
};
use base::{AllocUnitId, DatabaseId, HobtId, Lsn, SessionId, TransactionId, Xsn};
use catalog::view::{Object, SystemObjects};
use catalog::{Changes, DatabaseOptions, Delta, HobtColumn, HobtSpec, SystemHobts, SystemTableId};
use database::{Database, Environment, Files, Sizing, SweepOutcome, SweepRequest};
use os::disk::{Disk, RealDisk};
use os::memory::Memory;
use os::wait::{CancelReason, Waiter};
use rows::{SWEPT_PAGES, ToyFormat, ToyHobt};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tables::{BY_NAME, LOADED, ON_PAGES, TOY};
use txn::AbortedTransaction;
use types::{Collation, SqlType};
use work::{CleanerPass, CommitMode, Engine, Work};

/// The toy format is one line more in the list.
fn environment(toy: &Arc<ToyFormat>) -> Environment {
    let memory = Memory::new(64 << 20);
    Environment {
        disk: Arc::new(RealDisk),
        pool: buffer::Pool::new(&memory, 512).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats().with(Arc::<ToyFormat>::clone(toy)),
    }
}

struct Place {
    toy: Arc<ToyFormat>,
    db: Arc<Database>,
    work: Work,
    dir: PathBuf,
}

/// A database with the tables.
fn place(name: &str) -> Place {
    let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    RealDisk.create_dir(&dir).unwrap();
    let toy = Arc::new(ToyFormat::of(vec![tables::object(TOY), tables::object(LOADED)]));
    let (env, files, sizing) = (environment(&toy), Files::of(&dir, "d"), Sizing::default());
    let options = DatabaseOptions::default();
    let db = Database::create(&env, DatabaseId(5), "d", &files, &sizing, &options, true).unwrap();
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    work.begin(true, "");
    for table in tables::all() {
        let system = Arc::clone(db.hobts());
        let changes = Changes::new(&*system);
        for index in &table.indexes {
            let spec = HobtSpec::of(&table, index);
            let places = db.builder().create_hobt(&mut work, &spec).unwrap();
            changes.put_places(&mut work, index.partitions.sole(), &places).unwrap();
        }
        changes.put_table(&mut work, None, &table).unwrap();
    }
    work.commit(CommitMode::Full).unwrap();
    let put = |table| Delta::PutObject(Object::Table(Arc::new(table)));
    db.publisher().publish(&tables::all().map(put));
    Place { toy, db, work, dir }
}

impl Place {
    fn hobt(&self, hobt: HobtId) -> Arc<dyn StoredHobt> {
        self.db.hobts().get(hobt).unwrap()
    }

    /// Closes the database and opens it again, as another process would.
    fn reopen(self) -> Place {
        let Place { toy, db, work, dir } = self;
        drop(work);
        db.close(Vec::new()).unwrap();
        drop(db);
        let (env, files) = (environment(&toy), Files::of(&dir, "d"));
        let (db, _) = Database::open(&env, DatabaseId(5), "d", &files, &Sizing::default()).unwrap();
        let work = Work::new(&env.engine, SessionId(51), Arc::default());
        Place { toy, db, work, dir }
    }

    fn end(mut self) {
        if self.work.is_active() {
            self.work.roll_back().unwrap();
        }
        self.db.close(Vec::new()).unwrap();
        std::fs::remove_dir_all(&self.dir).unwrap();
    }
}

type Rows = Vec<(i32, String)>;

fn rows_in(hobt: &dyn TableSource, work: &mut Work, range: &ScanRange<'_>) -> Rows {
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let mut cursor = hobt.scan(work, range, &plan).unwrap();
    let mut found = Vec::new();
    while cursor.next(work).unwrap() {
        let key = cursor.field(0).unwrap().inline().unwrap().try_into().unwrap();
        let name = cursor.field(1).unwrap().inline().unwrap().to_vec();
        found.push((i32::from_le_bytes(key), String::from_utf8(name).unwrap()));
    }
    found
}

fn put(hobt: &dyn StoredHobt, work: &mut Work, key: i32, name: &str) -> Result<(), WriteError> {
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let key = key.to_le_bytes();
    hobt.insert(work, &[Field::Inline(&key), Field::Inline(name.as_bytes())], &plan).map(|_| ())
}

/// Rows are written and read in the order of their key, whatever holds them: what the toy format
/// answers, rows on pages answer too.
#[test]
fn two_formats_answer_alike() {
    let mut place = place("toy");
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let mut model = BTreeMap::new();
    let (toy, pages) = (place.hobt(TOY), place.hobt(ON_PAGES));
    assert!(toy.units().is_empty() && !pages.units().is_empty(), "one of them has pages");
    let work = &mut place.work;
    work.begin(true, "");
    for n in 0..300_i32 {
        let (key, name) = (n * 7919 % 503, format!("row {n}"));
        for hobt in [&toy, &pages] {
            put(&**hobt, work, key, &name).unwrap();
            assert!(matches!(put(&**hobt, work, key, "again"), Err(WriteError::Duplicate)));
        }
        model.insert(key, name);
    }
    for key in (0..503_i32).step_by(3) {
        let (old, new) = (key.to_le_bytes(), (key + 1000).to_le_bytes());
        let at = [Field::Inline(&old)];
        let row = [Field::Inline(&new), Field::Inline(b"moved")];
        let of = || RowKey { fields: &at, hint: None };
        let moves = key % 2 == 0;
        for hobt in [&toy, &pages] {
            let done = match moves {
                true => hobt.update(work, of(), &row, &plan).map(|_| ()),
                false => hobt.delete(work, of(), &plan),
            };
            match model.contains_key(&key) {
                true => done.unwrap(),
                false => assert!(matches!(done, Err(WriteError::Vanished)), "{key}: {done:?}"),
            }
        }
        if model.remove(&key).is_some() && moves {
            model.insert(key + 1000, "moved".to_owned());
        }
    }
    let (low, high) = (100_i32.to_le_bytes(), 400_i32.to_le_bytes());
    let (low, high) = ([Field::Inline(&low)], [Field::Inline(&high)]);
    let range = ScanRange {
        lower: Some(KeyBound { fields: &low, inclusive: true }),
        upper: Some(KeyBound { fields: &high, inclusive: false }),
        backward: true,
    };
    let all: Rows = model.clone().into_iter().collect();
    let some: Rows = model.range(100..400).rev().map(|(k, v)| (*k, v.clone())).collect();
    assert!(some.len() > 50, "{}", some.len());
    for hobt in [&toy, &pages] {
        assert_eq!(rows_in(&**hobt, work, &ScanRange::default()), all);
        assert_eq!(rows_in(&**hobt, work, &range), some);
        assert_eq!(hobt.row_count(&Waiter::new()).unwrap(), all.len() as u64);
        assert_eq!(hobt.measured_size(&Waiter::new()).unwrap().rows, all.len() as u64);
    }
    work.commit(CommitMode::Full).unwrap();
    drop((toy, pages));
    place.end();
}

/// An index build loads a hobt of either format, and refuses a key that comes twice.
#[test]
fn a_load_fills_it() {
    let mut place = place("toy-load");
    let hobt = place.hobt(LOADED);
    let work = &mut place.work;
    work.begin(true, "");
    let mut loader = hobt.load(work, Fill { leaf: 100, interior: 100 }).unwrap();
    for key in (0..100_i32).map(i32::to_le_bytes) {
        loader.push(work, &[Field::Inline(&key), Field::Inline(b"x")]).unwrap();
    }
    let again = [Field::Inline(&99_i32.to_le_bytes()), Field::Inline(b"x")];
    assert!(matches!(loader.push(work, &again), Err(WriteError::Duplicate)));
    assert_eq!(loader.finish(work).unwrap(), 100);
    let keys: Vec<i32> =
        rows_in(&*hobt, work, &ScanRange::default()).into_iter().map(|r| r.0).collect();
    assert_eq!(keys, (0..100).collect::<Vec<_>>());
    drop(hobt);
    place.end();
}

/// A column that is added is there in old rows by its default; the definition's builder does it.
#[test]
fn a_column_is_added() {
    let mut place = place("toy-column");
    let work = &mut place.work;
    work.begin(true, "");
    put(&*place.db.hobts().get(TOY).unwrap(), work, 1, "old").unwrap();
    let table = tables::toy();
    let mut wide = HobtSpec::of(&table, table.base());
    let (sql_type, collation) = (SqlType::Int, Collation::default());
    wide.columns.push(HobtColumn { sql_type, nullable: false, collation });
    wide.added = vec![Some(77_i32.to_le_bytes().into())];
    assert_eq!(place.db.builder().add_columns(work, &wide).unwrap(), None, "no unit is made");
    let hobt: Arc<dyn Hobt> = place.db.builder().open(&wide).unwrap();
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let (key, added) = (2_i32.to_le_bytes(), 5_i32.to_le_bytes());
    let row = [Field::Inline(&key), Field::Inline(b"new"), Field::Inline(&added)];
    hobt.insert(work, &row, &plan).unwrap();
    let mut cursor = hobt.scan(work, &ScanRange::default(), &plan).unwrap();
    for expected in [77_i32, 5] {
        assert!(cursor.next(work).unwrap());
        assert_eq!(cursor.field(2).unwrap(), Field::Inline(&expected.to_le_bytes()));
    }
    assert!(!cursor.next(work).unwrap());
    drop(cursor);
    drop(hobt);
    place.end();
}

/// Puts rows into the toy table and entries into its index, which is one of rows on pages.
fn fill(place: &mut Place) {
    place.work.begin(true, "");
    for key in 0..500_i32 {
        let name = format!("row {key}");
        put(&*place.hobt(TOY), &mut place.work, key, &name).unwrap();
        let entry = [Field::Inline(name.as_bytes()), Field::Inline(&key.to_le_bytes())];
        let plan = LockPlan::change(Isolation::ReadCommitted);
        place.hobt(BY_NAME).insert(&mut place.work, &entry, &plan).unwrap();
    }
    place.work.commit(CommitMode::Full).unwrap();
}

/// A table of the toy format is there after a restart, opened by its definition in the list's
/// format; CHECKDB compares it with its index of another format, and tells what differs.
#[test]
fn checkdb_looks_through_the_border() {
    let mut place = place("toy-check");
    fill(&mut place);
    let mut place = place.reopen();
    let (toy, index) = (place.hobt(TOY), place.hobt(BY_NAME));
    assert!(toy.units().is_empty() && !index.units().is_empty(), "one of them has pages");
    assert_eq!(rows_in(&*toy, &mut place.work, &ScanRange::default()).len(), 500);
    let report = place.db.check();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.objects[&tables::object(TOY).0].rows, 500);
    assert_eq!(place.db.pages_with_ghosts(None, &Waiter::new()).unwrap(), [], "nobody deleted");
    let of_row = sum(&*toy, &[EntryPart::Column(1), EntryPart::Column(0)]);
    let of_entry = sum(&*index, &[EntryPart::Column(0), EntryPart::Column(1)]);
    assert!(of_row.differing(&of_entry).is_empty(), "a row and its entry have one hash");
    place.work.begin(true, "");
    put(&*toy, &mut place.work, 500, "more").unwrap();
    place.work.commit(CommitMode::Full).unwrap();
    let report = place.db.check();
    let told: Vec<_> = report.consistency.iter().map(|f| (f.error.number(), f.object)).collect();
    assert_eq!(told, [(8951, tables::object(TOY))], "{report:?}");
    let row = report.consistency[0].row.as_ref().unwrap().to_string();
    assert!(row.contains("more") && row.contains("500"), "its row is named: {row}");
    let own = toy.as_any().and_then(|any| any.downcast_ref::<ToyHobt>());
    own.expect("the list gave the table to the toy format").damage(250);
    let report = place.db.check();
    let told: Vec<_> = report.consistency.iter().map(|f| (f.error.number(), f.object)).collect();
    assert!(told.contains(&(8944, tables::object(TOY))), "{report:?}");
    assert!(report.allocation.is_empty(), "{report:?}");
    drop((toy, index));
    place.end();
}

/// The entries that are made of these parts of all records.
fn sum(hobt: &dyn StoredHobt, parts: &[EntryPart]) -> Fingerprint {
    let mut of = Fingerprint::default();
    let see = &mut |row: RowLocation<'_>| of.add(hobt.entry_hash(row, parts).unwrap());
    assert_eq!(hobt.verify(&Waiter::new(), see).unwrap().rows, 500);
    of
}

/// A hobt of the toy format that is dropped is gone from the list of open ones, and says so.
/// Nothing of it stays on the list of what is to be freed.
#[test]
fn a_drop_forgets_it() {
    let mut place = place("toy-drop");
    let toy = place.hobt(TOY);
    let system = Arc::clone(place.db.hobts());
    let work = &mut place.work;
    work.begin(true, "");
    let dropped = Changes::new(&*system).drop_hobt(work, TOY).unwrap();
    assert_eq!(dropped.len(), 1);
    place.db.builder().drop_hobt_after_commit(work, &dropped).unwrap();
    assert!(!toy.is_dropped(), "until the commit it is there");
    work.commit(CommitMode::Full).unwrap();
    assert!(toy.is_dropped() && place.db.hobts().get(TOY).is_none());
    let drops = SystemHobts::open(&*system, SystemTableId::Drops);
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let mut left = drops.scan(work, &ScanRange::default(), &plan).unwrap();
    assert!(!left.next(work).unwrap(), "its unit is free");
    drop(left);
    drop((toy, drops, system));
    place.end();
}

fn own(hobt: &Arc<dyn StoredHobt>) -> &ToyHobt {
    let own = hobt.as_any().and_then(|any| any.downcast_ref::<ToyHobt>());
    own.expect("the list gave the table to the toy format")
}

impl Place {
    /// A transaction is in the aborted map, with the units that it has changed.
    fn abort(&self, xsn: u64, units: Vec<AllocUnitId>) {
        self.db.home().aborted().enter(AbortedTransaction {
            xsn: Xsn(xsn),
            id: TransactionId(xsn),
            began_at: 0,
            begin: Lsn(1),
            end: Lsn(2),
            nested: false,
            units,
        });
    }

    fn sweep(&self, asked: SweepRequest) -> SweepOutcome {
        self.db.sweep_versions(asked, &Waiter::new()).unwrap()
    }

    /// How often sweeps have come to the end of the two tables of the toy format.
    fn passes(&self) -> [u64; 2] {
        [TOY, LOADED].map(|hobt| own(&self.hobt(hobt)).sweeps().passes)
    }
}

/// A sweep goes over the hobts that aborted transactions have changed, each to its end, and forgets
/// the transactions. Of one whose hobts are not known it goes over all; of a unit that is not there
/// any more over none.
#[test]
fn a_sweep_forgets_whom_it_has_swept() {
    let place = place("toy-sweep");
    let map = Arc::clone(place.db.home());
    assert_eq!(place.sweep(SweepRequest::ALL), SweepOutcome::default());
    place.abort(7, vec![place.hobt(TOY).spec().unit]);
    place.abort(9, vec![AllocUnitId(u32::MAX)]);
    let store = SweepRequest { rows: false, ..SweepRequest::ALL };
    assert_eq!((place.sweep(store).forgotten, map.aborted().count()), (0, 2));
    assert_eq!(place.passes(), [0, 0]);
    let times = map.cleaner_times().of(CleanerPass::Aborted);
    let swept = place.sweep(SweepRequest::ALL);
    assert_eq!((swept.pages, swept.forgotten, map.aborted().count()), (SWEPT_PAGES, 2, 0));
    assert_eq!(place.passes(), [1, 0]);
    assert!(map.cleaner_times().of(CleanerPass::Aborted).began > times.began);
    place.abort(11, Vec::new());
    assert_eq!((place.sweep(SweepRequest::ALL).forgotten, map.aborted().count()), (1, 0));
    assert_eq!(place.passes(), [2, 1]);
    let swept = place.sweep(SweepRequest { every_page: true, ..SweepRequest::ALL });
    assert_eq!((swept.forgotten, place.passes()), (0, [3, 2]));
    drop(map);
    place.end();
}

/// Where the sweep is cancelled the transaction stays in the map.
#[test]
fn a_sweep_that_is_cancelled_forgets_nobody() {
    let place = place("toy-cancelled");
    let (toy, map) = (place.hobt(TOY), Arc::clone(place.db.home()));
    place.abort(9, vec![toy.spec().unit]);
    let cancelled = Waiter::new();
    cancelled.cancel(CancelReason::Attention);
    assert!(place.db.sweep_versions(SweepRequest::ALL, &cancelled).is_err());
    assert_eq!(map.aborted().count(), 1, "it was not swept to the end");
    assert_eq!((place.sweep(SweepRequest::ALL).forgotten, map.aborted().count()), (1, 0));
    drop((toy, map));
    place.end();
}

/// A table that is locked keeps a sweep waiting when everything else is swept, for as long as the
/// option of the server says. A sweep without retries leaves the table, and its
/// transaction in the map.
#[test]
fn a_sweep_comes_back_to_a_locked_table() {
    let place = place("toy-locked");
    let (toy, map) = (place.hobt(TOY), Arc::clone(place.db.home()));
    place.abort(7, vec![toy.spec().unit, place.hobt(LOADED).spec().unit]);
    own(&toy).sweeps().locked = 2;
    let soon = SweepRequest { retries: false, ..SweepRequest::ALL };
    assert_eq!((place.sweep(soon).forgotten, place.passes()), (0, [0, 1]));
    assert_eq!((place.sweep(SweepRequest::ALL).forgotten, place.passes()), (1, [1, 2]));
    place.work.engine().configure_cleaner(1, 0);
    place.abort(9, vec![toy.spec().unit]);
    own(&toy).sweeps().locked = 2;
    assert_eq!((place.sweep(SweepRequest::ALL).forgotten, map.aborted().count()), (0, 1));
    own(&toy).sweeps().locked = 0;
    assert_eq!((place.sweep(SweepRequest::ALL).forgotten, map.aborted().count()), (1, 0));
    drop((toy, map));
    place.end();
}
