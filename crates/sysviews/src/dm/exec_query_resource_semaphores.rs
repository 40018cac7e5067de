//! `sys.dm_exec_query_resource_semaphores`: the query memory, its grants and its waiters.

use crate::cell::{big, big_kb, int};
use crate::column::{Column, col, maybe, number};
use crate::reason::NO_GOVERNOR;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use exec::SemaphoreRow;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 12] = [
    col("resource_semaphore_id", SqlType::SmallInt),
    col("target_memory_kb", BIG),
    maybe("max_target_memory_kb", BIG),
    col("total_memory_kb", BIG),
    col("available_memory_kb", BIG),
    col("granted_memory_kb", BIG),
    col("used_memory_kb", BIG),
    col("grantee_count", INT),
    col("waiter_count", INT),
    maybe("timeout_error_count", BIG),
    maybe("forced_grant_count", BIG),
    number("pool_id", INT, 2, NO_GOVERNOR),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_resource_semaphores",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(system.semaphores.semaphores().iter().map(row).collect())
}

fn row(s: &SemaphoreRow) -> Vec<Value> {
    // SQL Server shows these only for the regular semaphore.
    let regular = |value: Value| if s.resource_semaphore_id == 0 { value } else { Value::Null };
    vec![
        Value::SmallInt(s.resource_semaphore_id),
        big_kb(s.target_bytes),
        regular(big_kb(s.target_bytes)),
        big_kb(s.available_bytes + s.granted_bytes),
        big_kb(s.available_bytes),
        big_kb(s.granted_bytes),
        big_kb(s.used_bytes),
        int(s.grantee_count),
        int(s.waiter_count),
        regular(big(s.timeout_error_count)),
        regular(big(s.forced_grant_count)),
    ]
}
