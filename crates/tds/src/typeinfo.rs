//! TYPE_INFO: how a column or parameter tells its type, and which SQL type that is.
//!
//! We write one form of each type, the nullable one. We read all forms: fixed-length types,
//! legacy byte-length strings, and text, ntext and image, which are their `max` successors
//! everywhere but in columns, where their values have a pointer before them.

use crate::error::{TdsError, TdsResult, ValueFault};
use crate::reader::Reader;
use crate::version::TdsVersion;
use crate::writer::WireWriter;
use types::{Length, SqlType};

/// The bytes that name types on the wire.
pub(crate) mod wire {
    pub(crate) const NULL: u8 = 0x1F;
    pub(crate) const IMAGE: u8 = 0x22;
    pub(crate) const TEXT: u8 = 0x23;
    pub(crate) const GUID: u8 = 0x24;
    pub(crate) const VARBINARY: u8 = 0x25;
    pub(crate) const INTN: u8 = 0x26;
    pub(crate) const VARCHAR: u8 = 0x27;
    pub(crate) const DATEN: u8 = 0x28;
    pub(crate) const TIMEN: u8 = 0x29;
    pub(crate) const DATETIME2N: u8 = 0x2A;
    pub(crate) const DATETIMEOFFSETN: u8 = 0x2B;
    pub(crate) const BINARY: u8 = 0x2D;
    pub(crate) const CHAR: u8 = 0x2F;
    pub(crate) const INT1: u8 = 0x30;
    pub(crate) const BIT: u8 = 0x32;
    pub(crate) const INT2: u8 = 0x34;
    pub(crate) const DECIMAL: u8 = 0x37;
    pub(crate) const INT4: u8 = 0x38;
    pub(crate) const DATETIM4: u8 = 0x3A;
    pub(crate) const FLT4: u8 = 0x3B;
    pub(crate) const MONEY: u8 = 0x3C;
    pub(crate) const DATETIME: u8 = 0x3D;
    pub(crate) const FLT8: u8 = 0x3E;
    pub(crate) const NUMERIC: u8 = 0x3F;
    pub(crate) const SSVARIANT: u8 = 0x62;
    pub(crate) const NTEXT: u8 = 0x63;
    pub(crate) const BITN: u8 = 0x68;
    pub(crate) const DECIMALN: u8 = 0x6A;
    pub(crate) const NUMERICN: u8 = 0x6C;
    pub(crate) const FLTN: u8 = 0x6D;
    pub(crate) const MONEYN: u8 = 0x6E;
    pub(crate) const DATETIMN: u8 = 0x6F;
    pub(crate) const MONEY4: u8 = 0x7A;
    pub(crate) const INT8: u8 = 0x7F;
    pub(crate) const BIGVARBINARY: u8 = 0xA5;
    pub(crate) const BIGVARCHAR: u8 = 0xA7;
    pub(crate) const BIGBINARY: u8 = 0xAD;
    pub(crate) const BIGCHAR: u8 = 0xAF;
    pub(crate) const NVARCHAR: u8 = 0xE7;
    pub(crate) const NCHAR: u8 = 0xEF;
    pub(crate) const UDT: u8 = 0xF0;
    pub(crate) const XML: u8 = 0xF1;
    pub(crate) const TVP: u8 = 0xF3;
    pub(crate) const JSON: u8 = 0xF4;
    pub(crate) const VECTOR: u8 = 0xF5;
}

/// The longest text and image, in bytes.
const LONG_BYTES_MAX: u32 = 0x7FFF_FFFF;
/// The longest sql_variant as it is announced: 8,000 bytes, and what describes them at most.
pub(crate) const VARIANT_BYTES_MAX: u32 = 8009;

/// Length field that means `max`.
pub(crate) const LENGTH_MAX: u16 = 0xFFFF;
/// The longest string or binary that is not `max`, in bytes.
const SHORT_BYTES_MAX: u16 = 8000;

/// A collation as five bytes: locale and flags, then the sort order of SQL collations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct WireCollation(pub [u8; 5]);

