//! Wire bytes to values, of every form that a type can have.
//!
//! Invariants
//!  1. A decoded value is an instance of its type: dates exist, times are below a day, decimals
//!     have at most their precision's digits, floats are finite, strings are within their length.
//!  2. Memory is taken only for bytes that have arrived.

use crate::encode::{PLP_NULL, PLP_UNKNOWN, scale_unit, time_bytes};
use crate::error::{TdsError, TdsResult, ValueFault};
use crate::reader::Reader;
use crate::typeinfo::{Prefix, TypeInfo, fault};
use types::{
    ByteBuffer, Bytes, CodePage, Collation, DateTime, DateTime2, DateTimeOffset, Decimal,
    SmallDateTime, SqlType, Value,
};

/// Days from 0001-01-01 to 9999-12-31, and one.
const DAYS_MAX: i32 = 3_652_059;
/// 100 ns in a day.
const TICKS_OF_DAY: u64 = 864_000_000_000;
/// 1/300 s in a day.
const DATETIME_TICKS_OF_DAY: u32 = 25_920_000;
/// 1753-01-01 and 9999-12-31 in days from 1900-01-01.
const DATETIME_DAYS: std::ops::RangeInclusive<i32> = -53_690..=2_958_463;
/// What stands between a text pointer and its value.
const POINTER_TIME_BYTES: usize = 8;
/// The largest offset of a datetimeoffset, 14 hours.
const OFFSET_MINUTES_MAX: i16 = 840;

/// A long value has no room.
fn no_room(_: base::SqlError) -> TdsError {
    TdsError::OutOfMemory
}

/// As many of the characters as take no more bytes of their page than the type has. Bytes that are
/// none of the page came as a character that may be longer there: three bytes in UTF-8.
fn fitting(page: CodePage, mut wide: Vec<u8>, limit: usize) -> Vec<u8> {
    if limit == usize::MAX || page.narrow(&wide).len() <= limit {
        return wide;
    }
    let (mut end, mut bytes) = (0, 0);
    while end < wide.len() {
        let is_pair = wide.get(end + 1).is_some_and(|high| (0xD8..0xDC).contains(high));
        let next = (end + if is_pair { 4 } else { 2 }).min(wide.len());
        bytes += page.narrow(&wide[end..next]).len();
        if bytes > limit {
            break;
        }
        end = next;
    }
    wide.truncate(end);
    wide
}

impl TypeInfo {
    /// The value of this type at the reader.
    pub(crate) fn decode_value(&self, r: &mut Reader<'_>) -> TdsResult<Value> {
        let bytes = match self.prefix {
            Prefix::Nothing => return Ok(Value::Null),
            Prefix::Fixed(n) => r.take(usize::from(n))?,
            Prefix::Byte => match r.u8()? {
                0 => return Ok(Value::Null),
                n => r.take(usize::from(n))?,
            },
            Prefix::Short => match r.u16()? {
                u16::MAX => return Ok(Value::Null),
                n => r.take(usize::from(n))?,
            },
            Prefix::Long => match r.u32()? {
                u32::MAX => return Ok(Value::Null),
                n => r.take(n as usize)?,
            },
            Prefix::Pointer => match r.b_varbyte()? {
                [] => return Ok(Value::Null),
                _ => {
                    r.take(POINTER_TIME_BYTES)?;
                    r.sized_u32()?
                }
            },
            Prefix::Variant => return crate::variant::decode(r),
            Prefix::Partial => {
                let Some(bytes) = self.partial(r)? else { return Ok(Value::Null) };
                return self.string(bytes);
            }
        };
        self.value_of(bytes)
    }

