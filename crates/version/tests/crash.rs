//! A crash leaves a sound store of a database's own, with every version that was promised, as it
//! was: put, freed, with another superseder or another tag.
//!
//! Each task has versions of its own. What it did before its last flush is promised; of what came
//! later a crash keeps a prefix. The background takes out what is past, and gives extents back.
//!
//! `GHOSTLIGHT_SEEDS` makes it many more.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use base::{AllocUnitId, DatabaseId, FileId, HobtId, Lsn, PageId, Xsn};
use buffer::{Change, PageRef, Pages, PagesOptions, Pool, Undo};
use os::disk::{Disk as _, File, OpenMode};
use os::memory::Memory;
use os::sync::Mutex;
use os::wait::Waiter;
use page::PageView;
use sim::harness::{Plan, crash_runs};
use sim::{Disk, DiskOptions, Random};
use space::{AllocUnit, FileFacts, GrowthOptions, Space, SpaceRedo, format_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use version::{
    DatabaseStore, Origin, PageCopy, Place, StoreNote, VERSION_UNIT, VersionError, VersionPtr,
    VersionRedo, VersionStore,
};
use wal::{Group, Log, LogOptions, LogReader, RedoTable, TransactionChain, WalError};

const DATABASE: DatabaseId = DatabaseId(5);
const ORIGIN: Origin = Origin { database: DATABASE, hobt: HobtId(70) };
const TASKS: u8 = 3;
/// The task of what a verification puts.
const LATER: u8 = 99;
const TAG_BYTES: usize = 14;
const PAGES_MAX: u32 = 960;
const FAMILY: [u8; 16] = [9; 16];

/// What the runs have met, so that none of it is missed.
#[derive(Default)]
struct Coverage {
    versions: AtomicU64,
    reclaimed: AtomicU64,
    given_back: AtomicU64,
    refused: AtomicU64,
    unsure: AtomicU64,
}

static COVERED: Coverage = Coverage {
    versions: AtomicU64::new(0),
    reclaimed: AtomicU64::new(0),
    given_back: AtomicU64::new(0),
    refused: AtomicU64::new(0),
    unsure: AtomicU64::new(0),
};

/// Superseders that every snapshot sees.
fn is_past(by: Xsn) -> bool {
    by.0 % 8 == 7
}

struct Note;

impl StoreNote for Note {
    fn page(&self) -> PageId {
        space::boot_page()
    }

    fn first_iam(&self, page: PageView<'_>) -> Option<PageId> {
        let first = u32::from_le_bytes(page.0[112..116].try_into().unwrap());
        (first != 0).then(|| PageId::new(1, first))
    }

    fn put(&self, change: &mut Change<'_>, page: PageRef, first_iam: PageId) {
        let (at, to) = (112_u16.to_le_bytes(), first_iam.page.to_le_bytes());
        let kind = space::kinds::SET_FACTS;
        change.apply(page, AllocUnitId(0), kind, 0, &[&at, &to], Undo::Never);
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Version {
    by: Xsn,
    record: Vec<u8>,
    /// Where it is, once that was told.
    at: Option<VersionPtr>,
}

#[derive(Clone, Debug)]
enum Step {
    Put(u32, Version),
    Free(u32),
    Relink(u32, Xsn),
    Retag(u32, [u8; TAG_BYTES]),
}

type Model = BTreeMap<u32, Version>;

impl Step {
    fn apply(&self, model: &mut Model) {
        match self {
            Step::Put(id, version) => drop(model.insert(*id, version.clone())),
            Step::Free(id) => drop(model.remove(id)),
            Step::Relink(id, by) => model.get_mut(id).unwrap().by = *by,
            Step::Retag(id, tag) => {
                let record = &mut model.get_mut(id).unwrap().record;
                let end = record.len() - TAG_BYTES;
                record[end..].copy_from_slice(tag);
            }
        }
    }
}

/// What a task was promised, and what it has done since.
#[derive(Default)]
struct TaskHistory {
    promised: Model,
    later: Vec<Step>,
}

#[derive(Default)]
struct Oracle(Mutex<(bool, BTreeMap<u8, TaskHistory>)>);

struct Rig {
    log: Arc<Log>,
    pages: Arc<Pages>,
    space: Arc<Space>,
    store: Arc<DatabaseStore>,
    /// Groups that recovery applied to pages.
    redone: usize,
}

fn log_options() -> LogOptions {
    LogOptions { initial_bytes: 1 << 20, growth_bytes: 1 << 20, ..LogOptions::default() }
}

fn open_file(disk: &Disk, name: &str, create: bool) -> Arc<dyn File> {
    disk.open(Path::new(name), OpenMode { create, direct: false }).unwrap()
}

fn create(disk: &Disk) {
    let data = open_file(disk, "data", true);
    format_file(&*data, &FileFacts { family: FAMILY, file: FileId(1), size_pages: 64 }).unwrap();
    Log::create(open_file(disk, "log", true), FAMILY, log_options()).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
}

/// Torn pages are restored, the log is repeated.
fn open(disk: &Disk, max_pages: u32) -> Rig {
    let data = open_file(disk, "data", false);
    let files = BTreeMap::from([(1, Arc::clone(&data))]);
    buffer::restore_torn_pages(DATABASE, &files).unwrap();
    let log = Log::open(open_file(disk, "log", false), log_options()).unwrap();
    let pool = Pool::new(&Memory::new(64 << 20), 48).unwrap();
    let redo = RedoTable::new()
        .with(space::kinds::RANGE, &SpaceRedo)
        .with(version::VERSION_KINDS, &VersionRedo);
    let options = PagesOptions { database: DATABASE, durable: true, salvaged: false };
    let pages = Pages::new(&pool, &log, &Arc::new(redo), options);
    pages.attach(FileId(1), "data", data);
    let mut redone = 0;
    let mut reader = LogReader::new(&log, log.checkpoint().min_lsn);
    let mut more = true;
    while more {
        more = reader
            .next_block::<WalError>(|group| {
                let ids: BTreeSet<PageId> = group.records.iter().filter_map(|r| r.page()).collect();
                for id in ids {
                    redone += usize::from(pages.redo_group(id, group).unwrap());
                }
                Ok(())
            })
            .unwrap();
    }
    let growth = GrowthOptions { pages: 64, percent: 0, max_pages };
    let space = Space::open(&pages, growth).unwrap();
    let store = DatabaseStore::new(&space, Box::new(Note));
    Rig { log, pages, space, store, redone }
}

impl Rig {
    fn checkpoint(&self) {
        let flushed = self.pages.flush_dirty();
        let mut group = Group::new();
        group.push_plain(wal::kinds::CHECKPOINT_END, 0, &[]).unwrap();
        let at = self.log.append(&mut group, &mut TransactionChain::default());
        self.log.flush_to(at.last);
        self.log.set_checkpoint(at.last, flushed.lsn.min(at.last), false).unwrap();
        self.log.truncate(flushed.lsn);
    }

    /// Goes over the whole store, as the background does.
    fn reclaim(&self) {
        let mut from = Some(0);
        while let Some(at) = from {
            let step = self.store.reclaim(at, 16, &is_past).unwrap();
            from = step.next;
            COVERED.reclaimed.fetch_add(step.versions as u64, Relaxed);
            COVERED.given_back.fetch_add(step.freed as u64, Relaxed);
        }
    }

    /// All versions, by task and number.
    fn versions(&self) -> BTreeMap<u8, Model> {
        let (mut found, mut copy) = (BTreeMap::<u8, Model>::new(), PageCopy::default());
        for page in self.store.pages().unwrap() {
            assert!(self.store.copy_page(page, &mut copy).unwrap(), "{page} is the store's");
            for (at, version) in copy.versions() {
                let record = version.record.to_vec();
                let id = u32::from_le_bytes(record[1..5].try_into().unwrap());
                let (task, by) = (record[0], version.superseder);
                let version = Version { by, record, at: Some(at) };
                let before = found.entry(task).or_default().insert(id, version);
                assert_eq!(before, None, "a version is there once");
            }
        }
        found
    }

    /// Pages, records and maps are sound.
    fn check(&self) {
        let noted = self.pages.read(space::boot_page()).unwrap();
        let first = Note.first_iam(noted.view());
        drop(noted);
        let unit = first.map(|first| AllocUnit::open(VERSION_UNIT, first));
        let units: Vec<&AllocUnit> = unit.iter().collect();
        let found = self.space.check(&units, &Waiter::new()).unwrap();
        assert!(found.is_empty(), "{found:?}");
        if let Some(first) = first {
            let (pages, findings) =
                version::verify_store(&self.space, first, &Waiter::new()).unwrap();
            assert_eq!(findings, []);
            assert_eq!(pages, self.store.usage().pages);
        }
    }
}

fn record(task: u8, id: u32, random: &mut Random) -> Vec<u8> {
    let least = if random.one_in(2) { 4000 } else { 5 + TAG_BYTES as u64 };
    let mut record = vec![task; (least + random.below(300)) as usize];
    record[1..5].copy_from_slice(&id.to_le_bytes());
    record
}

/// One session. What it does is noted before it is done.
struct Session<'r> {
    rig: &'r Rig,
    oracle: &'r Oracle,
    me: u8,
    place: Place,
    /// Versions that are not past.
    live: Model,
    next: u32,
}

impl Session<'_> {
    fn note(&self, step: Step) {
        self.oracle.0.lock().1.entry(self.me).or_default().later.push(step);
    }

    fn put(&mut self, random: &mut Random) {
        let (id, by) = (self.next, Xsn(u64::from(self.next) * 8 + u64::from(self.me)));
        let record = record(self.me, id, random);
        match self.rig.store.make_room(&mut self.place, record.len()) {
            Ok(()) => {}
            Err(VersionError::Full) => {
                COVERED.refused.fetch_add(1, Relaxed);
                return;
            }
            Err(e) => panic!("{e:?}"),
        }
        let mut version = Version { by, record, at: None };
        self.note(Step::Put(id, version.clone()));
        let kept = (&version.record[..], 0);
        let at = self.rig.store.append(&mut self.place, ORIGIN, by, kept).unwrap();
        version.at = Some(at);
        if let Some(Step::Put(_, noted)) =
            self.oracle.0.lock().1.get_mut(&self.me).unwrap().later.last_mut()
        {
            noted.at = Some(at);
        }
        self.live.insert(id, version);
        self.next += 1;
    }

    fn change(&mut self, random: &mut Random) {
        let n = random.below(self.live.len().max(1) as u64) as usize;
        let Some((&id, version)) = self.live.iter().nth(n) else { return };
        let (at, by) = (version.at.unwrap(), version.by);
        let store = &self.rig.store;
        match random.below(5) {
            0 | 1 => {
                self.note(Step::Free(id));
                store.free(at, by).unwrap();
                self.live.remove(&id);
            }
            2 => {
                let tag = [random.below(256) as u8; TAG_BYTES];
                self.note(Step::Retag(id, tag));
                store.retag(at, by, &tag).unwrap();
                store.note_needed(at, by, 77).unwrap();
            }
            3 => {
                let now = Xsn(by.0 + 8 * 100_000);
                self.note(Step::Relink(id, now));
                store.relink(at, by, now).unwrap();
                self.live.get_mut(&id).unwrap().by = now;
            }
            _ => self.pass_by(),
        }
    }

    /// The first version is past from now on.
    fn pass_by(&mut self) {
        let Some((id, Version { by, at, .. })) = self.live.pop_first() else { return };
        let past = Xsn(by.0 - by.0 % 8 + 7);
        self.note(Step::Relink(id, past));
        self.rig.store.relink(at.unwrap(), by, past).unwrap();
    }

    fn flush(&self) {
        self.rig.log.flush_all();
        let mut known = self.oracle.0.lock();
        let Some(history) = known.1.get_mut(&self.me) else { return };
        let TaskHistory { promised, later } = history;
        later.drain(..).for_each(|step| step.apply(promised));
    }
}

fn session(rig: &Rig, oracle: &Oracle, (seed, me): (u64, u8)) {
    let mut random = Random::new(seed * 10 + u64::from(me));
    let (place, live) = (Place::default(), Model::new());
    let mut session = Session { rig, oracle, me, place, live, next: 1 };
    for step in 0..300 {
        let grows = step < 150;
        match random.below(12) {
            0..=7 if grows => session.put(&mut random),
            0..=1 => session.put(&mut random),
            10 => rig.store.leave(&mut session.place).unwrap(),
            11 => session.flush(),
            _ => session.change(&mut random),
        }
    }
    // In one of three runs nobody wants anything any more: extents go back.
    while seed % 3 == 0 && !session.live.is_empty() {
        session.pass_by();
    }
    rig.store.leave(&mut session.place).unwrap();
}

fn workload(disk: Arc<Disk>, seed: u64, oracle: Arc<Oracle>) {
    create(&disk);
    // In one of three runs the file is soon as long as it may be.
    let rig = Arc::new(open(&disk, if seed % 3 == 2 { 88 } else { PAGES_MAX }));
    oracle.0.lock().0 = true;
    let tasks: Vec<_> = (0..TASKS)
        .map(|me| {
            let (rig, oracle) = (Arc::clone(&rig), Arc::clone(&oracle));
            os::task::spawn("session", move || session(&rig, &oracle, (seed, me)))
        })
        .collect();
    for n in 0..8 {
        os::task::sleep_ns(300_000);
        if n % 2 == 0 {
            rig.reclaim();
        } else {
            rig.checkpoint();
        }
    }
    for task in tasks {
        if let Err(payload) = task.join() {
            std::panic::resume_unwind(payload);
        }
    }
    rig.reclaim();
}

/// Whether what was found is a state; what is past may have gone.
fn is_state(found: &Model, state: &Model) -> bool {
    let same = |(id, found): (&u32, &Version)| {
        state.get(id).is_some_and(|wanted| {
            let at = wanted.at.is_none() || wanted.at == found.at;
            at && (wanted.by, &wanted.record) == (found.by, &found.record)
        })
    };
    found.iter().all(same)
        && state.iter().all(|(id, wanted)| found.contains_key(id) || is_past(wanted.by))
}

fn verify(disk: Arc<Disk>, oracle: Arc<Oracle>) {
    let known = oracle.0.lock();
    if !known.0 {
        return;
    }
    let first = open(&disk, PAGES_MAX);
    let found = first.versions();
    for (task, history) in &known.1 {
        let nothing = Model::new();
        let found = found.get(task).unwrap_or(&nothing);
        let mut state = history.promised.clone();
        let mut is_there = is_state(found, &state);
        for step in &history.later {
            step.apply(&mut state);
            is_there |= is_state(found, &state);
        }
        COVERED.unsure.fetch_add(history.later.len() as u64, Relaxed);
        COVERED.versions.fetch_add(found.len() as u64, Relaxed);
        assert!(is_there, "task {task}: {found:?} is no state from {:?} on", history.promised);
        for (at, record) in found.values().map(|v| (v.at.unwrap(), &v.record)) {
            let mut read = Vec::new();
            first.store.read(at, ORIGIN, &mut read).unwrap();
            assert_eq!(&read, record);
        }
    }
    first.check();
    drop(first);
    // A second recovery finds the same.
    let second = open(&disk, PAGES_MAX);
    assert_eq!(second.versions(), found);
    goes_on(&second, &found);
    drop(second);
    let third = open(&disk, PAGES_MAX);
    let kept = |all: BTreeMap<u8, Model>| -> BTreeMap<u8, Model> {
        let live = |of: Model| of.into_iter().filter(|(_, v)| !is_past(v.by)).collect::<Model>();
        let tasks = all.into_iter().filter(|(task, _)| *task != LATER);
        tasks.map(|(task, of)| (task, live(of))).filter(|(_, of)| !of.is_empty()).collect()
    };
    assert_eq!(kept(third.versions()), kept(found), "what follows changes nothing of it");
    third.check();
}

/// The recovered store can be used like any other.
fn goes_on(rig: &Rig, found: &BTreeMap<u8, Model>) {
    let (mut place, mut random) = (Place::default(), Random::new(rig.redone as u64));
    // What an earlier verification put, too.
    let next = found.get(&LATER).and_then(|of| of.keys().next_back()).map_or(0, |last| last + 1);
    for id in next..next + 30 {
        let record = record(LATER, id, &mut random);
        if rig.store.make_room(&mut place, record.len()).is_ok() {
            let by = Xsn(u64::from(id) * 8 + 6);
            rig.store.append(&mut place, ORIGIN, by, (&record, 0)).unwrap();
        }
    }
    for version in found.values().flat_map(BTreeMap::values).filter(|v| v.record[0] == LATER) {
        rig.store.free(version.at.unwrap(), version.by).unwrap();
    }
    rig.reclaim();
    rig.check();
    rig.log.flush_all();
    assert!(rig.log.next_lsn() > Lsn::ZERO);
}

#[test]
fn versions_survive_crashes_anywhere() {
    let seeds = std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
    let plan = Plan {
        seeds: 0..seeds.unwrap_or(9),
        cases: 30,
        disk: DiskOptions { latency: true, ..DiskOptions::default() },
        ..Plan::default()
    };
    let counts = crash_runs(&plan, workload, verify);
    println!("{counts:?}");
    if std::env::var(sim::harness::REPLAY).is_ok() {
        return;
    }
    assert!(counts.crash_points() >= plan.seeds.end * plan.cases);
    let Coverage { versions, reclaimed, given_back, refused, unsure } = &COVERED;
    let met = [versions, reclaimed, given_back, refused, unsure].map(|n| n.load(Relaxed));
    println!("versions, reclaimed, given back, refused, unsure: {met:?}");
    assert!(met.iter().all(|n| *n > 0), "{met:?}");
}
