//! `sys.dm_exec_query_profiles`: the progress of the operators of running statements, by thread.
//!
//! Rows of every statement are counted. Times are measured if the session has asked for STATISTICS
//! XML or PROFILE, and are 0 otherwise. Page counts are at most 256 rows old.

use super::plan_list::{plan_handle, text_handle};
use crate::cell::{big, big_ms, int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use session::{RunningNode, RunningStatement, SessionRow};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const HANDLE: SqlType = SqlType::varbinary(64);
const AT_END: &str = "Operators are closed when their statement ends.";
const NO_WRITES: &str = "Pages that were written are counted by statement.";

const COLUMNS: [Column; 36] = [
    col("session_id", SqlType::SmallInt),
    zero("request_id", INT, "A session runs one request at a time."),
    maybe("sql_handle", HANDLE),
    maybe("plan_handle", HANDLE),
    col("physical_operator_name", SqlType::nvarchar(256)),
    col("node_id", INT),
    col("thread_id", INT),
    null("task_address", SqlType::varbinary(8), NO_SCHEDULERS),
    col("row_count", BIG),
    col("rewind_count", BIG),
    col("rebind_count", BIG),
    col("end_of_scan_count", BIG),
    col("estimate_row_count", BIG),
    col("first_active_time", BIG),
    col("last_active_time", BIG),
    col("open_time", BIG),
    col("first_row_time", BIG),
    col("last_row_time", BIG),
    zero("close_time", BIG, AT_END),
    col("elapsed_time_ms", BIG),
    col("cpu_time_ms", BIG),
    maybe("database_id", SqlType::SmallInt),
    maybe("object_id", INT),
    maybe("index_id", INT),
    col("scan_count", BIG),
    col("logical_read_count", BIG),
    col("physical_read_count", BIG),
    col("read_ahead_count", BIG),
    zero("write_page_count", BIG, NO_WRITES),
    col("lob_logical_read_count", BIG),
    col("lob_physical_read_count", BIG),
    col("lob_read_ahead_count", BIG),
    zero("segment_read_count", INT, NO_COLUMNSTORE),
    zero("segment_skip_count", INT, NO_COLUMNSTORE),
    col("actual_read_row_count", BIG),
    null("estimated_read_row_count", BIG, "Estimates are of rows that qualify."),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_profiles",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for session in system.sessions.list() {
        for running in &session.statements {
            for node in running.nodes(system) {
                let of_thread = |n| row(system, &session, running, &node, n);
                rows.extend((0..node.threads.len()).map(of_thread));
            }
        }
    }
    Ok(rows)
}

fn row(
    system: &System<'_>,
    session: &SessionRow,
    running: &RunningStatement,
    node: &RunningNode,
    thread: usize,
) -> Vec<Value> {
    let count = node.threads.get(thread).copied().unwrap_or_default();
    let times = count.times.unwrap_or_default();
    let began = running.began_ns();
    let reads = count.reads.unwrap_or_default();
    let mut cells = vec![
        Value::SmallInt(session.session_id.0),
        text_handle(running.program()),
        plan_handle(running.program()),
        text(node.physical),
        int(node.id),
        int(thread),
        big(count.rows),
        big(count.rewinds),
        big(count.rebinds),
        big(count.ends),
        big(node.estimate.rows.round() as u64),
        big_ms(times.opened_at.saturating_sub(began)),
        big_ms(times.called_at.saturating_sub(began)),
        big_ms(times.opened_at),
        big_ms(times.first_row_at),
        big_ms(times.last_row_at),
        big_ms(times.elapsed_ns),
        big_ms(times.cpu_ns),
    ];
    cells.extend(object(system, node));
    cells.extend([
        big(reads.scans),
        big(reads.rows.logical),
        big(reads.rows.physical),
        big(reads.rows.read_ahead),
        big(reads.lob.logical),
        big(reads.lob.physical),
        big(reads.lob.read_ahead),
        big(count.rows_read.unwrap_or(0)),
    ]);
    cells
}

/// The database, table and index that an operator reads or changes.
fn object(system: &System<'_>, node: &RunningNode) -> [Value; 3] {
    let Some((database, object, hobt)) = node.object else { return [const { Value::Null }; 3] };
    let table = system.databases.view(database).and_then(|v| v.table(object));
    let index = table.and_then(|t| t.partition(hobt).map(|(i, _)| i.index_id));
    [
        Value::SmallInt(database.0 as i16),
        Value::Int(object.0),
        index.map_or(Value::Null, |id| int(id.0)),
    ]
}
