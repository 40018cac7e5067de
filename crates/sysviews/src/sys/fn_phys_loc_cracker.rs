//! `sys.fn_PhysLocCracker(%%physloc%%)`: the parts of a row's RID, in one row.

use crate::cell::int;
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] =
    [col("file_id", SqlType::Int), col("page_id", SqlType::Int), col("slot_id", SqlType::Int)];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fn_PhysLocCracker",
    parameters: Some(&[("@physical_locator", SqlType::Binary(8))]),
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(Value::Binary(bytes)) = arguments.first() else { return Ok(Vec::new()) };
    let Some((page, slot)) = page::rid_of(bytes) else { return Ok(Vec::new()) };
    Ok(vec![vec![int(page.file.0), int(page.page), int(slot)]])
}
