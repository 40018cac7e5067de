//! `sys.sql_expression_dependencies`: which definitions name which objects and columns.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, number, word, zero};
use crate::reason::OF_THIS_VIEW;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const DESC: SqlType = SqlType::nvarchar(60);
const NO_SERVERS: &str = "There are no linked servers.";
const CLEAR: &str = "Names of methods are no mentions.";

const COLUMNS: [Column; 15] = [
    col("referencing_id", SqlType::Int),
    col("referencing_minor_id", SqlType::Int),
    number("referencing_class", SqlType::TinyInt, 1, OF_THIS_VIEW),
    word("referencing_class_desc", DESC, "OBJECT_OR_COLUMN", OF_THIS_VIEW),
    col("is_schema_bound_reference", SqlType::Bit),
    number("referenced_class", SqlType::TinyInt, 1, OF_THIS_VIEW),
    word("referenced_class_desc", DESC, "OBJECT_OR_COLUMN", OF_THIS_VIEW),
    null("referenced_server_name", SqlType::SYSNAME, NO_SERVERS),
    maybe("referenced_database_name", SqlType::SYSNAME),
    maybe("referenced_schema_name", SqlType::SYSNAME),
    col("referenced_entity_name", SqlType::SYSNAME),
    maybe("referenced_id", SqlType::Int),
    col("referenced_minor_id", SqlType::Int),
    col("is_caller_dependent", SqlType::Bit),
    zero("is_ambiguous", SqlType::Bit, CLEAR),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "sql_expression_dependencies",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let or_null = |name: &Option<Box<str>>| name.as_deref().map_or(Value::Null, text);
    let all = session::dependencies(&*system.view()?);
    let row = |d: &session::Dependency| {
        vec![
            int(d.referencing.0),
            int(d.referencing_column),
            bit(d.bound),
            or_null(&d.database),
            or_null(&d.schema),
            text(&d.name),
            // An id that depends on the caller is unknown until run time.
            d.id.filter(|_| !d.caller_dependent).map_or(Value::Null, |id| int(id.0)),
            int(d.column),
            bit(d.caller_dependent),
        ]
    };
    Ok(all.iter().map(row).collect())
}
