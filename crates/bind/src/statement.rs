//! Which statement is bound how.

use crate::binder::Binder;
use crate::changes::nested::Changes;
use crate::expressions::draws::DrawRule;
use crate::refusal::unsupported_statement;
use base::{SqlResult, messages};
use plan::{Logical, Statement};
use tsql::ast;

impl Binder<'_> {
    pub(crate) fn statement(
        &mut self,
        statement: &ast::StatementKind,
    ) -> SqlResult<Statement<Logical>> {
        use ast::StatementKind as K;
        if let K::Insert(s) = statement
            && let Some(changes) = Changes::of(s)
        {
            return self.insert_of_changes(s, changes);
        }
        if let Some(captured) = self.instead(statement)? {
            return Ok(captured);
        }
        match statement {
            K::Select(s) => self.select_statement(s),
            K::Insert(s) => self.insert(s),
            K::Update(s) => self.update(s),
            K::Delete(s) => self.delete(s),
            K::Merge(s) => {
                self.drawing(DrawRule::Refused(messages::NEXT_VALUE_MERGE), |b| b.merge(s))
            }
            _ => Err(unsupported_statement("this statement as a plan")),
        }
    }
}