impl WireCollation {
    /// `SQL_Latin1_General_CP1_CI_AS`.
    pub const SQL_LATIN1_CI_AS: WireCollation = WireCollation([0x09, 0x04, 0xD0, 0x00, 0x34]);
    /// Of types without one.
    pub const NONE: WireCollation = WireCollation([0; 5]);

    /// The locale.
    pub fn lcid(self) -> u32 {
        self.word() & 0xF_FFFF
    }

    /// Whether varchar bytes are UTF-8.
    pub fn is_utf8(self) -> bool {
        self.word() & (1 << 26) != 0
    }

    fn word(self) -> u32 {
        u32::from_le_bytes([self.0[0], self.0[1], self.0[2], self.0[3]])
    }
}

impl From<types::Collation> for WireCollation {
    fn from(c: types::Collation) -> WireCollation {
        WireCollation(c.tds_bytes())
    }
}

/// How a value of a type tells its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prefix {
    /// No bytes at all: the untyped NULL.
    Nothing,
    /// None; the type has this length.
    Fixed(u8),
    /// A byte, 0 for NULL.
    Byte,
    /// Two bytes, 0xFFFF for NULL.
    Short,
    /// Four bytes, -1 for NULL.
    Long,
    /// A text pointer of a byte's length, 0 for NULL, and a timestamp; then four bytes.
    Pointer,
    /// Four bytes, 0 for NULL; then a type of its own.
    Variant,
    /// Chunks.
    Partial,
}

/// A type as it was read from the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// The SQL type it is here.
    pub sql: SqlType,
    /// Of character types.
    pub collation: WireCollation,
    /// The type byte.
    pub wire: u8,
    pub(crate) prefix: Prefix,
}

/// Appends the TYPE_INFO of a type; the collation is written for character types only.
pub fn encode_type(sql: SqlType, collation: WireCollation, out: &mut Vec<u8>) {
    match sql {
        SqlType::Bit => out.extend_from_slice(&[wire::BITN, 1]),
        SqlType::TinyInt => out.extend_from_slice(&[wire::INTN, 1]),
        SqlType::SmallInt => out.extend_from_slice(&[wire::INTN, 2]),
        SqlType::Int => out.extend_from_slice(&[wire::INTN, 4]),
        SqlType::BigInt => out.extend_from_slice(&[wire::INTN, 8]),
        SqlType::Decimal { precision, scale } => {
            let length = decimal_bytes(precision);
            out.extend_from_slice(&[wire::DECIMALN, length, precision, scale]);
        }
        SqlType::Money => out.extend_from_slice(&[wire::MONEYN, 8]),
        SqlType::SmallMoney => out.extend_from_slice(&[wire::MONEYN, 4]),
        SqlType::Real => out.extend_from_slice(&[wire::FLTN, 4]),
        SqlType::Float => out.extend_from_slice(&[wire::FLTN, 8]),
        SqlType::Date => out.put_u8(wire::DATEN),
        SqlType::Time(scale) => out.extend_from_slice(&[wire::TIMEN, scale]),
        SqlType::DateTime => out.extend_from_slice(&[wire::DATETIMN, 8]),
        SqlType::SmallDateTime => out.extend_from_slice(&[wire::DATETIMN, 4]),
        SqlType::DateTime2(scale) => out.extend_from_slice(&[wire::DATETIME2N, scale]),
        SqlType::DateTimeOffset(scale) => {
            out.extend_from_slice(&[wire::DATETIMEOFFSETN, scale]);
        }
        SqlType::Char(n) => short(wire::BIGCHAR, n, Some(collation), out),
        SqlType::VarChar(n) => short(wire::BIGVARCHAR, bytes_of(n, 1), Some(collation), out),
        SqlType::NChar(n) => {
            short(wire::NCHAR, bytes_of(Length::N(n), 2), Some(collation), out);
        }
        SqlType::NVarChar(n) => short(wire::NVARCHAR, bytes_of(n, 2), Some(collation), out),
        SqlType::Binary(n) => short(wire::BIGBINARY, n, None, out),
        SqlType::VarBinary(n) => short(wire::BIGVARBINARY, bytes_of(n, 1), None, out),
        SqlType::RowVersion => short(wire::BIGBINARY, 8, None, out),
        SqlType::UniqueIdentifier => out.extend_from_slice(&[wire::GUID, 16]),
        SqlType::Text => long(wire::TEXT, LONG_BYTES_MAX, Some(collation), out),
        SqlType::NText => long(wire::NTEXT, LONG_BYTES_MAX - 1, Some(collation), out),
        SqlType::Image => long(wire::IMAGE, LONG_BYTES_MAX, None, out),
        SqlType::Variant => long(wire::SSVARIANT, VARIANT_BYTES_MAX, None, out),
        // No schema collection.
        SqlType::Xml => out.extend_from_slice(&[wire::XML, 0]),
    }
}

