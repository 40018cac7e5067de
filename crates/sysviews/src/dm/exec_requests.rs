//! `sys.dm_exec_requests`: the running requests, their waits, and the sessions that block them.

use super::locks;
use super::session_list::{self, OPTIONS};
use crate::cell::{big, datetime, eight_bytes, int, int_ms, text, text_or_null};
use crate::column::{Column, col, join, maybe, null, number, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use base::limits::PAGE_BYTES;
use catalog::view::SchemaId;
use lock::WaitRow;
use session::{CachedStatement, SessionRow};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const HANDLE: SqlType = SqlType::varbinary(64);
const GUID: SqlType = SqlType::UniqueIdentifier;
const NO_PROGRESS: &str = "No statement tells how far it is yet.";

const FRONT: [Column; 30] = [
    col("session_id", SqlType::SmallInt),
    zero("request_id", INT, "A session runs one request at a time."),
    col("start_time", SqlType::DateTime),
    col("status", SqlType::nvarchar(30)),
    col("command", SqlType::nvarchar(32)),
    maybe("sql_handle", HANDLE),
    maybe("statement_start_offset", INT),
    maybe("statement_end_offset", INT),
    maybe("plan_handle", HANDLE),
    col("database_id", SqlType::SmallInt),
    number("user_id", INT, 1, "Everybody is dbo yet."),
    maybe("connection_id", GUID),
    maybe("blocking_session_id", SqlType::SmallInt),
    maybe("wait_type", SqlType::nvarchar(60)),
    col("wait_time", INT),
    col("last_wait_type", SqlType::nvarchar(60)),
    col("wait_resource", SqlType::nvarchar(256)),
    col("open_transaction_count", INT),
    number("open_resultset_count", INT, 1, "There are no multiple active result sets."),
    col("transaction_id", BIG),
    null("context_info", SqlType::varbinary(128), NOT_PUBLISHED),
    zero("percent_complete", SqlType::Real, NO_PROGRESS),
    zero("estimated_completion_time", BIG, NO_PROGRESS),
    maybe("cpu_time", INT),
    col("total_elapsed_time", INT),
    null("scheduler_id", INT, NO_SCHEDULERS),
    null("task_address", SqlType::varbinary(8), NO_SCHEDULERS),
    col("reads", BIG),
    col("writes", BIG),
    col("logical_reads", BIG),
];

const BACK: [Column; 17] = [
    col("row_count", BIG),
    col("prev_error", INT),
    col("nest_level", INT),
    col("granted_query_memory", INT),
    zero("executing_managed_code", SqlType::Bit, NO_CLR),
    number("group_id", INT, 2, NO_GOVERNOR),
    maybe("query_hash", SqlType::Binary(8)),
    maybe("query_plan_hash", SqlType::Binary(8)),
    null("statement_sql_handle", HANDLE, NO_QUERY_STORE),
    null("statement_context_id", BIG, NO_QUERY_STORE),
    col("dop", INT),
    maybe("parallel_worker_count", INT),
    null("external_script_request_id", GUID, "There are no external scripts."),
    zero("is_resumable", SqlType::Bit, "There are no resumable operations."),
    null("page_resource", SqlType::Binary(8), NOT_PUBLISHED),
    zero("page_server_reads", BIG, NO_PAGE_SERVERS),
    null("dist_statement_id", GUID, NO_SYNAPSE),
];

const LEFT: [Column; 45] = join(FRONT, OPTIONS);
const COLUMNS: [Column; 62] = join(LEFT, BACK);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_requests",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let waits = system.engine.locks.waits();
    let grants = system.semaphores.grants();
    let crews = system.workers.crews();
    let running = system.sessions.list().into_iter().filter(|s| s.running);
    let row = |s: SessionRow| {
        let wait = waits.iter().find(|w| w.session == s.session_id);
        let grants = grants.iter().filter(|g| g.session_id == s.session_id);
        let granted_bytes: usize = grants.filter_map(|g| g.granted_bytes).sum();
        let crew = crews.iter().find(|c| c.session == s.session_id);
        let mut cells = row(system, &s, wait, granted_bytes);
        cells.push(int(crew.map_or(1, |c| c.degree)));
        cells.push(crew.map_or(Value::Null, |c| int(c.threads)));
        cells
    };
    Ok(running.map(row).collect())
}

fn row(
    system: &System<'_>,
    s: &SessionRow,
    lock: Option<&WaitRow>,
    granted_bytes: usize,
) -> Vec<Value> {
    let (kind, waited) = s.wait.map_or(("", 0), |(kind, ns)| (kind.name(), ns));
    let last = if kind.is_empty() { s.last_wait.map_or("", |w| w.name()) } else { kind };
    let blocker = session_list::blocker(s, lock).map_or(0, |b| b.0);
    let waited_for =
        |w: &WaitRow| locks::wait_resource((&w.resource, w.behind), w.session, system.sessions);
    let resource = lock.map(waited_for).unwrap_or_default();
    let mut cells = vec![
        Value::SmallInt(s.session_id.0),
        datetime(s.request_start_time),
        text(if kind.is_empty() { "running" } else { "suspended" }),
        text(s.command),
        session_list::sql_handle(s),
        Value::Int(s.statement_start_offset),
        Value::Int(s.statement_end_offset),
        session_list::plan_handle(s),
        Value::SmallInt(s.database.0 as i16),
        session_list::connection_id(s),
        Value::SmallInt(blocker),
        text_or_null(kind),
        int_ms(waited),
        text(last),
        text(&resource),
        int(s.open_transaction_count),
        big(s.transaction_id),
        s.request_cpu_ns.map_or(Value::Null, int_ms),
        int_ms(s.request_elapsed_ns),
        big(s.request_reads),
        big(s.request_writes),
        big(s.request_logical_reads),
    ];
    cells.extend(session_list::options(s));
    let pages = granted_bytes.div_ceil(PAGE_BYTES);
    let offsets = (s.statement_start_offset, s.statement_end_offset);
    let program = s.program.as_deref();
    let statement = program.and_then(|p| session::statement_at(p, offsets, system));
    let hash = |of: fn(&CachedStatement) -> u64| {
        statement.as_ref().map_or(Value::Null, |s| eight_bytes(of(s)))
    };
    cells.extend([big(s.row_count), int(s.last_error), int(s.nest_level), int(pages)]);
    cells.extend([hash(|s| s.query_hash), hash(|s| s.plan_hash)]);
    cells
}
