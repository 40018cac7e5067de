//! What a change owes to FOREIGN KEYs, its table's own and those that refer to its table.
//!
//! ```text
//! INSERT, UPDATE of rows that refer     each new row, once written, is looked for in the other
//!                                       table; of a table that refers to itself at the end
//! UPDATE, DELETE of rows referred to    slots of each changed row are kept; at the end the
//!                                       follow-ups read them, one after the other
//! ```
//!
//! A follow-up is a part of its plan: it has the plan's frame, subqueries and memory. Where it
//! changes rows, its own target may have follow-ups again; foreign keys that would make a circle
//! of them, or two ways to one table, cannot be made (1785).
//!
//! Rows are looked for after they were written, under locks whatever the isolation level
//! ([`crate::Level::Enforcing`]): of a writer that refers and another that takes away what is
//! referred to, at least one meets the other's lock.

use crate::{ChangedId, FollowUpId, IndexChange, Predicate, Slot, Statement};

/// See the module's text; empty for a table without foreign keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    /// What every new row must refer to.
    pub checks: Vec<ForeignKeyCheck>,
    /// What is kept of changed rows, where somebody reads it.
    pub kept: Option<KeptSlots>,
    /// What is done when all rows are changed, in this order.
    pub follow_ups: Vec<FollowUpId>,
}

impl References {
    /// Checks that wait until all rows are changed.
    pub fn has_deferred(&self) -> bool {
        self.checks.iter().any(|c| c.deferred)
    }
}

/// Slots of each changed row.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptSlots {
    /// Under which number follow-ups read them.
    pub id: ChangedId,
    /// Which: they come back into the same slots.
    pub slots: Vec<Slot>,
}

/// A foreign key of a target: a new row is refused (547) when the predicate is false.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyCheck {
    /// What the error says.
    pub conflict: Conflict,
    /// A column is NULL, or the row referred to exists.
    pub predicate: Predicate,
    /// The table refers to itself: a later row of the statement may be what this one refers to.
    pub deferred: bool,
}

/// What error 547 says of a foreign key.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// FOREIGN KEY or REFERENCE, and SAME TABLE where it is.
    pub kind: &'static str,
    /// The constraint's name.
    pub name: Box<str>,
    /// `schema.table` where the conflict occurred.
    pub table: Box<str>,
    /// The column, when the key has only one.
    pub column: Option<Box<str>>,
}

/// What is done once all rows of a target are changed.
#[derive(Clone, Debug, PartialEq)]
pub enum FollowUp<S> {
    /// Any row of the source refuses the statement (547): somebody refers to what is gone.
    Refuse {
        /// What the error says.
        conflict: Conflict,
        /// The rows that refer.
        source: S,
    },
    /// Rows that refer are changed too: an UPDATE or DELETE, whose rows nobody counts.
    Change(Statement<S>),
    /// An index of the target is changed by itself.
    Index(Box<IndexChange<S>>),
}

impl<S> FollowUp<S> {
    /// Its rows.
    pub fn source(&self) -> Option<&S> {
        match self {
            FollowUp::Refuse { source, .. } => Some(source),
            FollowUp::Change(statement) => statement.source(),
            FollowUp::Index(change) => Some(&change.source),
        }
    }
}
