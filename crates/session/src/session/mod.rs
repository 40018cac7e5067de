//! `Session`: one connection's state, and the requests it answers.

pub(crate) mod language;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod state;

use crate::answer::failure::{Failure, Reach};
use crate::answer::output::{Output, plain_done};
use crate::answer::sink::{Command, Done, DoneScope, EnvironmentChange, ResultSink};
use crate::cursors::api::ApiCursors;
use crate::functions::caller::Functions;
use crate::host::Host;
use crate::host::configuration::Setting;
use crate::procedures::{Call, Prepared};
use crate::program::steps::Program;
use crate::request::TransactionRequest;
use crate::request::activation::{Activation, Activations};
use crate::request::bulk::{Bulk, BulkRows};
use crate::request::meter::{LastTook, ProcessorClock, Sums};
use crate::request::owed::{Answered, Owing};
use crate::request::transact::Open;
use crate::request::{Connection, Login, Procedure, Request, TransactionIsolation};
use crate::session::language::Refused;
use crate::session::registry::{Doing, Input};
use crate::session::settings::{SaidOfDates, Settings, Switches};
use crate::session::state::State;
use crate::tables::pool::TablePool;
use access::Isolation;
use base::{DatabaseId, ObjectId, SessionId, SqlError, SqlResult, messages};
use lock::{Owner, OwnerId, OwnerKind, Timeout};
use os::wait::Waiter;
use plancache::Entry;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tsql::ast::TransactionVerb;
use types::datetime::Language;
use work::{TraceFlagSet, Work};

/// A connection to the engine.
pub struct Session {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) state: State,
    pub(crate) work: Work,
    /// Writes table variables.
    pub(crate) private: Option<Box<Work>>,
    /// Holds S on the database that the session is in.
    pub(crate) workspace: Arc<Owner>,
    pub(crate) open: Open,
    pub(crate) idle: Activations,
    pub(crate) functions: RefCell<Functions>,
    /// Tables of the request's procedures and triggers.
    pub(crate) spare: TablePool,
    pub(crate) prepared: BTreeMap<i32, Prepared>,
    pub(crate) last_handle: i32,
    /// What the shell that has just been made runs.
    pub(crate) of_shell: Option<Arc<Entry<Program>>>,
    pub(crate) api_cursors: ApiCursors,
    /// What the next request brings rows for.
    pub(crate) bulk: Option<Bulk>,
    /// An INSERT EXEC executes.
    pub(crate) inserts: bool,
    /// Modules whose columns are being shown, each from within the one before.
    pub(crate) formatted: Vec<(DatabaseId, ObjectId)>,
    /// The columns of a text are asked for: nothing of it runs, SET neither.
    pub(crate) describing: bool,
    /// Nothing of the request comes behind what runs.
    pub(crate) last: bool,
    /// What is left of a request whose commit is not durable yet.
    pub(crate) owing: Option<Box<Owing>>,
    /// TRY blocks around the program that runs, in its callers.
    pub(crate) tries: u32,
    /// The highest severity of an error of the program that runs.
    pub(crate) worst: u8,
    /// What the statements of the request took so far.
    pub(crate) request_run: Sums,
    pub(crate) processor: ProcessorClock,
    pub(crate) took: LastTook,
    /// What its requests have made and left, in no account.
    kept_bytes: isize,
    /// The database of the login, for a reset.
    home_database: String,
    /// The language of the login, for a reset.
    pub(crate) home_language: &'static Language,
    /// Of the login's language.
    pub(crate) refused: Refused,
}

