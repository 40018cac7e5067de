//! `sys.indexes`: heaps and indexes of the database's tables, system tables included.

use crate::cell::{bit, int, text, text_or_null};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{IndexKind, SchemaId};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const NO_OPTION: &str = "The option cannot be set yet.";

pub(super) const COLUMNS: [Column; 23] = [
    col("object_id", INT),
    maybe("name", SqlType::SYSNAME),
    col("index_id", INT),
    col("type", SqlType::TinyInt),
    maybe("type_desc", SqlType::nvarchar(60)),
    maybe("is_unique", BIT),
    number("data_space_id", INT, 1, ONE_FILEGROUP),
    maybe("ignore_dup_key", BIT),
    maybe("is_primary_key", BIT),
    maybe("is_unique_constraint", BIT),
    col("fill_factor", SqlType::TinyInt),
    maybe("is_padded", BIT),
    maybe("is_disabled", BIT),
    zero("is_hypothetical", BIT, "There are no hypothetical indexes."),
    zero("is_ignored_in_optimization", BIT, NO_OPTION),
    number("allow_row_locks", BIT, 1, NO_OPTION),
    number("allow_page_locks", BIT, 1, NO_OPTION),
    col("has_filter", BIT),
    maybe("filter_definition", SqlType::NVARCHAR_MAX),
    null("compression_delay", INT, NO_COLUMNSTORE),
    zero("suppress_dup_key_messages", BIT, NO_OPTION),
    zero("auto_created", BIT, "There is no automatic tuning."),
    zero("optimize_for_sequential_key", BIT, NO_OPTION),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "indexes", parameters: None, columns: &COLUMNS, rows };

/// type and type_desc.
pub(crate) fn kind(kind: IndexKind) -> (u8, &'static str) {
    match kind {
        IndexKind::Heap => (0, "HEAP"),
        IndexKind::Clustered => (1, "CLUSTERED"),
        IndexKind::Nonclustered => (2, "NONCLUSTERED"),
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        for i in &table.indexes {
            let (number, description) = kind(i.kind);
            rows.push(vec![
                int(table.object_id.0),
                text_or_null(&i.name),
                int(i.index_id.0),
                Value::TinyInt(number),
                text_or_null(description),
                bit(i.unique),
                bit(i.ignore_dup_key),
                bit(i.primary_key),
                bit(i.unique_constraint),
                Value::TinyInt(i.fill_factor),
                bit(i.padded),
                bit(i.disabled),
                bit(i.filter.is_some()),
                i.filter.as_ref().map_or(Value::Null, |f| text(&f.text)),
            ]);
        }
    }
    Ok(rows)
}
