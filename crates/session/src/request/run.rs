//! The loop that runs a program's steps and handles errors.
//!
//! Invariants
//!  1. An error goes to the innermost TRY of its own program, else to one of a caller, else to the
//!     client. It is reported once.
//!  2. When a program ends, the errors that its CATCH blocks held are forgotten.

use crate::answer::failure::{Failure, Reach};
use crate::answer::output::{Output, plain_done};
use crate::answer::result_sets;
use crate::answer::result_sets::DeclaredSets;
use crate::answer::sink::{Command, Completion, DoneScope};
use crate::program::cursor_step::CursorStep;
use crate::program::steps::{Execute, Program, Source, Step, StepIndex, StepKind};
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::registry::SessionCommand;
use crate::session::settings::Switches;
use crate::session::state::State;
use base::{SqlError, messages};
use exec::Outcome;
use os::values;
use plan::Statement;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The continuation after a step.
pub(crate) enum Flow {
    Next,
    To(StepIndex),
    /// To a step with this number of CATCH blocks around it.
    Leave(StepIndex, usize),
    /// With the status that RETURN gives.
    Return(Option<i32>),
}

/// Where a statement's rows go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultTarget {
    /// To the client.
    Rows,
    /// SELECT `@v` = …
    ToVariables,
    /// There are no rows, only a count.
    Nothing,
}

/// The status of a procedure that returns none: 0, or 10 minus the highest severity of its errors,
/// including those it has caught.
pub(crate) fn unsaid_status(worst: u8) -> i32 {
    (10 - i32::from(worst)).min(0)
}

impl Session {
    /// Runs a program from its first step. Returns its status.
    pub(crate) fn run_program(
        &mut self,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        let entry = Arc::clone(&act.program);
        let called = self.state.nesting.level > 0;
        self.state.entry.enter_program(Arc::clone(&entry), called);
        let result = self.run_steps(&entry.value, act, out, scope);
        if called {
            self.state.entry.leave_program();
        }
        result
    }

    fn run_steps(
        &mut self,
        program: &Program,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        if let Some(form) = self.state.settings.showplan
            && !crate::showplan::describe::sets_showplan(program)
        {
            return self.show_program(form, program, out, scope);
        }
        let around = std::mem::take(&mut self.flow.worst);
        let result = self.run_each(program, act, out, scope);
        self.flow.worst = around;
        result
    }

    fn run_each(
        &mut self,
        program: &Program,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        let base = self.state.nesting.caught.len();
        let (mut at, last) = (0, self.flow.last);
        while let Some(step) = program.steps.get(at) {
            self.settle_commit();
            self.flow.last = last && at + 1 == program.steps.len() && may_be_last(&step.kind);
            let looked = self.work.owner().waiter().look(self.work.is_active());
            let flow = match looked {
                // Otherwise a loop would continue forever and produce only this error.
                Ok(()) if values::is_used_up() => {
                    let mut failure = Failure::from(values::exhausted());
                    failure.reach = Reach::Batch;
                    Err(failure)
                }
                Ok(()) => {
                    let _statement = values::statement();
                    self.step(at, step, act, out, scope)
                }
                Err(why) => Err(Failure::from(SqlError::from(why))),
            };
            match flow {
                Ok(Flow::Next) => at += 1,
                Ok(Flow::To(to)) => at = to,
                Ok(Flow::Leave(to, depth)) => {
                    self.state.nesting.caught.truncate(base + depth);
                    at = to;
                }
                Ok(Flow::Return(status)) => {
                    self.state.nesting.caught.truncate(base);
                    return Ok(status.unwrap_or_else(|| unsaid_status(self.flow.worst)));
                }
                Err(failure) => match self.recover(failure, program, at, base, out, scope) {
                    Ok(to) => at = to,
                    Err(failure) => {
                        self.state.nesting.caught.truncate(base);
                        return Err(failure);
                    }
                },
            }
        }
        self.state.nesting.caught.truncate(base);
        Ok(unsaid_status(self.flow.worst))
    }

