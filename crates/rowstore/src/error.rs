//! Translates errors of the crates below to what the user is told.

use crate::hobt::RowHobt;
use access::WriteError;
use base::{SqlError, messages};
use btree::BtreeError;
use buffer::BufferError;
use os::wait::CancelReason;
use space::SpaceError;
use version::VersionError;
use wal::WalError;

/// What a step of this crate came across.
#[derive(Debug)]
pub(crate) enum RowError {
    Btree(BtreeError),
    Buffer(BufferError),
    Space(SpaceError),
    Log(WalError),
    Lock(lock::LockError),
    Cancelled(CancelReason),
    Version(VersionError),
    /// 3960
    Conflict,
    /// 3958
    NotKept,
    /// 3966
    Victim,
    Sql(SqlError),
}

macro_rules! from {
    ($($t:ty => $v:ident),*) => {$(
        impl From<$t> for RowError {
            fn from(e: $t) -> Self {
                RowError::$v(e)
            }
        }
    )*};
}
from!(
    BtreeError => Btree,
    BufferError => Buffer,
    SpaceError => Space,
    WalError => Log,
    lock::LockError => Lock,
    CancelReason => Cancelled,
    VersionError => Version,
    SqlError => Sql
);

pub(crate) type RowResult<T> = Result<T, RowError>;

impl RowHobt {
    /// The error as the user sees it. Objects are named by number where only numbers are known.
    pub(crate) fn sql(&self, e: RowError) -> SqlError {
        let name = self.home.name();
        let object = format!("object {}", self.spec.object);
        let table = || self.home.object_name(self.spec.object);
        match e {
            RowError::Btree(e) => e.into_sql(&object, &name),
            RowError::Buffer(e) => e.into(),
            RowError::Space(e) => e.into_sql(&object, &name),
            RowError::Log(e) => e.into_sql(&name),
            RowError::Lock(e) => e.into(),
            RowError::Cancelled(why) => why.into(),
            RowError::Version(e) => {
                let own = self.home.version_stores().keeps_own();
                e.into_sql(if own { &name } else { "tempdb" })
            }
            RowError::Conflict => {
                SqlError::new(messages::UPDATE_CONFLICT, &[&table(), &name]).with_state(2)
            }
            RowError::NotKept => SqlError::new(messages::VERSION_NOT_FOUND, &[&table(), &name]),
            RowError::Victim => SqlError::new(messages::VERSIONS_VICTIM, &[]),
            RowError::Sql(e) => e,
        }
    }

    pub(crate) fn write_error(&self, e: RowError) -> WriteError {
        match e {
            RowError::Conflict => WriteError::Conflict,
            e => WriteError::Sql(self.sql(e)),
        }
    }
}
