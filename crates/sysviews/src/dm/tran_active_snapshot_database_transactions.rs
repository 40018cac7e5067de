//! `sys.dm_tran_active_snapshot_database_transactions`: open transactions that use row versions.
//!
//! A transaction is listed from the time when it first draws a number or reads as of a moment,
//! until it ends.

use super::versions::{NO_NUMBER, elapsed_s, number_of};
use crate::cell::{big, int};
use crate::column::{Column, col, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};
use work::VersionUser;

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 9] = [
    col("transaction_id", BIG),
    col("transaction_sequence_num", BIG),
    null("commit_sequence_num", BIG, "What is listed is active."),
    col("is_snapshot", INT),
    col("session_id", INT),
    col("first_snapshot_sequence_num", BIG),
    col("max_version_chain_traversed", INT),
    col("average_version_chain_traversed", SqlType::Real),
    col("elapsed_time_seconds", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_active_snapshot_database_transactions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let users = system.engine.numbered_version_users();
    Ok(users.iter().map(|user| row(system, user)).collect())
}

fn row(system: &System<'_>, user: &VersionUser) -> Vec<Value> {
    let first = system.engine.first_open_before(user);
    vec![
        big(user.transaction.0),
        number_of(user.xsn),
        int(i32::from(user.moment.is_some())),
        int(user.session.0),
        big(first.map_or(NO_NUMBER, |xsn| xsn.0)),
        int(user.traversed.longest),
        Value::Real(user.traversed.average() as f32),
        big(elapsed_s(user.since_ns)),
    ]
}
