//! `sys.dm_tran_transactions_snapshot`: of each transaction under SNAPSHOT the numbers that were
//! open at its moment, whose changes it does not see.

use super::versions::number_of;
use crate::cell::big;
use crate::column::{Column, col, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const OF_TRANSACTIONS: &str =
    "A transaction has one snapshot; what was open when a statement began is not kept.";

const COLUMNS: [Column; 3] = [
    col("transaction_sequence_num", SqlType::BigInt),
    zero("snapshot_id", SqlType::Int, OF_TRANSACTIONS),
    col("snapshot_sequence_num", SqlType::BigInt),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_transactions_snapshot",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for user in system.engine.version_users() {
        let unseen = system.engine.open_before(&user);
        rows.extend(unseen.iter().map(|xsn| vec![number_of(user.xsn), big(xsn.0)]));
    }
    Ok(rows)
}
