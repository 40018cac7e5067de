//! `sys.dm_tran_current_transaction`: the caller's transaction, and the sequence numbers of all.

use super::versions::{NO_NUMBER, number_of};
use crate::cell::{big, bit};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 6] = [
    col("transaction_id", BIG),
    col("transaction_sequence_num", BIG),
    col("transaction_is_snapshot", SqlType::Bit),
    col("first_snapshot_sequence_num", BIG),
    col("last_transaction_sequence_num", BIG),
    col("first_useful_sequence_num", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_current_transaction",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let transactions = &system.engine.transactions;
    let users = system.engine.numbered_version_users();
    let own = users.into_iter().find(|u| Some(u.transaction) == system.transaction);
    let first = own.and_then(|u| system.engine.first_open_before(&u));
    // Reads the oldest reader first, so that a number that is drawn meanwhile does not count as
    // past.
    let horizon = transactions.snapshots.horizon(&transactions.commits);
    let first_useful = transactions.commits.first_useful(horizon);
    Ok(vec![vec![
        big(system.transaction.map_or(0, |t| t.0)),
        number_of(own.and_then(|u| u.xsn)),
        bit(own.is_some_and(|u| u.moment.is_some())),
        big(first.map_or(NO_NUMBER, |xsn| xsn.0)),
        big(transactions.commits.last().0),
        big(first_useful.0),
    ]])
}
