//! `Home`: what a unit of work needs of a database.

use crate::cleaner_times::CleanerTimes;
use crate::engine::Engine;
use crate::entry::{Entry, OpenPart, PartCopy};
use crate::ghost_queue::GhostQueue;
use crate::ghost_rule::{CurrentRule, GhostRule};
use crate::graveyards::Graveyards;
use crate::in_row_counts::InRowCounts;
use crate::redefinitions::Redefinitions;
use crate::snapshot_gate::{Refusal, SnapshotGate, SnapshotState};
use crate::trace_flags::TraceFlag;
use base::{DatabaseId, Lsn, ObjectId, SessionId, SqlResult, Xsn};
use buffer::Pages;
use os::sync::{Mutex, RwLock};
use space::Space;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, OnceLock};
use txn::{AbortedMap, AbortedTransaction, CommitTime, UndoTable};
use version::{Stores, VersionStore};
use wal::{Log, LogReservation};

/// ALTER DATABASE ... SET DELAYED_DURABILITY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DelayedDurability {
    /// Every commit is fully durable.
    Disabled = 0,
    /// A commit is delayed when it asks for it.
    Allowed = 1,
    /// Every commit is delayed.
    Forced = 2,
}

/// More parts than sessions can have: whoever lists so many forgets to delist.
const PARTS_MAX: usize = 1 << 20;

/// A database as units of work see it.
pub struct Home {
    /// The database.
    pub database: DatabaseId,
    /// Its pages.
    pub pages: Arc<Pages>,
    /// Its allocator.
    pub space: Arc<Space>,
    name: RwLock<String>,
    undo: RwLock<Option<Arc<UndoTable>>>,
    durability: AtomicU8,
    survives: bool,
    /// One a part; it changes when a session comes or goes, not with transactions.
    active: Mutex<Vec<Arc<Entry>>>,
    /// Counts of parts that are gone; changed under the list's mutex.
    began: AtomicU64,
    wrote: AtomicU64,
    ghosts: GhostQueue,
    graveyards: Graveyards,
    versioning: AtomicU8,
    stores: Stores,
    aborted: AbortedMap,
    /// Log for the checkpoints that carry what is in the map: for each its own.
    for_aborted: Mutex<BTreeMap<Xsn, LogReservation>>,
    /// Active parts whose records recovery does not need.
    relying: AtomicUsize,
    /// Log before that may be in use by others.
    undo_bound: AtomicU64,
    /// Log that checkpoints take for records which they log again.
    for_kept: AtomicU64,
    undone_records_max: u64,
    kept_bytes_max: usize,
    cleaner_times: CleanerTimes,
    in_row: InRowCounts,
    optimized_locking: AtomicBool,
    /// Tags up to this number are from before the database was opened.
    settled_xsn: AtomicU64,
    /// Numbers up to this one may stand on its pages.
    expected_xsn: AtomicU64,
    raise_xsn: OnceLock<Box<RaiseXsn>>,
    names: OnceLock<Box<NameObject>>,
    /// One announces at a time: what is written only goes up.
    raising: Mutex<()>,
    snapshots: SnapshotGate,
    redefined: Redefinitions,
    ghost_rule: CurrentRule,
    /// Log for the undo of transactions that the next start undoes.
    for_undo: Mutex<Vec<LogReservation>>,
}

/// Writes into a database that numbers up to one may stand on its pages, before they do.
type RaiseXsn = dyn Fn(Xsn) -> SqlResult<()> + Send + Sync;

/// What an object of the database is called, in two parts.
type NameObject = dyn Fn(ObjectId) -> Option<String> + Send + Sync;

/// Log that a checkpoint takes beside what it carries of an aborted transaction.
pub(crate) const CARRIED_BESIDE: u64 = 1024;
/// Units that a checkpoint names of an active transaction; with more it may have changed all.
pub const OPEN_UNITS_MAX: usize = 16;
/// Log that a checkpoint takes for an active transaction that it carries.
pub(crate) const CARRIED_OPEN_BYTES: u64 = CARRIED_BESIDE + 128;
const _: () = assert!(AbortedTransaction::bytes_of(OPEN_UNITS_MAX) < 128);
/// Active transactions that checkpoints have room for.
pub const RELYING_PARTS_MAX: usize = 256;

