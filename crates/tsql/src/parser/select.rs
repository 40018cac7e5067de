//! SELECT: its list, and the clauses up to HAVING.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{
    AssignOp, GroupBy, GroupElement, GroupModifier, Name, OverClause, Select, SelectInto,
    SelectItem, TableSource, Top,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Parse<Select> {
        let first = self.expect_keyword(Keyword::Select)?;
        let distinct = self.eat_keyword(Keyword::Distinct);
        if !distinct {
            self.eat_keyword(Keyword::All);
        }
        let top = self.optional_top()?;
        let items = self.comma_list(Parser::select_item)?;
        let into = self.optional_into()?;
        let from = self.optional_from()?;
        let filter = self.optional_where()?;
        let group_by = self.optional_group_by()?;
        let having = match self.eat_keyword(Keyword::Having) {
            true => Some(self.condition()?),
            false => None,
        };
        let windows = self.optional_windows()?;
        let span = self.span_from(first);
        Ok(Select { distinct, top, items, into, from, filter, group_by, having, windows, span })
    }

    /// `WINDOW name AS (…), …`
    fn optional_windows(&mut self) -> Parse<Vec<(Name, OverClause)>> {
        if !self.at_windows() {
            return Ok(Vec::new());
        }
        self.advance();
        self.comma_list(|p| {
            let name = p.name()?;
            p.expect_keyword(Keyword::As)?;
            Ok((name, p.window()?))
        })
    }

    /// A WINDOW clause follows, and no alias of that name.
    pub(super) fn at_windows(&self) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Word
            && self.token_text(token).eq_ignore_ascii_case("WINDOW")
            && Self::names(self.peek_at(1))
            && self.peek_at(2).keyword == Keyword::As
            && self.peek_at(3).kind == TokenKind::LeftParen
    }

    /// `TOP (expr)|(query)|constant [PERCENT] [WITH TIES]`
    pub(super) fn optional_top(&mut self) -> Parse<Option<Box<Top>>> {
        if !self.eat_keyword(Keyword::Top) {
            return Ok(None);
        }
        let count = match self.kind() {
            TokenKind::LeftParen => self.paren_primary()?,
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float => self.literal()?,
            TokenKind::Variable => self.signed_literal()?,
            _ => return Err(self.unexpected()),
        };
        let percent = self.eat_keyword(Keyword::Percent);
        let with_ties = self.eat_words(&["WITH", "TIES"]);
        Ok(Some(Box::new(Top { count, percent, with_ties })))
    }

    pub(super) fn optional_where(&mut self) -> Parse<Option<crate::ast::Condition>> {
        if self.eat_keyword(Keyword::Where) { self.condition().map(Some) } else { Ok(None) }
    }

    pub(super) fn optional_from(&mut self) -> Parse<Vec<TableSource>> {
        if self.eat_keyword(Keyword::From) {
            self.comma_list(Parser::table_source)
        } else {
            Ok(Vec::new())
        }
    }

    fn optional_into(&mut self) -> Parse<Option<Box<SelectInto>>> {
        if !self.eat_keyword(Keyword::Into) {
            return Ok(None);
        }
        let table = self.object_name()?;
        let filegroup = if self.eat_keyword(Keyword::On) { Some(self.name()?) } else { None };
        Ok(Some(Box::new(SelectInto { table, filegroup })))
    }

    /// An item of a select list, also of OUTPUT.
    pub(super) fn select_item(&mut self) -> Parse<SelectItem> {
        let token = self.peek();
        match token.kind {
            TokenKind::Star => {
                self.advance();
                self.mention_star(token.line);
                return Ok(SelectItem::Star(token.span()));
            }
            TokenKind::Variable => {
                if let Some(op) = assign_op(self.peek_at(1).kind) {
                    let variable = self.take_name()?;
                    self.advance();
                    return Ok(SelectItem::Assign { variable, op, value: self.expr()? });
                }
            }
            TokenKind::Word | TokenKind::Quoted | TokenKind::String => {
                if self.peek_at(1).kind == TokenKind::Equal
                    && (token.kind == TokenKind::String || Self::names(token))
                {
                    let alias = Some(self.take_name()?);
                    self.advance();
                    return Ok(SelectItem::Expr { expr: self.expr()?, alias });
                }
                if self.at_qualified_star() {
                    return self.qualified_star();
                }
            }
            _ => {}
        }
        let expr = self.expr()?;
        let alias = self.column_alias()?;
        Ok(SelectItem::Expr { expr, alias })
    }

    /// `name.name.*`
    fn at_qualified_star(&self) -> bool {
        let mut ahead = 0;
        while Self::names(self.peek_at(ahead)) && self.peek_at(ahead + 1).kind == TokenKind::Dot {
            ahead += 2;
        }
        ahead > 0 && self.peek_at(ahead).kind == TokenKind::Star
    }

    fn qualified_star(&mut self) -> Parse<SelectItem> {
        let first = self.peek();
        let mut parts: Vec<Name> = Vec::new();
        while self.kind() != TokenKind::Star {
            if parts.len() == 3 {
                let spelled = self.excerpt(self.span_from(first));
                let args: [&dyn std::fmt::Display; 3] = [&"column", &spelled, &3];
                return Err(self.error(messages::NAME_TOO_MANY_PREFIXES, &args));
            }
            parts.push(self.name()?);
            self.expect(TokenKind::Dot)?;
        }
        self.advance();
        self.mention_star(first.line);
        let span = self.span_from(first);
        let Some(object) = parts.pop() else { return Err(self.unexpected()) };
        let schema = parts.pop();
        let database = parts.pop();
        let name = crate::ast::ObjectName { server: None, database, schema, object, span };
        Ok(SelectItem::QualifiedStar(Box::new(name)))
    }

    /// `AS alias`, `alias`; a string too.
    fn column_alias(&mut self) -> Parse<Option<Name>> {
        let forced = self.eat_keyword(Keyword::As);
        match self.kind() {
            TokenKind::String | TokenKind::National => self.take_name().map(Some),
            _ if forced => self.name().map(Some),
            _ => self.optional_alias(),
        }
    }

    fn optional_group_by(&mut self) -> Parse<Option<Box<GroupBy>>> {
        if !self.eat_keyword(Keyword::Group) {
            return Ok(None);
        }
        self.expect_keyword(Keyword::By)?;
        let all = self.eat_keyword(Keyword::All);
        let elements = self.comma_list(|p| p.group_element(false))?;
        let with = if self.eat_words(&["WITH", "ROLLUP"]) {
            Some(GroupModifier::Rollup)
        } else if self.eat_words(&["WITH", "CUBE"]) {
            Some(GroupModifier::Cube)
        } else {
            None
        };
        Ok(Some(Box::new(GroupBy { all, elements, with })))
    }

    /// An element; `inner` ones may be lists in parentheses.
    fn group_element(&mut self, inner: bool) -> Parse<GroupElement> {
        let call = self.peek_at(1).kind == TokenKind::LeftParen;
        if call && self.eat_word("ROLLUP") {
            return Ok(GroupElement::Rollup(self.group_elements()?));
        }
        if call && self.eat_word("CUBE") {
            return Ok(GroupElement::Cube(self.group_elements()?));
        }
        if self.eat_words(&["GROUPING", "SETS"]) {
            return Ok(GroupElement::Sets(self.group_elements()?));
        }
        if self.kind() == TokenKind::LeftParen {
            if self.peek_at(1).kind == TokenKind::RightParen {
                self.advance();
                self.advance();
                return Ok(GroupElement::Composite(Vec::new()));
            }
            let next = self.after_paren(0).kind;
            if inner && matches!(next, TokenKind::Comma | TokenKind::RightParen) {
                return Ok(GroupElement::Composite(self.paren_list(Parser::expr)?));
            }
        }
        Ok(GroupElement::Expr(self.expr()?))
    }

    fn group_elements(&mut self) -> Parse<Vec<GroupElement>> {
        self.nested(|p| p.paren_list(|p| p.group_element(true)))
    }
}

/// `=` and the compound assignments.
pub(super) fn assign_op(kind: TokenKind) -> Option<AssignOp> {
    Some(match kind {
        TokenKind::Equal => AssignOp::Set,
        TokenKind::PlusEqual => AssignOp::Add,
        TokenKind::MinusEqual => AssignOp::Subtract,
        TokenKind::StarEqual => AssignOp::Multiply,
        TokenKind::SlashEqual => AssignOp::Divide,
        TokenKind::PercentEqual => AssignOp::Modulo,
        TokenKind::AmpersandEqual => AssignOp::BitAnd,
        TokenKind::CaretEqual => AssignOp::BitXor,
        TokenKind::PipeEqual => AssignOp::BitOr,
        _ => return None,
    })
}
