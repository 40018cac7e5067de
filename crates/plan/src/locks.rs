//! What a table reference says about locks. `exec` makes an `access::LockPlan` of it, filling in
//! the session's isolation level, so that one cached plan serves every level.

/// An isolation level that a hint asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// NOLOCK, READUNCOMMITTED
    ReadUncommitted,
    /// READCOMMITTED: by locks or by versions, as the database says
    ReadCommitted,
    /// READCOMMITTEDLOCK: by locks whatever the database says
    ReadCommittedLock,
    /// REPEATABLEREAD
    RepeatableRead,
    /// HOLDLOCK, SERIALIZABLE
    Serializable,
    /// SNAPSHOT
    Snapshot,
    /// Of a constraint's own reading: the session's level where that keeps locks, else
    /// READCOMMITTEDLOCK, so that it sees what is there now.
    Enforcing,
}

/// What is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granule {
    /// Rows; the default, and ROWLOCK.
    #[default]
    Row,
    /// PAGLOCK
    Page,
    /// TABLOCK, TABLOCKX
    Table,
}

/// How strongly rows are locked while they are looked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Strength {
    /// A read.
    #[default]
    Shared,
    /// UPDLOCK, or the search of an UPDATE or DELETE.
    Update,
    /// XLOCK, TABLOCKX.
    Exclusive,
}

/// The lock behaviour of one table reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LockHints {
    /// A hint's level; `None` is the session's.
    pub level: Option<Level>,
    /// What is locked.
    pub granule: Granule,
    /// How strongly.
    pub strength: Strength,
    /// Locks stay to the end of the transaction whatever the level (UPDLOCK, XLOCK, TABLOCKX).
    pub hold: bool,
    /// READPAST
    pub read_past: bool,
    /// NOWAIT
    pub no_wait: bool,
    /// What qualifies stays locked when the scan goes on: an operator above keeps it back before
    /// the statement changes it.
    pub kept_back: bool,
}

impl LockHints {
    /// Whether its level may be read by versions.
    pub const fn reads_versions(&self) -> bool {
        matches!(self.level, None | Some(Level::ReadCommitted | Level::Snapshot))
    }

    /// Whether under SNAPSHOT a row is changed only where nobody has changed it since: where no
    /// hint asks for another level. What a foreign key changes is judged, too.
    pub const fn judges_changes(&self) -> bool {
        matches!(self.level, None | Some(Level::Snapshot | Level::Enforcing))
    }

    /// A table variable: nobody else has it, and its session waits for nothing in it.
    pub const fn private() -> Self {
        LockHints {
            level: Some(Level::ReadUncommitted),
            granule: Granule::Row,
            strength: Strength::Shared,
            hold: false,
            read_past: false,
            no_wait: false,
            kept_back: false,
        }
    }

    /// A read without hints.
    pub const fn read() -> Self {
        LockHints { strength: Strength::Shared, ..LockHints::change() }
    }

    /// The target of an UPDATE or DELETE without hints.
    pub const fn change() -> Self {
        LockHints {
            level: None,
            granule: Granule::Row,
            strength: Strength::Update,
            hold: false,
            read_past: false,
            no_wait: false,
            kept_back: false,
        }
    }
}
