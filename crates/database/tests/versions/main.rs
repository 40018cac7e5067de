//! Every snapshot reads exactly the rows of its moment, whatever is changed, taken back, split,
//! moved or cleaned around it; and when the last one has ended nothing is left of former rows.
//!
//! Sessions take turns at random, one step at a time, over a clustered index, a nonclustered one or
//! a heap, with values off the rows. After each step some snapshots read the whole table, forwards
//! or backwards, or a few keys, and find what a map says that was copied when they were taken. A
//! session in a transaction finds its own changes besides. Who locks what he reads finds what is
//! committed, or somebody in his way. Some transactions are under SNAPSHOT:
//! they change a row only where nobody has changed it since their moment, and are refused nothing
//! else. Where tempdb has no room for versions (`tight`), who reads may be refused what was not
//! kept, and finds nothing else than he must.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod aborted;
mod bounds;
mod cycles;
#[cfg(feature = "mutations")]
mod faults;
mod moments;
mod own_store;
mod parts;
mod reverts;
mod sweep;
mod tight;
mod toy_store;
mod two_stores;
mod world;

use access::{
    Field, Isolation, LockPlan, RowCursor, RowKey, ScanMode, ScanRange, StoredHobt, WriteError,
};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId, SqlError, SqlResult};
use catalog::view::{IndexKind, KeyField, SystemObjects};
use catalog::{DatabaseOptions, HobtColumn, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use lock::Timeout;
use os::counters::Event;
use os::memory::Memory;
use os::wait::Waiter;
use rowstore::KeepReason;
use sim::{Disk, DiskOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tight::TightStore;
use txn::{Mutation, Retention};
use types::{Collation, SqlType};
use version::VersionStore as _;
use work::{
    CommitMode, Engine, GhostRule, Mark, STATEMENT_VERSIONS, Snapshot, TRANSACTION_VERSIONS, Work,
};
use world::{environment, fresh_disk};

const HOBT: HobtId = HobtId(300);
const SESSIONS: usize = 5;
const KEYS: usize = 60;

/// So many histories a fault has to be caught.
const FAULTY_SEEDS: u64 = 2_000;

/// Numbers that look random and are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % n
    }
}

/// A value is a byte and how often it stands there: by number and length.
type Value = (u8, usize);
type Rows = BTreeMap<i32, Value>;
type Rids = BTreeMap<i32, [u8; 8]>;

fn spec(kind: IndexKind) -> HobtSpec {
    let column =
        |sql_type| HobtColumn { sql_type, nullable: false, collation: Collation::default() };
    let key = match kind {
        IndexKind::Heap => Vec::new(),
        _ => vec![KeyField { field: 0, descending: false }],
    };
    let value = match kind {
        IndexKind::Nonclustered => SqlType::varchar(1000),
        _ => SqlType::VARCHAR_MAX,
    };
    HobtSpec {
        database: DatabaseId(5),
        object_id: ObjectId(100_300),
        index_id: IndexId(1),
        hobt: HOBT,
        kind,
        columns: vec![column(SqlType::Int), column(value)],
        added: Vec::new(),
        declared_key: key.len(),
        key,
        unique: true,
        fill_factor: 0,
        padded: false,
    }
}

/// What a session has done in its transaction, and how it was at its savepoint.
#[derive(Clone, Default)]
struct Changes {
    rows: BTreeMap<i32, Option<Value>>,
    rids: Vec<(i32, Option<[u8; 8]>)>,
}

struct Session {
    work: Work,
    changes: Changes,
    savepoint: Option<(Mark, Changes)>,
    /// Its transaction is under SNAPSHOT.
    moment: Option<Moment>,
}

/// As of which a transaction reads.
struct Moment {
    snapshot: Snapshot,
    rows: Rows,
    rids: Rids,
    /// Commits before it.
    commits: u64,
}

impl Session {
    fn plan(&self) -> LockPlan {
        let Some(moment) = &self.moment else { return LockPlan::change(Isolation::ReadCommitted) };
        let at = Some(moment.snapshot.at());
        LockPlan { as_of: at, unchanged_since: at, ..LockPlan::change(Isolation::Snapshot) }
    }
}

