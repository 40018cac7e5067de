//! SET SHOWPLAN_TEXT, _ALL and _XML: statements are compiled and shown, and nothing is run. SET
//! STATISTICS PROFILE and XML: what ran is shown behind its rows.
//!
//! Plans are made as for running, one by one in the order of the text; the first error ends the
//! batch. IF and WHILE are found again in the jumps that they became (see `compile`).

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::cursors::cursor::CursorStep;
use crate::host::Rowset;
use crate::program::plan_facts::{Sniffed, is_shown};
use crate::program::steps::{At, Executed, PlaceId, Program, Source, Step, StepKind, Visible};
use crate::request::activation::{Activation, Ready};
use crate::session::Session;
use crate::session::settings::{PlanForm, Switches};
use crate::showplan::cached::Views;
use crate::tables::temp::TempTables;
use access::TableReads;
use base::{DatabaseId, HobtId, ObjectId, SqlError, messages};
use catalog::view::{IndexKind, PhysicalColumn, Table};
use exec::{Executor, Progress};
use plan::{PhysicalPlan, VariableId};
use showplan::{
    Branches, Count, Hobt, HobtKind, Memory, PageCounts, Ran, Reads, Row, Statement, Times,
};
use std::sync::Arc;
use tsql::ast::ParsedText;
use types::{SqlType, Value};

/// The name of the one column of a document: clients know it by that.
const DOCUMENT: &str = "Microsoft SQL Server 2005 XML Showplan";

/// Whether a program is nothing but SET SHOWPLAN: it runs while everything else is shown.
pub(crate) fn sets_showplan(program: &Program) -> bool {
    !program.steps.is_empty() && program.steps.iter().all(is_set_showplan)
}

fn is_set_showplan(step: &Step) -> bool {
    match &step.kind {
        StepKind::SetOption(it, _) => it.names.iter().any(|n| n.starts_with("SHOWPLAN_")),
        _ => false,
    }
}

/// 1067 where SET SHOWPLAN is not alone in its batch.
pub(crate) fn not_alone(program: &Program) -> Option<SqlError> {
    let step = program.steps.iter().find(|s| is_set_showplan(s))?;
    let alone =
        program.steps.len() == 1 && program.variables.is_empty() && program.procedure.is_none();
    let e = || SqlError::new(messages::SHOWPLAN_NOT_ALONE, &[]).at_line(step.span.line);
    (!alone).then(e)
}

impl Session {
    /// Shows a program instead of running it.
    pub(crate) fn show_program(
        &mut self,
        form: PlanForm,
        program: &Program,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        let plans = self.plans_of(program)?;
        let mut described = Described::new(program, &plans);
        let statements = described.block(0, program.steps.len());
        let sets = {
            let names = PlanNames { views: &self.state, temp: Some(&self.state.temp), program };
            match form {
                PlanForm::Xml => vec![self.document(&statements, &names)],
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
        (self.state.rows, self.state.error) = (0, 0);
        Ok(0)
    }

    /// The plan of each step that has one.
    fn plans_of(&mut self, program: &Program) -> Result<Vec<Option<Arc<PhysicalPlan>>>, Failure> {
        let mut database = match program.procedure.is_some() {
            true => program.database,
            false => self.state.database,
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
                    Visible { program, count: held.visible, values: &[], deduction: None };
                let sniffed = Sniffed { program, values: &[], tables: None };
                let plan = self.state.bind(held, &visible, database, sniffed).and_then(|plan| {
                    // What could not be run is not shown either.
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
        let options = set_options(self.state.settings.bits());
        let text = showplan::xml(statements, names, &build, &options);
        Rowset {
            columns: vec![(DOCUMENT.to_owned(), SqlType::NVARCHAR_MAX, true)],
            rows: vec![vec![Value::nvarchar(&text)]],
        }
    }

    /// Behind a statement's rows: what it did, when the session asks for that.
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
        let rows = self.state.rows;
        let waits = self.took.waits(ready.executor.workers_waits());
        let variables = unassigned(step, &ready.plan, &act.variables);
        let ran = Ran { took: Some(self.took.last), waits, variables, ..ran(ready, rows) };
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
                sets.push(self.document(std::slice::from_ref(&statement), &names));
            }
        }
        for set in &sets {
            self.send_plan(set, out, scope)?;
        }
        self.state.rows = rows;
        Ok(())
    }
}

/// Whether there is anything to be shown: `SET @v = 1` has no operators.
pub(crate) fn has_operators(plan: &PhysicalPlan) -> bool {
    use plan::Statement as S;
    !matches!(plan.statement, S::Scalar(_) | S::Condition(_)) || !plan.subqueries.is_empty()
}

/// What the variables of a program were that a statement did not assign.
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

/// A statement that ran, or runs.
pub(crate) fn statement_of<'p>(
    program: &'p Program,
    step: &Step,
    plan: &'p PhysicalPlan,
    ran: Ran,
) -> Statement<'p> {
    Statement {
        id: 1,
        text: text_of(program, step),
        kind: kind_of(program, step),
        plan: Some(plan),
        ran: Some(ran),
        branches: matches!(step.kind, StepKind::Branch { .. }).then(Branches::default),
        ..Statement::default()
    }
}

