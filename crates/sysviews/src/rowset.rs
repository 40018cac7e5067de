//! `Rowset`: the rows of a view as a source, encoded once.

use crate::column::Column;
use access::{LockPlan, PageHint, RowCursor, ScanRange, SourceSize, TableSource};
use base::SqlResult;
use page::Field;
use types::{Value, encode_storage};
use work::Work;

/// The rows of a view, taken at one moment.
pub(crate) struct Rowset {
    bytes: Vec<u8>,
    /// For each row and column: the end of its bytes, and whether it is NULL.
    ends: Vec<(u32, bool)>,
    columns: usize,
    rows: usize,
}

impl Rowset {
    pub(crate) fn new(columns: &[Column], rows: Vec<Vec<Value>>) -> Rowset {
        let mut set = Rowset {
            bytes: Vec::new(),
            ends: Vec::new(),
            columns: columns.len(),
            rows: rows.len(),
        };
        let written = columns.iter().filter(|c| c.constant.is_none()).count();
        for row in rows {
            assert_eq!(row.len(), written, "a row has the view's written columns");
            let mut cells = row.into_iter();
            for column in columns {
                let value = match column.constant {
                    Some((constant, _)) => constant.value(column.sql_type),
                    None => cells.next().expect("there are as many as were counted"),
                };
                set.push(&value, column);
            }
        }
        set
    }

    fn push(&mut self, value: &Value, column: &Column) {
        debug_assert!(column.nullable || !value.is_null(), "{} is never NULL", column.name);
        if !value.is_null() {
            encode_storage(value, column.sql_type, &mut self.bytes);
        }
        let end = u32::try_from(self.bytes.len()).expect("a view is smaller than 4 GB");
        self.ends.push((end, value.is_null()));
    }
}

struct RowsetCursor<'a> {
    set: &'a Rowset,
    /// The current row, from 1.
    at: usize,
}

impl TableSource for Rowset {
    fn scan(
        &self,
        _work: &mut Work,
        _range: &ScanRange<'_>,
        _locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        Ok(Box::new(RowsetCursor { set: self, at: 0 }))
    }

    fn size(&self) -> SourceSize {
        SourceSize { rows: self.rows as u64, pages: 0 }
    }
}

impl RowCursor for RowsetCursor<'_> {
    fn next(&mut self, _work: &mut Work) -> SqlResult<bool> {
        self.at += 1;
        Ok(self.at <= self.set.rows)
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let i = (self.at - 1) * self.set.columns + column;
        let (end, null) = self.set.ends[i];
        if null {
            return Ok(Field::Null);
        }
        let from = if i == 0 { 0 } else { self.set.ends[i - 1].0 };
        Ok(Field::Inline(&self.set.bytes[from as usize..end as usize]))
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, _work: &mut Work) {}

    fn rewind(&mut self, _work: &mut Work, _range: &ScanRange<'_>) -> SqlResult<()> {
        self.at = 0;
        Ok(())
    }
}
