//! The operations on whole databases that ddl asks of the instance. `instance` implements them.

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

/// A file of a new database. The instance chooses what the statement leaves out.
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
    /// NAME: the file that changes.
    pub name: Box<str>,
    /// OFFLINE
    pub offline: bool,
    /// The changes; `name` in them is NEWNAME.
    pub change: NewFile,
}

/// CREATE DATABASE
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDatabase {
    /// Its name.
    pub name: Box<str>,
    /// `None` is the server's collation.
    pub collation: Option<Collation>,
    /// The primary data file.
    pub data: Option<NewFile>,
    /// The log.
    pub log: Option<NewFile>,
}

/// What ALTER DATABASE does about sessions that keep an option from being set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// It waits for them.
    Forever,
    /// NO_WAIT: it fails with error 5070.
    NotAtAll,
    /// ROLLBACK AFTER this many seconds; 0 is IMMEDIATE.
    RollBackAfter(u32),
}

/// The state that ALTER DATABASE asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedState {
    /// It can be used.
    Online,
    /// It is closed.
    Offline,
    /// It can only be read, even if it is damaged.
    Emergency,
}

impl WantedState {
    /// The keyword that asks for it.
    pub fn name(self) -> &'static str {
        match self {
            WantedState::Online => "ONLINE",
            WantedState::Offline => "OFFLINE",
            WantedState::Emergency => "EMERGENCY",
        }
    }
}

/// The request of DBCC CHECKDB or CHECKTABLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Check {
    /// CHECKTABLE of this table; `None` is the whole database.
    pub table: Option<ObjectId>,
    /// NOINDEX: nonclustered indexes of user tables are left out.
    pub no_index: bool,
    /// NO_INFOMSGS: only errors are reported.
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

/// The request of DBCC SHRINKFILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkRequest {
    /// The length that is wanted; `None` is the length with which the file was made.
    pub bytes: Option<u64>,
    /// Whether data beyond that length may be moved.
    pub moving: bool,
}

/// Why a log is longer than the statement asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogShrinkStop {
    /// The log is cut only between virtual log files (VLFs).
    Whole,
    /// The last VLF is in use.
    InUse,
    /// The log must keep at least this many VLFs.
    Fewest(usize),
    /// The free space is reserved for the undo of open transactions.
    Promised,
}

/// The result of DBCC SHRINKFILE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrinkOutcome {
    /// The file.
    pub file: FileId,
    /// Its logical name.
    pub name: Box<str>,
    /// Its length before the statement.
    pub before: u64,
    /// Its length now.
    pub bytes: u64,
    /// The length with which it was made.
    pub first_bytes: u64,
    /// The bytes of it that are in use.
    pub used_bytes: u64,
    /// The end of its last part in use: the shortest length that it could have.
    pub needed_bytes: u64,
    /// Why it is not shorter.
    pub stop: LogShrinkStop,
}

/// Operations on whole databases. None of them is part of the caller's transaction.
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

    /// Sets an option. Returns whether it rolled back sessions that were in the way.
    ///
    /// # Errors
    /// 5011 when there is no such database; errors of the option itself; 5058, 5061, 5070.
    fn set_option(&self, name: &str, option: DatabaseOption, waiting: WaitLimit)
    -> SqlResult<bool>;

    /// Brings a database into a state. Returns whether it rolled back sessions that were in the
    /// way.
    ///
    /// # Errors
    /// 5011 when there is no such database; 5058, 5061, 5064, 5070; the reason why it cannot be
    /// opened.
    fn set_state(&self, name: &str, asked: WantedState, waiting: WaitLimit) -> SqlResult<bool>;

    /// Changes a file. The change holds after a restart, too.
    ///
    /// # Errors
    /// 5041 when there is no file of that name; errors of the change itself; 5149.
    fn modify_file(&self, name: &str, change: &FileChange) -> SqlResult<()>;

    /// CHECKPOINT
    ///
    /// # Errors
    /// The disk's.
    fn checkpoint(&self, database: DatabaseId) -> SqlResult<()>;

    /// DBCC CHECKDB and CHECKTABLE. Returns the messages: an error for each finding, summaries
    /// last.
    ///
    /// # Errors
    /// Those that kept the check itself from being made.
    fn check(
        &self,
        work: &mut Work,
        database: DatabaseId,
        check: &Check,
    ) -> SqlResult<Vec<SqlError>>;

    /// DBCC SQLPERF (name, CLEAR). Returns false when there are no such statistics.
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

    /// DBCC SQLPERF (LOGSPACE): the log of each database and its used space.
    fn log_space(&self) -> ResultSet;
}
