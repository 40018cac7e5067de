//! Conditions: comparisons and what joins them.
//!
//! A parenthesis may open a condition or a value, so the levels work on `Parenthesis` until an
//! operator or the context decides. A value where a condition must stand is error 4145.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{CompareOp, Condition, ConditionKind, Expr, Quantifier};
use crate::keywords::Keyword;
use crate::token::{Token, TokenKind};

/// What a parenthesis turned out to hold.
enum Parenthesis {
    Value(Expr),
    Condition(Condition),
}

impl Parser<'_> {
    /// A condition, whole.
    pub(crate) fn condition(&mut self) -> Parse<Condition> {
        let either = self.nested(Parser::either)?;
        self.require_condition(either)
    }

    fn require_condition(&self, either: Parenthesis) -> Parse<Condition> {
        match either {
            Parenthesis::Condition(condition) => Ok(condition),
            Parenthesis::Value(_) => {
                Err(self.error(messages::EXPRESSION_NOT_BOOLEAN, &[&self.near()]))
            }
        }
    }

    /// `… OR … OR …`, or a value alone.
    fn either(&mut self) -> Parse<Parenthesis> {
        let first = self.peek();
        self.junction(first, Keyword::Or, Parser::conjunction, ConditionKind::Or)
    }

    fn conjunction(&mut self) -> Parse<Parenthesis> {
        let first = self.peek();
        self.junction(first, Keyword::And, Parser::negation, ConditionKind::And)
    }

    /// A chain of one operator, kept flat.
    fn junction(
        &mut self,
        first: Token,
        word: Keyword,
        part: fn(&mut Self) -> Parse<Parenthesis>,
        make: fn(Vec<Condition>) -> ConditionKind,
    ) -> Parse<Parenthesis> {
        let either = part(self)?;
        if self.keyword() != word {
            return Ok(either);
        }
        let mut parts = vec![self.require_condition(either)?];
        while self.eat_keyword(word) {
            let either = part(self)?;
            parts.push(self.require_condition(either)?);
        }
        let span = self.span_from(first);
        Ok(Parenthesis::Condition(Condition { kind: make(parts), span }))
    }

    fn negation(&mut self) -> Parse<Parenthesis> {
        if self.keyword() != Keyword::Not {
            return self.predicate();
        }
        let first = self.advance();
        let either = self.nested(Parser::negation)?;
        let inner = Box::new(self.require_condition(either)?);
        let span = self.span_from(first);
        Ok(Parenthesis::Condition(Condition { kind: ConditionKind::Not(inner), span }))
    }

    fn predicate(&mut self) -> Parse<Parenthesis> {
        let first = self.peek();
        match first.keyword {
            Keyword::Exists => {
                self.advance();
                self.expect(TokenKind::LeftParen)?;
                let query = Box::new(self.subquery()?);
                self.expect(TokenKind::RightParen)?;
                return Ok(self.condition_from(first, ConditionKind::Exists(query)));
            }
            Keyword::Update => {
                self.advance();
                let column = self.parenthesized(Parser::name)?;
                return Ok(self.condition_from(first, ConditionKind::Updated(column)));
            }
            Keyword::Contains | Keyword::Freetext => return self.full_text(),
            Keyword::None
                if self.at_word("MATCH") && self.peek_at(1).kind == TokenKind::LeftParen =>
            {
                return Err(self.unsupported("MATCH"));
            }
            _ => {}
        }
        if first.kind == TokenKind::LeftParen && !self.query_ahead(1) {
            return self.parenthesis();
        }
        let operand = self.unary()?;
        let operand = self.expr_from(first, operand)?;
        self.comparison(first, operand)
    }

    fn condition_from(&self, first: Token, kind: ConditionKind) -> Parenthesis {
        Parenthesis::Condition(Condition { kind, span: self.span_from(first) })
    }

    /// `(` condition `)`, or a value in parentheses and what follows it.
    fn parenthesis(&mut self) -> Parse<Parenthesis> {
        let first = self.advance();
        let inner = self.nested(Parser::either)?;
        self.expect(TokenKind::RightParen)?;
        match inner {
            Parenthesis::Condition(mut condition) => {
                condition.span = self.span_from(first);
                Ok(Parenthesis::Condition(condition))
            }
            Parenthesis::Value(mut operand) => {
                operand.span = self.span_from(first);
                let operand = self.postfix(first, operand)?;
                let operand = self.expr_from(first, operand)?;
                self.comparison(first, operand)
            }
        }
    }

    /// What may follow a value to make it a condition.
    fn comparison(&mut self, first: Token, operand: Expr) -> Parse<Parenthesis> {
        if let Some(op) = self.compare_op() {
            return self.compared(first, op, operand);
        }
        let kind = match self.keyword() {
            Keyword::Is => self.is_what(operand)?,
            Keyword::Not => {
                self.advance();
                self.range_or_pattern(operand, true)?
            }
            Keyword::Between | Keyword::In | Keyword::Like => {
                self.range_or_pattern(operand, false)?
            }
            _ => return Ok(Parenthesis::Value(operand)),
        };
        Ok(self.condition_from(first, kind))
    }

    /// Takes a comparison operator, blanks within it allowed.
    fn compare_op(&mut self) -> Option<CompareOp> {
        let op = match (self.kind(), self.peek_at(1).kind) {
            (TokenKind::Less, TokenKind::Equal) => {
                self.advance();
                CompareOp::LessOrEqual
            }
            (TokenKind::Less, TokenKind::Greater) => {
                self.advance();
                CompareOp::NotEqual
            }
            (TokenKind::Greater, TokenKind::Equal) => {
                self.advance();
                CompareOp::GreaterOrEqual
            }
            (TokenKind::Exclamation, TokenKind::Equal) => {
                self.advance();
                CompareOp::NotEqual
            }
            (TokenKind::Exclamation, TokenKind::Less) => {
                self.advance();
                CompareOp::GreaterOrEqual
            }
            (TokenKind::Exclamation, TokenKind::Greater) => {
                self.advance();
                CompareOp::LessOrEqual
            }
            (TokenKind::Equal, _) => CompareOp::Equal,
            (TokenKind::NotEqual, _) => CompareOp::NotEqual,
            (TokenKind::Less, _) => CompareOp::Less,
            (TokenKind::LessEqual, _) => CompareOp::LessOrEqual,
            (TokenKind::Greater, _) => CompareOp::Greater,
            (TokenKind::GreaterEqual, _) => CompareOp::GreaterOrEqual,
            _ => return None,
        };
        self.advance();
        Some(op)
    }

    fn compared(&mut self, first: Token, op: CompareOp, left: Expr) -> Parse<Parenthesis> {
        let left = Box::new(left);
        let quantifier = match self.keyword() {
            Keyword::All => Some(Quantifier::All),
            Keyword::Any | Keyword::Some => Some(Quantifier::Any),
            _ => None,
        };
        let kind = if let Some(quantifier) = quantifier {
            self.advance();
            self.expect(TokenKind::LeftParen)?;
            let query = Box::new(self.subquery()?);
            self.expect(TokenKind::RightParen)?;
            ConditionKind::Quantified { op, left, quantifier, query }
        } else {
            ConditionKind::Compare { op, left, right: Box::new(self.expr()?) }
        };
        Ok(self.condition_from(first, kind))
    }

    /// `IS [NOT] NULL`, `IS [NOT] DISTINCT FROM value`
    fn is_what(&mut self, operand: Expr) -> Parse<ConditionKind> {
        self.advance();
        let negated = self.eat_keyword(Keyword::Not);
        let operand = Box::new(operand);
        if self.eat_keyword(Keyword::Distinct) {
            self.expect_keyword(Keyword::From)?;
            let right = Box::new(self.expr()?);
            return Ok(ConditionKind::IsDistinct { left: operand, right, negated });
        }
        self.expect_keyword(Keyword::Null)?;
        Ok(ConditionKind::IsNull { operand, negated })
    }

    /// `BETWEEN`, `IN`, `LIKE`
    fn range_or_pattern(&mut self, operand: Expr, negated: bool) -> Parse<ConditionKind> {
        let operand = Box::new(operand);
        match self.keyword() {
            Keyword::Between => {
                self.advance();
                let low = Box::new(self.expr()?);
                self.expect_keyword(Keyword::And)?;
                let high = Box::new(self.expr()?);
                Ok(ConditionKind::Between { operand, low, high, negated })
            }
            Keyword::In => {
                self.advance();
                self.expect(TokenKind::LeftParen)?;
                let kind = if self.at_query() {
                    let query = Box::new(self.query()?);
                    ConditionKind::InQuery { operand, query, negated }
                } else {
                    let list = self.comma_list(Parser::expr)?;
                    ConditionKind::InList { operand, list, negated }
                };
                self.expect(TokenKind::RightParen)?;
                Ok(kind)
            }
            Keyword::Like => {
                self.advance();
                let pattern = Box::new(self.expr()?);
                let escape = match self.eat_keyword(Keyword::Escape) {
                    true => Some(Box::new(self.expr()?)),
                    false if self.kind() == TokenKind::LeftBrace => Some(self.odbc_like()?),
                    false => None,
                };
                Ok(ConditionKind::Like { operand, pattern, escape, negated })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `{escape 'c'}`
    fn odbc_like(&mut self) -> Parse<Box<Expr>> {
        self.expect(TokenKind::LeftBrace)?;
        self.expect_keyword(Keyword::Escape)?;
        let escape = Box::new(self.literal()?);
        self.expect(TokenKind::RightBrace)?;
        Ok(escape)
    }

    /// `CONTAINS|FREETEXT (column | (columns) | *, search)`
    fn full_text(&mut self) -> Parse<Parenthesis> {
        let first = self.peek();
        let function = self.take_name()?;
        self.expect(TokenKind::LeftParen)?;
        let columns = if self.eat(TokenKind::Star) {
            Vec::new()
        } else if self.at_word("PROPERTY") && self.peek_at(1).kind == TokenKind::LeftParen {
            return Err(self.unsupported("PROPERTY of CONTAINS"));
        } else if self.kind() == TokenKind::LeftParen {
            self.paren_list(Parser::column_name)?
        } else {
            vec![self.column_name()?]
        };
        self.expect(TokenKind::Comma)?;
        let search = Box::new(self.expr()?);
        if self.kind() == TokenKind::Comma && self.is_word(1, "LANGUAGE") {
            return Err(self.unsupported("LANGUAGE of a full-text search"));
        }
        self.expect(TokenKind::RightParen)?;
        Ok(self.condition_from(first, ConditionKind::FullText { function, columns, search }))
    }
}