/// What a run that goes on has done; none when it has ended.
pub(crate) fn ran_so_far(progress: &Progress, timed: bool) -> Option<Ran> {
    let threads = progress.now()?;
    let by_thread: Vec<_> =
        threads.iter().map(|t| counts(t.counts(), t.operator_reads(), timed)).collect();
    let mut sum = by_thread.first()?.clone();
    for thread in by_thread.iter().skip(1) {
        sum.iter_mut().zip(thread).for_each(|(sum, of)| sum.add(of));
    }
    let degree = threads.len().saturating_sub(1).max(1);
    let by_thread = if threads.len() > 1 { by_thread } else { Vec::new() };
    Some(Ran { counts: sum, by_thread, degree, ..Ran::default() })
}

/// What the last run of an executor did.
pub(crate) fn ran(ready: &Ready, rows_affected: u64) -> Ran {
    let executor = &ready.executor;
    let timed = executor.is_timed();
    let counts = counts(&executor.counts(), executor.operator_reads(), timed);
    let threads = executor.by_thread();
    let by_thread = threads.map(|t| self::counts(t.counts(), t.operator_reads(), timed)).collect();
    let memory = executor.memory().map(|m| Memory {
        required: m.required_bytes,
        desired: m.ideal_bytes,
        requested: m.requested_bytes,
        granted: m.granted_bytes.unwrap_or(0),
        used_max: m.max_used_bytes,
    });
    Ran { counts, by_thread, degree: executor.degree(), memory, rows_affected, ..Ran::default() }
}

/// What operators did, with what they read by their places.
fn counts<'r>(
    counts: &[exec::OperatorCount],
    reads: impl Iterator<Item = (usize, &'r TableReads)>,
    timed: bool,
) -> Vec<Count> {
    let refused: Vec<u64> = counts.iter().map(|c| c.refused).collect();
    let mut counts: Vec<Count> = counts.iter().map(|c| count(c, timed)).collect();
    for (place, reads) in reads {
        let pages = |p: &work::PageReads| PageCounts {
            logical: p.logical,
            physical: p.physical,
            read_ahead: p.read_ahead,
        };
        if let Some(count) = counts.get_mut(place) {
            let (rows, lob) = (pages(&reads.pages), pages(&reads.lob));
            let TableReads { scans, ghosts, versions, .. } = *reads;
            count.reads = Some(Reads { scans, rows, lob, ghosts, versions });
            count.rows_read = Some(count.rows + refused.get(place).copied().unwrap_or(0));
        }
    }
    counts
}

