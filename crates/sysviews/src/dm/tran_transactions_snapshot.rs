//! `sys.dm_tran_transactions_snapshot`: for each snapshot the transactions that were open at its
//! moment, and whose changes it does not see. A transaction under SNAPSHOT has one snapshot; under
//! READ_COMMITTED_SNAPSHOT each statement has one.

use super::versions::number_of;
use crate::cell::{big, int};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use base::Xsn;
use catalog::view::SchemaId;
use txn::OpenSnapshot;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = [
    col("transaction_sequence_num", SqlType::BigInt),
    col("snapshot_id", SqlType::Int),
    col("snapshot_sequence_num", SqlType::BigInt),
];

/// The snapshot of a whole transaction; those of statements are numbered from 1.
const OF_TRANSACTION: i32 = 0;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_transactions_snapshot",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let users = system.engine.numbered_version_users();
    let snapshots = system.engine.transactions.snapshots.open();
    let mut rows = Vec::new();
    for user in users {
        let mut push = |id, unseen: Vec<Xsn>| {
            rows.extend(unseen.iter().map(|xsn| vec![number_of(user.xsn), int(id), big(xsn.0)]));
        };
        push(OF_TRANSACTION, system.engine.open_before(&user));
        let own = |s: &&OpenSnapshot| s.by.transaction == Some(user.transaction) && !s.by.whole;
        for statement in snapshots.iter().filter(own) {
            push(snapshot_id(statement.ticket), system.engine.open_before_snapshot(statement));
        }
    }
    Ok(rows)
}

/// Snapshots have numbers of 64 bits, of which 31 are shown; a statement's is never 0.
fn snapshot_id(ticket: u64) -> i32 {
    let shown = (ticket.wrapping_sub(1) % i32::MAX as u64) as i32;
    shown + 1
}
