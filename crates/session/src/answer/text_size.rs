//! SET TEXTSIZE: how many bytes of a `(max)` value, text, ntext or image a SELECT sends.
//!
//! Values of other types are never cut, nor values that stay in the server. If the setting is at
//! its maximum, as drivers ask for, rows are not touched.

use crate::answer::sink::ResultColumn;
use types::{Bytes, Value};

/// What is cut from the rows of one result set.
pub(crate) struct TextSize {
    bytes: usize,
    /// The columns of `(max)` types.
    columns: Vec<usize>,
    /// The row that is sent.
    row: Vec<Value>,
}

impl TextSize {
    /// `None` if no value of these columns can be cut.
    pub(crate) fn of(setting: i32, columns: &[ResultColumn]) -> Option<TextSize> {
        debug_assert!(setting > 0, "0 and -1 stand for numbers");
        if setting == i32::MAX {
            return None;
        }
        let is_max = |n: &usize| columns[*n].sql_type.is_max();
        let columns: Vec<usize> = (0..columns.len()).filter(is_max).collect();
        let bytes = usize::try_from(setting).unwrap_or(usize::MAX);
        (!columns.is_empty()).then_some(TextSize { bytes, columns, row: Vec::new() })
    }

    /// The row with its long values cut.
    pub(crate) fn cut(&mut self, values: &[Value]) -> &[Value] {
        self.row.clear();
        self.row.extend_from_slice(values);
        for &n in &self.columns {
            let shorter = match &self.row[n] {
                Value::Char(b) => start(b, self.bytes).map(Value::Char),
                // A code unit of two bytes is sent whole or not at all.
                Value::NChar(b) => start(b, self.bytes & !1).map(Value::NChar),
                Value::Binary(b) => start(b, self.bytes).map(Value::Binary),
                _ => None,
            };
            if let Some(value) = shorter {
                self.row[n] = value;
            }
        }
        &self.row
    }
}

fn start(value: &Bytes, bytes: usize) -> Option<Bytes> {
    value.as_slice().get(..bytes).filter(|s| s.len() < value.as_slice().len()).map(Bytes::new)
}
