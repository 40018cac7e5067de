//! Random work: page groups of several tasks, while pages are evicted and checkpoints are taken.

use crate::db::Db;
use crate::handler::{FORMAT, INSERT, PATCH, REMOVE, TAG, record};
use crate::model::{Op, Oracle};
use base::{AllocUnitId, Lsn, PageId};
use buffer::{BufferError, Change, PageRef, Undo};
use os::sync::RwLock;
use space::{AllocUnit, SpaceError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use wal::{Group, LogReservation, TransactionChain, kinds};

const MS: u64 = 1_000_000;
/// Log that the end of a transaction takes.
const END_BYTES: u64 = 256;

struct Unit {
    alloc: AllocUnit,
    /// Whether it is dropped.
    gate: RwLock<bool>,
    pages: Mutex<Vec<PageId>>,
}

impl Unit {
    fn new(alloc: AllocUnit, pages: Vec<PageId>) -> Arc<Unit> {
        Arc::new(Unit { alloc, gate: RwLock::new(false), pages: Mutex::new(pages) })
    }

    fn has(&self, page: PageId) -> bool {
        self.pages.lock().expect("no panic").contains(&page)
    }
}

/// What tasks share. Std mutexes have no switch points.
pub(crate) struct Work {
    pub db: Db,
    pub oracle: Arc<Oracle>,
    units: Mutex<Vec<Arc<Unit>>>,
    stop: AtomicBool,
    /// Growths that were refused: of the data file, and of the log.
    refused: [AtomicU64; 2],
    /// The disk, where another program fills it now and then.
    shared: Option<sim::Disk>,
}

fn below(n: u64) -> u64 {
    os::entropy::random_u64() % n
}

/// What the runs of a test came to, all together.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// VLFs entered a second time, in the run with the most.
    pub(crate) reused: AtomicU64,
    pub(crate) vlfs: AtomicU64,
    pub(crate) size: AtomicU64,
    pub(crate) refused_data: AtomicU64,
    pub(crate) refused_log: AtomicU64,
    /// Times that the disk was full, and those in which both files were refused to grow.
    pub(crate) filled: AtomicU64,
    pub(crate) both_refused: AtomicU64,
    /// Starts that found a disk that was full.
    pub(crate) started_full: AtomicU64,
    pub(crate) reads: AtomicU64,
    /// Starts that found a log whose file was longer than its VLFs: a crash came while it grew.
    pub(crate) half_grown: AtomicU64,
    /// Starts that found all of a longer log made into VLFs.
    pub(crate) grown: AtomicU64,
}

pub(crate) static COVERED: Coverage = Coverage {
    reused: AtomicU64::new(0),
    vlfs: AtomicU64::new(0),
    size: AtomicU64::new(0),
    refused_data: AtomicU64::new(0),
    refused_log: AtomicU64::new(0),
    filled: AtomicU64::new(0),
    both_refused: AtomicU64::new(0),
    started_full: AtomicU64::new(0),
    reads: AtomicU64::new(0),
    half_grown: AtomicU64::new(0),
    grown: AtomicU64::new(0),
};

/// A refusal that a statement would end with.
enum Refusal {
    Data,
    Log,
    Frames,
}

impl From<SpaceError> for Refusal {
    fn from(e: SpaceError) -> Self {
        match e {
            SpaceError::Full => Refusal::Data,
            SpaceError::Log(wal::WalError::Full { .. }) => Refusal::Log,
            SpaceError::Buffer(BufferError::NoFrames) => Refusal::Frames,
            other => panic!("{other}"),
        }
    }
}

impl From<BufferError> for Refusal {
    fn from(e: BufferError) -> Self {
        SpaceError::from(e).into()
    }
}

impl From<wal::WalError> for Refusal {
    fn from(e: wal::WalError) -> Self {
        SpaceError::from(e).into()
    }
}

/// One task's scratch and transaction.
struct Session {
    group: Group,
    chain: TransactionChain,
    /// Of how many steps one ends the transaction: one that goes on for long holds the log.
    ends_one_in: u64,
    /// For the end of the transaction, as long as there is one.
    room: LogReservation,
}

impl Work {
    pub(crate) fn new(db: Db, oracle: &Arc<Oracle>, shared: Option<sim::Disk>) -> Arc<Work> {
        let unit = |(id, head): (&u32, &PageId)| {
            let pages = db.model.pages.iter().filter(|(_, p)| p.0 == *id).map(|p| *p.0);
            Unit::new(AllocUnit::open(AllocUnitId(*id), *head), pages.collect())
        };
        let units = Mutex::new(db.model.units.iter().map(unit).collect());
        let (stop, refused) = (AtomicBool::new(false), Default::default());
        Arc::new(Work { db, oracle: Arc::clone(oracle), units, stop, refused, shared })
    }

