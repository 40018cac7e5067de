//! The requests of a client: text, procedure calls with parameters, transaction requests.

pub(crate) mod activation;
pub(crate) mod announcement;
pub(crate) mod bulk;
pub(crate) mod command;
pub(crate) mod connection;
pub(crate) mod counts;
pub(crate) mod execute;
pub(crate) mod flow;
pub(crate) mod insert_execute;
pub(crate) mod meter;
pub(crate) mod nested;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod owed;
pub(crate) mod pending_end;
pub(crate) mod perform;
pub(crate) mod run;
pub(crate) mod statistics;
pub(crate) mod steps;
pub(crate) mod transact;
pub(crate) mod trigger;

use crate::ResultSink;
use crate::answer::sink::Command;
use base::{SessionId, SqlResult};
use os::values::Charge;
use os::wait::Waiter;
use std::sync::Arc;
use types::{SqlType, Value};
use work::OwedCommit;

/// A login and its properties. The server's authenticator has checked the password before a
/// connection is made.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// The login's name.
    pub user: String,
    /// HOST_NAME().
    pub host: String,
    /// APP_NAME() / PROGRAM_NAME().
    pub application: String,
    /// The client library.
    pub library: String,
    /// The client's process id.
    pub process_id: u32,
    /// The database to begin in; empty for the login's default.
    pub database: String,
    /// SET LANGUAGE at login; empty for the default.
    pub language: String,
    /// Whether an unknown language fails the login; else the default is used.
    pub language_or_nothing: bool,
    /// Whether ODBC-like SET defaults are on (ANSI_DEFAULTS, as LOGIN7's fODBC says).
    pub odbc_defaults: bool,
    /// Address and port for sys.dm_exec_connections; empty when embedded.
    pub address: String,
    /// Whether the whole connection is encrypted.
    pub encrypted: bool,
    /// Bytes of a network packet.
    pub packet_bytes: u32,
    /// TDS version, 0x74000004 and the like; 0 when embedded.
    pub protocol_version: u32,
}

/// A parameter of a procedure call.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// With its @; empty when passed by position.
    pub name: String,
    /// Declared type as the client sent it.
    pub sql_type: SqlType,
    /// The value.
    pub value: Value,
    /// Whether the client wants the value back.
    pub output: bool,
    /// Whether the procedure's default is used instead of `value`.
    pub default: bool,
    /// A table instead of `value`.
    pub table: Option<Box<TableValue>>,
}

/// A table-valued parameter as a client sends it.
#[derive(Clone, Debug, Default)]
pub struct TableValue {
    /// `schema.type`, or as much of it as the client gives.
    pub type_name: String,
    /// Its columns in the order of the type's.
    pub columns: Vec<TableValueColumn>,
    /// Its rows: values of the columns that do not have the default.
    pub rows: Vec<Vec<Value>>,
    /// The memory charge of its rows.
    pub charge: Charge,
}

/// A column of a [`TableValue`].
#[derive(Clone, Copy, Debug)]
pub struct TableValueColumn {
    /// The type that is sent.
    pub sql_type: SqlType,
    /// Whether it has the type's default in every row, and no values.
    pub default: bool,
}

/// Which procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// `schema.name`, as the client spells it.
    Named(String),
    /// sp_cursor (1), sp_cursoropen (2), sp_cursorprepare (3), sp_cursorexecute (4),
    /// sp_cursorprepexec (5), sp_cursorunprepare (6), sp_cursorfetch (7), sp_cursoroption (8),
    /// sp_cursorclose (9), sp_executesql (10), sp_prepare (11), sp_execute (12),
    /// sp_prepexec (13), sp_prepexecrpc (14), sp_unprepare (15).
    Numbered(u16),
}

/// Isolation that a transaction request may set for the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionIsolation {
    /// Leave it.
    Unchanged,
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
    /// SNAPSHOT.
    Snapshot,
}

/// A transaction-manager request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionRequest {
    /// BEGIN TRANSACTION.
    Begin {
        /// May be empty.
        name: String,
        /// For the session from now on.
        isolation: TransactionIsolation,
    },
    /// COMMIT TRANSACTION, and another BEGIN at once if `next` is there.
    Commit {
        /// May be empty.
        name: String,
        /// Isolation and name of the next transaction.
        next: Option<(TransactionIsolation, String)>,
    },
    /// ROLLBACK TRANSACTION, or to a savepoint if `name` is one; another BEGIN if `next` is there.
    Rollback {
        /// May be empty.
        name: String,
        /// Isolation and name of the next transaction.
        next: Option<(TransactionIsolation, String)>,
    },
    /// SAVE TRANSACTION.
    Save {
        /// The savepoint.
        name: String,
    },
}

impl TransactionRequest {
    /// The command of its answer's DONE.
    pub(crate) fn command(&self) -> Command {
        match self {
            TransactionRequest::Begin { .. } => Command::Begin,
            TransactionRequest::Commit { .. } => Command::Commit,
            TransactionRequest::Rollback { .. } => Command::Rollback,
            TransactionRequest::Save { .. } => Command::Other,
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub enum Request {
    /// A batch of T-SQL.
    Batch(String),
    /// A procedure call. `more`: another call of the same message follows.
    Call {
        /// The procedure.
        procedure: Procedure,
        /// Its parameters.
        parameters: Vec<Parameter>,
        /// Another call follows: its DONE says MORE.
        more: bool,
    },
    /// A transaction-manager request.
    Transaction(TransactionRequest),
}

/// One client's connection to the engine.
pub trait Connection: Send {
    /// `@@SPID`.
    fn session_id(&self) -> SessionId;

    /// Runs a request to its end. All results and errors go into the sink. The last one is a
    /// [`crate::Completion`] without MORE (unless the request said `more`). Returns false if the
    /// connection must be closed (severity 20 and up, KILL).
    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool;

    /// The same for the last request of a message: a commit at its end may be owed. Then the answer
    /// may not be sent, and the connection may not be used, before [`Connection::settle`].
    fn run_last(&mut self, request: Request, sink: &mut dyn ResultSink) -> RequestEnd {
        RequestEnd::Whole(self.run(request, sink))
    }

    /// What the request owed ([`RequestEnd::Owes`]) is durable: the request ends now.
    fn settle(&mut self) {}

    /// Takes the rows of the INSERT BULK that the request before has announced. Answers like
    /// [`Connection::run`].
    fn load(&mut self, rows: &mut dyn BulkRows, sink: &mut dyn ResultSink) -> bool;

    /// sp_reset_connection: restores the state after login. An open transaction is rolled back
    /// unless `keep_transaction`.
    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink);

    /// Where the request waits. An attention calls `cancel(Attention)` on it from another task
    /// while [`Connection::run`] runs; the server resets it before the next request.
    fn waiter(&self) -> Arc<Waiter>;

    /// Sends database, language and so on at login, as environment changes and messages 5701 and
    /// 5703.
    fn greet(&mut self, sink: &mut dyn ResultSink);
}

/// How a request has ended.
pub enum RequestEnd {
    /// It has ended; false if the connection must be closed.
    Whole(bool),
    /// It must still be settled when this commit is durable. Its answer may not be sent before.
    Owes(OwedCommit),
}

/// The rows of a bulk load as they arrive.
pub trait BulkRows {
    /// The types that the client sends, one a column.
    fn columns(&self) -> &[SqlType];

    /// Reads the next row; false after the last.
    ///
    /// # Errors
    /// Bytes that are not a row.
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool>;
}
