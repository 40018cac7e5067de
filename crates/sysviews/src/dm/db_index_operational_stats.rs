//! `sys.dm_db_index_operational_stats(database, object, index, partition)`: operations on the rows,
//! pages and locks of each heap and index since it was opened.
//!
//! NULL and 0 (-1 for the index) are wildcards. A rebuild keeps the counts. Pages and rows that the
//! rebuild itself writes are not counted, except the pages of a heap. The last columns are our own:
//! how an index got its leaves, and where pages were split (docs/views.md).

use super::indexes::{FoundIndex, IndexChoice, each_index};
use crate::cell::{big, big_ms, int, int_argument};
use crate::column::{Column, col, null, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use access::{Deed, StoredHobt};
use catalog::view::{Partition, SchemaId};
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
const ENTRIES: &str =
    "An entry above the leaves comes with its page and goes with it; it never changes.";
const WITH_ROWS: &str = "A value off its row is written with the row, and given up with it.";
const ONE_UNIT: &str =
    "Values that are off their rows are in one unit, whatever their type: see lob_fetch_in_pages.";
const NOT_TOLD_APART: &str =
    "A changed row writes all its values anew; those that come back into it are not told apart.";
const INTENTS: &str = "Pages are locked with intents alone, and those do not wait for each other.";
const GHOSTS: &str = "Ghosts are told by leaf_ghost_count, versions by version_generated_offrow.";

const COLUMNS: [Column; 56] = [
    col("database_id", SqlType::SmallInt),
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("partition_number", SqlType::Int),
    col("hobt_id", BIG),
    col("leaf_insert_count", BIG),
    col("leaf_delete_count", BIG),
    col("leaf_update_count", BIG),
    col("leaf_ghost_count", BIG),
    col("nonleaf_insert_count", BIG),
    col("nonleaf_delete_count", BIG),
    zero("nonleaf_update_count", BIG, ENTRIES),
    col("leaf_allocation_count", BIG),
    col("nonleaf_allocation_count", BIG),
    col("leaf_page_merge_count", BIG),
    col("nonleaf_page_merge_count", BIG),
    col("range_scan_count", BIG),
    col("singleton_lookup_count", BIG),
    col("forwarded_fetch_count", BIG),
    col("lob_fetch_in_pages", BIG),
    col("lob_fetch_in_bytes", BIG),
    zero("lob_orphan_create_count", BIG, WITH_ROWS),
    zero("lob_orphan_insert_count", BIG, WITH_ROWS),
    zero("row_overflow_fetch_in_pages", BIG, ONE_UNIT),
    zero("row_overflow_fetch_in_bytes", BIG, ONE_UNIT),
    col("column_value_push_off_row_count", BIG),
    null("column_value_pull_in_row_count", BIG, NOT_TOLD_APART),
    col("row_lock_count", BIG),
    col("row_lock_wait_count", BIG),
    col("row_lock_wait_in_ms", BIG),
    col("page_lock_count", BIG),
    zero("page_lock_wait_count", BIG, INTENTS),
    zero("page_lock_wait_in_ms", BIG, INTENTS),
    col("index_lock_promotion_attempt_count", BIG),
    col("index_lock_promotion_count", BIG),
    col("page_latch_wait_count", BIG),
    col("page_latch_wait_in_ms", BIG),
    col("page_io_latch_wait_count", BIG),
    col("page_io_latch_wait_in_ms", BIG),
    col("tree_page_latch_wait_count", BIG),
    col("tree_page_latch_wait_in_ms", BIG),
    col("tree_page_io_latch_wait_count", BIG),
    col("tree_page_io_latch_wait_in_ms", BIG),
    zero("page_compression_attempt_count", BIG, NO_COMPRESSION),
    zero("page_compression_success_count", BIG, NO_COMPRESSION),
    col("version_generated_inrow", BIG),
    col("version_generated_offrow", BIG),
    null("ghost_version_inrow", BIG, GHOSTS),
    null("ghost_version_offrow", BIG, GHOSTS),
    null("insert_over_ghost_version_inrow", BIG, GHOSTS),
    null("insert_over_ghost_version_offrow", BIG, GHOSTS),
    col("leaf_page_append_count", BIG),
    col("leaf_page_split_count", BIG),
    col("leaf_page_split_at_end_count", BIG),
    col("leaf_page_split_by_update_count", BIG),
    col("leaf_page_split_beside_last_count", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_index_operational_stats",
    parameters: Some(&[
        ("@DatabaseId", SqlType::SmallInt),
        ("@TableId", SqlType::Int),
        ("@IndexId", SqlType::Int),
        ("@PartitionNumber", SqlType::Int),
    ]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let argument = |n: usize| int_argument(arguments.get(n));
    let mut rows = Vec::new();
    let number = argument(3).filter(|&n| n != 0);
    let chosen = IndexChoice {
        database: argument(0).filter(|&n| n != 0),
        object: argument(1).filter(|&n| n != 0),
        index: argument(2).filter(|&n| n >= 0),
    };
    each_index(system, chosen, &mut |found| {
        let wanted = found.partitions.iter();
        let wanted = wanted.filter(|p| number.is_none_or(|n| n == i64::from(p.0.number.0)));
        rows.extend(wanted.map(|(partition, hobt)| row(found, *partition, &**hobt)));
    })?;
    Ok(rows)
}

fn row(found: &FoundIndex<'_>, partition: Partition, hobt: &dyn StoredHobt) -> Vec<Value> {
    let count = |deed| big(hobt.counted(deed));
    let ms = |deed| big_ms(hobt.counted(deed));
    let splits = hobt.all_splits();
    let (leaf, interior) = (splits.leaf, splits.interior);
    // A heap has no tree.
    let leaves = match found.index.kind.is_heap() {
        true => hobt.counted(Deed::HeapPage),
        false => leaf.allocated(),
    };
    vec![
        Value::SmallInt(found.database.0 as i16),
        int(found.table.object_id.0),
        int(found.index.index_id.0),
        int(partition.number.0),
        Value::BigInt(partition.hobt.as_bigint()),
        count(Deed::LeafInsert),
        count(Deed::LeafDelete),
        count(Deed::LeafUpdate),
        count(Deed::LeafGhost),
        // One entry for each page, and one more for the page that was a root.
        big(leaf.allocated() + interior.allocated() + splits.roots),
        // A page is freed with its parent if it was the parent's only child.
        big(leaf.freed),
        big(leaves),
        big(interior.allocated() + splits.roots),
        big(leaf.freed),
        big(interior.freed),
        count(Deed::RangeScan),
        count(Deed::SingletonLookup),
        count(Deed::ForwardedFetch),
        count(Deed::LobPages),
        count(Deed::LobBytes),
        count(Deed::PushedOffRow),
        count(Deed::RowLock),
        count(Deed::RowLockWait),
        ms(Deed::RowLockWaitNs),
        count(Deed::PageLock),
        count(Deed::PromotionAttempt),
        count(Deed::Promotion),
        count(Deed::PageLatchWait),
        ms(Deed::PageLatchWaitNs),
        count(Deed::PageIoWait),
        ms(Deed::PageIoWaitNs),
        count(Deed::TreeLatchWait),
        ms(Deed::TreeLatchWaitNs),
        count(Deed::TreeIoWait),
        ms(Deed::TreeIoWaitNs),
        count(Deed::VersionInRow),
        count(Deed::VersionStored),
        big(leaf.appends),
        big(leaf.splits),
        big(leaf.at_end),
        big(leaf.longer),
        big(leaf.beside_last),
    ]
}
