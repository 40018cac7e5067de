//! `sys.parameters`: parameters of procedures and functions, and results of scalar functions.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{Parameter, SchemaId, TABLE_TYPE};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const TINY: SqlType = SqlType::TinyInt;
const DESC: SqlType = SqlType::nvarchar(64);
const NO_ALWAYS: &str = "There is no Always Encrypted.";
const OF_CLR: &str = "SQL Server knows it of CLR objects only; elsewhere it is in the text.";

pub(super) const COLUMNS: [Column; 21] = [
    col("object_id", INT),
    maybe("name", SqlType::SYSNAME),
    col("parameter_id", INT),
    col("system_type_id", TINY),
    col("user_type_id", INT),
    col("max_length", SqlType::SmallInt),
    col("precision", TINY),
    col("scale", TINY),
    col("is_output", BIT),
    col("is_cursor_ref", BIT),
    zero("has_default_value", BIT, OF_CLR),
    zero("is_xml_document", BIT, NO_XML),
    null("default_value", SqlType::Variant, OF_CLR),
    zero("xml_collection_id", INT, NO_XML),
    col("is_readonly", BIT),
    maybe("is_nullable", BIT),
    null("encryption_type", INT, NO_ALWAYS),
    null("encryption_type_desc", DESC, NO_ALWAYS),
    null("encryption_algorithm_name", SqlType::SYSNAME, NO_ALWAYS),
    null("column_encryption_key_id", INT, NO_ALWAYS),
    null("column_encryption_key_database_name", SqlType::SYSNAME, NO_ALWAYS),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "parameters", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for module in tables::modules(system)? {
        rows.extend(module.parameters.iter().map(|p| cells(module.object_id.0, p)));
    }
    Ok(rows)
}

/// The written cells of a parameter.
pub(super) fn cells(object: i32, p: &Parameter) -> Vec<Value> {
    let t = p.sql_type;
    vec![
        int(object),
        text(&p.name),
        int(p.id),
        Value::TinyInt(match p.user_type_id {
            _ if p.read_only => TABLE_TYPE,
            108 => 108,
            _ => t.system_type_id(),
        }),
        int(p.user_type_id),
        Value::SmallInt(if p.read_only { -1 } else { t.max_length() }),
        Value::TinyInt(if p.read_only { 0 } else { t.precision() }),
        Value::TinyInt(t.scale()),
        bit(p.output),
        bit(p.cursor),
        bit(p.read_only),
        bit(!p.read_only),
    ]
}
