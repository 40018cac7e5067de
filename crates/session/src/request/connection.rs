//! The requests of a connection: batches, procedure calls, transaction requests and bulk loads; and
//! the state after a bug in one of them.

use crate::answer::failure::{Failure, Reach};
use crate::answer::output::{Output, plain_done};
use crate::answer::sink::{Command, Completion, DoneScope, EnvironmentChange, ResultSink};
use crate::procedures::call::Call;
use crate::request::meter::Sums;
use crate::request::{
    BulkRows, Connection, Procedure, Request, RequestEnd, TransactionIsolation, TransactionRequest,
};
use crate::session::Session;
use crate::session::registry::{Input, SessionCommand};
use crate::session::settings::{SaidOfDates, Settings, Switches};
use access::Isolation;
use base::{SessionId, SqlError, messages};
use os::wait::Waiter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tsql::ast::TransactionVerb;
use work::TraceFlagSet;

impl Session {
    fn batch(&mut self, text: &str, out: &mut Output<'_>) -> Result<(), Failure> {
        let text: Arc<str> = text.into();
        self.state.settings.said = SaidOfDates::default();
        self.state.entry.set_input(Input::batch(Arc::clone(&text)));
        let began = self.state.began();
        let entry = match self.batch_program(&text) {
            Ok(entry) => entry,
            Err(errors) => return Err(self.tell_all(errors, DoneScope::Statement, out)),
        };
        self.tell_compile_time(began, out);
        let mut act = match &entry.value.shell {
            None => self.idle.take(&entry),
            Some(shell) => match self.shell_program(shell) {
                Ok(prepared) => {
                    let mut act = self.idle.take(&prepared);
                    act.variables.clone_from(&shell.values);
                    act
                }
                Err(errors) => return Err(self.tell_all(errors, DoneScope::Statement, out)),
            },
        };
        let result = self.run_program(&mut act, out, DoneScope::Statement);
        self.state.cursors.leave(0);
        self.drop_tables(&mut act);
        self.idle.give_back(act);
        result.map(|_| ())
    }

    /// Reports all errors of a text that does not run.
    pub(crate) fn tell_all(
        &mut self,
        errors: Vec<SqlError>,
        scope: DoneScope,
        out: &mut Output<'_>,
    ) -> Failure {
        let mut errors = errors.into_iter();
        let Some(first) = errors.next() else { return Failure::cancelled() };
        // The client that sent the attention already knows.
        if first.number() == messages::ATTENTION.number {
            return Failure::cancelled();
        }
        let mut last = first.clone();
        let mut failure = Failure::of_binding(first.clone());
        if self.flow.tries == 0 {
            self.settle_text(&mut failure, out);
            out.message(&first);
            for e in errors {
                out.message(&e);
                last = e;
            }
            out.done(Completion { error: true, ..self.state.done(scope) });
        }
        self.state.last.error = last.number();
        failure.told = self.flow.tries == 0;
        // For a caller in TRY it is an ordinary error of the calling statement.
        if !failure.told && failure.reach == Reach::Scope {
            failure.reach = Reach::Statement;
        }
        failure
    }

    /// Under XACT_ABORT an error of binding ends the transaction; an error of parsing does not.
    fn settle_text(&mut self, failure: &mut Failure, out: &mut Output<'_>) {
        if !self.state.settings.is_on(Switches::XACT_ABORT) || failure.spares_transaction {
            return;
        }
        failure.reach = Reach::Batch;
        if let Err(e) = self.roll_back_work() {
            out.message(&e);
        }
    }

    fn call(
        &mut self,
        procedure: Procedure,
        parameters: Vec<crate::request::Parameter>,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let mut call = Call::of_parameters(parameters);
        self.state.settings.said = SaidOfDates::default();
        let result = match &procedure {
            Procedure::Named(name) => {
                self.state.entry.set_input(Input::call(name, call.arguments.len()));
                self.call_named_text(name, &mut call, out)
            }
            Procedure::Numbered(number) => {
                self.state.entry.set_input(call.input_of(*number));
                self.call_numbered(*number, &mut call, out)
            }
        };
        let status = match result {
            Ok(status) => status,
            // The call ended early and its error was reported: it still has a status.
            Err(f) if f.told && f.reach <= Reach::Scope => call.status_of(&f),
            Err(failure) => return Err(self.tell(failure, DoneScope::InProcedure, out)),
        };
        out.return_status(status);
        for argument in call.arguments.iter().filter(|a| a.output) {
            let name = argument.name.as_deref().unwrap_or("");
            out.return_value(name, argument.sql_type, &argument.value);
        }
        Ok(())
    }

