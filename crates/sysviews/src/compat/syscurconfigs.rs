//! `syscurconfigs`: the options of the server that are in use.

use super::options;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "syscurconfigs",
    parameters: None,
    columns: &options::COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(options::rows(|o| system.configuration.of(o)))
}