impl Session {
    /// A session for a login that has been authenticated.
    ///
    /// # Errors
    /// 4060 when its database cannot be opened, 17809 when there are too many sessions.
    pub fn new(host: Arc<dyn Host>, login: Login) -> SqlResult<Session> {
        let wanted = if login.database.is_empty() { "master" } else { &login.database };
        let wanted = wanted.to_owned();
        let (language, fatal) = (login.language.clone(), login.language_or_nothing);
        let waiter = Arc::new(Waiter::new());
        let registry = Arc::clone(host.registry());
        let entry = registry.enter(login, Arc::clone(&waiter), DatabaseId(0))?;
        let id = entry.id();
        let owner = OwnerId::new(OwnerKind::SharedTransactionWorkspace, id.0.unsigned_abs().into());
        let workspace = Owner::new(owner, id, Arc::clone(&waiter));
        let entered = host.enter_database(&workspace, Timeout::INFINITE, &wanted, None);
        let database = entered.map_err(|_| {
            registry.leave(id);
            SqlError::new(messages::CANNOT_OPEN_DATABASE, &[&wanted])
        })?;
        let work = Work::new(host.engine(), id, waiter);
        let state = State::new(
            Arc::clone(&host),
            entry,
            database,
            wanted.clone(),
            Arc::clone(work.owner()),
        );
        let mut session = Session {
            host,
            state,
            work,
            private: None,
            workspace,
            open: Open::default(),
            idle: Activations::default(),
            functions: RefCell::default(),
            spare: TablePool::default(),
            prepared: BTreeMap::new(),
            last_handle: 0,
            of_shell: None,
            api_cursors: ApiCursors::default(),
            bulk: None,
            inserts: false,
            formatted: Vec::new(),
            describing: false,
            last: false,
            owing: None,
            tries: 0,
            worst: 0,
            request_run: Sums::default(),
            processor: ProcessorClock::default(),
            took: LastTook::default(),
            kept_bytes: 0,
            home_database: wanted,
            home_language: Language::us_english(),
            refused: Refused::Nothing,
        };
        session.now_in_database(database);
        session.take_language(&language, fatal)?;
        session.take_user_options();
        session.apply_settings();
        Ok(session)
    }

    /// 'user options': what is on for everybody who logs in.
    fn take_user_options(&mut self) {
        let bits = self.host.configuration().in_use(Setting::UserOptions);
        self.state.settings.set_all(bits.unsigned_abs());
    }

    /// The session's facts for the views.
    pub fn entry(&self) -> &Arc<crate::session::registry::SessionEntry> {
        &self.state.entry
    }

    pub(crate) fn now_in_database(&mut self, database: DatabaseId) {
        self.state.database = database;
        self.state.entry.database.store(database.0, Relaxed);
        let old = std::mem::take(&mut self.state.database_name);
        let known = self.host.databases().into_iter().find(|d| d.0 == database);
        self.state.database_name = known.map_or(old, |d| d.1);
    }

    pub(crate) fn tell_database(&mut self, old: String, out: &mut Output<'_>) {
        let new = self.state.database_name.clone();
        let e = SqlError::new(messages::LOGIN_DATABASE_CHANGED, &[&new]);
        out.environment(&EnvironmentChange::Database { new, old });
        out.message(&e.at_line(1));
    }

    /// Hands settings that others look at to them.
    pub(crate) fn apply_settings(&mut self) {
        let s = &self.state.settings;
        self.work.set_timeout(s.lock_timeout);
        self.work.owner().set_priority(s.deadlock_priority);
        let entry = &self.state.entry;
        entry.isolation.store(s.isolation_number(), Relaxed);
        entry.deadlock_priority.store(s.deadlock_priority, Relaxed);
        entry.lock_timeout_ms.store(s.lock_timeout_ms, Relaxed);
        entry.options.store(s.bits(), Relaxed);
        entry.text_size.store(s.text_size, Relaxed);
        entry.date_first.store(s.date_first, Relaxed);
        entry.date_format.store(s.date_format_number(), Relaxed);
        entry.language.store(s.language.id as u8, Relaxed);
    }

