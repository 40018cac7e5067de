//! Records by aborted transactions are reverted: by writers that meet them, by sweeps, and by those
//! that clean pages. Rows, counts and versions are then as if the transactions had never been.
//!
//! A transaction is aborted as accelerated recovery will do it: it enters the map before its locks
//! go, and nothing that it wrote is taken back. Its number ends like a commit's: the map alone says
//! that it was aborted. [`Sweep`] drives sweeps as a database will: over all hobts, a few pages at
//! a time; at the end those are forgotten that were in the map at the begin.

use super::*;
use access::SweepPosition;
use base::{Lsn, Xsn};
use page::VersionTag;
use space::AllocUnit;
use std::collections::BTreeSet;
use toy_store::ToyStore;
use txn::AbortedTransaction;
use work::RECOVERY_VERSIONS;

/// A sweep over the hobts of a world.
#[derive(Default)]
pub(crate) struct Sweep {
    /// Those that were in the map when it began.
    begun: Option<Vec<Xsn>>,
    /// The rows, or the values off them, and how far it has come there.
    hobt: usize,
    at: Option<SweepPosition>,
    pub(crate) reverted: u64,
    pub(crate) aborted: usize,
}

fn entry_of(xsn: Xsn, work: &Work) -> AbortedTransaction {
    AbortedTransaction {
        xsn,
        id: work.transaction_id().unwrap(),
        began_at: 0,
        begin: Lsn(1),
        end: Lsn(2),
        nested: false,
        units: Vec::new(),
    }
}

/// A database and one of its hobts.
type Place<'w> = (&'w Database, &'w Arc<dyn StoredHobt>);

/// A hobt, and that of the values off its rows.
fn with_large(hobt: &Arc<dyn StoredHobt>) -> Vec<Arc<dyn StoredHobt>> {
    [Some(Arc::clone(hobt)), hobt.large()].into_iter().flatten().collect()
}

/// The numbers in all tags on pages of rows, and of values off them.
pub(crate) fn numbers_on_pages((db, hobt): Place<'_>) -> BTreeSet<Xsn> {
    let mut numbers = BTreeSet::new();
    for hobt in with_large(hobt) {
        let unit = AllocUnit::open(hobt.spec().unit, hobt.places().first_iam);
        let pages = db.space().unit_pages(&unit, &Waiter::new()).unwrap().pages;
        for page in pages {
            let guard = db.pages().read(page).unwrap();
            let view = guard.view();
            let records = (0..view.slot_count()).filter_map(|slot| view.record(slot));
            let leaf = view.level() == 0 && view.alloc_unit() == hobt.spec().unit;
            let tags = records.filter(|_| leaf).filter_map(VersionTag::of);
            numbers.extend(tags.map(|tag| tag.writer));
        }
    }
    numbers
}

impl Sweep {
    /// So many pages; whom it has forgotten, at the end.
    pub(crate) fn step(&mut self, (db, hobt): Place<'_>, pages: usize) -> Option<Vec<Xsn>> {
        let map = db.home().aborted();
        if self.begun.is_none() {
            self.begun = Some(map.list().iter().map(|aborted| aborted.xsn).collect());
        }
        let work = db.system_work();
        let hobts = with_large(hobt);
        let step = hobts[self.hobt].revert_aborted(&work, self.at.as_ref(), pages).unwrap();
        assert!(step.pages <= pages, "{step:?} of {pages} pages");
        self.reverted += step.reverted;
        self.at = step.next;
        if self.at.is_none() {
            self.hobt += 1;
        }
        if self.hobt < hobts.len() {
            return None;
        }
        (self.hobt, self.at) = (0, None);
        let begun = self.begun.take().unwrap();
        let left = numbers_on_pages((db, hobt));
        for xsn in &begun {
            assert!(!left.contains(xsn), "{xsn:?} is on a page behind a sweep");
            map.forget(*xsn);
        }
        Some(begun)
    }
}

impl World {
    /// A transaction is aborted: by the map, or undone from the log.
    pub(super) fn abort(&mut self, n: usize) {
        let by_map = self.sweep.is_some() && self.draw.below(3) > 0;
        let work = &mut self.sessions[n].work;
        let (Some(xsn), true) = (work.xsn(), by_map) else { return work.roll_back().unwrap() };
        self.db.home().aborted().enter(entry_of(xsn, work));
        work.commit(CommitMode::Delayed).unwrap();
        self.sweep.as_mut().unwrap().aborted += 1;
    }

