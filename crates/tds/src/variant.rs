//! sql_variant on the wire: a value with its type before it ([MS-TDS] 2.2.5.5.4).
//!
//! ```text
//! length (4), 0 for NULL · type byte · bytes of description (1) · description · the value's bytes
//! decimal: precision, scale · time and its kin: scale · binary: longest length (2)
//! characters: collation (5), longest length (2) · others: nothing
//! ```
//!
//! Types are named by their fixed-length bytes here, which have no length of their own.

use crate::encode::encode_value;
use crate::error::{TdsResult, ValueFault};
use crate::reader::Reader;
use crate::typeinfo::{Prefix, TypeInfo, VARIANT_BYTES_MAX, WireCollation, encode_type};
use crate::typeinfo::{fault, wire};
use crate::writer::WireWriter;
use types::{Collation, Family, SqlType, Value, Variant};

/// Appends a variant that is not NULL.
///
/// # Errors
/// `Value` when its value is none of its type.
pub(crate) fn encode(v: &Variant, out: &mut Vec<u8>) -> TdsResult<()> {
    let sql = v.sql_type();
    let start = out.len();
    out.put_u32(0);
    out.put_u8(type_byte(sql));
    let described = out.len();
    out.put_u8(0);
    match sql {
        SqlType::Decimal { precision, scale } => out.extend_from_slice(&[precision, scale]),
        SqlType::Time(s) | SqlType::DateTime2(s) | SqlType::DateTimeOffset(s) => out.put_u8(s),
        _ => {
            if let Some(collation) = v.collation() {
                out.extend_from_slice(&WireCollation::from(collation).0);
            }
            if length_bytes(sql) == 2 {
                out.put_u16(sql.max_length().unsigned_abs());
            }
        }
    }
    out[described] = (out.len() - described - 1) as u8;
    let value = out.len();
    let collation = v.collation().map_or(WireCollation::NONE, WireCollation::from);
    encode_value(sql, collation, v.value(), out)?;
    // The whole has its length, the value none.
    out.drain(value..value + length_bytes(sql));
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// The bytes of the length before a value of a base type elsewhere.
fn length_bytes(sql: SqlType) -> usize {
    match sql {
        SqlType::Binary(_) | SqlType::VarBinary(_) => 2,
        t if t.is_character() => 2,
        _ => 1,
    }
}

/// The byte that names a base type: of a fixed length where there is such a one.
fn type_byte(sql: SqlType) -> u8 {
    match sql {
        SqlType::Bit => wire::BIT,
        SqlType::TinyInt => wire::INT1,
        SqlType::SmallInt => wire::INT2,
        SqlType::Int => wire::INT4,
        SqlType::BigInt => wire::INT8,
        SqlType::Decimal { .. } => wire::NUMERICN,
        SqlType::Money => wire::MONEY,
        SqlType::SmallMoney => wire::MONEY4,
        SqlType::Real => wire::FLT4,
        SqlType::Float => wire::FLT8,
        SqlType::DateTime => wire::DATETIME,
        SqlType::SmallDateTime => wire::DATETIM4,
        other => {
            let mut bytes = Vec::with_capacity(8);
            encode_type(other, WireCollation::NONE, &mut bytes);
            bytes.first().copied().unwrap_or(wire::NULL)
        }
    }
}

/// The variant at the reader.
pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<Value> {
    let whole = r.sized_u32()?;
    if whole.is_empty() {
        return Ok(Value::Null);
    }
    if whole.len() > VARIANT_BYTES_MAX as usize {
        return Err(fault(ValueFault::Length(wire::SSVARIANT)));
    }
    // What ends within these bytes is whole all the same: more will not come.
    let short = |_| fault(ValueFault::Length(wire::SSVARIANT));
    let mut r = Reader::new(whole);
    let byte = r.u8().map_err(short)?;
    let info = described(byte, r.b_varbyte().map_err(short)?)?;
    let value = info.value_of(r.rest())?;
    let collation = Collation::by_tds_bytes(info.collation.0).unwrap_or_default();
    // A variant keeps its characters in the page of its collation.
    let value = match &value {
        Value::NChar(b) if info.sql.family() == Family::Char => {
            Value::Char(collation.code_page().narrow(b).into())
        }
        _ => value,
    };
    match Variant::new(value, info.sql, collation) {
        Some(variant) => Ok(Value::Variant(variant.into())),
        None => Err(fault(ValueFault::Instance("sql_variant"))),
    }
}

/// The base type of a type byte and what describes it.
fn described(byte: u8, description: &[u8]) -> TdsResult<TypeInfo> {
    let wrong = || fault(ValueFault::Length(wire::SSVARIANT));
    // The type as it would stand before a value of its own.
    let mut bytes = vec![byte];
    match (byte, description) {
        (wire::GUID, []) => bytes.push(16),
        (wire::DECIMALN | wire::NUMERICN, &[precision, scale]) => {
            bytes.extend_from_slice(&[17, precision, scale]);
        }
        (wire::BIGVARBINARY | wire::BIGBINARY, [_, _])
        | (wire::TIMEN | wire::DATETIME2N | wire::DATETIMEOFFSETN, [_])
        | (wire::DATEN, []) => bytes.extend_from_slice(description),
        (
            wire::BIGVARCHAR | wire::BIGCHAR | wire::NVARCHAR | wire::NCHAR,
            [collation @ .., low, high],
        ) if collation.len() == 5 => {
            bytes.extend_from_slice(&[*low, *high]);
            bytes.extend_from_slice(collation);
        }
        (_, []) => {}
        _ => return Err(wrong()),
    }
    let info = TypeInfo::decode(&mut Reader::new(&bytes)).map_err(|_| wrong())?;
    let simple = matches!(info.prefix, Prefix::Fixed(_) | Prefix::Byte | Prefix::Short);
    if simple && Variant::admits(info.sql) { Ok(info) } else { Err(wrong()) }
}
