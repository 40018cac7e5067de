//! MERGE.

use super::{Parse, Parser};
use crate::ast::{Merge, MergeAction, MergeClause, MergeMatch, StatementKind, WithClause};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn merge_statement(
        &mut self,
        with: Option<Box<WithClause>>,
    ) -> Parse<StatementKind> {
        self.advance();
        let top = self.optional_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.dml_target()?;
        let named = self.eat_keyword(Keyword::As) || (self.at_name() && !self.at_word("USING"));
        let alias = if named { Some(self.name()?) } else { None };
        self.expect_word("USING")?;
        let source = self.table_source()?;
        self.expect_keyword(Keyword::On)?;
        let on = self.condition()?;
        let mut clauses = Vec::new();
        while self.keyword() == Keyword::When {
            clauses.push(self.merge_clause()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        let output = self.optional_output()?;
        let options = self.optional_options()?;
        if self.kind() != TokenKind::Semicolon && self.kind() != TokenKind::RightParen {
            let message = base::messages::MERGE_NEEDS_SEMICOLON;
            return Err(self.error_at(self.previous().line, message, &[]));
        }
        let merge = Merge { with, top, target, alias, source, on, clauses, output, options };
        Ok(StatementKind::Merge(Box::new(merge)))
    }

    fn merge_clause(&mut self) -> Parse<MergeClause> {
        let first = self.advance();
        let not = self.eat_keyword(Keyword::Not);
        self.expect_word("MATCHED")?;
        let when = match not {
            false => MergeMatch::Matched,
            true if self.eat_words(&["BY", "SOURCE"]) => MergeMatch::NotMatchedBySource,
            true => {
                self.eat_words(&["BY", "TARGET"]);
                MergeMatch::NotMatchedByTarget
            }
        };
        let condition = match self.eat_keyword(Keyword::And) {
            true => Some(self.condition()?),
            false => None,
        };
        self.expect_keyword(Keyword::Then)?;
        let action = self.merge_action()?;
        Ok(MergeClause { when, condition, action, span: self.span_from(first) })
    }

    fn merge_action(&mut self) -> Parse<MergeAction> {
        if self.eat_keyword(Keyword::Update) {
            self.expect_keyword(Keyword::Set)?;
            return Ok(MergeAction::Update(self.comma_list(Parser::assignment)?));
        }
        if self.eat_keyword(Keyword::Delete) {
            return Ok(MergeAction::Delete);
        }
        self.expect_keyword(Keyword::Insert)?;
        let columns = self.optional_paren_list(Parser::column_name)?;
        if self.eat_keyword(Keyword::Default) {
            self.expect_keyword(Keyword::Values)?;
            return Ok(MergeAction::Insert { columns, values: None });
        }
        self.expect_keyword(Keyword::Values)?;
        let values = Some(self.paren_list(Parser::expr_or_default)?);
        Ok(MergeAction::Insert { columns, values })
    }
}