    pub(super) fn sweep_a_little(&mut self) {
        let Some(mut sweep) = self.sweep.take() else { return };
        if self.draw.below(4) == 0 {
            let pages = 1 + self.draw.below(3);
            let _ = sweep.step((&self.db, &self.hobt), pages);
        }
        if self.draw.below(12) == 0 {
            // Records move to the left, perhaps past the sweep.
            self.hobt.reorganize(&mut self.reader, 100, true).unwrap();
        }
        self.sweep = Some(sweep);
    }

    /// A step of the cleaner's in-row pass. How many versions it took out of their rows.
    fn drop_in_row_a_little(&mut self) -> u64 {
        if self.draw.below(6) > 0 {
            return 0;
        }
        let (work, pages) = (self.db.system_work(), 1 + self.draw.below(4));
        let every = self.draw.below(2) == 0;
        let passed = self.hobt.drop_in_row_versions(&work, self.in_row_at.as_ref(), (pages, every));
        let passed = passed.unwrap();
        self.in_row_at = passed.next;
        passed.reverted
    }

    /// Nobody is in the map any more.
    pub(super) fn sweep_all(&mut self) {
        let Some(mut sweep) = self.sweep.take() else { return };
        while !self.db.home().aborted().is_empty() {
            let _ = sweep.step((&self.db, &self.hobt), 2);
        }
        self.sweep = Some(sweep);
    }

    /// All options that ask for versions, with a store of the database's own or the shared one.
    fn accelerated(&mut self, own: Option<&Arc<ToyStore>>) {
        let home = self.db.home();
        home.set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS | RECOVERY_VERSIONS);
        if let Some(own) = own {
            home.version_stores().set_own(own.clone());
            home.version_stores().keep_own(true);
        }
        let optimized = self.draw.below(2) == 0;
        self.db.home().set_optimized_locking(optimized);
        self.sweep = Some(Sweep::default());
    }
}

/// Histories in which transactions are aborted by the map while others change, read and clean, and
/// a sweep goes on in small steps.
fn aborting(kind: IndexKind) {
    let (mut aborted, mut reverted, mut conflicts, mut locked) = (0, 0, 0, 0);
    let (mut in_row, mut dropped) = (0, 0);
    for seed in 0..seeds() {
        let mut world = World::new(kind, seed * 971 + 5);
        // Rows from before there are versions.
        world.without_versions(60);
        let own = (seed % 2 == 0).then(ToyStore::new);
        world.accelerated(own.as_ref());
        for _ in 0..500 {
            world.step();
            world.look(false);
            dropped += world.drop_in_row_a_little();
        }
        in_row += world.hobt.counted(access::Deed::VersionInRow);
        conflicts += world.conflicts;
        locked += world.locked;
        world.end_all();
        world.look(true);
        world.sweep_all();
        let sweep = world.sweep.as_ref().unwrap();
        (aborted, reverted) = (aborted + sweep.aborted, reverted + sweep.reverted);
        if let Some(own) = own {
            world.snapshots.clear();
            let transactions = &world.env.engine.transactions;
            let horizon = transactions.snapshots.store_horizon(&transactions.commits);
            own.reclaim(0, 0, &|by| transactions.commits.is_past(by, horizon)).unwrap();
            assert_eq!(own.len(), 0, "seed {seed}: versions that nobody needs");
        }
        world.finish();
    }
    println!("{kind:?}: {aborted} aborted, {reverted} reverted by sweeps, {conflicts} conflicts");
    println!("{in_row} former rows stayed in their rows, {dropped} were taken out there");
    assert!(in_row > 2 * seeds() && dropped > 5, "{in_row} in rows, {dropped} taken out");
    let enough = aborted > 3 * seeds() as usize && reverted > 5 * seeds() && locked > seeds();
    assert!(enough && conflicts > 0, "{aborted} aborted, {reverted} reverted, {locked} locked");
}

#[test]
fn a_clustered_index_is_reverted_beside_readers_and_writers() {
    aborting(IndexKind::Clustered);
}

#[test]
fn a_nonclustered_index_is_reverted_beside_readers_and_writers() {
    aborting(IndexKind::Nonclustered);
}

#[test]
fn a_heap_is_reverted_beside_readers_and_writers() {
    aborting(IndexKind::Heap);
}