    /// The value of these bytes, without their length.
    pub(crate) fn value_of(&self, bytes: &[u8]) -> TdsResult<Value> {
        Ok(match self.sql {
            SqlType::Bit => Value::Bit(self.exactly::<1>(bytes)? != [0]),
            SqlType::TinyInt => Value::TinyInt(u8::from_le_bytes(self.exactly(bytes)?)),
            SqlType::SmallInt => Value::SmallInt(i16::from_le_bytes(self.exactly(bytes)?)),
            SqlType::Int => Value::Int(i32::from_le_bytes(self.exactly(bytes)?)),
            SqlType::BigInt => Value::BigInt(i64::from_le_bytes(self.exactly(bytes)?)),
            SqlType::Decimal { precision, scale } => self.decimal(precision, scale, bytes)?,
            SqlType::Money => {
                let [e, f, g, h, a, b, c, d] = self.exactly(bytes)?;
                Value::Money(i64::from_le_bytes([a, b, c, d, e, f, g, h]))
            }
            SqlType::SmallMoney => {
                Value::Money(i64::from(i32::from_le_bytes(self.exactly(bytes)?)))
            }
            SqlType::Real => {
                let v = f32::from_le_bytes(self.exactly(bytes)?);
                if !v.is_finite() {
                    return Err(self.no_instance());
                }
                Value::Real(v)
            }
            SqlType::Float => {
                let v = f64::from_le_bytes(self.exactly(bytes)?);
                if !v.is_finite() {
                    return Err(self.no_instance());
                }
                Value::Float(v)
            }
            SqlType::Date => Value::Date(self.date(self.exactly(bytes)?)?),
            SqlType::Time(scale) => {
                self.require(bytes.len() == usize::from(time_bytes(scale)))?;
                Value::Time(self.time(scale, bytes)?)
            }
            SqlType::DateTime => self.datetime(self.exactly(bytes)?)?,
            SqlType::SmallDateTime => self.smalldatetime(self.exactly(bytes)?)?,
            SqlType::DateTime2(scale) => Value::DateTime2(self.datetime2(scale, bytes)?),
            SqlType::DateTimeOffset(scale) => self.datetimeoffset(scale, bytes)?,
            SqlType::UniqueIdentifier => Value::Guid(self.exactly(bytes)?),
            SqlType::Char(_)
            | SqlType::VarChar(_)
            | SqlType::NChar(_)
            | SqlType::NVarChar(_)
            | SqlType::Binary(_)
            | SqlType::VarBinary(_)
            | SqlType::RowVersion
            | SqlType::Text
            | SqlType::NText
            | SqlType::Image => return self.string(Bytes::new(bytes)),
            SqlType::Variant | SqlType::Xml => return Err(self.no_instance()),
        })
    }

    fn require(&self, ok: bool) -> TdsResult<()> {
        if ok { Ok(()) } else { Err(fault(ValueFault::Length(self.wire))) }
    }

    fn no_instance(&self) -> crate::TdsError {
        fault(ValueFault::Instance(self.sql.name()))
    }

    fn exactly<const N: usize>(&self, bytes: &[u8]) -> TdsResult<[u8; N]> {
        bytes.try_into().map_err(|_| fault(ValueFault::Length(self.wire)))
    }

    fn decimal(&self, precision: u8, scale: u8, bytes: &[u8]) -> TdsResult<Value> {
        self.require((2..=17).contains(&bytes.len()))?;
        let mut magnitude = [0; 16];
        magnitude[..bytes.len() - 1].copy_from_slice(&bytes[1..]);
        let magnitude = i128::try_from(u128::from_le_bytes(magnitude)).ok();
        let signed = magnitude.map(|m| if bytes[0] == 0 { -m } else { m });
        let d = signed.and_then(|m| Decimal::new(m, scale)).and_then(|d| d.fit(precision, scale));
        d.map(Value::Decimal).ok_or_else(|| self.no_instance())
    }

    fn date(&self, bytes: [u8; 3]) -> TdsResult<i32> {
        let days = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        if days < DAYS_MAX { Ok(days) } else { Err(self.no_instance()) }
    }

    fn time(&self, scale: u8, bytes: &[u8]) -> TdsResult<u64> {
        let mut raw = [0; 8];
        raw[..bytes.len()].copy_from_slice(bytes);
        // At most 5 bytes times 10^7: below 2^64.
        let ticks = u64::from_le_bytes(raw).saturating_mul(scale_unit(scale));
        if ticks < TICKS_OF_DAY { Ok(ticks) } else { Err(self.no_instance()) }
    }