    /// Ends what recovery left open: losers, half-dropped units.
    pub(crate) fn finish_recovery(&self) {
        for (unit, head) in &self.db.model.dropped {
            let alloc = AllocUnit::open(AllocUnitId(*unit), *head);
            let exists = self.db.space.unit_exists(&alloc).unwrap_or_else(|e| panic!("{e}"));
            if exists
                && self
                    .db
                    .space
                    .drop_unit(&alloc, &os::wait::Waiter::new())
                    .map_err(Refusal::from)
                    .is_err()
            {
                continue;
            }
            // Its last step must not be lost before the oracle forgets it.
            self.db.log.flush_all();
            self.oracle.gone(*unit);
        }
        for chain in &self.db.losers {
            self.end_transaction(&mut Group::new(), &mut chain.clone(), kinds::ABORT);
        }
    }

    fn end_session(&self, session: &mut Session, kind: wal::Kind) {
        self.end_transaction(&mut session.group, &mut session.chain, kind);
        session.room.shrink(END_BYTES);
    }

    fn end_transaction(&self, scratch: &mut Group, chain: &mut TransactionChain, kind: wal::Kind) {
        let mut change = Change::new(&self.db.pages, scratch);
        change.log_plain(kind, chain.id, &[]);
        self.finish(change, vec![Op::End(chain.id)], chain);
        self.db.active.lock().expect("no panic").remove(&chain.id);
        *chain = TransactionChain::default();
    }

    /// Tells the oracle, appends, tells the oracle, sometimes waits for the disk.
    fn finish(&self, mut change: Change<'_>, ops: Vec<Op>, chain: &mut TransactionChain) -> Lsn {
        let tag = self.oracle.next_number();
        change.log_plain(TAG, 0, &tag.to_le_bytes());
        self.oracle.begin(tag, ops);
        let end = change.finish(chain).last;
        self.oracle.appended(tag, end);
        if below(2) == 0 {
            self.db.log.flush_to(end);
            self.oracle.acknowledge(tag);
        }
        end
    }

    pub(crate) fn run(self: &Arc<Self>, tasks: u64, steps: u64) {
        let work: Vec<_> = (0..tasks)
            .map(|t| {
                let work = Arc::clone(self);
                let ends_one_in = if t == 0 { 60 } else { 4 };
                os::task::spawn(&format!("worker{t}"), move || work.steps(steps, ends_one_in))
            })
            .collect();
        let service = |name: &str, body: fn(&Work)| {
            let work = Arc::clone(self);
            os::task::spawn(name, move || {
                while !work.stop.load(Relaxed) {
                    body(&work);
                }
            })
        };
        let services = [
            service("log writer", |w| w.db.log.writer_turn(os::clock::monotonic_ns() + 3 * MS)),
            service("lazy writer", |w| {
                w.db.pool.lazy_write();
                os::task::sleep_ns(MS);
            }),
            service("checkpoint", |w| {
                os::task::sleep_ns((1 + below(20)) * MS);
                w.db.checkpoint();
            }),
            service("another program", Work::fill_disk),
        ];
        work.into_iter().for_each(|t| t.join().expect("a worker does not panic"));
        self.stop.store(true, Relaxed);
        self.db.log.wake_writer();
        services.into_iter().for_each(|t| t.join().expect("a service does not panic"));
        self.note_coverage();
    }

    fn refused(&self) -> [u64; 2] {
        self.refused.each_ref().map(|n| n.load(Relaxed))
    }

    /// Another program takes all that is left of the disk, and gives it back after a while.
    fn fill_disk(&self) {
        os::task::sleep_ns((1 + below(60)) * MS);
        let Some(disk) = &self.shared else { return };
        let before = self.refused();
        disk.set_capacity(disk.used_bytes());
        let both = || self.refused().iter().zip(before).all(|(now, before)| *now > before);
        // Sometimes until both files have felt it.
        for _ in 0..below(12) {
            os::task::sleep_ns((1 + below(120)) * MS);
            if both() || self.stop.load(Relaxed) {
                break;
            }
        }
        disk.set_capacity(crate::CAPACITY_BYTES);
        let both = both();
        COVERED.filled.fetch_add(1, Relaxed);
        COVERED.both_refused.fetch_add(u64::from(both), Relaxed);
    }

