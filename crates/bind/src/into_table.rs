//! The table that a SELECT INTO makes.

use tsql::ast;
use types::{Collation, SqlType};

/// The target of SELECT INTO.
#[derive(Clone, Debug, PartialEq)]
pub struct IntoTable {
    /// As written.
    pub name: ast::ObjectName,
    /// Its columns.
    pub columns: Vec<IntoColumn>,
}

impl IntoTable {
    /// Of an INTO clause; its columns are known when the query is bound.
    pub(crate) fn of(into: &ast::SelectInto) -> IntoTable {
        IntoTable { name: into.table.clone(), columns: Vec::new() }
    }
}

/// A column of an [`IntoTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct IntoColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub sql_type: SqlType,
    /// As `sys.columns` has it; 0 when the type says all.
    pub user_type_id: i32,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// How its characters compare.
    pub collation: Collation,
    /// Seed and increment of an identity column.
    pub identity: Option<(i128, i128)>,
}

/// A use of the IDENTITY function: the position in the select list, and what it says.
#[derive(Clone, Copy)]
pub(crate) struct IdentityFunction {
    pub(crate) position: usize,
    pub(crate) sql_type: SqlType,
    pub(crate) seed: i128,
    pub(crate) increment: i128,
}
