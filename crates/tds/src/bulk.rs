//! The rows of a bulk load: COLMETADATA, ROW or NBCROW tokens, DONE ([MS-TDS] 2.2.6.1).
//!
//! They are decoded one by one where they lie, in a message that the server has assembled whole: a
//! load costs the bytes of its message; one beyond the limit for a request is refused.
//!
//! Invariants
//!  1. The stream ends with its DONE, or, as FreeTDS sends it, with its message behind a row; one
//!     that ends within a row was cut off.
//!  2. What is malformed is told with the column it is in.

use crate::error::{TdsError, TdsResult, ValueFault};
use crate::reader::Reader;
use crate::rowset::{Column, decode_columns};
use crate::token::kind;
use crate::typeinfo::TypeInfo;
use types::Value;

/// DONE behind its token byte.
const DONE_BYTES: usize = 12;

/// Reads the payload of a bulk load.
#[derive(Debug)]
pub struct BulkReader<'a> {
    r: Reader<'a>,
    columns: Vec<Column<'static>>,
    infos: Vec<TypeInfo>,
    ended: bool,
}

impl<'a> BulkReader<'a> {
    /// Reads the columns.
    ///
    /// # Errors
    /// What is wrong with them; a stream that does not begin with them.
    pub fn new(payload: &'a [u8]) -> TdsResult<BulkReader<'a>> {
        let mut r = Reader::new(payload);
        let malformed = TdsError::Malformed { field: "COLMETADATA", offset: 0 };
        if r.u8()? != kind::COLMETADATA {
            return Err(malformed);
        }
        let (columns, infos) = decode_columns(&mut r)?.ok_or(malformed)?;
        Ok(BulkReader { r, columns, infos, ended: false })
    }

    /// The columns of the rows.
    pub fn columns(&self) -> &[Column<'static>] {
        &self.columns
    }

    /// The next row's values, as many as there are columns; false behind the last.
    ///
    /// # Errors
    /// What is wrong with the bytes: `Parameter` names the column of a value that is none.
    pub fn next_row(&mut self, row: &mut [Value]) -> TdsResult<bool> {
        if self.ended || self.r.is_empty() {
            self.ended = true;
            return Ok(false);
        }
        let bitmap = match self.r.u8()? {
            kind::ROW => &[][..],
            kind::NBCROW => self.r.take(self.infos.len().div_ceil(8))?,
            kind::DONE => {
                self.r.take(DONE_BYTES)?;
                self.ended = true;
                if !self.r.is_empty() {
                    let offset = self.r.offset();
                    return Err(TdsError::Malformed { field: "DONE", offset });
                }
                return Ok(false);
            }
            found => return Err(TdsError::Token { found }),
        };
        for (i, (info, value)) in self.infos.iter().zip(row).enumerate() {
            let absent = bitmap.get(i / 8).is_some_and(|b| b & (1 << (i % 8)) != 0);
            *value = match absent {
                true => Value::Null,
                false => info.decode_value(&mut self.r).map_err(|e| self.of_column(i, e))?,
            };
        }
        Ok(true)
    }

    fn of_column(&self, column: usize, e: TdsError) -> TdsError {
        let fault = match e {
            TdsError::Value { fault } => fault,
            // A length that reaches beyond a message that is whole.
            TdsError::Truncated { .. } if self.r.left() > 0 => ValueFault::Length(0),
            other => return other,
        };
        let name = self.columns.get(column).map(|c| c.name.to_string()).unwrap_or_default();
        TdsError::Parameter { ordinal: column + 1, name, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rowset::{ColumnFlags, RowEncoder, encode_columns};
    use crate::token::{Done, DoneKind, DoneStatus};
    use crate::version::TdsVersion;
    use types::SqlType;

    fn stream() -> Vec<u8> {
        let columns = [
            Column::new("a", SqlType::Int, ColumnFlags::NULLABLE),
            Column::new("b", SqlType::varchar(20), ColumnFlags::NULLABLE),
        ];
        let mut out = Vec::new();
        encode_columns(&columns, TdsVersion::V7_4, &mut out);
        let rows = RowEncoder::new(&columns, TdsVersion::V7_4);
        for n in 0..3 {
            let row = [Value::Int(n), Value::varchar("x")];
            rows.encode(&row, &mut out).expect("a row of its columns");
        }
        rows.encode(&[Value::Null, Value::Null], &mut out).expect("a row of its columns");
        Done::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
        out
    }

    fn read(bytes: &[u8]) -> TdsResult<Vec<Vec<Value>>> {
        let mut reader = BulkReader::new(bytes)?;
        let mut rows = Vec::new();
        let mut row = vec![Value::Null; reader.columns().len()];
        while reader.next_row(&mut row)? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    /// Every row of a whole stream is read; one cut within a row or its end, or with more behind
    /// its end, is refused.
    #[test]
    fn a_whole_stream_gives_its_rows_and_a_cut_one_an_error() {
        let bytes = stream();
        // Three rows of a token, an int of five bytes and a string of three; one of a bitmap.
        let done = bytes.len() - 13;
        let boundaries = [done - 2 - 27, done - 2 - 18, done - 2 - 9, done - 2, done];
        let rows = read(&bytes).expect("a whole stream");
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[2], [Value::Int(2), Value::varchar("x")]);
        assert_eq!(rows[3], [Value::Null, Value::Null]);
        for end in 0..bytes.len() {
            let between = boundaries.contains(&end);
            assert_eq!(read(&bytes[..end]).is_ok(), between, "cut at {end}");
        }
        assert!(read(&[bytes, vec![0]].concat()).is_err(), "a byte behind the end");
    }
}
