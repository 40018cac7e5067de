//! All sessions, as sys.dm_exec_sessions, dm_exec_requests and dm_exec_connections show them.
//!
//! A session writes its facts into atomics while it runs; a reader copies them at any time. Each
//! number is exact, but the numbers of one row may come from two moments.

use crate::program::steps::Program;
use crate::request::Login;
use crate::showplan::running::RunningStatement;
use base::{DatabaseId, ObjectId, SessionId, SqlError, SqlResult, messages};
use lock::Resource;
use os::sync::{Mutex, MutexGuard, RwLock};
use os::wait::{WaitKind, WaitTotals, Waiter};
use plancache::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64,
};
use types::datetime::Language;

/// The first session number of a user.
const FIRST_USER_SESSION: i16 = 51;

/// Up to this many lock names are kept without a check whether the locks are held.
const LOCK_NAMES: usize = 64;

/// The command that a session runs, as dm_exec_requests.command names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum SessionCommand {
    Nothing = 0,
    Select,
    Insert,
    Update,
    Delete,
    Execute,
    Definition,
    WaitFor,
    Begin,
    Commit,
    Rollback,
    BulkInsert,
    Other,
}

const DOING: [&str; 13] = [
    "AWAITING COMMAND",
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "EXECUTE",
    "DDL",
    "WAITFOR",
    "BEGIN TRANSACTION",
    "COMMIT TRANSACTION",
    "ROLLBACK TRANSACTION",
    "BULK INSERT",
    "COMMAND",
];

/// A session's facts while it lives.
pub struct SessionEntry {
    id: SessionId,
    login: Login,
    login_at: i64,
    waiter: Arc<Waiter>,
    /// The waits of its requests since its login or its last reset.
    waits: Arc<WaitTotals>,
    pub(crate) running: AtomicBool,
    pub(crate) doing: AtomicU8,
    pub(crate) database: AtomicU16,
    pub(crate) object: AtomicI32,
    pub(crate) request_began_at: AtomicI64,
    pub(crate) request_began_ns: AtomicU64,
    pub(crate) request_ended_at: AtomicI64,
    pub(crate) cpu_ns: AtomicU64,
    pub(crate) elapsed_ns: AtomicU64,
    pub(crate) reads: AtomicU64,
    pub(crate) logical_reads: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) row_count: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) open_transactions: AtomicU32,
    pub(crate) transaction: AtomicU64,
    pub(crate) isolation: AtomicU8,
    pub(crate) deadlock_priority: AtomicI8,
    pub(crate) lock_timeout_ms: AtomicI32,
    pub(crate) options: AtomicU32,
    pub(crate) nest_level: AtomicU8,
    pub(crate) text_size: AtomicI32,
    pub(crate) date_first: AtomicU8,
    /// A number of `Settings::date_format_of`.
    pub(crate) date_format: AtomicU8,
    /// `@@LANGID`
    pub(crate) language: AtomicU8,
    before: RequestBaseline,
    pub(crate) last_error: AtomicI32,
    pub(crate) statement_start: AtomicU32,
    pub(crate) statement_end: AtomicU32,
    /// For the open transaction: a lower bound of its rowversions in each database.
    row_versions: Mutex<BTreeMap<DatabaseId, u64>>,
    /// The first words of the definition that runs.
    definition: Mutex<&'static str>,
    /// The session that it waits for otherwise than for a lock; 0 for none.
    blocked_by: AtomicI16,
    /// When an attention last ended one of its requests; 0 if none has.
    pub(crate) attention_at: AtomicI64,
    /// The names of application locks that it has asked about.
    lock_names: Mutex<BTreeMap<Resource, Box<str>>>,
    input: Mutex<Input>,
    programs: Mutex<Programs>,
    /// The running statements, each within the one before it.
    statements: Mutex<Vec<Arc<RunningStatement>>>,
}

