//! What an error ends: the statement, its procedure, the batch, or the connection.
//!
//! The error's class decides this (`base::ErrorClass`), together with what raised the error:
//!
//! ```text
//! as a statement was bound   its procedure or batch, not the transaction
//! THROW                      the batch, not the transaction
//! RAISERROR                  the statement, whatever XACT_ABORT is
//! a definition               more than a change, where the class says so
//! ```
//! Under SET XACT_ABORT ON each error ends the batch and rolls the transaction back, except an
//! error that spares the transaction.

use base::{Ends, SqlError, messages};
use tsql::ast::StatementKind;

/// What a failure ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reach {
    Statement,
    Scope,
    Batch,
    /// The whole request: an attention, or the client is gone. No message is sent.
    Request,
    Connection,
}

impl Reach {
    fn of(ends: Ends) -> Reach {
        match ends {
            Ends::Nothing | Ends::Statement => Reach::Statement,
            Ends::Scope => Reach::Scope,
            Ends::Batch | Ends::Transaction => Reach::Batch,
            Ends::Connection => Reach::Connection,
        }
    }
}

/// An error on its way up to the code that handles it.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) error: SqlError,
    pub(crate) reach: Reach,
    /// Whether the transaction cannot go on: it is rolled back, or doomed if a CATCH block handles
    /// the error.
    pub(crate) dooms: bool,
    /// Whether XACT_ABORT has no effect: true of RAISERROR, and of errors whose class says so.
    pub(crate) spares_transaction: bool,
    /// Whether the error was found before the statement changed anything.
    pub(crate) of_binding: bool,
    /// Whether the client has been told.
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

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Failure {
        let class = error.class();
        let reach = match error.number() {
            n if n == messages::ATTENTION.number => Reach::Request,
            _ => Reach::of(class.ends),
        };
        let facts = Facts {
            error,
            reach,
            dooms: class.ends == Ends::Transaction,
            spares_transaction: class.spares,
            of_binding: false,
            told: false,
        };
        Failure(Box::new(facts))
    }
}

impl Failure {
    /// The failure of a feature that is not built, by the feature's name.
    pub(crate) fn unsupported(what: &str) -> Failure {
        SqlError::new(messages::NOT_SUPPORTED, &[&what]).into()
    }

    /// The highest severity of its messages.
    pub(crate) fn severity(&self) -> u8 {
        let earlier = self.error.earlier().iter().map(SqlError::severity);
        earlier.fold(self.error.severity(), u8::max)
    }

    /// An error that was found when a statement was bound: its procedure or batch cannot go on.
    pub(crate) fn of_binding(error: SqlError) -> Failure {
        let explicit =
            [messages::IDENTITY_INSERT_OFF.number, messages::IDENTITY_VALUE_REQUIRED.number];
        let of_statement = explicit.contains(&error.number());
        let mut failure = Failure::from(error);
        if failure.reach < Reach::Request && !of_statement {
            failure.reach = Reach::Scope;
        }
        failure.dooms = false;
        failure.of_binding = true;
        failure
    }

    /// An error of SELECT INTO. A table name that is taken ends the same as in CREATE TABLE.
    pub(crate) fn of_table_to_be(error: SqlError) -> Failure {
        match error.number() == messages::OBJECT_EXISTS.number {
            true => {
                let mut failure = Failure::from(error);
                failure.of_binding = true;
                failure
            }
            false => Failure::of_binding(error),
        }
    }

    /// An error of a statement that defines something. An error in rows ends more here than in a
    /// change.
    pub(crate) fn of_definition(mut self, kind: &StatementKind) -> Failure {
        let ends = match kind {
            // An existing name ends only the statement when a synonym is created.
            StatementKind::CreateSynonym(_) => return self.of_statement(),
            _ => self.error.class().ends_definition,
        };
        if self.reach < Reach::Request && !self.of_binding {
            self.reach = self.reach.max(Reach::of(ends));
            self.dooms |= ends == Ends::Transaction;
        }
        self
    }

    /// An error of an argument that cannot be converted: it ends only the call, although 8114 ends
    /// more elsewhere.
    pub(crate) fn of_argument(error: SqlError) -> Failure {
        let conversion = error.number() == messages::NUMERIC_OVERFLOW_CONVERT.number;
        let mut failure = Failure::from(error);
        if conversion {
            failure.reach = Reach::Statement;
            failure.dooms = false;
        }
        failure
    }

    /// An error of a system procedure: the scope that it ends is that procedure's.
    pub(crate) fn of_called(mut self) -> Failure {
        if self.reach == Reach::Scope && !self.told {
            self.reach = Reach::Statement;
        }
        self
    }

    fn of_statement(mut self) -> Failure {
        if self.reach < Reach::Request && !self.of_binding {
            self.reach = Reach::Statement;
            self.dooms = false;
        }
        self
    }

    /// An error of THROW: it ends the batch, and spares the transaction unless XACT_ABORT is on.
    pub(crate) fn thrown(error: SqlError) -> Failure {
        let mut failure = Failure::from(error);
        failure.reach = failure.reach.max(Reach::Batch);
        failure.dooms = false;
        failure.spares_transaction = false;
        failure
    }

    /// An error of RAISERROR.
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
