//! What a transaction's part in a database tells others: the checkpoint, which keeps its log, and
//! sys.dm_tran_database_transactions.
//!
//! A part has an entry as long as it is there. Its own session alone writes it, a word for each
//! figure, without a lock and on lines of its own: beginning, logging and ending cost the others
//! nothing.
//!
//! Invariants
//!  1. `needed` is a lower bound of the first record while the part has a transaction, and zero
//!     without one; it is in a total order with the checkpoint (rule 4).
//!  2. The number is written last at the begin and erased first at the end. A reader that finds the
//!     same number before and after it has read the rest has read of one transaction.
//!  3. Each figure is true at its moment; two of them may be of two moments.
//!  4. Recovery needs a part's records from `log_from` on. Where versions undo everything before,
//!     that is later than the first record: then `versions` says so before it is, and the next
//!     checkpoint carries it. `log_from` is set to before the part's end is appended, and only
//!     behind that `versions` is empty. So a checkpoint that carries the part begins before its
//!     end, or keeps the log that has it.
//!  5. Log before `kept_until` is not kept for the part: what an undo needs of it is in `kept`
//!     (`secondary_log.rs`). Checkpoints move that place, and the part's end erases it, under the
//!     mutex of `kept`. A rollback pins the log that it reads, and then looks whether the place has
//!     moved.

use crate::numbers::OpenMarks;
use base::{AllocUnitId, Lsn, SessionId, TransactionId, Xsn};
use os::sync::{Mutex, MutexGuard, PaddedCell};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use txn::{AbortedTransaction, KeptRecords};
use wal::TransactionChain;

/// How far a transaction has come in a database, as database_transaction_state numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PartState {
    /// It is about to log its first record.
    Begun = 3,
    /// It has logged.
    Logged = 4,
    /// It commits if the database says so that decides for several.
    Prepared = 5,
    /// Its commit is durable, or need not be.
    Committed = 10,
    /// All it did is taken back.
    RolledBack = 11,
    /// Its commit record is in the log, and not known to be durable.
    Committing = 12,
}

impl PartState {
    const ALL: [PartState; 6] = [
        PartState::Begun,
        PartState::Logged,
        PartState::Prepared,
        PartState::Committed,
        PartState::RolledBack,
        PartState::Committing,
    ];
}

/// A transaction's part in a database, as others see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenPart {
    /// The transaction.
    pub id: TransactionId,
    /// Whose; below 51 for the engine's own.
    pub session: SessionId,
    /// How far it has come.
    pub state: PartState,
    /// Wall time of its first record, nanoseconds since 1970.
    pub began_at: Option<i64>,
    /// Records it has logged.
    pub records: u64,
    /// Bytes of them.
    pub log_bytes: u64,
    /// Log that is reserved for it, for what it undoes too.
    pub reserved_bytes: u64,
    /// Its first record.
    pub begin: Option<Lsn>,
    /// Its last record.
    pub last: Option<Lsn>,
    /// The record after which its last savepoint was set.
    pub savepoint: Option<Lsn>,
    /// Its commit record.
    pub commit: Option<Lsn>,
    /// The record up to which it was rolled back last.
    pub rolled_back_to: Option<Lsn>,
    /// The record that a rollback takes back next.
    pub next_undo: Option<Lsn>,
}

/// A part's entry.
pub(crate) struct Entry {
    session: SessionId,
    told: PaddedCell<Words>,
    versions: Mutex<Vec<PartVersions>>,
    /// Marks to which a rollback needs the log, from the place that each has.
    marks: Mutex<OpenMarks<Lsn>>,
    /// From where a rollback that goes on needs it; [`Lsn::MAX`] without one.
    pinned: AtomicU64,
    /// Records out of log that is not kept.
    kept: Mutex<Option<KeptPart>>,
    /// The place up to which it has them; zero without any.
    kept_until: AtomicU64,
    /// Checkpoints have room for each of its numbers.
    has_room: AtomicBool,
}

/// By which number, and where, a part has changed rows whose versions undo it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PartVersions {
    pub(crate) xsn: Xsn,
    /// Ascending.
    pub(crate) units: Vec<AllocUnitId>,
}

