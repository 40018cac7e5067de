//! COLMETADATA, ROW, NBCROW, RETURNVALUE: tables and values of a response.
//!
//! A row costs no allocation: values go straight into the output buffer. A row with enough NULLs
//! goes as NBCROW, whose bitmap is then shorter than the NULLs.

use crate::encode::{encode_value, long_value, null_bytes};
use crate::error::{TdsError, TdsResult};
use crate::reader::Reader;
use crate::token::kind;
use crate::typeinfo::{TypeInfo, WireCollation, encode_type, type_for_client, type_of_value};
use crate::version::TdsVersion;
use crate::writer::WireWriter;
use std::borrow::Cow;
use types::{SqlType, Value};

/// Flags of a column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ColumnFlags(pub u16);

impl ColumnFlags {
    /// May be NULL.
    pub const NULLABLE: ColumnFlags = ColumnFlags(0x0001);
    /// Compared with case.
    pub const CASE_SENSITIVE: ColumnFlags = ColumnFlags(0x0002);
    /// Can be updated through a cursor.
    pub const UPDATABLE: ColumnFlags = ColumnFlags(0x0004);
    /// Perhaps; what a column of a table answers outside a cursor.
    pub const UPDATABLE_UNKNOWN: ColumnFlags = ColumnFlags(0x0008);
    /// An identity column.
    pub const IDENTITY: ColumnFlags = ColumnFlags(0x0010);
    /// Computed.
    pub const COMPUTED: ColumnFlags = ColumnFlags(0x0020);
    /// Not of the select list.
    pub const HIDDEN: ColumnFlags = ColumnFlags(0x2000);
    /// Of the key.
    pub const KEY: ColumnFlags = ColumnFlags(0x4000);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: ColumnFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: ColumnFlags) -> ColumnFlags {
        ColumnFlags(self.0 | other.0)
    }
}

/// A column of a result set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column<'a> {
    /// Its name, empty for an expression without one.
    pub name: Cow<'a, str>,
    /// Its type.
    pub sql: SqlType,
    /// Of character types.
    pub collation: WireCollation,
    /// Its flags.
    pub flags: ColumnFlags,
    /// The alias type's id; 0 for system types.
    pub user_type: u32,
}