struct World {
    env: Environment,
    db: Arc<Database>,
    hobt: Arc<dyn StoredHobt>,
    /// Where it was made, for who writes its definition.
    places: Option<catalog::HobtPlaces>,
    kind: IndexKind,
    committed: Rows,
    commits: u64,
    /// By which commit each key was changed last.
    changed_by: BTreeMap<i32, u64>,
    conflicts: u64,
    /// How often somebody has locked all that was committed.
    locked: u64,
    /// A ghost lay off its leaf while somebody looked.
    buried: bool,
    rids: Rids,
    /// Where rows of a heap are that are committed.
    committed_rids: Rids,
    sessions: Vec<Session>,
    snapshots: Vec<(Snapshot, Rows)>,
    reader: Work,
    draw: Draw,
    next: u8,
    tempdb: Arc<Database>,
    tight: Option<TightStore>,
    /// Transactions are aborted by the map, now and then, and swept.
    sweep: Option<reverts::Sweep>,
    /// Where the next step of the in-row pass begins.
    in_row_at: Option<access::SweepPosition>,
}

impl World {
    fn plant(&self, fault: Option<Mutation>) {
        #[cfg(feature = "mutations")]
        if let Some(fault) = fault {
            self.env.engine.transactions.mutations.plant(fault);
        }
        assert!(cfg!(feature = "mutations") || fault.is_none(), "a build without faults");
    }

    fn value(&mut self) -> Value {
        self.next = self.next.wrapping_add(1);
        let long = self.kind != IndexKind::Nonclustered;
        let length = match self.draw.below(12) {
            0 if long => 8_100 + self.draw.below(9_000),
            1 if long => 2_000 + self.draw.below(2_000),
            // As long as a row can be, or as two that share no page.
            2 if long => [8_045, 8_046, 4_100, 7_000][self.draw.below(4)],
            // So long that an index has several leaves.
            0..3 => 700 + self.draw.below(300),
            _ => 1 + self.draw.below(200),
        };
        (self.next, length)
    }

    /// One change by a session; nothing where another holds what it wants.
    fn change(&mut self, n: usize) {
        let (key, to) = (self.draw.below(KEYS) as i32, self.draw.below(KEYS) as i32);
        let (what, value) = (self.draw.below(10), self.value());
        let plan = self.sessions[n].plan();
        let is_heap = self.kind == IndexKind::Heap;
        let rid = self.rid_for(n, key, what < 4);
        let moves = what >= 8 && !is_heap;
        let anothers = self.is_anothers(n, key) || (moves && self.is_anothers(n, to));
        let new_key = if moves { to } else { key };
        let (old, new) = (key.to_le_bytes(), new_key.to_le_bytes());
        let bytes = vec![value.0; value.1];
        let row = [Field::Inline(&new), Field::Inline(&bytes)];
        let puts = what < 4;
        let refused = self.is_refused(n, key, puts, (moves && to != key).then_some(to));
        // A heap has no keys: its transaction would have the row twice, or another would.
        if is_heap && puts && (refused || anothers) {
            return;
        }
        let Session { work, changes, .. } = &mut self.sessions[n];
        let mark = work.mark();
        let rid_bytes = rid.unwrap_or_default();
        let name = match is_heap {
            true => [Field::Inline(&rid_bytes)],
            false => [Field::Inline(&old)],
        };
        let found = RowKey { fields: &name, hint: None };
        if is_heap && puts == rid.is_some() {
            return;
        }
        let done = match what {
            0..4 => self.hobt.insert(work, &row, &plan).map(|i| (i.rid, Some(value))),
            4..6 => self.hobt.delete(work, found, &plan).map(|()| (None, None)),
            _ => self.hobt.update(work, found, &row, &plan).map(|i| (i.rid, Some(value))),
        };
        match done {
            Ok((rid, now)) => {
                assert!(!refused, "key {key} to {new_key} was changed since {plan:?}");
                assert!(!anothers, "key {key} to {new_key} is being changed by another");
                if moves {
                    changes.rows.insert(key, None);
                }
                changes.rows.insert(new_key, now);
                if is_heap {
                    let named = what < 6 || rid == self.rids.get(&key).copied();
                    assert!(named, "a row keeps its RID, wherever it goes");
                    let before = match rid {
                        Some(rid) => self.rids.insert(key, rid),
                        None => self.rids.remove(&key),
                    };
                    changes.rids.push((key, before));
                }
            }
            Err(WriteError::Duplicate | WriteError::Vanished) => {
                assert!(!is_heap || !refused, "{key}, which {plan:?} reads, was changed since");
                work.roll_back_to(&mark).unwrap();
            }
            Err(WriteError::Sql(e)) => {
                let gives_way = self.tight.as_ref().is_some_and(|tight| tight.refused(&e));
                assert!(gives_way || e.number() == 1222, "{e:?}");
                work.roll_back_to(&mark).unwrap();
            }
            Err(WriteError::Conflict) => {
                assert!(refused, "key {key} to {new_key} was not changed since {plan:?}");
                self.conflicts += 1;
                work.roll_back_to(&mark).unwrap();
            }
            Err(e) => panic!("{e:?}"),
        }
    }