    fn batch(&mut self, text: &str, out: &mut Output<'_>) -> Result<(), Failure> {
        let text: Arc<str> = text.into();
        self.state.settings.said = SaidOfDates::default();
        self.state.entry.set_input(Input::batch(Arc::clone(&text)));
        let began = self.began();
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

    /// Tells all that is wrong with text that is not run.
    pub(crate) fn tell_all(
        &mut self,
        errors: Vec<SqlError>,
        scope: DoneScope,
        out: &mut Output<'_>,
    ) -> Failure {
        let mut errors = errors.into_iter();
        let Some(first) = errors.next() else { return Failure::cancelled() };
        // The session that ended it knows.
        if first.number() == messages::ATTENTION.number {
            return Failure::cancelled();
        }
        let mut last = first.clone();
        let mut failure = Failure::of_binding(first.clone());
        if self.tries == 0 {
            self.settle_text(&mut failure, out);
            out.message(&first);
            for e in errors {
                out.message(&e);
                last = e;
            }
            out.done(Done { error: true, ..self.done(scope) });
        }
        self.state.error = last.number();
        failure.told = self.tries == 0;
        // For a caller in TRY it is an error like any other of the statement that called.
        if !failure.told && failure.reach == Reach::Scope {
            failure.reach = Reach::Statement;
        }
        failure
    }

    /// Under XACT_ABORT a text that binding refuses ends the transaction, one that parsing refuses
    /// does not.
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
            // It ended early and has told why: it has a status all the same.
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

    /// Tells a failure that nobody has told.
    pub(crate) fn tell(
        &mut self,
        mut failure: Failure,
        scope: DoneScope,
        out: &mut Output<'_>,
    ) -> Failure {
        if !failure.told && failure.reach != Reach::Request {
            let error = failure.error.clone().at_line(1);
            self.state.error = error.number();
            out.message(&error);
            if scope == DoneScope::Statement {
                out.done(Done { error: true, ..self.done(scope) });
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
        self.last &= next.is_none();
        self.transaction(verb, &name, None)?;
        if let Some((isolation, name)) = next {
            self.isolate(isolation);
            self.begin_for_client(&name)?;
        }
        Ok(())
    }

    /// A transaction that a client begins it ends by one request: it is one, whatever
    /// IMPLICIT_TRANSACTIONS says.
    fn begin_for_client(&mut self, name: &str) -> Result<(), Failure> {
        match self.state.tran_count {
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

    /// Runs a request; false when the connection must be closed.
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
        self.request_run = Sums::default();
        self.tries = 0;
    }

    /// Ends the answer of a request; false when the connection must be closed.
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
        out.finish(Done { command, more, error, ..self.done(scope) });
        goes_on
    }

    /// An attention keeps the transaction, unless XACT_ABORT is on; a kill ends the connection.
    fn end_cancelled(&mut self, out: &mut Output<'_>) -> bool {
        self.state.entry.attention_at.store(os::clock::now().0, Relaxed);
        if self.state.settings.is_on(Switches::XACT_ABORT)
            && let Err(e) = self.roll_back_work()
        {
            out.message(&e);
        }
        true
    }

    /// A transaction that cannot be committed does not outlive its request. Whether it was one.
    fn end_doomed(&mut self, out: &mut Output<'_>) -> bool {
        let doomed = self.state.doomed;
        if doomed {
            out.message(&SqlError::new(messages::XACT_UNCOMMITTABLE_BATCH_END, &[]).at_line(1));
            if let Err(e) = self.roll_back_work() {
                out.message(&e);
            }
        }
        doomed
    }

    /// A bug ended the request: its transaction is rolled back and the connection ends, since
    /// nobody knows what else it has left undone.
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
        out.finish(Done { error: true, ..plain_done(DoneScope::Statement) });
        false
    }

    /// Whatever is open, a statement's change of table variables included.
    fn roll_back_all(&mut self) -> SqlResult<()> {
        if let Some(work) = self.private.as_mut().filter(|w| w.is_active()) {
            work.roll_back().map_err(|e| e.into_sql("tempdb"))?;
        }
        self.functions.get_mut().tables.roll_back()?;
        self.drop_function_tables(true);
        self.drop_spare_tables(true);
        self.roll_back_work()
    }

    /// Runs a request in its frame: times, and what becomes of a bug.
    fn answer(
        &mut self,
        sink: &mut dyn ResultSink,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> bool,
    ) -> bool {
        self.last = false;
        match self.answer_or_owe(sink, run) {
            Answered::Whole(goes_on) => goes_on,
            Answered::Owes(_) => unreachable!("nothing was the last of its request"),
        }
    }

    /// The same; where the caller has said that nothing comes behind, it may owe a commit.
    fn answer_or_owe(
        &mut self,
        sink: &mut dyn ResultSink,
        run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> bool,
    ) -> Answered {
        let (began_ns, cpu_ns) = self.begin_request();
        let _lent = os::values::lend(Some(Arc::clone(self.host.grant().semaphores.values())));
        let waiter = Arc::clone(self.work.owner().waiter());
        let attended = os::values::attend(waiter, self.kept_bytes);
        let _serving = os::wait::serve(Some(Arc::clone(self.state.entry.waits())));
        let result = catch_unwind(AssertUnwindSafe(|| run(self, sink)));
        self.last = false;
        let goes_on = match result {
            Ok(goes_on) => goes_on,
            Err(panic) if os::sched::crashed() => resume_unwind(panic),
            Err(panic) => self.after_panic(panic.as_ref(), sink),
        };
        if !goes_on {
            self.settle_commit();
        }
        self.kept_bytes = attended.kept_bytes().max(0);
        let cpu_ns = || os::clock::thread_cpu_ns().saturating_sub(cpu_ns);
        match self.park(began_ns) {
            Some(owed) => {
                self.state.entry.leave_thread(cpu_ns());
                Answered::Owes(owed)
            }
            None => {
                self.request_ended(began_ns, cpu_ns());
                Answered::Whole(goes_on)
            }
        }
    }

    fn begin_request(&mut self) -> (u64, u64) {
        let (began, cpu) = (os::clock::monotonic_ns(), os::clock::thread_cpu_ns());
        self.processor.begin(began, cpu);
        let entry = &self.state.entry;
        entry.request_began_at.store(os::clock::now().0, Relaxed);
        entry.request_began_ns.store(began, Relaxed);
        entry.begin_request(cpu);
        entry.requests.fetch_add(1, Relaxed);
        entry.set_doing(Doing::Other);
        entry.running.store(true, Relaxed);
        (began, cpu)
    }

    /// A request that began then has ended; its thread has computed so long for it.
    pub(crate) fn request_ended(&mut self, began: u64, cpu_ns: u64) {
        self.work.rest();
        if let Some(work) = &mut self.private {
            work.rest();
        }
        self.functions.get_mut().tables.rest();
        let entry = &self.state.entry;
        let elapsed_ns = os::clock::monotonic_ns().saturating_sub(began);
        entry.cpu_ns.fetch_add(cpu_ns, Relaxed);
        entry.elapsed_ns.fetch_add(elapsed_ns, Relaxed);
        entry.request_ended_at.store(os::clock::now().0, Relaxed);
        entry.set_doing(Doing::Nothing);
        entry.running.store(false, Relaxed);
    }

    /// Runs an activation of a program that is called from text: its settings, scope of temporary
    /// tables and identity are its own.
    pub(crate) fn run_nested(
        &mut self,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        if self.state.nest_level >= NEST_LEVEL_MAX {
            return Err(SqlError::new(messages::MAX_NESTING, &[&NEST_LEVEL_MAX]).into());
        }
        let settings = self.state.settings.clone();
        let scope_identity = self.state.scope_identity.take();
        let object = std::mem::replace(&mut self.state.object, act.program.value.object);
        let database = self.state.database;
        let count = self.state.tran_count;
        self.state.set_nest_level(self.state.nest_level + 1);
        self.state.temp.enter();
        if act.program.value.procedure.is_some() {
            let quoted = act.program.value.quoted_identifier;
            self.state.settings.set(Switches::QUOTED_IDENTIFIER, quoted);
            self.state.settings.set(Switches::ANSI_NULLS, act.program.value.ansi_nulls);
        }
        if act.program.value.is_trigger() {
            // A trigger that fails takes the statement's transaction with it.
            self.state.settings.set(Switches::XACT_ABORT, true);
        }
        let (meter, before) = (self.meter(), self.request_run);
        let result = self.run_program(act, out, scope);
        if result.is_ok() {
            self.count_program(act, &meter, &before);
        }
        if result.is_ok() {
            self.return_cursors(act);
        }
        self.state.cursors.leave(self.state.nest_level);
        let dropped = self.end_temp_scope();
        self.state.set_nest_level(self.state.nest_level - 1);
        self.state.object = object;
        self.state.scope_identity = scope_identity;
        if self.state.settings != settings {
            self.state.settings = settings;
            self.apply_settings();
        }
        if self.state.database != database {
            self.return_to(database, out)?;
        }
        let status = result?;
        dropped?;
        self.check_transaction_count(count, act, out)?;
        Ok(status)
    }

    /// Goes back to the caller's database.
    fn return_to(&mut self, database: DatabaseId, out: &mut Output<'_>) -> Result<(), Failure> {
        // The caller's database may have to be waited for: not with locks of a commit that is owed.
        self.settle_commit();
        let known = self.host.databases().into_iter().find(|d| d.0 == database);
        let Some((_, name)) = known else {
            return Err(SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]).into());
        };
        self.use_database(&name, out)
    }

