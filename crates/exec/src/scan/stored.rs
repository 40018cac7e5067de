//! `StoredValues`: values in their stored form, one after the other, passed on as fields.
//!
//! One buffer is reused from row to row; the fields themselves are on the stack.

use access::Field;
use types::{SqlType, Value, encode_storage};

/// Fields in a small array on the stack.
const FEW: usize = 8;
/// Fields in a larger one.
const MANY: usize = 40;

/// Stored bytes of some columns.
#[derive(Default)]
pub(crate) struct StoredValues {
    bytes: Vec<u8>,
    /// Where each field ends; NULL has `None`.
    ends: Vec<Option<u32>>,
}

impl StoredValues {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a value of its column's type, or NULL.
    #[inline]
    pub(crate) fn push(&mut self, value: &Value, sql_type: SqlType) {
        match value {
            Value::Null => self.ends.push(None),
            Value::Int(n) if sql_type == SqlType::Int => self.push_bytes(&n.to_le_bytes()),
            value => {
                encode_storage(value, sql_type, &mut self.bytes);
                self.ends.push(Some(self.bytes.len() as u32));
            }
        }
    }

    /// Adds bytes as they are.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(Some(self.bytes.len() as u32));
    }

    /// Adds NULL.
    pub(crate) fn push_null(&mut self) {
        self.ends.push(None);
    }

    /// Adds the bytes of a binary value, or NULL.
    pub(crate) fn push_raw(&mut self, value: &Value) {
        match value.as_bytes() {
            Some(bytes) => self.push_bytes(bytes),
            None => self.push_null(),
        }
    }

    /// Hands the fields to `f`.
    #[inline]
    pub(crate) fn with_fields<R>(&self, f: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let count = self.ends.len();
        if count <= FEW {
            let mut fields = [Field::Null; FEW];
            self.fill(&mut fields[..count]);
            f(&fields[..count])
        } else if count <= MANY {
            let mut fields = [Field::Null; MANY];
            self.fill(&mut fields[..count]);
            f(&fields[..count])
        } else {
            let mut fields = vec![Field::Null; count];
            self.fill(&mut fields);
            f(&fields)
        }
    }

    #[inline]
    fn fill<'a>(&'a self, fields: &mut [Field<'a>]) {
        let mut from = 0;
        for (field, end) in fields.iter_mut().zip(&self.ends) {
            if let Some(end) = end {
                let end = *end as usize;
                *field = Field::Inline(&self.bytes[from..end]);
                from = end;
            }
        }
    }

    /// Puts everything into one string: equal rows have equal ones.
    pub(crate) fn fingerprint(&self, out: &mut Vec<u8>) {
        out.clear();
        for end in &self.ends {
            out.extend_from_slice(&end.unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend_from_slice(&self.bytes);
    }
}
