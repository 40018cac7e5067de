//! `sys.dm_tran_current_snapshot`: the transactions that were open at the moment as of which the
//! caller's transaction reads, if it runs under SNAPSHOT.

use crate::cell::big;
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 1] = [col("transaction_sequence_num", SqlType::BigInt)];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_current_snapshot",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let users = system.engine.version_users();
    let own = users.into_iter().filter(|u| Some(u.transaction) == system.transaction);
    Ok(own.flat_map(|user| system.engine.open_before(&user)).map(|xsn| vec![big(xsn.0)]).collect())
}
