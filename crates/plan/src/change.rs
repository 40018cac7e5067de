//! INSERT, UPDATE and DELETE over a source of rows `S` (logical or physical).
//!
//! The frame holds, for the row at hand, the old value of each column in one slot and the new
//! one in another (the same where it doesn't change). Index rows are composed of those: each
//! [`IndexTarget`] says for every physical column which of them it takes.
//!
//! The order of one row: new values computed and converted (2628, 515), CHECKs (547), the heap or
//! clustered index, the others by index id, foreign keys (547). The first failure ends the
//! statement. Indexes that are changed by themselves follow when all rows are through this
//! (`wide.rs`).

use crate::{
    LockHints, Output, Predicate, References, Scalar, ScalarType, Slot, VariableId, WideChange,
};
use base::{DatabaseId, HobtId, IndexId, ObjectId};
use std::sync::Arc;
use types::{Collation, Restriction, SqlType};

/// The table that is changed, with all that its errors name.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its database.
    pub database: DatabaseId,
    /// Its object id.
    pub object: ObjectId,
    /// The database's name.
    pub database_name: Box<str>,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// The table's name.
    pub table_name: Box<str>,
    /// Its columns by ordinal.
    pub columns: Vec<TargetColumn>,
    /// The heap or clustered index first, then those to be maintained.
    pub indexes: Vec<IndexTarget>,
    /// CHECK constraints to be tested, over the slots of new values.
    pub checks: Vec<CheckConstraint>,
    /// What it owes to foreign keys.
    pub references: References,
    /// Locks of the target.
    pub locks: LockHints,
    /// How indexes are changed that are changed by themselves; none where all rows are changed in
    /// all of them at once.
    pub wide: Option<Box<WideChange>>,
}

impl Target {
    /// A table variable: a rollback of the user's transaction leaves it alone.
    pub fn is_private(&self) -> bool {
        self.object.table_variable().is_some()
    }

    /// `database.schema.table`: errors 515 and 2628.
    pub fn three_part_name(&self) -> String {
        if self.is_private() {
            return self.table_name.to_string();
        }
        format!("{}.{}.{}", self.database_name, self.schema_name, self.table_name)
    }

    /// `schema.table`: errors 2601, 2627, 547.
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.table_name)
    }

    /// The heap or clustered index.
    ///
    /// # Panics
    /// When there is no index at all, which `bind` never makes.
    pub fn base(&self) -> &IndexTarget {
        self.indexes.first().expect("a target lists its heap or clustered index first")
    }
}

/// A column of a [`Target`].
#[derive(Clone, Debug, PartialEq)]
pub struct TargetColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub sql_type: SqlType,
    /// Whether NULL may be stored (515).
    pub nullable: bool,
    /// How its characters compare.
    pub collation: Collation,
    /// It has a place in rows; a computed column that isn't persisted has none.
    pub stored: bool,
}

/// What a physical column of a hobt takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryField {
    /// The target's column of that ordinal.
    Column(usize),
    /// What is left of a dropped column: NULL.
    Dropped,
    /// The uniquifier of the base row: NULL, or its 4 bytes.
    Uniquifier,
    /// The RID of the base row.
    Rid,
}

/// A part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// Position among [`IndexTarget::fields`].
    pub field: usize,
    /// Greater first.
    pub descending: bool,
}

/// A hobt of the target, to be kept in step.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexTarget {
    /// Its id: 0 heap, 1 clustered.
    pub index: IndexId,
    /// The heap or B-tree.
    pub hobt: HobtId,
    /// Its name; empty for a heap.
    pub name: Box<str>,
    /// All physical columns in order: what `TableSink::insert` takes.
    pub fields: Vec<EntryField>,
    /// The full unique key, whose fields `RowKey` takes in this order; empty for a heap (its
    /// `RowKey` is the RID).
    pub key: Vec<KeyPart>,
    /// How many of `key` were declared: the values that 2601 and 2627 show.
    pub declared_key: usize,
    /// How a duplicate is reported.
    pub unique: Uniqueness,
    /// An UPDATE changes one of its fields; always true for INSERT, DELETE and the base.
    pub affected: bool,
    /// An UPDATE changes one of its key fields.
    pub key_changes: bool,
    /// Which rows it has, where it has not all; the tests' columns are the target's.
    pub filter: Option<Arc<Restriction>>,
    /// IGNORE_DUP_KEY: a duplicate of an INSERT is skipped with message 3604.
    pub ignore_duplicates: bool,
    /// It is changed by itself, when all base rows are ([`crate::WideChange`]).
    pub wide: bool,
}

