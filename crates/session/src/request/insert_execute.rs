//! INSERT … EXEC: keeps the result sets of a procedure or a text, and then inserts them.
//!
//! Rows are converted to the columns' types as they come, and kept until the execution has ended
//! (`exec::KeptRows`). Then the INSERT runs as one statement. All of it is one transaction. COMMIT
//! or ROLLBACK within may not end it (3915, 3916: both end the batch and undo all of it).

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{
    ClosedSink, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use crate::program::steps::InsertExecute;
use crate::request::activation::Activation;
use crate::request::run::ResultTarget;
use crate::session::Session;
use crate::session::state::State;
use access::Spill;
use base::{SqlError, SqlResult, messages};
use catalog::view::Column;
use exec::{KeptRows, RowFeed};
use plan::{ColumnSource, PhysicalPlan, ScalarKind, Statement};
use std::sync::Arc;
use types::datetime::Dialect;
use types::{Collation, Fit, SqlType, Value, check_implicit, coerce_for_column};

/// A column that takes values.
struct TargetColumn {
    collation: Collation,
    name: Box<str>,
    sql_type: SqlType,
}

impl Session {
    /// Runs an INSERT … EXEC step.
    pub(crate) fn insert_execute(
        &mut self,
        it: &InsertExecute,
        act: &mut Activation,
        within_try: bool,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        if self.flow.inserts {
            return Err(SqlError::new(messages::INSERT_EXEC_NESTED, &[]).into());
        }
        self.ready(act, it.place)?;
        self.begin_if_implicit();
        let own = self.state.transaction.count == 0;
        if own {
            self.begin_user("INSERT EXEC");
        }
        self.flow.inserts = true;
        let result = self.execute_and_insert(it, act, within_try, out);
        self.flow.inserts = false;
        let outcome = match result {
            Ok(outcome) if own && self.state.transaction.count > 0 => {
                self.end_statement(true, Ok(outcome), None)?
            }
            Err(failure) if own => {
                self.roll_back_work()?;
                return Err(failure);
            }
            other => other?,
        };
        self.state.last.error = 0;
        self.state.last.rows = outcome.rows_affected;
        self.finish_statement(outcome, Command::Insert, ResultTarget::Nothing, out, scope);
        Ok(())
    }

    fn execute_and_insert(
        &mut self,
        it: &InsertExecute,
        act: &mut Activation,
        within_try: bool,
        out: &mut Output<'_>,
    ) -> Result<exec::Outcome, Failure> {
        let plan = Arc::clone(&self.ready(act, it.place)?.plan);
        let first = act.program.value.variables.len();
        let (table, takers) = takers(&plan, first);
        let target = self.state.target_columns(&plan);
        let host = Arc::clone(&self.host);
        let mut collector = Collector {
            rows: KeptRows::default(),
            spill: host.spill(),
            table,
            takers: &takers,
            from: Vec::new(),
            values: Vec::new(),
            messages: Vec::new(),
            error: None,
            dialect: self.state.settings.dialect(),
        };
        let executed = {
            let mut inner = Output::new(&mut collector);
            self.execute(&it.execute, act, within_try, &mut inner, DoneScope::InProcedure)
        };
        collector.messages.iter().for_each(|m| out.message(m));
        if let Some(error) = collector.error {
            return Err(error.into());
        }
        executed?;
        if self.state.target_columns(&plan) != target {
            return Err(SqlError::new(messages::INSERT_EXEC_SCHEMA_CHANGED, &[]).into());
        }
        // An error within may have ended the transaction, and has been reported.
        if self.state.transaction.count == 0 {
            return Ok(exec::Outcome::default());
        }
        let mut feed = Feed { rows: collector.rows, next: 0, first, values: Vec::new() };
        act.variables.resize(first + takers.len(), Value::Null);
        // Triggers run after the execution. They may do what the execution may not.
        self.flow.inserts = false;
        self.flow.tries += u32::from(within_try);
        let result = self.run_fed(act, it.place, &mut feed, out);
        self.flow.tries -= u32::from(within_try);
        act.variables.truncate(first);
        result
    }
}

impl State {
    /// The present columns of an INSERT's table; none for a temporary table or table variable,
    /// which no database view contains.
    fn target_columns(&self, plan: &PhysicalPlan) -> Vec<Column> {
        let Statement::Insert(insert) = &plan.statement else { return Vec::new() };
        let Some(view) = self.view(insert.target.database) else { return Vec::new() };
        view.table(insert.target.object).map_or_else(Vec::new, |t| t.columns.clone())
    }
}

/// The table of an INSERT, and its columns that take the variables after the program's own, in
/// their order.
fn takers(plan: &PhysicalPlan, first: usize) -> (String, Vec<TargetColumn>) {
    let Statement::Insert(insert) = &plan.statement else { return (String::new(), Vec::new()) };
    let mut found = Vec::new();
    for (column, value) in insert.target.columns.iter().zip(&insert.columns) {
        if let ColumnSource::Value(x) = &value.source
            && let ScalarKind::Variable(id) = x.kind
            && id.0 as usize >= first
        {
            found.push((
                id,
                TargetColumn {
                    name: column.name.clone(),
                    sql_type: column.sql_type,
                    collation: column.collation,
                },
            ));
        }
    }
    found.sort_by_key(|(id, _)| *id);
    (insert.target.three_part_name(), found.into_iter().map(|(_, taker)| taker).collect())
}

/// Keeps the rows that an execution sends.
struct Collector<'c> {
    rows: KeptRows,
    spill: &'c dyn Spill,
    /// The table's name for errors.
    table: String,
    takers: &'c [TargetColumn],
    /// The types of the current result set.
    from: Vec<(SqlType, Collation)>,
    values: Vec<Value>,
    messages: Vec<SqlError>,
    /// Why no more rows are taken.
    error: Option<SqlError>,
    /// The dialect of the session.
    dialect: Dialect,
}

