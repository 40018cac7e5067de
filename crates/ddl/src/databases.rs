//! What ddl asks of the instance: databases as a whole. Implemented by `instance`.

use crate::context::ResultSet;
use base::{DatabaseId, FileId, ObjectId, SqlError, SqlResult};
use catalog::{DatabaseOption, FileGrowth};
use types::Collation;
use work::Work;

/// A size in a file specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSize {
    /// Bytes.
    Bytes(u64),
    /// UNLIMITED
    Unlimited,
}

/// A file of a new database. What is not said is the instance's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewFile {
    /// NAME
    pub name: Option<Box<str>>,
    /// FILENAME
    pub path: Option<Box<str>>,
    /// SIZE in bytes
    pub size: Option<u64>,
    /// MAXSIZE
    pub size_max: Option<FileSize>,
    /// FILEGROWTH
    pub growth: Option<FileGrowth>,
}

/// ALTER DATABASE … MODIFY FILE
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// NAME: which file.
    pub name: Box<str>,
    /// OFFLINE
    pub offline: bool,
    /// What is to change; `name` in it is NEWNAME.
    pub change: NewFile,
}

/// CREATE DATABASE
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDatabase {
    /// Its name.
    pub name: Box<str>,
    /// The server's without.
    pub collation: Option<Collation>,
    /// The primary data file.
    pub data: Option<NewFile>,
    /// The log.
    pub log: Option<NewFile>,
}

/// What happens to sessions that are in the way of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// Wait for them.
    Forever,
    /// NO_WAIT: error 5070.
    NotAtAll,
    /// ROLLBACK AFTER so many seconds; 0 is IMMEDIATE.
    RollBackAfter(u32),
}

/// How a database is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedState {
    /// It can be used.
    Online,
    /// It is closed.
    Offline,
    /// It is read as it is.
    Emergency,
}

impl WantedState {
    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            WantedState::Online => "ONLINE",
            WantedState::Offline => "OFFLINE",
            WantedState::Emergency => "EMERGENCY",
        }
    }
}

/// What DBCC CHECKDB or CHECKTABLE is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Check {
    /// CHECKTABLE of this table; `None` is the whole database.
    pub table: Option<ObjectId>,
    /// NOINDEX: nonclustered indexes of user tables are left out.
    pub no_index: bool,
    /// NO_INFOMSGS: only what is wrong is said.
    pub quiet: bool,
}

/// A file of the current database, as DBCC names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileReference {
    /// Its number.
    Id(FileId),
    /// Its logical name.
    Name(String),
}

/// What DBCC SHRINKFILE is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkRequest {
    /// The length that is wanted; `None` is the one that the file was made with.
    pub bytes: Option<u64>,
    /// Whether what is in the way is moved.
    pub moving: bool,
}

/// Why a log is longer than was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogShrinkStop {
    /// A virtual log file is kept whole.
    Whole,
    /// The last one is in use.
    InUse,
    /// So many there must be.
    Fewest(usize),
    /// What is free is promised.
    Promised,
}

/// What DBCC SHRINKFILE did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrinkOutcome {
    /// Which file.
    pub file: FileId,
    /// Its logical name.
    pub name: Box<str>,
    /// How long it was.
    pub before: u64,
    /// How long it is.
    pub bytes: u64,
    /// How long it was made.
    pub first_bytes: u64,
    /// How much of it is in use.
    pub used_bytes: u64,
    /// Up to where it is in use: how short it could be made.
    pub needed_bytes: u64,
    /// What was in the way.
    pub stop: LogShrinkStop,
}

/// Databases as a whole. None of this is part of the caller's transaction.
pub trait Databases {
    /// Makes a database.
    ///
    /// # Errors
    /// 1801, 1802, space.
    fn create(&self, new: &NewDatabase) -> SqlResult<()>;

    /// Drops a database.
    ///
    /// # Errors
    /// 3701 when there is none, 3702 in use, 3708 a system database.
    fn drop(&self, name: &str) -> SqlResult<()>;

    /// Gives a database another name.
    ///
    /// # Errors
    /// 1801, in use.
    fn rename(&self, name: &str, new_name: &str) -> SqlResult<()>;

    /// Sets an option; whether sessions that were in its way are rolled back.
    ///
    /// # Errors
    /// 5011 when there is no such database; what the option says; 5058, 5061, 5070.
    fn set_option(&self, name: &str, option: DatabaseOption, waiting: WaitLimit)
    -> SqlResult<bool>;

    /// Brings a database into a state; whether sessions that were in its way are rolled back.
    ///
    /// # Errors
    /// 5011 when there is no such database; 5058, 5061, 5064, 5070; why it cannot be opened.
    fn set_state(&self, name: &str, asked: WantedState, waiting: WaitLimit) -> SqlResult<bool>;

    /// Changes a file; for now and for every start to come.
    ///
    /// # Errors
    /// 5041 when there is none of that name; what is wrong with the change; 5149.
    fn modify_file(&self, name: &str, change: &FileChange) -> SqlResult<()>;

    /// CHECKPOINT
    ///
    /// # Errors
    /// The disk's.
    fn checkpoint(&self, database: DatabaseId) -> SqlResult<()>;

    /// DBCC CHECKDB and CHECKTABLE: what is to be said, each finding an error, summaries last.
    ///
    /// # Errors
    /// When the check itself could not be made.
    fn check(
        &self,
        work: &mut Work,
        database: DatabaseId,
        check: &Check,
    ) -> SqlResult<Vec<SqlError>>;

    /// DBCC SQLPERF (name, CLEAR): false when there are no such statistics.
    fn clear_statistics(&self, name: &str) -> bool;

    /// The name of the database that has a number.
    ///
    /// # Errors
    /// 911 when there is none.
    fn name_of(&self, database: DatabaseId) -> SqlResult<String>;

    /// DBCC LOGINFO: the virtual log files of a database.
    ///
    /// # Errors
    /// 911 when it has been dropped.
    fn log_info(&self, database: DatabaseId) -> SqlResult<ResultSet>;

    /// DBCC SHRINKFILE
    ///
    /// # Errors
    /// 8985 when there is no such file, 40517 of a data file, 3140, the disk's.
    fn shrink_file(
        &self,
        database: DatabaseId,
        file: &FileReference,
        asked: ShrinkRequest,
    ) -> SqlResult<ShrinkOutcome>;

    /// DBCC SQLPERF (LOGSPACE): how full the log of each database is.
    fn log_space(&self) -> ResultSet;
}