/// How uniqueness is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniqueness {
    /// Not.
    No,
    /// CREATE UNIQUE INDEX: 2601.
    Index,
    /// PRIMARY KEY: 2627.
    PrimaryKey,
    /// UNIQUE: 2627.
    Constraint,
}

impl Uniqueness {
    /// What 2627 calls the constraint.
    pub fn constraint_kind(self) -> Option<&'static str> {
        match self {
            Uniqueness::PrimaryKey => Some("PRIMARY KEY"),
            Uniqueness::Constraint => Some("UNIQUE KEY"),
            Uniqueness::No | Uniqueness::Index => None,
        }
    }
}

/// A CHECK constraint: a row is refused (547) when the predicate is false.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckConstraint {
    /// Its name.
    pub name: Box<str>,
    /// The column that 547 names, when it was declared behind one.
    pub column: Option<Box<str>>,
    /// Over the slots of new values.
    pub predicate: Predicate,
    /// It is of a view WITH CHECK OPTION: a row is refused (550) unless the predicate is true.
    pub of_view: bool,
}

/// Where the frame holds the old row of an UPDATE or DELETE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OldRow {
    /// Of each column of the target by ordinal; `None` where nobody needs it.
    pub columns: Vec<Option<Slot>>,
    /// The uniquifier, where the clustered index has one.
    pub uniquifier: Option<Slot>,
    /// The RID, where the table is a heap.
    pub rid: Option<Slot>,
    /// The page hint, as [`crate::Access::hint`] writes it; NULL when the path lost it.
    pub hint: Option<Slot>,
}

/// INSERT
#[derive(Clone, Debug, PartialEq)]
pub struct Insert<S> {
    /// Into what.
    pub target: Target,
    /// The rows; VALUES is a source of constants.
    pub source: S,
    /// One per column of the target, by ordinal.
    pub columns: Vec<InsertColumn>,
    /// The identity column, when there is one.
    pub identity: Option<IdentityColumn>,
    /// OUTPUT
    pub output: Option<Box<Output>>,
}

/// A column's value in a new row.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertColumn {
    /// Where it goes, converted to the column's type.
    pub slot: Slot,
    /// What it is.
    pub source: ColumnSource,
}

/// See [`InsertColumn`].
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnSource {
    /// An expression over the source's slots (usually one of them), a default, or NULL; to be
    /// converted with `types::coerce_for_column`.
    Value(Scalar),
    /// The next identity value.
    Identity,
    /// An expression over the slots of the columns that are not computed, filled before: a stored
    /// computed column.
    Computed(Scalar),
}

/// The identity column of an INSERT's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityColumn {
    /// Its ordinal.
    pub column: usize,
    /// The first value.
    pub seed: i128,
    /// What is added.
    pub increment: i128,
    /// The statement gives the value itself, under IDENTITY_INSERT ON.
    pub explicit: bool,
}

/// UPDATE
#[derive(Clone, Debug, PartialEq)]
pub struct Update<S> {
    /// What is changed.
    pub target: Target,
    /// The rows to change.
    pub source: S,
    /// The old row.
    pub old: OldRow,
    /// Where the new value of each column is, by ordinal: its old slot where it doesn't change.
    pub new: Vec<Option<Slot>>,
    /// SET, in the order of the text, evaluated per row; then the stored computed columns that
    /// change with it, which read new slots.
    pub assignments: Vec<Assignment>,
    /// A join may bring a target row several times: only its first occurrence counts.
    pub distinct_rows: bool,
    /// OUTPUT
    pub output: Option<Box<Output>>,
}

/// One item of SET. `@v = column = value` sets both.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column, by ordinal: the value goes into `Update::new[column]`, converted to the column's
    /// type with `types::coerce_for_column`.
    pub column: Option<usize>,
    /// The variable, with its type; it gets the value converted to that (of `@v = column = value`
    /// the column's new value).
    pub variable: Option<(VariableId, ScalarType)>,
    /// The value; columns in it are old ones.
    pub value: Scalar,
}

/// DELETE
#[derive(Clone, Debug, PartialEq)]
pub struct Delete<S> {
    /// From what.
    pub target: Target,
    /// The rows to delete.
    pub source: S,
    /// The old row: keys of the base and of every index.
    pub old: OldRow,
    /// A join may bring a target row several times: only its first occurrence counts.
    pub distinct_rows: bool,
    /// OUTPUT
    pub output: Option<Box<Output>>,
}