/// A program, and the position of its statement in the text, in bytes.
type StatementPosition = (Arc<Entry<Program>>, (u32, u32));

/// The programs of a request.
#[derive(Default)]
struct Programs {
    /// The program that runs or ran last.
    current: Option<Arc<Entry<Program>>>,
    /// The programs that called it, the outermost first, each with the calling statement.
    callers: Vec<StatementPosition>,
}

/// A running program, and its running statement.
pub struct Frame {
    /// The program.
    pub program: Arc<Entry<Program>>,
    /// The line in which the statement begins.
    pub line: u32,
    /// The position of the statement, as `statement_start_offset` and `statement_end_offset` show
    /// it.
    pub offsets: (i32, i32),
    /// The statement's text, possibly cut.
    pub text: String,
}

/// The session's counters when its request began, and the thread that runs the request.
#[derive(Default)]
struct RequestBaseline {
    thread: AtomicU32,
    thread_cpu_ns: AtomicU64,
    /// Whether the thread has left the request, which waits without a thread.
    left: AtomicBool,
    cpu_ns: AtomicU64,
    reads: AtomicU64,
    logical_reads: AtomicU64,
    writes: AtomicU64,
}

/// The most recent request of the client.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Whether it is a call, not a batch.
    pub is_call: bool,
    /// How many parameters the call has.
    pub parameters: usize,
    /// The batch, the name of the procedure, or the text that a call prepares or runs.
    pub text: Option<Arc<str>>,
}

impl Input {
    pub(crate) fn batch(text: Arc<str>) -> Input {
        Input { text: Some(text), ..Input::default() }
    }

    pub(crate) fn call(text: &str, parameters: usize) -> Input {
        Input { is_call: true, parameters, text: Some(text.into()) }
    }
}

/// A session as the views show it. Times are wall times in nanoseconds.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "fields are named as the columns of the views")]
pub struct SessionRow {
    pub session_id: SessionId,
    pub login: Login,
    pub login_time: i64,
    /// Whether a request runs.
    pub running: bool,
    pub command: &'static str,
    pub database: DatabaseId,
    /// The procedure that runs; 0 if none.
    pub object: ObjectId,
    /// The start of the last request, or of the one that runs.
    pub request_start_time: i64,
    pub request_end_time: i64,
    /// When an attention last ended a request; 0 if none has.
    pub attention_time: i64,
    /// The operating system's number of the thread that runs its request, or ran the last one.
    pub thread: u32,
    /// Its waits so far.
    pub waits: Arc<WaitTotals>,
    /// The session that it waits for otherwise than for a lock.
    pub blocked_by: Option<SessionId>,
    /// The elapsed time of the running request.
    pub request_elapsed_ns: u64,
    pub cpu_ns: u64,
    pub elapsed_ns: u64,
    pub reads: u64,
    pub logical_reads: u64,
    pub writes: u64,
    pub row_count: u64,
    pub requests: u64,
    pub open_transaction_count: u32,
    /// 0 if there is no transaction.
    pub transaction_id: u64,
    /// 1 READ UNCOMMITTED to 5 SNAPSHOT.
    pub isolation_level: u8,
    pub deadlock_priority: i8,
    pub lock_timeout_ms: i32,
    /// `@@OPTIONS`
    pub options: u32,
    pub nest_level: u8,
    /// SET TEXTSIZE
    pub text_size: i32,
    /// SET DATEFIRST
    pub date_first: u8,
    /// SET DATEFORMAT: 1 mdy, 2 dmy, 3 ymd, 4 ydm, 5 myd, 6 dym.
    pub date_format: u8,
    /// `@@LANGUAGE`
    pub language: &'static str,
    /// The processor time of the running request, if the operating system reports it.
    pub request_cpu_ns: Option<u64>,
    pub request_reads: u64,
    pub request_logical_reads: u64,
    pub request_writes: u64,
    pub last_error: i32,
    /// The wait in progress and how long it has lasted.
    pub wait: Option<(WaitKind, u64)>,
    pub last_wait: Option<WaitKind>,
    /// Byte offsets of the statement in UTF-16, as in statement_start_offset and _end_offset.
    pub statement_start_offset: i32,
    pub statement_end_offset: i32,
    /// The most recent request of the client.
    pub input: Input,
    /// The program that runs or ran last; `None` if the request has run no program yet.
    pub program: Option<Arc<Entry<Program>>>,
    /// The running statements, each within the one before it.
    pub statements: Vec<Arc<RunningStatement>>,
}

