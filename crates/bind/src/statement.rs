//! Which statement is bound how.

use crate::binder::Binder;
use crate::changes::change::Change;
use crate::changes::nested::Changes;
use crate::expressions::draws::DrawRule;
use crate::refusal::unsupported_statement;
use base::{SqlResult, messages};
use plan::{Logical, Statement};
use tsql::ast::StatementKind;

impl Binder<'_> {
    pub(crate) fn statement(&mut self, statement: &StatementKind) -> SqlResult<Statement<Logical>> {
        match (statement, Change::of(statement)) {
            (_, Some(change)) => self.change(change),
            (StatementKind::Select(s), None) => self.select_statement(s),
            _ => Err(unsupported_statement("this statement as a plan")),
        }
    }

    /// A change: of a table, or of the rows that another change gives.
    pub(crate) fn change(&mut self, change: Change<'_>) -> SqlResult<Statement<Logical>> {
        if let Change::Insert(s) = change
            && let Some(changes) = Changes::of(s)
        {
            return self.insert_of_changes(s, changes);
        }
        if let Some(captured) = self.instead(change)? {
            return Ok(captured);
        }
        match change {
            Change::Insert(s) => self.insert(s),
            Change::Update(s) => self.update(s),
            Change::Delete(s) => self.delete(s),
            Change::Merge(s) => {
                self.drawing(DrawRule::Refused(messages::NEXT_VALUE_MERGE), |b| b.merge(s))
            }
        }
    }
}