    fn datetime(&self, bytes: [u8; 8]) -> TdsResult<Value> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let days = i32::from_le_bytes([a, b, c, d]);
        let ticks = u32::from_le_bytes([e, f, g, h]);
        if !DATETIME_DAYS.contains(&days) || ticks >= DATETIME_TICKS_OF_DAY {
            return Err(self.no_instance());
        }
        Ok(Value::DateTime(DateTime { days, ticks }))
    }

    fn smalldatetime(&self, bytes: [u8; 4]) -> TdsResult<Value> {
        let days = u16::from_le_bytes([bytes[0], bytes[1]]);
        let minutes = u16::from_le_bytes([bytes[2], bytes[3]]);
        if minutes >= 1440 {
            return Err(self.no_instance());
        }
        Ok(Value::SmallDateTime(SmallDateTime { days, minutes }))
    }

    fn datetime2(&self, scale: u8, bytes: &[u8]) -> TdsResult<DateTime2> {
        self.require(bytes.len() == usize::from(time_bytes(scale)) + 3)?;
        let (time, date) = bytes.split_at(bytes.len() - 3);
        let days = self.date(date.try_into().expect("split three bytes before the end"))?;
        Ok(DateTime2 { days, ticks: self.time(scale, time)? })
    }

    fn datetimeoffset(&self, scale: u8, bytes: &[u8]) -> TdsResult<Value> {
        self.require(bytes.len() == usize::from(time_bytes(scale)) + 5)?;
        let (utc, offset) = bytes.split_at(bytes.len() - 2);
        let utc = self.datetime2(scale, utc)?;
        let offset = i16::from_le_bytes([offset[0], offset[1]]);
        if !(-OFFSET_MINUTES_MAX..=OFFSET_MINUTES_MAX).contains(&offset) {
            return Err(self.no_instance());
        }
        Ok(Value::DateTimeOffset(DateTimeOffset { utc, offset }))
    }

    /// The code page of its collation.
    fn page(&self) -> CodePage {
        Collation::page_of_tds_bytes(self.collation.0)
    }

    /// A string of the type, its length checked. Varchar of another code page than 1252 comes as
    /// its characters: whoever takes it knows in which page they are to be.
    fn string(&self, bytes: Bytes) -> TdsResult<Value> {
        let (limit, wide) = match self.sql {
            SqlType::Char(n) | SqlType::Binary(n) => (usize::from(n), false),
            SqlType::VarChar(n) | SqlType::VarBinary(n) => (n.limit(), false),
            SqlType::NChar(n) => (usize::from(n) * 2, true),
            SqlType::NVarChar(n) => (n.limit().saturating_mul(2), true),
            SqlType::Text | SqlType::Image => (usize::MAX, false),
            SqlType::NText => (usize::MAX, true),
            _ => return Err(fault(ValueFault::UnknownType(self.wire))),
        };
        self.require(bytes.len() <= limit && (!wide || bytes.len().is_multiple_of(2)))?;
        Ok(match self.sql {
            SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image => Value::Binary(bytes),
            SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => Value::NChar(bytes),
            _ if !bytes.is_ascii() => match self.page() {
                CodePage::Cp1252 => Value::Char(bytes),
                page => Value::NChar(fitting(page, page.widen(&bytes), limit).into()),
            },
            _ => Value::Char(bytes),
        })
    }

    /// Partially length-prefixed bytes: a total or "unknown", then chunks until an empty one.
    fn partial(&self, r: &mut Reader<'_>) -> TdsResult<Option<Bytes>> {
        let total = r.u64()?;
        if total == PLP_NULL {
            return Ok(None);
        }
        let first = r.sized_u32()?;
        let mut whole = ByteBuffer::default();
        let mut chunk = first;
        while !chunk.is_empty() {
            let next = r.sized_u32()?;
            // The usual value has one chunk: it is copied once.
            if next.is_empty() && whole.as_slice().is_empty() {
                break;
            }
            whole.extend(chunk).map_err(no_room)?;
            chunk = next;
        }
        let bytes = if whole.as_slice().is_empty() {
            os::values::room(first.len()).map_err(no_room)?;
            Bytes::new(first)
        } else {
            whole.into_bytes()
        };
        if total != PLP_UNKNOWN && total != bytes.len() as u64 {
            return Err(fault(ValueFault::Chunks(self.wire)));
        }
        Ok(Some(bytes))
    }
}
