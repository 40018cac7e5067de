//! SET SHOWPLAN_TEXT, _ALL and _XML: statements are compiled and shown, and nothing runs. SET
//! STATISTICS PROFILE and XML: the plan and figures of each run follow its rows.
//!
//! Plans are made as for running, one after the other in the order of the text. The first error
//! ends the batch.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::program::plan_facts::{SniffedValues, is_shown};
use crate::program::steps::{PlaceId, Program, Step, StepKind, VisibleVariables};
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::settings::PlanForm;
use crate::session::state::State;
use crate::showplan::describe::{ProgramDescription, has_operators, set_options, statement_of};
use crate::showplan::names::PlanNames;
use crate::showplan::ran::ran;
use base::{SqlError, messages};
use exec::Executor;
use plan::{PhysicalPlan, VariableId};
use showplan::{Row, RunFigures, Statement};
use std::sync::Arc;
use types::{SqlType, Value};

/// The name of the only column of a document: clients recognize the document by it.
const DOCUMENT: &str = "Microsoft SQL Server 2005 XML Showplan";

impl Session {
    /// Shows a program instead of running it.
    pub(crate) fn show_program(
        &mut self,
        form: PlanForm,
        program: &Program,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        let plans = self.state.plans_of(program)?;
        let mut described = ProgramDescription::new(program, &plans);
        let statements = described.block(0, program.steps.len());
        let sets = {
            let names = PlanNames { views: &self.state, temp: Some(&self.state.temp), program };
            match form {
                PlanForm::Xml => vec![self.state.document(&statements, &names)],
                PlanForm::Text => {
                    flat(&statements).into_iter().flat_map(|s| lines_of(s, &names)).collect()
                }
                PlanForm::All => {
                    let rows = |s: &Statement<'_>| all_rows(&showplan::rows(s, &names), false);
                    flat(&statements).into_iter().map(rows).collect()
                }
            }
        };
        for set in &sets {
            self.send_plan(set, out, scope)?;
        }
        (self.state.last.rows, self.state.last.error) = (0, 0);
        Ok(0)
    }

    /// Sends the plan and figures of a run behind its rows, if the session asks for them.
    #[inline]
    pub(crate) fn show_what_ran(
        &mut self,
        place: PlaceId,
        step: &Step,
        act: &Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        match self.state.settings.shows_what_ran() {
            true => self.show_ready(place, step, act, out, scope),
            false => Ok(()),
        }
    }

    #[cold]
    fn show_ready(
        &mut self,
        place: PlaceId,
        step: &Step,
        act: &Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let Some(ready) = act.ready[place].as_deref() else { return Ok(()) };
        if !has_operators(&ready.plan) {
            return Ok(());
        }
        let program = &act.program.value;
        let rows = self.state.last.rows;
        let waits = self.spent.took.waits(ready.executor.workers_waits());
        let variables = unassigned(step, &ready.plan, &act.variables);
        let ran =
            RunFigures { took: Some(self.spent.took.last), waits, variables, ..ran(ready, rows) };
        let statement = statement_of(program, step, &ready.plan, ran);
        let (xml, profile) =
            (self.state.settings.statistics_xml, self.state.settings.statistics_profile);
        let mut sets = Vec::new();
        {
            let names = PlanNames { views: &self.state, temp: Some(&self.state.temp), program };
            if profile {
                sets.push(all_rows(&showplan::rows(&statement, &names), true));
            }
            if xml {
                sets.push(self.state.document(std::slice::from_ref(&statement), &names));
            }
        }
        for set in &sets {
            self.send_plan(set, out, scope)?;
        }
        self.state.last.rows = rows;
        Ok(())
    }
}

impl State {
    /// The plan of each step that has one.
    fn plans_of(&mut self, program: &Program) -> Result<Vec<Option<Arc<PhysicalPlan>>>, Failure> {
        let mut database = match program.procedure.is_some() {
            true => program.database,
            false => self.database.id,
        };
        let mut plans = Vec::with_capacity(program.steps.len());
        for step in &program.steps {
            let place = match &step.kind {
                StepKind::Run(place) | StepKind::Assign { place, .. } => Some(*place),
                StepKind::Branch { place, .. } => Some(*place),
                StepKind::Use(name) => {
                    let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[name]);
                    database = self.host.database_id(name).ok_or_else(unknown)?;
                    None
                }
                _ => None,
            };
            let plan = |place: PlaceId| {
                let held = &program.places[place];
                let visible =
                    VisibleVariables { program, count: held.visible, values: &[], deduction: None };
                let sniffed = SniffedValues { program, values: &[], tables: None };
                let plan = self.bind(held, &visible, database, sniffed).and_then(|plan| {
                    // A plan that cannot run is not shown either.
                    Executor::new(&plan).map(|_| plan)
                });
                plan.map_err(|e| Failure::of_binding(e.at_line(held.line)))
            };
            plans.push(place.map(plan).transpose()?);
        }
        Ok(plans)
    }

    fn document(&self, statements: &[Statement<'_>], names: &PlanNames<'_>) -> Rowset {
        let build = self.host.server_property("PRODUCTVERSION").as_text().unwrap_or_default();
        let options = set_options(self.settings.bits());
        let text = showplan::xml(statements, names, &build, &options);
        Rowset {
            columns: vec![(DOCUMENT.to_owned(), SqlType::NVARCHAR_MAX, true)],
            rows: vec![vec![Value::nvarchar(&text)]],
        }
    }
}

