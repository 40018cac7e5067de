//! `Variant`: a value of `sql_variant`, which brings its own type along.
//!
//! ```text
//! offset size   stored form
//!      0    1   system type id of the base type
//!      1    1   version of the form: 1
//!      2    n   what the type needs: decimal: precision, scale · time, datetime2, datetimeoffset:
//!               scale · characters: longest length in bytes (2), number of the collation (4) ·
//!               binary: longest length (2) · others: nothing
//!    2+n        the stored form of the value
//! ```
//!
//! Two variants compare by the families of their base types: dates and times above float, above
//! exact numbers, above characters, above binary, above uniqueidentifier. Within a family they
//! compare as its widest type; characters of two collations by locale, version, flags and sort
//! order of these, and never by what they say.
//!
//! Invariants
//!  1. The value is not NULL (NULL of a variant is plain NULL) and one of its base type.
//!  2. The base type is none of a `max` length, text, ntext, image, rowversion, sql_variant.
//!  3. The order is total over all base types: char compares as nchar also with char, where SQL
//!     sort orders would give another order among strings with hyphens.
//!  4. Variants that compare as equal have one hash and one sort key.

use crate::datetime::Moment;
use crate::sort_key::append_sort_key;
use crate::storage::{compare_binary, compare_guids, decode_storage, encode_storage, float_order};
use crate::{Bytes, Collation, Decimal, Length, SqlType, Value};
use std::cmp::Ordering;
use std::hash::Hasher;

/// The longest stored form: 8,000 bytes and what describes them.
pub(crate) const BYTES_MAX: u16 = 8016;
/// The longest value.
const VALUE_BYTES_MAX: usize = 8000;
/// The only version of the form.
const VERSION: u8 = 1;

/// A value with its base type and, of characters, its collation.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    sql_type: SqlType,
    collation: Collation,
    value: Value,
}

/// What a variant compares as; of a higher family later.
enum VariantKey {
    Guid([u8; 16]),
    Binary(Bytes),
    Text(Collation, Bytes),
    Exact(Decimal),
    Float(f64),
    /// In UTC.
    Moment(i64),
}

impl Variant {
    /// A value as a variant; `None` for NULL, and where no variant has such a base type. A type
    /// of no limited length takes the value's.
    pub fn new(value: Value, sql_type: SqlType, collation: Collation) -> Option<Variant> {
        let bytes = value.as_bytes().map_or(0, <[u8]>::len);
        let length = |width: usize| match bytes.max(1) / width {
            0 => Some(Length::N(1)),
            n if n * width <= VALUE_BYTES_MAX => Some(Length::N(n as u16)),
            _ => None,
        };
        let sql_type = match sql_type {
            SqlType::VarChar(Length::Max) => SqlType::VarChar(length(1)?),
            SqlType::NVarChar(Length::Max) => SqlType::NVarChar(length(2)?),
            SqlType::VarBinary(Length::Max) => SqlType::VarBinary(length(1)?),
            other => other,
        };
        let fits = !value.is_null() && bytes <= VALUE_BYTES_MAX && Variant::admits(sql_type);
        fits.then_some(Variant { sql_type, collation, value })
    }

    /// Whether a type may be a base type.
    pub const fn admits(sql_type: SqlType) -> bool {
        !sql_type.is_max() && !matches!(sql_type, SqlType::RowVersion | SqlType::Variant)
    }

    /// The base type.
    pub fn sql_type(&self) -> SqlType {
        self.sql_type
    }

    /// The collation of a character value.
    pub fn collation(&self) -> Option<Collation> {
        self.sql_type.is_character().then_some(self.collation)
    }

    /// The value of the base type.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Bytes that value and description take: SQL_VARIANT_PROPERTY's TotalBytes.
    pub fn total_bytes(&self) -> usize {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        bytes.len()
    }

