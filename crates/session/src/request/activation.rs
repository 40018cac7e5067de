//! An activation: a program that one session runs, with its variables and executors.
//!
//! A session keeps its most recent activations, so that a statement that runs again allocates
//! nothing. This serves the body of a loop as well as a prepared statement of the next request.

use crate::answer::sink::ResultColumn;
use crate::cursors::cursor::SharedCursor;
use crate::program::steps::Program;
use crate::showplan::running::RunningStatement;
use crate::tables::private::PrivateTable;
use base::{DatabaseId, ObjectId};
use exec::Executor;
use plan::PhysicalPlan;
use plancache::Entry;
use std::sync::Arc;
use types::Value;

/// The most idle activations that are kept. Few, because 500 idle sessions must be cheap.
const IDLE_MAX: usize = 8;

/// A place that is ready to run.
pub(crate) struct ReadyPlace {
    pub(crate) plan: Arc<PhysicalPlan>,
    pub(crate) executor: Executor,
    /// The `Definitions::definitions_epoch` at which the plan was found current.
    pub(crate) epoch: u64,
    /// The `State::names_version` at which it was.
    pub(crate) names_version: u64,
    /// The database in which its names were resolved.
    pub(crate) database: DatabaseId,
    /// The numbers of the table variables that it names.
    pub(crate) private: Vec<u16>,
    /// The table that it changes.
    pub(crate) changed: Option<ChangedTable>,
    /// The result columns of a query.
    pub(crate) columns: Vec<ResultColumn>,
    /// How other sessions see it run; `None` if it is not a statement.
    pub(crate) running: Option<Arc<RunningStatement>>,
    /// Whether the figures of its runs are kept: LAST_QUERY_PLAN_STATS.
    pub(crate) keeps_last: bool,
}

/// A program that one session runs.
pub(crate) struct Activation {
    pub(crate) program: Arc<Entry<Program>>,
    pub(crate) variables: Vec<Value>,
    pub(crate) ready: Vec<Option<Box<ReadyPlace>>>,
    /// The tables of table variables, by number, as far as they were used.
    pub(crate) tables: Vec<Option<Arc<PrivateTable>>>,
    /// Rows captured for triggers, while the statement that fires them runs.
    pub(crate) captures: Vec<Option<Arc<PrivateTable>>>,
    /// Cursors that parameters return, each with its parameter's number.
    pub(crate) returned: Vec<(usize, SharedCursor)>,
}

/// Idle activations, the most recent one last.
#[derive(Default)]
pub(crate) struct Activations(Vec<Activation>);

impl Activations {
    /// An activation of a program with all variables NULL.
    pub(crate) fn take(&mut self, program: &Arc<Entry<Program>>) -> Activation {
        let found = self.0.iter().rposition(|a| Arc::ptr_eq(&a.program, program));
        match found {
            Some(at) => {
                let mut activation = self.0.remove(at);
                activation.variables.fill(Value::Null);
                activation
            }
            None => {
                let places = program.value.places.len();
                Activation {
                    program: Arc::clone(program),
                    variables: vec![Value::Null; program.value.variables.len()],
                    ready: std::iter::repeat_with(|| None).take(places).collect(),
                    tables: Vec::new(),
                    captures: Vec::new(),
                    returned: Vec::new(),
                }
            }
        }
    }

    pub(crate) fn give_back(&mut self, mut activation: Activation) {
        activation.returned.clear();
        debug_assert!(activation.tables.is_empty(), "what has ended has no tables");
        // No later call finds a program that is not kept.
        if activation.program.value.recompile || activation.program.is_gone() {
            return;
        }
        // An idle session does not keep large values.
        activation.variables.fill(Value::Null);
        if self.0.len() == IDLE_MAX {
            self.0.remove(0);
        }
        self.0.push(activation);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The table that a place changes, for the counters of modifications.
#[derive(Clone, Debug)]
pub(crate) struct ChangedTable {
    pub(crate) database: DatabaseId,
    pub(crate) table: ObjectId,
    /// The ids of assigned columns; `None` if rows are inserted or deleted.
    pub(crate) columns: Option<Box<[i32]>>,
}