    /// Reports a failure that was not reported yet.
    pub(crate) fn tell(
        &mut self,
        mut failure: Failure,
        scope: DoneScope,
        out: &mut Output<'_>,
    ) -> Failure {
        if !failure.told && failure.reach != Reach::Request {
            let error = failure.error.clone().at_line(1);
            self.state.last.error = error.number();
            out.message(&error);
            if scope == DoneScope::Statement {
                out.done(Completion { error: true, ..self.state.done(scope) });
            }
            failure.told = true;
        }
        failure
    }

    fn transaction_request(&mut self, request: TransactionRequest) -> Result<(), Failure> {
        let (verb, name, next) = match request {
            TransactionRequest::Begin { name, isolation } => {
                self.isolate(isolation);
                return self.begin_for_client(&name);
            }
            TransactionRequest::Commit { name, next } => (TransactionVerb::Commit, name, next),
            TransactionRequest::Rollback { name, next } => (TransactionVerb::Rollback, name, next),
            TransactionRequest::Save { name } => (TransactionVerb::Save, name, None),
        };
        self.flow.last &= next.is_none();
        self.transaction(verb, &name, None)?;
        if let Some((isolation, name)) = next {
            self.isolate(isolation);
            self.begin_for_client(&name)?;
        }
        Ok(())
    }

    /// A client ends the transaction that it begins by one request. So it counts once, whatever
    /// IMPLICIT_TRANSACTIONS is.
    fn begin_for_client(&mut self, name: &str) -> Result<(), Failure> {
        match self.state.transaction.count {
            0 => {
                self.begin_user(name);
                Ok(())
            }
            _ => self.transaction(TransactionVerb::Begin, name, None),
        }
    }

    fn isolate(&mut self, isolation: TransactionIsolation) {
        self.state.settings.isolation = match isolation {
            TransactionIsolation::Unchanged => return,
            TransactionIsolation::ReadUncommitted => Isolation::ReadUncommitted,
            TransactionIsolation::ReadCommitted => Isolation::ReadCommitted,
            TransactionIsolation::RepeatableRead => Isolation::RepeatableRead,
            TransactionIsolation::Serializable => Isolation::Serializable,
            TransactionIsolation::Snapshot => Isolation::Snapshot,
        };
        self.apply_settings();
    }

    /// Runs a request. Returns false if the connection must be closed.
    fn request(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        let mut out = Output::new(sink);
        let (scope, more) = match &request {
            Request::Batch(_) | Request::Transaction(_) => (DoneScope::Statement, false),
            Request::Call { more, .. } => (DoneScope::Procedure, *more),
        };
        self.begin_answer();
        self.bulk = None;
        let result = match request {
            Request::Batch(text) => self.batch(&text, &mut out),
            Request::Call { procedure, parameters, .. } => {
                self.call(procedure, parameters, &mut out)
            }
            Request::Transaction(request) => {
                out.is_for(request.command());
                self.transaction_request(request)
            }
        };
        self.hold_if_owing(&mut out);
        self.conclude(result, (scope, more), &mut out)
    }

    fn begin_answer(&mut self) {
        self.spent.run = Sums::default();
        self.flow.tries = 0;
    }

    /// Ends the answer of a request. Returns false if the connection must be closed.
    fn conclude(
        &mut self,
        result: Result<(), Failure>,
        (scope, more): (DoneScope, bool),
        out: &mut Output<'_>,
    ) -> bool {
        self.drop_spare_tables(false);
        let failure = result.err().map(|f| self.tell(f, scope, out));
        let goes_on = match &failure {
            Some(f) if f.reach == Reach::Request => self.end_cancelled(out),
            Some(f) => f.reach != Reach::Connection,
            None => true,
        };
        let doomed = self.end_doomed(out);
        self.tell_transaction(out);
        assert!(self.owing.is_none() || out.holds, "nobody is told what is not durable");
        let error = doomed || failure.is_some_and(|f| f.reach != Reach::Request);
        let command = match scope {
            DoneScope::Procedure => Command::Execute,
            DoneScope::Statement | DoneScope::InProcedure => Command::Other,
        };
        out.finish(Completion { command, more, error, ..self.state.done(scope) });
        goes_on
    }

