//! `sys.masked_columns`: columns with a mask; there are none.

use crate::column::{Column, join, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 41] = no_rows(
    join(super::columns::COLUMNS, [maybe("masking_function", SqlType::nvarchar(4000))]),
    "There is no dynamic data masking.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "masked_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
