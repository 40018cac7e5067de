//! Virtual scan: rows of a system view or function, or of a function of the user.
//!
//! The source is made when opened and its rows are taken over at once: a view is a snapshot, and
//! no cursor over one outlives the call that made it. Where nothing it depends on has changed the
//! rows are kept.

use crate::expr::Expr;
use crate::operator::Operator;
use crate::reader::Reader;
use crate::rows::RowBuffer;
use crate::run::Run;
use access::{LockPlan, ScanRange, TableSource};
use base::{DatabaseId, ObjectId, SqlResult};
use plan::UserFunction;
use std::sync::Arc;
use types::Value;

/// A scan of a system view or function.
pub(crate) struct VirtualScan {
    pub(crate) id: usize,
    pub(crate) database: DatabaseId,
    pub(crate) object: ObjectId,
    pub(crate) arguments: Vec<Expr>,
    pub(crate) reader: Reader,
    pub(crate) rows: RowBuffer,
    pub(crate) filled: bool,
}

impl VirtualScan {
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
        callout.rows(function, arguments, &mut run.lent_work())
    }
}

impl Operator for VirtualScan {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.filled = false;
        self.rows.clear(run);
        let evaluated = self.arguments.iter().map(|x| x.eval(run));
        let mut arguments = evaluated.collect::<SqlResult<Vec<Value>>>()?;
        let source = self.source(run, &mut arguments)?;
        let locks = LockPlan::read(access::Isolation::ReadUncommitted);
        let mut cursor = source.scan(run.work, &ScanRange::default(), &locks)?;
        while cursor.next(run.work)? {
            run.tick()?;
            if self.reader.read_from(run, cursor.as_ref())? {
                self.rows.push(run)?;
            }
        }
        run.counts.of(self.id).spilled(self.rows.spilled_bytes());
        self.filled = true;
        self.rows.rewind()
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.rows.next(run)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.filled { self.rows.rewind() } else { self.open(run) }
    }

    fn close(&mut self) {
        self.filled = false;
        self.rows.drop_rows();
    }
}