fn count(c: &exec::OperatorCount, timed: bool) -> Count {
    let times = || Times {
        elapsed_ns: c.elapsed_ns,
        cpu_ns: c.cpu_ns,
        opened_at: c.opened_at,
        called_at: c.called_at,
        first_row_at: c.first_row_at,
        last_row_at: c.last_row_at,
    };
    Count {
        rows: c.rows,
        rebinds: c.rebinds,
        rewinds: c.rewinds,
        ends: c.ends,
        rows_read: None,
        spilled_bytes: c.spilled_bytes,
        reads: None,
        times: timed.then(times),
    }
}

pub(crate) fn set_options(bits: u32) -> Vec<(&'static str, bool)> {
    let all = [
        ("ANSI_NULLS", Switches::ANSI_NULLS),
        ("ANSI_PADDING", Switches::ANSI_PADDING),
        ("ANSI_WARNINGS", Switches::ANSI_WARNINGS),
        ("ARITHABORT", Switches::ARITHABORT),
        ("CONCAT_NULL_YIELDS_NULL", Switches::CONCAT_NULL_YIELDS_NULL),
        ("NUMERIC_ROUNDABORT", Switches::NUMERIC_ROUNDABORT),
        ("QUOTED_IDENTIFIER", Switches::QUOTED_IDENTIFIER),
    ];
    all.map(|(name, switch)| (name, bits & switch.bits() != 0)).to_vec()
}

/// A program's statements as they were nested in its text.
pub(crate) struct Described<'p> {
    program: &'p Program,
    plans: &'p [Option<Arc<PhysicalPlan>>],
    last: u32,
}

impl<'p> Described<'p> {
    /// With the plan of each step that has one.
    pub(crate) fn new(program: &'p Program, plans: &'p [Option<Arc<PhysicalPlan>>]) -> Self {
        Described { program, plans, last: 0 }
    }

    pub(crate) fn block(&mut self, from: At, to: At) -> Vec<Statement<'p>> {
        let mut statements = Vec::new();
        let mut at = from;
        while at < to {
            let step = &self.program.steps[at];
            match step.kind {
                StepKind::Branch { otherwise, .. } => {
                    let mut statement = self.simple(at);
                    let (branches, next) = self.branches(at, otherwise.clamp(at + 1, to), to);
                    statement.branches = Some(branches);
                    statements.push(statement);
                    at = next;
                }
                StepKind::Jump { .. } | StepKind::LeaveCatch => at += 1,
                _ => {
                    statements.push(self.simple(at));
                    at += 1;
                }
            }
        }
        statements
    }

    /// What hangs on a branch, and where its statement ends.
    fn branches(&mut self, at: At, otherwise: At, to: At) -> (Branches<'p>, At) {
        let steps = &self.program.steps;
        let jump = match &steps[otherwise - 1] {
            // It has the place of the IF or WHILE; those of the body have their own.
            Step { kind: StepKind::Jump { to, .. }, span }
                if span.start == steps[at].span.start && otherwise - 1 > at =>
            {
                Some(*to)
            }
            _ => None,
        };
        let body_end = if jump.is_some() { otherwise - 1 } else { otherwise };
        let then = self.block(at + 1, body_end);
        match jump {
            Some(end) if end >= otherwise && end <= to => {
                let otherwise = self.block(otherwise, end);
                (Branches { then, otherwise: Some(otherwise) }, end)
            }
            _ => (Branches { then, otherwise: None }, otherwise),
        }
    }

    pub(crate) fn simple(&mut self, at: At) -> Statement<'p> {
        self.last += 1;
        let step = &self.program.steps[at];
        let database = match &step.kind {
            StepKind::Use(name) => Some(&**name),
            _ => None,
        };
        Statement {
            id: self.last,
            text: text_of(self.program, step),
            kind: kind_of(self.program, step),
            plan: self.plans[at].as_deref().filter(|p| has_operators(p)),
            parameterization: parameterization(self.program),
            database,
            ..Statement::default()
        }
    }
}