    /// Whether putting, or changing, a key is refused to a session, or taking it to another.
    fn is_refused(&self, n: usize, key: i32, puts: bool, to: Option<i32>) -> bool {
        let covers_gone = |key| self.is_stale(n, key) && self.reads(n, key);
        match puts {
            true => covers_gone(key),
            false => self.is_stale(n, key) || to.is_some_and(covers_gone),
        }
    }

    /// What a session calls a row of a heap: its RID, or, to change it, the one that it had at the
    /// session's moment.
    fn rid_for(&self, n: usize, key: i32, puts: bool) -> Option<[u8; 8]> {
        let moment = self.sessions[n].moment.as_ref().filter(|_| self.is_stale(n, key));
        let gone = moment.and_then(|m| m.rids.get(&key)).filter(|_| !puts);
        self.rids.get(&key).or(gone).copied()
    }

    /// Whether another session is changing a key.
    fn is_anothers(&self, n: usize, key: i32) -> bool {
        let mut others = self.sessions.iter().enumerate().filter(|(i, _)| *i != n);
        others.any(|(_, s)| s.changes.rows.contains_key(&key))
    }

    /// Whether a key was changed by another since the moment of a session's transaction.
    fn is_stale(&self, n: usize, key: i32) -> bool {
        let session = &self.sessions[n];
        let by = self.changed_by.get(&key).copied().unwrap_or(0);
        !session.changes.rows.contains_key(&key)
            && session.moment.as_ref().is_some_and(|m| by > m.commits)
    }

    /// Whether a session's transaction has a key at its moment.
    fn reads(&self, n: usize, key: i32) -> bool {
        self.sessions[n].moment.as_ref().is_some_and(|m| m.rows.contains_key(&key))
    }

    /// A transaction begins, a third of them under SNAPSHOT; fewer where who has written and reads
    /// as of a moment is no victim.
    fn begin(&mut self, n: usize) {
        self.sessions[n].work.begin(true, "");
        let one_of = if self.tight.is_some() { 20 } else { 3 };
        if self.draw.below(one_of) == 0 && self.db.home().is_versioned() {
            let snapshot = self.sessions[n].work.statement_snapshot();
            let (rows, rids) = (self.committed.clone(), self.committed_rids.clone());
            let moment = Moment { snapshot, rows, rids, commits: self.commits };
            self.sessions[n].moment = Some(moment);
        }
    }

    /// Where rows of a heap are again, once changes were taken back.
    fn take_back(&mut self, done: &Changes, kept: usize) {
        for (key, before) in done.rids[kept..].iter().rev() {
            match before {
                Some(rid) => self.rids.insert(*key, *rid),
                None => self.rids.remove(key),
            };
        }
    }

    fn end(&mut self, n: usize, commits: bool) {
        let session = &mut self.sessions[n];
        session.savepoint = None;
        session.moment = None;
        let changes = std::mem::take(&mut session.changes);
        if !commits {
            self.abort(n);
            return self.take_back(&changes, 0);
        }
        session.work.commit(CommitMode::Delayed).unwrap();
        self.commits += 1;
        for (key, now) in changes.rows {
            self.changed_by.insert(key, self.commits);
            match self.rids.get(&key) {
                Some(rid) => self.committed_rids.insert(key, *rid),
                None => self.committed_rids.remove(&key),
            };
            match now {
                Some(value) => self.committed.insert(key, value),
                None => self.committed.remove(&key),
            };
        }
    }

    fn savepoint(&mut self, n: usize) {
        let session = &mut self.sessions[n];
        match session.savepoint.take() {
            None => session.savepoint = Some((session.work.mark(), session.changes.clone())),
            Some((mark, before)) => {
                session.work.roll_back_to(&mark).unwrap();
                let done = std::mem::replace(&mut session.changes, before);
                let kept = self.sessions[n].changes.rids.len();
                self.take_back(&done, kept);
            }
        }
    }

    fn step(&mut self) {
        if let Some(tight) = self.tight.as_mut().filter(|_| self.draw.below(30) == 0) {
            // Nobody has a page of the store then.
            self.sessions.iter_mut().for_each(|s| s.work.rest());
            tight.turn();
        }
        let n = self.draw.below(SESSIONS);
        match self.draw.below(20) {
            _ if !self.sessions[n].work.is_active() => self.begin(n),
            0..12 => self.change(n),
            12..14 => self.savepoint(n),
            14 | 15 => self.end(n, true),
            16 => self.end(n, false),
            17 if self.snapshots.len() < 6 => {
                self.snapshots.push((self.reader.statement_snapshot(), self.committed.clone()));
            }
            17 | 18 if !self.snapshots.is_empty() => {
                let ended = self.draw.below(self.snapshots.len());
                self.snapshots.swap_remove(ended);
            }
            _ => self.clean(),
        }
        self.sweep_a_little();
    }

