//! `sys.dm_io_virtual_file_stats(database, file)`: reads and writes of files, and their times.

use crate::cell::{big, big_ms, int_argument};
use crate::column::{Column, col, null, zero};
use crate::reason::NO_GOVERNOR;
use crate::view::{Rows, System, View};
use base::FileId;
use catalog::view::SchemaId;
use database::Database;
use os::disk::File;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
pub(crate) const NO_FILE_HANDLE: &str = "Handles are the operating system's business.";

const COLUMNS: [Column; 14] = [
    col("database_id", SqlType::SmallInt),
    col("file_id", SqlType::SmallInt),
    col("sample_ms", BIG),
    col("num_of_reads", BIG),
    col("num_of_bytes_read", BIG),
    col("io_stall_read_ms", BIG),
    zero("io_stall_queued_read_ms", BIG, NO_GOVERNOR),
    col("num_of_writes", BIG),
    col("num_of_bytes_written", BIG),
    col("io_stall_write_ms", BIG),
    zero("io_stall_queued_write_ms", BIG, NO_GOVERNOR),
    col("io_stall", BIG),
    col("size_on_disk_bytes", BIG),
    null("file_handle", SqlType::varbinary(8), NO_FILE_HANDLE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_io_virtual_file_stats",
    parameters: Some(&[("@DatabaseId", SqlType::Int), ("@FileId", SqlType::Int)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    each_file(system, arguments, row)
}

/// One row for each file of the databases that two arguments name.
pub(crate) fn each_file(
    system: &System<'_>,
    arguments: &[Value],
    row: fn(&Database, i16, &dyn File) -> Vec<Value>,
) -> Rows {
    let file = int_argument(arguments.get(1)).filter(|&n| n != 0);
    let wanted = |id: i16| file.is_none_or(|n| n == i64::from(id));
    let mut rows = Vec::new();
    for database in system.chosen(arguments.first()) {
        if let Some(data) = database.pages().file(FileId(1)).filter(|_| wanted(1)) {
            rows.push(row(&database, 1, &**data));
        }
        if wanted(2) {
            rows.push(row(&database, 2, &**database.log().file()));
        }
    }
    Ok(rows)
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
