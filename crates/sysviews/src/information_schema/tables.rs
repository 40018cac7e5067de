//! `INFORMATION_SCHEMA.TABLES`: tables and views.

use crate::cell::{code, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::{ModuleKind, Object, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 4] = [
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("TABLE_TYPE", SqlType::varchar(10)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "TABLES",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let catalog = text(view.name());
    let mut rows = Vec::new();
    for object in view.objects() {
        let (schema, kind) = match object {
            Object::Table(t) => (&t.schema_name, "BASE TABLE"),
            Object::Module(m) if m.kind == ModuleKind::View => (&m.schema_name, "VIEW"),
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
                continue;
            }
        };
        rows.push(vec![catalog.clone(), text(schema), text(object.name()), code(kind)]);
    }
    Ok(rows)
}
