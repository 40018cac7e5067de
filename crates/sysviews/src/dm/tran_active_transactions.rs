//! `sys.dm_tran_active_transactions`: transactions that are open.

use crate::cell::{big, datetime, text};
use crate::column::{Column, col, null, number, zero};
use crate::reason::{NO_DTC, NO_FILESTREAM};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const ONLY_USERS: &str = "Only transactions that users opened are listed.";

const COLUMNS: [Column; 12] = [
    col("transaction_id", SqlType::BigInt),
    col("name", SqlType::nvarchar(32)),
    col("transaction_begin_time", SqlType::DateTime),
    number("transaction_type", INT, 1, ONLY_USERS),
    null("transaction_uow", SqlType::UniqueIdentifier, NO_DTC),
    number("transaction_state", INT, 2, "What is listed is active."),
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
    let active = system.engine.transactions.active();
    let row = |t: &txn::Active| {
        let name: String = t.name.chars().take(32).collect();
        vec![big(t.id.0), text(&name), datetime(t.began_at)]
    };
    Ok(active.iter().map(row).collect())
}
