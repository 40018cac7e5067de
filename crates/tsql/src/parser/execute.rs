//! EXECUTE.

use super::name::undelimited;
use super::{Parse, Parser};
use crate::ast::{
    Argument, DeclaredColumn, Execute, ExecuteAs, ExecuteTarget, Expr, ExprKind, Literal, Name,
    ResultSet, ResultSets, Setting, SettingValue, StatementKind, TypeArguments, TypeName,
};
use crate::keywords::Keyword;
use crate::mention::MentionKind;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn execute_statement(&mut self) -> Parse<StatementKind> {
        if self.peek_at(1).keyword == Keyword::As {
            let first = self.advance();
            let context = self.execute_as()?;
            let span = self.span_from(first);
            return Ok(StatementKind::ExecuteAs(Box::new(ExecuteAs { context, span })));
        }
        Ok(StatementKind::Execute(Box::new(self.execute()?)))
    }

    /// Behind EXEC: `AS CALLER | OWNER | SELF | LOGIN = '…' | USER = '…' | '…'`
    pub(super) fn execute_as(&mut self) -> Parse<Setting> {
        let first = self.expect_keyword(Keyword::As)?;
        let value = match self.kind() {
            TokenKind::String | TokenKind::National => SettingValue::String(self.string()?),
            _ => {
                let word = self.expect(TokenKind::Word)?;
                let mut text = self.token_text(word).to_ascii_uppercase();
                if self.eat(TokenKind::Equal) {
                    text = format!("{text} = {}", self.name_or_string()?);
                }
                SettingValue::Word(text.into())
            }
        };
        if self.eat_words(&["WITH", "NO", "REVERT"]) {
            // Remembered in the text alone.
        } else if self.keyword() == Keyword::With && self.is_word(1, "COOKIE") {
            return Err(self.unsupported("COOKIE of EXECUTE AS"));
        }
        Ok(Setting { name: "EXECUTE AS".into(), value, span: self.span_from(first) })
    }

    /// `EXEC …`
    pub(super) fn execute(&mut self) -> Parse<Execute> {
        self.advance();
        if self.kind() == TokenKind::LeftParen {
            return self.execute_text();
        }
        let result = match (self.kind(), self.peek_at(1).kind) {
            (TokenKind::Variable, TokenKind::Equal) => {
                let variable = self.take_name()?;
                self.advance();
                Some(variable)
            }
            _ => None,
        };
        self.execute_rest(result)
    }

    /// From the procedure's name on; also a batch's first statement without EXEC.
    pub(super) fn execute_rest(&mut self, result: Option<Name>) -> Parse<Execute> {
        let what = if self.kind() == TokenKind::Variable {
            let variable = self.take_name()?;
            ExecuteTarget::Variable { variable, arguments: self.arguments()? }
        } else {
            let name = self.object_name()?;
            self.mention(MentionKind::Procedure, &name);
            let numbered =
                self.kind() == TokenKind::Semicolon && self.peek_at(1).kind == TokenKind::Integer;
            let number = if numbered {
                self.advance();
                Some(self.integer()?)
            } else {
                None
            };
            ExecuteTarget::Procedure { name, number, arguments: self.arguments()? }
        };
        let (recompile, result_sets) = self.execute_options()?;
        Ok(Execute { result, what, recompile, result_sets })
    }

    /// `EXEC ('text' + @more [, argument …]) [AS …] [AT server]`
    fn execute_text(&mut self) -> Parse<Execute> {
        self.expect(TokenKind::LeftParen)?;
        let text = self.expr()?;
        let mut arguments = Vec::new();
        while self.eat(TokenKind::Comma) {
            arguments.push(self.argument()?);
        }
        self.expect(TokenKind::RightParen)?;
        let execute_as = match self.keyword() {
            Keyword::As => Some(self.execute_as()?),
            _ => None,
        };
        let server = if self.eat_word("AT") { Some(self.name()?) } else { None };
        // RECOMPILE is of procedures alone (102, as SqlServerSimulator has probed).
        let result_sets = if self.at_execute_options() {
            self.advance();
            Some(self.result_sets()?)
        } else {
            None
        };
        let what = ExecuteTarget::Text { text, arguments, execute_as, server };
        Ok(Execute { result: None, what, recompile: false, result_sets })
    }

    /// Whether a WITH is of the EXECUTE, not of the next statement.
    fn at_execute_options(&self) -> bool {
        self.keyword() == Keyword::With
            && (self.is_word(1, "RECOMPILE") || self.is_word(1, "RESULT"))
    }

    fn execute_options(&mut self) -> Parse<(bool, Option<ResultSets>)> {
        let (mut recompile, mut result_sets) = (false, None);
        if self.at_execute_options() {
            self.advance();
            self.comma_list(|p| {
                if p.eat_word("RECOMPILE") {
                    recompile = true;
                } else if result_sets.is_some() {
                    return Err(p.unexpected());
                } else {
                    result_sets = Some(p.result_sets()?);
                }
                Ok(())
            })?;
        }
        Ok((recompile, result_sets))
    }

    /// `RESULT SETS UNDEFINED | NONE | ((column type, …), …)`
    fn result_sets(&mut self) -> Parse<ResultSets> {
        self.expect_word("RESULT")?;
        self.expect_word("SETS")?;
        if self.eat_word("UNDEFINED") {
            return Ok(ResultSets::Undefined);
        }
        if self.eat_word("NONE") {
            return Ok(ResultSets::Declared(Vec::new()));
        }
        self.paren_list(Parser::result_set).map(ResultSets::Declared)
    }

    /// `(column type, …)`, `AS FOR XML`, `AS OBJECT name`, `AS TYPE name`
    fn result_set(&mut self) -> Parse<ResultSet> {
        if !self.eat_keyword(Keyword::As) {
            return self.paren_list(Parser::declared_column).map(ResultSet::Columns);
        }
        if self.eat_keyword(Keyword::For) {
            self.expect_word("XML")?;
            return Ok(ResultSet::Xml);
        }
        if self.eat_word("OBJECT") {
            self.object_name()?;
            return Ok(ResultSet::Object);
        }
        self.expect_word("TYPE")?;
        let first = self.peek();
        let name = self.object_name()?;
        let (arguments, span) = (TypeArguments::None, self.span_from(first));
        Ok(ResultSet::Type(TypeName { name, arguments, span }))
    }

    fn declared_column(&mut self) -> Parse<DeclaredColumn> {
        let name = self.name()?;
        let type_name = self.type_name()?;
        let collation = match self.eat_keyword(Keyword::Collate) {
            true => Some(self.collation()?),
            false => None,
        };
        let nullable = self.optional_null().unwrap_or(true);
        Ok(DeclaredColumn { name, type_name, collation, nullable })
    }

    /// Arguments, or none.
    fn arguments(&mut self) -> Parse<Vec<Argument>> {
        if !self.at_argument() {
            return Ok(Vec::new());
        }
        self.comma_list(Parser::argument)
    }

    fn at_argument(&self) -> bool {
        let token = self.peek();
        match token.kind {
            TokenKind::Word => match token.keyword {
                Keyword::None => self.peek_at(1).kind != TokenKind::Colon,
                Keyword::Null | Keyword::Default | Keyword::On | Keyword::Off => true,
                _ => false,
            },
            TokenKind::Quoted
            | TokenKind::Variable
            | TokenKind::Global
            | TokenKind::String
            | TokenKind::National
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::Float
            | TokenKind::Money
            | TokenKind::Binary
            | TokenKind::Minus
            | TokenKind::Plus => true,
            _ => false,
        }
    }

    /// `[@p =] value [OUTPUT]`
    fn argument(&mut self) -> Parse<Argument> {
        let named = self.kind() == TokenKind::Variable && self.peek_at(1).kind == TokenKind::Equal;
        let name = if named {
            let name = self.take_name()?;
            self.advance();
            Some(name)
        } else {
            None
        };
        let value = self.argument_value()?;
        let output = self.eat_word("OUTPUT") || self.eat_word("OUT");
        Ok(Argument { name, value, output })
    }

    /// A constant, variable, DEFAULT, or a bare word, which is a string.
    fn argument_value(&mut self) -> Parse<Expr> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Word if token.keyword == Keyword::Default => ExprKind::Default,
            TokenKind::Word if matches!(token.keyword, Keyword::On | Keyword::Off) => {
                ExprKind::Literal(Literal::National(self.token_text(token).into()))
            }
            TokenKind::Word if token.keyword == Keyword::None => {
                ExprKind::Literal(Literal::National(self.token_text(token).into()))
            }
            TokenKind::Quoted => {
                let text = undelimited(self.token_text(token), 1);
                ExprKind::Literal(Literal::National(text))
            }
            _ => return self.signed_literal(),
        };
        self.advance();
        Ok(Expr { kind, span: token.span() })
    }

    /// `{call procedure(arguments)}`
    pub(super) fn odbc_call(&mut self) -> Parse<StatementKind> {
        self.expect(TokenKind::LeftBrace)?;
        let result = match self.kind() {
            TokenKind::Variable => {
                let variable = self.take_name()?;
                self.expect(TokenKind::Equal)?;
                Some(variable)
            }
            _ => None,
        };
        self.expect_word("CALL")?;
        let name = self.object_name()?;
        let arguments = if self.kind() == TokenKind::LeftParen
            && self.peek_at(1).kind == TokenKind::RightParen
        {
            self.advance();
            self.advance();
            Vec::new()
        } else {
            self.optional_paren_list(Parser::argument)?
        };
        self.expect(TokenKind::RightBrace)?;
        let what = ExecuteTarget::Procedure { name, number: None, arguments };
        let execute = Execute { result, what, recompile: false, result_sets: None };
        Ok(StatementKind::Execute(Box::new(execute)))
    }
}
