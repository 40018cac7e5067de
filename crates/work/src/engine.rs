//! `Engine`: what units of work share, one an instance.

use crate::decisions::Decisions;
use crate::ghost_rule::GhostRule;
use crate::grave_memory::GraveMemory;
use crate::trace_flags::{TraceFlag, TraceFlags};
use crate::version_use::VersionUse;
use base::{SessionId, SqlError};
use lock::Owner;
use os::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak};
use txn::Transactions;
use version::{SharedStore, TempdbStore, VersionStore};

/// So many ghosts go under the locks of their deleter: 2 ms.
const UNDER_LOCKS: usize = 1_000;

/// Bytes that checkpoints keep of a transaction's records at most (`secondary_log.rs`).
const KEPT_BYTES_MAX: usize = 16 << 20;

/// A transaction of so many records or fewer is undone from the log: that takes less than 50 ms,
/// and leaves nothing for the sweep, which reads all pages of what the transaction has changed.
const UNDONE_RECORDS_MAX: u64 = 10_000;
/// What the cleaner of versions has until the server's options say something else.
const CLEANER_THREADS: u32 = 1;
const CLEANER_RETRY_MINUTES: u32 = 15;
const PREALLOCATION_FACTOR: u32 = 4;
/// Pages that the factor is of.
const PREALLOCATED_PAGES: usize = 512;

/// Writes a line of a session into the error log.
pub type WriteErrorLog = dyn Fn(SessionId, &SqlError) + Send + Sync;

/// What units of work share: one an instance.
pub struct Engine {
    /// Numbers, commits, snapshots.
    pub transactions: Transactions,
    /// Locks of all databases.
    pub locks: Arc<lock::Table>,
    /// Former versions of rows; there once tempdb is.
    pub(crate) versions: OnceLock<Arc<TempdbStore>>,
    /// The same as every home has it.
    shared_store: SharedStore,
    /// Trace flags of the whole server.
    pub trace_flags: TraceFlags,
    /// What commits over several databases have decided.
    pub decisions: Decisions,
    /// What ghosts off their leaves may take.
    pub graves: Arc<GraveMemory>,
    /// The function that writes lines about a session into the error log; absent where there is no
    /// error log.
    pub error_log: OnceLock<Box<WriteErrorLog>>,
    /// When the version store was shrunk last for want of room; one does it at a time.
    pub(crate) shrinking: Mutex<u64>,
    /// When rollbacks are left to the next start (monotonic, nanoseconds).
    undo_until: AtomicU64,
    /// Owners of locks that stay until the next start.
    pub(crate) left_behind: Mutex<Vec<Arc<Owner>>>,
    versioned: AtomicBool,
    optimized_locking: AtomicBool,
    transactions_pin: AtomicBool,
    /// So many ghosts a transaction settles under its locks (`settle.rs`).
    pub(crate) ghosts_under_locks: AtomicUsize,
    /// A transaction of so many records or fewer is undone from the log.
    pub(crate) undone_records_max: AtomicU64,
    /// Bytes that checkpoints keep of a transaction's records at most.
    pub(crate) kept_bytes_max: AtomicUsize,
    /// `ADR Cleaner Thread Count`
    cleaner_threads: AtomicU32,
    /// `ADR cleaner retry timeout (min)`
    cleaner_retry_minutes: AtomicU32,
    /// `ADR Preallocation Factor`
    preallocation_factor: AtomicU32,
    /// One a unit of work that has used versions.
    pub(crate) version_uses: Mutex<Vec<Weak<VersionUse>>>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        if !os::sched::crashed() {
            // The next start undoes what they have locked: nobody works any more.
            self.left_behind.get_mut().iter().for_each(|owner| self.locks.release_all(owner));
        }
    }
}

impl Engine {
    /// Nothing has happened yet.
    pub fn new(locks: Arc<lock::Table>) -> Engine {
        Engine {
            transactions: Transactions::default(),
            locks,
            versions: OnceLock::new(),
            shared_store: SharedStore::default(),
            trace_flags: TraceFlags::default(),
            decisions: Decisions::default(),
            graves: Arc::default(),
            error_log: OnceLock::new(),
            shrinking: Mutex::new(0),
            undo_until: AtomicU64::new(u64::MAX),
            left_behind: Mutex::default(),
            versioned: AtomicBool::new(false),
            optimized_locking: AtomicBool::new(false),
            transactions_pin: AtomicBool::new(false),
            ghosts_under_locks: AtomicUsize::new(UNDER_LOCKS),
            undone_records_max: AtomicU64::new(UNDONE_RECORDS_MAX),
            kept_bytes_max: AtomicUsize::new(KEPT_BYTES_MAX),
            cleaner_threads: AtomicU32::new(CLEANER_THREADS),
            cleaner_retry_minutes: AtomicU32::new(CLEANER_RETRY_MINUTES),
            preallocation_factor: AtomicU32::new(PREALLOCATION_FACTOR),
            version_uses: Mutex::default(),
        }
    }

