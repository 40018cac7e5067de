//! `sysidxstats`: heaps, indexes, and statistics of their own.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// A heap, an index, or statistics that no index has.
    IndexRow of Indexes, "sysidxstats", key 2 {
        object: i32 => "id" SqlType::Int,
        index: i32 => "indid" SqlType::Int,
        /// Empty for a heap.
        name: Box<str> => "name" SqlType::SYSNAME,
        /// See [`index_status`].
        status: i32 => "status" SqlType::Int,
        /// 0 heap, 1 clustered, 2 nonclustered, 3 statistics alone.
        kind: u8 => "type" SqlType::TinyInt,
        fill_factor: u8 => "fillfact" SqlType::TinyInt,
        /// The object of the constraint that it enforces; 0 without one.
        constraint: i32 => "cnstid" SqlType::Int,
    }
}

/// [`IndexRow::kind`] of statistics without an index: they have no hobt.
pub(crate) const STATISTICS_ALONE: u8 = 3;

/// Bits of [`IndexRow::status`].
pub(crate) mod index_status {
    pub(crate) const UNIQUE: i32 = 1;
    pub(crate) const PRIMARY_KEY: i32 = 2;
    pub(crate) const UNIQUE_CONSTRAINT: i32 = 4;
    pub(crate) const SYSTEM_NAMED: i32 = 8;
    pub(crate) const IGNORE_DUP_KEY: i32 = 16;
    pub(crate) const DISABLED: i32 = 32;
    pub(crate) const NO_RECOMPUTE: i32 = 64;
    pub(crate) const PADDED: i32 = 128;

    /// The version of the order of its key's collations stands above the bits; 0 where that is an
    /// order that has no versions, and in rows of before there were any.
    pub(crate) const ORDER_SHIFT: u32 = 16;
}
