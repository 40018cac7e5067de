//! Options of the server as `sysconfigures` and `syscurconfigs` show them.

use crate::cell::{int, text};
use crate::column::{Column, col};
use session::{SERVER_OPTIONS, ServerOption};
use types::{SqlType, Value};

pub(super) const COLUMNS: [Column; 4] = [
    col("value", SqlType::Int),
    col("config", SqlType::Int),
    col("comment", SqlType::nvarchar(255)),
    col("status", SqlType::SmallInt),
];

/// The rows, with one of the two values of each option.
pub(super) fn rows(value: impl Fn(&ServerOption) -> i32) -> Vec<Vec<Value>> {
    let status = |o: &ServerOption| i16::from(o.dynamic) + 2 * i16::from(o.advanced);
    let row = |o: &ServerOption| {
        vec![int(value(o)), int(o.id), text(o.description), Value::SmallInt(status(o))]
    };
    SERVER_OPTIONS.iter().map(row).collect()
}
