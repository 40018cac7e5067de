//! DBCC IND: the pages of a table's heap and indexes.
//!
//! ```text
//!   index  pages that are listed, each unit's IAM pages first
//!   n >= 1 of that index, with its large values
//!   0      of the heap or the clustered index: those with rows, without large values
//!   -1     of all
//!   -2     IAM pages of all
//! ```
//!
//! Invariants
//!  1. Pages are found by the maps, and each is read at its own moment. While others change the
//!     table, each line of the list is true at its moment. A page that no longer belongs to the
//!     table is left out.

use crate::cell::{code, int};
use crate::storage::{self, unless_dropped};
use crate::view::System;
use access::{HobtUnit, StoredHobt};
use base::limits::EXTENT_PAGES;
use base::{PageId, SqlError, SqlResult, messages};
use catalog::view::{Index, Partition, Table};
use database::Database;
use page::{PageKind, PageView};
use session::{PagesRequest, Rowset};
use space::{AllocUnit, IamFacts};
use types::{SqlType, Value};

/// A page of a unit.
pub(crate) struct UnitPage {
    pub(crate) id: PageId,
    /// The IAM page that marks it; `None` for an IAM page itself.
    pub(crate) iam: Option<PageId>,
}

/// The pages of an allocation unit, IAM pages first.
///
/// # Errors
/// Damaged maps; the waiter's cancellation.
pub(crate) fn unit_pages(
    system: &System<'_>,
    database: &Database,
    (hobt, unit): (&dyn StoredHobt, HobtUnit),
) -> SqlResult<Vec<UnitPage>> {
    let owned = AllocUnit::open(unit.unit, unit.places.first_iam);
    let found = database.space().unit_pages(&owned, system.waiter);
    let home = database.home();
    let found = found.map_err(|e| e.into_sql(&hobt.spec().hobt.to_string(), &home.name()))?;
    let mut maps = Vec::with_capacity(found.iam_pages.len());
    for id in found.iam_pages {
        let guard = database.pages().read(id)?;
        maps.push((id, IamFacts::of(guard.view())));
    }
    let covers = |map: &IamFacts, id: PageId| {
        map.file == id.file && map.extents.contains(&(id.page / EXTENT_PAGES))
    };
    let mut pages: Vec<UnitPage> =
        maps.iter().map(|(id, _)| UnitPage { id: *id, iam: None }).collect();
    pages.extend(found.pages.into_iter().map(|id| UnitPage {
        id,
        iam: maps.iter().find(|(_, map)| covers(map, id)).map(|(iam, _)| *iam),
    }));
    Ok(pages)
}

/// The pages of an index that are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageSelection {
    All,
    Rows,
    Maps,
}

fn wanted(ask: &PagesRequest, index: &Index) -> Option<PageSelection> {
    let is_base = index.kind.holds_rows();
    match ask.index {
        -2 => Some(PageSelection::Maps),
        -1 => Some(PageSelection::All),
        0 => is_base.then_some(PageSelection::Rows),
        n => (n == i64::from(index.index_id.0)).then_some(PageSelection::All),
    }
}

/// DBCC IND.
///
/// # Errors
/// 2560 where the table has no such index; damaged maps; the waiter's cancellation.
pub fn list_pages(system: &System<'_>, ask: &PagesRequest) -> SqlResult<Rowset> {
    let unknown = || SqlError::new(messages::DBCC_NO_DATABASE_ID, &[&ask.table.database]);
    let database = system.databases.hold(ask.table.database)?.ok_or_else(unknown)?;
    let asked = ask.table.indexes.iter().filter_map(|i| Some((i, wanted(ask, i)?)));
    let asked: Vec<(&Index, PageSelection)> = asked.collect();
    if asked.is_empty() {
        return Err(SqlError::new(messages::DBCC_PARAMETER, &[&3]));
    }
    let mut set = Rowset { columns: heads(), rows: Vec::new() };
    for (index, wanted) in asked {
        for (partition, hobt) in storage::open(&database, index) {
            let of = (index, partition, &*hobt);
            let rows = of_partition((system, &database), &ask.table, of, wanted);
            set.rows.extend(unless_dropped(&*hobt, rows)?.unwrap_or_default());
        }
    }
    Ok(set)
}

fn heads() -> Vec<(String, SqlType, bool)> {
    let (short, whole) = (SqlType::SmallInt, SqlType::Int);
    [
        ("PageFID", short),
        ("PagePID", whole),
        ("IAMFID", short),
        ("IAMPID", whole),
        ("ObjectID", whole),
        ("IndexID", whole),
        ("PartitionNumber", whole),
        ("PartitionID", SqlType::BigInt),
        ("iam_chain_type", SqlType::varchar(30)),
        ("PageType", SqlType::TinyInt),
        ("IndexLevel", SqlType::TinyInt),
        ("NextPageFID", short),
        ("NextPagePID", whole),
        ("PrevPageFID", short),
        ("PrevPagePID", whole),
    ]
    .map(|(name, sql_type)| (name.to_owned(), sql_type, true))
    .into()
}

fn of_partition(
    (system, database): (&System<'_>, &Database),
    table: &Table,
    (index, partition, hobt): (&Index, Partition, &dyn StoredHobt),
    wanted: PageSelection,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    for unit in hobt.units() {
        if wanted == PageSelection::Rows && unit.pieces {
            continue;
        }
        for page in unit_pages(system, database, (hobt, unit))? {
            system.waiter.check()?;
            if wanted == PageSelection::Maps && page.iam.is_some() {
                break;
            }
            let guard = database.pages().read(page.id)?;
            let v = guard.view();
            let is_leaf = page.iam.is_none() || v.level() == 0;
            if v.alloc_unit() == unit.unit && (wanted != PageSelection::Rows || is_leaf) {
                rows.push(row(table, (index, partition), unit, &page, v));
            }
        }
    }
    Ok(rows)
}

fn row(
    table: &Table,
    (index, partition): (&Index, Partition),
    unit: HobtUnit,
    page: &UnitPage,
    v: PageView<'_>,
) -> Vec<Value> {
    let number = |file: u16| Value::SmallInt(file.cast_signed());
    let (next, previous) = (v.next_page(), v.prev_page());
    let level = (v.kind() != Some(PageKind::Iam)).then(|| Value::TinyInt(v.level()));
    vec![
        number(page.id.file.0),
        int(page.id.page),
        page.iam.map_or(Value::Null, |i| number(i.file.0)),
        page.iam.map_or(Value::Null, |i| int(i.page)),
        int(table.object_id.0),
        int(index.index_id.0),
        int(partition.number.0),
        Value::BigInt(partition.hobt.as_bigint()),
        code(if unit.pieces { "LOB data" } else { "In-row data" }),
        Value::TinyInt(v.kind_byte()),
        level.unwrap_or(Value::Null),
        number(next.file.0),
        int(next.page),
        number(previous.file.0),
        int(previous.page),
    ]
}
