//! `sys.dm_db_log_blocks(start, end)`, our own view: the log's blocks, so that the rows of
//! `fn_dblog` can be compared with the written bytes. Header, records and padding belong to the
//! block.

use super::cells::{Cells, put_big, put_int, put_text};
use super::cursor::{Span, Walk};
use super::lsn;
use crate::column::{Column, col, number};
use crate::stream::Stream;
use crate::view::System;
use access::{LockPlan, PageHint, RowCursor, ScanRange, SourceSize, TableSource};
use base::SqlResult;
use database::Database;
use page::Field;
use std::sync::Arc;
use types::{SqlType, Value};
use work::Work;

const HEADER_BYTES: i64 = 32;

const COLUMNS: [Column; 6] = [
    col("block_lsn", SqlType::nvarchar(23)),
    col("block_bytes", SqlType::BigInt),
    number("header_bytes", SqlType::BigInt, HEADER_BYTES, "A block's header."),
    col("record_bytes", SqlType::BigInt),
    col("padding_bytes", SqlType::BigInt),
    col("record_count", SqlType::Int),
];

pub(crate) const STREAM: Stream = Stream {
    name: "dm_db_log_blocks",
    parameters: &[("@start", SqlType::nvarchar(25)), ("@end", SqlType::nvarchar(25))],
    columns: &COLUMNS,
    open,
};

struct Source {
    database: Arc<Database>,
    span: Span,
}

fn open(system: &System<'_>, arguments: &[Value]) -> SqlResult<Arc<dyn TableSource>> {
    let (from, to) = (lsn::argument(arguments.first())?, lsn::argument(arguments.get(1))?);
    Ok(Arc::new(Source { database: system.here()?, span: Span { from, to } }))
}

impl Source {
    fn cursor(&self) -> SqlResult<Box<dyn RowCursor>> {
        let walk = Walk::new(&self.database, self.span)?;
        Ok(Box::new(Cursor { walk, cells: Cells::new(COLUMNS.len()) }))
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
        super::dblog::size_of(&self.database, 4096)
    }
}

struct Cursor {
    walk: Walk,
    cells: Cells,
}

impl RowCursor for Cursor {
    fn next(&mut self, work: &mut Work) -> SqlResult<bool> {
        self.cells.clear();
        self.walk.next_block(work.owner().waiter())
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let b = self.walk.block();
        debug_assert_eq!(b.header_bytes as i64, HEADER_BYTES, "as it is declared");
        let padding = b.bytes - b.header_bytes - b.record_bytes;
        let big = |out: &mut Vec<u8>, n: usize| put_big(out, Some(n as i64));
        Ok(self.cells.field(column, |out| match column {
            0 => put_text(out, &b.lsn.as_hex()),
            1 => big(out, b.bytes),
            2 => big(out, b.header_bytes),
            3 => big(out, b.record_bytes),
            4 => big(out, padding),
            _ => put_int(out, Some(b.records as i32)),
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
