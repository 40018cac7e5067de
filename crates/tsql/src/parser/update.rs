//! UPDATE and DELETE.

use super::select::assign_op;
use super::{Parse, Parser};
use crate::ast::{
    AssignOp, Assignment, AssignmentKind, Delete, DmlFilter, StatementKind, Update, WithClause,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn update_statement(
        &mut self,
        with: Option<Box<WithClause>>,
    ) -> Parse<StatementKind> {
        self.advance();
        if self.keyword() == Keyword::Statistics {
            return self.update_statistics();
        }
        let top = self.optional_top()?;
        let target = self.dml_target()?;
        self.expect_keyword(Keyword::Set)?;
        let assignments = self.comma_list(Parser::assignment)?;
        let output = self.optional_output()?;
        let from = self.optional_from()?;
        let filter = self.dml_filter()?;
        let options = self.optional_options()?;
        let update = Update { with, top, target, assignments, output, from, filter, options };
        Ok(StatementKind::Update(Box::new(update)))
    }

    pub(super) fn delete_statement(
        &mut self,
        with: Option<Box<WithClause>>,
    ) -> Parse<StatementKind> {
        self.advance();
        let top = self.optional_top()?;
        self.eat_keyword(Keyword::From);
        let target = self.dml_target()?;
        let output = self.optional_output()?;
        let from = self.optional_from()?;
        let filter = self.dml_filter()?;
        let options = self.optional_options()?;
        let delete = Delete { with, top, target, output, from, filter, options };
        Ok(StatementKind::Delete(Box::new(delete)))
    }

    /// `WHERE condition`, `WHERE CURRENT OF cursor`, or nothing.
    fn dml_filter(&mut self) -> Parse<Option<DmlFilter>> {
        if !self.eat_keyword(Keyword::Where) {
            return Ok(None);
        }
        if self.eat_words(&["CURRENT", "OF"]) {
            return Ok(Some(DmlFilter::CurrentOf(self.cursor_name()?)));
        }
        Ok(Some(DmlFilter::Where(self.condition()?)))
    }

    /// An item of SET.
    pub(super) fn assignment(&mut self) -> Parse<Assignment> {
        let first = self.peek();
        let kind = match first.kind {
            TokenKind::Variable => self.variable_assignment()?,
            _ => self.column_assignment()?,
        };
        Ok(Assignment { kind, span: self.span_from(first) })
    }

    fn assign_op(&mut self) -> Parse<AssignOp> {
        let Some(op) = assign_op(self.kind()) else { return Err(self.unexpected()) };
        self.advance();
        Ok(op)
    }

    /// `@v = value`, `@v = column = value`
    fn variable_assignment(&mut self) -> Parse<AssignmentKind> {
        let variable = self.take_name()?;
        let op = self.assign_op()?;
        if op == AssignOp::Set && self.at_assigned_column() {
            let column = self.column_name()?;
            let op = self.assign_op()?;
            let value = self.expr_or_default()?;
            return Ok(AssignmentKind::VariableColumn { variable, column, op, value });
        }
        Ok(AssignmentKind::Variable { variable, op, value: self.expr()? })
    }

    /// A column's name and an assignment behind it.
    fn at_assigned_column(&self) -> bool {
        let mut ahead = 0;
        while Self::names(self.peek_at(ahead)) && self.peek_at(ahead + 1).kind == TokenKind::Dot {
            ahead += 2;
        }
        Self::names(self.peek_at(ahead)) && assign_op(self.peek_at(ahead + 1).kind).is_some()
    }

    /// `column op value`, `column.WRITE(…)`
    fn column_assignment(&mut self) -> Parse<AssignmentKind> {
        let mut column = self.column_name()?;
        if self.kind() == TokenKind::LeftParen
            && let Some(qualifier) = column.qualifier.take()
        {
            let method = column.name;
            let arguments = self.call_arguments()?;
            let column = super::name::column_of(*qualifier);
            return Ok(AssignmentKind::Method { column, method, arguments });
        }
        let op = self.assign_op()?;
        Ok(AssignmentKind::Column { column, op, value: self.expr_or_default()? })
    }
}
