//! An activation: a program being run by one session, with its variables and executors.
//!
//! A session keeps the activations it used last, so that a statement that runs again allocates
//! nothing: neither does the body of a loop nor a prepared statement of the next request.

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

/// How many are kept idle. Few: 500 idle sessions shall be cheap.
const IDLE_MAX: usize = 8;

/// A place that has been made ready to run.
pub(crate) struct ReadyPlace {
    pub(crate) plan: Arc<PhysicalPlan>,
    pub(crate) executor: Executor,
    /// `Definitions::definitions_epoch` at which the plan was found current.
    pub(crate) epoch: u64,
    /// `State::names_version` of it.
    pub(crate) names_version: u64,
    /// The database its names were resolved in.
    pub(crate) database: DatabaseId,
    /// Numbers of the table variables that it names.
    pub(crate) private: Vec<u16>,
    /// What it changes.
    pub(crate) changed: Option<ChangedTable>,
    /// Of a query.
    pub(crate) columns: Vec<ResultColumn>,
    /// How others see it run; none of what is no statement.
    pub(crate) running: Option<Arc<RunningStatement>>,
    /// What its runs did is kept: LAST_QUERY_PLAN_STATS.
    pub(crate) keeps_last: bool,
}

/// See the module.
pub(crate) struct Activation {
    pub(crate) program: Arc<Entry<Program>>,
    pub(crate) variables: Vec<Value>,
    pub(crate) ready: Vec<Option<Box<ReadyPlace>>>,
    /// Of table variables, by number, as far as they were touched.
    pub(crate) tables: Vec<Option<Arc<PrivateTable>>>,
    /// Rows captured for triggers, while a statement that fires them runs.
    pub(crate) captures: Vec<Option<Arc<PrivateTable>>>,
    /// Cursors that parameters hand back, each with its parameter's number.
    pub(crate) returned: Vec<(usize, SharedCursor)>,
}

/// Idle activations, the last used last.
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
        // Nobody finds a program again that is not kept.
        if activation.program.value.recompile || activation.program.is_gone() {
            return;
        }
        // Large values are not kept for an idle session.
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

/// What a place changes, as counters of modifications know it.
#[derive(Clone, Debug)]
pub(crate) struct ChangedTable {
    pub(crate) database: DatabaseId,
    pub(crate) table: ObjectId,
    /// Ids of assigned columns; none where rows come and go.
    pub(crate) columns: Option<Box<[i32]>>,
}
