//! Facts for the optimizer: sizes from the host, and parameter values from the call that compiles.
//!
//! Parameters are sniffed, as in SQL Server: a plan is chosen for the values of the call that makes
//! it. Variables of a batch are not sniffed, except under RECOMPILE, where the plan serves only
//! this run.

use crate::host::Host;
use crate::host::configuration::Setting;
use crate::host::process::Process;
use crate::program::compilation::Compilation;
use crate::program::steps::Program;
use crate::tables::private::PrivateTable;
use base::{DatabaseId, HobtId, ObjectId};
use catalog::DatabaseOptions;
use plan::{CAPTURES, QueryHints, VariableId};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::Value;
use types::datetime::{Dialect, Moment};

/// The values that are known when a plan is made.
#[derive(Clone, Copy)]
pub(crate) struct SniffedValues<'s> {
    pub(crate) program: &'s Program,
    /// Empty if the plan is only shown, not run.
    pub(crate) values: &'s [Value],
    /// Table variables that have been used so far; `None` if the plan is only shown.
    pub(crate) tables: Option<&'s [Option<Arc<PrivateTable>>]>,
}

/// Larger values are neither kept with a plan nor shown beside it.
const SHOWN_MAX: usize = 8192;

/// Whether a variable's value may be shown beside a plan.
pub(crate) fn is_shown(value: &Value) -> bool {
    value.heap_bytes() <= SHOWN_MAX
}

/// The facts of one compilation.
pub(crate) struct PlanFacts<'s> {
    pub(crate) host: &'s dyn Host,
    pub(crate) sniffed: SniffedValues<'s>,
    /// Whether the plan serves only one run.
    pub(crate) once: bool,
    pub(crate) dialect: Dialect,
    /// The options of the database in whose context it is made.
    pub(crate) options: DatabaseOptions,
    /// The compilation: what cancels it, and the account of its memory.
    pub(crate) watch: &'s Compilation<'s>,
}

impl PlanFacts<'_> {
    /// The values that are assumed for the program's variables under these hints.
    pub(crate) fn taken(&self, hints: &QueryHints) -> Vec<(VariableId, Value)> {
        let taken = |id: VariableId| match hints.optimize_for.iter().find(|(v, _)| *v == id) {
            Some((_, said)) => said.clone(),
            None if hints.unknown => None,
            None => optimize::Facts::value(self, id),
        };
        // The values of other variables are unknown.
        let program = self.sniffed.program;
        let count = if self.once { program.variables.len() } else { program.parameters.len() };
        let known = (0..count as u32).map(VariableId);
        let said = hints.optimize_for.iter().map(|(v, _)| *v);
        let ids: BTreeSet<VariableId> = known.chain(said).collect();
        ids.into_iter().filter_map(|id| Some((id, taken(id).filter(is_shown)?))).collect()
    }
}

/// The workers that a statement may use in a database with these options.
pub(crate) fn parallelism(host: &dyn Host, options: &DatabaseOptions) -> optimize::Parallelism {
    let Some(workers) = host.grant().workers else { return optimize::Parallelism::NONE };
    let processors = workers.processors();
    let workers = degree_max(host, options, processors);
    let threshold = host.configuration().in_use(Setting::CostThreshold);
    let serial_reason = match (workers, processors) {
        (1, 1) => Some(optimize::SERIAL_BY_PROCESSORS),
        (1, _) => Some(optimize::SERIAL_BY_DEGREE),
        _ => None,
    };
    optimize::Parallelism { workers, threshold: f64::from(threshold), serial_reason }
}

/// The degree of a statement that does not name one: the database's MAXDOP, or the server's. 0
/// means one worker for each processor.
fn degree_max(host: &dyn Process, options: &DatabaseOptions, processors: usize) -> usize {
    let server = host.configuration().in_use(Setting::MaxDegree);
    let here = i32::from(options.max_degree);
    let degree = if here != 0 { here } else { server };
    usize::try_from(degree).ok().filter(|&n| n != 0).map_or(processors, |n| n.min(processors))
}

impl optimize::Facts for PlanFacts<'_> {
    fn size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size> {
        let Some((number, position)) = hobt.table_variable() else {
            return self.host.hobt_size(database, hobt);
        };
        if number >= CAPTURES {
            return None;
        }
        // As in SQL Server since 2019: the number of rows when a statement first runs.
        let made = self.sniffed.tables?.get(usize::from(number)).and_then(Option::as_deref);
        let size = made.and_then(|m| m.size(position));
        Some(size.unwrap_or(optimize::Size { rows: 0.0, pages: 1.0 }))
    }

    fn value(&self, variable: VariableId) -> Option<Value> {
        let at = variable.0 as usize;
        let parameter =
            at < self.sniffed.program.parameters.len() && self.options.parameter_sniffing;
        self.sniffed.values.get(at).filter(|_| parameter || self.once).cloned()
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn now(&self) -> Option<Moment> {
        Some(crate::session::state::now())
    }

    fn modifications(&self, database: DatabaseId, table: ObjectId, column: i32) -> Option<u64> {
        self.host.statistics_terms(database).map(|t| t.modifications.of(table, column))
    }

    fn watch(&self) -> Option<&dyn plan::Watch> {
        Some(self.watch)
    }

    fn parallelism(&self) -> optimize::Parallelism {
        parallelism(self.host, &self.options)
    }

    fn memory(&self) -> optimize::Memory {
        self.host.plan_memory()
    }
}
