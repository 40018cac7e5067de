//! `sys.dm_exec_procedure_stats`: the resource use of each cached procedure, including what it
//! calls.

use super::plan_list::{
    self, BIG, CONCURRENCY, HANDLE, REQUESTS, concurrency, four, measures, plan_handle,
    text_handle, us, zeros,
};
use crate::cell::{big, datetime, int};
use crate::column::{Column, col, join, word};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use plancache::{Entry, ExecutionCounts, Kind};
use session::Program;
use types::{SqlType, Value};

const ONLY_TEXT: &str = "There are no procedures of the CLR and no extended ones.";

const HEAD: [Column; 9] = [
    col("database_id", SqlType::Int),
    col("object_id", SqlType::Int),
    word("type", SqlType::Char(2), "P ", ONLY_TEXT),
    word("type_desc", SqlType::nvarchar(60), "SQL_STORED_PROCEDURE", ONLY_TEXT),
    col("sql_handle", HANDLE),
    col("plan_handle", HANDLE),
    col("cached_time", SqlType::DateTime),
    col("last_execution_time", SqlType::DateTime),
    col("execution_count", BIG),
];
const WORK: [Column; 20] =
    measures!("worker_time" "physical_reads" "logical_writes" "logical_reads" "elapsed_time");
const SPILLS: [Column; 4] = measures!("spills");
const SERVERS: [Column; 8] = zeros!(NO_PAGE_SERVERS; "page_server_reads" "num_page_server_reads");

const A: [Column; 29] = join(HEAD, WORK);
const B: [Column; 33] = join(A, SPILLS);
const C: [Column; 37] = join(B, REQUESTS);
const D: [Column; 45] = join(C, SERVERS);
const COLUMNS: [Column; 57] = join(D, CONCURRENCY);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_procedure_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let entries = plan_list::all(system)?.into_iter();
    let procedures = entries.filter(|e| e.key().kind == Kind::Procedure);
    Ok(procedures.filter_map(|e| Some(row(&e, &e.statistics.counted()?))).collect())
}

fn row(entry: &Entry<Program>, c: &ExecutionCounts) -> Vec<Value> {
    let key = entry.key();
    let mut cells = vec![
        int(key.database.0),
        int(key.object.0),
        text_handle(entry),
        plan_handle(entry),
        datetime(entry.created_at()),
        datetime(c.last_run_at),
        big(c.executions),
    ];
    cells.extend(four(&c.cpu_ns, us));
    cells.extend(four(&c.physical_reads, big));
    cells.extend(four(&c.logical_writes, big));
    cells.extend(four(&c.logical_reads, big));
    cells.extend(four(&c.elapsed_ns, us));
    cells.extend(four(&c.spilled_pages, big));
    cells.extend(concurrency(c));
    cells
}
