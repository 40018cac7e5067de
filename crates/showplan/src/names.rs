//! What a plan does not know by itself: names of things it holds by id.

use base::{DatabaseId, HobtId, ObjectId};
use plan::VariableId;
use types::SqlType;

/// Names for what a plan refers to by id. A name that is gone is empty: a plan can be shown while
/// its table is dropped.
pub trait Names {
    /// A database's.
    fn database(&self, id: DatabaseId) -> String;

    /// What is known of a heap or index.
    fn hobt(&self, database: DatabaseId, table: ObjectId, hobt: HobtId) -> Hobt;

    /// Whether an index of a table has a column first in its key.
    fn begins_key(&self, database: DatabaseId, table: ObjectId, column: &str) -> bool;

    /// The columns of a system view.
    fn view_columns(&self, database: DatabaseId, view: ObjectId) -> Vec<String>;

    /// A variable's, with its `@`.
    fn variable(&self, id: VariableId) -> String;

    /// A variable's type.
    fn variable_type(&self, id: VariableId) -> Option<SqlType>;
}

/// How a hobt holds its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HobtKind {
    /// Without order.
    #[default]
    Heap,
    /// The rows themselves in key order.
    Clustered,
    /// Keys with locators.
    Nonclustered,
}

/// A heap or an index with the names of its columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hobt {
    /// Which kind.
    pub kind: HobtKind,
    /// The names of its physical columns, in order.
    pub columns: Vec<String>,
    /// Its key: positions among `columns`.
    pub key: Vec<usize>,
}
