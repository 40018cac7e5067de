//! `sysrowsets`: which partition of which index of which object a hobt is.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// A heap or B-tree.
    RowsetRow of Rowsets, "sysrowsets", key 1 {
        hobt: i32 => "rowsetid" SqlType::Int,
        object: i32 => "idmajor" SqlType::Int,
        index: i32 => "idminor" SqlType::Int,
        /// From 1, without gaps among the rows of an index.
        partition: i32 => "numpart" SqlType::Int,
    }
}