/// Rows shrink, their transaction is aborted, and others fill the bytes that it has freed: what
/// comes back finds its room by a split, or behind a stub.
fn crowded(kind: IndexKind) {
    let mut world = World::new(kind, 7);
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    let mut rids = Rids::new();
    let put = |world: &mut World, rids: &mut Rids, key: i32, value: Value| {
        rids.extend(aborted::put(world, key, value).map(|rid| (key, rid)));
        world.committed.insert(key, value);
    };
    world.sessions[0].work.begin(true, "");
    for key in (0..80).map(|n| 100 * n) {
        put(&mut world, &mut rids, key, (key as u8, 900));
    }
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    world.sessions[0].work.begin(true, "");
    for key in (0..80).map(|n| 100 * n) {
        aborted::change(&mut world, &rids, (key, Some((201, 5)))).unwrap();
    }
    let work = &mut world.sessions[0].work;
    let xsn = work.xsn().unwrap();
    world.db.home().aborted().enter(entry_of(xsn, work));
    work.commit(CommitMode::Delayed).unwrap();
    // Rows that go where the others were, and fill it.
    world.sessions[0].work.begin(true, "");
    for key in (0..80).flat_map(|n| (1..8).map(move |m| 100 * n + m)) {
        put(&mut world, &mut rids, key, (key as u8, 100));
    }
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    let moved = |world: &World| match kind {
        IndexKind::Heap => world.hobt.counted(access::Deed::ForwardedFetch),
        _ => world.hobt.splits().leaf.splits,
    };
    check(&mut world);
    let before = moved(&world);
    // A writer meets some, a sweep the others; a rollback puts back what came back.
    for key in (0..20).map(|n| 400 * n) {
        world.sessions[0].work.begin(true, "");
        let value = (2, 10 + key as usize / 8);
        aborted::change(&mut world, &rids, (key, Some(value))).unwrap();
        match key % 800 {
            0 => {
                world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
                world.committed.insert(key, value);
            }
            _ => world.sessions[0].work.roll_back().unwrap(),
        }
    }
    check(&mut world);
    world.sweep_all();
    check(&mut world);
    assert!(moved(&world) > before + 5, "{kind:?}: rows found room where they were");
    assert!(!numbers_on_pages((&world.db, &world.hobt)).contains(&xsn));
    let transactions = &world.env.engine.transactions;
    let horizon = transactions.snapshots.store_horizon(&transactions.commits);
    own.reclaim(0, 0, &|by| transactions.commits.is_past(by, horizon)).unwrap();
    assert_eq!(own.len(), 0, "versions that nobody needs");
    world.finish();
}

#[test]
fn what_comes_back_finds_room_on_another_page() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        crowded(kind);
    }
}

/// A key that an aborted transaction has put is an anchor of a gap. When it is reverted it stays
/// one, for as long as somebody guards the gap.
#[test]
fn a_key_that_was_reverted_guards_its_gap() {
    let mut world = World::new(IndexKind::Clustered, 7);
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    world.sessions[0].work.begin(true, "");
    for key in [10, 30] {
        let _ = aborted::put(&mut world, key, (1, 5));
        world.committed.insert(key, (1, 5));
    }
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    world.sessions[0].work.begin(true, "");
    let _ = aborted::put(&mut world, 20, (3, 5));
    let work = &mut world.sessions[0].work;
    let xsn = work.xsn().unwrap();
    world.db.home().aborted().enter(entry_of(xsn, work));
    work.commit(CommitMode::Delayed).unwrap();
    // Keys from 10 to 15 are read: the gap below 20 is guarded.
    let ends = [10_i32, 15].map(i32::to_le_bytes);
    let fields = ends.each_ref().map(|end| [Field::Inline(end)]);
    let bound = |n: usize| Some(access::KeyBound { fields: &fields[n], inclusive: true });
    let range = ScanRange { lower: bound(0), upper: bound(1), backward: false };
    world.reader.begin(true, "");
    let plan = LockPlan::read(Isolation::Serializable);
    let mut cursor = world.hobt.scan(&mut world.reader, &range, &plan).unwrap();
    assert_eq!(rows_of(&mut *cursor, &mut world.reader).unwrap(), Rows::from([(10, (1, 5))]));
    drop(cursor);
    let refused = |world: &mut World| {
        let plan = LockPlan::change(Isolation::ReadCommitted);
        let name = 12_i32.to_le_bytes();
        let row = [Field::Inline(&name), Field::Inline(&[4])];
        world.sessions[1].work.begin(true, "");
        let put = world.hobt.insert(&mut world.sessions[1].work, &row, &plan);
        world.sessions[1].work.roll_back().unwrap();
        matches!(put, Err(WriteError::Sql(e)) if e.number() == 1222)
    };
    assert!(refused(&mut world), "before the sweep");
    world.sweep_all();
    for _ in 0..5 {
        let _ = world.db.clean_ghosts(None, 100).unwrap();
    }
    assert!(refused(&mut world), "behind it, and cleaned");
    world.reader.commit(CommitMode::Delayed).unwrap();
    assert!(!refused(&mut world), "nobody guards it any more");
    check(&mut world);
    world.finish();
}