/// What is kept of a part out of log that is not (`secondary_log.rs`).
#[derive(Clone)]
pub(crate) struct KeptPart {
    /// Its transaction.
    pub(crate) id: TransactionId,
    pub(crate) records: Arc<KeptRecords>,
    /// Where its newest number is said, as far as the records reach.
    pub(crate) number_at: Lsn,
    /// Up to there the log was read for it.
    pub(crate) read_until: Lsn,
    /// No more of it is copied: it keeps the log from where the records end.
    pub(crate) stays: bool,
}

/// What a checkpoint is to copy of a part.
pub(crate) struct PartCopy {
    pub(crate) entry: Arc<Entry>,
    pub(crate) id: TransactionId,
    /// What a checkpoint before has kept.
    pub(crate) before: Option<KeptPart>,
    /// From there on its records are read.
    pub(crate) from: Lsn,
    /// Marks to which it may be rolled back, oldest first.
    pub(crate) marks: Vec<Lsn>,
    /// It goes on to keep its log from where its records end now.
    pub(crate) stays: bool,
    /// The same until the next checkpoint.
    pub(crate) waits: bool,
}

#[derive(Default)]
struct Words {
    needed: AtomicU64,
    /// From where recovery needs its records, while `needed` is not zero.
    log_from: AtomicU64,
    id: AtomicU64,
    state: AtomicU8,
    began_at: AtomicI64,
    begin: AtomicU64,
    last: AtomicU64,
    records: AtomicU64,
    log_bytes: AtomicU64,
    reserved_bytes: AtomicU64,
    savepoint: AtomicU64,
    commit: AtomicU64,
    rolled_back_to: AtomicU64,
    next_undo: AtomicU64,
    /// Of all transactions so far: how many began, and how many have logged and committed.
    began: AtomicU64,
    wrote: AtomicU64,
}

const _: () = assert!(size_of::<PaddedCell<Words>>() == 128, "two lines");

/// One more of what its owner alone counts.
fn count(cell: &AtomicU64) {
    cell.store(cell.load(Relaxed) + 1, Release);
}

impl Entry {
    pub(crate) fn new(session: SessionId) -> Entry {
        let (versions, marks) = (Mutex::default(), Mutex::default());
        Entry {
            session,
            told: PaddedCell::default(),
            versions,
            marks,
            pinned: AtomicU64::new(Lsn::MAX.0),
            kept: Mutex::default(),
            kept_until: AtomicU64::new(Lsn::ZERO.0),
            has_room: AtomicBool::new(false),
        }
    }

    /// Records from there on are needed; what it said before.
    pub(crate) fn need(&self, from: Lsn) -> Lsn {
        self.told.log_from.store(from.0, SeqCst);
        self.pinned.store(Lsn::MAX.0, SeqCst);
        // Nobody reads it before the part is active.
        self.has_room.store(false, Relaxed);
        Lsn(self.told.needed.swap(from.0, SeqCst))
    }

    /// None are needed any more; what it said before.
    pub(crate) fn need_none(&self) -> Lsn {
        Lsn(self.told.needed.swap(Lsn::ZERO.0, Release))
    }

    /// From where records are needed; zero for none.
    pub(crate) fn needed(&self) -> Lsn {
        Lsn(self.told.needed.load(SeqCst))
    }

    /// Recovery needs its records from there on; [`Lsn::MAX`] for none, as versions undo it.
    pub(crate) fn needs_log_from(&self, from: Lsn) {
        self.told.log_from.store(from.0, SeqCst);
    }

    /// From where recovery needs its records; `None` without a transaction.
    pub(crate) fn log_from(&self) -> Option<Lsn> {
        // In this order: a part that begins says first from where.
        let active = self.needed() != Lsn::ZERO;
        active.then(|| Lsn(self.told.log_from.load(SeqCst)).max(self.kept_until()))
    }

    /// Log before is not kept for it.
    pub(crate) fn kept_until(&self) -> Lsn {
        Lsn(self.kept_until.load(SeqCst))
    }

    /// What is kept of its transaction.
    pub(crate) fn kept(&self, id: TransactionId) -> Option<KeptPart> {
        if self.kept_until() == Lsn::ZERO {
            return None;
        }
        self.kept.lock().clone().filter(|kept| kept.id == id)
    }