/// Numbers that are announced at a time.
const XSN_STEP: u64 = 1 << 20;

/// READ_COMMITTED_SNAPSHOT: readers at READ COMMITTED read versions.
pub const STATEMENT_VERSIONS: u8 = 1;
/// ALLOW_SNAPSHOT_ISOLATION, or on the way to it: transactions may read as of a moment.
pub const TRANSACTION_VERSIONS: u8 = 2;
/// ACCELERATED_DATABASE_RECOVERY: every change leaves a version, by which it is undone. It changes
/// while nobody else is in the database.
pub const RECOVERY_VERSIONS: u8 = 4;

impl Home {
    /// A database of an engine; `survives` is false for tempdb, whose commits never wait for the
    /// disk.
    pub fn new(
        engine: &Engine,
        name: &str,
        pages: &Arc<Pages>,
        space: &Arc<Space>,
        survives: bool,
    ) -> Arc<Home> {
        assert!(!name.is_empty(), "a database has a name");
        assert!(Arc::ptr_eq(pages, space.pages()), "an allocator is of its database");
        Arc::new(Home {
            database: pages.database(),
            pages: Arc::clone(pages),
            space: Arc::clone(space),
            name: RwLock::new(name.to_owned()),
            undo: RwLock::new(None),
            durability: AtomicU8::new(DelayedDurability::Disabled as u8),
            survives,
            active: Mutex::default(),
            began: AtomicU64::new(0),
            wrote: AtomicU64::new(0),
            ghosts: GhostQueue::default(),
            graveyards: Graveyards::default(),
            versioning: AtomicU8::new(0),
            stores: Stores::new(engine.shared_cell()),
            aborted: AbortedMap::default(),
            for_aborted: Mutex::default(),
            relying: AtomicUsize::new(0),
            undo_bound: AtomicU64::new(0),
            for_kept: AtomicU64::new(0),
            undone_records_max: engine.undone_records_max.load(Relaxed),
            kept_bytes_max: engine.kept_bytes_max.load(Relaxed),
            cleaner_times: CleanerTimes::default(),
            in_row: InRowCounts::default(),
            optimized_locking: AtomicBool::new(false),
            settled_xsn: AtomicU64::new(0),
            expected_xsn: AtomicU64::new(0),
            raise_xsn: OnceLock::new(),
            names: OnceLock::new(),
            raising: Mutex::new(()),
            snapshots: SnapshotGate::default(),
            redefined: Redefinitions::default(),
            ghost_rule: CurrentRule::default(),
            for_undo: Mutex::default(),
        })
    }

    /// Keeps log for the undo of a transaction that is left to the next start.
    pub(crate) fn keep_for_undo(&self, promised: LogReservation) {
        self.for_undo.lock().push(promised);
    }

    /// The database's name, for error texts.
    pub fn name(&self) -> String {
        self.name.read().clone()
    }

    /// What an object is called, for error texts: by its number where nobody knows a name.
    pub fn object_name(&self, object: ObjectId) -> String {
        let name = self.names.get().and_then(|name| name(object));
        name.unwrap_or_else(|| format!("object {object}"))
    }

    /// Says who knows names. Once, when definitions are read; no latch is held when it is asked.
    pub fn set_names(&self, names: Box<NameObject>) {
        let fresh = self.names.set(names).is_ok();
        assert!(fresh, "a database is opened once");
    }

    /// The log.
    pub fn log(&self) -> &Arc<Log> {
        debug_assert_eq!(self.pages.database(), self.database, "a home is of one database");
        self.pages.log()
    }

    /// Pages with ghosts that nobody else clears away.
    pub fn ghosts(&self) -> &GhostQueue {
        &self.ghosts
    }

    /// Who has ghosts off their leaves.
    pub fn graveyards(&self) -> &Graveyards {
        &self.graveyards
    }

    /// Whether what is written now keeps what was there before: an option asks for it.
    #[inline]
    pub fn is_versioned(&self) -> bool {
        self.versioning.load(Acquire) != 0
    }

    /// Whether transactions are undone by the versions that they left: accelerated recovery.
    #[inline]
    pub fn is_accelerated(&self) -> bool {
        self.versioning() & RECOVERY_VERSIONS != 0
    }

    /// Which options ask for versions.
    pub fn versioning(&self) -> u8 {
        self.versioning.load(Acquire)
    }

