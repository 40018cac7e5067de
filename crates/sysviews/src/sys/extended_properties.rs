//! `sys.extended_properties`: what people noted about objects.

use crate::cell::{int, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::{Object, SchemaId};
use types::{SqlType, Value};

/// SQL Server's type is sql_variant.
const VALUE: SqlType = SqlType::nvarchar(3750);

const COLUMNS: [Column; 6] = [
    col("class", SqlType::TinyInt),
    maybe("class_desc", SqlType::nvarchar(60)),
    col("major_id", SqlType::Int),
    col("minor_id", SqlType::Int),
    col("name", SqlType::SYSNAME),
    maybe("value", VALUE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "extended_properties",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for object in system.view()?.objects() {
        let properties = match object {
            Object::Table(table) => &table.properties,
            Object::Module(module) => &module.properties,
            Object::Sequence(_) | Object::Virtual(_) => continue,
        };
        rows.extend(properties.iter().map(|p| {
            let (number, name) = p.owner.class.shown();
            vec![
                Value::TinyInt(number),
                text(name),
                int(p.owner.major.0),
                int(p.owner.minor),
                text(&p.name),
                p.value.as_deref().map_or(Value::Null, text),
            ]
        }));
    }
    Ok(rows)
}
