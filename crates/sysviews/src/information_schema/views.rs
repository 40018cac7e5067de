//! `INFORMATION_SCHEMA.VIEWS`: user views.

use crate::cell::{code, text};
use crate::column::{Column, col, maybe, word};
use crate::view::{Rows, System, View};
use catalog::view::{ModuleKind, Object, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 6] = [
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("VIEW_DEFINITION", SqlType::nvarchar(4000)),
    maybe("CHECK_OPTION", SqlType::varchar(7)),
    word("IS_UPDATABLE", SqlType::varchar(2), "NO", "SQL Server says so of every view."),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "VIEWS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for object in view.objects() {
        let Object::Module(m) = object else { continue };
        if m.kind != ModuleKind::View {
            continue;
        }
        // A longer definition is NULL here, as in SQL Server.
        let short = m.text.encode_utf16().count() <= 4000;
        let definition = if short { text(&m.text) } else { Value::Null };
        let check = code(if m.options.check_option { "CASCADE" } else { "NONE" });
        rows.push(vec![text(view.name()), text(&m.schema_name), text(&m.name), definition, check]);
    }
    Ok(rows)
}
