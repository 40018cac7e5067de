//! `sys.all_columns`: `sys.columns` with the columns of system views and functions.

use super::columns;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "all_columns",
    parameters: None,
    columns: &columns::COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let mut rows = (columns::VIEW.rows)(system, arguments)?;
    let view = system.view()?;
    for v in view.system().iter() {
        let columns = tables::columns_of(v, view.collation());
        rows.extend(columns.iter().map(|c| columns::cells(v.object_id, c)));
    }
    Ok(rows)
}
