//! The batch, lists of statements, and the choice of a statement by its first word.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{Batch, Name, Statement, StatementKind};
use crate::keywords::Keyword;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// The whole text. What was read before an error stays in `batch`.
    pub(crate) fn batch(&mut self, batch: &mut Batch) -> Parse<()> {
        self.skip_semicolons();
        if self.at_implicit_execute() {
            let first = self.peek();
            let execute = self.execute_rest(None)?;
            let kind = StatementKind::Execute(Box::new(execute));
            batch.statements.push(Statement { kind, span: self.span_from(first) });
        }
        self.statements_into(&mut batch.statements, |p| p.kind() == TokenKind::End)?;
        self.check_labels()
    }

    pub(crate) fn expect_end(&self) -> Parse<()> {
        if self.kind() == TokenKind::End { Ok(()) } else { Err(self.unexpected()) }
    }

    /// A batch may begin with a procedure's name.
    fn at_implicit_execute(&self) -> bool {
        if !self.at_name() {
            return self.kind() == TokenKind::Dot;
        }
        let next = self.peek_at(1);
        let label = next.kind == TokenKind::Colon;
        let throw = self.at_word("THROW")
            && !matches!(next.kind, TokenKind::String | TokenKind::National | TokenKind::Dot);
        let switch =
            (self.at_word("ENABLE") || self.at_word("DISABLE")) && next.keyword == Keyword::Trigger;
        !label && !throw && !switch && self.broker_words().is_none()
    }

    /// A statement of Service Broker begins here: how many words name it.
    fn broker_words(&self) -> Option<usize> {
        let conversation = |ahead| self.is_word(ahead, "CONVERSATION");
        let next = self.peek_at(1);
        let received = next.kind == TokenKind::Star
            || next.keyword == Keyword::Top
            || Self::names(next)
                && (self.peek_at(2).kind == TokenKind::Comma
                    || self.peek_at(2).keyword == Keyword::From);
        match () {
            () if self.at_word("SEND") && next.keyword == Keyword::On && conversation(2) => Some(3),
            () if self.at_word("GET") && conversation(1) => Some(3),
            () if self.at_word("MOVE") && conversation(1) => Some(2),
            () if self.at_word("RECEIVE") && received => Some(1),
            () => None,
        }
    }

    fn skip_semicolons(&mut self) {
        while self.eat(TokenKind::Semicolon) {}
    }

    /// Statements up to an end that isn't taken.
    pub(super) fn statements_until(
        &mut self,
        end: impl Fn(&Self) -> bool,
    ) -> Parse<Vec<Statement>> {
        let mut statements = Vec::new();
        self.statements_into(&mut statements, end)?;
        Ok(statements)
    }

    fn statements_into(
        &mut self,
        statements: &mut Vec<Statement>,
        end: impl Fn(&Self) -> bool,
    ) -> Parse<()> {
        loop {
            self.skip_semicolons();
            if end(self) {
                return Ok(());
            }
            let terminated = self.at == 0 || self.previous().kind == TokenKind::Semicolon;
            if self.keyword() == Keyword::With && !statements.is_empty() && !terminated {
                return Err(self.unexpected());
            }
            statements.push(self.statement()?);
        }
    }

    /// One statement, with the semicolon behind it.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        self.nested(|p| {
            let first = p.peek();
            let kind = p.statement_kind(first)?;
            let span = p.span_from(first);
            p.eat(TokenKind::Semicolon);
            Ok(Statement { kind, span })
        })
    }

    /// A statement within another; a lone semicolon is none.
    pub(super) fn inner_statement(&mut self) -> Parse<Statement> {
        self.statement()
    }

    fn statement_kind(&mut self, first: Token) -> Parse<StatementKind> {
        match first.keyword {
            Keyword::Select => Ok(StatementKind::Select(Box::new(self.select_statement()?))),
            Keyword::Insert => self.insert_statement(None),
            Keyword::Update => self.update_statement(None),
            Keyword::Delete => self.delete_statement(None),
            Keyword::Merge => self.merge_statement(None),
            Keyword::With => self.with_statement(),
            Keyword::Declare => self.declare(),
            Keyword::Set => self.set_statement(),
            Keyword::If => self.if_statement(),
            Keyword::While => self.while_statement(),
            Keyword::Begin => self.begin(),
            Keyword::Exec | Keyword::Execute => self.execute_statement(),
            Keyword::Break | Keyword::Continue => self.loop_exit(),
            Keyword::Return => self.return_statement(),
            Keyword::Goto => self.goto(),
            Keyword::Print => {
                self.advance();
                Ok(StatementKind::Print(Box::new(self.expr()?)))
            }
            Keyword::Raiserror => self.raiserror(),
            Keyword::Waitfor => self.waitfor(),
            Keyword::Commit | Keyword::Rollback | Keyword::Save => self.transaction(),
            Keyword::Use => {
                self.advance();
                Ok(StatementKind::Use(self.name()?))
            }
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop_statement(),
            Keyword::Truncate => self.truncate(),
            _ => self.rarer_statement(first),
        }
    }

    fn rarer_statement(&mut self, first: Token) -> Parse<StatementKind> {
        match first.keyword {
            Keyword::Bulk => self.bulk_insert(),
            Keyword::Open => self.open_cursor(),
            Keyword::Fetch => self.fetch(),
            Keyword::Close => self.close_cursor(),
            Keyword::Deallocate => self.deallocate_cursor(),
            Keyword::Revert => {
                self.advance();
                if self.keyword() == Keyword::With && self.is_word(1, "COOKIE") {
                    self.advance();
                    return self.opaque_rest("REVERT WITH COOKIE");
                }
                Ok(StatementKind::Revert)
            }
            Keyword::End if self.is_word(1, "CONVERSATION") => self.opaque(2),
            Keyword::Add => self.opaque(2),
            Keyword::Checkpoint => self.checkpoint(),
            Keyword::Kill => self.kill(),
            Keyword::Dbcc => self.dbcc(),
            Keyword::Reconfigure => self.reconfigure(),
            Keyword::Shutdown => self.shutdown(),
            Keyword::Grant | Keyword::Deny | Keyword::Revoke => self.permission(),
            Keyword::Backup
            | Keyword::Restore
            | Keyword::Readtext
            | Keyword::Writetext
            | Keyword::Updatetext
            | Keyword::Setuser
            | Keyword::Dump
            | Keyword::Load
            | Keyword::Lineno => self.opaque(1),
            Keyword::None => self.word_statement(first),
            _ => Err(self.unexpected()),
        }
    }

    /// Statements whose first word isn't reserved, or that begin with a sign.
    fn word_statement(&mut self, first: Token) -> Parse<StatementKind> {
        match first.kind {
            TokenKind::LeftParen => Ok(StatementKind::Select(Box::new(self.select_statement()?))),
            TokenKind::LeftBrace => self.odbc_call(),
            _ if Self::names(first) && self.peek_at(1).kind == TokenKind::Colon => self.label(),
            TokenKind::Word if self.broker_words().is_some() => {
                let words = self.broker_words().unwrap_or(1);
                self.opaque(words)
            }
            TokenKind::Word if self.at_word("THROW") => self.throw(),
            TokenKind::Word
                if (self.at_word("ENABLE") || self.at_word("DISABLE"))
                    && self.peek_at(1).keyword == Keyword::Trigger =>
            {
                self.switch_trigger()
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `WITH cte … SELECT|INSERT|UPDATE|DELETE|MERGE`
    fn with_statement(&mut self) -> Parse<StatementKind> {
        let with = self.optional_with()?;
        match self.keyword() {
            Keyword::Insert => self.insert_statement(with),
            Keyword::Update => self.update_statement(with),
            Keyword::Delete => self.delete_statement(with),
            Keyword::Merge => self.merge_statement(with),
            _ => Ok(StatementKind::Select(Box::new(self.select_after_with(with)?))),
        }
    }

    fn label(&mut self) -> Parse<StatementKind> {
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        if self.labels.iter().any(|other| same_label(other, &name)) {
            return Err(self.error_at(name.line, messages::LABEL_DUPLICATE, &[&name]));
        }
        self.labels.push(name.clone());
        Ok(StatementKind::Label(name))
    }

    fn goto(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.gotos.push(name.clone());
        Ok(StatementKind::Goto(name))
    }

    /// Each GOTO has its label (133).
    fn check_labels(&self) -> Parse<()> {
        let known = |name: &Name| self.labels.iter().any(|l| same_label(l, name));
        match self.gotos.iter().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => Err(self.error_at(name.line, messages::LABEL_UNKNOWN, &[name])),
        }
    }
}

/// Whether two labels are one: case does not count.
fn same_label(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
