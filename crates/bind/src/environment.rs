//! What binding is given, and what it gives.

use crate::expressions::deduction::Deduction;
use crate::into_table::IntoTable;
use base::ObjectId;
use catalog::view::{Catalogs, Object};
use plan::{LogicalPlan, VariableId, Watch};
use types::datetime::Dialect;
use types::{SqlType, Value};

/// The variables and parameters a statement sees. Implemented by `session`.
pub trait Variables {
    /// A variable by its name with `@`, in any case.
    fn variable(&self, name: &str) -> Option<(VariableId, SqlType)>;

    /// The value with which a plan for one run is made; none where that is not known.
    fn value(&self, _: VariableId) -> Option<Value> {
        None
    }

    /// The number behind the last variable: from there stand the values of a row that INSERT EXEC
    /// inserts.
    fn first_free(&self) -> u32;
}

/// What a statement is bound in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Databases, temporary tables, table variables.
    pub catalogs: &'a dyn Catalogs,
    /// Variables and parameters.
    pub variables: &'a dyn Variables,
    /// The table for which IDENTITY_INSERT is ON.
    pub identity_insert: Option<ObjectId>,
    /// SET ANSI_NULLS: whether nothing equals NULL.
    pub ansi_nulls: bool,
    /// How constants are read as dates.
    pub dialect: Dialect,
    /// What an INSERT passes over: of a bulk load.
    pub unguarded: SkippedGuards,
    /// The learner of the types of parameters that are not declared.
    pub deduction: Option<&'a dyn Deduction>,
    /// The session that waits for the plan.
    pub watch: Option<&'a dyn Watch>,
}

/// What guards a table and is passed over by a bulk load.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SkippedGuards {
    /// CHECK and FOREIGN KEY constraints, none of which is trusted any more.
    pub constraints: bool,
    /// Triggers, INSTEAD OF ones too.
    pub triggers: bool,
}

/// A statement with names resolved.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What it means.
    pub plan: LogicalPlan,
    /// What `plan::TableNo` counts: tables, system views and functions.
    pub references: Vec<Object>,
    /// SELECT INTO: the table that is to be made of the result first.
    pub into: Option<IntoTable>,
}