    /// 266 when a program has begun or ended transactions of its caller.
    fn check_transaction_count(
        &mut self,
        before: u32,
        act: &Activation,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let now = self.state.tran_count;
        // What IMPLICIT_TRANSACTIONS begins is the client's to end.
        let begun = before == 0 && now == 1 && self.open.implicit;
        // What a trigger does to the transaction its statement tells: 3609.
        if before == now || begun || self.state.doomed || act.program.value.is_trigger() {
            return Ok(());
        }
        let e = SqlError::new(messages::TRANSACTION_COUNT_MISMATCH, &[&before, &now]).with_state(2);
        let e = match &act.program.value.procedure {
            Some(name) => e.in_procedure(name),
            None => e,
        };
        if self.tries > 0 {
            return Err(Failure::raised(e));
        }
        self.state.error = e.number();
        out.message(&e);
        Ok(())
    }

    /// Drops the temporary tables of the scope that ends.
    fn end_temp_scope(&mut self) -> Result<(), Failure> {
        let gone = self.state.temp.leave();
        if gone.is_empty() || self.state.doomed {
            return Ok(());
        }
        let own = self.begin_statement();
        let waiter = Arc::clone(self.work.owner().waiter());
        let drop = || self.host.drop_temp_tables(&mut self.work, &gone);
        let result = waiter.undisturbed(drop);
        self.end_statement(own, result, None)
    }
}