    fn note_coverage(&self) {
        let vlfs = self.db.log.vlfs();
        let newest = vlfs.iter().map(|v| v.sequence).max().unwrap_or(0);
        let file = base::FileId(1);
        let size = self.db.space.size_pages(file).unwrap_or(0);
        COVERED.reused.fetch_max(u64::from(newest).saturating_sub(vlfs.len() as u64), Relaxed);
        COVERED.vlfs.fetch_max(vlfs.len() as u64, Relaxed);
        COVERED.size.fetch_max(u64::from(size), Relaxed);
        let [data, log] = self.refused();
        COVERED.refused_data.fetch_add(data, Relaxed);
        COVERED.refused_log.fetch_add(log, Relaxed);
        let stats = self.db.pages.file(file).map(|f| f.stats().snapshot());
        COVERED.reads.fetch_add(stats.map_or(0, |s| s.reads), Relaxed);
    }

    fn steps(&self, steps: u64, ends_one_in: u64) {
        let (group, chain) = (Group::new(), TransactionChain::default());
        let room = LogReservation::none(&self.db.log);
        let mut session = Session { group, chain, ends_one_in, room };
        for _ in 0..steps {
            if let Err(refused) = self.step(&mut session) {
                if !matches!(refused, Refusal::Frames) {
                    let at = usize::from(matches!(refused, Refusal::Log));
                    self.refused[at].fetch_add(1, Relaxed);
                }
                if session.chain.id != 0 && below(8) == 0 {
                    self.end_session(&mut session, kinds::ABORT);
                }
                os::task::sleep_ns(MS);
            }
        }
    }

    fn step(&self, session: &mut Session) -> Result<(), Refusal> {
        let mut log = LogReservation::none(&self.db.log);
        log.grow(30_000)?;
        let units = self.units.lock().expect("no panic").clone();
        if units.is_empty() || (units.len() < 6 && below(12) == 0) {
            return self.create_unit(session);
        }
        if session.chain.id != 0 && below(session.ends_one_in) == 0 {
            let kind = if below(2) == 0 { kinds::COMMIT } else { kinds::ABORT };
            self.end_session(session, kind);
        }
        if session.chain.id == 0 {
            session.room.shrink(END_BYTES);
            session.room.grow(END_BYTES)?;
        }
        let unit = &units[below(units.len() as u64) as usize];
        if units.len() > 2 && below(25) == 0 {
            return self.drop_unit(session, unit);
        }
        let gate = unit.gate.read();
        if *gate {
            return Ok(());
        }
        match below(10) {
            0..=1 => self.allocate(session, unit),
            2 => self.free(session, unit),
            _ => self.alter(session, unit),
        }
    }

    fn create_unit(&self, session: &mut Session) -> Result<(), Refusal> {
        let id = AllocUnitId(self.oracle.next_number() as u32);
        let making = self.db.space.create_unit(id, Undo::Never)?;
        let mut change = Change::new(&self.db.pages, &mut session.group);
        let alloc = making.apply(&mut change)?;
        let ops = vec![Op::Create { unit: id.0, head: alloc.first_iam }];
        self.finish(change, ops, &mut TransactionChain::default());
        self.units.lock().expect("no panic").push(Unit::new(alloc, Vec::new()));
        Ok(())
    }

    fn drop_unit(&self, session: &mut Session, unit: &Arc<Unit>) -> Result<(), Refusal> {
        let mut gate = unit.gate.write();
        if std::mem::replace(&mut *gate, true) {
            return Ok(());
        }
        self.units.lock().expect("no panic").retain(|u| !Arc::ptr_eq(u, unit));
        let change = Change::new(&self.db.pages, &mut session.group);
        let ops = vec![Op::Drop { unit: unit.alloc.id.0 }];
        let end = self.finish(change, ops, &mut TransactionChain::default());
        self.db.log.flush_to(end);
        self.db.space.drop_unit(&unit.alloc, &os::wait::Waiter::new())?;
        Ok(())
    }

