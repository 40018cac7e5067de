//! `sys.sql_dependencies`: the rows of `sys.sql_expression_dependencies` whose objects exist, by
//! ids.

use crate::cell::{int, text};
use crate::column::{Column, col, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIT: SqlType = SqlType::Bit;
const NOT_TOLD: &str = "Dependencies do not tell what is done with what they name.";

const COLUMNS: [Column; 9] = [
    col("class", SqlType::TinyInt),
    col("class_desc", SqlType::nvarchar(60)),
    col("object_id", INT),
    col("column_id", INT),
    col("referenced_major_id", INT),
    col("referenced_minor_id", INT),
    null("is_selected", BIT, NOT_TOLD),
    null("is_updated", BIT, NOT_TOLD),
    null("is_select_all", BIT, NOT_TOLD),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "sql_dependencies",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let row = |d: session::Dependency| {
        let (class, described) = match d.bound {
            true => (1, "OBJECT_OR_COLUMN_REFERENCE_SCHEMA_BOUND"),
            false => (0, "OBJECT_OR_COLUMN_REFERENCE_NON_SCHEMA_BOUND"),
        };
        Some(vec![
            Value::TinyInt(class),
            text(described),
            int(d.referencing.0),
            int(d.referencing_column),
            int(d.id?.0),
            int(d.column),
        ])
    };
    let all = session::dependencies(&*system.view()?);
    Ok(all.into_iter().filter_map(row).collect())
}