/// How deep procedures may call each other.
pub(crate) const NEST_LEVEL_MAX: u32 = 32;

impl Connection for Session {
    fn session_id(&self) -> SessionId {
        self.state.id()
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        self.answer(sink, |s, sink| s.request(request, sink))
    }

    fn run_last(&mut self, request: Request, sink: &mut dyn ResultSink) -> Answered {
        self.last = true;
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
            s.state.entry.set_doing(Doing::BulkInsert);
            let result = s.load_rows(rows, &mut out);
            s.conclude(result, (DoneScope::Statement, false), &mut out)
        })
    }

    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        let mut out = Output::new(sink);
        if !keep_transaction && let Err(e) = self.roll_back_work() {
            out.message(&e);
        }
        self.prepared.clear();
        self.api_cursors.clear();
        self.idle.clear();
        self.functions.get_mut().clear();
        // The isolation level is the one setting that a reset leaves.
        let isolation = self.state.settings.isolation;
        let spoken = self.state.settings.language;
        self.state.settings = Settings::default();
        self.state.settings.speak(self.home_language);
        self.state.settings.isolation = isolation;
        self.apply_settings();
        self.state.identity_insert = None;
        self.state.trace_flags = TraceFlagSet::default();
        self.state.names_version += 1;
        self.state.application.clear(&*self.host);
        self.state.context.clear();
        self.state.context_info = types::Value::Null;
        self.state.caught.clear();
        (self.state.error, self.state.rows) = (0, 0);
        self.state.entry.waits().clear();
        if !keep_transaction {
            self.state.temp.enter();
            self.state.cursors.clear();
            self.drop_function_tables(false);
            self.drop_all_temp_tables();
        }
        let name = self.home_database.clone();
        if !name.eq_ignore_ascii_case(&self.state.database_name)
            && let Ok(database) = self.enter(&name)
        {
            self.now_in_database(database);
        }
        if spoken != self.home_language {
            self.tell_language(spoken.name, 1, &mut out);
        }
        self.tell_transaction(&mut out);
        out.environment(&EnvironmentChange::ResetDone);
    }

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(self.work.owner().waiter())
    }

    fn greet(&mut self, sink: &mut dyn ResultSink) {
        let mut out = Output::new(sink);
        self.tell_database(String::new(), &mut out);
        let bytes = self.own_collation().tds_bytes();
        out.environment(&EnvironmentChange::Collation(bytes));
        self.tell_refused_language(&mut out);
        self.tell_language("", 1, &mut out);
    }
}

