//! SET TEXTSIZE: how many bytes of a `(max)` value, text, ntext or image a SELECT sends.
//!
//! Other types are never cut, nor is what stays in the server. Nothing is done for a row where the
//! setting is at its greatest, which drivers ask for.

use crate::answer::sink::ResultColumn;
use types::{Bytes, Value};

/// What is cut of the rows of one result set.
pub(crate) struct TextSize {
    bytes: usize,
    /// Columns of `(max)` types.
    columns: Vec<usize>,
    /// The row as it is sent.
    row: Vec<Value>,
}

impl TextSize {
    /// `None` when nothing of these columns can be cut.
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

    /// The row without the ends of its long values.
    pub(crate) fn cut(&mut self, values: &[Value]) -> &[Value] {
        self.row.clear();
        self.row.extend_from_slice(values);
        for &n in &self.columns {
            let shorter = match &self.row[n] {
                Value::Char(b) => start(b, self.bytes).map(Value::Char),
                // A unit of two bytes is sent whole or not at all.
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
