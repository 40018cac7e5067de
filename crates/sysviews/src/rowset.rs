//! `Rowset`: rows of a view as a source, encoded once.

use crate::view::Column;
use access::{LockPlan, PageHint, RowCursor, ScanRange, SourceSize, TableSource};
use base::SqlResult;
use page::Field;
use types::{Value, encode_storage};
use work::Work;

/// The rows of a view, taken at one moment.
pub(crate) struct Rowset {
    bytes: Vec<u8>,
    /// Per row and column: where its bytes end, and whether it is NULL.
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
        for row in rows {
            assert_eq!(row.len(), columns.len(), "a row has the view's columns");
            for (value, (_, sql_type, _)) in row.iter().zip(columns) {
                if !value.is_null() {
                    encode_storage(value, *sql_type, &mut set.bytes);
                }
                let end = u32::try_from(set.bytes.len()).expect("a view is smaller than 4 GB");
                set.ends.push((end, value.is_null()));
            }
        }
        set
    }
}

struct RowsetCursor<'a> {
    set: &'a Rowset,
    /// The row it stands on, from 1.
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
