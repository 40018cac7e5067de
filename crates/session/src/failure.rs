//! How far an error reaches: the statement, its procedure, the batch, or the connection.
//!
//! ```text
//! Statement   515, 547, 2627, 8134, RAISERROR …   the next statement runs
//! Scope       207, 208 … found when a statement was bound   the procedure or batch ends
//! Batch       245, 241 …, 1205, 11535 …, THROW    the batch ends
//! Connection  severity 20 and above, KILL         the connection ends
//! ```
//! SET XACT_ABORT ON makes a batch's end, with rollback, of each but RAISERROR.

use base::{SqlError, messages};

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reach {
    Statement,
    Scope,
    Batch,
    /// An attention, or the client is gone: ends quietly.
    Request,
    Connection,
}

/// What WITH RESULT SETS does not allow: ends the batch, spares its transaction.
const RESULT_SETS: &[i32] = &[11535, 11536, 11537, 11538, 11553];

/// An error on its way up to whoever deals with it.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) error: SqlError,
    pub(crate) reach: Reach,
    /// The transaction cannot go on: rolled back, or doomed where a CATCH block gets it.
    pub(crate) dooms: bool,
    /// XACT_ABORT makes no difference (RAISERROR).
    pub(crate) spares_transaction: bool,
    /// It was found before the statement did anything.
    pub(crate) of_binding: bool,
    /// The client has been told.
    pub(crate) told: bool,
}

impl std::ops::Deref for Failure {
    type Target = Facts;
    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl std::ops::DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Facts {
        &mut self.0
    }
}

/// Errors that end the batch and its transaction: conversions of values, deadlocks, what SNAPSHOT
/// does not allow, triggers that doom it, and the ends that INSERT … EXEC does not allow.
const BATCH_ABORTING: &[i32] = &[
    241, 242, 243, 244, 245, 248, 293, 295, 235, 517, 1205, 3616, 3915, 3916, 3930, 3951, 3952,
    3954, 3956, 3957, 3958, 3960, 3961, 3964, 3966, 8114, 8169, 9803, 596, 217, 3998,
];

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Failure {
        let reach = match error.number() {
            n if n == messages::ATTENTION.number => Reach::Request,
            _ if error.severity() >= 20 => Reach::Connection,
            n if BATCH_ABORTING.contains(&n) || RESULT_SETS.contains(&n) => Reach::Batch,
            _ => Reach::Statement,
        };
        let dooms = BATCH_ABORTING.contains(&error.number()) && reach == Reach::Batch;
        let facts = Facts {
            error,
            reach,
            dooms,
            spares_transaction: false,
            of_binding: false,
            told: false,
        };
        Failure(Box::new(facts))
    }
}

impl Failure {
    /// The highest severity of what is told of it.
    pub(crate) fn severity(&self) -> u8 {
        let earlier = self.error.earlier().iter().map(SqlError::severity);
        earlier.fold(self.error.severity(), u8::max)
    }

    /// Found when a statement was bound: its procedure or batch cannot go on.
    pub(crate) fn of_binding(error: SqlError) -> Failure {
        let explicit =
            [messages::IDENTITY_INSERT_OFF.number, messages::IDENTITY_VALUE_REQUIRED.number];
        let of_statement = explicit.contains(&error.number());
        let mut failure = Failure::from(error);
        if failure.reach < Reach::Scope && !of_statement {
            failure.reach = Reach::Scope;
        }
        failure.dooms = false;
        failure.of_binding = true;
        failure
    }

    /// By THROW: ends the batch, spares the transaction unless XACT_ABORT is on.
    pub(crate) fn thrown(error: SqlError) -> Failure {
        let mut failure = Failure::from(error);
        failure.reach = failure.reach.max(Reach::Batch);
        failure.dooms = false;
        failure
    }

    /// By RAISERROR.
    pub(crate) fn raised(error: SqlError) -> Failure {
        let mut failure = Failure::from(error);
        if failure.reach < Reach::Connection {
            failure.reach = Reach::Statement;
        }
        failure.dooms = false;
        failure.spares_transaction = true;
        failure
    }

    pub(crate) fn cancelled() -> Failure {
        Failure::from(SqlError::new(messages::ATTENTION, &[]))
    }

    pub(crate) fn map(mut self, change: impl FnOnce(SqlError) -> SqlError) -> Failure {
        let placeholder = SqlError::raw(0, 0, 0, String::new());
        let error = std::mem::replace(&mut self.0.error, placeholder);
        self.0.error = change(error);
        self
    }
}