impl SessionEntry {
    /// Its number.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The waits of its requests since its login or its last reset.
    pub fn waits(&self) -> &Arc<WaitTotals> {
        &self.waits
    }

    /// The waiter of its request.
    pub fn waiter(&self) -> &Arc<Waiter> {
        &self.waiter
    }

    /// Its current database.
    pub fn database(&self) -> DatabaseId {
        DatabaseId(self.database.load(Relaxed))
    }

    pub(crate) fn login(&self) -> &Login {
        &self.login
    }

    pub(crate) fn input(&self) -> Input {
        self.input.lock().clone()
    }

    pub(crate) fn set_input(&self, input: Input) {
        *self.input.lock() = input;
        *self.programs.lock() = Programs::default();
    }

    /// A program begins. `called`: its caller waits for it.
    pub(crate) fn enter_program(&self, program: Arc<Entry<Program>>, called: bool) {
        let mut programs = self.programs.lock();
        let before = programs.current.replace(program);
        match before.filter(|_| called) {
            Some(caller) => programs.callers.push((caller, self.statement())),
            None => programs.callers.clear(),
        }
        // The statement of the text before does not belong to this text.
        self.statement_start.store(0, Relaxed);
        self.statement_end.store(0, Relaxed);
    }

    /// A called program has ended: its caller goes on.
    pub(crate) fn leave_program(&self) {
        let mut programs = self.programs.lock();
        if let Some((caller, (from, to))) = programs.callers.pop() {
            programs.current = Some(caller);
            self.statement_start.store(from, Relaxed);
            self.statement_end.store(to, Relaxed);
        }
    }

    /// The position of the running statement, in bytes of its program's text.
    fn statement(&self) -> (u32, u32) {
        (self.statement_start.load(Relaxed), self.statement_end.load(Relaxed))
    }

    /// The running programs, each with its statement, the innermost first. Texts are cut to this
    /// many characters.
    pub fn frames(&self, chars_max: usize) -> Vec<Frame> {
        let programs = self.programs.lock();
        let current = programs.current.as_ref().map(|p| (Arc::clone(p), self.statement()));
        let callers = programs.callers.clone();
        drop(programs);
        let frame = |(program, (from, to)): StatementPosition| {
            let (line, text) = crate::showplan::cached::statement_text(&program, from, to);
            let text = text.chars().take(chars_max).collect();
            let offsets = crate::showplan::cached::offsets(&program, from, to);
            Frame { program, line, offsets, text }
        };
        current.into_iter().chain(callers.into_iter().rev()).map(frame).collect()
    }

    /// Its transaction will use rowversions of a database that are at least this large.
    pub(crate) fn versions_rows(&self, database: DatabaseId, at_least: impl FnOnce() -> u64) {
        self.row_versions.lock().entry(database).or_insert_with(at_least);
    }

    /// Its transaction has ended and uses no rowversions.
    pub(crate) fn versions_no_rows(&self) {
        self.row_versions.lock().clear();
    }

    /// The session asks about a lock with a name. When there are many names, those of locks that it
    /// does not hold are removed.
    pub(crate) fn name_lock(&self, lock: Resource, name: String, held: impl Fn(&Resource) -> bool) {
        let mut names = self.lock_names.lock();
        if names.contains_key(&lock) {
            return;
        }
        if names.len() >= LOCK_NAMES && names.len().is_power_of_two() {
            names.retain(|lock, _| held(lock));
        }
        names.insert(lock, name.into());
    }

