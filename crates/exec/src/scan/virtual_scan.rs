//! Virtual scan: rows of a system view or function, or of a user's function.
//!
//! The source is made at open, and its rows are copied at once: a view is a snapshot. The rows are
//! kept as long as nothing changes on which they depend. A source whose rows have no bound is read
//! row by row; its rows are kept when they are requested a second time.

use super::reader::Reader;
use crate::expr::Expr;
use crate::memory::RowBuffer;
use crate::operator::Operator;
use crate::run::Run;
use access::{LockPlan, RowCursor, ScanRange, TableSource};
use base::{DatabaseId, ObjectId, SqlResult};
use plan::UserFunction;
use std::sync::Arc;
use types::Value;

/// A scan of a system view or function.
pub(crate) struct VirtualScan {
    id: usize,
    database: DatabaseId,
    object: ObjectId,
    arguments: Vec<Expr>,
    reader: Reader,
    rows: RowBuffer,
    filled: bool,
    /// Of a source without bound, while it is read for the first time.
    stream: Option<Box<dyn RowCursor>>,
}

impl VirtualScan {
    pub(crate) fn new(id: usize, v: &plan::VirtualScan) -> SqlResult<VirtualScan> {
        let reader = Reader::new(&v.columns, None, None, None, v.residual.as_ref())?;
        Ok(VirtualScan {
            id,
            database: v.database,
            object: v.object,
            arguments: Expr::all(&v.arguments)?,
            rows: RowBuffer::new(reader.slots()),
            reader,
            filled: false,
            stream: None,
        })
    }

    /// Objects of the system have negative ids.
    fn source(
        &self,
        run: &mut Run<'_>,
        arguments: &mut [Value],
    ) -> SqlResult<Arc<dyn TableSource>> {
        if self.object.0 < 0 {
            return run.resolver.system_view(self.database, self.object, arguments, run.work);
        }
        let function = UserFunction { database: self.database, object: self.object };
        let callout = run.callout;
        callout.rows(function, arguments, run.work)
    }
}

impl VirtualScan {
    /// Keeps the rows of a cursor.
    fn keep(&mut self, run: &mut Run<'_>, cursor: &mut dyn RowCursor) -> SqlResult<()> {
        while cursor.next(run.work)? {
            run.tick()?;
            if self.reader.read_from(run, cursor)? {
                self.rows.push(run)?;
            }
        }
        run.counts.of(self.id).spilled(self.rows.spilled_bytes());
        self.filled = true;
        self.rows.rewind()
    }
}

impl Operator for VirtualScan {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        (self.filled, self.stream) = (false, None);
        self.rows.clear(run);
        let evaluated = self.arguments.iter().map(|x| x.eval(run));
        let mut arguments = evaluated.collect::<SqlResult<Vec<Value>>>()?;
        let source = self.source(run, &mut arguments)?;
        self.stream = source.stream()?;
        if self.stream.is_some() {
            return Ok(());
        }
        let locks = LockPlan::read(access::Isolation::ReadUncommitted);
        let mut cursor = source.scan(run.work, &ScanRange::default(), &locks)?;
        self.keep(run, cursor.as_mut())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Some(cursor) = &mut self.stream else { return self.rows.next(run) };
        while cursor.next(run.work)? {
            run.tick()?;
            if self.reader.read_from(run, cursor.as_ref())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if let Some(mut cursor) = self.stream.take() {
            cursor.rewind(run.work, &ScanRange::default())?;
            return self.keep(run, cursor.as_mut());
        }
        if self.filled { self.rows.rewind() } else { self.open(run) }
    }

    fn close(&mut self) {
        self.filled = false;
        self.stream = None;
        self.rows.drop_rows();
    }
}