/// Keys that each writer of its own changes, of so many.
const WRITERS: i32 = 3;
const OWN_KEYS: i32 = 30;

/// One of the threads that change rows at once. What is to be committed has even bytes.
struct Writer {
    db: Arc<Database>,
    hobt: Arc<dyn StoredHobt>,
    heap: bool,
    work: Work,
    draw: Draw,
    /// The remainder of its keys.
    own: i32,
    rows: Rows,
    rids: Rids,
}

impl Writer {
    fn change(&mut self, commits: bool, rows: &mut Rows, rids: &mut Rids) {
        let key = self.draw.below(OWN_KEYS as usize) as i32 * WRITERS + self.own;
        let length = [5, 60, 700, 9_000][self.draw.below(4)];
        let value = ((2 * self.draw.below(100)) as u8 + u8::from(!commits), length);
        let (name, bytes) = (key.to_le_bytes(), vec![value.0; value.1]);
        let row = [Field::Inline(&name), Field::Inline(&bytes)];
        let plan = LockPlan::change(Isolation::ReadCommitted);
        let rid = rids.get(&key).copied().unwrap_or_default();
        let old = [if self.heap { Field::Inline(&rid[..]) } else { Field::Inline(&name[..]) }];
        let found = RowKey { fields: &old, hint: None };
        let is_there = rows.contains_key(&key);
        if !is_there {
            let put = self.hobt.insert(&mut self.work, &row, &plan).unwrap();
            rids.extend(put.rid.map(|rid| (key, rid)));
            rows.insert(key, value);
        } else if self.draw.below(3) == 0 {
            self.hobt.delete(&mut self.work, found, &plan).unwrap();
            rows.remove(&key);
            rids.remove(&key);
        } else {
            let _ = self.hobt.update(&mut self.work, found, &row, &plan).unwrap();
            rows.insert(key, value);
        }
    }

    fn transaction(&mut self) {
        let commits = self.draw.below(2) == 0;
        let (mut rows, mut rids) = (self.rows.clone(), self.rids.clone());
        self.work.begin(true, "");
        for _ in 0..1 + self.draw.below(8) {
            self.change(commits, &mut rows, &mut rids);
            if self.draw.below(8) == 0 {
                let (mark, before) = (self.work.mark(), (rows.clone(), rids.clone()));
                self.change(commits, &mut rows, &mut rids);
                self.work.roll_back_to(&mark).unwrap();
                (rows, rids) = before;
            }
        }
        if commits {
            (self.rows, self.rids) = (rows, rids);
            self.work.commit(CommitMode::Delayed).unwrap();
        } else if self.draw.below(4) == 0 {
            self.work.roll_back().unwrap();
        } else {
            let xsn = self.work.xsn().unwrap();
            self.db.home().aborted().enter(entry_of(xsn, &self.work));
            self.work.commit(CommitMode::Delayed).unwrap();
        }
    }

    /// Under locks, and as of now.
    fn check(&mut self) {
        self.work.begin(true, "");
        let now = self.work.statement_snapshot();
        let plan = LockPlan::read(Isolation::ReadCommitted);
        for plan in [plan, LockPlan { as_of: Some(now.at()), ..plan }] {
            let mut cursor = self.hobt.scan(&mut self.work, &ScanRange::default(), &plan).unwrap();
            let (mut found, mut own) = (Vec::new(), Vec::new());
            while cursor.next(&mut self.work).unwrap() {
                found.push(row_of(&*cursor).unwrap());
            }
            drop(cursor);
            let aborted = found.iter().find(|(_, value)| value.0 % 2 == 1);
            assert_eq!(aborted, None, "what was not committed");
            own.extend(found.iter().filter(|(key, _)| key % WRITERS == self.own).copied());
            own.sort_unstable();
            assert_eq!(own, self.rows.clone().into_iter().collect::<Vec<_>>(), "{plan:?}");
            // Under locks of a moment, a row of a heap may be met again where it is put anew.
            let keys: BTreeSet<i32> = found.iter().map(|(key, _)| *key).collect();
            assert!(plan.as_of.is_none() || keys.len() == found.len(), "a key twice");
        }
        drop(now);
        self.work.commit(CommitMode::Delayed).unwrap();
    }
}

