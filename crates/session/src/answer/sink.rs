//! The sink of a request's results, which come in the order in which TDS sends them.

use base::SqlError;
use types::{Collation, SqlType, Value};

/// The reader is gone, because the client has disconnected. The request ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClosedSink;

/// A column of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// Its name; empty for none.
    pub name: String,
    /// Its type.
    pub sql_type: SqlType,
    /// Its collation, when it has characters.
    pub collation: Collation,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether it is an identity column.
    pub identity: bool,
    /// Whether it is an expression rather than a table's column.
    pub computed: bool,
    /// Whether it is the word NULL, which has no type of its own.
    pub untyped: bool,
}

/// Where a column of a cursor comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// Which table, from 1; 0 for none.
    pub table: u8,
    /// It is an expression.
    pub expression: bool,
    /// Whether it is part of the key by which rows are read again.
    pub key: bool,
    /// Whether the query did not ask for it.
    pub hidden: bool,
    /// Its name in its table, if that is different.
    pub name: Option<String>,
}

/// The kind of statement, as the DONE token reports it to JDBC and other drivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// SELECT, or an assignment by a SELECT. The count of an assignment does not count rows sent.
    Select,
    /// SELECT INTO.
    SelectInto,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// The rows of INSERT BULK.
    BulkInsert,
    /// EXECUTE, or a call.
    Execute,
    /// PRINT, RAISERROR below severity 11.
    Message,
    /// SET of an option to ON.
    SetOn,
    /// SET of an option to OFF.
    SetOff,
    /// SET of anything else.
    Set,
    /// BEGIN TRANSACTION.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK, also to a savepoint.
    Rollback,
    /// OPEN.
    OpenCursor,
    /// SHUTDOWN.
    Shutdown,
    /// CREATE, ALTER, DROP and similar statements, by their first words.
    Define(&'static str),
    /// Anything else.
    Other,
}

/// The position of a DONE token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DoneScope {
    /// A statement of a batch (DONE).
    Statement,
    /// A statement within a procedure (DONEINPROC).
    InProcedure,
    /// A procedure (DONEPROC).
    Procedure,
}

/// The end of a statement, a procedure or a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// What has ended.
    pub scope: DoneScope,
    /// The statement.
    pub command: Command,
    /// Rows affected; `None` when there is no count (NOCOUNT, or none applies).
    pub rows: Option<u64>,
    /// More follows in this response.
    pub more: bool,
    /// The statement failed.
    pub error: bool,
    /// A transaction is open.
    pub in_transaction: bool,
}

/// Something about the connection changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentChange {
    /// USE: new and old database.
    Database {
        /// The new name.
        new: String,
        /// The old name.
        old: String,
    },
    /// SET LANGUAGE: new and old.
    Language {
        /// The new name.
        new: String,
        /// The old name.
        old: String,
    },
    /// The collation of the database.
    Collation([u8; 5]),
    /// A transaction began: its descriptor.
    Begin(u64),
    /// A transaction was committed: its descriptor.
    Commit(u64),
    /// A transaction was rolled back: its descriptor.
    Rollback(u64),
    /// The session was reset.
    ResetDone,
}

/// Takes results as they come.
pub trait ResultSink {
    /// A result set begins.
    ///
    /// # Errors
    /// The client is gone.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink>;

    /// For a cursor: the names of its tables, part by part, and the origin of its columns. A sink
    /// that does not need this ignores it.
    fn origins(&mut self, tables: &[Vec<String>], columns: &[ColumnOrigin]) {
        let _ = (tables, columns);
    }

    /// A row of the current result set. Blocks while the client does not read: the server waits
    /// under ASYNC_NETWORK_IO and ends the wait on an attention.
    ///
    /// # Errors
    /// The client is gone, or the request is cancelled.
    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink>;

    /// An error or an information message, by its severity.
    fn message(&mut self, message: &SqlError);

    /// The end of a statement, a procedure or the request.
    fn done(&mut self, done: Completion);

    /// The return status of a procedure.
    fn return_status(&mut self, status: i32);

    /// An output parameter.
    fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value);

    /// From now on results may be sent only when the request has ended, together with results that
    /// are not sent yet: they reveal a commit that is not durable. A sink that only handles whole
    /// answers ignores this.
    fn hold(&mut self) {}

    /// A change of the connection.
    fn environment(&mut self, change: &EnvironmentChange);
}
