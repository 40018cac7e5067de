//! The rows of a bulk load: COLMETADATA, ROW or NBCROW tokens, DONE ([MS-TDS] 2.2.6.1).
//!
//! They are decoded one by one from what has come of the message: what is not all here is read
//! again from its beginning when more is.
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
pub struct BulkReader {
    columns: Vec<Column<'static>>,
    infos: Vec<TypeInfo>,
}

/// What stands at the beginning of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkRow {
    /// A row of so many bytes.
    Row(usize),
    /// The end of the load.
    End,
    /// The beginning of something.
    More,
}

impl BulkReader {
    /// Reads the columns; gives the number of their bytes.
    ///
    /// # Errors
    /// What is wrong with them; a stream that does not begin with them; `Truncated`.
    pub fn begin(payload: &[u8]) -> TdsResult<(BulkReader, usize)> {
        let mut r = Reader::new(payload);
        let malformed = TdsError::Malformed { field: "COLMETADATA", offset: 0 };
        if r.u8()? != kind::COLMETADATA {
            return Err(malformed);
        }
        let (columns, infos) = decode_columns(&mut r)?.ok_or(malformed)?;
        Ok((BulkReader { columns, infos }, r.offset()))
    }

    /// The columns of the rows.
    pub fn columns(&self) -> &[Column<'static>] {
        &self.columns
    }

    /// The values of the row that some bytes begin with, as many as there are columns. `whole` says
    /// that no more will come.
    ///
    /// # Errors
    /// What is wrong with the bytes: `Parameter` names the column of a value that is none.
    pub fn next_row(&self, bytes: &[u8], whole: bool, row: &mut [Value]) -> TdsResult<BulkRow> {
        let mut r = Reader::new(bytes);
        if bytes.is_empty() && whole {
            return Ok(BulkRow::End);
        }
        match self.read_row(&mut r, whole, row) {
            Ok(true) => Ok(BulkRow::Row(r.offset())),
            Ok(false) => Ok(BulkRow::End),
            Err(TdsError::Truncated { .. }) if !whole => Ok(BulkRow::More),
            Err(e) => Err(e),
        }
    }

    fn read_row(&self, r: &mut Reader<'_>, whole: bool, row: &mut [Value]) -> TdsResult<bool> {
        let bitmap = match r.u8()? {
            kind::ROW => &[][..],
            kind::NBCROW => r.take(self.infos.len().div_ceil(8))?,
            kind::DONE => {
                r.take(DONE_BYTES)?;
                if !r.is_empty() {
                    let offset = r.offset();
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
                false => info.decode_value(r).map_err(|e| self.of_column(i, e, r, whole))?,
            };
        }
        Ok(true)
    }

    fn of_column(&self, column: usize, e: TdsError, r: &Reader<'_>, whole: bool) -> TdsError {
        let fault = match e {
            TdsError::Value { fault } => fault,
            // A length that reaches beyond a message that is whole.
            TdsError::Truncated { .. } if whole && r.left() > 0 => ValueFault::Length(0),
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
    use crate::token::{DoneKind, DoneStatus, DoneToken};
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
        DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
        out
    }

    fn read(bytes: &[u8]) -> TdsResult<Vec<Vec<Value>>> {
        let (reader, mut at) = BulkReader::begin(bytes)?;
        let mut rows = Vec::new();
        let mut row = vec![Value::Null; reader.columns().len()];
        while let BulkRow::Row(length) = reader.next_row(&bytes[at..], true, &mut row)? {
            at += length;
            rows.push(row.clone());
        }
        Ok(rows)
    }

    /// However a stream is cut into pieces, its rows come: what is not all here is asked for again.
    #[test]
    fn a_stream_that_comes_in_pieces_gives_its_rows() {
        let bytes = stream();
        let (reader, from) = BulkReader::begin(&bytes).expect("columns");
        assert!((0..from).all(|end| {
            matches!(BulkReader::begin(&bytes[..end]), Err(TdsError::Truncated { .. }))
        }));
        let mut row = vec![Value::Null; 2];
        let (mut at, mut rows, mut asked) = (from, 0, 0);
        for end in from..=bytes.len() {
            loop {
                match reader.next_row(&bytes[at..end], false, &mut row).expect("sound bytes") {
                    BulkRow::Row(length) => {
                        at += length;
                        rows += 1;
                    }
                    BulkRow::More => {
                        asked += 1;
                        break;
                    }
                    BulkRow::End => {
                        assert_eq!((rows, end), (4, bytes.len()), "the end is at the end");
                        break;
                    }
                }
            }
        }
        assert_eq!(asked, bytes.len() - from, "each byte but the last leaves something open");
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
