//! The errors inside this crate. `RowHobt::sql` (`hobt/mod.rs`) turns them into those that the user
//! sees.

use base::SqlError;
use btree::BtreeError;
use buffer::BufferError;
use os::wait::CancelReason;
use space::SpaceError;
use version::VersionError;
use wal::WalError;

/// An error inside this crate.
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
