//! What a session keeps between function calls: programs that it has found, idle activations, and
//! tables. `caller.rs` and `tables.rs` have the rules.

use crate::program::steps::Program;
use crate::request::activation::Activations;
use crate::tables::pool::TablePool;
use base::SqlResult;
use plan::UserFunction;
use plancache::Entry;
use std::sync::Arc;
use work::Work;

/// A function whose program was found at an epoch of definitions.
pub(crate) struct KnownFunction {
    pub(super) function: UserFunction,
    pub(super) epoch: u64,
    pub(super) entry: Arc<Entry<Program>>,
}

/// What a session keeps between calls.
#[derive(Default)]
pub(crate) struct Functions {
    pub(super) known: Vec<KnownFunction>,
    pub(super) idle: Activations,
    pub(crate) tables: FunctionTables,
}

impl Functions {
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.idle.clear();
    }
}

/// The tables of functions' table variables, and the units of work that write them.
#[derive(Default)]
pub(crate) struct FunctionTables {
    pub(crate) pool: TablePool,
    /// The units of work that no call uses now.
    pub(super) works: Vec<Work>,
}

impl FunctionTables {
    /// The request is over.
    pub(crate) fn rest(&mut self) {
        self.works.truncate(WORKS_IDLE_MAX);
        self.works.iter_mut().for_each(|work| work.rest());
    }

    /// Rolls back what calls that panicked have left open.
    pub(crate) fn roll_back(&mut self) -> SqlResult<()> {
        for work in self.works.iter_mut().filter(|work| work.is_active()) {
            work.roll_back().map_err(|e| e.into_sql("tempdb"))?;
        }
        Ok(())
    }
}

/// How many units of work are kept between requests.
pub(crate) const WORKS_IDLE_MAX: usize = 1;
