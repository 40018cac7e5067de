//! `sys.dm_os_memory_clerks`: the clerks and their reservations of `--max-memory`.

use crate::cell::{big_kb, text};
use crate::column::{Column, col, null, number, word, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
const ADDRESS: SqlType = SqlType::varbinary(8);
const NO_ADDRESS: &str = "A clerk is a number, not an object of memory with an address.";
const ALL_PAGES: &str = "A clerk counts bytes, of whatever kind of memory they are.";

const COLUMNS: [Column; 13] = [
    null("memory_clerk_address", ADDRESS, NO_ADDRESS),
    col("type", SqlType::nvarchar(60)),
    word("name", SqlType::nvarchar(256), "Default", "Each type has one clerk."),
    zero("memory_node_id", SqlType::SmallInt, "Memory belongs to no NUMA node."),
    col("pages_kb", BIG),
    zero("virtual_memory_reserved_kb", BIG, ALL_PAGES),
    zero("virtual_memory_committed_kb", BIG, ALL_PAGES),
    zero("awe_allocated_kb", BIG, ALL_PAGES),
    zero("shared_memory_reserved_kb", BIG, ALL_PAGES),
    zero("shared_memory_committed_kb", BIG, ALL_PAGES),
    number("page_size_in_bytes", BIG, 8192, "Pages are pages of data."),
    null("page_allocator_address", ADDRESS, NO_ADDRESS),
    null("host_address", ADDRESS, NO_ADDRESS),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_memory_clerks",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let clerks = system.memory.snapshot().into_iter();
    Ok(clerks.map(|(name, bytes)| vec![text(name), big_kb(bytes)]).collect())
}
