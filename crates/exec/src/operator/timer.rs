//! Timer: measures the calls of an operator and what is below it.
//!
//! A plan whose times are not wanted is built without it. A call costs two clock readings:
//! README.md has the figures. Processor time is the time in which the thread did not wait.

use super::Operator;
use crate::join::JoinFilter;
use crate::run::{Call, Run};
use base::SqlResult;
use os::clock::monotonic_ns;
use os::wait::waited_ns;

/// An operator with a clock around its calls.
pub(crate) struct Timer {
    id: usize,
    operator: Box<dyn Operator>,
}

impl Timer {
    pub(crate) fn new(id: usize, operator: Box<dyn Operator>) -> Timer {
        Timer { id, operator }
    }

    #[inline]
    fn time<R>(
        &mut self,
        run: &mut Run<'_>,
        kind: impl FnOnce(&R) -> Call,
        call: impl FnOnce(&mut dyn Operator, &mut Run<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let (clock, waited) = (monotonic_ns(), waited_ns());
        let result = call(&mut *self.operator, run)?;
        let now = monotonic_ns();
        let elapsed_ns = now.saturating_sub(clock);
        let cpu_ns = elapsed_ns.saturating_sub(waited_ns().saturating_sub(waited));
        run.counts.of(self.id).timed(kind(&result), now, elapsed_ns, cpu_ns);
        Ok(result)
    }
}

impl Operator for Timer {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.time(run, |()| Call::Open, |o, run| o.open(run))
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let kind = |&more: &bool| if more { Call::Row } else { Call::End };
        self.time(run, kind, |o, run| o.next(run))
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.time(run, |()| Call::Open, |o, run| o.rewind(run))
    }

    fn recheck(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.operator.recheck(run)
    }

    fn close(&mut self) {
        self.operator.close();
    }

    fn release(&mut self, run: &mut Run<'_>) {
        self.operator.release(run);
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.operator.set_filter(join, filter)
    }

    fn known_rows(&self) -> Option<u64> {
        self.operator.known_rows()
    }
}
