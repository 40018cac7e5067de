//! A program's statements as plan documents and plan rows describe them. IF and WHILE are
//! recognized from the jumps that they became (see `program/compile.rs`).

use crate::program::cursor_step::CursorStep;
use crate::program::steps::{ExecuteTarget, Program, Source, Step, StepIndex, StepKind};
use crate::session::settings::Switches;
use access::TableReads;
use base::{SqlError, messages};
use exec::Progress;
use plan::PhysicalPlan;
use showplan::{Branches, Count, PageCounts, Reads, RunFigures, Statement, Times};
use std::sync::Arc;
use tsql::ast::ParsedText;

/// Whether a program contains only SET SHOWPLAN. Such a program runs while everything else is only
/// shown.
pub(crate) fn sets_showplan(program: &Program) -> bool {
    !program.steps.is_empty() && program.steps.iter().all(is_set_showplan)
}

pub(crate) fn is_set_showplan(step: &Step) -> bool {
    match &step.kind {
        StepKind::SetOption(it, _) => it.names.iter().any(|n| n.starts_with("SHOWPLAN_")),
        _ => false,
    }
}

/// Error 1067 if SET SHOWPLAN is not alone in its batch.
pub(crate) fn not_alone(program: &Program) -> Option<SqlError> {
    let step = program.steps.iter().find(|s| is_set_showplan(s))?;
    let alone =
        program.steps.len() == 1 && program.variables.is_empty() && program.procedure.is_none();
    let e = || SqlError::new(messages::SHOWPLAN_NOT_ALONE, &[]).at_line(step.span.line);
    (!alone).then(e)
}

/// Whether a plan has operators to show: `SET @v = 1` has none.
pub(crate) fn has_operators(plan: &PhysicalPlan) -> bool {
    use plan::Statement as S;
    !matches!(plan.statement, S::Scalar(_) | S::Condition(_)) || !plan.subqueries.is_empty()
}

/// A statement that ran or runs.
pub(crate) fn statement_of<'p>(
    program: &'p Program,
    step: &Step,
    plan: &'p PhysicalPlan,
    ran: RunFigures,
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

/// The figures so far of a run that has not ended; `None` if it has ended.
pub(crate) fn ran_so_far(progress: &Progress, timed: bool) -> Option<RunFigures> {
    let threads = progress.now()?;
    let by_thread: Vec<_> =
        threads.iter().map(|t| counts(t.counts(), t.operator_reads(), timed)).collect();
    let mut sum = by_thread.first()?.clone();
    for thread in by_thread.iter().skip(1) {
        sum.iter_mut().zip(thread).for_each(|(sum, of)| sum.add(of));
    }
    let degree = threads.len().saturating_sub(1).max(1);
    let by_thread = if threads.len() > 1 { by_thread } else { Vec::new() };
    Some(RunFigures { counts: sum, by_thread, degree, ..RunFigures::default() })
}

/// The counts of operators, with their reads by place.
pub(crate) fn counts<'r>(
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

pub(crate) fn count(c: &exec::OperatorCount, timed: bool) -> Count {
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

/// A program's statements, nested as in its text.
pub(crate) struct ProgramDescription<'p> {
    program: &'p Program,
    plans: &'p [Option<Arc<PhysicalPlan>>],
    last: u32,
}

impl<'p> ProgramDescription<'p> {
    /// `plans` has the plan of each step that has one.
    pub(crate) fn new(program: &'p Program, plans: &'p [Option<Arc<PhysicalPlan>>]) -> Self {
        ProgramDescription { program, plans, last: 0 }
    }

    pub(crate) fn block(&mut self, from: StepIndex, to: StepIndex) -> Vec<Statement<'p>> {
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

    /// The statements of a branch, and the step where the branch ends.
    fn branches(
        &mut self,
        at: StepIndex,
        otherwise: StepIndex,
        to: StepIndex,
    ) -> (Branches<'p>, StepIndex) {
        let steps = &self.program.steps;
        let jump = match &steps[otherwise - 1] {
            // It has the position of the IF or WHILE; the statements of the body have their own.
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

    pub(crate) fn simple(&mut self, at: StepIndex) -> Statement<'p> {
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

/// Whether a program's parameters come from a client, or from constants.
pub(crate) fn parameterization(program: &Program) -> Option<u8> {
    let first = program.variables.first().filter(|_| !program.parameters.is_empty())?;
    let made = first.name.starts_with("@1");
    program.procedure.is_none().then_some(if made { 2 } else { 1 })
}

/// A statement's text; for IF and WHILE without their bodies.
pub(crate) fn text_of<'p>(program: &'p Program, step: &Step) -> &'p str {
    let text = step.span.of(ParsedText::whole(&program.text));
    let StepKind::Branch { place, .. } = step.kind else { return text.trim() };
    let Source::Condition(condition) = &program.places[place].source else { return text };
    let end = condition.span.end as usize;
    program.text.get(step.span.start as usize..end).unwrap_or(text).trim()
}

/// The kind of a statement, as StatementType shows it.
pub(crate) fn kind_of(program: &Program, step: &Step) -> &'static str {
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
            ExecuteTarget::Text(_) => "EXECUTE STRING",
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

pub(crate) fn definition(kind: &tsql::ast::StatementKind) -> &'static str {
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
        // The statement's text is shown beside the name.
        _ => "DDL",
    }
}