    /// An attention keeps the transaction, unless XACT_ABORT is ON. A kill ends the connection.
    fn end_cancelled(&mut self, out: &mut Output<'_>) -> bool {
        self.state.entry.attention_at.store(os::clock::now().0, Relaxed);
        if self.state.settings.is_on(Switches::XACT_ABORT)
            && let Err(e) = self.roll_back_work()
        {
            out.message(&e);
        }
        true
    }

    /// A transaction that cannot be committed ends with its request. Returns whether there was one.
    fn end_doomed(&mut self, out: &mut Output<'_>) -> bool {
        let doomed = self.state.transaction.doomed;
        if doomed {
            out.message(&SqlError::new(messages::XACT_UNCOMMITTABLE_BATCH_END, &[]).at_line(1));
            if let Err(e) = self.roll_back_work() {
                out.message(&e);
            }
        }
        doomed
    }

    /// A bug ended the request. Its transaction is rolled back and the connection ends, because the
    /// state of the session is unknown.
    fn after_panic(
        &mut self,
        panic: &(dyn std::any::Any + Send),
        sink: &mut dyn ResultSink,
    ) -> bool {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        self.host.log(&format!("session {}: a request panicked: {text}", self.state.id()));
        let undone = catch_unwind(AssertUnwindSafe(|| self.roll_back_all()));
        if !matches!(undone, Ok(Ok(()))) {
            self.host.log(&format!("session {}: not all was rolled back", self.state.id()));
        }
        let mut out = Output::new(sink);
        out.message(&SqlError::new(messages::WORKER_PANIC, &[&text]).at_line(1));
        self.tell_transaction(&mut out);
        out.finish(Completion { error: true, ..plain_done(DoneScope::Statement) });
        false
    }

    /// Runs a request: measures its time, and handles a panic in it.
    fn answer(
        &mut self,
        sink: &mut dyn ResultSink,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> bool,
    ) -> bool {
        self.flow.last = false;
        match self.answer_or_owe(sink, run) {
            RequestEnd::Whole(goes_on) => goes_on,
            RequestEnd::Owes(_) => unreachable!("nothing was the last of its request"),
        }
    }

    /// The same. If the caller has said that nothing follows, the request may owe a commit.
    fn answer_or_owe(
        &mut self,
        sink: &mut dyn ResultSink,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> bool,
    ) -> RequestEnd {
        let (began_ns, cpu_ns) = self.begin_request();
        let _lent = os::values::lend(Some(Arc::clone(self.host.grant().semaphores.values())));
        let waiter = Arc::clone(self.work.owner().waiter());
        let attended = os::values::attend(waiter, self.spent.kept_bytes);
        let _serving = os::wait::serve(Some(Arc::clone(self.state.entry.waits())));
        let result = catch_unwind(AssertUnwindSafe(|| run(self, sink)));
        self.flow.last = false;
        let goes_on = match result {
            Ok(goes_on) => goes_on,
            Err(panic) if os::sched::crashed() => resume_unwind(panic),
            Err(panic) => self.after_panic(panic.as_ref(), sink),
        };
        if !goes_on {
            self.settle_commit();
        }
        self.spent.kept_bytes = attended.kept_bytes().max(0);
        let cpu_ns = || os::clock::thread_cpu_ns().saturating_sub(cpu_ns);
        match self.park(began_ns) {
            Some(owed) => {
                self.state.entry.leave_thread(cpu_ns());
                RequestEnd::Owes(owed)
            }
            None => {
                self.request_ended(began_ns, cpu_ns());
                RequestEnd::Whole(goes_on)
            }
        }
    }

    fn begin_request(&mut self) -> (u64, u64) {
        let (began, cpu) = (os::clock::monotonic_ns(), os::clock::thread_cpu_ns());
        self.spent.processor.begin(began, cpu);
        let entry = &self.state.entry;
        entry.request_began_at.store(os::clock::now().0, Relaxed);
        entry.request_began_ns.store(began, Relaxed);
        entry.begin_request(cpu);
        entry.requests.fetch_add(1, Relaxed);
        entry.set_doing(SessionCommand::Other);
        entry.running.store(true, Relaxed);
        (began, cpu)
    }

