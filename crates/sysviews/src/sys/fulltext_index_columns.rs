//! `sys.fulltext_index_columns`: columns of full-text indexes; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_FULL_TEXT;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = no_rows(
    [
        col("object_id", SqlType::Int),
        col("column_id", SqlType::Int),
        maybe("type_column_id", SqlType::Int),
        col("language_id", SqlType::Int),
        col("statistical_semantics", SqlType::Int),
    ],
    NO_FULL_TEXT,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fulltext_index_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
