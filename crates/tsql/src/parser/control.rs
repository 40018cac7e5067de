//! Flow: blocks, IF, WHILE, TRY, THROW, RAISERROR, WAITFOR, transactions, DECLARE.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{
    Declaration, DeclarationKind, If, Name, OpaqueStatement, RaiseError, StatementKind, Throw,
    Transaction, TransactionVerb, TryCatch, WaitFor, While,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Characters of a transaction's or savepoint's name.
const TRANSACTION_NAME_MAX: usize = 32;

impl Parser<'_> {
    pub(super) fn if_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        let condition = self.condition()?;
        let then = self.inner_statement()?;
        // One semicolon may stand before ELSE; `statement` took it.
        let otherwise = match self.eat_keyword(Keyword::Else) {
            true => Some(self.inner_statement()?),
            false => None,
        };
        Ok(StatementKind::If(Box::new(If { condition, then, otherwise })))
    }

    pub(super) fn while_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        let condition = self.condition()?;
        self.loops += 1;
        let body = self.inner_statement()?;
        self.loops -= 1;
        Ok(StatementKind::While(Box::new(While { condition, body })))
    }

    /// BREAK and CONTINUE, which need a loop (135, 136).
    pub(super) fn loop_exit(&mut self) -> Parse<StatementKind> {
        let leave = self.keyword() == Keyword::Break;
        if self.loops == 0 {
            let message = if leave {
                messages::BREAK_OUTSIDE_WHILE
            } else {
                messages::CONTINUE_OUTSIDE_WHILE
            };
            return Err(self.error(message, &[]));
        }
        self.advance();
        Ok(if leave { StatementKind::Break } else { StatementKind::Continue })
    }

    pub(super) fn begin(&mut self) -> Parse<StatementKind> {
        let next = self.peek_at(1).keyword;
        if matches!(next, Keyword::Tran | Keyword::Transaction | Keyword::Distributed) {
            return self.transaction();
        }
        self.advance();
        if self.eat_word("TRY") {
            return self.try_catch();
        }
        if self.at_word("DIALOG") || self.at_word("CONVERSATION") {
            self.at -= 1;
            return self.opaque(2);
        }
        let atomic = self.at_word("ATOMIC") && self.peek_at(1).keyword == Keyword::With;
        if atomic {
            self.advance();
            self.advance();
            self.paren_list(Parser::atomic_option)?;
        }
        self.skip_block_start();
        let body = self.statements_until(Parser::at_block_end)?;
        if body.is_empty() && !atomic {
            return Err(self.unexpected());
        }
        self.expect_keyword(Keyword::End)?;
        if atomic {
            return Ok(StatementKind::Opaque(Box::new(OpaqueStatement {
                name: "BEGIN ATOMIC".into(),
            })));
        }
        Ok(StatementKind::Block(body))
    }

    /// `TRANSACTION ISOLATION LEVEL = SNAPSHOT`, `LANGUAGE = N'…'`
    fn atomic_option(&mut self) -> Parse<()> {
        if self.eat_words(&["TRANSACTION", "ISOLATION", "LEVEL"]) {
            self.expect(TokenKind::Equal)?;
            return self.isolation_level().map(drop);
        }
        self.setting().map(drop)
    }

    fn skip_block_start(&mut self) {
        while self.eat(TokenKind::Semicolon) {}
    }

    fn at_block_end(&self) -> bool {
        let conversation = self.is_word(1, "CONVERSATION");
        self.keyword() == Keyword::End && !conversation || self.kind() == TokenKind::End
    }

    /// Behind BEGIN TRY.
    fn try_catch(&mut self) -> Parse<StatementKind> {
        let body = self.statements_until(Parser::at_block_end)?;
        self.expect_keyword(Keyword::End)?;
        self.expect_word("TRY")?;
        self.expect_keyword(Keyword::Begin)?;
        self.expect_word("CATCH")?;
        let handler = self.statements_until(Parser::at_block_end)?;
        self.expect_keyword(Keyword::End)?;
        self.expect_word("CATCH")?;
        Ok(StatementKind::TryCatch(Box::new(TryCatch { body, handler })))
    }

    pub(super) fn return_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        let token = self.peek();
        let label = Self::names(token) && self.peek_at(1).kind == TokenKind::Colon;
        let value = match token.kind {
            TokenKind::End | TokenKind::Semicolon => false,
            TokenKind::Word => !label && self.begins_expression(),
            _ => true,
        };
        let value = if value { Some(Box::new(self.expr()?)) } else { None };
        Ok(StatementKind::Return(value))
    }

    /// Whether the word here begins an expression rather than a statement.
    fn begins_expression(&self) -> bool {
        match self.keyword() {
            Keyword::None => !self.at_word("THROW"),
            Keyword::Null
            | Keyword::Case
            | Keyword::Convert
            | Keyword::TryConvert
            | Keyword::Coalesce
            | Keyword::Nullif
            | Keyword::CurrentTimestamp
            | Keyword::CurrentDate
            | Keyword::CurrentTime
            | Keyword::CurrentUser
            | Keyword::SessionUser
            | Keyword::SystemUser
            | Keyword::User => true,
            Keyword::Left | Keyword::Right => self.peek_at(1).kind == TokenKind::LeftParen,
            _ => false,
        }
    }

    pub(super) fn throw(&mut self) -> Parse<StatementKind> {
        self.advance();
        let bare = !matches!(self.kind(), TokenKind::Integer | TokenKind::Variable);
        if bare {
            return Ok(StatementKind::Throw(None));
        }
        let number = self.signed_literal()?;
        self.expect(TokenKind::Comma)?;
        let message = self.signed_literal()?;
        self.expect(TokenKind::Comma)?;
        let state = self.signed_literal()?;
        Ok(StatementKind::Throw(Some(Box::new(Throw { number, message, state }))))
    }

    pub(super) fn raiserror(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let message = self.signed_literal()?;
        self.expect(TokenKind::Comma)?;
        let severity = self.signed_literal()?;
        self.expect(TokenKind::Comma)?;
        let state = self.signed_literal()?;
        let mut arguments = Vec::new();
        while self.eat(TokenKind::Comma) {
            arguments.push(self.signed_literal()?);
        }
        self.expect(TokenKind::RightParen)?;
        let (mut log, mut nowait, mut seterror) = (false, false, false);
        if self.eat_keyword(Keyword::With) {
            self.comma_list(|p| {
                match () {
                    () if p.eat_word("LOG") => log = true,
                    () if p.eat_word("NOWAIT") => nowait = true,
                    () if p.eat_word("SETERROR") => seterror = true,
                    () => return Err(p.unexpected()),
                }
                Ok(())
            })?;
        }
        let raise = RaiseError { message, severity, state, arguments, log, nowait, seterror };
        Ok(StatementKind::RaiseError(Box::new(raise)))
    }

    pub(super) fn waitfor(&mut self) -> Parse<StatementKind> {
        if self.peek_at(1).kind == TokenKind::LeftParen {
            return self.opaque(1);
        }
        self.advance();
        let delay = self.eat_word("DELAY");
        if !delay {
            self.expect_word("TIME")?;
        }
        let when = self.signed_literal()?;
        let wait = if delay { WaitFor::Delay(when) } else { WaitFor::Time(when) };
        Ok(StatementKind::WaitFor(Box::new(wait)))
    }

    /// BEGIN TRAN, COMMIT, ROLLBACK, SAVE TRAN with all that may follow.
    pub(super) fn transaction(&mut self) -> Parse<StatementKind> {
        let verb = match self.advance().keyword {
            Keyword::Commit => TransactionVerb::Commit,
            Keyword::Rollback => TransactionVerb::Rollback,
            Keyword::Save => TransactionVerb::Save,
            _ if self.eat_keyword(Keyword::Distributed) => TransactionVerb::BeginDistributed,
            _ => TransactionVerb::Begin,
        };
        let word = self.eat_keyword(Keyword::Tran) || self.eat_keyword(Keyword::Transaction);
        let ends = matches!(verb, TransactionVerb::Commit | TransactionVerb::Rollback);
        if !word && !(ends && (self.eat_word("WORK") || self.at_transaction_end())) {
            return Err(self.unexpected());
        }
        let label = self.peek_at(1).kind == TokenKind::Colon;
        let named = word
            && !label
            && !self.at_word("THROW")
            && (self.at_name() || self.kind() == TokenKind::Variable);
        let name = if named { Some(self.transaction_name()?) } else { None };
        if verb == TransactionVerb::Save && name.is_none() {
            return Err(self.unexpected());
        }
        let mut transaction = Transaction { verb, name, mark: None, delayed_durability: None };
        self.transaction_options(&mut transaction)?;
        Ok(StatementKind::Transaction(Box::new(transaction)))
    }

    /// A written name has 32 characters at most (103).
    fn transaction_name(&mut self) -> Parse<Name> {
        let name = self.name_or_variable()?;
        let units = name.encode_utf16().count();
        if name.starts_with('@') || units <= TRANSACTION_NAME_MAX {
            return Ok(name);
        }
        let args: [&dyn std::fmt::Display; 3] = [&"identifier", &name, &TRANSACTION_NAME_MAX];
        let e = self.error_at(name.line, messages::IDENTIFIER_TOO_LONG, &args);
        Err(e.with_state(2))
    }

    /// Behind COMMIT or ROLLBACK alone, a further statement or the end may stand.
    fn at_transaction_end(&self) -> bool {
        self.kind() != TokenKind::Variable
            && (!self.at_name()
                || self.at_word("THROW")
                || self.peek_at(1).kind == TokenKind::Colon)
    }

    fn transaction_options(&mut self, transaction: &mut Transaction) -> Parse<()> {
        if self.keyword() != Keyword::With {
            return Ok(());
        }
        if transaction.verb == TransactionVerb::Begin && self.eat_words(&["WITH", "MARK"]) {
            let given = matches!(self.kind(), TokenKind::String | TokenKind::National);
            transaction.mark = Some(if given { self.string()? } else { "".into() });
        } else if transaction.verb == TransactionVerb::Commit
            && self.peek_at(1).kind == TokenKind::LeftParen
        {
            self.advance();
            self.expect(TokenKind::LeftParen)?;
            self.expect_word("DELAYED_DURABILITY")?;
            self.expect(TokenKind::Equal)?;
            let on = self.eat_keyword(Keyword::On);
            if !on {
                self.expect_keyword(Keyword::Off)?;
            }
            self.expect(TokenKind::RightParen)?;
            transaction.delayed_durability = Some(on);
        }
        Ok(())
    }

    pub(super) fn declare(&mut self) -> Parse<StatementKind> {
        if Self::names(self.peek_at(1)) {
            return self.declare_cursor();
        }
        self.advance();
        if self.at_keyword_with_namespaces() {
            return self.opaque(1);
        }
        Ok(StatementKind::Declare(self.comma_list(Parser::declaration)?))
    }

    fn at_keyword_with_namespaces(&self) -> bool {
        self.keyword() == Keyword::With && self.is_word(1, "XMLNAMESPACES")
    }

    fn declaration(&mut self) -> Parse<Declaration> {
        let first = self.peek();
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        let kind = match self.keyword() {
            Keyword::Table => {
                self.advance();
                DeclarationKind::Table(Box::new(self.table_definition()?))
            }
            Keyword::Cursor => {
                self.advance();
                DeclarationKind::Cursor
            }
            _ => {
                let type_name = self.type_name()?;
                let value = match self.eat(TokenKind::Equal) {
                    true => Some(self.expr()?),
                    false => None,
                };
                DeclarationKind::Scalar { type_name, value }
            }
        };
        Ok(Declaration { name, kind, span: self.span_from(first) })
    }
}
