//! Undo: walks a transaction's records backwards; the owner of each record's kind undoes it.
//!
//! Every undo step is logged as a compensation that says where undo continues. So a rollback that a
//! crash interrupts continues where it was, and never undoes a record twice. Rollbacks of
//! transactions, savepoints and statements, and recovery, all walk here.

use crate::kept_records::KeptRecords;
use base::Lsn;
use buffer::{BufferError, Pages, Undo};
use std::sync::Arc;
use wal::{Group, Log, RecordFlags, RecordReader, RecordView, TransactionChain, WalError, kinds};

/// How many records are handed over at a time: about as many as one page has.
const RUN_MAX: usize = 256;

/// Why a record could not be undone.
#[derive(Debug)]
pub enum UndoError {
    /// The log could not be read.
    Log(WalError),
    /// A page could not be read.
    Buffer(BufferError),
    /// The row or page that the record speaks of is not there: damage.
    Lost(Lsn, &'static str),
    /// The callback that sees the chain asked to stop. What was undone stays undone.
    Stopped,
}

impl From<WalError> for UndoError {
    fn from(e: WalError) -> Self {
        UndoError::Log(e)
    }
}

impl From<BufferError> for UndoError {
    fn from(e: BufferError) -> Self {
        UndoError::Buffer(e)
    }
}

impl std::fmt::Display for UndoError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UndoError::Log(e) => write!(f, "{e}"),
            UndoError::Buffer(e) => write!(f, "{e}"),
            UndoError::Lost(lsn, what) => write!(f, "log record {lsn} cannot be undone: {what}"),
            UndoError::Stopped => write!(f, "the undo was stopped, and is the next start's"),
        }
    }
}

impl std::error::Error for UndoError {}

/// What a handler undoes with.
pub struct UndoContext<'a> {
    /// The database's pages.
    pub pages: &'a Arc<Pages>,
    /// Scratch for the compensation's change.
    pub group: &'a mut Group,
    /// The transaction's chain, for `Change::finish`.
    pub chain: &'a mut TransactionChain,
    /// How the compensation is logged.
    pub undo: Undo,
    /// The transaction goes on, and its locks on keys that it inserted may guard more than these
    /// keys. So keys that are undone stay as ghosts.
    pub keeps_keys: bool,
}

/// Undoes records of its kinds. Owned by `txn`, implemented by `rowstore` and others above,
/// wired in `database`.
pub trait UndoHandler: Send + Sync {
    /// Undoes one record by a change whose first page operation is logged with `cx.undo`.
    ///
    /// # Errors
    /// Damage, or a disk that cannot be read.
    fn undo(&self, record: &RecordView<'_>, cx: &mut UndoContext<'_>) -> Result<(), UndoError>;

    /// Undoes the first of some records, and as many of the next ones as one change can. Each has
    /// an operation of its own, whose compensation leads on to its record's `previous`. All are of
    /// one kind and were made on one page, newest first. Returns how many were undone.
    ///
    /// # Errors
    /// As `undo`, of the first.
    fn undo_run(
        &self,
        records: &[RecordView<'_>],
        cx: &mut UndoContext<'_>,
    ) -> Result<usize, UndoError> {
        let first = records.first().expect("a run has a record");
        self.undo(first, cx).map(|()| 1)
    }
}

/// Which handler undoes which kinds.
pub struct UndoTable {
    handlers: Vec<Option<Arc<dyn UndoHandler>>>,
}

impl Default for UndoTable {
    fn default() -> Self {
        UndoTable { handlers: (0..256).map(|_| None).collect() }
    }
}

impl UndoTable {
    /// Gives a range of kinds to a handler.
    #[must_use]
    pub fn with(
        mut self,
        kinds: std::ops::RangeInclusive<u8>,
        handler: &Arc<dyn UndoHandler>,
    ) -> Self {
        assert!(!kinds.is_empty(), "a handler undoes something");
        assert!(*kinds.start() > wal::kinds::LAST_OF_LOG, "the log's own kinds are not undone");
        for k in kinds {
            let place = &mut self.handlers[usize::from(k)];
            assert!(place.is_none(), "kind {k:#x} has one undo handler");
            *place = Some(Arc::clone(handler));
        }
        self
    }
}

/// Which records of a transaction are undone.
#[derive(Clone, Copy, Debug)]
pub struct UndoScope<'k> {
    to: Lsn,
    keeps_keys: bool,
    passes_versioned: bool,
    kept: Option<&'k KeptRecords>,
}

impl<'k> UndoScope<'k> {
    /// All.
    pub const ALL: UndoScope<'static> =
        UndoScope { to: Lsn::ZERO, keeps_keys: false, passes_versioned: false, kept: None };

    /// Those after a record: the transaction goes on. With `keeps_keys` (it has locked ranges) keys
    /// that it inserted stay as ghosts.
    pub const fn after(to: Lsn, keeps_keys: bool) -> UndoScope<'static> {
        UndoScope { to, keeps_keys, passes_versioned: false, kept: None }
    }

    /// Those from a record on that versions do not undo.
    pub fn unversioned_from(from: Lsn) -> UndoScope<'static> {
        assert_ne!(from, Lsn::ZERO, "a record has a place");
        let to = Lsn(from.0 - 1);
        UndoScope { to, keeps_keys: false, passes_versioned: true, kept: None }
    }

    /// The same, where the log is not kept before a place: these have what it had.
    #[must_use]
    pub const fn with(self, kept: Option<&'k KeptRecords>) -> UndoScope<'k> {
        UndoScope { kept, ..self }
    }

    /// The record behind which it begins; zero for all.
    pub const fn to(&self) -> Lsn {
        self.to
    }
}

