//! `sys.dm_tran_active_transactions`: open transactions of users, of single statements, and of the
//! engine.

use crate::cell::{big, datetime, int, text};
use crate::column::{Column, col, null, number, zero};
use crate::reason::{NO_DTC, NO_FILESTREAM};
use crate::view::{Rows, System, View};
use base::{SessionId, TransactionId};
use catalog::view::SchemaId;
use std::collections::BTreeMap;
use txn::Open;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;

const COLUMNS: [Column; 12] = [
    col("transaction_id", SqlType::BigInt),
    col("name", SqlType::nvarchar(32)),
    col("transaction_begin_time", SqlType::DateTime),
    col("transaction_type", INT),
    null("transaction_uow", SqlType::UniqueIdentifier, NO_DTC),
    col("transaction_state", INT),
    zero("transaction_status", INT, "Of no documented meaning."),
    zero("transaction_status2", INT, "Of no documented meaning."),
    zero("dtc_state", INT, NO_DTC),
    zero("dtc_status", INT, NO_DTC),
    number("dtc_isolation_level", INT, -1, NO_DTC),
    null("filestream_transaction_id", SqlType::varbinary(128), NO_FILESTREAM),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_active_transactions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let names: BTreeMap<TransactionId, String> =
        system.engine.transactions.active().into_iter().map(|a| (a.id, a.name)).collect();
    let doing: BTreeMap<SessionId, &str> =
        system.sessions.list().iter().map(|s| (s.session_id, s.command)).collect();
    let row = |open: &Open| {
        // The transaction of a single statement is named by its session's command.
        let of_statement = || doing.get(&open.session).copied().unwrap_or_default();
        let name = names.get(&open.id).map_or_else(of_statement, String::as_str);
        let name: String = name.chars().take(32).collect();
        vec![
            big(open.id.0),
            text(&name),
            datetime(open.began_at),
            // A user's transaction reads and writes; the engine's is a system transaction.
            int(if open.session.is_user() { 1 } else { 3 }),
            // Active, or being rolled back.
            int(if open.rolling_back { 7 } else { 2 }),
        ]
    };
    Ok(system.engine.transactions.open().iter().map(row).collect())
}
