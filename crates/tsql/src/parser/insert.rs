//! INSERT, bulk loads, TRUNCATE, and what all changes share: targets, OUTPUT.

use super::{Parse, Parser};
use crate::ast::{
    BulkColumn, BulkInsert, DmlTarget, DmlTargetKind, Execute, Insert, InsertBulk, InsertSource,
    Output, OutputInto, StatementKind, Truncate, WithClause,
};
use crate::keywords::Keyword;
use crate::mention::MentionKind;
use crate::token::TokenKind;
use base::messages;

/// The most rows of an INSERT's VALUES; a derived table may have more.
const INSERT_ROWS_MAX: usize = 1000;

impl Parser<'_> {
    pub(super) fn insert_statement(
        &mut self,
        with: Option<Box<WithClause>>,
    ) -> Parse<StatementKind> {
        self.advance();
        if self.eat_keyword(Keyword::Bulk) {
            return self.insert_bulk();
        }
        let top = self.optional_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.dml_target()?;
        let listed = self.kind() == TokenKind::LeftParen && !self.query_ahead(0);
        let columns = if listed { self.paren_list(Parser::column_name)? } else { Vec::new() };
        let output = self.optional_output()?;
        let source = self.insert_source()?;
        let options = self.optional_options()?;
        let insert = Insert { with, top, target, columns, output, source, options };
        Ok(StatementKind::Insert(Box::new(insert)))
    }

    fn insert_source(&mut self) -> Parse<InsertSource> {
        match self.keyword() {
            Keyword::Values => {
                self.advance();
                let rows = self.comma_list(|p| p.paren_list(Parser::expr_or_default))?;
                if rows.len() > INSERT_ROWS_MAX {
                    return Err(self.error(messages::INSERT_ROWS_MAX, &[&INSERT_ROWS_MAX]));
                }
                Ok(InsertSource::Values(rows))
            }
            Keyword::Default => {
                self.advance();
                self.expect_keyword(Keyword::Values)?;
                Ok(InsertSource::DefaultValues)
            }
            Keyword::Exec | Keyword::Execute => {
                let execute = self.executed_source()?;
                Ok(InsertSource::Execute(Box::new(execute)))
            }
            _ => Ok(InsertSource::Query(Box::new(self.subquery()?))),
        }
    }

    /// `EXEC …`, which declares no result sets here: 102 at SETS, as SQL Server has it.
    fn executed_source(&mut self) -> Parse<Execute> {
        let first = self.at;
        let execute = self.execute()?;
        if execute.result_sets.is_some() {
            let end = std::mem::replace(&mut self.at, first);
            while self.at < end && !(self.is_word(0, "RESULT") && self.is_word(1, "SETS")) {
                self.at += 1;
            }
            self.at += 1;
            return Err(self.unexpected());
        }
        Ok(execute)
    }

    /// A table, table variable or rowset function, with its hints.
    pub(super) fn dml_target(&mut self) -> Parse<DmlTarget> {
        let first = self.peek();
        let kind = self.dml_target_kind()?;
        let hints = self.optional_table_hints()?;
        Ok(DmlTarget { kind, hints, span: self.span_from(first) })
    }

    pub(super) fn dml_target_kind(&mut self) -> Parse<DmlTargetKind> {
        match self.keyword() {
            Keyword::OpenQuery | Keyword::OpenRowset | Keyword::OpenDatasource => {
                Ok(DmlTargetKind::Function(Box::new(self.named_call()?)))
            }
            _ if self.kind() == TokenKind::Variable => {
                Ok(DmlTargetKind::Variable(self.take_name()?))
            }
            _ => {
                let name = self.object_name()?;
                self.mention(MentionKind::Target, &name);
                Ok(DmlTargetKind::Table(Box::new(name)))
            }
        }
    }

    /// `OUTPUT items [INTO target [(columns)]] [OUTPUT items]`, or nothing.
    pub(super) fn optional_output(&mut self) -> Parse<Option<Box<Output>>> {
        let first = self.peek();
        if !self.eat_word("OUTPUT") {
            return Ok(None);
        }
        let items = self.comma_list(Parser::select_item)?;
        let mut output = Output { items, into: None, then: Vec::new(), span: first.span() };
        if self.eat_keyword(Keyword::Into) {
            let target = self.dml_target_kind()?;
            let columns = self.optional_paren_list(Parser::name)?;
            output.into = Some(OutputInto { target, columns });
            if self.eat_word("OUTPUT") {
                output.then = self.comma_list(Parser::select_item)?;
            }
        }
        output.span = self.span_from(first);
        Ok(Some(Box::new(output)))
    }

    /// Behind INSERT BULK.
    fn insert_bulk(&mut self) -> Parse<StatementKind> {
        let table = self.object_name()?;
        let columns = self.optional_paren_list(Parser::bulk_column)?;
        let options = if self.keyword() == Keyword::With {
            self.advance();
            self.paren_list(Parser::bulk_option)?
        } else {
            Vec::new()
        };
        Ok(StatementKind::InsertBulk(Box::new(InsertBulk { table, columns, options })))
    }

    fn bulk_column(&mut self) -> Parse<BulkColumn> {
        let name = self.name()?;
        let type_name = self.type_name()?;
        let collation = match self.eat_keyword(Keyword::Collate) {
            true => Some(self.collation()?),
            false => None,
        };
        let nullable = self.optional_null();
        Ok(BulkColumn { name, type_name, collation, nullable })
    }

    /// A setting, or `ORDER (column ASC, …)`.
    fn bulk_option(&mut self) -> Parse<crate::ast::Setting> {
        let first = self.peek();
        if !self.eat_keyword(Keyword::Order) {
            return self.setting();
        }
        let settings = self.paren_list(|p| {
            let start = p.peek();
            let name = p.name()?.text;
            let descending = p.direction();
            let word = if descending { "DESC" } else { "ASC" };
            let value = crate::ast::SettingValue::Word(word.into());
            Ok(crate::ast::Setting { name, value, span: p.span_from(start) })
        })?;
        let value = crate::ast::SettingValue::Group { on: None, settings };
        Ok(crate::ast::Setting { name: "ORDER".into(), value, span: self.span_from(first) })
    }

    /// `BULK INSERT table FROM 'file' [WITH (…)]`
    pub(super) fn bulk_insert(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Insert)?;
        let table = self.object_name()?;
        self.expect_keyword(Keyword::From)?;
        let file = self.string()?;
        let options = match self.eat_keyword(Keyword::With) {
            true => self.paren_list(Parser::bulk_option)?,
            false => Vec::new(),
        };
        Ok(StatementKind::BulkInsert(Box::new(BulkInsert { table, file, options })))
    }

    pub(super) fn truncate(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Table)?;
        let table = self.object_name()?;
        let mut partitions = Vec::new();
        if self.keyword() == Keyword::With && self.peek_at(1).kind == TokenKind::LeftParen {
            self.advance();
            self.expect(TokenKind::LeftParen)?;
            self.expect_word("PARTITIONS")?;
            partitions = self.partition_ranges()?;
            self.expect(TokenKind::RightParen)?;
        }
        Ok(StatementKind::Truncate(Box::new(Truncate { table, partitions })))
    }
}