fn long(wire: u8, length: u32, collation: Option<WireCollation>, out: &mut Vec<u8>) {
    out.put_u8(wire);
    out.put_u32(length);
    if let Some(collation) = collation {
        out.extend_from_slice(&collation.0);
    }
}

fn short(wire: u8, length: u16, collation: Option<WireCollation>, out: &mut Vec<u8>) {
    out.put_u8(wire);
    out.put_u16(length);
    if let Some(collation) = collation {
        out.extend_from_slice(&collation.0);
    }
}

fn bytes_of(length: Length, width: u16) -> u16 {
    match length {
        Length::N(n) => n.saturating_mul(width).min(SHORT_BYTES_MAX),
        Length::Max => LENGTH_MAX,
    }
}

/// The longest value of a decimal of some precision: a sign and 4, 8, 12 or 16 bytes.
pub(crate) fn decimal_bytes(precision: u8) -> u8 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

/// The type as which a client of some version sees a column: TDS 7.2 has no date, time,
/// datetime2 and datetimeoffset and gets their text.
pub fn type_for_client(sql: SqlType, version: TdsVersion) -> SqlType {
    if version.has_date_types() {
        return sql;
    }
    match sql {
        SqlType::Date => SqlType::nvarchar(10),
        SqlType::Time(_) => SqlType::nvarchar(16),
        SqlType::DateTime2(_) => SqlType::nvarchar(27),
        SqlType::DateTimeOffset(_) => SqlType::nvarchar(34),
        other => other,
    }
}

/// The type as which a value goes outside of columns: text, ntext and image as what took their
/// place, for there they have no pointer.
pub(crate) fn type_of_value(sql: SqlType, version: TdsVersion) -> SqlType {
    type_for_client(sql.modern(), version)
}

impl TypeInfo {
    /// A type in the form in which we write it.
    pub fn of(sql: SqlType, collation: WireCollation) -> TypeInfo {
        let mut bytes = Vec::with_capacity(8);
        encode_type(sql, collation, &mut bytes);
        let info = TypeInfo::decode(&mut Reader::new(&bytes));
        info.expect("we read every type that we write")
    }

    /// The type at the reader.
    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<TypeInfo> {
        let wire = r.u8()?;
        if let Some((sql, bytes)) = fixed(wire) {
            let prefix = if bytes == 0 { Prefix::Nothing } else { Prefix::Fixed(bytes) };
            return Ok(TypeInfo { sql, collation: WireCollation::NONE, wire, prefix });
        }
        if let Some(what) = unsupported(wire) {
            return Err(fault(ValueFault::UnsupportedType(wire, what)));
        }
        match wire {
            wire::TEXT | wire::NTEXT | wire::IMAGE => TypeInfo::long(wire, r),
            wire::SSVARIANT => {
                let _ = r.u32()?;
                let (sql, collation) = (SqlType::Variant, WireCollation::NONE);
                Ok(TypeInfo { sql, collation, wire, prefix: Prefix::Variant })
            }
            wire::XML => TypeInfo::xml(r),
            wire::BIGVARBINARY
            | wire::BIGVARCHAR
            | wire::BIGBINARY
            | wire::BIGCHAR
            | wire::NVARCHAR
            | wire::NCHAR => TypeInfo::short(wire, r),
            _ => {
                let sql = byte_length(wire, r)?;
                Ok(TypeInfo { sql, collation: WireCollation::NONE, wire, prefix: Prefix::Byte })
            }
        }
    }