    /// The name of an application lock that the session has asked about.
    pub fn lock_name(&self, lock: &Resource) -> Option<String> {
        self.lock_names.lock().get(lock).map(|name| name.to_string())
    }

    pub(crate) fn running_statements(&self) -> MutexGuard<'_, Vec<Arc<RunningStatement>>> {
        self.statements.lock()
    }

    pub(crate) fn set_doing(&self, doing: SessionCommand) {
        self.doing.store(doing as u8, Relaxed);
    }

    pub(crate) fn set_definition(&self, name: &'static str) {
        *self.definition.lock() = name;
    }

    /// Its command, as `command` of sys.dm_exec_requests names it.
    pub(crate) fn command(&self) -> &'static str {
        let doing = usize::from(self.doing.load(Relaxed));
        match doing == SessionCommand::Definition as usize {
            true => *self.definition.lock(),
            false => DOING[doing.min(DOING.len() - 1)],
        }
    }

    /// Sets the session that it waits for otherwise than for a lock, or that it waits for none.
    pub fn set_blocked_by(&self, session: Option<SessionId>) {
        self.blocked_by.store(session.map_or(0, |s| s.0), Relaxed);
    }

    /// A request begins on this thread, whose processor time so far is `thread_cpu_ns`.
    pub(crate) fn begin_request(&self, thread_cpu_ns: u64) {
        let before = &self.before;
        before.left.store(false, Relaxed);
        before.thread.store(os::task::thread_number(), Relaxed);
        before.thread_cpu_ns.store(thread_cpu_ns, Relaxed);
        for (now, then) in [
            (&self.cpu_ns, &before.cpu_ns),
            (&self.reads, &before.reads),
            (&self.logical_reads, &before.logical_reads),
            (&self.writes, &before.writes),
        ] {
            then.store(now.load(Relaxed), Relaxed);
        }
    }

    /// The thread has left the request, after `cpu_ns` of processor time for it.
    pub(crate) fn leave_thread(&self, cpu_ns: u64) {
        self.before.left.store(true, Relaxed);
        self.cpu_ns.fetch_add(cpu_ns, Relaxed);
    }

    /// The processor time of the running request, with that of workers that have ended.
    fn request_cpu_ns(&self) -> Option<u64> {
        let before = &self.before;
        if before.left.load(Relaxed) {
            return Some(self.cpu_ns.load(Relaxed).saturating_sub(before.cpu_ns.load(Relaxed)));
        }
        let thread = Some(before.thread.load(Relaxed)).filter(|&n| n != 0)?;
        let own = os::clock::cpu_ns_of(thread)?.checked_sub(before.thread_cpu_ns.load(Relaxed))?;
        let workers = self.cpu_ns.load(Relaxed).saturating_sub(before.cpu_ns.load(Relaxed));
        Some(own + workers)
    }

    /// A copy of its facts.
    pub fn row(&self) -> SessionRow {
        let now = os::clock::monotonic_ns();
        let running = self.running.load(Relaxed);
        let began = self.request_began_ns.load(Relaxed);
        let program = self.programs.lock().current.clone();
        let statements = self.statements.lock().clone();
        let (mut live_logical, mut live_physical) = (0, 0);
        for (logical, physical) in statements.iter().map(|s| s.pages()) {
            live_logical += logical;
            live_physical += physical;
        }
        let since = |now: &AtomicU64, then: &AtomicU64| {
            now.load(Relaxed).saturating_sub(then.load(Relaxed))
        };
        let before = &self.before;
        let (from, to) = self.statement();
        // Offsets are bytes of UTF-8 until a view reads them.
        let offsets = program.as_ref().map(|p| crate::showplan::cached::offsets(p, from, to));
        let (statement_start_offset, statement_end_offset) = offsets.unwrap_or_default();
        SessionRow {
            session_id: self.id,
            login: self.login.clone(),
            login_time: self.login_at,
            running,
            command: self.command(),
            database: self.database(),
            object: ObjectId(self.object.load(Relaxed)),
            request_start_time: self.request_began_at.load(Relaxed),
            request_end_time: self.request_ended_at.load(Relaxed),
            attention_time: self.attention_at.load(Relaxed),
            thread: before.thread.load(Relaxed),
            waits: Arc::clone(&self.waits),
            blocked_by: Some(self.blocked_by.load(Relaxed)).filter(|s| *s != 0).map(SessionId),
            request_elapsed_ns: if running { now.saturating_sub(began) } else { 0 },
            cpu_ns: self.cpu_ns.load(Relaxed),
            elapsed_ns: self.elapsed_ns.load(Relaxed),
            reads: self.reads.load(Relaxed),
            logical_reads: self.logical_reads.load(Relaxed),
            writes: self.writes.load(Relaxed),
            row_count: self.row_count.load(Relaxed),
            requests: self.requests.load(Relaxed),
            open_transaction_count: self.open_transactions.load(Relaxed),
            transaction_id: self.transaction.load(Relaxed),
            isolation_level: self.isolation.load(Relaxed),
            deadlock_priority: self.deadlock_priority.load(Relaxed),
            lock_timeout_ms: self.lock_timeout_ms.load(Relaxed),
            options: self.options.load(Relaxed),
            nest_level: self.nest_level.load(Relaxed),
            text_size: self.text_size.load(Relaxed),
            date_first: self.date_first.load(Relaxed),
            date_format: self.date_format.load(Relaxed),
            language: Language::by_id(self.language.load(Relaxed).into()).map_or("", |l| l.name),
            request_cpu_ns: self.request_cpu_ns().filter(|_| running),
            request_reads: since(&self.reads, &before.reads) + live_physical,
            request_logical_reads: since(&self.logical_reads, &before.logical_reads) + live_logical,
            request_writes: since(&self.writes, &before.writes),
            last_error: self.last_error.load(Relaxed),
            wait: self.waiter.current().map(|(kind, since)| (kind, now.saturating_sub(since))),
            last_wait: self.waiter.last(),
            statement_start_offset,
            statement_end_offset,
            input: self.input.lock().clone(),
            program,
            statements,
        }
    }
}

