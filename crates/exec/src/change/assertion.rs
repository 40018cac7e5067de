//! Assertions: conditions that each row of a change must meet. Its CHECK constraints are tested
//! before it is written (547, of a view WITH CHECK OPTION 550), its foreign keys once it is (547).
//!
//! A change computes its new rows itself. So its assertions are not an operator over rows, as
//! [`Assert`](crate::operator::Assert) is, but a stage of the change. Plans show both in the same
//! way.

use crate::expr::Cond;
use crate::run::Run;
use base::SqlResult;
use plan::Predicate;

/// A condition on the rows of a change.
pub(crate) struct Assertion {
    condition: Cond,
    /// A row for which the condition is unknown is refused too.
    certain: bool,
}

impl Assertion {
    pub(crate) fn new(predicate: &Predicate, certain: bool) -> SqlResult<Assertion> {
        Ok(Assertion { condition: Cond::new(predicate)?, certain })
    }

    /// Whether the row at hand may pass.
    #[inline]
    pub(crate) fn passes(&self, run: &mut Run<'_>) -> SqlResult<bool> {
        let truth = self.condition.eval(run)?;
        Ok(truth.unwrap_or(!self.certain))
    }
}
