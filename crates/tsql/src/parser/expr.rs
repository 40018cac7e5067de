//! Scalar expressions: operators by level, postfixes, primaries.
//!
//! Precedence, tightest first: `~`, unary sign, `* / %`, `+ - & ^ |`; then what conditions add.

use super::name::undelimited;
use super::{Parse, Parser};
use crate::ast::{
    Arithmetic, ArithmeticTerm, BinaryOp, Case, CaseBranches, ColumnName, Expr, ExprKind, Literal,
    MethodCall, MethodTarget, Name, ObjectName, UnaryOp,
};
use crate::keywords::Keyword;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// A whole scalar expression.
    pub(crate) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let first = p.peek();
            let operand = p.unary()?;
            p.expr_from(first, operand)
        })
    }

    /// An expression or the word DEFAULT.
    pub(super) fn expr_or_default(&mut self) -> Parse<Expr> {
        if self.keyword() == Keyword::Default {
            let span = self.advance().span();
            return Ok(Expr { kind: ExprKind::Default, span });
        }
        self.expr()
    }

    /// The expression that begins with an operand already read.
    pub(super) fn expr_from(&mut self, first: Token, operand: Expr) -> Parse<Expr> {
        let operand = self.product_from(first, operand)?;
        let mut rest = Vec::new();
        while let Some(op) = additive(self.kind()) {
            self.advance();
            let start = self.peek();
            let operand = self.unary()?;
            let operand = self.product_from(start, operand)?;
            rest.push(ArithmeticTerm { op, operand });
        }
        Ok(self.chain(first, operand, rest))
    }

    fn product_from(&mut self, first: Token, operand: Expr) -> Parse<Expr> {
        let mut rest = Vec::new();
        while let Some(op) = multiplicative(self.kind()) {
            self.advance();
            let operand = self.unary()?;
            rest.push(ArithmeticTerm { op, operand });
        }
        Ok(self.chain(first, operand, rest))
    }

    fn chain(&self, token: Token, first: Expr, rest: Vec<ArithmeticTerm>) -> Expr {
        if rest.is_empty() {
            return first;
        }
        let kind = ExprKind::Arithmetic(Box::new(Arithmetic { first, rest }));
        Expr { kind, span: self.span_from(token) }
    }

    /// An operand with its signs and postfixes.
    pub(super) fn unary(&mut self) -> Parse<Expr> {
        let op = match self.kind() {
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Tilde => UnaryOp::BitNot,
            _ => {
                let first = self.peek();
                let operand = self.primary()?;
                return self.postfix(first, operand);
            }
        };
        let first = self.advance();
        let operand = Box::new(self.nested(Parser::unary)?);
        Ok(Expr { kind: ExprKind::Unary { op, operand }, span: self.span_from(first) })
    }

    /// `COLLATE name`, `AT TIME ZONE zone`, `.method(…)` behind an operand.
    pub(super) fn postfix(&mut self, first: Token, mut operand: Expr) -> Parse<Expr> {
        let mut height = 0;
        loop {
            let kind = if self.eat_keyword(Keyword::Collate) {
                ExprKind::Collate { operand: Box::new(operand), collation: self.collation()? }
            } else if self.eat_words(&["AT", "TIME", "ZONE"]) {
                let zone = Box::new(self.nested(Parser::primary)?);
                ExprKind::AtTimeZone { operand: Box::new(operand), zone }
            } else if self.at_method() {
                self.advance();
                let method = self.name()?;
                // A property has no arguments, and no parentheses for them.
                let arguments = match self.kind() {
                    TokenKind::LeftParen => self.call_arguments()?,
                    _ => Vec::new(),
                };
                let target = MethodTarget::Value(operand);
                ExprKind::Method(Box::new(MethodCall { target, method, arguments, mutator: false }))
            } else {
                self.depth -= height;
                return Ok(operand);
            };
            operand = Expr { kind, span: self.span_from(first) };
            // Each postfix is a level of the tree.
            height += 1;
            self.nested(|_| Ok(()))?;
            self.depth += 1;
        }
    }

    /// `.name` behind a value.
    fn at_method(&self) -> bool {
        self.kind() == TokenKind::Dot && Self::names(self.peek_at(1))
    }

    pub(super) fn collation(&mut self) -> Parse<Name> {
        if self.keyword() == Keyword::Database {
            // `DATABASE_DEFAULT` is one word; DATABASE alone is none.
            return Err(self.unexpected());
        }
        self.name()
    }

    fn primary(&mut self) -> Parse<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Word => self.word_primary(token),
            TokenKind::Quoted => self.name_primary(token),
            TokenKind::LeftParen => self.paren_primary(),
            TokenKind::Variable => {
                let kind = ExprKind::Variable(self.take_name()?);
                Ok(Expr { kind, span: token.span() })
            }
            TokenKind::Global => {
                let kind = ExprKind::Global(self.take_name()?);
                Ok(Expr { kind, span: token.span() })
            }
            TokenKind::Pseudo => self.pseudo_primary(token),
            TokenKind::LeftBrace => self.odbc_escape(),
            _ => self.literal(),
        }
    }

    /// A constant that isn't a word.
    #[inline(never)]
    pub(super) fn literal(&mut self) -> Parse<Expr> {
        let token = self.peek();
        let text = self.token_text(token);
        let literal = match token.kind {
            TokenKind::Integer => Literal::Integer(text.into()),
            TokenKind::Decimal => Literal::Decimal(text.into()),
            TokenKind::Float => Literal::Float(float_text(text)),
            TokenKind::Money => Literal::Money(money_text(text)),
            TokenKind::String => Literal::String(undelimited(text, 1)),
            TokenKind::National => Literal::National(undelimited(text, 2)),
            TokenKind::Binary => Literal::Binary(binary_bytes(text)),
            TokenKind::Word if token.keyword == Keyword::Null => Literal::Null,
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(Expr { kind: ExprKind::Literal(literal), span: token.span() })
    }

    /// A constant with an optional sign, or a variable: what options and arguments take.
    pub(super) fn signed_literal(&mut self) -> Parse<Expr> {
        let first = self.peek();
        let op = match first.kind {
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Variable | TokenKind::Global => return self.primary(),
            _ => return self.literal(),
        };
        self.advance();
        let operand = Box::new(self.literal()?);
        Ok(Expr { kind: ExprKind::Unary { op, operand }, span: self.span_from(first) })
    }

    /// `(query)` or `(expression)`
    #[inline(never)]
    pub(super) fn paren_primary(&mut self) -> Parse<Expr> {
        let first = self.advance();
        if self.at_query() {
            let query = self.query()?;
            self.expect(TokenKind::RightParen)?;
            let kind = ExprKind::Subquery(Box::new(query));
            return Ok(Expr { kind, span: self.span_from(first) });
        }
        let mut inner = self.expr()?;
        self.expect(TokenKind::RightParen)?;
        inner.span = self.span_from(first);
        Ok(inner)
    }

    /// Whether a query begins here, perhaps within parentheses of its own.
    pub(super) fn at_query(&self) -> bool {
        self.query_ahead(0)
    }

    /// Whether a query begins `ahead` tokens further. `((SELECT 1) + 1)` has none behind its
    /// first parenthesis, nor has `(((SELECT 1) < 2))`; `((SELECT 1) UNION (SELECT 2))` has.
    pub(super) fn query_ahead(&self, ahead: usize) -> bool {
        let mut inner = ahead;
        while self.peek_at(inner).kind == TokenKind::LeftParen {
            inner += 1;
        }
        if self.peek_at(inner).keyword != Keyword::Select {
            return false;
        }
        self.query_closes(inner, inner - ahead)
    }

    /// Whether what stands behind each of `levels` parentheses around a SELECT leaves it a query.
    fn query_closes(&self, select: usize, mut levels: usize) -> bool {
        let (mut depth, mut at) = (levels, select);
        while levels > 0 {
            match self.peek_at(at).kind {
                TokenKind::LeftParen => depth += 1,
                TokenKind::RightParen => {
                    if depth == levels {
                        levels -= 1;
                        if !self.follows_query(at + 1) {
                            return false;
                        }
                    }
                    depth -= 1;
                }
                TokenKind::End => return true,
                _ => {}
            }
            at += 1;
        }
        true
    }

    fn follows_query(&self, at: usize) -> bool {
        let next = self.peek_at(at);
        matches!(next.kind, TokenKind::RightParen | TokenKind::End)
            || matches!(
                next.keyword,
                Keyword::Union | Keyword::Except | Keyword::Intersect | Keyword::Order
            )
    }

    /// The token behind the parenthesis that closes the one `ahead`.
    pub(super) fn after_paren(&self, ahead: usize) -> Token {
        let mut depth = 0usize;
        let mut at = ahead;
        loop {
            let token = self.peek_at(at);
            match token.kind {
                TokenKind::LeftParen => depth += 1,
                TokenKind::RightParen => depth = depth.saturating_sub(1),
                TokenKind::End => return token,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return self.peek_at(at);
            }
        }
    }

    /// A word: a name, a function, or one of the reserved words that begin an expression.
    fn word_primary(&mut self, token: Token) -> Parse<Expr> {
        match token.keyword {
            Keyword::None => self.name_primary(token),
            Keyword::Null => self.literal(),
            Keyword::Case => self.case(),
            Keyword::Convert | Keyword::TryConvert => self.convert(),
            Keyword::CurrentTimestamp
            | Keyword::CurrentDate
            | Keyword::CurrentTime
            | Keyword::CurrentUser
            | Keyword::SessionUser
            | Keyword::SystemUser
            | Keyword::User => self.niladic(token),
            Keyword::Identity => self.identity_function(),
            Keyword::IdentityCol | Keyword::RowGuidCol => self.pseudo_primary(token),
            Keyword::Coalesce
            | Keyword::Nullif
            | Keyword::Left
            | Keyword::Right
            | Keyword::OpenXml
            | Keyword::OpenQuery
            | Keyword::OpenRowset
                if self.peek_at(1).kind == TokenKind::LeftParen =>
            {
                let name = self.take_name()?;
                let name = plain(name, token);
                self.function_call(token, name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn niladic(&mut self, token: Token) -> Parse<Expr> {
        self.advance();
        let text = self.token_text(token).to_ascii_uppercase().into();
        let kind = ExprKind::Niladic(Name { text, line: token.line });
        Ok(Expr { kind, span: token.span() })
    }

    /// `$action`, `$PARTITION.function(…)`
    #[inline(never)]
    fn pseudo_primary(&mut self, token: Token) -> Parse<Expr> {
        let name = self.take_name()?;
        if self.kind() == TokenKind::Dot {
            let name = self.object_name_rest(token, Some(name))?;
            return self.function_call(token, name);
        }
        let kind = ExprKind::Column(Box::new(ColumnName { qualifier: None, name }));
        Ok(Expr { kind, span: token.span() })
    }

    #[inline(never)]
    fn case(&mut self) -> Parse<Expr> {
        let first = self.advance();
        let branches = if self.keyword() == Keyword::When {
            let mut whens = Vec::new();
            while self.eat_keyword(Keyword::When) {
                let condition = self.condition()?;
                self.expect_keyword(Keyword::Then)?;
                whens.push((condition, self.expr()?));
            }
            CaseBranches::Searched(whens)
        } else {
            let operand = self.expr()?;
            let mut whens = Vec::new();
            if self.keyword() != Keyword::When {
                return Err(self.unexpected());
            }
            while self.eat_keyword(Keyword::When) {
                let value = self.expr()?;
                self.expect_keyword(Keyword::Then)?;
                whens.push((value, self.expr()?));
            }
            CaseBranches::Simple { operand, whens }
        };
        let otherwise = if self.eat_keyword(Keyword::Else) { Some(self.expr()?) } else { None };
        self.expect_keyword(Keyword::End)?;
        let kind = ExprKind::Case(Box::new(Case { branches, otherwise }));
        Ok(Expr { kind, span: self.span_from(first) })
    }

    /// `{d '…'}`, `{t '…'}`, `{ts '…'}`, `{guid '…'}`, `{fn f(…)}`
    #[inline(never)]
    fn odbc_escape(&mut self) -> Parse<Expr> {
        let first = self.advance();
        if self.eat_word("FN") {
            let mut inner = self.expr()?;
            self.expect(TokenKind::RightBrace)?;
            if let ExprKind::Function(call) = &mut inner.kind {
                super::odbc::in_words_of_the_language(call);
            }
            inner.span = self.span_from(first);
            return Ok(inner);
        }
        if !["D", "T", "TS", "GUID"].iter().any(|tag| self.at_word(tag)) {
            return Err(self.unexpected());
        }
        let tag = self.take_text().to_ascii_lowercase().into();
        let text = self.string()?;
        self.expect(TokenKind::RightBrace)?;
        Ok(Expr { kind: ExprKind::Odbc { tag, text }, span: self.span_from(first) })
    }
}

/// A name without parts before it.
pub(super) fn plain(name: Name, token: Token) -> ObjectName {
    ObjectName { server: None, database: None, schema: None, object: name, span: token.span() }
}

fn additive(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Subtract,
        TokenKind::Ampersand => BinaryOp::BitAnd,
        TokenKind::Pipe => BinaryOp::BitOr,
        TokenKind::Caret => BinaryOp::BitXor,
        TokenKind::ShiftLeft => BinaryOp::ShiftLeft,
        TokenKind::ShiftRight => BinaryOp::ShiftRight,
        _ => return None,
    })
}

fn multiplicative(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Star => BinaryOp::Multiply,
        TokenKind::Slash => BinaryOp::Divide,
        TokenKind::Percent => BinaryOp::Modulo,
        _ => return None,
    })
}

/// `1e` means `1e0`, as `1e+` does.
fn float_text(text: &str) -> Box<str> {
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        text.into()
    } else {
        format!("{text}0").into()
    }
}

/// Without the currency sign; the sign alone is zero.
fn money_text(text: &str) -> Box<str> {
    match text.trim_start_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')) {
        "" | "." => "0".into(),
        digits => digits.into(),
    }
}

fn binary_bytes(text: &str) -> Box<[u8]> {
    let digits = text.as_bytes().get(2..).unwrap_or_default();
    let value = |b: u8| char::from(b).to_digit(16).unwrap_or(0) as u8;
    let (odd, even) = digits.split_at(digits.len() % 2);
    let head = odd.iter().map(|b| value(*b));
    head.chain(even.chunks_exact(2).map(|p| value(p[0]) << 4 | value(p[1]))).collect()
}
