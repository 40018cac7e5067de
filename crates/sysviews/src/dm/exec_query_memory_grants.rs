//! `sys.dm_exec_query_memory_grants`: statements that were granted memory or wait for it.

use super::session_list;
use crate::cell::{big_kb, big_ms, bit, datetime, int};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use exec::GrantRow;
use session::SessionRow;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const SMALL: SqlType = SqlType::SmallInt;
const HANDLE: SqlType = SqlType::varbinary(64);
const NO_NODES: &str = "Workers are not bound to NUMA nodes.";

const COLUMNS: [Column; 28] = [
    col("session_id", SMALL),
    zero("request_id", INT, "A session runs one request at a time."),
    null("scheduler_id", INT, NO_SCHEDULERS),
    col("dop", SMALL),
    col("request_time", SqlType::DateTime),
    maybe("grant_time", SqlType::DateTime),
    col("requested_memory_kb", BIG),
    maybe("granted_memory_kb", BIG),
    col("required_memory_kb", BIG),
    col("used_memory_kb", BIG),
    col("max_used_memory_kb", BIG),
    null("query_cost", SqlType::Float, "A request for memory does not carry its plan's cost."),
    col("timeout_sec", INT),
    col("resource_semaphore_id", SMALL),
    maybe("queue_id", SMALL),
    maybe("wait_order", INT),
    maybe("is_next_candidate", SqlType::Bit),
    maybe("wait_time_ms", BIG),
    maybe("plan_handle", HANDLE),
    maybe("sql_handle", HANDLE),
    number("group_id", INT, 2, NO_GOVERNOR),
    number("pool_id", INT, 2, NO_GOVERNOR),
    col("is_small", SqlType::Bit),
    col("ideal_memory_kb", BIG),
    maybe("reserved_worker_count", INT),
    maybe("used_worker_count", INT),
    maybe("max_used_worker_count", INT),
    null("reserved_node_bitmap", BIG, NO_NODES),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_memory_grants",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let sessions = system.sessions.list();
    let crews = system.workers.crews();
    let row = |g: &GrantRow| {
        let session = sessions.iter().find(|s| s.session_id == g.session_id);
        let of = |handle: fn(&SessionRow) -> Value| session.map_or(Value::Null, handle);
        let mut cells = row(g, of(session_list::plan_handle), of(session_list::sql_handle));
        let crew = crews.iter().find(|c| c.session == g.session_id && g.degree > 1);
        let threads = crew.map_or(Value::Null, |c| int(c.threads));
        let used = if g.grant_time.is_some() { threads.clone() } else { Value::Null };
        // All threads of a crew start together.
        cells.extend([threads, used.clone(), used]);
        cells
    };
    Ok(system.semaphores.grants().iter().map(row).collect())
}

fn row(g: &GrantRow, plan_handle: Value, sql_handle: Value) -> Vec<Value> {
    let waits = |value: fn(&exec::GrantWait) -> Value| g.wait.as_ref().map_or(Value::Null, value);
    vec![
        Value::SmallInt(g.session_id.0),
        Value::SmallInt(i16::try_from(g.degree).unwrap_or(i16::MAX)),
        datetime(g.request_time),
        g.grant_time.map_or(Value::Null, datetime),
        big_kb(g.requested_bytes),
        g.granted_bytes.map_or(Value::Null, big_kb),
        big_kb(g.required_bytes),
        big_kb(g.used_bytes),
        big_kb(g.max_used_bytes),
        int(g.timeout_s),
        Value::SmallInt(g.resource_semaphore_id),
        // Each semaphore has one queue.
        waits(|_| Value::SmallInt(0)),
        waits(|w| int(w.order)),
        waits(|w| bit(w.order == 0)),
        waits(|w| big_ms(w.waited_ns)),
        plan_handle,
        sql_handle,
        bit(g.is_small),
        big_kb(g.ideal_bytes),
    ]
}
