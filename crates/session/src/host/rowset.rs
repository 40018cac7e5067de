//! A result set of a statement that is no query.

use types::{SqlType, Value};

/// A result set of a statement that is no query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rowset {
    /// Name, type, nullable.
    pub columns: Vec<(String, SqlType, bool)>,
    /// Values in order of the columns.
    pub rows: Vec<Vec<Value>>,
}