/// Where an undo finds its records: in the log, and before a place among those that are kept.
struct UndoSource<'a> {
    log: RecordReader<'a>,
    kept: Option<&'a KeptRecords>,
}

impl UndoSource<'_> {
    /// The kept records, where a place is one of theirs.
    fn kept_at(&self, at: Lsn) -> Option<&KeptRecords> {
        self.kept.filter(|kept| at < kept.until())
    }

    /// The newest record at or before a place that is to be undone; `None` where no other is.
    fn record(&mut self, at: Lsn) -> Result<Option<RecordView<'_>>, WalError> {
        match self.kept.filter(|kept| at < kept.until()) {
            Some(kept) => Ok(kept.newest_at(at)),
            None => self.log.record(at).map(Some),
        }
    }

    /// The same without reading anything.
    fn at_hand(&self, at: Lsn) -> Option<RecordView<'_>> {
        match self.kept_at(at) {
            Some(kept) => kept.newest_at(at),
            None => self.log.kept(at),
        }
    }
}

/// Undoes records of a transaction, newest first. After each change a callback sees the chain, and
/// says whether the walk goes on.
///
/// # Errors
/// See [`UndoError`]; what was undone stays undone, and a repeated call goes on.
pub fn roll_back(
    pages: &Arc<Pages>,
    table: &UndoTable,
    group: &mut Group,
    chain: &mut TransactionChain,
    UndoScope { to, keeps_keys, passes_versioned, kept }: UndoScope<'_>,
    undone: &dyn Fn(&TransactionChain) -> bool,
) -> Result<(), UndoError> {
    assert_ne!(chain.id, 0, "records belong to a transaction");
    let log: &Arc<Log> = pages.log();
    assert!(chain.first <= chain.last, "a chain goes forward");
    assert!(chain.last < log.next_lsn(), "what is undone was logged");
    let mut source = UndoSource { log: RecordReader::new(log), kept };
    let mut at = chain.last;
    while at > to {
        let found = source.record(at)?;
        let Some(view) = found.filter(|view| view.lsn > to) else { break };
        let view = checked(view, chain.id)?;
        at = view.previous();
        if is_passed(&view, passes_versioned) {
            continue;
        }
        let lsn = view.lsn;
        let handler = table.handlers[usize::from(view.kind().0)].as_ref();
        let handler = handler.ok_or(UndoError::Lost(lsn, "nobody undoes its kind"))?;
        let run = run_of(&source, lsn, to, (chain.id, passes_versioned));
        let mut left = &run[..];
        while let Some(first) = left.first() {
            let undo = Undo::Compensation { transaction: chain.id, next: first.previous() };
            let before = chain.last;
            let mut cx = UndoContext { pages, group, chain, undo, keeps_keys };
            let count = handler.undo_run(left, &mut cx)?;
            assert!((1..=left.len()).contains(&count), "what was handed over is undone in turn");
            assert!(chain.last > before, "rule 1: the undo is logged, or it would be done again");
            at = left[count - 1].previous();
            left = &left[count..];
            if !undone(chain) {
                return Err(UndoError::Stopped);
            }
        }
    }
    Ok(())
}

/// The record, if it is a link of the transaction's chain.
fn checked(view: RecordView<'_>, transaction: u32) -> Result<RecordView<'_>, UndoError> {
    if view.transaction() != transaction {
        return Err(UndoError::Lost(view.lsn, "it belongs to another transaction"));
    }
    if view.previous() >= view.lsn {
        return Err(UndoError::Lost(view.lsn, "the transaction's chain does not go back"));
    }
    Ok(view)
}

/// Whether the walk skips it, since there is nothing to undo.
fn is_passed(view: &RecordView<'_>, passes_versioned: bool) -> bool {
    let versioned = if passes_versioned { RecordFlags::VERSIONED } else { 0 };
    view.flags().has(RecordFlags::COMPENSATION | RecordFlags::REDO_ONLY | versioned)
        || matches!(
            view.kind(),
            kinds::BEGIN | kinds::VERSION_NUMBER | kinds::SAVEPOINT | kinds::PREPARE
        )
}

/// A record, and those that the walk meets after it, as long as they are in memory and of its kind
/// and page.
fn run_of<'r>(
    source: &'r UndoSource<'_>,
    first: Lsn,
    to: Lsn,
    (transaction, passes_versioned): (u32, bool),
) -> Vec<RecordView<'r>> {
    let first = source.at_hand(first).expect("it was read just now");
    let (mut run, mut at) = (vec![first], first.previous());
    while at > to && run.len() < RUN_MAX {
        let next = source.at_hand(at).filter(|view| view.lsn > to);
        let next = next.and_then(|view| checked(view, transaction).ok());
        let of = |r: &RecordView<'_>| (r.kind(), r.page(), r.alloc_unit());
        let like = |r: &RecordView<'_>| of(r) == of(&first);
        let Some(next) = next.filter(|r| !is_passed(r, passes_versioned) && like(r)) else { break };
        at = next.previous();
        run.push(next);
    }
    run
}
