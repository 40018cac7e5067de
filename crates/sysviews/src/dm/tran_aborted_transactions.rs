//! `sys.dm_tran_aborted_transactions`: transactions that were aborted while their records stay on
//! pages, until the cleaner has put the former rows in their places.
//!
//! SQL Server's page says that `transaction_id` is an int. It is a bigint here, as in all other
//! views, since numbers of transactions have 64 bits.

use crate::cell::{big, datetime, int, whole};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const LSN: SqlType = SqlType::decimal(25, 0);

const COLUMNS: [Column; 6] = [
    col("transaction_id", SqlType::BigInt),
    col("database_id", INT),
    col("begin_xact_lsn", LSN),
    col("end_xact_lsn", LSN),
    col("begin_time", SqlType::DateTime),
    col("nest_aborted", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_aborted_transactions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for database in system.databases.all() {
        let aborted = database.home().aborted().list();
        rows.extend(aborted.iter().map(|a| {
            vec![
                big(a.id.0),
                int(database.id().0),
                whole(a.begin.as_numeric()),
                whole(a.end.as_numeric()),
                datetime(a.began_at),
                Value::Bit(a.nested),
            ]
        }));
    }
    Ok(rows)
}
