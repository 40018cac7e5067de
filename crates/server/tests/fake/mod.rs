//! A small engine behind the real door: tables in memory, one client at a time, enough T-SQL for
//! the client tests, procedures that wait, compute, flood and panic; and, asked to, lies.
//!
//! It is how the door and the drivers' tests are tested; nothing of it is in the product.

#![allow(dead_code, missing_docs, reason = "each test uses a part of it")]

mod calls;
mod eval;
mod run;
mod tables;

use base::{SessionId, SqlError, SqlResult, messages};
use os::memory::Memory;
use os::sync::Mutex;
use os::wait::Waiter;
use server::Engine;
use session::{Connection, EnvironmentChange, Login, Request, ResultSink, TransactionRequest};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI16, Ordering::Relaxed};
use tables::Store;
use types::{SqlType, Value};

pub(crate) const USER: &str = "sa";
pub(crate) const PASSWORD: &str = "Fake-engine-1";

/// How the engine answers wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Lie {
    #[default]
    None,
    /// Values differ a little.
    Values,
    /// Values are NULL.
    Nulls,
    /// Errors have another number.
    Errors,
    /// Errors are not told at all.
    Silence,
    /// ROLLBACK commits.
    Rollback,
    /// The last row of a result is missing.
    Rows,
    /// Update counts are one more.
    Counts,
    /// Only the first result set comes.
    Sets,
    /// Output parameters are wrong.
    Outputs,
    /// WAITFOR does not wait.
    Haste,
}

impl Lie {
    pub(crate) const ALL: [(&'static str, Lie); 10] = [
        ("values", Lie::Values),
        ("nulls", Lie::Nulls),
        ("errors", Lie::Errors),
        ("silence", Lie::Silence),
        ("rollback", Lie::Rollback),
        ("rows", Lie::Rows),
        ("counts", Lie::Counts),
        ("sets", Lie::Sets),
        ("outputs", Lie::Outputs),
        ("haste", Lie::Haste),
    ];

    pub(crate) fn by_name(name: &str) -> Option<Lie> {
        Lie::ALL.iter().find(|(n, _)| *n == name).map(|&(_, lie)| lie)
    }
}

/// The engine.
pub(crate) struct Fake {
    password_hash: String,
    store: Arc<Mutex<Store>>,
    next_spid: AtomicI16,
    lie: Lie,
    verbose: bool,
    /// What the door charges long requests to.
    pub(crate) memory: Mutex<Option<Arc<Memory>>>,
    pub(crate) lines: Mutex<Vec<String>>,
    /// Of every session: what a KILL cancels.
    pub(crate) waiters: Mutex<Vec<Arc<Waiter>>>,
}

impl Fake {
    pub(crate) fn new(password: &str, lie: Lie, verbose: bool) -> Arc<Fake> {
        Arc::new(Fake {
            password_hash: server::password::hash(password),
            store: Arc::default(),
            next_spid: AtomicI16::new(51),
            lie,
            verbose,
            memory: Mutex::default(),
            lines: Mutex::default(),
            waiters: Mutex::default(),
        })
    }
}

impl Engine for Fake {
    fn authenticate(&self, user: &str, password: &str) -> SqlResult<()> {
        let right = server::password::verify(password, &self.password_hash);
        if right && user.eq_ignore_ascii_case(USER) {
            return Ok(());
        }
        Err(SqlError::new(messages::LOGIN_FAILED, &[&user]))
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        if !["", "master", "tempdb"].contains(&login.database.as_str()) {
            return Err(SqlError::new(messages::CANNOT_OPEN_DATABASE, &[&login.database]));
        }
        let waiter = Arc::<Waiter>::default();
        self.waiters.lock().push(Arc::clone(&waiter));
        Ok(Box::new(FakeSession {
            spid: self.next_spid.fetch_add(1, Relaxed),
            waiter,
            store: Arc::clone(&self.store),
            lie: self.lie,
            verbose: self.verbose,
            transactions: Vec::new(),
            count: 0,
            implicit: false,
            prepared: HashMap::new(),
            next_handle: 1,
            outputs: Vec::new(),
        }))
    }

    fn memory(&self) -> Option<Arc<Memory>> {
        self.memory.lock().clone()
    }

    fn server_name(&self) -> &str {
        "FAKE"
    }

    fn log(&self, line: &str) {
        if self.verbose {
            eprintln!("{line}");
        }
        self.lines.lock().push(line.to_owned());
    }
}

/// A variable or parameter.
pub(crate) type TypedValue = (SqlType, Value);
pub(crate) type Variables = HashMap<String, TypedValue>;

/// A session.
pub(crate) struct FakeSession {
    spid: i16,
    waiter: Arc<Waiter>,
    store: Arc<Mutex<Store>>,
    lie: Lie,
    verbose: bool,
    /// Before-images: of the transaction (at its first change), then of its savepoints.
    transactions: Vec<(String, Option<Store>)>,
    /// @@TRANCOUNT.
    count: u32,
    implicit: bool,
    prepared: HashMap<i32, (String, String)>,
    next_handle: i32,
    /// Output parameters of the call that runs.
    outputs: Vec<(String, SqlType, Value)>,
}

impl Connection for FakeSession {
    fn session_id(&self) -> SessionId {
        SessionId(self.spid)
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        if self.verbose {
            eprintln!("{}: {request:?}", self.spid);
        }
        let mut honest = sink;
        let sink: &mut dyn ResultSink =
            &mut run::Liar { sink: &mut honest, lie: self.lie, sets: 0 };
        match request {
            Request::Batch(text) => self.batch(&text, sink),
            Request::Call { procedure, parameters, more } => {
                self.call(&procedure, &parameters, more, sink);
            }
            Request::Transaction(asked) => self.transaction_request(asked, sink),
        }
        true
    }

