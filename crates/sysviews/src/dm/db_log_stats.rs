//! `sys.dm_db_log_stats(database)`: a database's log in one row.

use crate::cell::{int, text};
use crate::column::{Column, col, null};
use crate::reason::NO_BACKUP;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use database::Database;
use types::{SqlType, Value};
use wal::{VlfState, VlfStatus};

const BIG: SqlType = SqlType::BigInt;
const LSN: SqlType = SqlType::nvarchar(24);
const MB: SqlType = SqlType::Float;

const COLUMNS: [Column; 19] = [
    col("database_id", SqlType::Int),
    col("recovery_model", SqlType::nvarchar(60)),
    col("log_min_lsn", LSN),
    col("log_end_lsn", LSN),
    col("current_vlf_sequence_number", BIG),
    col("current_vlf_size_mb", MB),
    col("total_vlf_count", BIG),
    col("total_log_size_mb", MB),
    col("active_vlf_count", BIG),
    col("active_log_size_mb", MB),
    col("log_truncation_holdup_reason", SqlType::nvarchar(60)),
    null("log_backup_time", SqlType::DateTime, NO_BACKUP),
    null("log_backup_lsn", LSN, NO_BACKUP),
    null("log_since_last_log_backup_mb", MB, NO_BACKUP),
    col("log_checkpoint_lsn", LSN),
    col("log_since_last_checkpoint_mb", MB),
    col("log_recovery_lsn", LSN),
    col("log_recovery_size_mb", MB),
    col("recovery_vlf_count", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_log_stats",
    parameters: Some(&[("@DatabaseId", SqlType::Int)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    // NULL means the current database here, not all of them.
    let databases = match arguments.first().is_none_or(Value::is_null) {
        true => vec![system.here()?],
        false => system.chosen(arguments.first()),
    };
    Ok(databases.iter().map(|d| row(d)).collect())
}

fn row(database: &Database) -> Vec<Value> {
    let log = database.log();
    let (pointer, end) = (log.checkpoint(), log.last_lsn());
    let (vlfs, usage) = (log.vlfs(), log.usage());
    let many = |wanted: &dyn Fn(&&VlfState) -> bool| {
        Value::BigInt(vlfs.iter().filter(|v| wanted(v)).count() as i64)
    };
    let current = vlfs.iter().map(|v| (v.sequence, v.bytes)).max().unwrap_or_default();
    vec![
        int(database.id().0),
        text(database.options().recovery.name()),
        text(&pointer.min_lsn.as_hex()),
        text(&end.as_hex()),
        Value::BigInt(i64::from(current.0)),
        megabytes(current.1),
        many(&|_| true),
        megabytes(usage.log_bytes()),
        many(&|v| v.status == VlfStatus::Active),
        megabytes(usage.used_bytes),
        text(log.reuse_wait().name()),
        text(&pointer.checkpoint.as_hex()),
        megabytes(log.bytes_since(pointer.checkpoint)),
        text(&pointer.min_lsn.as_hex()),
        megabytes(log.bytes_since(pointer.min_lsn)),
        many(&|v| v.sequence >= pointer.min_lsn.vlf()),
    ]
}

fn megabytes(bytes: u64) -> Value {
    Value::Float(bytes as f64 / 1_048_576.0)
}
