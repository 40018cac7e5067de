//! `Value`: one SQL value, 32 bytes, cheap to clone.
//!
//! A value knows its kind but neither its declared length nor its precision: those stand in the
//! `SqlType` beside it. `money` and `smallmoney` share a kind, so do `char` and `varchar`,
//! `nchar` and `nvarchar`, `binary` and `varbinary`.
//!
//! char/varchar are bytes of code page 1252, nchar/nvarchar are UTF-16LE: what rows and the wire
//! hold, so that neither direction converts.

use crate::{Bytes, Decimal, Length, SqlType, Variant, text};
use base::SqlResult;
use std::sync::Arc;
use xml::Xml;

/// A `datetime`: days from 1900-01-01 and ticks of 1/300 s from midnight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTime {
    /// Days from 1900-01-01; 1753-01-01 is -53690.
    pub days: i32,
    /// 1/300 s from midnight, below 25 920 000.
    pub ticks: u32,
}

/// A `smalldatetime`: days from 1900-01-01 and minutes from midnight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SmallDateTime {
    /// Days from 1900-01-01.
    pub days: u16,
    /// Minutes from midnight, below 1440.
    pub minutes: u16,
}

/// A `datetime2`: days from 0001-01-01 and units of 100 ns from midnight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTime2 {
    /// Days from 0001-01-01, below 3 652 059.
    pub days: i32,
    /// 100 ns from midnight, below 864 000 000 000.
    pub ticks: u64,
}

/// A `datetimeoffset`: a UTC moment and the offset in which it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DateTimeOffset {
    /// The moment in UTC; equality and order look at this alone.
    pub utc: DateTime2,
    /// Minutes east of UTC, -840 to 840.
    pub offset: i16,
}

/// One SQL value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// `bit`
    Bit(bool),
    /// `tinyint`
    TinyInt(u8),
    /// `smallint`
    SmallInt(i16),
    /// `int`
    Int(i32),
    /// `bigint`
    BigInt(i64),
    /// `decimal`, `numeric`
    Decimal(Decimal),
    /// `money`, `smallmoney`: ten-thousandths
    Money(i64),
    /// `real`
    Real(f32),
    /// `float`
    Float(f64),
    /// `date`: days from 0001-01-01
    Date(i32),
    /// `time`: 100 ns from midnight
    Time(u64),
    /// `datetime`
    DateTime(DateTime),
    /// `smalldatetime`
    SmallDateTime(SmallDateTime),
    /// `datetime2`
    DateTime2(DateTime2),
    /// `datetimeoffset`
    DateTimeOffset(DateTimeOffset),
    /// `char`, `varchar`: bytes of code page 1252
    Char(Bytes),
    /// `nchar`, `nvarchar`: UTF-16LE
    NChar(Bytes),
    /// `binary`, `varbinary`
    Binary(Bytes),
    /// `uniqueidentifier` in SQL Server's byte order
    Guid([u8; 16]),
    /// `sql_variant`
    Variant(Arc<Variant>),
    /// `xml`
    Xml(Xml),
}

const _: () = assert!(size_of::<Value>() <= 32);

impl Value {
    /// A varchar; characters outside code page 1252 become their best fit or `?`.
    pub fn varchar(s: &str) -> Value {
        Value::Char(Bytes::from(text::encode_1252(s)))
    }

    /// An nvarchar.
    pub fn nvarchar(s: &str) -> Value {
        Value::NChar(Bytes::from(text::encode_utf16(s)))
    }

    /// A varbinary.
    pub fn varbinary(b: &[u8]) -> Value {
        Value::Binary(Bytes::new(b))
    }

    /// NULL or not.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The whole number of a bit or integer value.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Bit(b) => Some(b as i64),
            Value::TinyInt(n) => Some(n as i64),
            Value::SmallInt(n) => Some(n as i64),
            Value::Int(n) => Some(n as i64),
            Value::BigInt(n) => Some(n),
            _ => None,
        }
    }

    /// The characters of a character value.
    pub fn as_text(&self) -> Option<String> {
        match self {
            Value::Char(b) => Some(text::decode_1252(b)),
            Value::NChar(b) => Some(text::decode_utf16(b)),
            _ => None,
        }
    }

    /// The same of a value that may be long.
    ///
    /// # Errors
    /// 701.
    pub fn long_text(&self) -> SqlResult<Option<String>> {
        os::values::room(2 * self.as_bytes().map_or(0, <[u8]>::len))?;
        Ok(self.as_text())
    }

    /// Its first characters.
    pub fn text_start(&self, characters: usize) -> Option<String> {
        match self {
            Value::Char(b) => Some(text::decode_1252(&b[..b.len().min(characters)])),
            // A character is a unit or two.
            Value::NChar(b) => {
                let start = text::decode_utf16(&b[..b.len().min(4 * characters)]);
                Some(start.chars().take(characters).collect())
            }
            _ => None,
        }
    }

    /// The raw bytes of a character or binary value.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Char(b) | Value::NChar(b) | Value::Binary(b) => Some(b),
            _ => None,
        }
    }

    /// The bytes of a string, to be changed.
    pub fn bytes_mut(&mut self) -> Option<&mut Bytes> {
        match self {
            Value::Char(b) | Value::NChar(b) | Value::Binary(b) => Some(b),
            _ => None,
        }
    }

    /// The same in no more than a declared length: what is longer is cut.
    #[must_use]
    pub fn cut_to(self, declared: SqlType) -> Value {
        let limit = match declared {
            SqlType::Char(n) | SqlType::VarChar(Length::N(n)) => usize::from(n),
            SqlType::NChar(n) | SqlType::NVarChar(Length::N(n)) => 2 * usize::from(n),
            SqlType::Binary(n) | SqlType::VarBinary(Length::N(n)) => usize::from(n),
            _ => return self,
        };
        match &self {
            Value::Char(b) if b.len() > limit => Value::Char(Bytes::new(&b[..limit])),
            Value::NChar(b) if b.len() > limit => Value::NChar(Bytes::new(&b[..limit])),
            Value::Binary(b) if b.len() > limit => Value::Binary(Bytes::new(&b[..limit])),
            _ => self,
        }
    }

    /// Heap bytes that the value keeps alive, for memory grants.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::Char(b) | Value::NChar(b) | Value::Binary(b) => b.heap_bytes(),
            Value::Variant(v) => size_of::<Variant>() + v.value().heap_bytes(),
            Value::Xml(x) => x.heap_bytes(),
            _ => 0,
        }
    }
}

macro_rules! from {
    ($($t:ty => $v:ident),*) => {$(
        impl From<$t> for Value {
            fn from(v: $t) -> Value { Value::$v(v) }
        }
    )*};
}
from!(bool => Bit, u8 => TinyInt, i16 => SmallInt, i32 => Int, i64 => BigInt, f32 => Real,
      f64 => Float, Decimal => Decimal, DateTime => DateTime, SmallDateTime => SmallDateTime,
      DateTime2 => DateTime2, DateTimeOffset => DateTimeOffset);

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(v: Option<T>) -> Value {
        v.map_or(Value::Null, Into::into)
    }
}
