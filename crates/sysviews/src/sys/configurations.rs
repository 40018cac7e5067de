//! `sys.configurations`: options of the server, as they were configured and as they hold.

use crate::cell::{bit, int, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use session::{SERVER_OPTIONS, ServerOption};
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = [
    col("configuration_id", SqlType::Int),
    col("name", SqlType::nvarchar(35)),
    col("value", SqlType::Int),
    col("minimum", SqlType::Int),
    col("maximum", SqlType::Int),
    col("value_in_use", SqlType::Int),
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
    let row = |o: &ServerOption| {
        vec![
            int(o.id),
            text(o.name),
            int(system.configuration.configured(o)),
            int(o.range.0),
            int(o.range.1),
            int(system.configuration.of(o)),
            text(o.description),
            bit(o.dynamic),
            bit(o.advanced),
        ]
    };
    Ok(SERVER_OPTIONS.iter().map(row).collect())
}