    /// Appends the stored form.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.sql_type.system_type_id(), VERSION]);
        let longest = (self.sql_type.max_length() as u16).to_le_bytes();
        match self.sql_type {
            SqlType::Decimal { precision, scale } => out.extend_from_slice(&[precision, scale]),
            SqlType::Time(s) | SqlType::DateTime2(s) | SqlType::DateTimeOffset(s) => out.push(s),
            t if t.is_character() => {
                out.extend_from_slice(&longest);
                out.extend_from_slice(&u32::from(self.collation.id()).to_le_bytes());
            }
            SqlType::Binary(_) | SqlType::VarBinary(_) => out.extend_from_slice(&longest),
            _ => {}
        }
        encode_storage(&self.value, self.sql_type, out);
    }

    /// Reads a stored form; `None` when the bytes are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Variant> {
        let (&[id, version], rest) = bytes.split_first_chunk()?;
        if version != VERSION {
            return None;
        }
        let mut form = Form { rest, collation: Collation::default() };
        let sql_type = form.sql_type(id)?;
        let value = decode_storage(form.rest, sql_type).ok()?;
        Some(Variant { sql_type, collation: form.collation, value })
    }

    /// How two variants order.
    pub fn compare(&self, other: &Variant) -> Ordering {
        let (a, b) = (self.standing(), other.standing());
        a.rank().cmp(&b.rank()).then_with(|| match (&a, &b) {
            (VariantKey::Guid(x), VariantKey::Guid(y)) => compare_guids(x, y),
            (VariantKey::Binary(x), VariantKey::Binary(y)) => compare_binary(x, y),
            (VariantKey::Text(c, x), VariantKey::Text(d, y)) => {
                place(*c).cmp(&place(*d)).then_with(|| c.compare_nchar(x, y))
            }
            (VariantKey::Exact(x), VariantKey::Exact(y)) => x.cmp(y),
            (VariantKey::Float(x), VariantKey::Float(y)) => float_order(*x, *y),
            (VariantKey::Moment(x), VariantKey::Moment(y)) => x.cmp(y),
            _ => Ordering::Equal,
        })
    }

    /// Feeds a hasher so that equal variants hash alike.
    pub(crate) fn hash(&self, state: &mut impl Hasher) {
        let standing = self.standing();
        state.write_u8(standing.rank());
        match standing {
            VariantKey::Text(collation, units) => {
                state.write_u64(place(collation));
                collation.hash_nchar(&units, state);
            }
            VariantKey::Moment(total) => state.write_i64(total),
            other => crate::hash(&other.into_value(), Collation::default(), state),
        }
    }

    /// Appends the sort key, at most until `out` has `limit` bytes.
    pub(crate) fn append_key(&self, limit: usize, out: &mut Vec<u8>) {
        let standing = self.standing();
        out.push(standing.rank());
        let mut collation = Collation::default();
        if let VariantKey::Text(own, _) = &standing {
            collation = *own;
            out.extend_from_slice(&place(*own).to_be_bytes());
        }
        append_sort_key(&standing.into_value(), collation, limit, out);
    }

    fn standing(&self) -> VariantKey {
        match &self.value {
            Value::Guid(g) => VariantKey::Guid(*g),
            Value::Binary(b) => VariantKey::Binary(b.clone()),
            Value::Char(b) => {
                let wide = self.collation.code_page().widen(b);
                VariantKey::Text(self.collation, Bytes::from(wide))
            }
            Value::NChar(b) => VariantKey::Text(self.collation, b.clone()),
            Value::Real(x) => VariantKey::Float(f64::from(*x)),
            Value::Float(x) => VariantKey::Float(*x),
            Value::Decimal(d) => VariantKey::Exact(*d),
            Value::Money(n) => {
                VariantKey::Exact(Decimal::new(i128::from(*n), 4).unwrap_or(Decimal::ZERO))
            }
            other => match (other.as_i64(), Moment::of(other)) {
                (Some(n), _) => VariantKey::Exact(Decimal::from_i64(n)),
                (_, Some(moment)) => VariantKey::Moment(moment.total_utc()),
                // Invariants 1 and 2: nothing else is the value of a variant.
                _ => VariantKey::Binary(Bytes::EMPTY),
            },
        }
    }
}

impl VariantKey {
    /// The place of the family; above 0, which is the key of NULL.
    fn rank(&self) -> u8 {
        match self {
            VariantKey::Guid(_) => 1,
            VariantKey::Binary(_) => 2,
            VariantKey::Text(..) => 3,
            VariantKey::Exact(_) => 4,
            VariantKey::Float(_) => 5,
            VariantKey::Moment(_) => 6,
        }
    }