    /// xml is bytes here, in an encoding that they tell: what they say is for a conversion to find
    /// out. The schema collection that may be named is of no use.
    fn xml(r: &mut Reader<'_>) -> TdsResult<TypeInfo> {
        if r.u8()? != 0 {
            for _ in 0..2 {
                let characters = r.u8()?;
                r.take(usize::from(characters) * 2)?;
            }
            let characters = r.u16()?;
            r.take(usize::from(characters) * 2)?;
        }
        let (sql, collation) = (SqlType::VARBINARY_MAX, WireCollation::NONE);
        Ok(TypeInfo { sql, collation, wire: wire::XML, prefix: Prefix::Partial })
    }

    fn long(wire: u8, r: &mut Reader<'_>) -> TdsResult<TypeInfo> {
        // The maximum length: some drivers send the value's, some 2 GB. It tells nothing.
        let _ = r.u32()?;
        let (sql, collated) = match wire {
            wire::TEXT => (SqlType::VARCHAR_MAX, true),
            wire::NTEXT => (SqlType::NVARCHAR_MAX, true),
            _ => (SqlType::VARBINARY_MAX, false),
        };
        let collation = if collated { WireCollation(r.array()?) } else { WireCollation::NONE };
        Ok(TypeInfo { sql, collation, wire, prefix: Prefix::Long })
    }

    /// The type of a column: behind text, ntext and image stands the name of their table, which
    /// is passed over, and they are themselves. xml is text here: columns are sent in UTF-16.
    pub(crate) fn decode_column(r: &mut Reader<'_>) -> TdsResult<TypeInfo> {
        let mut info = TypeInfo::decode(r)?;
        info.sql = match info.wire {
            wire::TEXT => SqlType::Text,
            wire::NTEXT => SqlType::NText,
            wire::IMAGE => SqlType::Image,
            wire::XML => {
                info.sql = SqlType::NVARCHAR_MAX;
                return Ok(info);
            }
            _ => return Ok(info),
        };
        info.prefix = Prefix::Pointer;
        for _ in 0..r.u8()? {
            r.us_varchar()?;
        }
        Ok(info)
    }

    fn short(wire: u8, r: &mut Reader<'_>) -> TdsResult<TypeInfo> {
        let bytes = r.u16()?;
        let wide = matches!(wire, wire::NVARCHAR | wire::NCHAR);
        let collated = wide || matches!(wire, wire::BIGVARCHAR | wire::BIGCHAR);
        let collation = if collated { WireCollation(r.array()?) } else { WireCollation::NONE };
        let max = bytes == LENGTH_MAX;
        if !max && (bytes > SHORT_BYTES_MAX || (wide && bytes % 2 != 0)) {
            return Err(fault(ValueFault::Length(wire)));
        }
        // Drivers send length 0 for an empty string; no type is that short.
        let n = (if wide { bytes / 2 } else { bytes }).max(1);
        let length = if max { Length::Max } else { Length::N(n) };
        let sql = match (wire, length) {
            (wire::BIGVARBINARY, _) => SqlType::VarBinary(length),
            (wire::BIGVARCHAR, _) => SqlType::VarChar(length),
            (wire::NVARCHAR, _) => SqlType::NVarChar(length),
            (_, Length::Max) => return Err(fault(ValueFault::Length(wire))),
            (wire::BIGBINARY, Length::N(n)) => SqlType::Binary(n),
            (wire::BIGCHAR, Length::N(n)) => SqlType::Char(n),
            (_, Length::N(n)) => SqlType::NChar(n),
        };
        let prefix = if max { Prefix::Partial } else { Prefix::Short };
        Ok(TypeInfo { sql, collation, wire, prefix })
    }
}

pub(crate) fn fault(fault: ValueFault) -> TdsError {
    TdsError::Value { fault }
}

