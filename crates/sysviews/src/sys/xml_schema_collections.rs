//! `sys.xml_schema_collections`: collections of XML schemas; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_XML;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = no_rows(
    [
        col("xml_collection_id", SqlType::Int),
        col("schema_id", SqlType::Int),
        maybe("principal_id", SqlType::Int),
        col("name", SqlType::SYSNAME),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
    ],
    NO_XML,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "xml_schema_collections",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
