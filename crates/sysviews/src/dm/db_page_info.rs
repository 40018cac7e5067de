//! `sys.dm_db_page_info(database, file, page, mode)`: the header of a page and its state in the
//! allocation maps, in one row. Under LIMITED the description columns are NULL.
//!
//! Differences from SQL Server
//!  - The words for bits of the header are ours: Microsoft lists none.
//!  - The numbers of the errors: Microsoft says that NULL "will result in an error".

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, zero};
use crate::pages::{
    Allocation, PageCopy, PageOwner, has_persisted_versions, has_versions, page_of, percent_full,
    pfs_words, type_name, xdes_text,
};
use crate::reason::*;
use crate::view::{Rows, System, View};
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::SchemaId;
use database::Database;
use page::Pfs;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const BIT: SqlType = SqlType::Bit;
const WORDS: SqlType = SqlType::nvarchar(64);

const COLUMNS: [Column; 51] = [
    col("database_id", INT),
    col("file_id", INT),
    col("page_id", INT),
    col("page_header_version", INT),
    col("page_type", INT),
    maybe("page_type_desc", WORDS),
    col("page_type_flag_bits", WORDS),
    maybe("page_type_flag_bits_desc", WORDS),
    col("page_flag_bits", WORDS),
    maybe("page_flag_bits_desc", SqlType::nvarchar(256)),
    col("page_lsn", WORDS),
    col("page_level", INT),
    maybe("object_id", INT),
    maybe("index_id", INT),
    maybe("partition_id", SqlType::BigInt),
    maybe("alloc_unit_id", SqlType::BigInt),
    zero("is_encrypted", BIT, NO_ENCRYPTION),
    col("has_checksum", BIT),
    col("checksum", INT),
    col("is_iam_page", BIT),
    col("is_mixed_extent", BIT),
    col("has_ghost_records", BIT),
    col("has_version_records", BIT),
    col("has_persisted_version_records", BIT),
    col("pfs_page_id", INT),
    col("pfs_is_allocated", BIT),
    col("pfs_alloc_percent", INT),
    col("pfs_status", WORDS),
    maybe("pfs_status_desc", WORDS),
    col("gam_page_id", INT),
    col("gam_status", BIT),
    maybe("gam_status_desc", WORDS),
    col("sgam_page_id", INT),
    col("sgam_status", BIT),
    maybe("sgam_status_desc", WORDS),
    col("diff_map_page_id", INT),
    col("diff_status", BIT),
    maybe("diff_status_desc", WORDS),
    col("ml_map_page_id", INT),
    col("ml_status", BIT),
    maybe("ml_status_desc", WORDS),
    col("prev_page_file_id", SMALL),
    col("prev_page_page_id", INT),
    col("next_page_file_id", SMALL),
    col("next_page_page_id", INT),
    col("fixed_length", SMALL),
    col("slot_count", SMALL),
    col("ghost_rec_count", SMALL),
    col("free_bytes", SMALL),
    col("free_bytes_offset", INT),
    col("reserved_bytes", SMALL),
];

/// The columns behind those, which few pages have.
const MORE: [Column; 2] = [col("reserved_bytes_by_xdes_id", SMALL), col("xdes_id", WORDS)];

const ALL: [Column; 53] = crate::column::join(COLUMNS, MORE);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_page_info",
    parameters: Some(&[
        ("@DatabaseId", SqlType::SmallInt),
        ("@FileId", INT),
        ("@PageId", INT),
        ("@Mode", WORDS),
    ]),
    columns: &ALL,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let wrong = |n: i32| SqlError::new(messages::DATEPART_INVALID, &[&n, &"sys.dm_db_page_info"]);
    let number = |n: usize| arguments.get(n).and_then(Value::as_i64);
    let mode = arguments.get(3).filter(|v| !v.is_null()).map(ToString::to_string);
    let words = match mode.unwrap_or_default().to_ascii_uppercase().as_str() {
        "" | "DEFAULT" | "LIMITED" => false,
        "DETAILED" => true,
        _ => return Err(wrong(4)),
    };
    let id = number(0).and_then(|n| u16::try_from(n).ok()).ok_or_else(|| wrong(1))?;
    let database = system.databases.hold(DatabaseId(id))?.ok_or_else(|| wrong(1))?;
    let file = number(1).ok_or_else(|| wrong(2))?;
    let page = number(2).ok_or_else(|| wrong(3))?;
    let is_file =
        u16::try_from(file).is_ok_and(|f| database.space().size_pages(base::FileId(f)).is_some());
    let id = page_of(&database, file, page).ok_or_else(|| wrong(if is_file { 3 } else { 2 }))?;
    Ok(vec![row(system, &database, id, words)?])
}