    /// The store into which former versions of its rows go from now on: the shared one in tempdb,
    /// unless its own is chosen.
    ///
    /// # Panics
    /// Before there is a tempdb: nothing is versioned then.
    #[inline]
    pub fn version_store(&self) -> &Arc<dyn VersionStore> {
        self.stores.chosen()
    }

    /// Chooses the store of an accelerated database, its own one, or that of all others. Versions
    /// go there from now on.
    pub fn choose_store(&self, accelerated: bool) {
        self.stores.keep_own(accelerated && self.stores.own().is_some());
    }

    /// Its stores: what is there is found by its pointer, whichever store is chosen now.
    #[inline]
    pub fn version_stores(&self) -> &Stores {
        &self.stores
    }

    /// Aborted transactions whose records still stand on its pages.
    #[inline]
    pub fn aborted(&self) -> &AbortedMap {
        &self.aborted
    }

    /// A transaction is aborted and its records stay; with the log that carrying it takes. Its
    /// abort record is in the log, and it holds its locks still.
    pub fn enter_aborted(&self, aborted: AbortedTransaction, promised: LogReservation) {
        self.for_aborted.lock().insert(aborted.xsn, promised);
        self.aborted.enter(aborted);
    }

    /// The same for one that the log has told, when the database is opened. Where the log has no
    /// room a checkpoint asks for it again.
    pub fn enter_aborted_again(&self, aborted: AbortedTransaction) {
        let mut promised = LogReservation::none(self.log());
        let _ = promised.grow(AbortedTransaction::BYTES_MAX as u64 + CARRIED_BESIDE);
        self.enter_aborted(aborted, promised);
    }

    /// Log that is promised for checkpoints that carry the aborted map and active transactions. For
    /// the map it stays promised until [`Home::give_back_promised`].
    pub fn promised_for_aborted(&self) -> u64 {
        let open = self.relying.load(Relaxed) as u64 * CARRIED_OPEN_BYTES;
        let records = if self.promised_for_kept() > 0 { CARRIED_BESIDE } else { 0 };
        open + records + self.for_aborted.lock().values().map(LogReservation::bytes).sum::<u64>()
    }

    /// Log that parts have reserved for checkpoints that log their records again.
    pub(crate) fn promised_for_kept(&self) -> u64 {
        self.for_kept.load(Relaxed)
    }

    /// A part has reserved so much more for that, or gives it back.
    pub(crate) fn promise_for_kept(&self, before: u64, now: u64) {
        self.for_kept.fetch_add(now.wrapping_sub(before), Relaxed);
    }

    /// Gives back the log that was promised for what has left the aborted map. No checkpoint is
    /// being taken.
    pub fn give_back_promised(&self) {
        self.for_aborted.lock().retain(|xsn, _| self.aborted.contains(*xsn));
    }

    /// What its own version store takes; nothing where it has none.
    pub fn version_usage(&self) -> version::Usage {
        self.stores.own().map(|store| store.usage()).unwrap_or_default()
    }

    /// What was done in its own version store since the start.
    pub fn version_activity(&self) -> version::Activity {
        self.stores.own().map(|store| store.activity()).unwrap_or_default()
    }

    /// What was done with versions in the records of its rows.
    pub fn in_row(&self) -> &InRowCounts {
        &self.in_row
    }

    /// When the cleaner of versions went over the database last.
    pub fn cleaner_times(&self) -> &CleanerTimes {
        &self.cleaner_times
    }

    /// Whether the tag of a ghost names its deleter: all who go on leave versions, not only those
    /// who begin from now on. To be asked while the ghost's page is latched.
    #[inline]
    pub fn has_told_writers(&self) -> bool {
        // In this order: when versions come again, the gate was shut before.
        let options = self.versioning();
        let alone = STATEMENT_VERSIONS | RECOVERY_VERSIONS;
        options & alone != 0 || (options != 0 && self.snapshots.is_on())
    }

    /// Says which options ask for versions.
    pub fn set_versioning(&self, options: u8) {
        let known = STATEMENT_VERSIONS | TRANSACTION_VERSIONS | RECOVERY_VERSIONS;
        assert_eq!(options & !known, 0, "three options");
        assert!(options != 0 || !self.has_optimized_locking(), "it relies on versions");
        self.versioning.store(options, Release);
    }

