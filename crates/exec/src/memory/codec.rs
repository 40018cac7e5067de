//! Encodes rows of values as bytes for spill files, and decodes them. Only this process reads them.
//!
//! ```text
//! kind (1)  NULL and bit: nothing more · numbers: little-endian · strings: length (4), bytes
//!           variants: length (4), as they are stored
//! ```

use base::{SqlError, SqlResult, messages};
use std::cmp::Ordering;
use types::{
    Bytes, Collation, DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, SqlType, Value,
    decode_storage, encode_storage,
};

/// Appends a value.
pub(crate) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0),
        Value::Bit(false) => out.push(1),
        Value::Bit(true) => out.push(2),
        Value::TinyInt(n) => fixed(3, &[*n], out),
        Value::SmallInt(n) => fixed(4, &n.to_le_bytes(), out),
        Value::Int(n) => fixed(5, &n.to_le_bytes(), out),
        Value::BigInt(n) => fixed(6, &n.to_le_bytes(), out),
        Value::Decimal(d) if i64::try_from(d.mantissa()).is_ok() => {
            fixed(21, &(d.mantissa() as i64).to_le_bytes(), out);
            out.push(d.scale());
        }
        Value::Decimal(d) => {
            fixed(7, &d.mantissa().to_le_bytes(), out);
            out.push(d.scale());
        }
        Value::Money(n) => fixed(8, &n.to_le_bytes(), out),
        Value::Real(x) => fixed(9, &x.to_le_bytes(), out),
        Value::Float(x) => fixed(10, &x.to_le_bytes(), out),
        Value::Date(n) => fixed(11, &n.to_le_bytes(), out),
        Value::Time(n) => fixed(12, &n.to_le_bytes(), out),
        Value::DateTime(d) => {
            fixed(13, &d.days.to_le_bytes(), out);
            out.extend_from_slice(&d.ticks.to_le_bytes());
        }
        Value::SmallDateTime(d) => {
            fixed(14, &d.days.to_le_bytes(), out);
            out.extend_from_slice(&d.minutes.to_le_bytes());
        }
        Value::DateTime2(d) => {
            out.push(15);
            moment(d, out);
        }
        Value::DateTimeOffset(d) => {
            out.push(16);
            moment(&d.utc, out);
            out.extend_from_slice(&d.offset.to_le_bytes());
        }
        Value::Char(b) => string(17, b, out),
        Value::NChar(b) => string(18, b, out),
        Value::Binary(b) => string(19, b, out),
        Value::Guid(g) => fixed(20, g, out),
        Value::Variant(_) => {
            fixed(22, &[0; 4], out);
            let start = out.len();
            encode_storage(value, SqlType::Variant, out);
            let length = (out.len() - start) as u32;
            out[start - 4..start].copy_from_slice(&length.to_le_bytes());
        }
        Value::Xml(x) => {
            let mut stored = Vec::new();
            x.encode(&mut stored);
            string(23, &stored, out);
        }
    }
}

fn fixed(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(bytes);
}

fn moment(d: &DateTime2, out: &mut Vec<u8>) {
    out.extend_from_slice(&d.days.to_le_bytes());
    out.extend_from_slice(&d.ticks.to_le_bytes());
}

fn string(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    fixed(kind, &(bytes.len() as u32).to_le_bytes(), out);
    out.extend_from_slice(bytes);
}

/// The bytes from the value of that number on.
///
/// # Panics
/// When there are fewer: the bytes are not what was written.
pub(crate) fn nth(bytes: &[u8], number: usize) -> &[u8] {
    let mut decoder = Decoder(bytes);
    for _ in 0..number {
        decoder.skip().expect("as many values as were written");
    }
    decoder.0
}

/// How the first values of two byte strings order; strings are compared where they lie.
///
/// # Panics
/// When the bytes are not what was written.
pub(crate) fn compare(a: &[u8], b: &[u8], collation: Collation) -> Ordering {
    let text = |bytes: &[u8]| bytes.first().is_some_and(|kind| (17..=18).contains(kind));
    if text(a) && text(b) {
        let (x, y) = (Decoder(&a[1..]).slice(), Decoder(&b[1..]).slice());
        let (x, y) = (x.expect("a whole string"), y.expect("a whole string"));
        let order = if a[0] == 17 { Collation::compare_char } else { Collation::compare_nchar };
        return order(collation, x, y);
    }
    let value = |bytes| Decoder(bytes).parse().expect("a whole value");
    types::compare(&value(a), &value(b), collation)
}

/// Reads values off the front of bytes.
pub(crate) struct Decoder<'a>(pub(crate) &'a [u8]);

impl<'a> Decoder<'a> {
    /// The next value.
    ///
    /// # Errors
    /// The bytes are not what was written.
    pub(crate) fn value(&mut self) -> SqlResult<Value> {
        self.parse().ok_or_else(damaged)
    }