    /// A step, and a look at what all see.
    fn step_with_room(&mut self) {
        let tight = self.tight.take();
        self.step();
        self.look(false);
        self.tight = tight;
    }

    /// Rows have versions from now on; by the way they are locked, too, or by their writers alone.
    fn with_versions(&mut self) {
        assert!(self.sessions.iter().all(|s| !s.work.is_active()), "nobody is inside");
        self.db.home().set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS);
        let optimized = self.draw.below(2) == 0;
        self.db.home().set_optimized_locking(optimized);
    }

    /// Nobody reads versions while there are none.
    fn without_versions(&mut self, steps: usize) {
        assert!(self.sessions.iter().all(|s| !s.work.is_active()), "nobody is inside");
        self.snapshots.clear();
        self.db.home().set_optimized_locking(false);
        self.db.home().set_versioning(0);
        for _ in 0..steps {
            self.step();
            self.snapshots.clear();
        }
        self.end_all();
    }

    fn end_all(&mut self) {
        for n in 0..SESSIONS {
            if self.sessions[n].work.is_active() {
                self.end(n, n % 3 != 0);
            }
        }
    }

    /// What the background does.
    fn clean(&mut self) {
        let _ = self.db.clean_ghosts(None, 4);
        self.db.home().graveyards().sweep(&self.env.engine);
        let transactions = &self.env.engine.transactions;
        let (commits, snapshots) = (&transactions.commits, &transactions.snapshots);
        commits.collapse(|| snapshots.points());
        let horizon = snapshots.store_horizon(commits);
        let store = self.env.engine.shared_store();
        let mut from = Some(0);
        while let Some(at) = from {
            // What is the current row stays.
            let aborted = self.db.home().aborted();
            let is_past = |by| commits.is_past(by, horizon) && !aborted.contains(by);
            from = store.reclaim(at, 8, &is_past).unwrap().next;
        }
    }

    /// Some snapshots, and a session with its own changes, read and find what they must.
    fn look(&mut self, all: bool) {
        if self.next.is_multiple_of(4) {
            self.look_locked();
        }
        let backward = self.draw.below(3) == 0 && self.kind != IndexKind::Heap;
        let mut expected: Vec<(Option<usize>, work::CommitTime, Rows)> = Vec::new();
        for (snapshot, rows) in &self.snapshots {
            if all || self.draw.below(4) == 0 {
                expected.push((None, snapshot.at(), rows.clone()));
            }
        }
        let now = self.reader.statement_snapshot();
        expected.push((None, now.at(), self.committed.clone()));
        let n = self.draw.below(SESSIONS);
        let own_now = self.sessions[n].work.statement_snapshot();
        let moment = self.sessions[n].moment.as_ref();
        let mut own = moment.map_or(&self.committed, |m| &m.rows).clone();
        let at = moment.map_or(own_now.at(), |m| m.snapshot.at());
        for (key, value) in &self.sessions[n].changes.rows {
            match value {
                Some(value) => own.insert(*key, *value),
                None => own.remove(key),
            };
        }
        expected.push((Some(n), at, own));
        for (by, at, rows) in expected {
            let work = match by {
                Some(n) => &mut self.sessions[n].work,
                None => &mut self.reader,
            };
            let plan = LockPlan { as_of: Some(at), ..LockPlan::read(Isolation::ReadCommitted) };
            let range = ScanRange { backward, ..ScanRange::default() };
            let mut cursor = self.hobt.scan(work, &range, &plan).unwrap();
            let order = (self.kind != IndexKind::Heap).then_some(backward);
            let found = match (rows_in_order(&mut *cursor, work, order), &self.tight) {
                (Err(e), Some(tight)) if tight.refused(&e) => {
                    drop(cursor);
                    work.locks().release_short(work.owner());
                    continue;
                }
                (found, _) => found.unwrap(),
            };
            assert_eq!(found, rows, "as of {at:?}, by {by:?}");
            self.buried |= self.env.engine.graves.used_bytes() > 0;
            if self.kind == IndexKind::Heap {
                drop(cursor);
                rids_lead_to_rows(&*self.hobt, work, &plan, &self.tight).unwrap();
            } else {
                let key = self.draw.below(KEYS) as i32;
                let bytes = key.to_le_bytes();
                let fields = [Field::Inline(&bytes)];
                let mut cursor = self.hobt.scan(work, &ScanRange::equal(&fields), &plan).unwrap();
                let found = rows_of(&mut *cursor, work).unwrap();
                assert_eq!(found.get(&key), rows.get(&key), "key {key} as of {at:?}");
            }
            work.locks().release_short(work.owner());
        }
    }

    /// Who locks what he reads finds what was committed last, or somebody in his way: also where
    /// he passes ghosts without asking for their locks.
    fn look_locked(&mut self) {
        for level in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
            self.reader.begin(true, "");
            let plan = LockPlan { no_wait: true, ..LockPlan::read(level) };
            let whole = ScanRange::default();
            let mut cursor = self.hobt.scan(&mut self.reader, &whole, &plan).unwrap();
            match rows_of(&mut *cursor, &mut self.reader) {
                Ok(found) => {
                    assert_eq!(found, self.committed, "under {level:?}");
                    self.locked += 1;
                }
                Err(e) => assert_eq!(e.number(), 1222, "{e:?}"),
            }
            drop(cursor);
            self.reader.roll_back().unwrap();
        }
    }

    /// A part of the keys, of a heap all of it, is read while others change rows, and what they
    /// leave is moved.
    fn look_slowly(&mut self) {
        let is_heap = self.kind == IndexKind::Heap;
        let (engine, hobt) = (Arc::clone(&self.env.engine), Arc::clone(&self.hobt));
        let mut work = Work::new(&engine, SessionId(99), Arc::new(Waiter::new()));
        let (now, rows) = (work.statement_snapshot(), self.committed.clone());
        let mut ends = [self.draw.below(KEYS) as i32, self.draw.below(KEYS) as i32];
        ends.sort_unstable();
        let bytes = ends.map(i32::to_le_bytes);
        let fields = [[Field::Inline(&bytes[0])], [Field::Inline(&bytes[1])]];
        let inclusive = [self.draw.below(2) == 0, self.draw.below(2) == 0];
        let bound = |n: usize| access::KeyBound { fields: &fields[n], inclusive: inclusive[n] };
        let backward = !is_heap && self.draw.below(2) == 0;
        let lower = (!is_heap && self.draw.below(3) > 0).then(|| bound(0));
        let upper = (!is_heap && self.draw.below(3) > 0).then(|| bound(1));
        let range = ScanRange { lower, upper, backward };
        let is_in = |key: i32| {
            lower.is_none_or(|_| key > ends[0] || (inclusive[0] && key == ends[0]))
                && upper.is_none_or(|_| key < ends[1] || (inclusive[1] && key == ends[1]))
        };
        let plan = LockPlan { as_of: Some(now.at()), ..LockPlan::read(Isolation::ReadCommitted) };
        let mut cursor = hobt.scan(&mut work, &range, &plan).unwrap();
        let mut found = Vec::new();
        while cursor.next(&mut work).unwrap() {
            let row = row_of(&*cursor).unwrap();
            found.push(row);
            for _ in 0..self.draw.below(4) {
                self.step();
            }
            if self.draw.below(6) == 0 {
                self.clean();
            }
        }
        if backward {
            found.reverse();
        }
        if is_heap {
            found.sort_unstable();
        }
        let wanted: Vec<_> = rows.into_iter().filter(|(key, _)| is_in(*key)).collect();
        assert_eq!(found, wanted, "{ends:?} {inclusive:?} as of {:?}", now.at());
        work.locks().release_short(work.owner());
    }

    /// What views tell of the store is what is in it; what they call needed or a writer's stays
    /// when the background has cleaned.
    fn check_told(&mut self) {
        let engine = &Arc::clone(&self.env.engine);
        let (mut bytes, mut needed) = (0, Vec::new());
        rowstore::kept_versions(engine, &Waiter::new(), &mut |versions| {
            for version in versions {
                bytes += (version::VERSION_FRONT_BYTES + version.record.len()) as u64;
                assert_eq!((version.database, version.hobt), (DatabaseId(5), HOBT));
                let stays = match version.kept_for(self.db.home(), engine) {
                    KeepReason::Snapshots(lifetime) => {
                        engine.transactions.snapshots.need(lifetime) != Retention::Free
                    }
                    KeepReason::Writer(xsn) => {
                        let open = self.sessions.iter().any(|s| s.work.xsn() == Some(xsn));
                        assert!(open, "{xsn:?} has ended");
                        true
                    }
                    KeepReason::Nobody => false,
                };
                if stays {
                    needed.push((version.place, version.superseder));
                }
            }
            Ok(())
        })
        .unwrap();
        let usage = engine.shared_store().usage();
        assert_eq!(bytes, usage.generated - usage.cleaned, "all of it is told");
        self.clean();
        for (place, superseder) in needed {
            let is_there = engine.shared_store().look(place, superseder, &mut |_| ()).unwrap();
            assert!(is_there, "{place:?} of {superseder:?}");
        }
    }

    /// Everybody ends: nothing of former rows is left.
    fn finish(mut self) {
        for n in 0..SESSIONS {
            if self.sessions[n].work.is_active() {
                self.end(n, n % 2 == 0);
            }
        }
        self.look(true);
        self.sweep_all();
        self.snapshots.clear();
        for session in &mut self.sessions {
            session.work.rest();
        }
        let mut rounds = 0;
        while self.db.home().ghosts().count() > 0 && rounds < 100 {
            let _ = self.db.clean_ghosts(None, 100).unwrap();
            rounds += 1;
        }
        // A reader of what is there now brings ghosts that nobody had noted.
        let plan = LockPlan::read(Isolation::RepeatableRead);
        self.reader.begin(true, "");
        let mut cursor = self.hobt.scan(&mut self.reader, &ScanRange::default(), &plan).unwrap();
        assert_eq!(rows_of(&mut *cursor, &mut self.reader).unwrap(), self.committed);
        drop(cursor);
        self.reader.commit(CommitMode::Delayed).unwrap();
        self.clean();
        let waiter = Waiter::new();
        for hobt in [Some(Arc::clone(&self.hobt)), self.hobt.large()].into_iter().flatten() {
            let levels = hobt.physical_stats(ScanMode::Detailed, self.db.engine(), &waiter);
            let leaf = levels.unwrap()[0].contents.clone().unwrap();
            assert_eq!((leaf.ghosts, leaf.version_ghosts), (0, 0), "{leaf:?}");
        }
        assert_eq!(self.env.engine.graves.used_bytes(), 0, "ghosts that nobody needs");
        assert!(self.db.home().graveyards().sextons().is_empty(), "nobody has any");
        let usage = self.env.engine.shared_store().usage();
        assert_eq!(usage.generated, usage.cleaned, "versions that nobody needs: {usage:?}");
        let report = self.hobt.verify(&waiter, &mut |_| {}).unwrap();
        assert!(report.findings.is_empty() && report.large.is_empty(), "{report:?}");
        let counted = self.hobt.row_count(&waiter).unwrap();
        assert_eq!(counted, self.committed.len() as u64, "as sys.partitions shows it");
    }
}