impl Collector<'_> {
    fn begin(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        if columns.len() != self.takers.len() {
            return Err(SqlError::new(messages::INSERT_COUNT, &[]).with_state(7));
        }
        self.from = columns.iter().map(|c| (c.sql_type, c.collation)).collect();
        let typed = columns.iter().zip(self.takers).filter(|(from, _)| !from.untyped);
        typed.into_iter().try_for_each(|(from, to)| check_implicit(from.sql_type, to.sql_type))
    }

    fn keep(&mut self, values: &[Value]) -> SqlResult<()> {
        self.values.clear();
        for ((value, (from, source)), to) in values.iter().zip(&self.from).zip(self.takers) {
            let collations = (*source, to.collation);
            let pages = [collations.0.code_page(), collations.1.code_page()];
            let fit = match value.is_null() || (*from == to.sql_type && pages[0] == pages[1]) {
                true => Fit::Fits(value.clone()),
                false => coerce_for_column(value, *from, to.sql_type, self.dialect, collations)?,
            };
            match fit {
                Fit::Fits(value) => self.values.push(value),
                Fit::Truncated(text) => {
                    let args: [&dyn std::fmt::Display; 3] = [&self.table, &to.name, &text];
                    return Err(SqlError::new(messages::STRING_TRUNCATED, &args));
                }
            }
        }
        self.rows.push(self.spill, &self.values)
    }

    fn noted(&mut self, result: SqlResult<()>) -> Result<(), ClosedSink> {
        result.map_err(|e| {
            self.error = Some(e);
            ClosedSink
        })
    }
}

impl ResultSink for Collector<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        let result = self.begin(columns);
        self.noted(result)
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        let result = self.keep(values);
        self.noted(result)
    }

    fn message(&mut self, message: &SqlError) {
        self.messages.push(message.clone());
    }

    fn done(&mut self, _: Completion) {}

    fn return_status(&mut self, _: i32) {}

    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}

    fn environment(&mut self, _: &EnvironmentChange) {}
}

/// Gives the kept rows to the INSERT.
struct Feed {
    rows: KeptRows,
    next: u64,
    first: usize,
    values: Vec<Value>,
}

impl RowFeed for Feed {
    fn next(&mut self, variables: &mut [Value]) -> SqlResult<bool> {
        let into = variables.get_mut(self.first..).unwrap_or_default();
        let found = self.rows.read(self.next, into.len(), &mut self.values)?;
        self.next += 1;
        into.iter_mut().zip(self.values.drain(..)).for_each(|(to, value)| *to = value);
        Ok(found)
    }
}