/// All sessions of an instance.
#[derive(Default)]
pub struct Registry {
    sessions: RwLock<BTreeMap<SessionId, Arc<SessionEntry>>>,
    logins: AtomicU64,
    /// Requests of sessions that have ended; changed together with the list.
    past_requests: AtomicU64,
}

impl Registry {
    /// A lower bound of the rowversions of open transactions in a database.
    pub(crate) fn oldest_row_version(&self, database: DatabaseId) -> Option<u64> {
        let sessions = self.sessions.read();
        sessions.values().filter_map(|e| e.row_versions.lock().get(&database).copied()).min()
    }

    /// An empty registry.
    pub fn new() -> Arc<Registry> {
        Arc::new(Registry::default())
    }

    /// Adds a session under the smallest free number.
    ///
    /// # Errors
    /// 17809 if no number is free.
    pub(crate) fn enter(
        &self,
        login: Login,
        waiter: Arc<Waiter>,
        database: DatabaseId,
    ) -> SqlResult<Arc<SessionEntry>> {
        let mut sessions = self.sessions.write();
        let free = (FIRST_USER_SESSION..=i16::MAX).find(|&n| !sessions.contains_key(&SessionId(n)));
        let Some(number) = free else {
            return Err(SqlError::new(messages::CONNECTIONS_FULL, &[&sessions.len()]));
        };
        let id = SessionId(number);
        let now = os::clock::now().0;
        let entry = Arc::new(SessionEntry {
            id,
            login,
            login_at: now,
            waiter,
            waits: Arc::default(),
            running: AtomicBool::new(false),
            doing: AtomicU8::new(SessionCommand::Nothing as u8),
            database: AtomicU16::new(database.0),
            object: AtomicI32::new(0),
            request_began_at: AtomicI64::new(now),
            request_began_ns: AtomicU64::new(0),
            request_ended_at: AtomicI64::new(now),
            cpu_ns: AtomicU64::new(0),
            elapsed_ns: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            logical_reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            row_count: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            open_transactions: AtomicU32::new(0),
            transaction: AtomicU64::new(0),
            isolation: AtomicU8::new(2),
            deadlock_priority: AtomicI8::new(0),
            lock_timeout_ms: AtomicI32::new(-1),
            options: AtomicU32::new(0),
            nest_level: AtomicU8::new(0),
            text_size: AtomicI32::new(0),
            date_first: AtomicU8::new(0),
            date_format: AtomicU8::new(0),
            language: AtomicU8::new(0),
            before: RequestBaseline::default(),
            last_error: AtomicI32::new(0),
            statement_start: AtomicU32::new(0),
            statement_end: AtomicU32::new(0),
            row_versions: Mutex::default(),
            definition: Mutex::new(DOING[SessionCommand::Definition as usize]),
            blocked_by: AtomicI16::new(0),
            attention_at: AtomicI64::new(0),
            lock_names: Mutex::default(),
            input: Mutex::default(),
            programs: Mutex::default(),
            statements: Mutex::default(),
        });
        sessions.insert(id, Arc::clone(&entry));
        self.logins.fetch_add(1, Relaxed);
        Ok(entry)
    }

