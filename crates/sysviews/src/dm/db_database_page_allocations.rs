//! `sys.dm_db_database_page_allocations(database, table, index, partition, mode)`: the pages of the
//! extents of tables, also those that are not allocated, and IAM pages.
//!
//! Microsoft does not document it. Parameters and columns are those of its definition in SQL Server
//! 2016 (M. Vernon, sqlserverscience.com). LIMITED reads no page of a table, so columns about page
//! contents are NULL.

use crate::cell::{bit, int, int_argument, text};
use crate::column::Constant;
use crate::column::{Column, col, fixed, maybe, zero};
use crate::pages::{UnitPage, percent_full, type_name, unit_pages};
use crate::reason::*;
use crate::storage::{self, unless_dropped};
use crate::tables;
use crate::view::{Rows, System, View};
use access::{HobtUnit, StoredHobt};
use base::limits::EXTENT_PAGES;
use base::{DatabaseId, PageId, SqlError, SqlResult, messages};
use catalog::view::{Index, Partition, SchemaId, Table};
use database::Database;
use page::{PageView, Pfs};
use space::pfs_page;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const BIG: SqlType = SqlType::BigInt;
const WORDS: SqlType = SqlType::nvarchar(64);

const COLUMNS: [Column; 30] = [
    col("database_id", SMALL),
    col("object_id", INT),
    col("index_id", INT),
    col("partition_id", INT),
    col("rowset_id", BIG),
    col("allocation_unit_id", BIG),
    col("allocation_unit_type", SqlType::TinyInt),
    col("allocation_unit_type_desc", SqlType::nvarchar(60)),
    zero("data_clone_id", SqlType::TinyInt, NO_CLONES),
    zero("clone_state", SqlType::TinyInt, NO_CLONES),
    fixed("clone_state_desc", SqlType::nvarchar(9), Constant::Text("PRIMARY"), NO_CLONES),
    maybe("extent_file_id", SMALL),
    maybe("extent_page_id", INT),
    maybe("allocated_page_iam_file_id", SMALL),
    maybe("allocated_page_iam_page_id", INT),
    col("allocated_page_file_id", SMALL),
    col("allocated_page_page_id", INT),
    col("is_allocated", SqlType::Bit),
    col("is_iam_page", SqlType::Bit),
    col("is_mixed_page_allocation", SqlType::Bit),
    maybe("page_free_space_percent", SqlType::TinyInt),
    maybe("page_type", INT),
    maybe("page_type_desc", WORDS),
    maybe("page_level", INT),
    maybe("next_page_file_id", SMALL),
    maybe("next_page_page_id", INT),
    maybe("previous_page_file_id", SMALL),
    maybe("previous_page_page_id", INT),
    fixed("is_page_compressed", SqlType::Bit, Constant::Number(0), NO_COMPRESSION),
    maybe("has_ghost_records", SqlType::Bit),
];

/// Why there are no clones.
const NO_CLONES: &str = "An allocation unit has its pages once.";

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_database_page_allocations",
    parameters: Some(&[
        ("@DatabaseId", SMALL),
        ("@TableId", INT),
        ("@IndexId", INT),
        ("@PartitionId", BIG),
        ("@Mode", WORDS),
    ]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let wrong = |n: i32| {
        SqlError::new(messages::DATEPART_INVALID, &[&n, &"sys.dm_db_database_page_allocations"])
    };
    let mode = arguments.get(4).filter(|v| !v.is_null()).map(ToString::to_string);
    let detailed = match mode.unwrap_or_default().to_ascii_uppercase().as_str() {
        "" | "DEFAULT" | "LIMITED" => false,
        "DETAILED" => true,
        _ => return Err(wrong(5)),
    };
    let id = int_argument(arguments.first()).and_then(|n| u16::try_from(n).ok());
    let id = id.map(DatabaseId).ok_or_else(|| wrong(1))?;
    let database = system.databases.hold(id)?.ok_or_else(|| wrong(1))?;
    let (object, index) = (int_argument(arguments.get(1)), int_argument(arguments.get(2)));
    let number = int_argument(arguments.get(3));
    let mut rows = Vec::new();
    for table in tables::all_of(system, id)? {
        if object.is_some_and(|n| n != i64::from(table.object_id.0)) {
            continue;
        }
        for i in &table.indexes {
            // The index argument has an effect only if a table is given.
            let other = |n: i64| object.is_some() && n != i64::from(i.index_id.0);
            if index.is_some_and(other) {
                continue;
            }
            for (partition, hobt) in storage::open(&database, i) {
                if number.is_none_or(|n| n == i64::from(partition.number.0)) {
                    let of = (i, partition, &*hobt);
                    let found = of_partition((system, &database), &table, of, detailed);
                    rows.extend(unless_dropped(&*hobt, found)?.unwrap_or_default());
                }
            }
        }
    }
    Ok(rows)
}

