//! `sys.fn_virtualfilestats(database, file)`: the older name of `sys.dm_io_virtual_file_stats`.

use super::io_virtual_file_stats::{NO_FILE_HANDLE, each_file};
use crate::cell::{big, big_ms};
use crate::column::{Column, col, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use database::Database;
use os::disk::File;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 12] = [
    col("DbId", SqlType::SmallInt),
    col("FileId", SqlType::SmallInt),
    col("TimeStamp", BIG),
    col("NumberReads", BIG),
    col("BytesRead", BIG),
    col("IoStallReadMS", BIG),
    col("NumberWrites", BIG),
    col("BytesWritten", BIG),
    col("IoStallWriteMS", BIG),
    col("IoStallMS", BIG),
    col("BytesOnDisk", BIG),
    null("FileHandle", SqlType::varbinary(8), NO_FILE_HANDLE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fn_virtualfilestats",
    parameters: Some(&[("@DatabaseId", SqlType::Int), ("@FileId", SqlType::Int)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    each_file(system, arguments, row)
}

fn row(database: &Database, id: i16, file: &dyn File) -> Vec<Value> {
    let stats = file.stats().snapshot();
    vec![
        Value::SmallInt(database.id().0 as i16),
        Value::SmallInt(id),
        big_ms(os::clock::monotonic_ns()),
        big(stats.reads),
        big(stats.read_bytes),
        big_ms(stats.read_stall_ns),
        big(stats.writes),
        big(stats.written_bytes),
        big_ms(stats.write_stall_ns),
        big_ms(stats.read_stall_ns + stats.write_stall_ns),
        // A file whose size cannot be read is shown as empty.
        big(file.len().unwrap_or(0)),
    ]
}
