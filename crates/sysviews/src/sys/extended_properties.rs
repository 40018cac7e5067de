//! `sys.extended_properties`: the users' notes on objects.

use crate::cell::{int, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::{ExtendedProperty, SchemaId};
use types::{SqlType, Value, decode_storage};

const COLUMNS: [Column; 6] = [
    col("class", SqlType::TinyInt),
    maybe("class_desc", SqlType::nvarchar(60)),
    col("major_id", SqlType::Int),
    col("minor_id", SqlType::Int),
    col("name", SqlType::SYSNAME),
    maybe("value", SqlType::Variant),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "extended_properties",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows: Vec<_> = view.properties().iter().map(|p| row(p, 0)).collect();
    for schema in view.schemas() {
        rows.extend(schema.properties.iter().map(|p| row(p, schema.id.0)));
    }
    for object in view.objects() {
        rows.extend(object.properties().iter().map(|p| row(p, p.owner.major.0)));
    }
    for user_type in view.types() {
        rows.extend(user_type.properties.iter().map(|p| row(p, user_type.user_type_id)));
    }
    Ok(rows)
}

fn row(p: &ExtendedProperty, major: i32) -> Vec<Value> {
    let (number, name) = p.owner.class.shown();
    vec![
        Value::TinyInt(number),
        text(name),
        int(major),
        int(p.owner.minor),
        text(&p.name),
        value_of(p),
    ]
}

/// The value of a property.
pub(super) fn value_of(p: &ExtendedProperty) -> Value {
    let stored = p.value.as_deref();
    stored.and_then(|b| decode_storage(b, SqlType::Variant).ok()).unwrap_or(Value::Null)
}
