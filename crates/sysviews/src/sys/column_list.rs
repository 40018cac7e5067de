//! The columns of `sys.columns` and similar views, and their cells.

use crate::cell::{bit, int, text};
use crate::column::{Column as ViewColumn, col, maybe, null, word, zero};
use crate::reason::*;
use base::ObjectId;
use catalog::view::Column;
use types::{Family, SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const TINY: SqlType = SqlType::TinyInt;
const DESC: SqlType = SqlType::nvarchar(60);
const NO_ALWAYS: &str = "There is no Always Encrypted.";

/// From `object_id` to `is_identity`: the same in all these views.
pub(crate) const FRONT: [ViewColumn; 13] = [
    col("object_id", INT),
    maybe("name", SqlType::SYSNAME),
    col("column_id", INT),
    col("system_type_id", TINY),
    col("user_type_id", INT),
    col("max_length", SqlType::SmallInt),
    col("precision", TINY),
    col("scale", TINY),
    maybe("collation_name", SqlType::SYSNAME),
    maybe("is_nullable", BIT),
    col("is_ansi_padded", BIT),
    col("is_rowguidcol", BIT),
    col("is_identity", BIT),
];

/// From `is_filestream` to `rule_object_id`.
pub(crate) const MIDDLE: [ViewColumn; 9] = [
    zero("is_filestream", BIT, NO_FILESTREAM),
    zero("is_replicated", BIT, NO_REPLICATION),
    zero("is_non_sql_subscribed", BIT, NO_REPLICATION),
    zero("is_merge_published", BIT, NO_REPLICATION),
    zero("is_dts_replicated", BIT, NO_REPLICATION),
    zero("is_xml_document", BIT, NO_XML),
    zero("xml_collection_id", INT, NO_XML),
    col("default_object_id", INT),
    zero("rule_object_id", INT, NO_RULES),
];

/// From `is_sparse` to the end.
pub(crate) const BACK: [ViewColumn; 17] = [
    zero("is_sparse", BIT, NO_SPARSE),
    zero("is_column_set", BIT, NO_SPARSE),
    zero("generated_always_type", TINY, NO_TEMPORAL),
    word("generated_always_type_desc", DESC, "NOT_APPLICABLE", NO_TEMPORAL),
    null("encryption_type", INT, NO_ALWAYS),
    null("encryption_type_desc", SqlType::nvarchar(64), NO_ALWAYS),
    null("encryption_algorithm_name", SqlType::SYSNAME, NO_ALWAYS),
    null("column_encryption_key_id", INT, NO_ALWAYS),
    null("column_encryption_key_database_name", SqlType::SYSNAME, NO_ALWAYS),
    zero("is_hidden", BIT, NO_TEMPORAL),
    zero("is_masked", BIT, "There is no dynamic data masking."),
    null("graph_type", INT, NO_GRAPH),
    null("graph_type_desc", DESC, NO_GRAPH),
    zero("is_data_deletion_filter_column", BIT, "There is no data retention."),
    null("ledger_view_column_type", INT, NO_LEDGER),
    null("ledger_view_column_type_desc", DESC, NO_LEDGER),
    zero("is_dropped_ledger_column", BIT, NO_LEDGER),
];

/// `sys.types.system_type_id`. Numeric is a type of its own by name.
pub(crate) fn system_type_id(c: &Column) -> u8 {
    match c.user_type_id {
        108 => 108,
        _ => c.sql_type.system_type_id(),
    }
}

/// Whether the type holds characters or bytes.
fn padded(t: SqlType) -> bool {
    matches!(t.family(), Family::Char | Family::NChar | Family::Binary)
}

/// The written cells of [`FRONT`].
pub(crate) fn front(object: ObjectId, c: &Column) -> Vec<Value> {
    let t = c.sql_type;
    let collation = if t.is_character() { text(c.collation.name()) } else { Value::Null };
    vec![
        int(object.0),
        text(&c.name),
        int(c.column_id),
        Value::TinyInt(system_type_id(c)),
        int(c.user_type_id),
        Value::SmallInt(t.max_length()),
        Value::TinyInt(t.precision()),
        Value::TinyInt(t.scale()),
        collation,
        bit(c.nullable),
        bit(padded(t)),
        bit(c.row_guid),
        bit(c.identity.is_some()),
    ]
}

/// The written cell of [`MIDDLE`].
pub(crate) fn middle(c: &Column) -> Value {
    int(c.default.as_ref().map_or(0, |d| d.object_id.0))
}