    pub(crate) fn leave(&self, id: SessionId) {
        let mut sessions = self.sessions.write();
        let was = sessions.remove(&id);
        debug_assert!(was.is_some(), "a session leaves once");
        let requests = was.map_or(0, |s| s.requests.load(Relaxed));
        self.past_requests.fetch_add(requests, Relaxed);
    }

    /// A session by number.
    pub fn find(&self, id: SessionId) -> Option<Arc<SessionEntry>> {
        self.sessions.read().get(&id).map(Arc::clone)
    }

    /// Every session by number.
    pub fn list(&self) -> Vec<SessionRow> {
        let held: Vec<Arc<SessionEntry>> = self.sessions.read().values().map(Arc::clone).collect();
        held.iter().map(|s| s.row()).collect()
    }

    /// The present number of sessions.
    pub fn count(&self) -> usize {
        self.sessions.read().len()
    }

    /// `@@CONNECTIONS`: logins since start.
    pub fn logins(&self) -> u64 {
        self.logins.load(Relaxed)
    }

    /// Batches and calls of all sessions since the start.
    pub fn requests(&self) -> u64 {
        let sessions = self.sessions.read();
        let present = sessions.values().map(|s| s.requests.load(Relaxed));
        present.fold(self.past_requests.load(Relaxed), u64::wrapping_add)
    }

    /// The sessions whose current database this is.
    pub fn users_of(&self, database: DatabaseId) -> Vec<Arc<SessionEntry>> {
        let sessions = self.sessions.read();
        sessions.values().filter(|s| s.database() == database).map(Arc::clone).collect()
    }
}

/// Shows a statement until it is dropped.
pub(crate) struct ShownStatement<'e> {
    entry: &'e SessionEntry,
}

impl<'e> ShownStatement<'e> {
    pub(crate) fn new(
        entry: &'e SessionEntry,
        running: &Arc<RunningStatement>,
    ) -> ShownStatement<'e> {
        running.begin();
        entry.running_statements().push(Arc::clone(running));
        ShownStatement { entry }
    }
}

impl Drop for ShownStatement<'_> {
    fn drop(&mut self) {
        let ended = self.entry.running_statements().pop();
        if let Some(running) = ended {
            running.end();
        }
    }
}
