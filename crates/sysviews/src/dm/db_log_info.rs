//! `sys.dm_db_log_info(database)`: the virtual log files of a database's log.

use crate::cell::{big, bit, int, text};
use crate::column::{Column, col, maybe, null, number};
use crate::reason::NO_ENCRYPTION;
use crate::view::{Rows, System, View};
use base::Lsn;
use catalog::view::SchemaId;
use types::{SqlType, Value};
use wal::{VlfState, VlfStatus};

const COLUMNS: [Column; 11] = [
    col("database_id", SqlType::Int),
    number("file_id", SqlType::SmallInt, 2, "A database has one log file, and it is file 2."),
    col("vlf_begin_offset", SqlType::BigInt),
    col("vlf_size_mb", SqlType::Float),
    col("vlf_sequence_number", SqlType::BigInt),
    col("vlf_active", SqlType::Bit),
    col("vlf_status", SqlType::Int),
    col("vlf_parity", SqlType::TinyInt),
    col("vlf_first_lsn", SqlType::nvarchar(48)),
    maybe("vlf_create_lsn", SqlType::nvarchar(48)),
    null("vlf_encryptor_thumbprint", SqlType::varbinary(20), NO_ENCRYPTION),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_log_info",
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
    let mut rows = Vec::new();
    for database in databases {
        let vlfs = database.log().vlfs();
        rows.extend(vlfs.iter().map(|v| row(database.id().0, v)));
    }
    Ok(rows)
}

fn row(database: u16, v: &VlfState) -> Vec<Value> {
    let active = v.status == VlfStatus::Active;
    let status = match (active, v.sequence) {
        (true, _) => 2,
        (false, 0) => 1,
        (false, _) => 0,
    };
    let first = if v.sequence == 0 { Lsn::ZERO } else { Lsn::new(v.sequence, 0x10, 1) };
    let megabytes = (v.bytes as f64 / 1_048_576.0 * 100.0).round() / 100.0;
    vec![
        int(database),
        big(v.offset),
        Value::Float(megabytes),
        Value::BigInt(i64::from(v.sequence)),
        bit(active),
        int(status),
        Value::TinyInt(v.parity),
        text(&first.as_hex()),
        text(&v.create_lsn.as_hex()),
    ]
}
