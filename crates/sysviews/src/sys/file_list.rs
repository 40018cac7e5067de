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

/// Bytes as a count of pages, -1 for no limit.
fn pages(bytes: u64) -> Value {
    int(bytes / PAGE_BYTES as u64)
}

fn limit(pages: u64) -> Value {
    Value::Int(i32::try_from(pages).unwrap_or(-1))
}

/// The written cells of [`COLUMNS`]: the data file, and the log.
pub(crate) fn rows(database: &Database) -> Vec<Vec<Value>> {
    let (name, files) = (database.home().name(), database.files());
    let space = database.space();
    let growth = space.growth(FileId(1)).unwrap_or_default();
    let options = database.log().options();
    let size = space.size_pages(FileId(1)).unwrap_or(0);
    vec![
        vec![
            int(1),
            Value::TinyInt(0),
            text("ROWS"),
            int(1),
            text(&name),
            text(&files.data.to_string_lossy()),
            int(size),
            limit(u64::from(growth.max_pages)),
            int(growth.pages),
        ],
        vec![
            int(2),
            Value::TinyInt(1),
            text("LOG"),
            int(0),
            text(&format!("{name}_log")),
            text(&files.log.to_string_lossy()),
            pages(database.log().usage().total_bytes),
            limit(options.max_bytes / PAGE_BYTES as u64),
            pages(options.growth_bytes),
        ],
    ]
}
