//! `sys.schemas`: the schemas of the current database.

use crate::cell::{int, text};
use crate::column::{col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "schemas",
    parameters: None,
    columns: &[
        col("name", SqlType::SYSNAME),
        col("schema_id", SqlType::Int),
        maybe("principal_id", SqlType::Int),
    ],
    rows,
};

/// A system schema belongs to the principal with its number; all others belong to dbo.
fn principal(id: SchemaId) -> i32 {
    if id.0 <= SchemaId::SYS.0 { id.0 } else { 1 }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let schemas = view.schemas().iter();
    Ok(schemas.map(|s| vec![text(&s.name), int(s.id.0), int(principal(s.id))]).collect())
}
