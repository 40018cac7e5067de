//! Columns of views: those that code writes, and those that are constant, with a reason.
//!
//! A view's code returns only the cells of its written columns, in order; the frame inserts the
//! constants. So a column is either written by code or declared constant with a reason, and
//! docs/views.md is printed from the declarations.

use crate::cell::released;
use types::{Bytes, SqlType, Value};

/// The value of a constant column.
#[derive(Clone, Copy)]
pub(crate) enum Constant {
    Null,
    /// A number, also for bits: 0 or 1.
    Number(i64),
    Text(&'static str),
    Bytes(&'static [u8]),
    /// The date of system objects.
    Released,
    /// No value, in a view that never has rows.
    NoRows,
}

/// A column of a view.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) sql_type: SqlType,
    pub(crate) nullable: bool,
    /// Its constant value, and the reason.
    pub(crate) constant: Option<(Constant, &'static str)>,
}

/// A written column that is never NULL.
pub(crate) const fn col(name: &'static str, sql_type: SqlType) -> Column {
    Column { name, sql_type, nullable: false, constant: None }
}

/// A written column that may be NULL.
pub(crate) const fn maybe(name: &'static str, sql_type: SqlType) -> Column {
    Column { name, sql_type, nullable: true, constant: None }
}

/// A column with a constant value.
pub(crate) const fn fixed(
    name: &'static str,
    sql_type: SqlType,
    value: Constant,
    why: &'static str,
) -> Column {
    let nullable = matches!(value, Constant::Null);
    Column { name, sql_type, nullable, constant: Some((value, why)) }
}

/// A column that is always NULL.
pub(crate) const fn null(name: &'static str, sql_type: SqlType, why: &'static str) -> Column {
    fixed(name, sql_type, Constant::Null, why)
}

/// A column that is always 0.
pub(crate) const fn zero(name: &'static str, sql_type: SqlType, why: &'static str) -> Column {
    fixed(name, sql_type, Constant::Number(0), why)
}

/// A column with a constant number.
pub(crate) const fn number(
    name: &'static str,
    sql_type: SqlType,
    value: i64,
    why: &'static str,
) -> Column {
    fixed(name, sql_type, Constant::Number(value), why)
}

/// A column with a constant text.
pub(crate) const fn word(
    name: &'static str,
    sql_type: SqlType,
    value: &'static str,
    why: &'static str,
) -> Column {
    fixed(name, sql_type, Constant::Text(value), why)
}

/// The columns of a view that has no rows yet.
pub(crate) const fn no_rows<const N: usize>(
    mut columns: [Column; N],
    why: &'static str,
) -> [Column; N] {
    let mut n = 0;
    while n < N {
        columns[n].constant = Some((Constant::NoRows, why));
        n += 1;
    }
    columns
}

/// Joins two lists of columns.
pub(crate) const fn join<const A: usize, const B: usize, const N: usize>(
    a: [Column; A],
    b: [Column; B],
) -> [Column; N] {
    assert!(A + B == N, "the joined list has the columns of both");
    let mut all = [col("", SqlType::Bit); N];
    let mut n = 0;
    while n < N {
        all[n] = if n < A { a[n] } else { b[n - A] };
        n += 1;
    }
    all
}

impl Column {
    /// The stored bytes of a constant column, for a stream.
    pub(crate) fn stored(&self) -> page::Field<'static> {
        match self.constant {
            Some((Constant::Bytes(b), _)) => page::Field::Inline(b),
            Some((Constant::Number(0), _)) => page::Field::Inline(&[0; 8]),
            _ => page::Field::Null,
        }
    }
}

impl Constant {
    /// The constant as a value of a column's type.
    pub(crate) fn value(self, sql_type: SqlType) -> Value {
        match (self, sql_type) {
            (Constant::Null | Constant::NoRows, _) => Value::Null,
            (Constant::Number(n), SqlType::Bit) => Value::Bit(n != 0),
            (Constant::Number(n), SqlType::TinyInt) => Value::TinyInt(n as u8),
            (Constant::Number(n), SqlType::SmallInt) => Value::SmallInt(n as i16),
            (Constant::Number(n), SqlType::Int) => Value::Int(n as i32),
            (Constant::Number(n), SqlType::Real) => Value::Real(n as f32),
            (Constant::Number(n), SqlType::Float) => Value::Float(n as f64),
            (Constant::Number(n), SqlType::UniqueIdentifier) => {
                let mut guid = [0; 16];
                guid[15] = n as u8;
                Value::Guid(guid)
            }
            (Constant::Number(n), _) => Value::BigInt(n),
            (Constant::Bytes(b), SqlType::UniqueIdentifier) => {
                b.try_into().map_or(Value::Null, Value::Guid)
            }
            (Constant::Text(s), SqlType::Char(_) | SqlType::VarChar(_)) => Value::varchar(s),
            (Constant::Text(s), _) => Value::nvarchar(s),
            (Constant::Bytes(b), _) => Value::Binary(Bytes::new(b)),
            (Constant::Released, _) => released(),
        }
    }

    /// The constant as docs/views.md shows it.
    #[cfg(test)]
    pub(crate) fn shown(self) -> String {
        match self {
            Constant::Null => "NULL".to_owned(),
            Constant::NoRows => "no rows".to_owned(),
            Constant::Number(n) => n.to_string(),
            Constant::Released => released().to_string(),
            Constant::Text("") => "empty".to_owned(),
            Constant::Text(s) => format!("'{s}'"),
            Constant::Bytes(b) => {
                let hex: String = b.iter().map(|b| format!("{b:02X}")).collect();
                format!("0x{hex}")
            }
        }
    }
}
