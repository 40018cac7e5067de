//! OUTPUT: rows made of what a change did to each row.
//!
//! Its expressions are over the slots of old and new values and over those of the change's source.

use crate::ColumnSource;
use crate::{IdentityColumn, InsertColumn, Reads, ResultColumn, Scalar, Slot, Target};
use std::collections::BTreeSet;

/// The OUTPUT of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Rows for the client.
    pub sent: Option<OutputSent>,
    /// OUTPUT … INTO.
    pub into: Option<OutputInto>,
}

/// What the client gets of each row; the slots of the columns are not used.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSent {
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
        reads.slots
    }
}
