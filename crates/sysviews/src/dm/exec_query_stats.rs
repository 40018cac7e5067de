//! `sys.dm_exec_query_stats`: the resource use of each cached statement.
//!
//! A row exists as long as the statement's plan; a new plan starts at 0. Runs that ended with an
//! error are not counted.

use super::plan_list::{
    self, BIG, CONCURRENCY, HANDLE, REQUESTS, concurrency, four, kb, measures, plan_handle,
    text_handle, us, zeros,
};
use crate::cell::{big, datetime, eight_bytes};
use crate::column::{Column, col, join, null};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use plancache::{Entry, ExecutionCounts};
use session::{CachedStatement, Program};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;

const HEAD: [Column; 8] = [
    col("sql_handle", HANDLE),
    col("statement_start_offset", INT),
    col("statement_end_offset", INT),
    col("plan_generation_num", BIG),
    col("plan_handle", HANDLE),
    col("creation_time", SqlType::DateTime),
    col("last_execution_time", SqlType::DateTime),
    col("execution_count", BIG),
];
const WORK: [Column; 16] =
    measures!("worker_time" "physical_reads" "logical_writes" "logical_reads");
const CLR: [Column; 4] = zeros!(NO_CLR; "clr_time");
const ELAPSED: [Column; 4] = measures!("elapsed_time");
const HASHES: [Column; 2] =
    [col("query_hash", SqlType::Binary(8)), col("query_plan_hash", SqlType::Binary(8))];
const ROWS: [Column; 4] = measures!("rows");
const STORE: [Column; 2] = [
    null("statement_sql_handle", HANDLE, NO_QUERY_STORE),
    null("statement_context_id", BIG, NO_QUERY_STORE),
];
const DOP: [Column; 4] = measures!("dop");
const GRANTS: [Column; 12] = measures!("grant_kb" "used_grant_kb" "ideal_grant_kb");
const THREADS: [Column; 8] = measures!("reserved_threads" "used_threads");
const SEGMENTS: [Column; 8] =
    zeros!(NO_COLUMNSTORE; "columnstore_segment_reads" "columnstore_segment_skips");
const SPILLS: [Column; 4] = measures!("spills");
const SERVERS: [Column; 8] = zeros!(NO_PAGE_SERVERS; "page_server_reads" "num_page_server_reads");

const A: [Column; 24] = join(HEAD, WORK);
const B: [Column; 28] = join(A, CLR);
const C: [Column; 32] = join(B, ELAPSED);
const D: [Column; 34] = join(C, HASHES);
const E: [Column; 38] = join(D, ROWS);
const F: [Column; 40] = join(E, STORE);
const G: [Column; 44] = join(F, DOP);
const H: [Column; 56] = join(G, GRANTS);
const I: [Column; 64] = join(H, THREADS);
const J: [Column; 72] = join(I, SEGMENTS);
const K: [Column; 76] = join(J, SPILLS);
const L: [Column; 80] = join(K, REQUESTS);
const M: [Column; 88] = join(L, SERVERS);
const COLUMNS: [Column; 100] = join(M, CONCURRENCY);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for entry in plan_list::all(system)? {
        for statement in session::cached_statements(&entry, system) {
            if let Some(counted) = statement.shown.counted {
                rows.push(row(&entry, &statement, &counted));
            }
        }
    }
    Ok(rows)
}

fn row(entry: &Entry<Program>, s: &CachedStatement, c: &ExecutionCounts) -> Vec<Value> {
    let mut cells = vec![
        text_handle(entry),
        Value::Int(s.start_offset),
        Value::Int(s.end_offset),
        big(s.shown.generation),
        plan_handle(entry),
        datetime(s.shown.made_at),
        datetime(c.last_run_at),
        big(c.executions),
    ];
    cells.extend(four(&c.cpu_ns, us));
    cells.extend(four(&c.physical_reads, big));
    cells.extend(four(&c.logical_writes, big));
    cells.extend(four(&c.logical_reads, big));
    cells.extend(four(&c.elapsed_ns, us));
    cells.extend([eight_bytes(s.query_hash), eight_bytes(s.plan_hash)]);
    cells.extend(four(&c.rows, big));
    cells.extend(four(&c.degree, big));
    for grant in [&c.grant_bytes, &c.used_grant_bytes, &c.ideal_grant_bytes] {
        cells.extend(four(grant, kb));
    }
    // Every reserved worker is started.
    cells.extend(four(&c.threads, big));
    cells.extend(four(&c.threads, big));
    cells.extend(four(&c.spilled_pages, big));
    cells.extend(concurrency(c));
    cells
}