fn row(
    system: &System<'_>,
    database: &Database,
    id: base::PageId,
    words: bool,
) -> SqlResult<Vec<Value>> {
    let copy = PageCopy::of(database, id)?;
    let allocation = Allocation::of(database, id)?;
    let owner = PageOwner::of(system, database, copy.view().alloc_unit());
    let mut row = vec![int(database.id().0), int(id.file.0), int(id.page)];
    row.extend(header(&copy, owner.as_ref(), words));
    row.extend(maps(&allocation, &copy, words));
    row.extend(space_of(&copy));
    Ok(row)
}

fn described(words: bool, told: &str) -> Value {
    if words { text(told) } else { Value::Null }
}

fn header(copy: &PageCopy, owner: Option<&PageOwner>, words: bool) -> Vec<Value> {
    let v = copy.view();
    let owned = |of: &dyn Fn(&PageOwner) -> Value| owner.map_or(Value::Null, of);
    let unit = v.alloc_unit();
    vec![
        int(v.header_version()),
        int(v.kind_byte()),
        described(words, type_name(v)),
        text(&format!("{:#x}", v.type_flags())),
        described(words, ""),
        text(&format!("{:#x}", v.flags())),
        described(words, if v.has_checksum() { "HAS_CHECKSUM" } else { "" }),
        text(&v.lsn().to_string()),
        int(v.level()),
        owned(&|o| int(o.hobt.spec().object.0)),
        owned(&|o| int(o.index_id())),
        owned(&|o| Value::BigInt(o.hobt.spec().hobt.as_bigint())),
        if unit.0 == 0 { Value::Null } else { Value::BigInt(unit.as_bigint()) },
        bit(v.has_checksum()),
        Value::Int(v.torn_bits().cast_signed()),
    ]
}

fn maps(a: &Allocation, copy: &PageCopy, words: bool) -> Vec<Value> {
    let byte = a.pfs.1;
    let mut cells = vec![
        bit(byte.0 & Pfs::IAM != 0),
        bit(byte.0 & Pfs::MIXED != 0),
        bit(copy.view().ghost_count() > 0),
        bit(has_versions(copy.view())),
        bit(has_persisted_versions(copy.view())),
        int(a.pfs.0.page),
        bit(byte.is_allocated()),
        int(percent_full(byte)),
        text(&format!("{:#x}", byte.0)),
        described(words, &pfs_words(byte)),
    ];
    for ((map, is), yes, no) in [
        (a.gam, "ALLOCATED", "NOT ALLOCATED"),
        (a.sgam, "ALLOCATED", "NOT ALLOCATED"),
        (a.diff, "CHANGED", "NOT CHANGED"),
        (a.ml, "MIN_LOGGED", "NOT MIN_LOGGED"),
    ] {
        cells.extend([int(map.page), bit(is), described(words, if is { yes } else { no })]);
    }
    cells
}

fn space_of(copy: &PageCopy) -> Vec<Value> {
    let v = copy.view();
    let small = |n: u16| Value::SmallInt(n.cast_signed());
    let (previous, next) = (v.prev_page(), v.next_page());
    vec![
        small(previous.file.0),
        int(previous.page),
        small(next.file.0),
        int(next.page),
        small(v.min_len()),
        small(v.slot_count()),
        small(v.ghost_count()),
        small(v.free_count()),
        int(v.free_data()),
        small(v.reserved_count()),
        small(v.xact_reserved()),
        text(&xdes_text(v)),
    ]
}
