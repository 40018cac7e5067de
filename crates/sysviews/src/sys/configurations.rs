//! `sys.configurations`: options of the server, their configured values and the values in use.

use crate::cell::{bit, int, text, variant};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use session::{SERVER_OPTIONS, ServerOption};
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = [
    col("configuration_id", SqlType::Int),
    col("name", SqlType::nvarchar(35)),
    col("value", SqlType::Variant),
    col("minimum", SqlType::Variant),
    col("maximum", SqlType::Variant),
    col("value_in_use", SqlType::Variant),
    col("description", SqlType::nvarchar(255)),
    col("is_dynamic", SqlType::Bit),
    col("is_advanced", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "configurations",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let number = |n: i32| variant(Value::Int(n), SqlType::Int);
    let row = |o: &ServerOption| {
        vec![
            int(o.id),
            text(o.name),
            number(system.configuration.configured(o)),
            number(o.range.0),
            number(o.range.1),
            number(system.configuration.of(o)),
            text(o.description),
            bit(o.dynamic),
            bit(o.advanced),
        ]
    };
    Ok(SERVER_OPTIONS.iter().map(row).collect())
}