/// Types without a length field: what they are and how long their values.
fn fixed(wire: u8) -> Option<(SqlType, u8)> {
    Some(match wire {
        wire::NULL => (SqlType::Int, 0),
        wire::INT1 => (SqlType::TinyInt, 1),
        wire::BIT => (SqlType::Bit, 1),
        wire::INT2 => (SqlType::SmallInt, 2),
        wire::INT4 => (SqlType::Int, 4),
        wire::INT8 => (SqlType::BigInt, 8),
        wire::DATETIM4 => (SqlType::SmallDateTime, 4),
        wire::DATETIME => (SqlType::DateTime, 8),
        wire::FLT4 => (SqlType::Real, 4),
        wire::FLT8 => (SqlType::Float, 8),
        wire::MONEY => (SqlType::Money, 8),
        wire::MONEY4 => (SqlType::SmallMoney, 4),
        _ => return None,
    })
}

fn unsupported(wire: u8) -> Option<&'static str> {
    Some(match wire {
        wire::UDT => "CLR user-defined type",
        wire::TVP => "table-valued parameter",
        wire::JSON => "json",
        wire::VECTOR => "vector",
        _ => return None,
    })
}

/// Types whose values have a byte's length, and what follows their type byte.
fn byte_length(wire: u8, r: &mut Reader<'_>) -> TdsResult<SqlType> {
    match wire {
        wire::DATEN => return Ok(SqlType::Date),
        wire::TIMEN => return Ok(SqlType::Time(fraction(wire, r)?)),
        wire::DATETIME2N => return Ok(SqlType::DateTime2(fraction(wire, r)?)),
        wire::DATETIMEOFFSETN => return Ok(SqlType::DateTimeOffset(fraction(wire, r)?)),
        wire::DECIMAL | wire::NUMERIC | wire::DECIMALN | wire::NUMERICN => {
            return decimal(wire, r);
        }
        wire::GUID
        | wire::INTN
        | wire::BITN
        | wire::FLTN
        | wire::MONEYN
        | wire::DATETIMN
        | wire::VARBINARY
        | wire::VARCHAR
        | wire::BINARY
        | wire::CHAR => {}
        _ => return Err(fault(ValueFault::UnknownType(wire))),
    }
    let length = r.u8()?;
    let n = u16::from(length).max(1);
    Ok(match (wire, length) {
        (wire::GUID, 16 | 0) => SqlType::UniqueIdentifier,
        (wire::INTN, 1) => SqlType::TinyInt,
        (wire::INTN, 2) => SqlType::SmallInt,
        (wire::INTN, 4) => SqlType::Int,
        (wire::INTN, 8) => SqlType::BigInt,
        (wire::BITN, 1) => SqlType::Bit,
        (wire::FLTN, 4) => SqlType::Real,
        (wire::FLTN, 8) => SqlType::Float,
        (wire::MONEYN, 4) => SqlType::SmallMoney,
        (wire::MONEYN, 8) => SqlType::Money,
        (wire::DATETIMN, 4) => SqlType::SmallDateTime,
        (wire::DATETIMN, 8) => SqlType::DateTime,
        (wire::VARBINARY, _) => SqlType::varbinary(n),
        (wire::VARCHAR, _) => SqlType::varchar(n),
        (wire::BINARY, _) => SqlType::Binary(n),
        (wire::CHAR, _) => SqlType::Char(n),
        _ => return Err(fault(ValueFault::Length(wire))),
    })
}

fn fraction(wire: u8, r: &mut Reader<'_>) -> TdsResult<u8> {
    let scale = r.u8()?;
    if scale > 7 {
        return Err(fault(ValueFault::PrecisionScale(wire)));
    }
    Ok(scale)
}

fn decimal(wire: u8, r: &mut Reader<'_>) -> TdsResult<SqlType> {
    let [length, precision, scale] = r.array()?;
    if !(2..=17).contains(&length) {
        return Err(fault(ValueFault::Length(wire)));
    }
    if !(1..=38).contains(&precision) || scale > precision {
        return Err(fault(ValueFault::PrecisionScale(wire)));
    }
    Ok(SqlType::decimal(precision, scale))
}
