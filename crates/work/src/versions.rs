//! What a unit of work has of row versions: its number, how it reads, its places in the stores.
//! `versioning.rs` has what it does with them, and the invariants.

use crate::home::Home;
use crate::numbers::{Numbers, OpenMarks};
use crate::registrations::Registrations;
use crate::snapshot::Snapshot;
use crate::version_places::Places;
use crate::version_use::{Traversal, VersionUse};
use base::{SessionId, Xsn};
use std::cell::Cell;
use std::sync::Arc;
use txn::{CommitTable, CommitTime};

/// What a unit of work has of versions.
#[derive(Default)]
pub(crate) struct Versions {
    pub(crate) number: Number,
    /// Those under which it writes.
    pub(crate) numbers: Numbers,
    /// Marks within the current number, each with the count of records before it.
    pub(crate) marks: OpenMarks<u64>,
    /// How often versions have undone parts of transactions.
    pub(crate) cuts: u64,
    pub(crate) places: Places,
    /// There was no room for the next version: it is not kept.
    pub(crate) without: bool,
    pub(crate) reads: Reads,
    /// The transaction uses versions, where that matters to anybody.
    pub(crate) user: Option<(u64, CommitTime)>,
    /// What others may know; made when it is first wanted, and that of the transaction where this
    /// one reads for another's.
    pub(crate) told: Option<Arc<VersionUse>>,
    pub(crate) followed: Cell<TraversalCount>,
    /// Writers that have committed, of whom it has asked last.
    pub(crate) known: Cell<[(Xsn, CommitTime); 2]>,
    pub(crate) registered: Registrations,
}

/// Stored versions that were gone along.
#[derive(Clone, Copy, Default)]
pub(crate) struct TraversalCount {
    /// Since the unit of work was made.
    pub(crate) all: u64,
    /// Those of them that others have not been told of yet.
    pub(crate) untold: Traversal,
}

/// The transaction's first sequence number.
#[derive(Clone, Copy, Default)]
pub(crate) enum Number {
    /// It has none.
    #[default]
    None,
    /// Drawn by a transaction that reads and has changed nothing: no page has it.
    Drawn(Xsn),
    /// It may stand on pages.
    Written(Xsn),
    /// It reads for a transaction, which ends its own numbers.
    Others,
}

/// How the transaction reads.
#[derive(Default)]
pub(crate) enum Reads {
    /// It has not read or written anything yet.
    #[default]
    Nothing,
    /// Its first access was under another level than SNAPSHOT.
    Otherwise,
    /// As of the moment of its first access, in the databases that have let it in.
    AsOf(Snapshot, Vec<Arc<Home>>),
    /// It did, and is about to end.
    Over(Vec<Arc<Home>>),
    /// For a transaction that does.
    For(CommitTime),
}

impl Versions {
    /// What readers for the transaction have of it.
    pub(crate) fn for_readers(&self) -> ReaderVersions {
        ReaderVersions {
            numbers: self.numbers.clone(),
            moment: self.moment(),
            told: self.told.clone(),
            registered: self.registered.clone(),
        }
    }

    /// Of a reader for a transaction.
    pub(crate) fn of(transaction: ReaderVersions) -> Versions {
        Versions {
            number: Number::Others,
            numbers: transaction.numbers,
            marks: OpenMarks::default(),
            cuts: 0,
            places: Places::default(),
            without: false,
            reads: transaction.moment.map_or(Reads::Nothing, Reads::For),
            told: transaction.told,
            followed: Cell::default(),
            known: Cell::default(),
            user: None,
            registered: transaction.registered,
        }
    }

    pub(crate) fn moment(&self) -> Option<CommitTime> {
        match &self.reads {
            Reads::AsOf(snapshot, _) => Some(snapshot.at()),
            Reads::For(at) => Some(*at),
            Reads::Nothing | Reads::Otherwise | Reads::Over(_) => None,
        }
    }

    pub(crate) fn transaction_ends(&mut self, session: SessionId, commits: &CommitTable) {
        let told = self.told.as_ref();
        match self.number {
            // The transaction goes on.
            Number::Others => {}
            // Who asked has drawn it.
            Number::None => {
                let given = told.and_then(|told| told.end());
                given.into_iter().for_each(|xsn| commits.abort(xsn));
            }
            Number::Drawn(own) | Number::Written(own) => {
                let ended = told.and_then(|told| told.end());
                assert_eq!(ended, Some(own), "a transaction has one first number");
            }
        }
        self.number = Number::None;
        self.numbers.clear();
        self.marks.clear();
        self.without = false;
        if let Reads::AsOf(_, homes) | Reads::Over(homes) = std::mem::take(&mut self.reads) {
            homes.iter().for_each(|home| home.leave_snapshot(session));
        }
    }

    /// The unit of work is gone.
    pub(crate) fn leave(&self, commits: &CommitTable) {
        match self.number {
            Number::None => self.told.iter().for_each(|told| told.leave(commits)),
            // The transaction goes on, or could not be ended.
            Number::Others | Number::Drawn(_) | Number::Written(_) => {}
        }
    }

    /// It reads no more: what it has deleted itself it does not keep.
    pub(crate) fn stop_reading(&mut self) {
        self.reads = match std::mem::take(&mut self.reads) {
            Reads::AsOf(_, homes) => Reads::Over(homes),
            other => other,
        };
    }
}

/// What readers for a transaction have of its versions.
#[derive(Clone)]
pub(crate) struct ReaderVersions {
    numbers: Numbers,
    moment: Option<CommitTime>,
    told: Option<Arc<VersionUse>>,
    registered: Registrations,
}
