//! `sys.dm_tran_session_transactions`: the sessions with open transactions.

use crate::cell::{big, eight_bytes, int};
use crate::column::{Column, col, number, zero};
use crate::reason::NO_DTC;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;

const COLUMNS: [Column; 9] = [
    col("session_id", SqlType::Int),
    col("transaction_id", SqlType::BigInt),
    col("transaction_descriptor", SqlType::Binary(8)),
    col("enlist_count", SqlType::Int),
    number("is_user_transaction", BIT, 1, "Only those that users opened are listed."),
    number("is_local", BIT, 1, NO_DTC),
    zero("is_enlisted", BIT, NO_DTC),
    zero("is_bound", BIT, "There are no bound sessions."),
    col("open_transaction_count", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_session_transactions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let sessions = system.sessions.list();
    let row = |t: &txn::ActiveTransaction| {
        let session = sessions.iter().find(|s| s.session_id == t.session);
        vec![
            int(t.session.0),
            big(t.id.0),
            eight_bytes(t.id.0),
            int(session.map_or(0, |s| i32::from(s.running))),
            int(session.map_or(1, |s| s.open_transaction_count)),
        ]
    };
    let active = system.engine.transactions.active();
    Ok(active.iter().filter(|t| t.user).map(row).collect())
}
