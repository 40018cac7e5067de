//! `sys.fn_dblog(start, end)`: the records of the current database's log, decoded from the written
//! bytes, in SQL Server's columns (`columns.rs`).
//!
//! NULL means the record where recovery would begin now, or the last record. The function uses the
//! memory of one log block, however much it reads; a cell is written when it is read.

use super::cells::Cells;
use super::columns::{CELLS, COLUMNS, Entry};
use super::cursor::{Span, Walk};
use super::units::{Unit, units};
use super::{lsn, own};
use crate::stream::Stream;
use crate::view::System;
use access::{LockPlan, PageHint, RowCursor, ScanRange, SourceSize, TableSource};
use base::{AllocUnitId, SqlResult};
use database::Database;
use page::Field;
use std::collections::HashMap;
use std::sync::Arc;
use types::{SqlType, Value};
use wal::{RecordDescription, RecordView, RedoTable};
use work::Work;

pub(crate) const STREAM: Stream = Stream {
    name: "fn_dblog",
    parameters: &[("@start", SqlType::nvarchar(25)), ("@end", SqlType::nvarchar(25))],
    columns: &COLUMNS,
    open,
};

/// The assumed length of a record, for the estimate of the number of records.
const RECORD_BYTES_GUESSED: u64 = 80;

struct Source {
    database: Arc<Database>,
    span: Span,
    names: Arc<Names>,
}

/// The names that describe records.
struct Names {
    units: HashMap<AllocUnitId, Unit>,
    redo: Arc<RedoTable>,
}

fn open(system: &System<'_>, arguments: &[Value]) -> SqlResult<Arc<dyn TableSource>> {
    let (from, to) = (lsn::argument(arguments.first())?, lsn::argument(arguments.get(1))?);
    let names = Names { units: units(system)?, redo: database::redo_table() };
    let (database, span) = (system.here()?, Span { from, to });
    Ok(Arc::new(Source { database, span, names: Arc::new(names) }))
}

/// The estimated number of rows, if each takes this many bytes of the log.
pub(crate) fn size_of(database: &Database, bytes: u64) -> SourceSize {
    SourceSize { rows: database.log().usage().used_bytes / bytes, pages: 0 }
}

impl Source {
    fn cursor(&self) -> SqlResult<Box<dyn RowCursor>> {
        let (names, walk) = (Arc::clone(&self.names), Walk::new(&self.database, self.span)?);
        Ok(Box::new(Cursor { names, walk, cells: Cells::new(CELLS.len()) }))
    }
}

impl TableSource for Source {
    fn scan(
        &self,
        _: &mut Work,
        _: &ScanRange<'_>,
        _: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        self.cursor()
    }

    fn stream(&self) -> SqlResult<Option<Box<dyn RowCursor>>> {
        self.cursor().map(Some)
    }

    fn size(&self) -> SourceSize {
        size_of(&self.database, RECORD_BYTES_GUESSED)
    }
}

struct Cursor {
    names: Arc<Names>,
    walk: Walk,
    cells: Cells,
}

impl Cursor {
    fn described<'r>(&self, record: &RecordView<'r>) -> RecordDescription<'r> {
        match self.names.redo.handler(record.kind()) {
            Some(handler) => handler.describe(record),
            None => own::describe(record),
        }
    }

    fn explained(&self, record: &RecordView<'_>) -> String {
        let handler = self.names.redo.handler(record.kind());
        handler.map(|h| h.explain(record)).unwrap_or_default()
    }
}

impl RowCursor for Cursor {
    fn next(&mut self, work: &mut Work) -> SqlResult<bool> {
        self.cells.clear();
        self.walk.next_record(work.owner().waiter())
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let Some(show) = CELLS[column].1 else { return Ok(CELLS[column].0.stored()) };
        Ok(self.cells.field(column, |out| {
            let record = self.walk.record();
            let entry = Entry {
                described: self.described(&record),
                explain: &|| self.explained(&record),
                reserved: self.walk.reserved(),
                unit: self.names.units.get(&record.alloc_unit()),
                record,
            };
            show(&entry, out)
        }))
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, _: &mut Work) {}

    fn rewind(&mut self, _: &mut Work, _: &ScanRange<'_>) -> SqlResult<()> {
        self.cells.clear();
        self.walk.rewind()
    }
}