    /// Whether what a transaction has written is locked by the transaction alone:
    /// OPTIMIZED_LOCKING. It changes while nobody else is in the database, and only where there
    /// are versions.
    #[inline]
    pub fn has_optimized_locking(&self) -> bool {
        self.optimized_locking.load(Relaxed)
    }

    /// Says so.
    pub fn set_optimized_locking(&self, on: bool) {
        assert!(!on || self.is_versioned(), "who has written a row is told by its tag");
        self.optimized_locking.store(on, Relaxed);
    }

    /// When ghosts may leave their pages, as the database is configured.
    pub fn ghost_rule(&self) -> GhostRule {
        self.ghost_rule.get()
    }

    /// Configures it.
    pub fn set_ghost_rule(&self, rule: GhostRule) {
        self.ghost_rule.set(rule);
    }

    /// Whether transactions may read as of a moment.
    pub fn snapshot_state(&self) -> SnapshotState {
        self.snapshots.state()
    }

    /// Changes that. `since` is the moment from which on every change has left a version.
    pub fn set_snapshot_state(&self, state: SnapshotState, since: CommitTime) {
        self.snapshots.set(state, since);
    }

    /// The moment from which on every change has left a version, where it is allowed.
    pub fn snapshots_since(&self) -> CommitTime {
        self.snapshots.since()
    }

    /// Sessions whose transactions read as of a moment and have been let in.
    pub fn snapshot_readers(&self) -> BTreeSet<SessionId> {
        self.snapshots.readers()
    }

    /// Objects have been defined anew, at a moment before which nobody may read them any more.
    /// `oldest` is the oldest moment as of which anybody reads.
    pub fn note_redefined(
        &self,
        objects: impl Iterator<Item = ObjectId>,
        at: CommitTime,
        oldest: CommitTime,
    ) {
        self.redefined.note(objects, at, oldest);
    }

    /// Whether an object has been defined anew since a moment.
    pub fn redefined_since(&self, object: ObjectId, at: CommitTime) -> bool {
        self.redefined.since(object, at)
    }

    /// A transaction reads as of a moment from now on, until it leaves.
    pub(crate) fn enter_snapshot(&self, session: SessionId, at: CommitTime) -> Result<(), Refusal> {
        self.snapshots.enter(session, at)
    }

    pub(crate) fn leave_snapshot(&self, session: SessionId) {
        self.snapshots.leave(session);
    }

    /// Whether a number on a page is from before the database was opened: then everybody sees it,
    /// unless it is in the aborted map.
    #[inline]
    pub fn is_settled(&self, xsn: Xsn) -> bool {
        xsn.0 <= self.settled_xsn.load(Relaxed)
    }

    /// Sets the number up to which tags are from before, and who announces later ones. Once, when
    /// the database is wired.
    pub fn set_xsn(&self, settled: Xsn, raise: Box<RaiseXsn>) {
        self.settled_xsn.store(settled.0, Relaxed);
        self.expected_xsn.store(settled.0, Relaxed);
        let fresh = self.raise_xsn.set(raise).is_ok();
        assert!(fresh, "a database is wired once");
    }

    /// Whether a number may stand on a page.
    pub(crate) fn expects(&self, xsn: Xsn) -> bool {
        xsn.0 <= self.expected_xsn.load(Acquire)
    }

    /// A number is about to stand on a page: the database has to know it before. No latch is held.
    pub(crate) fn expect_xsn(&self, xsn: Xsn) -> SqlResult<()> {
        if self.expects(xsn) {
            return Ok(());
        }
        let _one = self.raising.lock();
        if self.expects(xsn) {
            return Ok(());
        }
        let to = Xsn((xsn.0 + XSN_STEP).min(Xsn::MAX.0));
        let raise = self.raise_xsn.get().expect("a wired database announces numbers");
        // The record of it is in the log before the change that follows: no crash keeps the one
        // and loses the other.
        raise(to)?;
        self.expected_xsn.fetch_max(to.0, Release);
        Ok(())
    }

    /// Who undoes what; set once, when the database is wired.
    pub fn set_undo(&self, table: UndoTable) {
        *self.undo.write() = Some(Arc::new(table));
    }