    /// A request that began at `began` has ended; its thread has used `cpu_ns` for it.
    pub(crate) fn request_ended(&mut self, began: u64, cpu_ns: u64) {
        self.work.rest();
        if let Some(work) = &mut self.tables.work {
            work.rest();
        }
        self.functions.get_mut().tables.rest();
        let entry = &self.state.entry;
        let elapsed_ns = os::clock::monotonic_ns().saturating_sub(began);
        entry.cpu_ns.fetch_add(cpu_ns, Relaxed);
        entry.elapsed_ns.fetch_add(elapsed_ns, Relaxed);
        entry.request_ended_at.store(os::clock::now().0, Relaxed);
        entry.set_doing(SessionCommand::Nothing);
        entry.running.store(false, Relaxed);
    }

    /// A procedure that clients call by number.
    fn call_numbered(
        &mut self,
        number: u16,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let Some(procedure) = self.procedures.numbered(number) else {
            return Err(SqlError::new(messages::TDS_RPC_NAME, &[]).into());
        };
        self.flow.last &= matches!(number, 10 | 12 | 13);
        procedure(self, call, out)
    }
}

impl Connection for Session {
    fn session_id(&self) -> SessionId {
        self.state.id()
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        self.answer(sink, |s, sink| s.request(request, sink))
    }

    fn run_last(&mut self, request: Request, sink: &mut dyn ResultSink) -> RequestEnd {
        self.flow.last = true;
        self.answer_or_owe(sink, |s, sink| s.request(request, sink))
    }

    fn settle(&mut self) {
        self.settle_request();
    }

    fn load(&mut self, rows: &mut dyn BulkRows, sink: &mut dyn ResultSink) -> bool {
        self.answer(sink, |s, sink| {
            let mut out = Output::new(sink);
            s.begin_answer();
            s.state.entry.set_input(Input::batch("INSERT BULK".into()));
            s.state.entry.set_doing(SessionCommand::BulkInsert);
            let result = s.load_rows(rows, &mut out);
            s.conclude(result, (DoneScope::Statement, false), &mut out)
        })
    }

    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        let mut out = Output::new(sink);
        if !keep_transaction && let Err(e) = self.roll_back_work() {
            out.message(&e);
        }
        self.handles.prepared.clear();
        self.api_cursors.clear();
        self.idle.clear();
        self.functions.get_mut().clear();
        // The isolation level is the only setting that a reset keeps.
        let isolation = self.state.settings.isolation;
        let spoken = self.state.settings.language;
        self.state.settings = Settings::default();
        self.state.settings.speak(self.login.language);
        self.state.settings.isolation = isolation;
        self.apply_settings();
        self.state.identity.insert = None;
        self.state.trace_flags = TraceFlagSet::default();
        self.state.names_version += 1;
        self.state.application.clear(&*self.host);
        self.state.context.values.clear();
        self.state.context.info = types::Value::Null;
        self.state.nesting.caught.clear();
        (self.state.last.error, self.state.last.rows) = (0, 0);
        self.state.entry.waits().clear();
        if !keep_transaction {
            self.state.temp.enter();
            self.state.cursors.clear();
            self.drop_function_tables(false);
            self.drop_all_temp_tables();
        }
        let name = self.login.database.clone();
        if !name.eq_ignore_ascii_case(&self.state.database.name)
            && let Ok(database) = self.enter(&name)
        {
            self.state.now_in_database(database);
        }
        if spoken != self.login.language {
            self.state.tell_language(spoken.name, 1, &mut out);
        }
        self.tell_transaction(&mut out);
        out.environment(&EnvironmentChange::ResetDone);
    }

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(self.work.owner().waiter())
    }

    fn greet(&mut self, sink: &mut dyn ResultSink) {
        let mut out = Output::new(sink);
        self.state.tell_database(String::new(), &mut out);
        let bytes = self.state.own_collation().tds_bytes();
        out.environment(&EnvironmentChange::Collation(bytes));
        self.tell_refused_language(&mut out);
        self.state.tell_language("", 1, &mut out);
    }
}