/// Whose a program's parameters are: a client's, or made of constants.
fn parameterization(program: &Program) -> Option<u8> {
    let first = program.variables.first().filter(|_| !program.parameters.is_empty())?;
    let made = first.name.starts_with("@1");
    program.procedure.is_none().then_some(if made { 2 } else { 1 })
}

/// A statement's text; of IF and WHILE without what hangs on them.
pub(crate) fn text_of<'p>(program: &'p Program, step: &Step) -> &'p str {
    let text = step.span.of(ParsedText::whole(&program.text));
    let StepKind::Branch { place, .. } = step.kind else { return text.trim() };
    let Source::Condition(condition) = &program.places[place].source else { return text };
    let end = condition.span.end as usize;
    program.text.get(step.span.start as usize..end).unwrap_or(text).trim()
}

/// What a statement is, as StatementType says it.
fn kind_of(program: &Program, step: &Step) -> &'static str {
    use tsql::ast::StatementKind as K;
    match &step.kind {
        StepKind::Run(place) => match &program.places[*place].source {
            Source::Statement(s) => match s.kind {
                K::Insert(_) => "INSERT",
                K::Update(_) => "UPDATE",
                K::Delete(_) => "DELETE",
                K::Merge(_) => "MERGE",
                _ => "SELECT",
            },
            _ => "SELECT",
        },
        StepKind::SelectInto(_) => "SELECT INTO",
        StepKind::Assign { .. } => "ASSIGN",
        StepKind::Branch { .. } => "COND",
        StepKind::Return(_) => "RETURN NONE",
        StepKind::Print(_) => "PRINT",
        StepKind::Throw(_) | StepKind::Rethrow => "THROW",
        StepKind::RaiseError(_) => "RAISERROR",
        StepKind::InsertExecute(_) => "INSERT EXEC",
        StepKind::Cursor(it) => match **it {
            CursorStep::Declare(_) => "DECLARE CURSOR",
            CursorStep::Assign { .. } => "ASSIGN",
            CursorStep::Open(_) => "OPEN CURSOR",
            CursorStep::Fetch { .. } => "FETCH CURSOR",
            CursorStep::Change { .. } => "CHANGE CURRENT ROW",
            CursorStep::Close(_) => "CLOSE CURSOR",
            CursorStep::Deallocate(_) => "DEALLOCATE CURSOR",
        },
        StepKind::Execute(it) => match it.what {
            Executed::Text(_) => "EXECUTE STRING",
            _ => "EXECUTE PROC",
        },
        StepKind::WaitFor { .. } => "WAITFOR",
        StepKind::Transaction(it, _) => match it.verb {
            tsql::ast::TransactionVerb::Commit => "COMMIT TRANSACTION",
            tsql::ast::TransactionVerb::Rollback => "ROLLBACK TRANSACTION",
            tsql::ast::TransactionVerb::Save => "SAVE TRANSACTION",
            _ => "BEGIN TRANSACTION",
        },
        StepKind::SetOption(..) => "SET ON/OFF",
        StepKind::SetIsolation(_) => "SET TRANSACTION ISOLATION LEVEL",
        StepKind::SetIdentityInsert { .. } => "SET IDENTITY_INSERT",
        StepKind::Use(_) => "USE DATABASE",
        StepKind::AnnounceBulk(_) => "INSERT BULK",
        StepKind::Kill(_) => "KILL",
        StepKind::Shutdown { .. } => "SHUTDOWN",
        StepKind::Definition(it) => definition(&it.kind),
        StepKind::Unsupported(what) => what,
        StepKind::Jump { .. } | StepKind::LeaveCatch => "GOTO",
    }
}