impl Session {
    /// Leaves the session's database for another. An open transaction stays in it to its end.
    pub(crate) fn enter(&self, name: &str) -> SqlResult<DatabaseId> {
        let (timeout, old) = (self.work.timeout(), self.state.database);
        if self.work.is_active() {
            self.host.hold_database(&self.work, old)?;
        }
        self.host.enter_database(&self.workspace, timeout, name, Some(old))
    }

    /// Uses another database as well as the session's, until [`Session::leave`].
    pub(crate) fn visit(&self, name: &str) -> SqlResult<DatabaseId> {
        self.host.enter_database(&self.workspace, self.work.timeout(), name, None)
    }

    /// Ends a visit.
    pub(crate) fn leave(&self, database: DatabaseId) {
        self.host.leave_database(&self.workspace, database);
    }

    fn drop_all_temp_tables(&mut self) {
        let temp = std::mem::take(&mut self.state.temp);
        let tables: Vec<_> = temp.iter().map(Arc::clone).collect();
        // The new list counts from 0 again, and the sum of both must not go back.
        self.state.names_version += temp.version() + 1;
        if tables.is_empty() && temp.global().is_empty() || self.work.is_active() {
            return;
        }
        let waiter = Arc::clone(self.work.owner().waiter());
        self.work.begin(false, "");
        let own = waiter.undisturbed(|| self.host.drop_temp_tables(&mut self.work, &tables));
        let own = self.end_statement(true, own, None);
        // Others may use these, so it may have to wait: that ends with a cancellation.
        self.work.begin(false, "");
        let global = self.host.drop_global(&mut self.work, temp.global());
        let global = self.end_statement(true, global, None);
        if let Err(e) = own.and(global) {
            self.host.log(&format!("temporary tables were not dropped: {}", e.error));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if os::sched::crashed() {
            return;
        }
        let id = self.state.id();
        let undone = catch_unwind(AssertUnwindSafe(|| {
            let undone = self.roll_back_all();
            self.drop_all_temp_tables();
            undone
        }));
        if !matches!(undone, Ok(Ok(()))) {
            self.host.log(&format!("session {id}: its transaction was not rolled back"));
        }
        self.state.application.clear(&*self.host);
        self.host.leave_database(&self.workspace, self.state.database);
        self.host.registry().leave(id);
    }
}
