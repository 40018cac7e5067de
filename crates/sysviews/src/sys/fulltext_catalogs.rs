//! `sys.fulltext_catalogs`: full-text catalogs; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_FULL_TEXT;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = no_rows(
    [
        col("fulltext_catalog_id", SqlType::Int),
        col("name", SqlType::SYSNAME),
        maybe("path", SqlType::nvarchar(260)),
        col("is_default", SqlType::Bit),
        col("is_accent_sensitivity_on", SqlType::Bit),
        maybe("data_space_id", SqlType::Int),
        maybe("file_id", SqlType::Int),
        col("principal_id", SqlType::Int),
        col("is_importing", SqlType::Bit),
    ],
    NO_FULL_TEXT,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fulltext_catalogs",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