    /// As one value, whose key and hash are the family's.
    fn into_value(self) -> Value {
        match self {
            VariantKey::Guid(g) => Value::Guid(g),
            VariantKey::Binary(b) => Value::Binary(b),
            VariantKey::Text(_, b) => Value::NChar(b),
            VariantKey::Exact(d) => Value::Decimal(d),
            VariantKey::Float(x) => Value::Float(x),
            VariantKey::Moment(total) => Value::BigInt(total),
        }
    }
}

/// The place of a collation among all: by locale, version, flags, sort order, then its number.
fn place(collation: Collation) -> u64 {
    let [a, b, c, d, sort] = collation.tds_bytes();
    let word = u64::from(u32::from_le_bytes([a, b, c, d]));
    let (locale, flags, version) = (word & 0xF_FFFF, word >> 20 & 0xFF, word >> 28);
    locale << 44 | version << 40 | flags << 32 | u64::from(sort) << 16 | u64::from(collation.id())
}

/// What is left of a stored form, and the collation that it named.
struct Form<'a> {
    rest: &'a [u8],
    collation: Collation,
}

impl Form<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*front)
    }

    /// A longest length in characters of `width` bytes.
    fn length(&mut self, width: u16) -> Option<u16> {
        let bytes = u16::from_le_bytes(self.take()?);
        let sane = (1..=8000).contains(&bytes) && bytes.is_multiple_of(width);
        sane.then_some(bytes / width)
    }

    fn collated(&mut self, width: u16, make: fn(u16) -> SqlType) -> Option<SqlType> {
        let n = self.length(width)?;
        let id = u16::try_from(u32::from_le_bytes(self.take()?)).ok()?;
        self.collation = Collation::by_id(id)?;
        Some(make(n))
    }

    fn scaled(&mut self, make: fn(u8) -> SqlType) -> Option<SqlType> {
        let [scale] = self.take()?;
        (scale <= 7).then(|| make(scale))
    }

    /// The type of an id, with what stands behind it.
    fn sql_type(&mut self, id: u8) -> Option<SqlType> {
        let bare = crate::ALL_TYPES.iter().copied().find(|t| t.system_type_id() == id)?;
        match bare {
            SqlType::Decimal { .. } => {
                let [precision, scale] = self.take()?;
                let sane = (1..=38).contains(&precision) && scale <= precision;
                sane.then_some(SqlType::Decimal { precision, scale })
            }
            SqlType::Time(_) => self.scaled(SqlType::Time),
            SqlType::DateTime2(_) => self.scaled(SqlType::DateTime2),
            SqlType::DateTimeOffset(_) => self.scaled(SqlType::DateTimeOffset),
            SqlType::Char(_) => self.collated(1, SqlType::Char),
            SqlType::VarChar(_) => self.collated(1, SqlType::varchar),
            SqlType::NChar(_) => self.collated(2, SqlType::NChar),
            SqlType::NVarChar(_) => self.collated(2, SqlType::nvarchar),
            SqlType::Binary(_) => self.length(1).map(SqlType::Binary),
            SqlType::VarBinary(_) => self.length(1).map(SqlType::varbinary),
            other => Variant::admits(other).then_some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DateTime, DateTime2, DateTimeOffset, compare_storage, hash_storage};
    use std::hash::DefaultHasher;

    fn of(value: Value, sql_type: SqlType) -> Variant {
        Variant::new(value, sql_type, Collation::default()).expect("a base type")
    }

    fn number(text: &str, precision: u8, scale: u8) -> Variant {
        let d = Decimal::parse(text).expect("a number");
        of(Value::Decimal(d), SqlType::decimal(precision, scale))
    }

    /// One of each base type, and pairs that are equal across types.
    fn samples() -> Vec<Variant> {
        let day = DateTime2 { days: 700_000, ticks: 36_000_000_000 };
        let local = DateTimeOffset { utc: day, offset: 60 };
        let c = SqlType::varchar(10);
        vec![
            of(Value::Guid([7; 16]), SqlType::UniqueIdentifier),
            of(Value::Guid([9; 16]), SqlType::UniqueIdentifier),
            of(Value::varbinary(&[1, 2]), SqlType::varbinary(9)),
            of(Value::varbinary(&[1, 2, 0]), SqlType::Binary(3)),
            of(Value::varchar("abc"), c),
            of(Value::nvarchar("ABC  "), SqlType::NChar(5)),
            of(Value::varchar("co-op"), c),
            of(Value::varchar("coop"), c),
            Variant::new(Value::varchar("abc"), c, Collation::LATIN1_BIN2).expect("a base type"),
            of(Value::Bit(true), SqlType::Bit),
            of(Value::Int(1), SqlType::Int),
            of(Value::Money(10_000), SqlType::SmallMoney),
            number("1.00", 9, 2),
            number("-0.5", 38, 1),
            of(Value::BigInt(i64::MAX), SqlType::BigInt),
            of(Value::Real(0.5), SqlType::Real),
            of(Value::Float(0.5), SqlType::Float),
            of(Value::Float(-1e300), SqlType::Float),
            of(Value::Date(700_000), SqlType::Date),
            of(Value::DateTime2(day), SqlType::DateTime2(3)),
            of(Value::DateTimeOffset(local), SqlType::DateTimeOffset(7)),
            of(Value::DateTime(DateTime { days: 1, ticks: 300 }), SqlType::DateTime),
            of(Value::Time(5), SqlType::Time(7)),
        ]
    }

    fn key(v: &Variant) -> Vec<u8> {
        let mut out = Vec::new();
        v.append_key(usize::MAX, &mut out);
        out
    }

    /// What is stored reads back, and cut or strange bytes are no variant, and no panic.
    #[test]
    fn stored_forms_read_back_and_cut_ones_do_not() {
        for v in samples() {
            let mut bytes = Vec::new();
            v.encode(&mut bytes);
            let read = Variant::decode(&bytes).expect("a whole form");
            assert_eq!((read.sql_type, read.collation), (v.sql_type, v.collation));
            assert!(read.compare(&v).is_eq());
            assert_eq!(v.total_bytes(), bytes.len());
            assert!(Variant::decode(&bytes[..1]).is_none());
            let strange: Vec<u8> = bytes.iter().map(|b| b ^ 0x55).collect();
            assert!(Variant::decode(&strange).is_none());
        }
    }

    /// A transitive order, and that stored forms order as values do.
    #[test]
    fn order_key_and_hash_agree() {
        let all = samples();
        let stored = compare_storage(SqlType::Variant, Collation::default());
        let feed = hash_storage(SqlType::Variant, Collation::default()).expect("a hash");
        let bytes = |v: &Variant| {
            let mut out = Vec::new();
            v.encode(&mut out);
            out
        };
        let hashed = |v: &Variant| {
            let mut state = DefaultHasher::new();
            feed.feed(&bytes(v), &mut state);
            state.finish()
        };
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                let order = a.compare(b);
                assert_eq!(order, b.compare(a).reverse(), "{i} {j}");
                assert_eq!(order, key(a).cmp(&key(b)), "{i} {j}");
                assert_eq!(order, stored.of(&bytes(a), &bytes(b)), "{i} {j}");
                assert!(order.is_ne() || hashed(a) == hashed(b), "{i} {j}");
                for c in &all {
                    if order.is_le() && b.compare(c).is_le() {
                        assert!(a.compare(c).is_le(), "{i} {j}");
                    }
                }
            }
        }
    }

    /// The hierarchy of families that SQL Server documents.
    #[test]
    fn families_decide_before_values() {
        let high = of(Value::Date(0), SqlType::Date);
        let float = of(Value::Float(1e10), SqlType::Float);
        let exact = of(Value::BigInt(i64::MAX), SqlType::BigInt);
        let chars = of(Value::varchar("zzz"), SqlType::varchar(3));
        let bytes = of(Value::varbinary(&[255; 20]), SqlType::varbinary(20));
        let guid = of(Value::Guid([255; 16]), SqlType::UniqueIdentifier);
        let falling = [high, float, exact, chars, bytes, guid];
        assert!(falling.windows(2).all(|w| w[0].compare(&w[1]).is_gt()));
    }
}
