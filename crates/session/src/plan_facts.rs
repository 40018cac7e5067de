//! What the optimizer is told: sizes by the host, values of parameters by the call that compiles.
//!
//! Parameters are sniffed, as SQL Server does: a plan is chosen for the values of the call that
//! makes it. Variables of a batch are not, except under RECOMPILE, where the plan serves this one
//! run.

use crate::host::Host;
use crate::plans::Program;
use base::{DatabaseId, HobtId};
use plan::VariableId;
use types::Value;

/// The values at hand when a plan is made.
#[derive(Clone, Copy)]
pub(crate) struct Sniffed<'s> {
    pub(crate) program: &'s Program,
    /// Empty where nothing runs: a plan is only shown.
    pub(crate) values: &'s [Value],
}

/// See the module.
pub(crate) struct PlanFacts<'s> {
    pub(crate) host: &'s dyn Host,
    pub(crate) sniffed: Sniffed<'s>,
    /// The plan serves one run.
    pub(crate) once: bool,
}

impl optimize::Facts for PlanFacts<'_> {
    fn size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size> {
        self.host.hobt_size(database, hobt)
    }

    fn value(&self, variable: VariableId) -> Option<Value> {
        let at = variable.0 as usize;
        let parameter = at < self.sniffed.program.parameters.len();
        self.sniffed.values.get(at).filter(|_| parameter || self.once).cloned()
    }

    fn parallelism(&self) -> optimize::Parallelism {
        match self.host.grant().workers {
            None => optimize::Parallelism::NONE,
            Some(workers) => optimize::Parallelism {
                workers: workers.degree_max(),
                threshold: f64::from(exec::COST_THRESHOLD),
            },
        }
    }

    fn memory(&self) -> optimize::Memory {
        self.host.plan_memory()
    }
}
