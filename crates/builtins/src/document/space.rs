//! Room in the text of a document, before it grows.

use base::SqlResult;
use types::{Value, text};

/// A text that grows by more looks whether the request is to end.
const LOOK_BYTES: usize = 64 << 10;

/// A text that grows only where there is room.
pub(crate) trait Space {
    /// Makes room for so many bytes more.
    ///
    /// # Errors
    /// 701, and what ends a request.
    fn grow(&mut self, more: usize) -> SqlResult<()>;
}

impl Space for String {
    fn grow(&mut self, more: usize) -> SqlResult<()> {
        if self.capacity() - self.len() >= more {
            return Ok(());
        }
        let wanted = more.max(self.len());
        os::values::room(self.len() + wanted)?;
        if wanted > LOOK_BYTES {
            os::values::look()?;
        }
        self.try_reserve_exact(wanted).map_err(|_| os::values::exhausted())
    }
}

/// A text that was made as a value.
pub(crate) fn made(text: &str) -> SqlResult<Value> {
    text::encoded_utf16(text).map(Value::NChar)
}
