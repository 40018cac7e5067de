//! DROP.

use super::expr::plain;
use super::{Parse, Parser};
use crate::ast::{Drop, DropItem, DropKind, ObjectName, StatementKind};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn drop_statement(&mut self) -> Parse<StatementKind> {
        let first = self.advance();
        let Some(kind) = self.drop_kind() else {
            if let Some(words) = self.database_part() {
                return self.opaque_after(&["DROP"], words);
            }
            let known = [Keyword::None, Keyword::Column, Keyword::External];
            if self.kind() != TokenKind::Word || !known.contains(&self.keyword()) {
                return Err(self.unexpected());
            }
            return self.opaque_ddl("DROP");
        };
        let if_exists = self.eat_words(&["IF", "EXISTS"]);
        let items = match kind {
            DropKind::Index => self.comma_list(Parser::drop_index)?,
            DropKind::Statistics => self.comma_list(Parser::drop_statistics)?,
            _ => self.comma_list(Parser::drop_item)?,
        };
        if kind == DropKind::Trigger && self.eat_keyword(Keyword::On) {
            // A DDL trigger; its scope is part of the statement's text.
            self.advance();
            self.eat_word("SERVER");
        }
        let span = self.span_from(first);
        Ok(StatementKind::Drop(Box::new(Drop { kind, if_exists, items, span })))
    }

    fn drop_kind(&mut self) -> Option<DropKind> {
        let kind = match self.keyword() {
            Keyword::Table => DropKind::Table,
            Keyword::View => DropKind::View,
            Keyword::Proc | Keyword::Procedure => DropKind::Procedure,
            Keyword::Function => DropKind::Function,
            Keyword::Trigger => DropKind::Trigger,
            Keyword::Index => DropKind::Index,
            Keyword::Statistics => DropKind::Statistics,
            Keyword::Database if self.database_part().is_none() => DropKind::Database,
            Keyword::Schema => DropKind::Schema,
            Keyword::Default => DropKind::Default,
            Keyword::Rule => DropKind::Rule,
            Keyword::User => DropKind::User,
            _ => return self.drop_worded(),
        };
        self.advance();
        Some(kind)
    }

    fn drop_worded(&mut self) -> Option<DropKind> {
        Some(match () {
            () if self.eat_word("SEQUENCE") => DropKind::Sequence,
            () if self.eat_word("SYNONYM") => DropKind::Synonym,
            () if self.eat_word("TYPE") => DropKind::Type,
            () if self.eat_word("LOGIN") => DropKind::Login,
            () if self.eat_word("ROLE") => DropKind::Role,
            () if self.eat_words(&["PARTITION", "FUNCTION"]) => DropKind::PartitionFunction,
            () if self.eat_words(&["PARTITION", "SCHEME"]) => DropKind::PartitionScheme,
            () => return None,
        })
    }

    fn drop_item(&mut self) -> Parse<DropItem> {
        let name = self.object_name()?;
        Ok(DropItem { name, table: None, options: Vec::new() })
    }

    /// `index ON table [WITH (…)]`, or the old `table.index`
    fn drop_index(&mut self) -> Parse<DropItem> {
        let name = self.object_name()?;
        if self.eat_keyword(Keyword::On) {
            let table = Some(self.object_name()?);
            let options = self.optional_with_settings()?;
            return Ok(DropItem { name, table, options });
        }
        self.of_table(name)
    }

    fn drop_statistics(&mut self) -> Parse<DropItem> {
        let name = self.object_name()?;
        self.of_table(name)
    }

    /// `[schema.]table.name` taken apart; without a table it is error 159.
    fn of_table(&mut self, whole: ObjectName) -> Parse<DropItem> {
        let token = self.previous();
        let ObjectName { server, database, schema, object, span } = whole;
        let Some(table) = schema else {
            return Err(self.error_at(object.line, base::messages::DROP_INDEX_NAME, &[]));
        };
        let table =
            ObjectName { server: None, database: server, schema: database, object: table, span };
        Ok(DropItem { name: plain(object, token), table: Some(table), options: Vec::new() })
    }
}
