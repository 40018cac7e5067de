//! The files of databases: what `sys.database_files` and `sys.master_files` show.

use crate::cell::{int, text};
use crate::column::{Column, col, null, word, zero};
use crate::reason::*;
use base::FileId;
use base::limits::PAGE_BYTES;
use database::Database;
use types::{SqlType, Value};

const LSN: SqlType = SqlType::decimal(25, 0);
const BIT: SqlType = SqlType::Bit;
const GUID: SqlType = SqlType::UniqueIdentifier;
const ALWAYS_ONLINE: &str = "Only open databases are listed, and all their files are open.";
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
    zero("state", SqlType::TinyInt, ALWAYS_ONLINE),
    word("state_desc", SqlType::nvarchar(60), "ONLINE", ALWAYS_ONLINE),
    col("size", SqlType::Int),
    col("max_size", SqlType::Int),
    col("growth", SqlType::Int),
    zero("is_media_read_only", BIT, NEVER_READ_ONLY),
    zero("is_read_only", BIT, NEVER_READ_ONLY),
    zero("is_sparse", BIT, NO_SNAPSHOTS),
    zero("is_percent_growth", BIT, "Growth is in pages."),
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
    /// Pages, as all sizes here.
    pub(crate) size: Value,
    /// -1 for no limit.
    pub(crate) max_size: Value,
    pub(crate) growth: Value,
}

/// Bytes as a count of pages, -1 for no limit.
fn pages(bytes: u64) -> Value {
    int(bytes / PAGE_BYTES as u64)
}

fn limit(pages: u64) -> Value {
    Value::Int(i32::try_from(pages).unwrap_or(-1))
}

/// The data file, and the log.
pub(crate) fn files(database: &Database) -> [FileRow; 2] {
    let (name, files) = (database.home().name(), database.files());
    let space = database.space();
    let growth = space.growth(FileId(1)).unwrap_or_default();
    let options = database.log().options();
    let data = FileRow {
        id: 1,
        is_log: false,
        name: name.to_string(),
        path: files.data.to_string_lossy().into_owned(),
        size: int(space.size_pages(FileId(1)).unwrap_or(0)),
        max_size: limit(u64::from(growth.max_pages)),
        growth: int(growth.pages),
    };
    let log = FileRow {
        id: 2,
        is_log: true,
        name: format!("{name}_log"),
        path: files.log.to_string_lossy().into_owned(),
        size: pages(database.log().usage().total_bytes),
        max_size: limit(options.max_bytes / PAGE_BYTES as u64),
        growth: pages(options.growth_bytes),
    };
    [data, log]
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
            f.size,
            f.max_size,
            f.growth,
        ]
    };
    files(database).map(row).into()
}
