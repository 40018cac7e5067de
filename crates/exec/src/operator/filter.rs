//! Filter and startup filter.

use super::{Node, Operator};
use crate::expr::Cond;
use crate::join::JoinFilter;
use crate::run::Run;
use base::SqlResult;
use plan::Predicate;

/// Rows for which a predicate is true.
pub(crate) struct Filter {
    input: Node,
    predicate: Cond,
}

impl Filter {
    pub(crate) fn new(input: Node, predicate: &Predicate) -> SqlResult<Filter> {
        Ok(Filter { input, predicate: Cond::new(predicate)? })
    }
}

impl Operator for Filter {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.input.next(run)? {
            if self.predicate.holds(run)? {
                return Ok(true);
            }
            run.tick()?;
        }
        Ok(false)
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.input.set_filter(join, filter)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.input.rewind(run)
    }

    fn close(&mut self) {
        self.input.close();
    }
}

/// All rows of the input if a predicate is true when the operator is opened, else none.
pub(crate) struct StartupFilter {
    input: Node,
    predicate: Cond,
    passes: bool,
}

impl StartupFilter {
    pub(crate) fn new(input: Node, predicate: &Predicate) -> SqlResult<StartupFilter> {
        Ok(StartupFilter { input, predicate: Cond::new(predicate)?, passes: false })
    }
}

impl Operator for StartupFilter {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.passes = self.predicate.holds(run)?;
        if self.passes { self.input.open(run) } else { Ok(()) }
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.passes { self.input.next(run) } else { Ok(false) }
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.passes { self.input.rewind(run) } else { Ok(()) }
    }

    fn close(&mut self) {
        self.input.close();
    }
}