    /// More is kept, unless its transaction is another by now. Another one's first record is behind
    /// the place up to which this one's are kept: the end of the one before is.
    pub(crate) fn is_kept(&self, part: KeptPart) {
        let mut kept = self.kept.lock();
        if self.told.id.load(Acquire) == part.id.0 {
            let until = part.records.until();
            *kept = Some(part);
            self.kept_until.store(until.0, SeqCst);
        }
    }

    /// What a checkpoint that begins there has to copy of it; `None` where it needs no log before.
    pub(crate) fn to_keep(self: &Arc<Self>, until: Lsn) -> Option<PartCopy> {
        let part = self.read()?;
        let before = self.kept(part.id);
        let bound = self.undo_from()?.min(self.log_from()?);
        let (goes_on, waits) = (part.state == PartState::Logged, !self.is_carried());
        if before.is_none() && (bound >= until || !goes_on || waits) {
            return None;
        }
        let from = before.as_ref().map_or(bound, |kept| kept.read_until);
        let stays = !goes_on || before.as_ref().is_some_and(|kept| kept.stays);
        let (entry, id, marks) = (Arc::clone(self), part.id, self.marks());
        Some(PartCopy { entry, id, before, from, marks, stays, waits })
    }

    /// Meanwhile no checkpoint gives away log of the part: a number of it is being aborted.
    pub(crate) fn aborting(&self) -> MutexGuard<'_, Option<KeptPart>> {
        self.kept.lock()
    }

    /// Checkpoints have room for each of its numbers.
    pub(crate) fn has_room(&self) {
        self.has_room.store(true, SeqCst);
    }

    /// Whether checkpoints can carry it.
    pub(crate) fn is_carried(&self) -> bool {
        // In this order: who has no number may get its first one, and room for it, meanwhile.
        self.has_room.load(SeqCst) || self.versions.lock().is_empty()
    }

    /// Marks to which a rollback needs its log, oldest first.
    pub(crate) fn marks(&self) -> Vec<Lsn> {
        self.marks.lock().held()
    }

    /// A rollback to a mark needs its records from there on, as long as somebody holds its seat.
    pub(crate) fn marked(&self, seat: &Arc<()>, from: Lsn) {
        self.marks.lock().add(seat, from);
    }

    /// A rollback needs its records from there on ([`Lsn::MAX`]: none does).
    pub(crate) fn pin(&self, from: Lsn) {
        self.pinned.store(from.0, SeqCst);
    }

    /// From where on the log is needed while the database is in use; [`Lsn::MAX`] for none, `None`
    /// without a transaction.
    pub(crate) fn undo_from(&self) -> Option<Lsn> {
        let first = self.needed();
        if first == Lsn::ZERO {
            return None;
        }
        let kept_until = self.kept_until();
        let log_from = Lsn(self.told.log_from.load(SeqCst));
        let from = match log_from <= first {
            true => first,
            false => log_from.min(self.marks.lock().oldest().unwrap_or(Lsn::MAX).max(first)),
        };
        Some(from.max(kept_until).min(Lsn(self.pinned.load(SeqCst))))
    }

    /// By which versions it is undone, oldest number first.
    pub(crate) fn has_versions(&self, versions: Vec<PartVersions>) {
        *self.versions.lock() = versions;
    }

    /// What the aborted map would say of it, where recovery does not need its first record: for
    /// each of its numbers.
    pub(crate) fn open_versions(&self) -> Vec<AbortedTransaction> {
        let numbers = self.versions.lock().clone();
        let Some((part, log_from)) = self.read().zip(self.log_from()) else { return Vec::new() };
        let Some((begin, end)) = part.begin.zip(part.last) else { return Vec::new() };
        // Without room its numbers are in the log that is kept.
        if log_from <= begin || !self.has_room.load(SeqCst) {
            return Vec::new();
        }
        let (id, began_at) = (part.id, part.began_at.unwrap_or(0));
        let open = |PartVersions { xsn, units }| AbortedTransaction {
            xsn,
            id,
            began_at,
            begin,
            end,
            nested: false,
            units,
        };
        numbers.into_iter().map(open).collect()
    }

    /// The part belongs to a transaction that is about to log.
    pub(crate) fn begin(&self, id: TransactionId) {
        let told = &*self.told;
        assert_eq!(told.id.load(Relaxed), 0, "a part has one transaction at a time");
        for cell in [&told.savepoint, &told.commit, &told.rolled_back_to] {
            cell.store(0, Relaxed);
        }
        told.began_at.store(0, Relaxed);
        self.logged(&TransactionChain::default());
        self.is(PartState::Begun);
        count(&told.began);
        told.id.store(id.0, Release);
    }

    /// When its begin record is made.
    pub(crate) fn begins_at(&self, at: i64) {
        self.told.began_at.store(at, Relaxed);
    }

    /// What it has logged so far.
    #[inline]
    pub(crate) fn logged(&self, chain: &TransactionChain) {
        let told = &*self.told;
        debug_assert!(chain.first <= chain.last, "a chain goes forward");
        debug_assert!(chain.undo_next <= chain.last, "undo goes back");
        debug_assert_eq!(chain.records == 0, chain.first == Lsn::ZERO, "a chain has two ends");
        told.begin.store(chain.first.0, Relaxed);
        told.last.store(chain.last.0, Relaxed);
        told.next_undo.store(chain.undo_next.0, Relaxed);
        told.records.store(chain.records, Relaxed);
        told.log_bytes.store(chain.bytes, Relaxed);
        self.is(PartState::Logged);
    }

    pub(crate) fn reserved(&self, bytes: u64) {
        self.told.reserved_bytes.store(bytes, Relaxed);
    }

    #[inline]
    pub(crate) fn is(&self, state: PartState) {
        self.told.state.store(state as u8, Release);
    }

    /// Its commit record is in the log, as the last of its chain.
    pub(crate) fn commits(&self, chain: &TransactionChain) {
        assert!(chain.records > 1, "a commit record comes behind what it commits");
        self.logged(chain);
        self.told.commit.store(chain.last.0, Relaxed);
        self.is(PartState::Committing);
        count(&self.told.wrote);
    }

    pub(crate) fn saved(&self, after: Lsn) {
        let last = Lsn(self.told.last.load(Relaxed));
        debug_assert!(after <= last, "a savepoint is behind what was logged");
        self.told.savepoint.store(after.0, Relaxed);
    }

    pub(crate) fn rolled_back(&self, to: Lsn) {
        let within = self.told.begin.load(Relaxed)..=self.told.last.load(Relaxed);
        assert!(within.contains(&to.0), "a rollback goes back within its transaction");
        self.told.rolled_back_to.store(to.0, Relaxed);
    }

    /// Whether it is of that transaction, which may be rolled back still.
    pub(crate) fn may_roll_back(&self, id: TransactionId) -> bool {
        let committed = self.told.state.load(Acquire) == PartState::Committed as u8;
        self.told.id.load(Acquire) == id.0 && !committed
    }

    /// The transaction is over.
    pub(crate) fn end(&self) {
        self.told.id.store(0, Release);
        if self.kept_until() != Lsn::ZERO {
            let mut kept = self.kept.lock();
            *kept = None;
            self.kept_until.store(Lsn::ZERO.0, SeqCst);
        }
        // Whoever reads something of the next one finds this one's number gone.
        fence(Release);
    }

    /// How many transactions have begun here, and how many have logged and committed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let wrote = self.told.wrote.load(Acquire);
        let began = self.told.began.load(Relaxed);
        debug_assert!(wrote <= began, "who has written had begun");
        (began, wrote)
    }

    pub(crate) fn read(&self) -> Option<OpenPart> {
        let told = &*self.told;
        let id = told.id.load(Acquire);
        let lsn = |cell: &AtomicU64| Some(Lsn(cell.load(Relaxed))).filter(|l| *l != Lsn::ZERO);
        let state = told.state.load(Relaxed);
        let part = OpenPart {
            id: TransactionId(id),
            session: self.session,
            state: PartState::ALL.into_iter().find(|s| *s as u8 == state)?,
            began_at: Some(told.began_at.load(Relaxed)).filter(|at| *at != 0),
            records: told.records.load(Relaxed),
            log_bytes: told.log_bytes.load(Relaxed),
            reserved_bytes: told.reserved_bytes.load(Relaxed),
            begin: lsn(&told.begin),
            last: lsn(&told.last),
            savepoint: lsn(&told.savepoint),
            commit: lsn(&told.commit),
            rolled_back_to: lsn(&told.rolled_back_to),
            next_undo: lsn(&told.next_undo),
        };
        fence(Acquire);
        (id != 0 && told.id.load(Relaxed) == id).then_some(part)
    }
}
