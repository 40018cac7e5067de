//! The files of databases: what `sys.database_files` and `sys.master_files` show.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::*;
use crate::view::ClosedDatabase;
use base::limits::PAGE_BYTES;
use catalog::FileGrowth;
use database::{DATA_FILE, Database, DatabaseState, LOG_FILE};
use types::{SqlType, Value};
use wal::LOG_BYTES_MAX;

const LSN: SqlType = SqlType::decimal(25, 0);
const BIT: SqlType = SqlType::Bit;
const GUID: SqlType = SqlType::UniqueIdentifier;
const NEVER_READ_ONLY: &str = "Files are never read-only.";
const NO_SNAPSHOTS: &str = "There are no database snapshots.";
const NO_FILES: &str = "Files cannot be added or removed yet.";

/// From `file_id` to the end.
pub(crate) const COLUMNS: [Column; 30] = [
    col("file_id", SqlType::Int),
    null("file_guid", GUID, "Files have no id of their own; a family id ties them together."),
    col("type", SqlType::TinyInt),
    col("type_desc", SqlType::nvarchar(60)),
    col("data_space_id", SqlType::Int),
    col("name", SqlType::SYSNAME),
    col("physical_name", SqlType::nvarchar(260)),
    col("state", SqlType::TinyInt),
    col("state_desc", SqlType::nvarchar(60)),
    maybe("size", SqlType::Int),
    maybe("max_size", SqlType::Int),
    maybe("growth", SqlType::Int),
    zero("is_media_read_only", BIT, NEVER_READ_ONLY),
    zero("is_read_only", BIT, NEVER_READ_ONLY),
    zero("is_sparse", BIT, NO_SNAPSHOTS),
    maybe("is_percent_growth", BIT),
    zero("is_name_reserved", BIT, NO_FILES),
    zero("is_persistent_log_buffer", BIT, "There is no persistent log buffer."),
    null("create_lsn", LSN, NO_FILES),
    null("drop_lsn", LSN, NO_FILES),
    null("read_only_lsn", LSN, NEVER_READ_ONLY),
    null("read_write_lsn", LSN, NEVER_READ_ONLY),
    null("differential_base_lsn", LSN, NO_BACKUP),
    null("differential_base_guid", GUID, NO_BACKUP),
    null("differential_base_time", SqlType::DateTime, NO_BACKUP),
    null("redo_start_lsn", LSN, NO_BACKUP),
    null("redo_start_fork_guid", GUID, NO_BACKUP),
    null("redo_target_lsn", LSN, NO_BACKUP),
    null("redo_target_fork_guid", GUID, NO_BACKUP),
    null("backup_lsn", LSN, NO_BACKUP),
];

/// A file.
pub(crate) struct FileRow {
    pub(crate) id: i32,
    pub(crate) is_log: bool,
    pub(crate) name: String,
    pub(crate) path: String,
    /// In pages, like all sizes here.
    pub(crate) size: Value,
    /// -1 for no limit.
    pub(crate) max_size: Value,
    /// In pages, or percent.
    pub(crate) growth: Value,
    pub(crate) is_percent: bool,
}

/// Bytes as a count of pages.
fn pages(bytes: u64) -> Value {
    int(bytes / PAGE_BYTES as u64)
}

/// The data file, and the log.
pub(crate) fn files(database: &Database) -> [FileRow; 2] {
    [DATA_FILE, LOG_FILE].map(|file| {
        let setting = database.file_setting(file);
        let is_log = file == LOG_FILE;
        let unlimited = if is_log { pages(LOG_BYTES_MAX) } else { Value::Int(-1) };
        FileRow {
            id: file.0.into(),
            is_log,
            name: setting.name.into(),
            path: database.file_path(file).to_string_lossy().into_owned(),
            size: pages(database.file_bytes(file)),
            max_size: setting.bytes_max.map_or(unlimited, pages),
            growth: match setting.growth {
                FileGrowth::Bytes(bytes) => pages(bytes),
                FileGrowth::Percent(percent) => int(percent),
            },
            is_percent: matches!(setting.growth, FileGrowth::Percent(_)),
        }
    })
}

/// The written cells of [`COLUMNS`].
pub(crate) fn rows(database: &Database) -> Vec<Vec<Value>> {
    let row = |f: FileRow| {
        vec![
            int(f.id),
            Value::TinyInt(u8::from(f.is_log)),
            text(if f.is_log { "LOG" } else { "ROWS" }),
            int(i32::from(!f.is_log)),
            text(&f.name),
            text(&f.path),
            Value::TinyInt(DatabaseState::Online as u8),
            text(DatabaseState::Online.name()),
            f.size,
            f.max_size,
            f.growth,
            bit(f.is_percent),
        ]
    };
    files(database).map(row).into()
}

/// The same for a database that is not open: the settings of its files are in the files.
pub(crate) fn closed_rows(db: &ClosedDatabase) -> [Vec<Value>; 2] {
    let named = |path: &std::path::Path| {
        let stem = path.file_stem().unwrap_or_default();
        text(&stem.to_string_lossy())
    };
    [(DATA_FILE, &db.files.data), (LOG_FILE, &db.files.log)].map(|(file, path)| {
        let is_log = file == LOG_FILE;
        vec![
            int(file.0),
            Value::TinyInt(u8::from(is_log)),
            text(if is_log { "LOG" } else { "ROWS" }),
            int(i32::from(!is_log)),
            named(path),
            text(&path.to_string_lossy()),
            Value::TinyInt(db.state as u8),
            text(db.state.name()),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ]
    })
}
