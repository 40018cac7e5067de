//! What a statement asks of locks for one table reference: level, hints, strength, moment.

use work::CommitTime;

/// How reads of a reference are isolated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// No row locks; uncommitted rows are seen.
    ReadUncommitted,
    /// A row is read only when nobody holds it exclusively.
    ReadCommitted,
    /// Rows read stay locked to the end of the transaction.
    RepeatableRead,
    /// Ranges read stay locked to the end of the transaction.
    Serializable,
    /// The transaction's snapshot (needs row versions).
    Snapshot,
}

/// What is locked: SQL Server chooses rows unless a hint says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granule {
    /// Rows, with intent locks above; escalates.
    #[default]
    Row,
    /// PAGLOCK.
    Page,
    /// TABLOCK, TABLOCKX, or an escalated reference.
    Table,
}

/// How strongly rows are locked while they are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Strength {
    /// S: a read.
    Shared,
    /// U: UPDLOCK, or the search of an UPDATE or DELETE.
    Update,
    /// X: XLOCK, TABLOCKX, or a target.
    Exclusive,
}

/// The lock behaviour of one table reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockPlan {
    /// The session's level or the reference's hint.
    pub isolation: Isolation,
    /// What is locked.
    pub granule: Granule,
    /// How strongly.
    pub strength: Strength,
    /// Locks stay to the end of the transaction whatever the level (UPDLOCK, XLOCK, HOLDLOCK).
    pub hold: bool,
    /// READPAST: rows that others hold are skipped.
    pub read_past: bool,
    /// NOWAIT: as LOCK_TIMEOUT 0, for this reference.
    pub no_wait: bool,
    /// A row that was given, and not given up by [`RowCursor::release_row`], stays locked when the
    /// cursor goes on: to the end of the transaction.
    ///
    /// [`RowCursor::release_row`]: crate::RowCursor::release_row
    pub kept_back: bool,
    /// Rows as they were at that moment; their snapshot is registered until the last cursor is
    /// gone. A plain read locks no row or page then. Who locks rows under SNAPSHOT is refused those
    /// that have changed since.
    pub as_of: Option<CommitTime>,
    /// A row is changed only where nobody has changed it since that moment (3960).
    pub unchanged_since: Option<CommitTime>,
}

impl LockPlan {
    /// A plain read at a level.
    pub const fn read(isolation: Isolation) -> Self {
        LockPlan {
            isolation,
            granule: Granule::Row,
            strength: Strength::Shared,
            hold: false,
            read_past: false,
            no_wait: false,
            kept_back: false,
            as_of: None,
            unchanged_since: None,
        }
    }

    /// The target of a change at a level: U while searching, X on what is changed.
    pub const fn change(isolation: Isolation) -> Self {
        LockPlan { strength: Strength::Update, ..LockPlan::read(isolation) }
    }
}
