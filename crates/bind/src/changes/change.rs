//! One of the four changes, as a statement and in the FROM of another change.

use tsql::ast::{self, NestedChangeKind, StatementKind};

/// A change by its text.
#[derive(Clone, Copy)]
pub(crate) enum Change<'s> {
    Insert(&'s ast::Insert),
    Update(&'s ast::Update),
    Delete(&'s ast::Delete),
    Merge(&'s ast::Merge),
}

impl<'s> Change<'s> {
    /// The change that a statement is, if it is one.
    pub(crate) fn of(statement: &'s StatementKind) -> Option<Change<'s>> {
        match statement {
            StatementKind::Insert(s) => Some(Change::Insert(s)),
            StatementKind::Update(s) => Some(Change::Update(s)),
            StatementKind::Delete(s) => Some(Change::Delete(s)),
            StatementKind::Merge(s) => Some(Change::Merge(s)),
            _ => None,
        }
    }

    /// The change that stands in FROM, if it is one.
    pub(crate) fn nested(kind: &'s NestedChangeKind) -> Option<Change<'s>> {
        match kind {
            NestedChangeKind::Insert(s) => Some(Change::Insert(s)),
            NestedChangeKind::Update(s) => Some(Change::Update(s)),
            NestedChangeKind::Delete(s) => Some(Change::Delete(s)),
            NestedChangeKind::Merge(s) => Some(Change::Merge(s)),
            NestedChangeKind::None => None,
        }
    }
}