    /// Who undoes what.
    ///
    /// # Panics
    /// Before the database is wired.
    pub fn undo(&self) -> Arc<UndoTable> {
        Arc::clone(self.undo.read().as_ref().expect("a wired database has its undo table"))
    }

    /// The database's setting.
    pub fn delayed_durability(&self) -> DelayedDurability {
        match self.durability.load(Relaxed) {
            0 => DelayedDurability::Disabled,
            1 => DelayedDurability::Allowed,
            setting => {
                debug_assert_eq!(setting, DelayedDurability::Forced as u8, "one of three");
                DelayedDurability::Forced
            }
        }
    }

    /// Changes the setting.
    pub fn set_delayed_durability(&self, setting: DelayedDurability) {
        self.durability.store(setting as u8, Relaxed);
    }

    /// Whether what is committed here is there after a restart: not in tempdb.
    pub(crate) const fn survives(&self) -> bool {
        self.survives
    }
    /// Whether a commit that asks (or does not ask) for delay waits for the disk.
    pub(crate) fn waits_for_disk(&self, asks_delay: bool) -> bool {
        self.survives
            && match self.delayed_durability() {
                DelayedDurability::Disabled => true,
                DelayedDurability::Allowed => !asks_delay,
                DelayedDurability::Forced => false,
            }
    }

    /// A part's entry in the list of the active.
    pub(crate) fn enlist(&self, session: SessionId) -> Arc<Entry> {
        let entry = Arc::new(Entry::new(session));
        let mut active = self.active.lock();
        debug_assert!(active.len() < PARTS_MAX, "parts that are gone are delisted");
        active.push(Arc::clone(&entry));
        entry
    }

    /// The part is gone.
    pub(crate) fn delist(&self, entry: &Arc<Entry>) {
        assert_eq!(entry.needed(), Lsn::ZERO, "a part goes when its transaction is over");
        let mut active = self.active.lock();
        let (began, wrote) = entry.counts();
        self.began.fetch_add(began, Relaxed);
        self.wrote.fetch_add(wrote, Relaxed);
        let at = active.iter().position(|e| Arc::ptr_eq(e, entry));
        active.swap_remove(at.expect("a part has an entry until it is gone"));
        debug_assert!(active.iter().all(|e| !Arc::ptr_eq(e, entry)), "a part is listed once");
    }

    /// Notes that a part is about to log; its records are needed from now on.
    pub(crate) fn enter(&self, entry: &Entry) {
        debug_assert_ne!(self.log().next_lsn(), Lsn::ZERO, "zero says that no record is needed");
        os::sched::switch_point();
        // A total order with the checkpoint: if it does not see this entry, it has read the log's
        // end before this transaction's first record was appended.
        let before = entry.need(self.log().next_lsn());
        assert_eq!(before, Lsn::ZERO, "a part has one transaction at a time");
        os::sched::switch_point();
    }

    /// Notes that a loser's records are needed from its first one on. No checkpoint is taken yet.
    pub(crate) fn enter_from(&self, entry: &Entry, first: Lsn) {
        assert!(first >= self.log().checkpoint().min_lsn, "its log was read just now");
        let before = entry.need(first);
        assert_eq!(before, Lsn::ZERO, "a part has one transaction at a time");
    }

    /// Notes that its records up to now are needed no more.
    pub(crate) fn pass(&self, entry: &Entry) {
        let now = self.log().next_lsn();
        let before = entry.need(now);
        assert!(before != Lsn::ZERO && before <= now, "a bound goes up until a part ends");
    }

    /// Notes that its records are needed no more.
    pub(crate) fn leave(&self, entry: &Entry) {
        let before = entry.need_none();
        assert_ne!(before, Lsn::ZERO, "a part ends once");
        assert!(before <= self.log().next_lsn(), "rule 4: a bound at or below its first record");
    }

    /// A lower bound of the first record of any active transaction; [`Lsn::MAX`] without one.
    /// Whoever relies on it has read the log's end before.
    pub fn oldest_active(&self) -> Lsn {
        let oldest = self.entered().min().unwrap_or(Lsn::MAX);
        debug_assert!(
            oldest == Lsn::MAX || oldest <= self.log().next_lsn(),
            "a bound was the end of the log"
        );
        oldest
    }

