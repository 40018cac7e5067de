//! Names in expressions: columns, function calls, and the functions with a grammar of their own.

use super::expr::plain;
use super::name::column_of;
use super::{Parse, Parser};
use crate::ast::{
    Cast, CastForm, ColumnName, Expr, ExprKind, Frame, FrameBound, FrameUnit, FunctionCall,
    IdentityColumn, Iif, MethodCall, MethodTarget, NextValue, ObjectName, OverClause, Trim,
    TrimSide,
};
use crate::keywords::Keyword;
use crate::mention::MentionKind;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// A column or a call, beginning with a name.
    #[inline(never)]
    pub(super) fn name_primary(&mut self, token: Token) -> Parse<Expr> {
        let next = self.peek_at(1).kind;
        if token.kind == TokenKind::Word {
            if next == TokenKind::LeftParen
                && let Some(special) = self.special_function(token)?
            {
                return Ok(special);
            }
            if self.eat_words(&["NEXT", "VALUE", "FOR"]) {
                return self.next_value(token);
            }
        }
        if next != TokenKind::Dot && next != TokenKind::LeftParen && next != TokenKind::DoubleColon
        {
            let name = self.name()?;
            self.mention_column(&name);
            let kind = ExprKind::Column(Box::new(ColumnName { qualifier: None, name }));
            return Ok(Expr { kind, span: token.span() });
        }
        let name = self.object_name()?;
        match self.kind() {
            TokenKind::LeftParen => {
                self.mention(MentionKind::Call, &name);
                self.function_call(token, name)
            }
            TokenKind::DoubleColon => self.type_method(token, name),
            _ => {
                self.mention_column(&name.object);
                let kind = ExprKind::Column(Box::new(column_of(name)));
                Ok(Expr { kind, span: self.span_from(token) })
            }
        }
    }

    #[inline(never)]
    fn type_method(&mut self, token: Token, name: ObjectName) -> Parse<Expr> {
        self.expect(TokenKind::DoubleColon)?;
        let method = self.name()?;
        let arguments = match self.kind() {
            TokenKind::LeftParen => self.call_arguments()?,
            _ => Vec::new(),
        };
        let target = MethodTarget::Type(name);
        let kind =
            ExprKind::Method(Box::new(MethodCall { target, method, arguments, mutator: false }));
        Ok(Expr { kind, span: self.span_from(token) })
    }

    /// Functions whose arguments aren't a list of expressions; None for all others.
    #[inline(never)]
    fn special_function(&mut self, token: Token) -> Parse<Option<Expr>> {
        let text = self.token_text(token);
        let kind = match text.len() {
            3 if text.eq_ignore_ascii_case("IIF") => self.iif()?,
            4 if text.eq_ignore_ascii_case("CAST") => self.cast(CastForm::Cast, false)?,
            8 if text.eq_ignore_ascii_case("TRY_CAST") => self.cast(CastForm::Cast, true)?,
            5 if text.eq_ignore_ascii_case("PARSE") => self.cast(CastForm::Parse, false)?,
            9 if text.eq_ignore_ascii_case("TRY_PARSE") => self.cast(CastForm::Parse, true)?,
            4 if text.eq_ignore_ascii_case("TRIM") => self.trim()?,
            10 if text.eq_ignore_ascii_case("JSON_ARRAY") => self.json_constructor(token, false)?,
            11 if text.eq_ignore_ascii_case("JSON_OBJECT") => self.json_constructor(token, true)?,
            _ => return Ok(None),
        };
        Ok(Some(Expr { kind, span: self.span_from(token) }))
    }

    #[inline(never)]
    fn iif(&mut self) -> Parse<ExprKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let condition = self.condition()?;
        self.expect(TokenKind::Comma)?;
        let then = self.expr()?;
        self.expect(TokenKind::Comma)?;
        let otherwise = self.expr()?;
        self.expect(TokenKind::RightParen)?;
        Ok(ExprKind::Iif(Box::new(Iif { condition, then, otherwise })))
    }

    /// `CAST(x AS type)`, `PARSE(x AS type [USING culture])`
    #[inline(never)]
    fn cast(&mut self, form: CastForm, attempt: bool) -> Parse<ExprKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let operand = self.expr()?;
        self.expect_keyword(Keyword::As)?;
        let target = self.type_name()?;
        let culture = form == CastForm::Parse && self.eat_word("USING");
        let style = if culture { Some(self.expr()?) } else { None };
        self.expect(TokenKind::RightParen)?;
        Ok(ExprKind::Cast(Box::new(Cast { form, attempt, operand, target, style })))
    }

    /// `[TRY_]CONVERT(type, x [, style])`
    #[inline(never)]
    pub(super) fn convert(&mut self) -> Parse<Expr> {
        let first = self.advance();
        let attempt = first.keyword == Keyword::TryConvert;
        self.expect(TokenKind::LeftParen)?;
        let target = self.type_name()?;
        self.expect(TokenKind::Comma)?;
        let operand = self.expr()?;
        let style = if self.eat(TokenKind::Comma) { Some(self.expr()?) } else { None };
        self.expect(TokenKind::RightParen)?;
        let cast = Cast { form: CastForm::Convert, attempt, operand, target, style };
        Ok(Expr { kind: ExprKind::Cast(Box::new(cast)), span: self.span_from(first) })
    }

    #[inline(never)]
    fn trim(&mut self) -> Parse<ExprKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let named =
            self.peek_at(1).kind != TokenKind::RightParen && self.peek_at(1).kind != TokenKind::Dot;
        let side = match () {
            () if named && self.eat_word("LEADING") => Some(TrimSide::Leading),
            () if named && self.eat_word("TRAILING") => Some(TrimSide::Trailing),
            () if named && self.eat_word("BOTH") => Some(TrimSide::Both),
            () => None,
        };
        let first = self.expr()?;
        let (characters, operand) = match self.eat_keyword(Keyword::From) {
            true => (Some(first), self.expr()?),
            false => (None, first),
        };
        self.expect(TokenKind::RightParen)?;
        Ok(ExprKind::Trim(Box::new(Trim { side, characters, operand })))
    }

    /// `JSON_OBJECT([key : value, …] [NULL | ABSENT ON NULL])`, `JSON_ARRAY([value, …] …)`: a call
    /// with keys and values in turns.
    #[inline(never)]
    fn json_constructor(&mut self, first: Token, keyed: bool) -> Parse<ExprKind> {
        let name = self.object_name()?;
        self.expect(TokenKind::LeftParen)?;
        let mut arguments = Vec::new();
        let mut ignore_nulls = self.on_null();
        while ignore_nulls.is_none() && !self.eat(TokenKind::RightParen) {
            if !arguments.is_empty() {
                self.expect(TokenKind::Comma)?;
            }
            arguments.push(self.expr()?);
            if keyed {
                self.expect(TokenKind::Colon)?;
                arguments.push(self.expr()?);
            }
            ignore_nulls = self.on_null();
        }
        if ignore_nulls.is_some() {
            self.expect(TokenKind::RightParen)?;
        }
        let (span, within_group) = (self.span_from(first), Vec::new());
        let (star, distinct, over) = (false, false, None);
        let call = FunctionCall {
            name,
            arguments,
            star,
            distinct,
            within_group,
            ignore_nulls,
            over,
            span,
        };
        Ok(ExprKind::Function(Box::new(call)))
    }

    /// `ABSENT ON NULL` is true, `NULL ON NULL` false.
    fn on_null(&mut self) -> Option<bool> {
        match self.eat_words(&["ABSENT", "ON", "NULL"]) {
            true => Some(true),
            false => self.eat_words(&["NULL", "ON", "NULL"]).then_some(false),
        }
    }

    #[inline(never)]
    fn next_value(&mut self, first: Token) -> Parse<Expr> {
        let sequence = self.object_name()?;
        self.mention(MentionKind::Sequence, &sequence);
        let over = self.optional_over()?;
        let kind = ExprKind::NextValue(Box::new(NextValue { sequence, over }));
        Ok(Expr { kind, span: self.span_from(first) })
    }

    /// `IDENTITY(type [, seed, increment])`
    #[inline(never)]
    pub(super) fn identity_function(&mut self) -> Parse<Expr> {
        let first = self.advance();
        self.expect(TokenKind::LeftParen)?;
        let type_name = self.type_name()?;
        let mut seed_increment = None;
        if self.eat(TokenKind::Comma) {
            let seed = self.signed_literal()?;
            self.expect(TokenKind::Comma)?;
            seed_increment = Some((seed, self.signed_literal()?));
        }
        self.expect(TokenKind::RightParen)?;
        let kind = ExprKind::Identity(Box::new(IdentityColumn { type_name, seed_increment }));
        Ok(Expr { kind, span: self.span_from(first) })
    }

    /// A call as an expression; the name is read.
    #[inline(never)]
    pub(super) fn function_call(&mut self, first: Token, name: ObjectName) -> Parse<Expr> {
        let call = self.call(first, name)?;
        Ok(Expr { span: call.span, kind: ExprKind::Function(Box::new(call)) })
    }

    /// `(arguments) [WITHIN GROUP (…)] [IGNORE NULLS] [OVER (…)]`
    #[inline(never)]
    pub(super) fn call(&mut self, first: Token, name: ObjectName) -> Parse<FunctionCall> {
        self.expect(TokenKind::LeftParen)?;
        let mut distinct = false;
        let mut star = false;
        let mut arguments = Vec::new();
        if self.kind() == TokenKind::Star {
            self.advance();
            star = true;
        } else if self.kind() != TokenKind::RightParen {
            distinct = self.eat_keyword(Keyword::Distinct);
            if !distinct {
                self.eat_keyword(Keyword::All);
            }
            arguments = match distinct {
                true => vec![self.call_argument()?],
                false => self.comma_list(Parser::call_argument)?,
            };
        }
        self.expect(TokenKind::RightParen)?;
        let within_group = self.within_group()?;
        let ignore_nulls = self.null_treatment();
        let over = self.optional_over()?;
        let span = self.span_from(first);
        Ok(FunctionCall { name, arguments, star, distinct, within_group, ignore_nulls, over, span })
    }

    /// An argument; a reserved word alone may be one too (`DEFAULT`).
    fn call_argument(&mut self) -> Parse<Expr> {
        self.expr_or_default()
    }

    /// `(arguments)` of a method.
    pub(super) fn call_arguments(&mut self) -> Parse<Vec<Expr>> {
        self.expect(TokenKind::LeftParen)?;
        if self.eat(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        let arguments = self.comma_list(Parser::expr_or_default)?;
        self.expect(TokenKind::RightParen)?;
        Ok(arguments)
    }

    #[inline(never)]
    fn within_group(&mut self) -> Parse<Vec<crate::ast::OrderItem>> {
        if !self.eat_keyword(Keyword::Within) {
            return Ok(Vec::new());
        }
        self.expect_keyword(Keyword::Group)?;
        self.parenthesized(|p| {
            p.expect_keyword(Keyword::Order)?;
            p.expect_keyword(Keyword::By)?;
            p.comma_list(Parser::order_item)
        })
    }

    fn null_treatment(&mut self) -> Option<bool> {
        if self.eat_words(&["IGNORE", "NULLS"]) {
            Some(true)
        } else if self.eat_words(&["RESPECT", "NULLS"]) {
            Some(false)
        } else {
            None
        }
    }

    #[inline(never)]
    fn optional_over(&mut self) -> Parse<Option<Box<OverClause>>> {
        if self.keyword() != Keyword::Over {
            return Ok(None);
        }
        let first = self.advance();
        if self.kind() != TokenKind::LeftParen {
            let window = Some(self.name()?);
            let span = self.span_from(first);
            let (partition_by, order_by) = (Vec::new(), Vec::new());
            return Ok(Some(Box::new(OverClause {
                window,
                partition_by,
                order_by,
                frame: None,
                span,
            })));
        }
        self.window().map(|over| Some(Box::new(over)))
    }

    /// `([name] [PARTITION BY …] [ORDER BY …] [frame])`
    #[inline(never)]
    pub(super) fn window(&mut self) -> Parse<OverClause> {
        let first = self.peek();
        self.expect(TokenKind::LeftParen)?;
        let mut window = None;
        let partitions = self.peek_at(1).keyword == Keyword::By;
        if self.at_name() && !partitions && !self.at_frame() {
            window = Some(self.name()?);
        }
        let mut partition_by = Vec::new();
        if self.eat_word("PARTITION") {
            self.expect_keyword(Keyword::By)?;
            partition_by = self.comma_list(Parser::expr)?;
        }
        let order_by = self.optional_order_by()?;
        let frame = self.frame()?;
        self.expect(TokenKind::RightParen)?;
        let span = self.span_from(first);
        Ok(OverClause { window, partition_by, order_by, frame, span })
    }

    /// ROWS or RANGE, and not a window of that name.
    fn at_frame(&self) -> bool {
        let token = self.peek();
        let text = self.token_text(token);
        token.kind == TokenKind::Word
            && (text.eq_ignore_ascii_case("ROWS") || text.eq_ignore_ascii_case("RANGE"))
            && self.peek_at(1).kind != TokenKind::RightParen
    }

    #[inline(never)]
    fn frame(&mut self) -> Parse<Option<Box<Frame>>> {
        let unit = if self.eat_word("ROWS") {
            FrameUnit::Rows
        } else if self.eat_word("RANGE") {
            FrameUnit::Range
        } else {
            return Ok(None);
        };
        if self.eat_keyword(Keyword::Between) {
            let start = self.frame_bound()?;
            self.expect_keyword(Keyword::And)?;
            let end = self.frame_bound()?;
            return Ok(Some(Box::new(Frame { unit, start, end })));
        }
        let start = self.frame_bound()?;
        Ok(Some(Box::new(Frame { unit, start, end: FrameBound::CurrentRow })))
    }

    fn frame_bound(&mut self) -> Parse<FrameBound> {
        if self.eat_words(&["UNBOUNDED", "PRECEDING"]) {
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.eat_words(&["UNBOUNDED", "FOLLOWING"]) {
            return Ok(FrameBound::UnboundedFollowing);
        }
        if self.eat_words(&["CURRENT", "ROW"]) {
            return Ok(FrameBound::CurrentRow);
        }
        let count = self.expr()?;
        if self.eat_word("PRECEDING") {
            return Ok(FrameBound::Preceding(count));
        }
        self.expect_word("FOLLOWING")?;
        Ok(FrameBound::Following(count))
    }

    /// A function in FROM: its name and call.
    pub(super) fn named_call(&mut self) -> Parse<FunctionCall> {
        let first = self.peek();
        let name = match self.at_name() {
            true => self.object_name()?,
            false => plain(self.take_name()?, first),
        };
        self.call(first, name)
    }
}
