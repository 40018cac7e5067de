//! Files as `sysfiles` and `sysaltfiles` show them.

use crate::cell::{int, text};
use crate::column::{Column, col, zero};
use crate::sys::FileRow;
use types::{SqlType, Value};

/// From `fileid` to `perf`.
pub(super) const FRONT: [Column; 7] = [
    col("fileid", SqlType::SmallInt),
    col("groupid", SqlType::SmallInt),
    col("size", SqlType::Int),
    col("maxsize", SqlType::Int),
    col("growth", SqlType::Int),
    col("status", SqlType::Int),
    zero("perf", SqlType::Int, "Reserved in SQL Server."),
];

/// The last columns.
pub(super) const BACK: [Column; 2] =
    [col("name", SqlType::SYSNAME), col("filename", SqlType::nvarchar(260))];

/// Bits of `status`: a file on a disk; a file of the log; growth is a share of its size.
const DISK: i32 = 0x2;
const LOG: i32 = 0x40;
const PERCENT: i32 = 0x10_0000;

/// The written cells of [`FRONT`].
pub(super) fn front(f: &FileRow) -> Vec<Value> {
    vec![
        Value::SmallInt(f.id as i16),
        Value::SmallInt(i16::from(!f.is_log)),
        f.size.clone(),
        f.max_size.clone(),
        f.growth.clone(),
        int(DISK | if f.is_log { LOG } else { 0 } | if f.is_percent { PERCENT } else { 0 }),
    ]
}

/// The written cells of [`BACK`].
pub(super) fn back(f: &FileRow) -> [Value; 2] {
    [text(&f.name), text(&f.path)]
}