    /// The same of the records that recovery needs: versions undo others.
    pub fn oldest_for_recovery(&self) -> Lsn {
        let entries = self.active.lock().clone();
        entries.iter().filter_map(|e| e.log_from()).min().unwrap_or(Lsn::MAX)
    }

    /// From where on the log is not reused while the database is in use: a rollback may need it.
    /// Called by checkpoints, one at a time.
    pub fn bound_for_undo(&self) -> Lsn {
        let read = || {
            let entries = self.active.lock().clone();
            entries.iter().filter_map(|e| e.undo_from()).min().unwrap_or(Lsn::MAX)
        };
        let bound = read();
        // Whoever pins older log from now on finds that it may be gone; who has pinned it before
        // is read now.
        self.undo_bound.fetch_max(bound.min(self.log().next_lsn()).0, SeqCst);
        os::sched::switch_point();
        read().min(bound)
    }

    /// Whether no checkpoint gives log from there on to others, now that a part has pinned it.
    pub(crate) fn has_log_from(&self, from: Lsn) -> bool {
        self.undo_bound.load(SeqCst) <= from.0
    }

    /// Bytes that checkpoints keep of a part's records at most.
    pub(crate) fn kept_bytes_max(&self) -> usize {
        self.kept_bytes_max
    }

    /// What a checkpoint that begins there has to copy of open parts' records.
    pub(crate) fn parts_to_keep(&self, until: Lsn) -> Vec<PartCopy> {
        if !self.is_accelerated() {
            return Vec::new();
        }
        let entries = self.active.lock().clone();
        let mut parts: Vec<PartCopy> = entries.iter().filter_map(|e| e.to_keep(until)).collect();
        // A mark that was set while a checkpoint gave log away may say a place within that. What
        // it is to be rolled back by was logged behind.
        let there = self.log().oldest_kept();
        parts.iter_mut().for_each(|part| part.from = part.from.max(there));
        parts
    }

    /// What the aborted map would say of the active transactions whose first records recovery does
    /// not need, oldest first.
    pub fn open_versions(&self) -> Vec<AbortedTransaction> {
        let entries = self.active.lock().clone();
        let mut open: Vec<_> = entries.iter().flat_map(|e| e.open_versions()).collect();
        open.sort_unstable_by_key(|a| a.begin);
        open
    }

    /// Transactions of so many records or fewer are undone from the log, though versions would do.
    pub fn undone_records_max(&self) -> u64 {
        self.undone_records_max
    }

    /// One more part whose records recovery does not need. False where checkpoints have no room for
    /// another.
    pub(crate) fn relies_on_versions(&self) -> bool {
        let more = |n: usize| (n < RELYING_PARTS_MAX).then_some(n + 1);
        self.relying.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Such a part ends, which was counted so many times: once for each number.
    pub(crate) fn relied_on_versions(&self, numbers: usize) {
        let before = self.relying.fetch_sub(numbers, Relaxed);
        assert!(before >= numbers, "a part that ends was counted");
    }

    /// Active transactions with a part here.
    pub fn active_count(&self) -> usize {
        self.entered().count()
    }

    fn entered(&self) -> impl Iterator<Item = Lsn> {
        let entries = self.active.lock().clone();
        entries.into_iter().map(|e| e.needed()).filter(|&lsn| lsn != Lsn::ZERO)
    }

    /// The parts of transactions that are active, oldest first. Each is true at its moment.
    pub fn open_parts(&self) -> Vec<OpenPart> {
        let entries = self.active.lock().clone();
        let mut parts: Vec<OpenPart> = entries.iter().filter_map(|e| e.read()).collect();
        parts.sort_unstable_by_key(|p| p.id.0);
        parts
    }

    /// Transactions that began to write here, and those that have logged something and committed,
    /// since the database was opened.
    pub fn transaction_counts(&self) -> (u64, u64) {
        let active = self.active.lock();
        let gone = (self.began.load(Relaxed), self.wrote.load(Relaxed));
        active.iter().map(|e| e.counts()).fold(gone, |sum, n| (sum.0 + n.0, sum.1 + n.1))
    }
}

impl Engine {
    /// The rule by which ghosts of a database go now.
    pub fn ghost_rule(&self, home: &Home) -> GhostRule {
        match self.trace_flags.is_on(TraceFlag::GhostsOf2019) {
            true => GhostRule::Transaction,
            false => home.ghost_rule(),
        }
    }
}