impl<'a> Column<'a> {
    /// A column of a system type with the server's collation.
    pub fn new(name: &'a str, sql: SqlType, flags: ColumnFlags) -> Column<'a> {
        let collation =
            if sql.is_character() { WireCollation::SQL_LATIN1_CI_AS } else { WireCollation::NONE };
        Column { name: Cow::Borrowed(name), sql, collation, flags, user_type: 0 }
    }
}

/// The columns that a result set may have (a SELECT's limit).
const COLUMNS_MAX: usize = 4096;
/// COLMETADATA's count that means "as before".
const NO_METADATA: u16 = 0xFFFF;

/// Appends COLMETADATA for a client of some version.
///
/// # Panics
/// With more than 4,096 columns, which no SELECT has.
pub fn encode_columns(columns: &[Column<'_>], version: TdsVersion, out: &mut Vec<u8>) {
    assert!(columns.len() <= COLUMNS_MAX, "a SELECT has at most 4096 columns");
    out.put_u8(kind::COLMETADATA);
    out.put_u16(u16::try_from(columns.len()).expect("asserted above"));
    for column in columns {
        out.put_u32(column.user_type);
        out.put_u16(column.flags.0);
        encode_type(type_for_client(column.sql, version), column.collation, out);
        if column.sql.is_text_image() {
            // The name of the table that a pointer would point into: of one part, and empty.
            out.put_u8(1);
            out.put_us_varchar("");
        }
        out.put_b_varchar(&column.name);
    }
}

/// Appends a COLMETADATA that says "as before": the client has asked for no more.
pub fn encode_no_columns(out: &mut Vec<u8>) {
    out.put_u8(kind::COLMETADATA);
    out.put_u16(NO_METADATA);
}

/// The columns of a COLMETADATA with how their values are read; `None` for "as before".
pub(crate) type DecodedColumns = Option<(Vec<Column<'static>>, Vec<TypeInfo>)>;

pub(crate) fn decode_columns(r: &mut Reader<'_>) -> TdsResult<DecodedColumns> {
    let count = r.u16()?;
    if count == NO_METADATA {
        return Ok(None);
    }
    // Grows with what has arrived: a column takes at least 8 bytes.
    let (mut columns, mut infos) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let user_type = r.u32()?;
        let flags = ColumnFlags(r.u16()?);
        let info = TypeInfo::decode_column(r)?;
        let name = Cow::Owned(r.b_varchar()?);
        columns.push(Column { name, sql: info.sql, collation: info.collation, flags, user_type });
        infos.push(info);
    }
    Ok(Some((columns, infos)))
}

/// Encodes the rows of one result set.
#[derive(Clone, Debug)]
pub struct RowEncoder {
    /// What each is for the client, and the collation that its characters have there.
    columns: Vec<(SqlType, WireCollation)>,
    /// `usize::MAX` when the client does not understand NBCROW.
    bitmap_bytes: usize,
    /// A column may have values that are sent in parts.
    may_be_long: bool,
}

/// Bytes of such a part.
const PART_BYTES: usize = 16 << 10;

impl RowEncoder {
    /// For rows under the COLMETADATA of the same columns and version.
    pub fn new(columns: &[Column<'_>], version: TdsVersion) -> RowEncoder {
        let bitmap_bytes =
            if version.has_nbcrow() { columns.len().div_ceil(8) } else { usize::MAX };
        let columns: Vec<_> =
            columns.iter().map(|c| (type_for_client(c.sql, version), c.collation)).collect();
        let may_be_long = columns.iter().any(|(t, _)| t.is_max());
        RowEncoder { columns, bitmap_bytes, may_be_long }
    }

    /// Whether the row has a value that is rather sent in parts.
    pub fn is_long(&self, row: &[Value]) -> bool {
        self.may_be_long
            && self
                .columns
                .iter()
                .zip(row)
                .any(|(&(sql, _), value)| long_value(sql, value).is_some())
    }

    /// The same as [`RowEncoder::encode`] in parts: `send` takes what has come to stand in
    /// `out`, and says whether more is wanted. Where it is not, the row ends as soon as it can
    /// and be a whole one. False when nobody wanted all of it.
    ///
    /// # Errors
    /// As `encode`, with nothing sent of the value that is wrong; `send`'s.
    pub fn encode_long<W, E: From<TdsError>>(
        &self,
        row: &[Value],
        to: &mut W,
        out: impl Fn(&mut W) -> &mut Vec<u8>,
        mut send: impl FnMut(&mut W) -> Result<bool, E>,
    ) -> Result<bool, E> {
        assert_eq!(row.len(), self.columns.len(), "a row has its result set's columns");
        out(to).put_u8(kind::ROW);
        let mut wanted = true;
        for (&(sql, collation), value) in self.columns.iter().zip(row) {
            let Some(long) = long_value(sql, value) else {
                encode_value(sql, collation, value, out(to))?;
                continue;
            };
            out(to).extend_from_slice(&long.head);
            for part in long.bytes.chunks(PART_BYTES) {
                if long.in_chunks && !wanted {
                    break;
                }
                if long.in_chunks {
                    out(to).put_u32(part.len() as u32);
                }
                out(to).extend_from_slice(part);
                wanted &= send(to)?;
            }
            if long.in_chunks {
                out(to).put_u32(0);
            }
        }
        Ok(wanted)
    }

    /// Appends ROW or NBCROW. Nothing is appended when it fails.
    ///
    /// # Errors
    /// `Value` when a value is not of its column's type.
    ///
    /// # Panics
    /// When the row has another number of values than there are columns.
    pub fn encode(&self, row: &[Value], out: &mut Vec<u8>) -> TdsResult<()> {
        assert_eq!(row.len(), self.columns.len(), "a row has its result set's columns");
        let start = out.len();
        let nulls: usize = self
            .columns
            .iter()
            .zip(row)
            .filter(|(_, value)| value.is_null())
            .map(|(&(sql, _), _)| null_bytes(sql))
            .sum();
        let done = if nulls > self.bitmap_bytes {
            self.encode_nbc(row, out)
        } else {
            self.encode_plain(row, out)
        };
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    fn encode_plain(&self, row: &[Value], out: &mut Vec<u8>) -> TdsResult<()> {
        out.put_u8(kind::ROW);
        for (&(sql, collation), value) in self.columns.iter().zip(row) {
            encode_value(sql, collation, value, out)?;
        }
        Ok(())
    }

    fn encode_nbc(&self, row: &[Value], out: &mut Vec<u8>) -> TdsResult<()> {
        out.put_u8(kind::NBCROW);
        let bitmap = out.len();
        out.resize(bitmap + self.bitmap_bytes, 0);
        for (i, (&(sql, collation), value)) in self.columns.iter().zip(row).enumerate() {
            if value.is_null() {
                out[bitmap + i / 8] |= 1 << (i % 8);
            } else {
                encode_value(sql, collation, value, out)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn decode_row(infos: &[TypeInfo], r: &mut Reader<'_>) -> TdsResult<Vec<Value>> {
    infos.iter().map(|info| info.decode_value(r)).collect()
}

pub(crate) fn decode_nbc_row(infos: &[TypeInfo], r: &mut Reader<'_>) -> TdsResult<Vec<Value>> {
    let bitmap = r.take(infos.len().div_ceil(8))?;
    let decode = |(i, info): (usize, &TypeInfo)| match bitmap[i / 8] & (1 << (i % 8)) {
        0 => info.decode_value(r),
        _ => Ok(Value::Null),
    };
    infos.iter().enumerate().map(decode).collect()
}

/// RETURNVALUE: an output parameter after the call.
#[derive(Clone, PartialEq, Debug)]
pub struct ReturnValue<'a> {
    /// Its position among the parameters, from 0.
    pub ordinal: u16,
    /// Its name as the client sent it.
    pub name: Cow<'a, str>,
    /// Whether it is the result of a user-defined function instead.
    pub of_function: bool,
    /// Its type.
    pub sql: SqlType,
    /// Of character types.
    pub collation: WireCollation,
    /// Its value.
    pub value: Value,
}

impl ReturnValue<'_> {
    /// Appends the token. Nothing is appended when it fails.
    ///
    /// # Errors
    /// `Value` when the value is not of the type.
    pub fn encode(&self, version: TdsVersion, out: &mut Vec<u8>) -> TdsResult<()> {
        let start = out.len();
        let sql = type_of_value(self.sql, version);
        out.put_u8(kind::RETURNVALUE);
        out.put_u16(self.ordinal);
        out.put_b_varchar(&self.name);
        out.put_u8(if self.of_function { 2 } else { 1 });
        out.put_u32(0);
        out.put_u16(ColumnFlags::NULLABLE.0);
        encode_type(sql, self.collation, out);
        let done = encode_value(sql, self.collation, &self.value, out);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<ReturnValue<'static>> {
        let ordinal = r.u16()?;
        let name = Cow::Owned(r.b_varchar()?);
        let of_function = r.u8()? == 2;
        let (_user_type, _flags) = (r.u32()?, r.u16()?);
        let info = TypeInfo::decode(r)?;
        let value = info.decode_value(r)?;
        let TypeInfo { sql, collation, .. } = info;
        Ok(ReturnValue { ordinal, name, of_function, sql, collation, value })
    }
}
