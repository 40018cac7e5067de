//! `sysiscols`: the columns of indexes.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// A column of an index: key columns first, in order, then included ones.
    IndexColumnRow of IndexColumns, "sysiscols", key 3 {
        object: i32 => "idmajor" SqlType::Int,
        index: i32 => "idminor" SqlType::Int,
        /// From 1.
        position: i32 => "subid" SqlType::Int,
        /// The table's column id.
        column: i32 => "intprop" SqlType::Int,
        /// See [`index_column_status`].
        status: i32 => "status" SqlType::Int,
    }
}

/// Bits of [`IndexColumnRow::status`].
pub(crate) mod index_column_status {
    pub(crate) const DESCENDING: i32 = 1;
    pub(crate) const INCLUDED: i32 = 2;
}
