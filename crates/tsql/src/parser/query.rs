//! Queries as a whole: CTEs, set operators, ORDER BY, OFFSET, FOR; and SELECT as a statement.

use super::{Parse, Parser};
use crate::ast::{
    Cte, ForClause, ForKind, Offset, OrderItem, Query, QueryBody, SelectStatement, SetOperand,
    SetOperation, SetOperator, Setting, SettingValue, WithClause, XmlNamespace,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `[WITH …] query [OPTION (…)]`
    pub(super) fn select_statement(&mut self) -> Parse<SelectStatement> {
        let with = self.optional_with()?;
        self.select_after_with(with)
    }

    pub(super) fn select_after_with(
        &mut self,
        with: Option<Box<WithClause>>,
    ) -> Parse<SelectStatement> {
        let query = self.subquery()?;
        let options = self.optional_options()?;
        Ok(SelectStatement { with, query, options })
    }

    /// `WITH [XMLNAMESPACES (…),] cte, …`
    pub(super) fn optional_with(&mut self) -> Parse<Option<Box<WithClause>>> {
        if !self.eat_keyword(Keyword::With) {
            return Ok(None);
        }
        let mut clause = WithClause { xml_namespaces: Vec::new(), ctes: Vec::new() };
        if self.at_word("XMLNAMESPACES") && self.peek_at(1).kind == TokenKind::LeftParen {
            self.advance();
            clause.xml_namespaces = self.paren_list(Parser::xml_namespace)?;
            if !self.eat(TokenKind::Comma) {
                return Ok(Some(Box::new(clause)));
            }
        }
        if self.at_word("CHANGE_TRACKING_CONTEXT") && self.peek_at(1).kind == TokenKind::LeftParen {
            return Err(self.unsupported("CHANGE_TRACKING_CONTEXT"));
        }
        clause.ctes = self.comma_list(Parser::cte)?;
        Ok(Some(Box::new(clause)))
    }

    fn xml_namespace(&mut self) -> Parse<XmlNamespace> {
        if self.eat_keyword(Keyword::Default) {
            return Ok(XmlNamespace { uri: self.string()?, prefix: None });
        }
        let uri = self.string()?;
        self.expect_keyword(Keyword::As)?;
        Ok(XmlNamespace { uri, prefix: Some(self.name()?) })
    }

    fn cte(&mut self) -> Parse<Cte> {
        let name = self.name()?;
        let columns = self.optional_paren_list(Parser::name)?;
        self.expect_keyword(Keyword::As)?;
        let query = self.parenthesized(Parser::subquery)?;
        self.mention_own(&name);
        Ok(Cte { name, columns, query })
    }

    /// A query, where nothing else may stand.
    pub(super) fn subquery(&mut self) -> Parse<Query> {
        if self.keyword() == Keyword::Select || self.kind() == TokenKind::LeftParen {
            self.query()
        } else {
            Err(self.unexpected())
        }
    }

    pub(super) fn query(&mut self) -> Parse<Query> {
        self.nested(|p| {
            let first = p.peek();
            let body = p.unions()?;
            let order_by = p.optional_order_by()?;
            let offset = if order_by.is_empty() { None } else { p.optional_offset()? };
            let for_clause = p.optional_for()?;
            Ok(Query { body, order_by, offset, for_clause, span: p.span_from(first) })
        })
    }

    /// Queries with UNION and EXCEPT between them.
    fn unions(&mut self) -> Parse<QueryBody> {
        self.set_level(Parser::intersections, |p| {
            let op = match p.keyword() {
                Keyword::Union if p.peek_at(1).keyword == Keyword::All => {
                    p.advance();
                    SetOperator::UnionAll
                }
                Keyword::Union => SetOperator::Union,
                Keyword::Except => SetOperator::Except,
                _ => return None,
            };
            p.advance();
            Some(op)
        })
    }

    fn intersections(&mut self) -> Parse<QueryBody> {
        self.set_level(Parser::query_primary, |p| {
            p.eat_keyword(Keyword::Intersect).then_some(SetOperator::Intersect)
        })
    }

    fn set_level(
        &mut self,
        part: fn(&mut Self) -> Parse<QueryBody>,
        operator: fn(&mut Self) -> Option<SetOperator>,
    ) -> Parse<QueryBody> {
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some(op) = operator(self) {
            let start = self.peek();
            let body = part(self)?;
            rest.push(SetOperand { op, body, span: self.span_from(start) });
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(QueryBody::SetOperation(Box::new(SetOperation { first, rest })))
    }

    fn query_primary(&mut self) -> Parse<QueryBody> {
        if self.kind() != TokenKind::LeftParen {
            return Ok(QueryBody::Select(Box::new(self.select()?)));
        }
        let inner = self.parenthesized(Parser::subquery)?;
        Ok(QueryBody::Parenthesized(Box::new(inner)))
    }

    /// `ORDER BY item, …`, or nothing.
    pub(super) fn optional_order_by(&mut self) -> Parse<Vec<OrderItem>> {
        if !self.eat_keyword(Keyword::Order) {
            return Ok(Vec::new());
        }
        self.expect_keyword(Keyword::By)?;
        self.comma_list(Parser::order_item)
    }

    pub(super) fn order_item(&mut self) -> Parse<OrderItem> {
        let expr = self.expr()?;
        let descending = self.direction();
        Ok(OrderItem { expr, descending })
    }

    /// `ASC`, `DESC` or nothing; whether it is descending.
    pub(super) fn direction(&mut self) -> bool {
        let descending = self.eat_keyword(Keyword::Desc);
        if !descending {
            self.eat_keyword(Keyword::Asc);
        }
        descending
    }

    fn optional_offset(&mut self) -> Parse<Option<Box<Offset>>> {
        if !self.eat_word("OFFSET") {
            return Ok(None);
        }
        let offset = self.expr()?;
        self.rows_word()?;
        let mut fetch = None;
        if self.eat_keyword(Keyword::Fetch) {
            if !self.eat_word("NEXT") {
                self.expect_word("FIRST")?;
            }
            fetch = Some(self.expr()?);
            self.rows_word()?;
            self.expect_word("ONLY")?;
        }
        Ok(Some(Box::new(Offset { offset, fetch })))
    }

    fn rows_word(&mut self) -> Parse<()> {
        if self.eat_word("ROWS") { Ok(()) } else { self.expect_word("ROW") }
    }

    /// `FOR BROWSE|XML …|JSON …`; other FORs belong to a cursor.
    fn optional_for(&mut self) -> Parse<Option<Box<ForClause>>> {
        let kind = match () {
            () if self.keyword() != Keyword::For => return Ok(None),
            () if self.is_word(1, "BROWSE") => ForKind::Browse,
            () if self.is_word(1, "XML") => ForKind::Xml,
            () if self.is_word(1, "JSON") => ForKind::Json,
            () => return Ok(None),
        };
        let first = self.advance();
        self.advance();
        let mut clause = ForClause {
            kind,
            mode: "".into(),
            element: None,
            options: Vec::new(),
            span: first.span(),
        };
        if kind != ForKind::Browse {
            let mode = self.expect(TokenKind::Word)?;
            clause.mode = self.token_text(mode).to_ascii_uppercase().into();
            if self.eat(TokenKind::LeftParen) {
                clause.element = Some(self.string()?);
                self.expect(TokenKind::RightParen)?;
            }
            while self.eat(TokenKind::Comma) {
                let option = self.for_option()?;
                clause.options.push(option);
            }
        }
        clause.span = self.span_from(first);
        Ok(Some(Box::new(clause)))
    }

    /// `ROOT('x')`, `TYPE`, `ELEMENTS XSINIL`, `BINARY BASE64`, `INCLUDE_NULL_VALUES` …
    fn for_option(&mut self) -> Parse<Setting> {
        let first = self.expect(TokenKind::Word)?;
        let mut name = self.token_text(first).to_ascii_uppercase();
        for second in ["XSINIL", "ABSENT", "BASE64"] {
            if self.eat_word(second) {
                name = format!("{name} {second}");
            }
        }
        let mut value = SettingValue::None;
        if self.eat(TokenKind::LeftParen) {
            value = SettingValue::String(self.string()?);
            self.expect(TokenKind::RightParen)?;
        }
        Ok(Setting { name: name.into(), value, span: self.span_from(first) })
    }
}
