//! What is done to a row, and where its values are.

use catalog::view::Table;
use plan::{Coercibility, Scalar, ScalarType, Slot};
use std::collections::BTreeSet;

/// What is done to the rows of a target.
#[derive(Clone, Copy)]
pub(crate) enum RowAction<'a> {
    Insert,
    /// Of these columns.
    Update(&'a BTreeSet<usize>),
    Delete,
}

/// Where a changed row has its values.
#[derive(Clone, Copy)]
pub(crate) struct RowSlots<'a> {
    pub(crate) old: &'a [Option<Slot>],
    pub(crate) new: &'a [Option<Slot>],
}

/// A slot as the column of a table that it holds.
pub(crate) fn column_scalar(table: &Table, at: usize, slot: Slot) -> Scalar {
    let c = &table.columns[at];
    let ty = ScalarType {
        sql_type: c.sql_type,
        nullable: c.nullable,
        collation: c.collation,
        coercibility: Coercibility::Implicit,
    };
    Scalar::column(slot, ty)
}