    /// Counts the rows; without columns nothing was announced.
    fn load(&mut self, rows: &mut dyn session::BulkRows, sink: &mut dyn ResultSink) -> bool {
        let mut row = vec![Value::Null; rows.columns().len()];
        let mut count = 0;
        let counted = match row.is_empty() {
            true => Err(SqlError::new(messages::BULK_NOT_BEGUN, &[])),
            false => loop {
                match rows.next(&mut row) {
                    Ok(true) => count += 1,
                    Ok(false) => break Ok(count),
                    Err(e) => break Err(e),
                }
            },
        };
        if let Err(e) = &counted
            && e.number() != messages::ATTENTION.number
        {
            sink.message(e);
        }
        sink.done(session::Completion {
            scope: session::DoneScope::Statement,
            command: session::Command::BulkInsert,
            rows: counted.as_ref().ok().copied(),
            more: false,
            error: counted.is_err(),
            in_transaction: false,
        });
        true
    }

    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        if !keep_transaction && self.count > 0 {
            self.rollback(sink);
        }
        self.implicit = false;
        self.prepared.clear();
        sink.environment(&EnvironmentChange::ResetDone);
    }

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(&self.waiter)
    }

    fn greet(&mut self, sink: &mut dyn ResultSink) {
        let (new, old) = ("master".to_owned(), "master".to_owned());
        sink.environment(&EnvironmentChange::Database { new, old });
        sink.message(&SqlError::new(messages::LOGIN_DATABASE_CHANGED, &[&"master"]));
        let collation = types::Collation::default().tds_bytes();
        sink.environment(&EnvironmentChange::Collation(collation));
        let (new, old) = ("us_english".to_owned(), String::new());
        sink.environment(&EnvironmentChange::Language { new, old });
        sink.message(&SqlError::new(messages::LANGUAGE_CHANGED, &[&"us_english"]));
    }
}

impl FakeSession {
    fn transaction_request(&mut self, asked: TransactionRequest, sink: &mut dyn ResultSink) {
        let result = match asked {
            TransactionRequest::Begin { .. } => {
                self.begin(sink);
                Ok(())
            }
            TransactionRequest::Commit { next, .. } => {
                let done = self.commit(sink);
                if next.is_some() {
                    self.begin(sink);
                }
                done
            }
            TransactionRequest::Rollback { name, next } => {
                let done = self.rollback_to(&name, sink);
                if next.is_some() {
                    self.begin(sink);
                }
                done
            }
            TransactionRequest::Save { name } => self.save(&name),
        };
        self.end_statement(result, sink);
    }

    fn descriptor(&self) -> u64 {
        0x1_0000_0000 + u64::from(self.spid.unsigned_abs())
    }

    pub(crate) fn begin(&mut self, sink: &mut dyn ResultSink) {
        if self.count == 0 {
            self.transactions = vec![(String::new(), None)];
            sink.environment(&EnvironmentChange::Begin(self.descriptor()));
        }
        self.count += 1;
    }

    /// A change is about to be made.
    pub(crate) fn remember(&mut self) {
        if let Some((_, before @ None)) = self.transactions.first_mut() {
            *before = Some(self.store.lock().clone());
        }
    }

    pub(crate) fn commit(&mut self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        match self.count {
            0 => return Err(SqlError::new(messages::COMMIT_NO_BEGIN, &[])),
            1 => {
                self.transactions.clear();
                sink.environment(&EnvironmentChange::Commit(self.descriptor()));
            }
            _ => {}
        }
        self.count -= 1;
        Ok(())
    }

    pub(crate) fn rollback(&mut self, sink: &mut dyn ResultSink) {
        if let Some((_, Some(before))) = self.transactions.drain(..).next()
            && self.lie != Lie::Rollback
        {
            *self.store.lock() = before;
        }
        self.count = 0;
        sink.environment(&EnvironmentChange::Rollback(self.descriptor()));
    }

    pub(crate) fn rollback_to(&mut self, name: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if self.count == 0 {
            return Err(SqlError::new(messages::CANNOT_ROLLBACK_NO_SAVEPOINT, &[]));
        }
        let savepoint = self.transactions.iter().rposition(|(n, _)| n == name && !name.is_empty());
        match savepoint {
            Some(at) => {
                if let Some(before) = &self.transactions[at].1
                    && self.lie != Lie::Rollback
                {
                    *self.store.lock() = before.clone();
                }
                self.transactions.truncate(at + 1);
            }
            None => self.rollback(sink),
        }
        Ok(())
    }

    pub(crate) fn save(&mut self, name: &str) -> SqlResult<()> {
        if self.count == 0 {
            return Err(SqlError::raw(628, 16, 0, "Cannot issue SAVE TRANSACTION.".to_owned()));
        }
        let before = self.store.lock().clone();
        self.transactions.push((name.to_owned(), Some(before)));
        Ok(())
    }
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        if let Some((_, Some(before))) = self.transactions.drain(..).next() {
            *self.store.lock() = before;
        }
    }
}
