//! A result set that no query produced.

use types::{SqlType, Value};

/// A result set that no query produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rowset {
    /// Name, type, nullable.
    pub columns: Vec<(String, SqlType, bool)>,
    /// Values in order of the columns.
    pub rows: Vec<Vec<Value>>,
}