fn rows_of(cursor: &mut dyn RowCursor, work: &mut Work) -> SqlResult<Rows> {
    rows_in_order(cursor, work, None)
}

/// The same, where the keys come in order: descending, or ascending.
fn rows_in_order(
    cursor: &mut dyn RowCursor,
    work: &mut Work,
    order: Option<bool>,
) -> SqlResult<Rows> {
    let mut rows = Rows::new();
    let mut last = None;
    while cursor.next(work)? {
        let (key, value) = row_of(cursor)?;
        let follows = last.is_none_or(|last| order.is_none_or(|down| (key < last) == down));
        assert!(follows, "{key} behind {last:?}");
        last = Some(key);
        assert!(rows.insert(key, value).is_none(), "key {key} twice");
    }
    Ok(rows)
}

/// Of a heap: who has read a RID as of a moment finds its row by it as of then.
fn rids_lead_to_rows(
    hobt: &dyn StoredHobt,
    work: &mut Work,
    plan: &LockPlan,
    tight: &Option<TightStore>,
) -> SqlResult<()> {
    let mut cursor = hobt.scan(work, &ScanRange::default(), plan)?;
    let mut rows = Vec::new();
    let refused = |e: &SqlError| tight.as_ref().is_some_and(|tight| tight.refused(e));
    loop {
        match cursor.next(work) {
            Ok(true) => rows.push((cursor.rid().unwrap(), row_of(&*cursor)?)),
            Ok(false) => break,
            Err(e) if refused(&e) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    for (rid, row) in rows {
        let fields = [Field::Inline(&rid)];
        cursor.rewind(work, &ScanRange::equal(&fields))?;
        match cursor.next(work) {
            Ok(found) => assert!(found, "{row:?} is not at {rid:?}"),
            Err(e) if refused(&e) => return Ok(()),
            Err(e) => return Err(e),
        }
        assert_eq!(row_of(&*cursor)?, row, "at {rid:?}");
        assert!(!cursor.next(work)?, "one row at {rid:?}");
    }
    Ok(())
}

fn row_of(cursor: &dyn RowCursor) -> SqlResult<(i32, (u8, usize))> {
    let key = i32::from_le_bytes(cursor.field(0)?.inline().unwrap().try_into().unwrap());
    let value = cursor.field(1)?.inline().unwrap().to_vec();
    assert!(value.iter().all(|b| *b == value[0]), "one value");
    Ok((key, (value[0], value.len())))
}

/// GHOSTLIGHT_SEEDS makes it many more.
fn seeds() -> u64 {
    std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

fn histories(kind: IndexKind, fault: Option<Mutation>) {
    // A fault ends them.
    let seeds = if fault.is_some() { FAULTY_SEEDS } else { seeds() };
    let (mut conflicts, mut locked) = (0, 0);
    for seed in 0..seeds {
        let mut world = World::new(kind, seed * 977 + 1);
        world.plant(fault);
        // Some rows come before there are versions, and some while there are none any more.
        for _ in 0..3 {
            world.without_versions(60);
            world.with_versions();
            for _ in 0..150 {
                world.step();
                world.look(false);
            }
            world.end_all();
        }
        world.without_versions(20);
        world.with_versions();
        for _ in 0..100 {
            world.step();
            world.look(false);
            world.check_told();
            if world.draw.below(5) == 0 {
                world.look_slowly();
            }
        }
        conflicts += world.conflicts;
        locked += world.locked;
        assert!(world.buried || fault.is_some(), "nothing was moved");
        world.finish();
    }
    let enough = conflicts > seeds && locked > seeds;
    assert!(enough, "{conflicts} conflicts and {locked} reads in {seeds} histories");
}

/// One row, changed again and again beside ten snapshots that end and are replaced: as many
/// versions as somebody reads, and those that the last writers have not looked at.
#[test]
fn a_row_has_no_more_versions_than_snapshots_read() {
    hot_row(None);
}

fn hot_row(fault: Option<Mutation>) {
    let mut world = World::new(IndexKind::Clustered, 7);
    world.plant(fault);
    world.db.home().set_versioning(STATEMENT_VERSIONS);
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let key = 1_i32.to_le_bytes();
    let (mut most, mut one) = (0, 0);
    // GHOSTLIGHT_UPDATES makes it many more.
    let updates = std::env::var("GHOSTLIGHT_UPDATES").ok().and_then(|n| n.parse().ok());
    for n in 0..updates.unwrap_or(5_000_u32) {
        let bytes = [n as u8; 10];
        let row = [Field::Inline(&key), Field::Inline(&bytes)];
        let found = RowKey { fields: &row[..1], hint: None };
        let work = &mut world.sessions[0].work;
        work.begin(true, "");
        match n {
            0 => drop(world.hobt.insert(work, &row, &plan).unwrap()),
            _ => drop(world.hobt.update(work, found, &row, &plan).unwrap()),
        }
        work.commit(CommitMode::Delayed).unwrap();
        world.committed.insert(1, (n as u8, 10));
        if world.draw.below(20) == 0 {
            if world.snapshots.len() == 10 {
                let ended = world.draw.below(10);
                world.snapshots.swap_remove(ended);
            }
            let snapshot = world.reader.statement_snapshot();
            world.snapshots.push((snapshot, world.committed.clone()));
            world.look(true);
        }
        let usage = world.env.engine.shared_store().usage();
        most = most.max(usage.generated - usage.cleaned);
        // All are as long as the first.
        one = if one == 0 { usage.generated } else { one };
    }
    println!("a row had {} versions at most", most / one);
    assert!(most <= 12 * one, "{most} bytes at most, {one} a version");
    world.finish();
}

/// Others are told who has written or read versions, and a ghost is counted by whom it is nothing
/// to, not by who reads the row that it was.
#[test]
fn who_uses_versions_is_told_and_ghosts_are_counted() {
    let mut world = World::new(IndexKind::Clustered, 7);
    world.db.home().set_versioning(STATEMENT_VERSIONS);
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let key = 1_i32.to_le_bytes();
    let row = [Field::Inline(&key), Field::Inline(&[7; 10])];
    let work = &mut world.sessions[0].work;
    work.begin(true, "");
    world.hobt.insert(work, &row, &plan).unwrap();
    let told = |world: &World| -> Vec<(SessionId, bool, bool)> {
        let open = world.env.engine.transactions.open();
        open.iter().map(|o| (o.session, o.xsn.is_some(), o.reads_versions)).collect()
    };
    assert_eq!(told(&world), [(SessionId(51), true, false)]);
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    // So the ghost stays on its leaf.
    world.db.home().set_ghost_rule(GhostRule::Statement);
    let before = world.reader.statement_snapshot();
    world.reader.begin(true, "");
    assert_eq!(told(&world), [(SessionId(50), false, false)]);
    let work = &mut world.sessions[0].work;
    work.begin(true, "");
    world.hobt.delete(work, RowKey { fields: &row[..1], hint: None }, &plan).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
    let after = world.reader.statement_snapshot();
    for (at, rows, ghosts) in [(before.at(), 1, 0), (after.at(), 0, 1)] {
        let counters = world.db.pages().counters();
        let skipped = counters.sum(Event::GhostSkipped);
        let plan = LockPlan { as_of: Some(at), ..LockPlan::read(Isolation::ReadCommitted) };
        let mut cursor = world.hobt.scan(&mut world.reader, &ScanRange::default(), &plan).unwrap();
        assert_eq!(rows_of(&mut *cursor, &mut world.reader).unwrap().len(), rows);
        assert_eq!(counters.sum(Event::GhostSkipped) - skipped, ghosts);
    }
    assert_eq!(told(&world), [(SessionId(50), false, true)]);
    world.reader.commit(CommitMode::Delayed).unwrap();
    assert_eq!(told(&world), []);
    drop(before);
    world.finish();
}

/// A row moves to a key whose ghost is needed, and its own former version is: two images that share
/// no page of the store.
#[test]
fn two_long_images_of_one_move_are_kept() {
    let mut world = World::new(IndexKind::Clustered, 7);
    world.db.home().set_versioning(STATEMENT_VERSIONS);
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let keys = [1_i32, 2].map(i32::to_le_bytes);
    let rows = [1_u8, 2, 3].map(|n| vec![n; 7_000]);
    let row = |key: usize, n: usize| [Field::Inline(&keys[key][..]), Field::Inline(&rows[n][..])];
    let name = |key: usize| [Field::Inline(&keys[key][..])];
    for step in 0..5 {
        let work = &mut world.sessions[0].work;
        work.begin(true, "");
        let (first, second) = (name(0), name(1));
        let (first, second) =
            (RowKey { fields: &first, hint: None }, RowKey { fields: &second, hint: None });
        match step {
            0 => drop(world.hobt.insert(work, &row(0, 0), &plan).unwrap()),
            1 => drop(world.hobt.insert(work, &row(1, 1), &plan).unwrap()),
            2 => world.hobt.delete(work, first, &plan).unwrap(),
            3 => drop(world.hobt.update(work, second, &row(1, 2), &plan).unwrap()),
            _ => drop(world.hobt.update(work, second, &row(0, 2), &plan).unwrap()),
        }
        work.commit(CommitMode::Delayed).unwrap();
        world.committed = match step {
            0 => Rows::from([(1, (1, 7_000))]),
            1 => Rows::from([(1, (1, 7_000)), (2, (2, 7_000))]),
            2 => Rows::from([(2, (2, 7_000))]),
            3 => Rows::from([(2, (3, 7_000))]),
            _ => Rows::from([(1, (3, 7_000))]),
        };
        world.snapshots.push((world.reader.statement_snapshot(), world.committed.clone()));
        world.look(true);
    }
    world.finish();
}

/// The same where tempdb has no room for versions now and then.
fn tight_histories(kind: IndexKind, fault: Option<Mutation>) {
    let (mut refused, mut kept, mut told) = (0, 0, [0; 2]);
    for seed in 0..seeds() {
        let mut world = World::new(kind, seed * 991 + 5);
        world.plant(fault);
        world.tight = Some(TightStore::new(&world.env.engine, world.tempdb.space().clone()));
        world.db.home().set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS);
        for _ in 0..600 {
            world.step();
            world.look(false);
        }
        let tight = world.tight.as_mut().unwrap();
        tight.open();
        refused += tight.refusals.get();
        told = [told[0] + tight.told(3959), told[1] + tight.told(3967)];
        kept += world.env.engine.shared_store().usage().generated;
        world.end_all();
        // Where there is room again nobody is refused whose moment comes now.
        world.snapshots.clear();
        for _ in 0..100 {
            world.step_with_room();
        }
        world.finish();
    }
    let some = refused > 0 && kept > 0 && told.iter().all(|n| *n > 0);
    assert!(some, "{refused} refused, {kept} bytes kept, {told:?} told");
    println!("{kind:?}: {refused} refused, {kept} bytes kept, {told:?} told");
}

#[test]
fn a_clustered_index_gives_no_wrong_row_without_room_for_versions() {
    tight_histories(IndexKind::Clustered, None);
}

#[test]
fn a_nonclustered_index_gives_no_wrong_row_without_room_for_versions() {
    tight_histories(IndexKind::Nonclustered, None);
}

#[test]
fn a_heap_gives_no_wrong_row_without_room_for_versions() {
    tight_histories(IndexKind::Heap, None);
}

#[test]
fn snapshots_of_a_clustered_index_read_their_moment() {
    histories(IndexKind::Clustered, None);
}

#[test]
fn snapshots_of_a_nonclustered_index_read_their_moment() {
    histories(IndexKind::Nonclustered, None);
}

#[test]
fn snapshots_of_a_heap_read_their_moment() {
    histories(IndexKind::Heap, None);
}
