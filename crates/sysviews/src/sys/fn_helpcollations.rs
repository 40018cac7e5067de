//! `sys.fn_helpcollations()`: all collations.

use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{Collation, SqlType, Value};

const COLUMNS: [Column; 2] =
    [col("name", SqlType::SYSNAME), maybe("description", SqlType::nvarchar(1000))];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fn_helpcollations",
    parameters: Some(&[]),
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Collation::listed().map(|c| vec![text(c.name()), text(&c.description())]).collect())
}