/// Threads change rows, each its own, and are aborted by the map or from the log; others read all,
/// and a sweep and the cleaner are at work. Nobody finds what was not committed, and everybody
/// finds his own.
fn at_once(kind: IndexKind, optimized: bool) {
    let mut world = World::new(kind, 7);
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    world.db.home().set_optimized_locking(optimized);
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = |own| Writer {
        db: Arc::clone(&world.db),
        hobt: Arc::clone(&world.hobt),
        heap: kind == IndexKind::Heap,
        work: Work::new(&world.env.engine, SessionId(70 + own as i16), Arc::default()),
        draw: Draw(own as u64 + 99),
        own,
        rows: Rows::new(),
        rids: Rids::new(),
    };
    let writers: Vec<_> = (0..WRITERS).map(writer).collect();
    let spawn = |mut writer: Writer| {
        os::task::spawn("writer", move || {
            for _ in 0..80 {
                writer.transaction();
                writer.check();
            }
            writer.work.rest();
            writer.rows
        })
    };
    let writers: Vec<_> = writers.into_iter().map(spawn).collect();
    let (db, hobt, ended) = (Arc::clone(&world.db), Arc::clone(&world.hobt), Arc::clone(&done));
    let sweeper = os::task::spawn("sweeper", move || {
        let (mut sweep, mut forgotten) = (Sweep::default(), 0);
        while !ended.load(std::sync::atomic::Ordering::Acquire) {
            forgotten += sweep.step((&db, &hobt), 2).map_or(0, |of| of.len());
            let _ = db.clean_ghosts(None, 2).unwrap();
        }
        while !db.home().aborted().is_empty() {
            forgotten += sweep.step((&db, &hobt), 2).map_or(0, |of| of.len());
        }
        (forgotten, sweep.reverted)
    });
    for writer in writers {
        let rows = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        world.committed.extend(rows);
    }
    done.store(true, std::sync::atomic::Ordering::Release);
    let swept = sweeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    println!(
        "{kind:?}: {} transactions forgotten, {} records reverted by sweeps",
        swept.0, swept.1
    );
    assert!(swept.0 > 50 && swept.1 > 50, "{swept:?}");
    let transactions = &world.env.engine.transactions;
    let horizon = transactions.snapshots.store_horizon(&transactions.commits);
    own.reclaim(0, 0, &|by| transactions.commits.is_past(by, horizon)).unwrap();
    assert_eq!(own.len(), 0, "versions that nobody needs");
    world.finish();
}

#[test]
fn threads_meet_reverted_rows_of_a_clustered_index() {
    at_once(IndexKind::Clustered, false);
    at_once(IndexKind::Clustered, true);
}

#[test]
fn threads_meet_reverted_rows_of_a_heap() {
    at_once(IndexKind::Heap, false);
    at_once(IndexKind::Heap, true);
}

/// The world that is found behind a crash: the disk, and the database's own store of versions.
fn after_crash(world: &World, disk: Disk, own: Arc<ToyStore>, map: &AbortedTransaction) -> World {
    let env = environment(Arc::new(disk));
    let dir = Path::new("/data");
    let tempdb = {
        let files = Files::of(dir, "tempdb of a later start");
        let (sizing, options) = (Sizing::default(), DatabaseOptions::default());
        Database::create(&env, DatabaseId(2), "tempdb", &files, &sizing, &options, false).unwrap()
    };
    env.engine.keep_versions_in(version::TempdbStore::new(&tempdb.home().space));
    let files = Files::of(dir, "d");
    let (db, _) = Database::open(&env, DatabaseId(5), "d", &files, &Sizing::default()).unwrap();
    // A checkpoint may have carried it.
    if !db.home().aborted().contains(map.xsn) {
        db.home().aborted().enter(map.clone());
    }
    let (spec, places) = (world.hobt.spec().clone(), world.hobt.places());
    let large = world.hobt.large().map(|large| (large.spec().unit, large.places()));
    let hobt = database::formats().of(&spec).open(db.home(), spec, places, large);
    let reader = Work::new(&env.engine, SessionId(50), Arc::default());
    let mut next = World::with(env, (db, tempdb), hobt, (world.kind, reader), 7);
    next.accelerated(Some(&own));
    next.committed = world.committed.clone();
    next
}

