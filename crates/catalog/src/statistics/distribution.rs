//! The data: what is stored, shown and asked.

use types::{Length, SqlType, Value, decode_storage};

/// What was found out about the values of some columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// When, in nanoseconds since 1970 UTC.
    pub updated_ns: i64,
    /// Rows of the table then.
    pub rows: u64,
    /// Rows that were looked at.
    pub sampled: u64,
    /// The counter of the first column (`Modifications`) when they were.
    pub modified: u64,
    /// Of the columns up to each one, in order.
    pub prefixes: Vec<Prefix>,
    /// The histogram of the first column.
    pub steps: Vec<Step>,
    /// The string summary: some values of a first column that holds text, as they are stored, and
    /// of long ones both ends.
    pub strings: Vec<Box<[u8]>>,
}

/// What is known of some first columns together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix {
    /// The table's id of the last of them.
    pub column_id: i32,
    /// Different combinations of values; NULL is one.
    pub distinct: f64,
    /// Bytes of a row's values, on average.
    pub average_bytes: f64,
}

/// A step of a histogram: a key, and what lies between it and the key before.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The key's stored bytes; none for NULL.
    pub key: Option<Box<[u8]>>,
    /// Rows above the key before and below this one.
    pub range_rows: f64,
    /// Rows that have the key.
    pub equal_rows: f64,
    /// Different values among the rows of the range.
    pub distinct_range_rows: f64,
}

impl Step {
    /// The key as a value of its column; a long one is cut, and then shorter than its type says.
    pub fn key_value(&self, sql_type: SqlType) -> Value {
        self.key.as_deref().map_or(Value::Null, |key| cut_value(key, sql_type))
    }

    /// Rows of each value in the range; 1 when there is none, as SQL Server shows it.
    pub fn average_range_rows(&self) -> f64 {
        match self.distinct_range_rows > 0.0 {
            true => self.range_rows / self.distinct_range_rows,
            false => 1.0,
        }
    }
}

/// A stored value that may have been cut.
fn cut_value(bytes: &[u8], sql_type: SqlType) -> Value {
    let sql_type = match sql_type {
        SqlType::Char(n) => SqlType::VarChar(Length::N(n)),
        SqlType::NChar(n) => SqlType::NVarChar(Length::N(n)),
        SqlType::Binary(n) => SqlType::VarBinary(Length::N(n)),
        other => other,
    };
    decode_storage(bytes, sql_type).unwrap_or(Value::Null)
}

impl Distribution {
    /// The values of the string summary.
    pub fn string_values(&self, sql_type: SqlType) -> impl Iterator<Item = Value> {
        self.strings.iter().map(move |bytes| cut_value(bytes, sql_type))
    }

    /// 1 / different values of the first column that are no step's key; 0 when all are.
    pub fn density(&self) -> f64 {
        let distinct: f64 = self.steps.iter().map(|s| s.distinct_range_rows).sum();
        if distinct > 0.0 { 1.0 / distinct } else { 0.0 }
    }
}

impl Prefix {
    /// 1 / different combinations.
    pub fn density(&self) -> f64 {
        1.0 / self.distinct.max(1.0)
    }
}
