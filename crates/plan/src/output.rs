//! OUTPUT: rows made of what a change did to each row.
//!
//! Its expressions are over the slots of old and new values and over those of the change's source.

use crate::ColumnSource;
use crate::{IdentityColumn, InsertColumn, Predicate, Reads, ResultColumn, Scalar, Slot, Target};
use std::collections::BTreeSet;

/// The OUTPUT of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Rows for the client.
    pub sent: Option<OutputResult>,
    /// OUTPUT … INTO.
    pub into: Option<OutputInto>,
}

/// What the client gets of each row; the slots of the columns are not used.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputResult {
    /// The columns as the client is told of them.
    pub columns: Vec<ResultColumn>,
    /// Their values.
    pub values: Vec<Scalar>,
}

/// The table that gets a row for each row changed.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputInto {
    /// The table.
    pub target: Target,
    /// One per column of the table, by ordinal.
    pub columns: Vec<InsertColumn>,
    /// The identity column, when there is one.
    pub identity: Option<IdentityColumn>,
    /// The statement is an INSERT of these rows: `columns` are over them, and they are what it
    /// counts. Without it `columns` are over what the change itself is.
    pub nested: Option<NestedRows>,
}

/// The rows of a change in FROM: those that its OUTPUT gives.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedRows {
    /// The OUTPUT, over what the change is.
    pub columns: Vec<(Slot, Scalar)>,
    /// WHERE, over `columns`.
    pub filter: Predicate,
}

impl Output {
    /// The slots that it reads.
    pub fn reads(&self) -> BTreeSet<Slot> {
        let mut reads = Reads::default();
        for value in self.sent.iter().flat_map(|s| &s.values) {
            value.read_into(&mut reads);
        }
        for column in self.into.iter().flat_map(|i| &i.columns) {
            if let ColumnSource::Value(value) = &column.source {
                value.read_into(&mut reads);
            }
        }
        for nested in self.into.iter().filter_map(|i| i.nested.as_ref()) {
            nested.filter.read_into(&mut reads);
            nested.columns.iter().for_each(|(_, value)| value.read_into(&mut reads));
            reads.slots.retain(|slot| !nested.columns.iter().any(|(own, _)| own == slot));
        }
        reads.slots
    }
}