/// Everybody finds what was committed, and the hobt is sound.
fn check(world: &mut World) {
    let now = world.reader.statement_snapshot();
    let plan = LockPlan::read(Isolation::ReadCommitted);
    for plan in [plan, LockPlan { as_of: Some(now.at()), ..plan }] {
        let found = aborted::read(world, &plan, false);
        assert_eq!(found, world.committed, "{plan:?}");
    }
    let report = world.hobt.verify(&Waiter::new(), &mut |_| {}).unwrap();
    assert!(report.findings.is_empty() && report.large.is_empty(), "{report:?}");
}

/// A crash comes in the midst of a sweep, again and again: behind it the map is filled anew, rows
/// are as they were, and a sweep comes to its end.
fn crashing(kind: IndexKind) {
    let disk = fresh_disk();
    let mut world = World::on(kind, 7, Arc::clone(&disk));
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    let rows = 200;
    let long = kind != IndexKind::Nonclustered;
    let mut rids = Rids::new();
    world.sessions[0].work.begin(true, "");
    for key in 0..rows {
        let value = (key as u8, if long && key % 40 == 7 { 9_000 } else { 40 + key as usize });
        rids.extend(aborted::put(&mut world, key, value).map(|rid| (key, rid)));
        world.committed.insert(key, value);
    }
    world.sessions[0].work.commit(CommitMode::Full).unwrap();
    world.sessions[0].work.begin(true, "");
    for key in 0..rows {
        match key % 3 {
            0 => aborted::change(&mut world, &rids, (key, Some((200, 700)))).unwrap(),
            1 => aborted::change(&mut world, &rids, (key, None)).unwrap(),
            _ => drop(aborted::put(&mut world, rows + key, (7, if long { 8_500 } else { 30 }))),
        }
    }
    let work = &mut world.sessions[0].work;
    let map = entry_of(work.xsn().unwrap(), work);
    world.db.home().aborted().enter(map.clone());
    work.commit(CommitMode::Full).unwrap();
    own.watch(world.db.log());
    let (mut sweep, mut crashes, mut half) = (Sweep::default(), 0, 0);
    loop {
        let log = world.db.log();
        log.flush_to(log.last_lsn());
        if crashes % 5 == 4 {
            world.db.checkpoint(false).unwrap();
        }
        let kept = own.copy();
        let last = log.last_lsn();
        // What comes now may be lost, or not.
        let end = sweep.step((&world.db, &world.hobt), 2).is_some();
        // The group of a revert is in the log before its version is freed.
        assert!(own.freed_behind().iter().all(|at| *at > last), "freed before");
        let mut next = after_crash(&world, disk.after_crash(crashes), kept, &map);
        half += u64::from(numbers_on_pages((&next.db, &next.hobt)).contains(&map.xsn));
        check(&mut next);
        // Counted before the sweep, or behind it: it is the same.
        if crashes % 2 == 0 {
            let counted = next.hobt.row_count(&Waiter::new()).unwrap();
            assert_eq!(counted, next.committed.len() as u64, "without what was aborted");
        }
        next.sweep_all();
        check(&mut next);
        let counted = next.hobt.row_count(&Waiter::new()).unwrap();
        assert_eq!(counted, next.committed.len() as u64, "as sys.partitions shows it");
        crashes += 1;
        if end {
            break;
        }
    }
    println!("{kind:?}: {crashes} crashes, {half} in the midst");
    assert!(half > 5, "{crashes} crashes, {half} in the midst of the sweep");
    assert_eq!(own.len(), 0, "versions that nobody needs");
    check(&mut world);
}

#[test]
fn a_crash_in_a_sweep_of_a_clustered_index_loses_nothing() {
    crashing(IndexKind::Clustered);
}

#[test]
fn a_crash_in_a_sweep_of_a_nonclustered_index_loses_nothing() {
    crashing(IndexKind::Nonclustered);
}

#[test]
fn a_crash_in_a_sweep_of_a_heap_loses_nothing() {
    crashing(IndexKind::Heap);
}