fn definition(kind: &tsql::ast::StatementKind) -> &'static str {
    use tsql::ast::StatementKind as K;
    match kind {
        K::CreateDatabase(_) => "CREATE DATABASE",
        K::AlterDatabase(_) => "ALTER DATABASE",
        K::CreateSchema(_) => "CREATE SCHEMA",
        K::CreateTable(_) => "CREATE TABLE",
        K::AlterTable(_) => "ALTER TABLE",
        K::CreateIndex(_) => "CREATE INDEX",
        K::AlterIndex(_) => "ALTER INDEX",
        K::CreateStatistics(_) => "CREATE STATISTICS",
        K::UpdateStatistics(_) => "UPDATE STATISTICS",
        K::Procedure(_) => "CREATE PROC",
        K::View(_) => "CREATE VIEW",
        K::Function(_) => "CREATE FUNCTION",
        K::Trigger(_) => "CREATE TRIGGER",
        K::Drop(_) => "DROP OBJECT",
        K::Truncate(_) => "TRUNCATE TABLE",
        K::Checkpoint(_) => "CHECKPOINT",
        K::Dbcc(_) => "DBCC",
        K::Reconfigure { .. } => "RECONFIGURE",
        // Who reads the name reads the text beside it.
        _ => "DDL",
    }
}

/// Statements with those that hang on their conditions, in the order of the text.
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

/// The statement, then its tree.
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
    // Of the statement as a whole only its rows and cost are told.
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

/// Names for what plans of a program hold by id.
pub(crate) struct PlanNames<'s> {
    pub(crate) views: &'s dyn Views,
    pub(crate) temp: Option<&'s TempTables>,
    pub(crate) program: &'s Program,
}

impl PlanNames<'_> {
    fn table(&self, database: DatabaseId, table: ObjectId) -> Option<Arc<Table>> {
        if let Some(number) = table.table_variable() {
            let variable = self.program.tables.get(usize::from(number));
            return variable.map(|t| Arc::clone(&t.definition));
        }
        let is = |t: &&Arc<Table>| t.database == database && t.object_id == table;
        let temporary = self.temp.and_then(|t| t.iter().find(is).cloned());
        temporary.or_else(|| self.views.view(database)?.table(table))
    }
}

impl showplan::Names for PlanNames<'_> {
    fn database(&self, id: DatabaseId) -> String {
        self.views.view(id).map_or_else(String::new, |v| v.name().to_owned())
    }

    fn hobt(&self, database: DatabaseId, table: ObjectId, hobt: HobtId) -> Hobt {
        let Some(table) = self.table(database, table) else { return Hobt::default() };
        let Some(index) = table.indexes.iter().find(|i| i.hobt == hobt) else {
            return Hobt::default();
        };
        let layout = table.hobt_layout(index);
        let name = |c: &PhysicalColumn| match c {
            PhysicalColumn::Column(n) => table.columns[*n].name.to_string(),
            PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => {
                String::new()
            }
        };
        Hobt {
            kind: match index.kind {
                IndexKind::Heap => HobtKind::Heap,
                IndexKind::Clustered => HobtKind::Clustered,
                IndexKind::Nonclustered => HobtKind::Nonclustered,
            },
            columns: layout.columns.iter().map(name).collect(),
            key: layout.key.iter().map(|k| k.field).collect(),
        }
    }

    fn begins_key(&self, database: DatabaseId, table: ObjectId, column: &str) -> bool {
        let Some(table) = self.table(database, table) else { return false };
        table.indexes.iter().any(|index| {
            let layout = table.hobt_layout(index);
            let first = layout.key.first().and_then(|k| layout.columns.get(k.field));
            matches!(first, Some(PhysicalColumn::Column(n)) if *table.columns[*n].name == *column)
        })
    }

    fn view_columns(&self, database: DatabaseId, view: ObjectId) -> Vec<String> {
        let Some(definitions) = self.views.view(database) else { return Vec::new() };
        let Some(view) = definitions.system().by_id(view) else { return Vec::new() };
        view.columns.iter().map(|c| c.name.to_string()).collect()
    }

    fn variable(&self, id: VariableId) -> String {
        self.program.variables.get(id.0 as usize).map_or_else(String::new, |v| v.name.to_string())
    }

    fn variable_type(&self, id: VariableId) -> Option<SqlType> {
        self.program.variables.get(id.0 as usize).map(|v| v.sql_type)
    }
}