    /// Some pages of the unit, latched in order.
    fn latch<'a>(
        &'a self,
        change: &mut Change<'a>,
        unit: &Unit,
        most: u64,
    ) -> Result<Vec<PageRef>, Refusal> {
        let all = unit.pages.lock().expect("no panic").clone();
        let mut ids: Vec<PageId> = (0..=below(most))
            .filter(|_| !all.is_empty())
            .map(|_| all[below(all.len() as u64) as usize])
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let mut held = Vec::new();
        for id in ids {
            let guard = self.db.pages.write(id)?;
            if unit.has(id) {
                held.push(change.add(guard));
            }
        }
        Ok(held)
    }

    fn alter(&self, session: &mut Session, unit: &Unit) -> Result<(), Refusal> {
        let mut change = Change::new(&self.db.pages, &mut session.group);
        let held = self.latch(&mut change, unit, 4)?;
        let transaction = self.transaction(&mut session.chain);
        let mut ops = Vec::new();
        for page in held {
            for _ in 0..=below(3) {
                operate(&mut change, page, unit.alloc.id, transaction, &mut ops);
            }
        }
        if ops.is_empty() {
            return Ok(());
        }
        ops.push(Op::InTransaction(transaction));
        self.finish(change, ops, &mut session.chain);
        Ok(())
    }

    /// The session's transaction, registered before its first record is appended.
    fn transaction(&self, chain: &mut TransactionChain) -> u32 {
        if chain.id == 0 {
            chain.id = self.oracle.next_number() as u32;
        }
        if chain.first == Lsn::ZERO {
            let bound = self.db.log.next_lsn();
            self.db.active.lock().expect("no panic").insert(chain.id, bound);
        }
        chain.id
    }

    fn allocate(&self, session: &mut Session, unit: &Unit) -> Result<(), Refusal> {
        let claim = self.db.space.claim(&unit.alloc, 1 + below(3) as usize)?;
        let mut change = Change::new(&self.db.pages, &mut session.group);
        let held = self.latch(&mut change, unit, 2)?;
        let made = self.db.space.allocate(&mut change, &unit.alloc, claim)?;
        let mut ops = Vec::new();
        for page in made.iter().chain(&held) {
            if made.contains(page) {
                change.apply(*page, unit.alloc.id, FORMAT, 0, &[], Undo::Never);
                let (page, unit) = (change.id(*page), unit.alloc.id.0);
                ops.push(Op::Allocate { page, unit });
            }
            operate(&mut change, *page, unit.alloc.id, 0, &mut ops);
        }
        let pages: Vec<PageId> = made.iter().map(|p| change.id(*p)).collect();
        self.finish(change, ops, &mut TransactionChain::default());
        unit.pages.lock().expect("no panic").extend(pages);
        Ok(())
    }

    fn free(&self, session: &mut Session, unit: &Unit) -> Result<(), Refusal> {
        let mut change = Change::new(&self.db.pages, &mut session.group);
        let held = self.latch(&mut change, unit, 3)?;
        let Some((&last, rest)) = held.split_last() else { return Ok(()) };
        self.db.space.free(&mut change, &unit.alloc, last)?;
        let page = change.id(last);
        let mut ops = vec![Op::Free { page }];
        for page in rest {
            operate(&mut change, *page, unit.alloc.id, 0, &mut ops);
        }
        unit.pages.lock().expect("no panic").retain(|p| *p != page);
        self.finish(change, ops, &mut TransactionChain::default());
        Ok(())
    }
}

/// One operation on one page.
fn operate(change: &mut Change<'_>, page: PageRef, unit: AllocUnitId, id: u32, ops: &mut Vec<Op>) {
    let undo = if id == 0 { Undo::Never } else { Undo::By(id) };
    let (view, place) = (change.view(page), change.id(page));
    let count = u64::from(view.slot_count());
    let slot = below(count.max(1)) as u16;
    let fill = below(256) as u8;
    match below(5) {
        0 if count > 1 => {
            change.apply(page, unit, REMOVE, slot, &[], undo);
            ops.push(Op::Remove { page: place, slot });
        }
        1 | 2 if count > 0 => {
            let len = view.record(slot).map_or(0, <[u8]>::len);
            let bytes = vec![fill; below(len as u64 - 7) as usize];
            let within = (4 + bytes.len()).min(len - 3) - bytes.len();
            let head = (within as u16).to_le_bytes();
            change.apply(page, unit, PATCH, slot, &[&head, &bytes], undo);
            ops.push(Op::Patch { page: place, slot, within, bytes });
        }
        _ => {
            let record = record(fill, 12 + below(2500) as usize);
            if record.len() + 2 > usize::from(view.free_count()) {
                return;
            }
            change.apply(page, unit, INSERT, slot, &[&record], undo);
            ops.push(Op::Insert { page: place, slot, record });
        }
    }
}