/// A rollback from the log frees a version behind its compensation in the log: a crash in between
/// leaves a change that has its version still.
#[test]
fn a_rollback_frees_behind_its_compensation() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        let mut world = World::new(kind, 7);
        let own = ToyStore::new();
        world.accelerated(Some(&own));
        let mut rids = Rids::new();
        world.sessions[0].work.begin(true, "");
        for key in 0..30 {
            rids.extend(aborted::put(&mut world, key, (1, 400)).map(|rid| (key, rid)));
            world.committed.insert(key, (1, 400));
        }
        world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
        own.watch(world.db.log());
        // One row in its place, two in a run, and one that grows: in a heap it is forwarded.
        for keys in [&[3][..], &[4, 5], &[6]] {
            world.sessions[0].work.begin(true, "");
            for key in keys {
                let length = if *key == 6 { 950 } else { 300 };
                aborted::change(&mut world, &rids, (*key, Some((2, length)))).unwrap();
            }
            let last = world.db.log().last_lsn();
            world.sessions[0].work.roll_back().unwrap();
            let freed = own.freed_behind();
            assert_eq!(freed.len(), keys.len(), "{kind:?} {keys:?}");
            assert!(freed.iter().all(|at| *at > last), "{kind:?} {keys:?}: freed before");
            check(&mut world);
        }
        world.finish();
    }
}