/// The values of a program's variables that a statement did not assign.
fn unassigned(step: &Step, plan: &PhysicalPlan, values: &[Value]) -> Vec<(VariableId, Value)> {
    use plan::Statement as S;
    let mut assigned: Vec<VariableId> = match &plan.statement {
        S::Assign(a) => a.assignments.iter().map(|(id, _)| *id).collect(),
        S::Update(u) => u.assignments.iter().filter_map(|a| Some(a.variable?.0)).collect(),
        _ => Vec::new(),
    };
    if let StepKind::Assign { variable, .. } = step.kind {
        assigned.push(variable);
    }
    let all = values.iter().enumerate().map(|(n, value)| (VariableId(n as u32), value));
    let shown = all.filter(|(id, value)| !assigned.contains(id) && is_shown(value));
    shown.map(|(id, value)| (id, value.clone())).collect()
}

/// Statements with the statements of their branches, in the order of the text.
fn flat<'a, 's>(statements: &'a [Statement<'s>]) -> Vec<&'a Statement<'s>> {
    let mut all = Vec::new();
    for s in statements {
        all.push(s);
        if let Some(branches) = &s.branches {
            all.extend(flat(&branches.then));
            all.extend(branches.otherwise.iter().flat_map(|o| flat(o)));
        }
    }
    all
}

/// The lines of a statement: its text, then its tree.
fn lines_of(statement: &Statement<'_>, names: &PlanNames<'_>) -> Vec<Rowset> {
    let column = ("StmtText".to_owned(), SqlType::NVARCHAR_MAX, true);
    let set = |rows: &[Row]| Rowset {
        columns: vec![column.clone()],
        rows: rows.iter().map(|r| vec![Value::nvarchar(&r.text)]).collect(),
    };
    let rows = showplan::rows(statement, names);
    let (first, tree) = rows.split_at(1.min(rows.len()));
    [first, tree].into_iter().filter(|part| !part.is_empty()).map(set).collect()
}

/// SHOWPLAN_ALL, and with `ran` STATISTICS PROFILE.
fn all_rows(rows: &[Row], ran: bool) -> Rowset {
    let text = SqlType::NVARCHAR_MAX;
    let mut columns = Vec::new();
    if ran {
        columns.extend([("Rows", SqlType::BigInt), ("Executes", SqlType::BigInt)]);
    }
    columns.extend([
        ("StmtText", text),
        ("StmtId", SqlType::Int),
        ("NodeId", SqlType::Int),
        ("Parent", SqlType::Int),
        ("PhysicalOp", SqlType::varchar(30)),
        ("LogicalOp", SqlType::varchar(30)),
        ("Argument", text),
        ("DefinedValues", text),
        ("EstimateRows", SqlType::Real),
        ("EstimateIO", SqlType::Real),
        ("EstimateCPU", SqlType::Real),
        ("AvgRowSize", SqlType::Int),
        ("TotalSubtreeCost", SqlType::Real),
        ("OutputList", text),
        ("Warnings", SqlType::varchar(100)),
        ("Type", SqlType::nvarchar(64)),
        ("Parallel", SqlType::Bit),
        ("EstimateExecutions", SqlType::Real),
    ]);
    Rowset {
        columns: columns.into_iter().map(|(n, t)| (n.to_owned(), t, true)).collect(),
        rows: rows.iter().map(|r| values_of(r, ran)).collect(),
    }
}

fn values_of(row: &Row, ran: bool) -> Vec<Value> {
    let number = |n: u32| Value::Int(i32::try_from(n).unwrap_or(i32::MAX));
    let wide = |n: Option<u64>| {
        n.map_or(Value::Null, |n| Value::BigInt(i64::try_from(n).unwrap_or(i64::MAX)))
    };
    let wide_text = |t: &Option<String>| t.as_deref().map_or(Value::Null, Value::nvarchar);
    let text = |t: Option<&str>| t.map_or(Value::Null, Value::varchar);
    let estimate = |of: fn(&plan::Estimate) -> Value| row.estimate.as_ref().map_or(Value::Null, of);
    // The row of the statement as a whole has only its rows and cost.
    let own = |of| if row.physical.is_some() { estimate(of) } else { Value::Null };
    let mut values = Vec::new();
    if ran {
        values.push(wide(row.count.map(|c| c.rows)));
        values.push(wide(row.count.map(|c| c.executions())));
    }
    values.extend([
        Value::nvarchar(&row.text),
        number(row.statement),
        number(row.node),
        number(row.parent),
        text(row.physical),
        text(row.logical),
        wide_text(&row.argument),
        wide_text(&row.defined),
        estimate(|e| Value::Real(e.rows as f32)),
        own(|e| Value::Real(e.io as f32)),
        own(|e| Value::Real(e.cpu as f32)),
        own(|e| Value::Int(e.row_bytes.ceil() as i32)),
        estimate(|e| Value::Real(e.subtree as f32)),
        wide_text(&row.output),
        text(row.warnings.as_deref()),
        Value::nvarchar(&row.kind),
        Value::Bit(false),
        own(|e| Value::Real(e.executions as f32)),
    ]);
    values
}
