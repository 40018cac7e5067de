//! How far an error reaches: the statement, its procedure, the batch, or the connection.
//!
//! Its class says so (`base::ErrorClass`), and what it was raised by:
//!
//! ```text
//! as a statement was bound   its procedure or batch, not the transaction
//! THROW                      the batch, not the transaction
//! RAISERROR                  the statement, whatever XACT_ABORT is
//! a definition               more than a change, where the class says so
//! ```
//! SET XACT_ABORT ON makes a batch's end, with rollback, of each that does not spare.

use base::{Ends, SqlError, messages};
use tsql::ast::StatementKind;

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

/// An error on its way up to whoever deals with it.
#[derive(Debug)]
pub(crate) struct Failure(Box<Facts>);

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) error: SqlError,
    pub(crate) reach: Reach,
    /// The transaction cannot go on: rolled back, or doomed where a CATCH block gets it.
    pub(crate) dooms: bool,
    /// XACT_ABORT makes no difference: RAISERROR, and errors whose class says so.
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
    /// What is not built, by its name.
    pub(crate) fn unsupported(what: &str) -> Failure {
        SqlError::new(messages::NOT_SUPPORTED, &[&what]).into()
    }

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
        if failure.reach < Reach::Request && !of_statement {
            failure.reach = Reach::Scope;
        }
        failure.dooms = false;
        failure.of_binding = true;
        failure
    }

    /// Of SELECT INTO: a name that is taken ends what it ends elsewhere.
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

    /// Of a statement that defines something: what it meets in rows ends more than in a change.
    pub(crate) fn of_definition(mut self, kind: &StatementKind) -> Failure {
        let ends = match kind {
            // A synonym's name that is taken ends only the statement.
            StatementKind::CreateSynonym(_) => return self.of_statement(),
            _ => self.error.class().ends_definition,
        };
        if self.reach < Reach::Request && !self.of_binding {
            self.reach = self.reach.max(Reach::of(ends));
            self.dooms |= ends == Ends::Transaction;
        }
        self
    }

    /// Of an argument that does not convert: ends the call, not what 8114 ends elsewhere.
    pub(crate) fn of_argument(error: SqlError) -> Failure {
        let conversion = error.number() == messages::NUMERIC_OVERFLOW_CONVERT.number;
        let mut failure = Failure::from(error);
        if conversion {
            failure.reach = Reach::Statement;
            failure.dooms = false;
        }
        failure
    }

    /// Of a procedure of the system: the scope that it ends is the procedure's.
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

    /// By THROW: ends the batch, spares the transaction unless XACT_ABORT is on.
    pub(crate) fn thrown(error: SqlError) -> Failure {
        let mut failure = Failure::from(error);
        failure.reach = failure.reach.max(Reach::Batch);
        failure.dooms = false;
        failure.spares_transaction = false;
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