/// Short rows from before there were versions, on full pages of a heap: what is deleted has its tag
/// on its page all the same, so that a later start knows whose ghosts they are.
#[test]
fn a_ghost_of_a_short_row_on_a_full_page_has_its_tag() {
    const SHORT_ROWS: i32 = 1_300;
    let mut world = World::new(IndexKind::Heap, 7);
    let wide = spec(IndexKind::Heap);
    let short = HobtSpec {
        hobt: HobtId(301),
        object_id: ObjectId(100_301),
        columns: wide.columns[..1].to_vec(),
        ..wide
    };
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let work = &mut world.reader;
    work.begin(true, "");
    world.db.builder().create_hobt(work, &short).unwrap();
    let hobt = world.db.hobts().get(HobtId(301)).unwrap();
    let put = |n: i32| hobt.insert(work, &[Field::Inline(&n.to_le_bytes())], &plan).unwrap().rid;
    let rids: Vec<[u8; 8]> = (0..SHORT_ROWS).filter_map(put).collect();
    world.reader.commit(CommitMode::Delayed).unwrap();
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    let read = |world: &mut World, hobt: &Arc<dyn StoredHobt>| {
        world.reader.begin(true, "");
        let plan = LockPlan::read(Isolation::ReadCommitted);
        let mut cursor = hobt.scan(&mut world.reader, &ScanRange::default(), &plan).unwrap();
        let mut found = BTreeSet::new();
        while cursor.next(&mut world.reader).unwrap() {
            let bytes = cursor.field(0).unwrap().inline().unwrap().try_into().unwrap();
            found.insert(i32::from_le_bytes(bytes));
        }
        drop(cursor);
        world.reader.commit(CommitMode::Delayed).unwrap();
        found
    };
    let all: BTreeSet<i32> = (0..SHORT_ROWS).collect();
    for by_map in [false, true] {
        let work = &mut world.sessions[0].work;
        work.begin(true, "");
        for rid in rids[..600].iter().step_by(2) {
            let name = [Field::Inline(&rid[..])];
            hobt.delete(work, RowKey { fields: &name, hint: None }, &plan).unwrap();
        }
        if !by_map {
            work.roll_back().unwrap();
            assert_eq!(read(&mut world, &hobt), all, "undone from the log");
            continue;
        }
        let xsn = work.xsn().unwrap();
        world.db.home().aborted().enter(entry_of(xsn, work));
        work.commit(CommitMode::Delayed).unwrap();
    }
    // Nothing that is in memory beside the pages.
    let (spec, places) = (hobt.spec().clone(), hobt.places());
    let again = database::formats().of(&spec).open(world.db.home(), spec, places, None);
    assert_eq!(read(&mut world, &again), all, "aborted by the map");
    let mut sweep = Sweep::default();
    while sweep.step((&world.db, &again), 1).is_none() {}
    assert!(sweep.reverted >= 300 && own.len() == 0, "{} left", own.len());
    assert_eq!(read(&mut world, &again), all, "reverted");
    let report = again.verify(&Waiter::new(), &mut |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(again.row_count(&Waiter::new()).unwrap(), SHORT_ROWS as u64);
}

/// An in-row version that a disk has damaged, under a right checksum: CHECKDB names its record, and
/// whoever needs the row before gets 824. The other rows are there, and the row itself where its
/// writer was not aborted.
#[test]
fn a_damaged_in_row_version_spares_the_rest() {
    let disk = fresh_disk();
    let mut world = World::on(IndexKind::Clustered, 7, Arc::clone(&disk));
    let own = ToyStore::new();
    world.accelerated(Some(&own));
    world.sessions[0].work.begin(true, "");
    for key in [10, 20, 30] {
        let _ = aborted::put(&mut world, key, (1, 5));
        world.committed.insert(key, (1, 5));
    }
    world.sessions[0].work.commit(CommitMode::Full).unwrap();
    let rids = Rids::new();
    world.sessions[0].work.begin(true, "");
    aborted::change(&mut world, &rids, (20, Some((2, 5)))).unwrap();
    assert_eq!(world.hobt.counted(access::Deed::VersionInRow), 1);
    let work = &mut world.sessions[0].work;
    let map = entry_of(work.xsn().unwrap(), work);
    world.db.home().aborted().enter(map.clone());
    work.commit(CommitMode::Full).unwrap();
    world.db.checkpoint(false).unwrap();
    let later = disk.after_crash(1);
    let page = damage_in_row(&later, world.hobt.places().root);
    let mut next = after_crash(&world, later, own.copy(), &map);
    let mut findings = Vec::new();
    let report = next.hobt.verify(&Waiter::new(), &mut |_| {}).unwrap();
    findings.extend(report.findings.iter().map(|f| format!("{f:?}")));
    let named = findings.len() == 1 && findings[0].contains("in-row version is a row");
    assert!(named, "{page:?}: {findings:?}");
    let read = |next: &mut World, key: i32| {
        let name = key.to_le_bytes();
        let fields = [Field::Inline(&name)];
        let bound = Some(access::KeyBound { fields: &fields, inclusive: true });
        let range = ScanRange { lower: bound, upper: bound, backward: false };
        next.reader.begin(true, "");
        let plan = LockPlan::read(Isolation::ReadCommitted);
        let mut cursor = next.hobt.scan(&mut next.reader, &range, &plan).unwrap();
        let found = rows_of(&mut *cursor, &mut next.reader);
        drop(cursor);
        next.reader.commit(CommitMode::Delayed).unwrap();
        found.map_err(|e| e.number())
    };
    assert_eq!(read(&mut next, 10), Ok(Rows::from([(10, (1, 5))])));
    assert_eq!(read(&mut next, 20), Err(824));
    assert_eq!(read(&mut next, 30), Ok(Rows::from([(30, (1, 5))])));
    // A writer would have to revert it first.
    next.sessions[0].work.begin(true, "");
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let name = 20_i32.to_le_bytes();
    let key = RowKey { fields: &[Field::Inline(&name)], hint: None };
    let refused = next.hobt.delete(&mut next.sessions[0].work, key, &plan);
    assert!(matches!(refused, Err(WriteError::Sql(e)) if e.number() == 824));
    next.sessions[0].work.roll_back().unwrap();
    next.db.home().aborted().forget(map.xsn);
    assert_eq!(read(&mut next, 20), Ok(Rows::from([(20, (2, 5))])), "the row itself is sound");
}

/// Lets the only in-row version on a page say that it belongs behind its row.
fn damage_in_row(disk: &Disk, id: base::PageId) -> base::PageId {
    let path = Path::new("/data").join("d.mdf");
    let mode = os::disk::OpenMode { create: false, direct: false };
    let file = os::disk::Disk::open(disk, &path, mode).unwrap();
    let offset = u64::from(id.page) * 8192;
    let mut bytes = Box::new([0; 8192]);
    file.read_at(&mut *bytes, offset).unwrap();
    let view = page::PageView(&bytes);
    let records = (0..view.slot_count()).filter_map(|slot| Some((slot, view.record(slot)?)));
    let mut kept = records.filter_map(|(slot, r)| Some((slot, r, page::in_row_version(r)?)));
    let (slot, record, version) = kept.next().expect("a row has a version");
    let within = version.as_ptr().addr() - record.as_ptr().addr();
    let at = usize::from(view.slot_offset(slot).unwrap()) + within;
    assert!(kept.next().is_none(), "it is the only one");
    drop(kept);
    bytes[at + 1] = 0xFF;
    bytes[at + 2] |= 0x1F;
    page::seal(&mut bytes);
    file.write_at(&*bytes, offset).unwrap();
    id
}
