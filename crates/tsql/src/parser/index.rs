//! Indexes, statistics, partition functions and schemes.

use super::{Parse, Parser};
use crate::ast::{
    AlterIndex, AlterIndexAction, AlterPartitionFunction, CreateIndex, CreatePartitionFunction,
    CreatePartitionScheme, CreateStatistics, IndexColumn, Name, StatementKind, UpdateStatistics,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn index_column(&mut self) -> Parse<IndexColumn> {
        let name = self.name()?;
        let descending = self.direction();
        Ok(IndexColumn { name, descending })
    }

    /// Behind CREATE.
    pub(super) fn create_index(&mut self) -> Parse<StatementKind> {
        let unique = self.eat_keyword(Keyword::Unique);
        let kind = self.index_kind();
        self.expect_keyword(Keyword::Index)?;
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let columns = self.optional_paren_list(Parser::index_column)?;
        let columnstore = matches!(
            kind,
            crate::ast::IndexKind::ClusteredColumnstore
                | crate::ast::IndexKind::NonclusteredColumnstore
        );
        if columns.is_empty() && !columnstore {
            return Err(self.unexpected());
        }
        let include = match self.eat_word("INCLUDE") {
            true => self.paren_list(Parser::name)?,
            false => Vec::new(),
        };
        let order = match self.keyword() == Keyword::Order
            && self.peek_at(1).kind == TokenKind::LeftParen
        {
            true => {
                self.advance();
                self.paren_list(Parser::name)?
            }
            false => Vec::new(),
        };
        let filter = self.optional_where()?;
        let options = self.index_with()?;
        let on = self.optional_placement()?;
        if self.eat_word("FILESTREAM_ON") {
            self.name_or_string()?;
        }
        let index =
            CreateIndex { name, unique, kind, table, columns, include, order, filter, options, on };
        Ok(StatementKind::CreateIndex(Box::new(index)))
    }

    pub(super) fn alter_index(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = if self.eat_keyword(Keyword::All) { None } else { Some(self.name()?) };
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let action = match () {
            () if self.eat_word("REBUILD") => AlterIndexAction::Rebuild,
            () if self.eat_word("REORGANIZE") => AlterIndexAction::Reorganize,
            () if self.eat_word("DISABLE") => AlterIndexAction::Disable,
            () if self.eat_keyword(Keyword::Set) => AlterIndexAction::Set,
            () if self.eat_word("RESUME") => AlterIndexAction::Resume,
            () if self.eat_word("PAUSE") => AlterIndexAction::Pause,
            () if self.eat_word("ABORT") => AlterIndexAction::Abort,
            () => return Err(self.unexpected()),
        };
        let partition = self.optional_partition()?;
        let options = match action {
            AlterIndexAction::Set => self.paren_list(Parser::setting)?,
            _ => self.optional_with_settings()?,
        };
        let alter = AlterIndex { name, table, action, partition, options };
        Ok(StatementKind::AlterIndex(Box::new(alter)))
    }

    /// Behind CREATE.
    pub(super) fn create_statistics(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let columns = self.paren_list(Parser::name)?;
        let filter = self.optional_where()?;
        let options = self.optional_with_list()?;
        let statistics = CreateStatistics { name, table, columns, filter, options };
        Ok(StatementKind::CreateStatistics(Box::new(statistics)))
    }

    /// Behind UPDATE.
    pub(super) fn update_statistics(&mut self) -> Parse<StatementKind> {
        self.advance();
        let table = self.object_name()?;
        let names = if self.kind() == TokenKind::LeftParen {
            self.paren_list(Parser::name)?
        } else if self.at_name() {
            vec![self.name()?]
        } else {
            Vec::new()
        };
        let options = self.optional_with_list()?;
        let statistics = UpdateStatistics { table, names, options };
        Ok(StatementKind::UpdateStatistics(Box::new(statistics)))
    }

    /// Behind CREATE PARTITION FUNCTION.
    pub(super) fn create_partition_function(&mut self) -> Parse<StatementKind> {
        let name = self.name()?;
        let type_name = self.parenthesized(Parser::type_name)?;
        self.expect_keyword(Keyword::As)?;
        self.expect_word("RANGE")?;
        let right = self.eat_keyword(Keyword::Right);
        if !right {
            self.eat_keyword(Keyword::Left);
        }
        self.expect_keyword(Keyword::For)?;
        self.expect_keyword(Keyword::Values)?;
        let values = self.call_arguments()?;
        let function = CreatePartitionFunction { name, type_name, right, values };
        Ok(StatementKind::CreatePartitionFunction(Box::new(function)))
    }

    /// Behind ALTER PARTITION FUNCTION.
    pub(super) fn alter_partition_function(&mut self) -> Parse<StatementKind> {
        let name = self.name()?;
        self.expect(TokenKind::LeftParen)?;
        self.expect(TokenKind::RightParen)?;
        let split = self.eat_word("SPLIT");
        if !split {
            self.expect_keyword(Keyword::Merge)?;
        }
        self.expect_word("RANGE")?;
        let value = match self.kind() {
            TokenKind::LeftParen => Some(self.parenthesized(Parser::expr)?),
            _ => None,
        };
        let alter = AlterPartitionFunction { name, split, value };
        Ok(StatementKind::AlterPartitionFunction(Box::new(alter)))
    }

    /// Behind CREATE PARTITION SCHEME.
    pub(super) fn create_partition_scheme(&mut self) -> Parse<StatementKind> {
        let name = self.name()?;
        self.expect_keyword(Keyword::As)?;
        self.expect_word("PARTITION")?;
        let function = self.name()?;
        let all = self.eat_keyword(Keyword::All);
        self.expect_keyword(Keyword::To)?;
        let filegroups = self.paren_list(Parser::filegroup)?;
        let scheme = CreatePartitionScheme { name, function, all, filegroups };
        Ok(StatementKind::CreatePartitionScheme(Box::new(scheme)))
    }

    /// A filegroup's name; `[PRIMARY]` is usual, `PRIMARY` accepted.
    fn filegroup(&mut self) -> Parse<Name> {
        if self.keyword() == Keyword::Primary { self.take_name() } else { self.name_or_string() }
    }
}
