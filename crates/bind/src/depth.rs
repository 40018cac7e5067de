//! How deep the place at hand is in the statement, and what binding has taken: invariants 4 and 5
//! of the crate.

use base::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_LINKS_MAX};
use base::{SqlError, SqlResult, messages};
use plan::{Toll, Watch};

/// What a level of an expression or a query takes, about.
const LEVEL_BYTES: usize = 256;

/// Levels and links around the place at hand.
pub(crate) struct Depth<'a> {
    levels: usize,
    /// Operators of chains.
    links: usize,
    toll: Toll<'a>,
}

impl<'a> Depth<'a> {
    /// The top of a statement.
    pub(crate) fn new(watch: Option<&'a dyn Watch>) -> Self {
        Depth { levels: 0, links: 0, toll: Toll::new(watch) }
    }

    /// Some levels deeper, or error 191.
    pub(crate) fn descend(&mut self, levels: usize) -> SqlResult<()> {
        if self.levels + levels > EXPRESSION_DEPTH_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.toll.pay(LEVEL_BYTES)?;
        self.levels += levels;
        Ok(())
    }

    /// Back from as many levels.
    pub(crate) fn ascend(&mut self, levels: usize) {
        self.levels -= levels;
    }

    /// Some operators of a chain further, or error 191.
    pub(crate) fn link(&mut self, links: usize) -> SqlResult<()> {
        if self.links + links > EXPRESSION_LINKS_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.links += links;
        Ok(())
    }

    /// Back from as many operators.
    pub(crate) fn unlink(&mut self, links: usize) {
        self.links -= links;
    }

    /// Charges for some bytes of the plan.
    pub(crate) fn pay(&mut self, bytes: usize) -> SqlResult<()> {
        self.toll.pay(bytes)
    }
}
