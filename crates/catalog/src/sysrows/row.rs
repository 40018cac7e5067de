//! How a row of a system table becomes a struct, and back.

use super::SystemTable;
use types::{Decimal, SqlType, Value};

/// A row of a system table.
pub(crate) trait SystemRow: Sized + Clone {
    /// The table.
    const DEFINITION: SystemTable;

    /// Its values in column order.
    fn values(&self) -> Vec<Value>;

    /// The row of these values; `None` when they make no sense.
    fn from_values(values: &[Value]) -> Option<Self>;
}

/// A Rust type that a column of a system table is read as.
pub(crate) trait Cell: Sized {
    /// Whether it has a place for NULL.
    const NULLABLE: bool = false;

    /// Its value in a column of a type.
    fn to_value(&self, sql_type: SqlType) -> Value;

    /// From a column's value.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! whole_number {
    ($($rust:ty => $value:ident,)*) => {$(
        impl Cell for $rust {
            fn to_value(&self, _: SqlType) -> Value {
                Value::$value(*self)
            }

            fn from_value(value: &Value) -> Option<Self> {
                match *value {
                    Value::$value(n) => Some(n),
                    _ => None,
                }
            }
        }
    )*};
}

whole_number! { u8 => TinyInt, i16 => SmallInt, i32 => Int, i64 => BigInt, }

impl Cell for i128 {
    fn to_value(&self, _: SqlType) -> Value {
        // Identity values have at most 38 digits: their columns do.
        Value::Decimal(Decimal::new(*self, 0).unwrap_or(Decimal::ZERO))
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Decimal(d) if d.scale() == 0 => Some(d.mantissa()),
            _ => None,
        }
    }
}

impl Cell for Box<str> {
    fn to_value(&self, sql_type: SqlType) -> Value {
        match sql_type {
            SqlType::NVarChar(_) => Value::nvarchar(self),
            _ => Value::varchar(self),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        value.as_text().map(String::into_boxed_str)
    }
}

impl<T: Cell> Cell for Option<T> {
    const NULLABLE: bool = true;

    fn to_value(&self, sql_type: SqlType) -> Value {
        self.as_ref().map_or(Value::Null, |v| v.to_value(sql_type))
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Declares a system table and the struct of its rows.
macro_rules! system_row {
    (
        $(#[$doc:meta])*
        $row:ident of $id:ident, $name:literal, key $key:literal {
            $($(#[$field_doc:meta])* $field:ident: $rust:ty => $column:literal $sql:expr,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $row {
            $($(#[$field_doc])* pub(crate) $field: $rust,)*
        }

        impl $crate::sysrows::SystemRow for $row {
            const DEFINITION: $crate::sysrows::SystemTable = $crate::sysrows::SystemTable {
                id: $crate::sysrows::SystemTableId::$id,
                name: $name,
                columns: &[$($crate::sysrows::SystemColumn {
                    name: $column,
                    sql_type: $sql,
                    nullable: <$rust as $crate::sysrows::Cell>::NULLABLE,
                },)*],
                key: $key,
            };

            fn values(&self) -> Vec<types::Value> {
                vec![$($crate::sysrows::Cell::to_value(&self.$field, $sql),)*]
            }

            fn from_values(values: &[types::Value]) -> Option<Self> {
                let mut values = values.iter();
                Some($row {
                    $($field: $crate::sysrows::Cell::from_value(values.next()?)?,)*
                })
            }
        }
    };
}
pub(super) use system_row;
