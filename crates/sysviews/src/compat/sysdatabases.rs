//! `sysdatabases`: the databases, their options as bits.

use crate::cell::{int, text};
use crate::column::{Column, Constant, col, fixed, maybe, null, zero};
use crate::reason::NO_REPLICATION;
use crate::view::{ClosedDatabase, Rows, System, View};
use catalog::view::SchemaId;
use catalog::{DatabaseOptions, RecoveryModel, UserAccess};
use database::DatabaseState;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const RESERVED: &str = "Reserved in SQL Server.";

const COLUMNS: [Column; 12] = [
    col("name", SqlType::SYSNAME),
    col("dbid", SMALL),
    fixed("sid", SqlType::varbinary(85), Constant::Bytes(&[1]), "All databases belong to sa."),
    zero("mode", SMALL, "A database is listed when it has been made."),
    col("status", INT),
    maybe("status2", INT),
    null("crdate", SqlType::DateTime, "Databases do not keep when they were made yet."),
    null("reserved", SqlType::DateTime, RESERVED),
    zero("category", INT, NO_REPLICATION),
    maybe("cmptlevel", SqlType::TinyInt),
    col("filename", SqlType::nvarchar(260)),
    null("version", SMALL, "Versions of files here are not SQL Server's."),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysdatabases", parameters: None, columns: &COLUMNS, rows };

fn sum<const N: usize>(bits: [(bool, i32); N]) -> i32 {
    bits.into_iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum()
}

fn status(o: &DatabaseOptions) -> i32 {
    // Every page has a checksum.
    const CHECKSUM: i32 = 1 << 16;
    CHECKSUM
        + sum([
            (o.auto_close, 1),
            (o.recovery == RecoveryModel::BulkLogged, 1 << 2),
            (o.recovery == RecoveryModel::Simple, 1 << 3),
            (o.read_only, 1 << 10),
            (o.user_access == UserAccess::Restricted, 1 << 11),
            (o.user_access == UserAccess::Single, 1 << 12),
            (o.auto_shrink, 1 << 22),
        ])
}

fn status2(o: &DatabaseOptions) -> i32 {
    sum([
        (o.ansi_null_default, 1 << 14),
        (o.concat_null_yields_null, 1 << 16),
        (o.recursive_triggers, 1 << 17),
        (o.quoted_identifier, 1 << 23),
        (o.cursor_close_on_commit, 1 << 25),
        (o.ansi_nulls, 1 << 26),
        (o.ansi_warnings, 1 << 28),
    ])
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let row = |db: std::sync::Arc<database::Database>| {
        let options = db.options();
        vec![
            text(&db.home().name()),
            Value::SmallInt(db.id().0 as i16),
            int(status(&options)),
            int(status2(&options)),
            Value::TinyInt(options.compatibility_level),
            text(&db.files().data.to_string_lossy()),
        ]
    };
    let open = system.databases.all().into_iter().map(|db| (db.id(), row(db)));
    let closed = system.databases.closed().into_iter().map(|db| (db.id, closed(&db)));
    let rows: std::collections::BTreeMap<_, _> = closed.chain(open).collect();
    Ok(rows.into_values().collect())
}

/// The row of a database that is not open: its settings are in its files.
fn closed(db: &ClosedDatabase) -> Vec<Value> {
    let state = match db.state {
        DatabaseState::Offline => 1 << 9,
        DatabaseState::Suspect | DatabaseState::RecoveryPending => 1 << 8,
        _ => 1 << 7,
    };
    vec![
        text(&db.name),
        Value::SmallInt(db.id.0 as i16),
        int(state + if db.read_only { 1 << 10 } else { 0 }),
        Value::Null,
        Value::Null,
        text(&db.files.data.to_string_lossy()),
    ]
}