    /// Where databases keep former versions, unless in a store of their own. Once, when there is a
    /// tempdb.
    pub fn keep_versions_in(&self, store: Arc<TempdbStore>) {
        let shared: Arc<dyn VersionStore> = Arc::clone(&store) as _;
        let fresh = self.versions.set(store).is_ok() && self.shared_store.set(shared).is_ok();
        assert!(fresh, "an instance has one tempdb");
    }

    /// The version store in tempdb.
    ///
    /// # Panics
    /// Before there is a tempdb: nothing is versioned then.
    pub fn shared_store(&self) -> &Arc<TempdbStore> {
        self.versions.get().expect("tempdb is there before a database has versions")
    }

    /// The same, if there is a tempdb.
    pub fn find_shared_store(&self) -> Option<&Arc<TempdbStore>> {
        self.versions.get()
    }

    /// What the version store in tempdb takes; `None` before there is a tempdb.
    pub fn version_usage(&self) -> Option<version::Usage> {
        self.versions.get().map(|store| store.usage())
    }

    /// Where homes find that store once it is there.
    pub(crate) fn shared_cell(&self) -> &SharedStore {
        &self.shared_store
    }

    /// The process is about to stop: what is not rolled back by a moment is left to the next start.
    /// The first who says so counts.
    pub fn leave_undo_at(&self, monotonic_ns: u64) {
        self.undo_until.fetch_min(monotonic_ns, Relaxed);
    }

    /// Whether a rollback goes on: it is asked after each of its changes.
    #[inline]
    pub(crate) fn undoes(&self) -> bool {
        let until = self.undo_until.load(Relaxed);
        until == u64::MAX || os::clock::monotonic_ns() < until
    }

    /// What the server's options say of the cleaner of versions.
    pub fn configure_cleaner(&self, threads: u32, retry_minutes: u32) {
        self.cleaner_threads.store(threads.max(1), Relaxed);
        self.cleaner_retry_minutes.store(retry_minutes, Relaxed);
    }

    /// What they say of pages that version stores make ahead.
    pub fn configure_preallocation(&self, factor: u32) {
        self.preallocation_factor.store(factor, Relaxed);
    }

    /// So many pages a database's own version store makes ahead at most.
    pub fn preallocated_pages_max(&self) -> usize {
        self.preallocation_factor.load(Relaxed) as usize * PREALLOCATED_PAGES
    }

    /// So many threads clean versions at a time.
    pub fn cleaner_threads(&self) -> u32 {
        self.cleaner_threads.load(Relaxed)
    }

    /// So many minutes the cleaner tries again where others hold what it has to clean, before it
    /// gives the sweep up.
    pub fn cleaner_retry_minutes(&self) -> u32 {
        self.cleaner_retry_minutes.load(Relaxed)
    }

    /// Whether any database has had versions for statements since the start, or any transaction has
    /// drawn a number: where none has, nobody asks further.
    #[inline]
    pub fn has_versions(&self) -> bool {
        self.versioned.load(Relaxed)
    }

    /// Whether a transaction that uses row versions holds ghosts to its end: a database has the
    /// rule of 2019, or trace flag 7006 is on.
    #[inline]
    pub fn transactions_pin(&self) -> bool {
        self.transactions_pin.load(Relaxed) || self.trace_flags.is_on(TraceFlag::GhostsOf2019)
    }

    /// A transaction that begins now settles so many ghosts under its locks, the others without: a
    /// test wants few.
    pub fn settle_under_locks(&self, ghosts: usize) {
        self.ghosts_under_locks.store(ghosts, Relaxed);
    }

    /// In databases that are opened from now on, transactions of so many records or fewer are
    /// undone from the log, though versions would do: a test has small transactions.
    pub fn undo_from_log(&self, records: u64) {
        self.undone_records_max.store(records, Relaxed);
    }

    /// In databases that are opened from now on, a transaction with more bytes of records that only
    /// the log undoes keeps its log: a test has small transactions.
    pub fn keep_at_most(&self, bytes: usize) {
        self.kept_bytes_max.store(bytes, Relaxed);
    }

    /// A database has a rule from now on.
    pub fn note_rule(&self, rule: GhostRule) {
        if rule == GhostRule::Transaction {
            self.transactions_pin.store(true, Relaxed);
        }
    }

    /// Whether any database has had optimized locking since the start.
    #[inline]
    pub fn has_optimized_locking(&self) -> bool {
        self.optimized_locking.load(Relaxed)
    }

    /// A database has it from now on.
    pub fn note_optimized_locking(&self) {
        self.optimized_locking.store(true, Relaxed);
    }

    /// A database has versions for statements from now on, or a number is drawn.
    pub fn note_versions(&self) {
        self.versioned.store(true, Relaxed);
    }
}
