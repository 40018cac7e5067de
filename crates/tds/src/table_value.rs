//! Table-valued parameters of a call ([MS-TDS] 2.2.5.5.5): type name, columns, rows.
//!
//! ```text
//! F3  database  schema  type  count or FFFF  columns  [10 order]  [11 positions]  00
//!     01 values … for each row                                                    00
//! ```
//!
//! A column whose flags say default has no values in the rows.

use crate::error::{TdsError, TdsResult, ValueFault};
use crate::reader::Reader;
use crate::rowset::ColumnFlags;
use crate::typeinfo::{TypeInfo, fault, wire};
use os::values::Charge;
use types::Value;

/// No columns: NULL for a table.
const NULL: u16 = 0xFFFF;
const END: u8 = 0x00;
const ROW: u8 = 0x01;
const ORDER_UNIQUE: u8 = 0x10;
const COLUMN_ORDERING: u8 = 0x11;
/// The columns that a table may have.
const COLUMNS_MAX: u16 = 1024;
/// Flag of a column: every row has its default.
const DEFAULT: ColumnFlags = ColumnFlags(0x0200);

/// A table-valued parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct TableParameter {
    /// The schema of its type; empty where the client does not say.
    pub schema: String,
    /// Its type's name; empty where the client does not say.
    pub type_name: String,
    /// Its columns: types, and whether each is a default.
    pub columns: Vec<(TypeInfo, bool)>,
    /// Its rows: values of the columns that are no defaults.
    pub rows: Vec<Vec<Value>>,
    /// What its rows are charged.
    pub charge: Charge,
}

impl TableParameter {
    /// Whether a parameter begins here that is a table.
    pub(crate) fn is_at(r: &Reader<'_>) -> bool {
        r.peek() == Some(wire::TVP)
    }

    /// The table at the reader.
    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<TableParameter> {
        r.u8()?;
        // Its database: types are of the current one.
        let _ = r.b_varchar()?;
        let (schema, type_name) = (r.b_varchar()?, r.b_varchar()?);
        let columns = columns(r)?;
        options(r)?;
        let (mut rows, mut bytes, mut charge) = (Vec::new(), 0, Charge::default());
        loop {
            match r.u8()? {
                END => break,
                ROW => {
                    let row = row(r, &columns)?;
                    bytes += row_bytes(&row);
                    charge.cover(bytes).map_err(|_| TdsError::OutOfMemory)?;
                    rows.push(row);
                }
                found => return Err(TdsError::Token { found }),
            }
        }
        Ok(TableParameter { schema, type_name, columns, rows, charge })
    }
}

fn columns(r: &mut Reader<'_>) -> TdsResult<Vec<(TypeInfo, bool)>> {
    let count = r.u16()?;
    // Grows with what has arrived.
    let mut columns = Vec::new();
    if count == NULL {
        return Ok(columns);
    }
    if count > COLUMNS_MAX {
        return Err(fault(ValueFault::Length(wire::TVP)));
    }
    for _ in 0..count {
        let _user_type = r.u32()?;
        let flags = ColumnFlags(r.u16()?);
        let info = TypeInfo::decode(r)?;
        // Columns of a parameter have no names.
        let _ = r.b_varchar()?;
        columns.push((info, flags.has(DEFAULT)));
    }
    Ok(columns)
}

/// What is said of the order of rows and of columns' positions: it changes no meaning here but
/// where columns are sent in another order, which no client does.
fn options(r: &mut Reader<'_>) -> TdsResult<()> {
    loop {
        match r.u8()? {
            END => return Ok(()),
            ORDER_UNIQUE => {
                for _ in 0..r.u16()? {
                    r.take(3)?;
                }
            }
            COLUMN_ORDERING => {
                for position in 1..=r.u16()? {
                    if r.u16()? != position {
                        let feature = "columns of a table-valued parameter in another order";
                        return Err(TdsError::Unsupported { feature });
                    }
                }
            }
            found => return Err(TdsError::Token { found }),
        }
    }
}

/// What a row takes in memory: a byte of a request may be a value of 24.
fn row_bytes(row: &[Value]) -> usize {
    // The vector twice: that of the rows grows by doubling.
    let values = size_of_val(row) + row.iter().map(Value::heap_bytes).sum::<usize>();
    2 * size_of::<Vec<Value>>() + values
}

fn row(r: &mut Reader<'_>, columns: &[(TypeInfo, bool)]) -> TdsResult<Vec<Value>> {
    let mut row = Vec::with_capacity(columns.len());
    for (info, _) in columns.iter().filter(|(_, default)| !default) {
        row.push(info.decode_value(r)?);
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::encode_value;
    use crate::typeinfo::{WireCollation, encode_type};
    use crate::writer::WireWriter;
    use types::SqlType;

    fn sent() -> Vec<u8> {
        let mut out = vec![wire::TVP];
        ["", "dbo", "ids"].iter().for_each(|s| out.put_b_varchar(s));
        out.put_u16(2);
        for (flags, sql) in [(1, SqlType::Int), (DEFAULT.0, SqlType::varchar(5))] {
            out.put_u32(0);
            out.put_u16(flags);
            encode_type(sql, WireCollation::SQL_LATIN1_CI_AS, &mut out);
            out.put_b_varchar("");
        }
        out.extend_from_slice(&[ORDER_UNIQUE, 1, 0, 1, 0, 1, END]);
        for n in 0..2 {
            out.put_u8(ROW);
            encode_value(SqlType::Int, WireCollation::NONE, &Value::Int(n), &mut out)
                .expect("an int");
        }
        out.put_u8(END);
        out
    }

    /// A table is read whole; cut anywhere it is an error, never a panic.
    #[test]
    fn a_table_gives_its_rows_and_a_cut_one_an_error() {
        let bytes = sent();
        let table = TableParameter::decode(&mut Reader::new(&bytes)).expect("a whole table");
        assert_eq!((&*table.schema, &*table.type_name), ("dbo", "ids"));
        assert_eq!(table.columns.iter().map(|c| c.1).collect::<Vec<_>>(), [false, true]);
        assert_eq!(table.rows, [[Value::Int(0)], [Value::Int(1)]]);
        for end in 1..bytes.len() {
            assert!(TableParameter::decode(&mut Reader::new(&bytes[..end])).is_err(), "{end}");
        }
    }

    /// NULL for a table has neither columns nor rows.
    #[test]
    fn null_is_an_empty_table() {
        let bytes = [wire::TVP, 0, 0, 0, 0xFF, 0xFF, END, END];
        let table = TableParameter::decode(&mut Reader::new(&bytes)).expect("NULL");
        assert!(table.columns.is_empty() && table.rows.is_empty());
    }
}