    fn parse(&mut self) -> Option<Value> {
        let [kind] = self.take()?;
        Some(match kind {
            0 => Value::Null,
            1 => Value::Bit(false),
            2 => Value::Bit(true),
            3 => Value::TinyInt(u8::from_le_bytes(self.take()?)),
            4 => Value::SmallInt(i16::from_le_bytes(self.take()?)),
            5 => Value::Int(i32::from_le_bytes(self.take()?)),
            6 => Value::BigInt(i64::from_le_bytes(self.take()?)),
            7 => {
                let mantissa = i128::from_le_bytes(self.take()?);
                let [scale] = self.take()?;
                Value::Decimal(Decimal::new(mantissa, scale)?)
            }
            8 => Value::Money(i64::from_le_bytes(self.take()?)),
            9 => Value::Real(f32::from_le_bytes(self.take()?)),
            10 => Value::Float(f64::from_le_bytes(self.take()?)),
            11 => Value::Date(i32::from_le_bytes(self.take()?)),
            12 => Value::Time(u64::from_le_bytes(self.take()?)),
            13 => Value::DateTime(DateTime {
                days: i32::from_le_bytes(self.take()?),
                ticks: u32::from_le_bytes(self.take()?),
            }),
            14 => Value::SmallDateTime(SmallDateTime {
                days: u16::from_le_bytes(self.take()?),
                minutes: u16::from_le_bytes(self.take()?),
            }),
            15 => Value::DateTime2(self.moment()?),
            16 => Value::DateTimeOffset(DateTimeOffset {
                utc: self.moment()?,
                offset: i16::from_le_bytes(self.take()?),
            }),
            17 => Value::Char(self.string()?),
            18 => Value::NChar(self.string()?),
            19 => Value::Binary(self.string()?),
            20 => Value::Guid(self.take()?),
            22 => decode_storage(self.slice()?, SqlType::Variant).ok()?,
            23 => decode_storage(self.slice()?, SqlType::Xml).ok()?,
            21 => {
                let mantissa = i64::from_le_bytes(self.take()?);
                let [scale] = self.take()?;
                Value::Decimal(Decimal::new(mantissa.into(), scale)?)
            }
            _ => return None,
        })
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*front)
    }

    fn moment(&mut self) -> Option<DateTime2> {
        let days = i32::from_le_bytes(self.take()?);
        Some(DateTime2 { days, ticks: u64::from_le_bytes(self.take()?) })
    }

    fn string(&mut self) -> Option<Bytes> {
        self.slice().map(Bytes::new)
    }

    fn slice(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.take()?) as usize;
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    /// Whether the next value equals one of its family.
    ///
    /// # Panics
    /// When the bytes are not what was written.
    #[inline]
    pub(crate) fn next_equals(&mut self, value: &Value, collation: Collation) -> bool {
        if let (Value::Int(n), [5, a, b, c, d, rest @ ..]) = (value, self.0) {
            self.0 = rest;
            return i32::from_le_bytes([*a, *b, *c, *d]) == *n;
        }
        let own = self.parse().expect("a whole value");
        types::compare(&own, value, collation).is_eq()
    }

    /// Leaves a value behind.
    fn skip(&mut self) -> Option<()> {
        let [kind] = self.take()?;
        let bytes = match kind {
            0..=2 => 0,
            3 => 1,
            4 => 2,
            5 | 9 | 11 => 4,
            6 | 8 | 10 | 12 | 13 => 8,
            14 => 4,
            15 => 12,
            16 => 14,
            7 => 17,
            17..=19 | 22 => return self.slice().map(drop),
            20 => 16,
            21 => 9,
            _ => return None,
        };
        self.0 = self.0.get(bytes..)?;
        Some(())
    }
}

fn damaged() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a spilled row is damaged"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_survives_a_spill_and_cut_bytes_are_an_error() {
        let values = [
            Value::Null,
            Value::Bit(true),
            Value::Bit(false),
            Value::TinyInt(255),
            Value::SmallInt(-2),
            Value::Int(i32::MIN),
            Value::BigInt(i64::MAX),
            Value::Decimal(Decimal::new(-12_345, 3).unwrap()),
            Value::Decimal(Decimal::new(i128::from(i64::MIN) - 1, 38).unwrap()),
            Value::Money(-1),
            Value::Real(1.5),
            Value::Float(-0.25),
            Value::Date(700_000),
            Value::Time(863_999_999_999),
            Value::DateTime(DateTime { days: -53_690, ticks: 1 }),
            Value::SmallDateTime(SmallDateTime { days: 65_535, minutes: 1439 }),
            Value::DateTime2(DateTime2 { days: 1, ticks: 2 }),
            Value::DateTimeOffset(DateTimeOffset {
                utc: DateTime2 { days: 3, ticks: 4 },
                offset: -840,
            }),
            Value::varchar("short"),
            Value::nvarchar(&"long ".repeat(40)),
            Value::varbinary(&[0, 1, 255]),
            Value::Guid([7; 16]),
            types::convert(&Value::Int(7), SqlType::Int, SqlType::Variant, 0).unwrap(),
        ];
        let mut bytes = Vec::new();
        values.iter().for_each(|v| encode(v, &mut bytes));
        let mut decoder = Decoder(&bytes);
        for v in &values {
            assert_eq!(decoder.value().as_ref(), Ok(v));
        }
        assert!(decoder.0.is_empty());
        for (i, v) in values.iter().enumerate() {
            assert_eq!(Decoder(nth(&bytes, i)).value().as_ref(), Ok(v), "value {i}");
            assert!(compare(nth(&bytes, i), nth(&bytes, i), Collation::default()).is_eq());
        }
        assert!(decoder.value().is_err());
        for end in 0..bytes.len() {
            let mut decoder = Decoder(&bytes[..end]);
            assert!(values.iter().any(|_| decoder.value().is_err()), "cut at {end}");
        }
    }
}
