//! `sys.foreign_key_columns`: there are no foreign keys yet, so it has no rows.

use crate::column::{Column, null};
use crate::reason::EMPTY;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = [
    null("constraint_object_id", SqlType::Int, EMPTY),
    null("constraint_column_id", SqlType::Int, EMPTY),
    null("parent_object_id", SqlType::Int, EMPTY),
    null("parent_column_id", SqlType::Int, EMPTY),
    null("referenced_object_id", SqlType::Int, EMPTY),
    null("referenced_column_id", SqlType::Int, EMPTY),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "foreign_key_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
