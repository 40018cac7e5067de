//! FROM: tables, functions, derived tables, joins, PIVOT.

use base::messages;

use super::expr::plain;
use super::{Parse, Parser};
use crate::ast::{
    Expr, Join, JoinHint, JoinKind, MethodCall, MethodTarget, Name, NamedTable, NestedChange,
    NestedChangeKind, PathColumn, Pivot, Statement, StatementKind, TableFunction, TableSample,
    TableSource, TableSourceKind, Unpivot,
};
use crate::keywords::Keyword;
use crate::mention::MentionKind;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// A source with its joins.
    pub(super) fn table_source(&mut self) -> Parse<TableSource> {
        self.nested(|p| {
            let first = p.peek();
            let source = p.single_source()?;
            let mut joins = Vec::new();
            while let Some(join) = p.optional_join()? {
                joins.push(join);
            }
            Ok(p.joined(first, source, joins))
        })
    }

    fn joined(&self, token: Token, first: TableSource, joins: Vec<Join>) -> TableSource {
        if joins.is_empty() {
            return first;
        }
        let kind = TableSourceKind::Joined { first: Box::new(first), joins };
        TableSource { kind, span: self.span_from(token) }
    }

    fn optional_join(&mut self) -> Parse<Option<Join>> {
        let Some((kind, hint)) = self.join_words()? else { return Ok(None) };
        let applied = matches!(kind, JoinKind::CrossApply | JoinKind::OuterApply);
        if applied || kind == JoinKind::Cross {
            let right = self.nested(Parser::single_source)?;
            return Ok(Some(Join { kind, hint, right, on: None }));
        }
        let right = self.nested(Parser::join_right)?;
        self.expect_keyword(Keyword::On)?;
        let on = Some(self.condition()?);
        Ok(Some(Join { kind, hint, right, on }))
    }

    /// The right side up to its ON: `b JOIN c ON x` in `a JOIN b JOIN c ON x ON y`.
    fn join_right(&mut self) -> Parse<TableSource> {
        let first = self.peek();
        let source = self.single_source()?;
        let mut joins = Vec::new();
        while self.keyword() != Keyword::On {
            match self.optional_join()? {
                Some(join) => joins.push(join),
                None => break,
            }
        }
        Ok(self.joined(first, source, joins))
    }

    /// The words from INNER, LEFT … through JOIN or APPLY.
    fn join_words(&mut self) -> Parse<Option<(JoinKind, Option<JoinHint>)>> {
        let kind = match self.keyword() {
            Keyword::Join => JoinKind::Inner,
            Keyword::Inner => JoinKind::Inner,
            Keyword::Left => JoinKind::Left,
            Keyword::Right => JoinKind::Right,
            Keyword::Full => JoinKind::Full,
            Keyword::Cross => JoinKind::Cross,
            Keyword::Outer if self.is_word(1, "APPLY") => JoinKind::OuterApply,
            _ => return Ok(None),
        };
        if !self.eat_keyword(Keyword::Join) {
            self.advance();
            if self.eat_word("APPLY") {
                return match kind {
                    JoinKind::Cross => Ok(Some((JoinKind::CrossApply, None))),
                    JoinKind::OuterApply => Ok(Some((kind, None))),
                    _ => Err(self.unexpected()),
                };
            }
            if matches!(kind, JoinKind::Left | JoinKind::Right | JoinKind::Full) {
                self.eat_keyword(Keyword::Outer);
            }
            let hint = if kind == JoinKind::Cross { None } else { self.join_hint() };
            self.expect_keyword(Keyword::Join)?;
            return Ok(Some((kind, hint)));
        }
        Ok(Some((kind, None)))
    }

    fn join_hint(&mut self) -> Option<JoinHint> {
        let hint = match () {
            () if self.at_word("LOOP") => JoinHint::Loop,
            () if self.at_word("HASH") => JoinHint::Hash,
            () if self.at_word("MERGE") => JoinHint::Merge,
            () if self.at_word("REMOTE") => JoinHint::Remote,
            () => return None,
        };
        self.advance();
        Some(hint)
    }

    /// One source, with the PIVOTs behind it.
    #[inline(never)]
    fn single_source(&mut self) -> Parse<TableSource> {
        let first = self.peek();
        let mut source = match first.kind {
            TokenKind::LeftParen => self.paren_source()?,
            TokenKind::Variable => self.variable_source()?,
            _ => self.named_source()?,
        };
        let mut height = 0;
        while matches!(self.keyword(), Keyword::Pivot | Keyword::Unpivot) {
            let kind = match self.advance().keyword {
                Keyword::Pivot => TableSourceKind::Pivot(Box::new(self.pivot(source)?)),
                _ => TableSourceKind::Unpivot(Box::new(self.unpivot(source)?)),
            };
            source = TableSource { kind, span: self.span_from(first) };
            // Each is a level of the tree.
            self.nested(|_| Ok(()))?;
            self.depth += 1;
            height += 1;
        }
        self.depth -= height;
        Ok(source)
    }

    #[inline(never)]
    fn paren_source(&mut self) -> Parse<TableSource> {
        let first = self.advance();
        if self.keyword() == Keyword::Values {
            self.advance();
            let rows = self.comma_list(|p| p.paren_list(Parser::expr_or_default))?;
            self.expect(TokenKind::RightParen)?;
            let (alias, columns) = self.required_alias()?;
            let kind = TableSourceKind::Values { rows, alias, columns };
            return Ok(TableSource { kind, span: self.span_from(first) });
        }
        if self.at_query() {
            let query = Box::new(self.query()?);
            self.expect(TokenKind::RightParen)?;
            let (alias, columns) = self.required_alias()?;
            let kind = TableSourceKind::Derived { query, alias, columns };
            return Ok(TableSource { kind, span: self.span_from(first) });
        }
        let changes = [Keyword::Insert, Keyword::Update, Keyword::Delete, Keyword::Merge];
        if changes.contains(&self.keyword()) {
            let change = Box::new(nested_change(self.statement()?));
            self.expect(TokenKind::RightParen)?;
            let (alias, columns) = self.required_alias()?;
            let kind = TableSourceKind::Changed { change, alias, columns };
            return Ok(TableSource { kind, span: self.span_from(first) });
        }
        let mut inner = self.table_source()?;
        self.expect(TokenKind::RightParen)?;
        inner.span = self.span_from(first);
        Ok(inner)
    }

    /// `[AS] alias [(columns)]`, which a derived table must have.
    fn required_alias(&mut self) -> Parse<(Option<Name>, Vec<Name>)> {
        self.eat_keyword(Keyword::As);
        let alias = self.name()?;
        Ok((Some(alias), self.optional_paren_list(Parser::name)?))
    }

    /// `[AS] alias [(columns)]`, or nothing.
    fn alias_with_columns(&mut self) -> Parse<(Option<Name>, Vec<Name>)> {
        let alias = self.optional_alias()?;
        match alias {
            Some(_) if !self.at_old_hints() => Ok((alias, self.optional_paren_list(Parser::name)?)),
            _ => Ok((alias, Vec::new())),
        }
    }

    /// `@t [AS alias]`, `@x.nodes(…) AS t(c)`
    #[inline(never)]
    fn variable_source(&mut self) -> Parse<TableSource> {
        let first = self.peek();
        let variable = self.take_name()?;
        let kind = if self.eat(TokenKind::Dot) {
            let method = self.name()?;
            let arguments = self.call_arguments()?;
            let kind = crate::ast::ExprKind::Variable(variable);
            let target = MethodTarget::Value(Expr { kind, span: first.span() });
            let call = Box::new(MethodCall { target, method, arguments, mutator: false });
            let (alias, columns) = self.alias_with_columns()?;
            TableSourceKind::Method { call, alias, columns }
        } else {
            TableSourceKind::Variable { variable, alias: self.optional_alias()? }
        };
        Ok(TableSource { kind, span: self.span_from(first) })
    }

    /// A table or function by name.
    #[inline(never)]
    fn named_source(&mut self) -> Parse<TableSource> {
        let first = self.peek();
        let reserved = matches!(
            first.keyword,
            Keyword::OpenXml
                | Keyword::OpenQuery
                | Keyword::OpenRowset
                | Keyword::OpenDatasource
                | Keyword::ContainsTable
                | Keyword::FreetextTable
        );
        if reserved {
            self.refuse_reserved_rowset(first)?;
            let call = self.named_call()?;
            return self.function_source(first, call);
        }
        self.refuse_rowset()?;
        // `::` is an old way to name a function of the system.
        let of_system = self.eat(TokenKind::DoubleColon);
        let mut name = self.object_name()?;
        if of_system {
            if self.kind() != TokenKind::LeftParen || name.schema.is_some() {
                return Err(self.unexpected());
            }
            name.schema = Some(Name { text: "sys".into(), line: name.object.line });
        }
        if self.kind() == TokenKind::LeftParen && !self.at_old_hints() {
            self.mention(MentionKind::RowsOfCall, &name);
            let call = self.call(first, name)?;
            return self.function_source(first, call);
        }
        self.mention(MentionKind::Rows, &name);
        let system_time = self.optional_system_time()?;
        let mut alias = self.optional_alias()?;
        let sample = self.optional_sample()?;
        let old_hints = self.at_old_hints();
        let hints = self.optional_table_hints()?;
        if alias.is_none() && old_hints {
            alias = self.optional_alias()?;
        }
        if let Some(alias) = &alias {
            self.mention_own(alias);
        }
        let table = NamedTable { name, alias, hints, sample, system_time };
        let kind = TableSourceKind::Table(Box::new(table));
        Ok(TableSource { kind, span: self.span_from(first) })
    }

    /// What of OPENROWSET and the full-text functions is no list of expressions.
    fn refuse_reserved_rowset(&self, first: Token) -> Parse<()> {
        let bulk = self.peek_at(2).keyword == Keyword::Bulk || self.is_word(2, "PROVIDER");
        match first.keyword {
            Keyword::OpenRowset if bulk => Err(self.unsupported("OPENROWSET(BULK …)")),
            Keyword::ContainsTable => Err(self.unsupported("CONTAINSTABLE")),
            Keyword::FreetextTable => Err(self.unsupported("FREETEXTTABLE")),
            _ => Ok(()),
        }
    }

    /// Rowset functions with a grammar of their own, none of which is built.
    fn refuse_rowset(&self) -> Parse<()> {
        if self.peek_at(1).kind != TokenKind::LeftParen {
            return Ok(());
        }
        let named = ["CHANGETABLE", "PREDICT", "VECTOR_SEARCH", "AI_GENERATE_CHUNKS"];
        match named.iter().find(|name| self.at_word(name)) {
            Some(name) => Err(self.unsupported(name)),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn function_source(
        &mut self,
        first: Token,
        call: crate::ast::FunctionCall,
    ) -> Parse<TableSource> {
        let mut schema = Vec::new();
        let by_path =
            ["OPENJSON", "OPENXML"].iter().any(|f| call.name.object.eq_ignore_ascii_case(f));
        if by_path
            && self.keyword() == Keyword::With
            && self.peek_at(1).kind == TokenKind::LeftParen
        {
            self.advance();
            schema = self.paren_list(Parser::path_column)?;
        }
        let (alias, columns) = self.alias_with_columns()?;
        let hints = self.optional_table_hints()?;
        let function = TableFunction { call, alias, columns, schema, hints };
        let kind = TableSourceKind::Function(Box::new(function));
        Ok(TableSource { kind, span: self.span_from(first) })
    }

    fn path_column(&mut self) -> Parse<PathColumn> {
        let name = self.name()?;
        let type_name = self.type_name()?;
        if self.keyword() == Keyword::Collate {
            return Err(self.unsupported("COLLATE of a column of OPENJSON"));
        }
        let path = match self.kind() {
            TokenKind::String | TokenKind::National => Some(self.string()?),
            _ => None,
        };
        let as_json = self.eat_words(&["AS", "JSON"]);
        Ok(PathColumn { name, type_name, path, as_json })
    }

    /// `FOR SYSTEM_TIME …`; only its place is kept.
    fn optional_system_time(&mut self) -> Parse<Option<crate::ast::Span>> {
        if self.keyword() != Keyword::For || !self.is_word(1, "SYSTEM_TIME") {
            return Ok(None);
        }
        let first = self.advance();
        self.advance();
        if self.eat_words(&["AS", "OF"]) {
            self.expr()?;
        } else if self.eat_keyword(Keyword::From) {
            self.expr()?;
            self.expect_keyword(Keyword::To)?;
            self.expr()?;
        } else if self.eat_keyword(Keyword::Between) {
            self.expr()?;
            self.expect_keyword(Keyword::And)?;
            self.expr()?;
        } else if self.eat_words(&["CONTAINED", "IN"]) {
            self.paren_list(Parser::expr)?;
        } else {
            self.expect_keyword(Keyword::All)?;
        }
        Ok(Some(self.span_from(first)))
    }

    fn optional_sample(&mut self) -> Parse<Option<TableSample>> {
        if !self.eat_keyword(Keyword::Tablesample) {
            return Ok(None);
        }
        self.eat_word("SYSTEM");
        self.expect(TokenKind::LeftParen)?;
        let size = self.expr()?;
        let rows = self.eat_word("ROWS");
        if !rows {
            self.eat_keyword(Keyword::Percent);
        }
        self.expect(TokenKind::RightParen)?;
        let repeatable = match self.eat_word("REPEATABLE") {
            true => Some(self.parenthesized(Parser::expr)?),
            false => None,
        };
        Ok(Some(TableSample { size, rows, repeatable }))
    }

    /// Behind PIVOT: `(aggregate FOR column IN (values)) AS alias`
    #[inline(never)]
    fn pivot(&mut self, source: TableSource) -> Parse<Pivot> {
        self.expect(TokenKind::LeftParen)?;
        let first = self.peek();
        let aggregate = match self.at_name() {
            true => self.object_name()?,
            false => plain(self.take_name()?, first),
        };
        let argument = self.parenthesized(|p| match p.eat(TokenKind::Star) {
            true => Ok(None),
            false => p.column_name().map(Some),
        })?;
        self.expect_keyword(Keyword::For)?;
        let column = self.column_name()?;
        self.expect_keyword(Keyword::In)?;
        let values = self.paren_list(Parser::name)?;
        self.expect(TokenKind::RightParen)?;
        self.eat_keyword(Keyword::As);
        Ok(Pivot { source, aggregate, argument, column, values, alias: self.name()? })
    }

    /// Behind UNPIVOT: `(value FOR name IN (columns)) AS alias`
    #[inline(never)]
    fn unpivot(&mut self, source: TableSource) -> Parse<Unpivot> {
        self.expect(TokenKind::LeftParen)?;
        let value = self.name()?;
        self.expect_keyword(Keyword::For)?;
        let name = self.name()?;
        self.expect_keyword(Keyword::In)?;
        let columns = self.paren_list(Parser::name)?;
        self.expect(TokenKind::RightParen)?;
        self.eat_keyword(Keyword::As);
        Ok(Unpivot { source, value, name, columns, alias: self.name()? })
    }

    /// WITH behind a table that isn't a hint list: a CTE whose predecessor lacks its semicolon.
    pub(super) fn refuse_cte_behind_table(&self) -> Parse<()> {
        let next = self.peek_at(1);
        let after = self.peek_at(2);
        if Self::names(next) && (after.keyword == Keyword::As || after.kind == TokenKind::LeftParen)
        {
            let near = self.token_text(next);
            return Err(self.error_at(next.line, messages::CTE_NEEDS_SEMICOLON, &[&near]));
        }
        Ok(())
    }
}

/// A statement as the change that it is.
fn nested_change(statement: Statement) -> NestedChange {
    let kind = match statement.kind {
        StatementKind::Insert(s) => NestedChangeKind::Insert(s),
        StatementKind::Update(s) => NestedChangeKind::Update(s),
        StatementKind::Delete(s) => NestedChangeKind::Delete(s),
        StatementKind::Merge(s) => NestedChangeKind::Merge(s),
        _ => NestedChangeKind::None,
    };
    NestedChange { kind, span: statement.span }
}