fn of_partition(
    (system, database): (&System<'_>, &Database),
    table: &Table,
    (index, partition, hobt): (&Index, Partition, &dyn StoredHobt),
    detailed: bool,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    for unit in hobt.units() {
        for page in with_unallocated(unit_pages(system, database, (hobt, unit))?) {
            system.waiter.check()?;
            let byte = Pfs::get(database.pages().read(pfs_page(page.id))?.view(), page.id.page);
            let mut row = place(database, table, (index, partition, unit), &page, byte);
            row.extend(content(database, unit, &page, byte, detailed)?);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// All eight pages of each extent, allocated or not.
fn with_unallocated(pages: Vec<UnitPage>) -> Vec<UnitPage> {
    let mut all: Vec<UnitPage> = Vec::with_capacity(pages.len());
    for page in pages {
        let first = page.id.page / EXTENT_PAGES * EXTENT_PAGES;
        let begins = |last: &UnitPage| {
            last.iam.is_none()
                || (last.id.file, last.id.page / EXTENT_PAGES * EXTENT_PAGES)
                    != (page.id.file, first)
        };
        if page.iam.is_none() {
            all.push(page);
        } else if all.last().is_none_or(begins) {
            let extent =
                (first..first + EXTENT_PAGES).map(|n| PageId { file: page.id.file, page: n });
            all.extend(extent.map(|id| UnitPage { id, iam: page.iam }));
        }
    }
    all
}

fn small(n: u16) -> Value {
    Value::SmallInt(n.cast_signed())
}

fn place(
    database: &Database,
    table: &Table,
    (index, partition, unit): (&Index, Partition, HobtUnit),
    page: &UnitPage,
    byte: Pfs,
) -> Vec<Value> {
    let (kind, word) = if unit.pieces { (2, "LOB_DATA") } else { (1, "IN_ROW_DATA") };
    let extent = page.iam.map(|_| page.id.page / EXTENT_PAGES * EXTENT_PAGES);
    vec![
        small(database.id().0),
        int(table.object_id.0),
        int(index.index_id.0),
        int(partition.number.0),
        Value::BigInt(partition.hobt.as_bigint()),
        Value::BigInt(unit.unit.as_bigint()),
        Value::TinyInt(kind),
        text(word),
        extent.map_or(Value::Null, |_| small(page.id.file.0)),
        extent.map_or(Value::Null, int),
        page.iam.map_or(Value::Null, |i| small(i.file.0)),
        page.iam.map_or(Value::Null, |i| int(i.page)),
        small(page.id.file.0),
        int(page.id.page),
        bit(byte.is_allocated()),
        bit(byte.0 & Pfs::IAM != 0),
        bit(byte.0 & Pfs::MIXED != 0),
    ]
}

/// The contents of the page, if it is read and still belongs to the unit.
fn content(
    database: &Database,
    unit: HobtUnit,
    page: &UnitPage,
    byte: Pfs,
    detailed: bool,
) -> SqlResult<Vec<Value>> {
    let free = Value::TinyInt(100 - percent_full(byte));
    let mut cells = vec![if byte.is_allocated() { free } else { Value::Null }];
    if detailed && byte.is_allocated() {
        let guard = database.pages().read(page.id)?;
        if guard.view().alloc_unit() == unit.unit {
            cells.extend(read(guard.view()));
            return Ok(cells);
        }
    }
    cells.extend(std::iter::repeat_n(Value::Null, 8));
    Ok(cells)
}

fn read(v: PageView<'_>) -> Vec<Value> {
    let (next, previous) = (v.next_page(), v.prev_page());
    vec![
        int(v.kind_byte()),
        text(type_name(v)),
        int(v.level()),
        small(next.file.0),
        int(next.page),
        small(previous.file.0),
        int(previous.page),
        bit(v.ghost_count() > 0),
    ]
}
