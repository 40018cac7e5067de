//! What a statement is given to run with, and what it returns.
//!
//! Everything comes in by argument; nothing here is kept beyond one run.

use super::callout::Callout;
use crate::exchange::Workers;
use crate::memory::ResourceSemaphores;
use access::{Hobts, Isolation, Spill};
use base::{DatabaseId, ObjectId, SqlResult};
use builtins::SessionFacts;
use plan::IdentityColumn;
use types::Value;
use work::{CommitTime, Work};

/// Takes the rows of a query as they come.
pub trait RowSink {
    /// One row, its values in the order of `Query::columns`.
    ///
    /// # Errors
    /// The client is gone, or the request is cancelled; the statement ends with this error.
    fn row(&mut self, values: &[Value]) -> SqlResult<()>;
}

/// Supplies the rows of a bulk load, as values of variables.
pub trait RowFeed {
    /// Sets the variables that the INSERT reads; false behind the last row.
    ///
    /// # Errors
    /// The client's: bytes that are no row.
    fn next(&mut self, variables: &mut [Value]) -> SqlResult<bool>;
}

/// The sink of statements that return no rows.
pub struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: &[Value]) -> SqlResult<()> {
        Ok(())
    }
}

/// The source of identity values. Values are not given back when a statement fails.
pub trait IdentitySource {
    /// The next value of a table's identity column.
    ///
    /// # Errors
    /// Log, space; the column's type is judged by the caller.
    fn next(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128>;

    /// A row gave its own value (IDENTITY_INSERT ON): later values go beyond it.
    ///
    /// # Errors
    /// Log, space.
    fn given(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()>;
}

/// What grants a statement its memory and workers.
#[derive(Clone, Copy)]
pub struct GrantTerms<'a> {
    /// The semaphores of the instance.
    pub semaphores: &'a ResourceSemaphores,
    /// The workers of the instance; `None`: the statement runs alone.
    pub workers: Option<&'a Workers>,
}

/// What a statement runs with.
pub struct ExecContext<'a> {
    /// The session's transaction: open, when the plan touches tables.
    pub work: &'a mut Work,
    /// The unit of work that writes table variables: open when the plan changes one.
    pub private: Option<&'a mut Work>,
    /// Finds heaps, indexes and system views.
    pub hobts: &'a dyn Hobts,
    /// Makes spill files.
    pub spill: &'a dyn Spill,
    /// Variables and parameters by `VariableId`; statements assign them.
    pub variables: &'a mut [Value],
    /// Answers `@@` variables and functions.
    pub facts: &'a dyn SessionFacts,
    /// Identity values.
    pub identity: &'a dyn IdentitySource,
    /// Calls functions of the user.
    pub callout: &'a dyn Callout,
    /// Memory for sorts and hashes.
    pub grant: GrantTerms<'a>,
    /// The session's isolation level; hints go before it.
    pub isolation: Isolation,
    /// The moment as of which plain reads at that level read tables that have versions; its
    /// snapshot is registered until the statement has ended.
    pub as_of: Option<CommitTime>,
    /// Lock after qualification: the target's rows are found as of that moment, without locks. A
    /// row that has changed since ends the statement (3960), and the caller runs it again.
    pub qualifies_first: bool,
    /// SET ROWCOUNT: how many rows a change or an assignment takes at most.
    pub row_limit: Option<u64>,
}

/// What a statement did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Rows sent, assigned or changed: `@@ROWCOUNT`.
    pub rows_affected: u64,
    /// The last identity value of an INSERT: SCOPE_IDENTITY(), `@@IDENTITY`.
    pub identity: Option<i128>,
    /// An aggregate passed over NULL: warning 8153, where ANSI_WARNINGS is on.
    pub nulls_eliminated: bool,
    /// A row was left out by IGNORE_DUP_KEY: message 3604.
    pub duplicates_ignored: bool,
}

/// What an operator has done in the last run. Times are 0 when they were not requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OperatorCount {
    /// Rows it gave.
    pub rows: u64,
    /// Times it was opened.
    pub rebinds: u64,
    /// Times it was begun again with nothing changed outside.
    pub rewinds: u64,
    /// Times it was found to have no more rows.
    pub ends: u64,
    /// Rows that it read of a table and did not give.
    pub refused: u64,
    /// Bytes it spilled.
    pub spilled_bytes: u64,
    /// Time in its calls, with what is below it.
    pub elapsed_ns: u64,
    /// The same without waits.
    pub cpu_ns: u64,
    /// When it was opened first, by the monotonic clock.
    pub opened_at: u64,
    /// When its last call ended.
    pub called_at: u64,
    /// When it gave its first row.
    pub first_row_at: u64,
    /// When it gave its last row.
    pub last_row_at: u64,
}

impl OperatorCount {
    /// Times it was opened or rewound.
    pub fn executions(&self) -> u64 {
        self.rebinds + self.rewinds
    }

    /// Adds what it did in another thread.
    pub(crate) fn add(&mut self, more: &OperatorCount) {
        self.rows += more.rows;
        self.rebinds += more.rebinds;
        self.rewinds += more.rewinds;
        self.ends += more.ends;
        self.refused += more.refused;
        self.spilled_bytes += more.spilled_bytes;
        self.elapsed_ns += more.elapsed_ns;
        self.cpu_ns += more.cpu_ns;
        let first = |a: u64, b: u64| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        self.opened_at = first(self.opened_at, more.opened_at);
        self.first_row_at = first(self.first_row_at, more.first_row_at);
        self.called_at = self.called_at.max(more.called_at);
        self.last_row_at = self.last_row_at.max(more.last_row_at);
    }
}
