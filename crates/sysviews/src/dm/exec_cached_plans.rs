//! `sys.dm_exec_cached_plans`: every program in the cache.

use super::plan_list::{self, HANDLE, plan_handle};
use crate::cell::{int, text};
use crate::column::{Column, col, null, number, word};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use plancache::Entry;
use session::Program;
use std::sync::Arc;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const NO_BUCKETS: &str = "Buckets of the cache have no numbers.";
const NO_ADDRESS: &str = "Memory of plans has no address to show.";
const PLANS: &str = "The cache holds compiled plans and nothing else.";
const NO_PARENT: &str = "A plan has no other as its parent.";

const COLUMNS: [Column; 10] = [
    null("bucketid", INT, NO_BUCKETS),
    col("refcounts", INT),
    col("usecounts", INT),
    col("size_in_bytes", INT),
    null("memory_object_address", SqlType::varbinary(8), NO_ADDRESS),
    word("cacheobjtype", SqlType::nvarchar(34), "Compiled Plan", PLANS),
    col("objtype", SqlType::nvarchar(16)),
    col("plan_handle", HANDLE),
    number("pool_id", INT, 2, NO_GOVERNOR),
    null("parent_plan_handle", HANDLE, NO_PARENT),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_cached_plans",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(plan_list::all(system)?.iter().map(row).collect())
}

fn row(entry: &Arc<Entry<Program>>) -> Vec<Value> {
    // One reference is that of the list.
    let references = Arc::strong_count(entry).saturating_sub(1);
    vec![
        int(references),
        int(entry.uses()),
        int(entry.bytes()),
        text(entry.key().kind.name()),
        plan_handle(entry),
    ]
}