    /// Handles an error of a step: returns where the program goes on, or the error for its caller.
    fn recover(
        &mut self,
        failure: Failure,
        program: &Program,
        at: StepIndex,
        base: usize,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<StepIndex, Failure> {
        let step = &program.steps[at];
        if failure.told || failure.reach == Reach::Request {
            return Err(failure);
        }
        let mut failure = failure.map(|e| {
            let e = e.at_line(step.span.line);
            match &program.procedure {
                Some(name) => e.in_procedure(name),
                None => e,
            }
        });
        self.flow.worst = self.flow.worst.max(failure.severity());
        let here = program
            .handler(at)
            .filter(|_| failure.reach == Reach::Statement || failure.reach == Reach::Batch);
        self.settle_transaction(&mut failure, here.is_some() || self.flow.tries > 0)?;
        self.state.last.error = failure.error.number();
        self.state.entry.last_error.store(failure.error.number(), Relaxed);
        self.state.last.rows = 0;
        if let Some(handler) = here {
            let warnings = failure.error.earlier().iter().filter(|m| m.is_warning());
            warnings.for_each(|m| out.message(m));
            self.end_caught(step, program, &failure, out, scope);
            self.state.nesting.caught.truncate(base + handler.depth);
            self.state.nesting.caught.push(failure.error.clone().without_warnings());
            return Ok(handler.catch);
        }
        if self.flow.tries > 0 && failure.reach < Reach::Request {
            // For the caller it is an ordinary error of the calling statement.
            if failure.reach == Reach::Scope {
                failure.reach = Reach::Statement;
            }
            return Err(failure);
        }
        out.message(&failure.error);
        let alone = failure.reach == Reach::Statement && !failure.of_binding;
        let changes = alone && is_change_step(&step.kind, program);
        if changes || (!failure.of_binding && alters_rows(&step.kind, &failure)) {
            out.message(
                &SqlError::new(messages::STATEMENT_TERMINATED, &[]).at_line(step.span.line),
            );
        }
        let command = command_of(&step.kind, program);
        if failure.reach > Reach::Statement
            || out.open_rows().is_some()
            || self.state.tells_ends(scope)
        {
            out.done(Completion { command, error: true, ..self.state.done(scope) });
        }
        failure.told = true;
        match failure.reach {
            Reach::Statement => Ok(match step.kind {
                StepKind::Branch { otherwise, .. } => otherwise,
                _ => at + 1,
            }),
            Reach::Scope | Reach::Batch | Reach::Request | Reach::Connection => Err(failure),
        }
    }

    /// A statement that failed in TRY has a count as well: of the rows that were sent, or none.
    fn end_caught(
        &mut self,
        step: &Step,
        program: &Program,
        failure: &Failure,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) {
        let alone = failure.reach == Reach::Statement && !failure.of_binding;
        let counts = !self.state.settings.is_on(Switches::NOCOUNT);
        if let Some(n) = out.open_rows() {
            let rows = counts.then_some(n);
            out.done(Completion { command: Command::Select, rows, ..self.state.done(scope) });
        } else if alone && counts && is_change_step(&step.kind, program) {
            out.done(Completion { rows: Some(0), ..self.state.done(scope) });
        }
    }

    /// Applies an error to the open transaction: no effect, doom, or rollback.
    pub(crate) fn settle_transaction(
        &mut self,
        failure: &mut Failure,
        caught: bool,
    ) -> Result<(), Failure> {
        let abort = self.state.settings.is_on(Switches::XACT_ABORT);
        if caught && failure.error.class().dooms_caught {
            failure.dooms = true;
        }
        if abort && (caught || !failure.spares_transaction) {
            failure.dooms = true;
            if !caught {
                failure.reach = failure.reach.max(Reach::Batch);
            }
        }
        if failure.reach == Reach::Connection {
            return Ok(self.roll_back_work()?);
        }
        if !failure.dooms || self.state.transaction.count == 0 {
            return Ok(());
        }
        if caught {
            self.doom();
            Ok(())
        } else {
            Ok(self.roll_back_work()?)
        }
    }

    /// The end of a statement that sends no rows and no count. Within a trigger whose statement has
    /// sent rows it sends nothing, because the DONE of these rows is still to come.
    pub(crate) fn end_plainly(&self, command: Command, out: &mut Output<'_>, scope: DoneScope) {
        if out.open_rows().is_none() && self.state.tells_ends(scope) {
            out.done(Completion { command, ..self.state.done(scope) });
        }
    }

    fn step(
        &mut self,
        at: StepIndex,
        step: &Step,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<Flow, Failure> {
        self.state.now.set(None);
        if let Some(flow) = self.state.passes_by(step) {
            return Ok(flow);
        }
        if self.shows_format(step) {
            return self.show_format(step, act, out, scope).map(|()| Flow::Next);
        }
        let flow = match &step.kind {
            StepKind::Run(place) => {
                self.state.note(step, doing_of(act, *place));
                // Triggers run within it, so this program can catch their errors.
                let within_try = u32::from(act.program.value.handler(at).is_some());
                self.flow.tries += within_try;
                let ran = self.run_step(*place, act, out, scope);
                self.flow.tries -= within_try;
                ran?;
                return self.show_what_ran(*place, step, act, out, scope).map(|()| Flow::Next);
            }
            StepKind::Assign { .. } => {
                return self.assign(step, act, out, scope).map(|()| Flow::Next);
            }
            StepKind::Branch { place, otherwise } => {
                let goes_on = self.is_true(act, *place)?;
                self.show_what_ran(*place, step, act, out, scope)?;
                if goes_on { Flow::Next } else { Flow::To(*otherwise) }
            }
            StepKind::Jump { to, depth } => return Ok(Flow::Leave(*to, *depth)),
            StepKind::LeaveCatch => {
                self.state.nesting.caught.pop();
                return Ok(Flow::Next);
            }
            StepKind::Return(place) => {
                let status = match place {
                    Some(place) => Some(self.value(act, *place)?.as_i64().unwrap_or(0) as i32),
                    None => None,
                };
                Flow::Return(status)
            }
            StepKind::SelectInto(_)
            | StepKind::InsertExecute(_)
            | StepKind::Cursor(_)
            | StepKind::Execute(_) => {
                return self.compound_step(at, step, act, out, scope).map(|()| Flow::Next);
            }
            _ => {
                let within_try = self.flow.tries > 0 || act.program.value.handler(at).is_some();
                match self.simple_step(step, act, out, scope) {
                    // TRY cannot catch this error, and the language does not change.
                    Err(e) if within_try && is_unknown_language(&e.error) => {}
                    other => other?,
                }
                self.end_plainly(command_of(&step.kind, &act.program.value), out, scope);
                return Ok(Flow::Next);
            }
        };
        self.state.last.rows = 0;
        self.state.last.error = 0;
        Ok(flow)
    }

    /// SET `@v` = …, or a DECLARE with a value.
    fn assign(
        &mut self,
        step: &Step,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let StepKind::Assign { variable, place, declares } = step.kind else { return Ok(()) };
        self.assign_value(act, place, variable)?;
        self.state.last.rows = 1;
        self.state.last.error = 0;
        if !declares {
            self.end_plainly(Command::Set, out, scope);
        }
        self.show_what_ran(place, step, act, out, scope)
    }

    /// Runs a step that runs others, or several plans.
    fn compound_step(
        &mut self,
        at: StepIndex,
        step: &Step,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        match &step.kind {
            StepKind::SelectInto(place) => {
                self.state.note(step, SessionCommand::Select);
                self.select_into(*place, act, out, scope)?;
                self.show_what_ran(*place, step, act, out, scope)
            }
            StepKind::InsertExecute(it) => {
                self.state.note(step, SessionCommand::Insert);
                let at_try = act.program.value.handler(at).is_some();
                self.insert_execute(it, act, at_try, out, scope)
            }
            StepKind::Cursor(it) => {
                self.state.note(step, SessionCommand::Other);
                let at_try = u32::from(act.program.value.handler(at).is_some());
                self.flow.tries += at_try;
                let done = self.cursor_step(it, act, out, scope);
                self.flow.tries -= at_try;
                done?;
                if let Some(command) = it.ends_with() {
                    self.end_plainly(command, out, scope);
                }
                Ok(())
            }
            StepKind::Execute(it) => {
                self.state.note(step, SessionCommand::Execute);
                let at_try = act.program.value.handler(at).is_some();
                self.execute(it, act, at_try, out, scope)
            }
            _ => Ok(()),
        }
    }

    /// Whether a step is shown, not run: under FMTONLY everything except SET; in a text that is
    /// described, SET as well.
    fn shows_format(&self, step: &Step) -> bool {
        let sets = matches!(step.kind, StepKind::SetOption(..));
        self.flow.describing || self.state.settings.format_only && !sets
    }

    /// FMTONLY: sends the columns of every query in the text, and in what it executes, in all
    /// branches. Nothing runs.
    fn show_format(
        &mut self,
        step: &Step,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let place = match &step.kind {
            StepKind::Run(place) => place,
            StepKind::Execute(it) => return self.show_executed(it, act, out, scope),
            _ => return Ok(()),
        };
        let ready = self.ready(act, *place)?;
        if !ready.columns.is_empty() {
            out.columns(&ready.columns)?;
            let counts = !self.state.settings.is_on(Switches::NOCOUNT);
            let rows = counts.then_some(0);
            out.done(Completion { command: Command::Select, rows, ..self.state.done(scope) });
        }
        Ok(())
    }

    /// The same for an EXECUTE. A module is not entered again from within itself.
    fn show_executed(
        &mut self,
        it: &Execute,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        if let Some(sets) = &it.result_sets {
            return self.tell_declared(sets, out, scope);
        }
        let Some(module) = self.has_format(&it.what, self.origin(act)) else { return Ok(()) };
        if module.is_some_and(|m| self.flow.formatted.contains(&m)) {
            return Ok(());
        }
        self.flow.formatted.extend(module);
        let result = self.execute(it, act, false, out, scope);
        if module.is_some() {
            self.flow.formatted.pop();
        }
        result
    }

    /// WITH RESULT SETS gives the columns, so the executed program is not examined.
    fn tell_declared(
        &mut self,
        sets: &DeclaredSets,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        for columns in result_sets::told(sets, self.state.own_collation()) {
            out.columns(&columns)?;
            out.done(Completion { command: Command::Select, ..self.state.done(scope) });
        }
        Ok(())
    }

    /// Makes the table, and then fills it: two transactions, unless the user's is open. If filling
    /// fails, the empty table stays.
    fn select_into(
        &mut self,
        place: usize,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let table = self.table_to_be(act, place).map_err(Failure::of_table_to_be)?;
        let program = Arc::clone(&act.program);
        if let Source::Into(statement) = &program.value.places[place].source {
            let made = self.define(statement, Some(&table), act, out, scope);
            made.map_err(|mut failure| {
                failure.of_binding = true;
                failure
            })?;
        }
        self.run_step(place, act, out, scope)
    }

    pub(crate) fn run_step(
        &mut self,
        place: usize,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let began = self.state.began();
        let (outcome, meter) = self.run_statement(act, place, out)?;
        let ready = act.ready[place].as_ref().expect("it has just run");
        let fired = ready.plan.header.fires.first().filter(|f| f.instead_of);
        let command = match &ready.plan.statement {
            Statement::Merge(m) if m.captured && is_update(place, act) => Command::Update,
            Statement::Insert(_) if fired.is_some_and(|f| f.event == 4) => Command::Delete,
            Statement::Insert(_) if is_into(place, act) => Command::SelectInto,
            Statement::Query(_) | Statement::Assign(_) => Command::Select,
            Statement::Insert(_) => Command::Insert,
            Statement::Update(_) => Command::Update,
            Statement::Delete(_) => Command::Delete,
            Statement::Merge(_) => Command::Merge,
            Statement::Scalar(_) | Statement::Condition(_) => Command::Other,
        };
        let sends = match &ready.plan.statement {
            Statement::Assign(_) => ResultTarget::ToVariables,
            statement if statement.result_columns().is_some() => ResultTarget::Rows,
            _ => ResultTarget::Nothing,
        };
        self.state.last.error = 0;
        self.state.last.rows = outcome.rows_affected;
        self.state.entry.row_count.store(outcome.rows_affected, Relaxed);
        self.count_run(act, place, &meter, outcome.rows_affected);
        self.state.note_changes(act, place, outcome.rows_affected);
        self.finish_statement(outcome, command, sends, out, scope);
        let ready = act.ready[place].as_ref().expect("it has just run");
        self.tell_statistics(ready, began, out);
        Ok(())
    }

    pub(crate) fn finish_statement(
        &mut self,
        outcome: Outcome,
        command: Command,
        sends: ResultTarget,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) {
        if outcome.identity.is_some() {
            self.state.identity.scope = outcome.identity;
            self.state.identity.last = outcome.identity;
        }
        if outcome.nulls_eliminated && self.state.settings.is_on(Switches::ANSI_WARNINGS) {
            out.message(&SqlError::new(messages::NULL_ELIMINATED, &[]));
        }
        if outcome.duplicates_ignored {
            out.message(&SqlError::new(messages::DUPLICATE_IGNORED, &[]));
        }
        let counts = !self.state.settings.is_on(Switches::NOCOUNT);
        let rows = counts.then_some(outcome.rows_affected);
        let done = Completion { command, rows, ..self.state.done(scope) };
        let ends = match sends {
            ResultTarget::Rows => true,
            // As in `end_plainly`.
            ResultTarget::ToVariables => out.open_rows().is_none() && self.state.tells_ends(scope),
            ResultTarget::Nothing => self.state.tells_ends(scope),
        };
        if ends {
            out.done(done);
        }
    }
}

impl State {
    /// Whether statements without rows send a DONE: within procedures not under NOCOUNT.
    pub(crate) fn tells_ends(&self, scope: DoneScope) -> bool {
        scope != DoneScope::InProcedure || !self.settings.is_on(Switches::NOCOUNT)
    }

    /// A DONE without count.
    pub(crate) fn done(&self, scope: DoneScope) -> Completion {
        Completion { in_transaction: self.transaction.count > 0, ..plain_done(scope) }
    }

    /// Where a step that does not run continues. Under NOEXEC and PARSEONLY only statements run
    /// that may turn these off.
    fn passes_by(&self, step: &Step) -> Option<Flow> {
        let settings = &self.settings;
        match step.kind {
            _ if !settings.no_exec && !settings.parse_only => None,
            StepKind::SetOption(..) | StepKind::Jump { .. } => None,
            StepKind::Branch { otherwise, .. } => Some(Flow::To(otherwise)),
            _ => Some(Flow::Next),
        }
    }

    /// Records for the views which statement runs.
    pub(crate) fn note(&self, step: &Step, doing: SessionCommand) {
        let entry = &self.entry;
        entry.set_doing(doing);
        entry.statement_start.store(step.span.start, Relaxed);
        entry.statement_end.store(step.span.end, Relaxed);
    }
}

/// Whether a commit at the end of such a step is the last thing that it does.
fn may_be_last(kind: &StepKind) -> bool {
    matches!(kind, StepKind::Run(_) | StepKind::Transaction(..) | StepKind::Execute(_))
}

/// Whether an error comes from rows that a definition was changing.
fn alters_rows(kind: &StepKind, failure: &Failure) -> bool {
    let of_rows = [
        messages::NULL_NOT_ALLOWED,
        messages::STRING_TRUNCATED,
        messages::ARITHMETIC_OVERFLOW_VALUE,
        messages::ARITHMETIC_OVERFLOW_CONVERT,
        messages::DIVIDE_BY_ZERO,
    ];
    let duplicate = |e: &SqlError| e.number() == messages::CREATE_INDEX_DUPLICATE.number;
    let number = failure.error.number();
    duplicate(&failure.error)
        || failure.error.earlier().iter().any(duplicate)
        || (matches!(kind, StepKind::Definition(_)) && of_rows.iter().any(|m| m.number == number))
}

/// Whether a place's text is an UPDATE, whatever its plan is.
fn is_update(place: usize, act: &Activation) -> bool {
    let source = &act.program.value.places[place].source;
    matches!(source, Source::Statement(s) if matches!(s.kind, tsql::ast::StatementKind::Update(_)))
}

/// Whether a place's text is a SELECT … INTO.
fn is_into(place: usize, act: &Activation) -> bool {
    matches!(act.program.value.places[place].source, Source::Into(_))
}

/// The only error of a statement that TRY does not catch.
fn is_unknown_language(e: &SqlError) -> bool {
    e.number() == messages::LANGUAGE_UNKNOWN.number
}

/// The command of a step's DONE.
fn command_of(kind: &StepKind, program: &Program) -> Command {
    use tsql::ast::{SetOptionValue as V, StatementKind as K, TransactionVerb as T};
    match kind {
        StepKind::Run(place) => match &program.places[*place].source {
            Source::Statement(s) => match s.kind {
                K::Insert(_) => Command::Insert,
                K::Update(_) => Command::Update,
                K::Delete(_) => Command::Delete,
                K::Merge(_) => Command::Merge,
                _ => Command::Select,
            },
            _ => Command::Select,
        },
        StepKind::SelectInto(_) => Command::SelectInto,
        StepKind::InsertExecute(_) => Command::Insert,
        StepKind::Assign { .. } | StepKind::SetIsolation(_) => Command::Set,
        StepKind::Execute(_) => Command::Execute,
        StepKind::Print(_) | StepKind::RaiseError(_) => Command::Message,
        StepKind::Transaction(it, _) => match it.verb {
            T::Begin | T::BeginDistributed => Command::Begin,
            T::Commit => Command::Commit,
            T::Rollback => Command::Rollback,
            T::Save => Command::Other,
        },
        StepKind::SetOption(it, _) => match it.value {
            V::On => Command::SetOn,
            V::Off => Command::SetOff,
            V::Expr(_) | V::Word(_) => Command::Set,
        },
        StepKind::SetIdentityInsert { on: true, .. } => Command::SetOn,
        StepKind::SetIdentityInsert { on: false, .. } => Command::SetOff,
        StepKind::Shutdown { .. } => Command::Shutdown,
        StepKind::Definition(s) => Command::Define(crate::request::command::command(&s.kind)),
        _ => Command::Other,
    }
}

fn is_change_step(kind: &StepKind, program: &Program) -> bool {
    use tsql::ast::StatementKind as K;
    let place = match kind {
        StepKind::Run(place) => place,
        StepKind::Cursor(it) => match &**it {
            CursorStep::Change { place, .. } => place,
            _ => return false,
        },
        _ => return matches!(kind, StepKind::SelectInto(_) | StepKind::InsertExecute(_)),
    };
    match &program.places[*place].source {
        crate::program::steps::Source::Statement(s) => {
            matches!(s.kind, K::Insert(_) | K::Update(_) | K::Delete(_) | K::Merge(_))
        }
        _ => false,
    }
}

fn doing_of(act: &Activation, place: usize) -> SessionCommand {
    use tsql::ast::StatementKind as K;
    match &act.program.value.places[place].source {
        crate::program::steps::Source::Statement(s) => match s.kind {
            K::Insert(_) => SessionCommand::Insert,
            K::Update(_) => SessionCommand::Update,
            K::Delete(_) => SessionCommand::Delete,
            _ => SessionCommand::Select,
        },
        _ => SessionCommand::Select,
    }
}
