//! CREATE TABLE: columns, constraints, inline indexes.

use super::{Parse, Parser};
use crate::ast::{
    ColumnDefinition, ColumnKind, ConstraintKind, CreateTable, DefaultConstraint, ForeignKey,
    Identity, IndexKind, InlineIndex, KeyConstraint, Name, Placement, Placements,
    ReferentialAction, Setting, SettingValue, StatementKind, TableConstraint, TableDefinition,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;
use base::messages;

impl Parser<'_> {
    pub(super) fn create_table(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        if let Some(kind) = self.kind_of_table() {
            return self.opaque_rest(kind);
        }
        let definition = self.table_definition()?;
        if let Some(kind) = self.kind_of_table() {
            return self.opaque_rest(kind);
        }
        let mut placement = Placements::default();
        loop {
            if self.eat_keyword(Keyword::On) {
                placement.on = Some(self.placement()?);
            } else if self.eat_word("TEXTIMAGE_ON") {
                placement.text_image = Some(self.name_or_string()?);
            } else if self.eat_word("FILESTREAM_ON") {
                placement.filestream = Some(self.placement()?.name);
            } else {
                break;
            }
        }
        let options = self.optional_with_settings()?;
        let table = CreateTable { name, definition, placement, options };
        Ok(StatementKind::CreateTable(Box::new(table)))
    }

    /// `AS NODE`, `AS EDGE`, `AS FILETABLE`, which no other table has.
    fn kind_of_table(&self) -> Option<&'static str> {
        if self.keyword() != Keyword::As {
            return None;
        }
        Some(match () {
            () if self.is_word(1, "NODE") => "CREATE TABLE AS NODE",
            () if self.is_word(1, "EDGE") => "CREATE TABLE AS EDGE",
            () if self.is_word(1, "FILETABLE") => "CREATE TABLE AS FILETABLE",
            () => return None,
        })
    }

    /// Behind ON: `filegroup`, `scheme (column)`, `"default"`
    pub(super) fn placement(&mut self) -> Parse<Placement> {
        let name = match self.keyword() {
            Keyword::Primary | Keyword::Default => self.take_name()?,
            _ => self.name_or_string()?,
        };
        let column = match self.kind() {
            TokenKind::LeftParen => Some(self.parenthesized(Parser::name)?),
            _ => None,
        };
        Ok(Placement { name, column })
    }

    pub(super) fn optional_placement(&mut self) -> Parse<Option<Placement>> {
        if self.eat_keyword(Keyword::On) { self.placement().map(Some) } else { Ok(None) }
    }

    /// `(element, …)`; a comma may be missing before a constraint and stand before the end.
    pub(super) fn table_definition(&mut self) -> Parse<TableDefinition> {
        self.expect(TokenKind::LeftParen)?;
        let mut definition = TableDefinition::default();
        loop {
            self.table_element(&mut definition, false)?;
            if self.eat(TokenKind::RightParen) {
                return Ok(definition);
            }
            let constraint = self.at_table_constraint();
            if !self.eat(TokenKind::Comma) && !constraint {
                return Err(self.unexpected());
            }
            if self.eat(TokenKind::RightParen) {
                return Ok(definition);
            }
        }
    }

    fn at_table_constraint(&self) -> bool {
        matches!(
            self.keyword(),
            Keyword::Constraint
                | Keyword::Primary
                | Keyword::Unique
                | Keyword::Check
                | Keyword::Foreign
        )
    }

    /// A column, constraint, index or period; `altering` in ALTER TABLE ADD, where alone a default
    /// stands by itself.
    pub(super) fn table_element(
        &mut self,
        definition: &mut TableDefinition,
        altering: bool,
    ) -> Parse<()> {
        if !altering && self.keyword() == Keyword::References {
            return Err(self.error(messages::TABLE_CONSTRAINT_SYNTAX, &[&"TABLE"]));
        }
        if self.at_table_constraint() || (altering && self.keyword() == Keyword::Default) {
            definition.constraints.push(self.table_constraint(false, altering)?);
        } else if self.keyword() == Keyword::Index {
            definition.indexes.push(self.inline_index(false)?);
        } else if self.eat_words(&["PERIOD", "FOR", "SYSTEM_TIME"]) {
            self.expect(TokenKind::LeftParen)?;
            let start = self.name()?;
            self.expect(TokenKind::Comma)?;
            definition.period = Some((start, self.name()?));
            self.expect(TokenKind::RightParen)?;
        } else {
            definition.columns.push(self.column_definition()?);
        }
        Ok(())
    }

    pub(super) fn column_definition(&mut self) -> Parse<ColumnDefinition> {
        let first = self.peek();
        let name = self.name()?;
        let kind = if self.eat_keyword(Keyword::As) {
            let expr = self.expr()?;
            let persisted = self.eat_word("PERSISTED");
            ColumnKind::Computed { expr, persisted }
        } else if self.at_untyped_end(&name) {
            ColumnKind::Untyped
        } else {
            ColumnKind::Typed(self.type_name()?)
        };
        let mut column = ColumnDefinition {
            name,
            kind,
            collation: None,
            nullable: None,
            identity: None,
            default: None,
            row_guid: false,
            sparse: false,
            attributes: Vec::new(),
            constraints: Vec::new(),
            indexes: Vec::new(),
            span: first.span(),
        };
        while self.column_attribute(&mut column)? {}
        column.span = self.span_from(first);
        Ok(column)
    }

    /// Whether no type follows a column's name: a `timestamp` needs none.
    fn at_untyped_end(&self, name: &Name) -> bool {
        let attribute = matches!(
            self.keyword(),
            Keyword::Not
                | Keyword::Null
                | Keyword::Constraint
                | Keyword::Primary
                | Keyword::Unique
                | Keyword::Check
                | Keyword::Default
        );
        matches!(self.kind(), TokenKind::Comma | TokenKind::RightParen)
            || attribute && name.eq_ignore_ascii_case("timestamp")
    }

    /// One thing behind a column's type; false when nothing more follows.
    fn column_attribute(&mut self, column: &mut ColumnDefinition) -> Parse<bool> {
        match self.keyword() {
            Keyword::Not | Keyword::Null => match self.optional_null() {
                Some(nullable) => column.nullable = Some(nullable),
                None => return self.column_word(column),
            },
            Keyword::Collate => {
                self.advance();
                column.collation = Some(self.collation()?);
            }
            Keyword::Identity => column.identity = Some(self.identity()?),
            Keyword::RowGuidCol => {
                self.advance();
                column.row_guid = true;
            }
            Keyword::Default => {
                let default = self.default_constraint(None)?;
                add_default(column, default);
            }
            Keyword::Constraint
                if matches!(self.peek_at(2).keyword, Keyword::Null | Keyword::Not) =>
            {
                self.advance();
                self.name()?;
                column.nullable = self.optional_null();
            }
            Keyword::Constraint if self.peek_at(2).keyword == Keyword::Default => {
                self.advance();
                let name = self.name()?;
                let default = self.default_constraint(Some(name))?;
                add_default(column, default);
            }
            Keyword::Constraint
            | Keyword::Primary
            | Keyword::Unique
            | Keyword::Check
            | Keyword::Foreign
            | Keyword::References => column.constraints.push(self.table_constraint(true, false)?),
            Keyword::Index => column.indexes.push(self.inline_index(true)?),
            _ => return self.column_word(column),
        }
        Ok(true)
    }

    /// Attributes whose words aren't reserved.
    fn column_word(&mut self, column: &mut ColumnDefinition) -> Parse<bool> {
        let first = self.peek();
        if self.eat_word("SPARSE") {
            column.sparse = true;
            return Ok(true);
        }
        let mut value = SettingValue::None;
        let name = match () {
            () if self.eat_words(&["GENERATED", "ALWAYS", "AS"]) => {
                let what = self.expect(TokenKind::Word)?;
                let mut name = format!("GENERATED ALWAYS AS {}", self.token_text(what));
                while self.eat_word("START") || self.eat_word("END") {
                    name = format!("{name} {}", self.token_text(self.previous()));
                }
                name.to_ascii_uppercase()
            }
            () if self.eat_word("HIDDEN") => "HIDDEN".to_owned(),
            () if self.eat_words(&["COLUMN_SET", "FOR", "ALL_SPARSE_COLUMNS"]) => {
                "COLUMN_SET".to_owned()
            }
            () if self.eat_word("FILESTREAM") => "FILESTREAM".to_owned(),
            () if self.eat_words(&["NOT", "FOR", "REPLICATION"]) => {
                "NOT FOR REPLICATION".to_owned()
            }
            () if self.at_word("MASKED") || self.at_word("ENCRYPTED") => {
                let word = self.take_text().to_ascii_uppercase();
                self.expect_keyword(Keyword::With)?;
                let settings = self.paren_list(Parser::masking_setting)?;
                value = SettingValue::Group { on: None, settings };
                word
            }
            () => return Ok(false),
        };
        let span = self.span_from(first);
        column.attributes.push(Setting { name: name.into(), value, span });
        Ok(true)
    }

    pub(super) fn masking_setting(&mut self) -> Parse<Setting> {
        if self.keyword() != Keyword::Function {
            return self.setting();
        }
        let first = self.advance();
        self.expect(TokenKind::Equal)?;
        let value = SettingValue::String(self.string()?);
        Ok(Setting { name: "FUNCTION".into(), value, span: self.span_from(first) })
    }

    /// `NULL`, `NOT NULL`, or nothing (also before `NOT FOR REPLICATION`).
    pub(super) fn optional_null(&mut self) -> Option<bool> {
        if self.eat_keyword(Keyword::Null) {
            return Some(true);
        }
        self.eat_words(&["NOT", "NULL"]).then_some(false)
    }

    fn identity(&mut self) -> Parse<Identity> {
        self.advance();
        let mut identity = Identity { seed: None, increment: None, not_for_replication: false };
        if self.eat(TokenKind::LeftParen) {
            identity.seed = Some(self.signed_literal()?);
            self.expect(TokenKind::Comma)?;
            identity.increment = Some(self.signed_literal()?);
            self.expect(TokenKind::RightParen)?;
        }
        identity.not_for_replication = self.eat_words(&["NOT", "FOR", "REPLICATION"]);
        Ok(identity)
    }

    /// `DEFAULT expr [WITH VALUES]`
    fn default_constraint(&mut self, name: Option<Name>) -> Parse<DefaultConstraint> {
        self.expect_keyword(Keyword::Default)?;
        let value = self.expr()?;
        let with_values = self.eat_words(&["WITH", "VALUES"]);
        Ok(DefaultConstraint { name, value, with_values })
    }

    /// `[CONSTRAINT name] …`; `of_column` when it stands behind a column, `altering` where it is
    /// added to a table.
    fn table_constraint(&mut self, of_column: bool, altering: bool) -> Parse<TableConstraint> {
        let first = self.peek();
        let name = match self.eat_keyword(Keyword::Constraint) {
            true => Some(self.name()?),
            false => None,
        };
        let kind = match self.keyword() {
            Keyword::Primary | Keyword::Unique => self.key_constraint(of_column)?,
            Keyword::Check => self.check_constraint()?,
            Keyword::Foreign | Keyword::References => self.foreign_key(of_column)?,
            Keyword::Default if !of_column => self.default_for(altering)?,
            _ => return Err(self.unexpected()),
        };
        Ok(TableConstraint { name, kind, span: self.span_from(first) })
    }

    fn default_for(&mut self, altering: bool) -> Parse<ConstraintKind> {
        self.advance();
        let value = self.expr()?;
        if !altering && self.keyword() == Keyword::For {
            return Err(self.error(messages::SYNTAX_NEAR, &[&self.near()]));
        }
        if !altering {
            let e = self.error(messages::TABLE_CONSTRAINT_SYNTAX, &[&"TABLE"]);
            return Err(e);
        }
        self.expect_keyword(Keyword::For)?;
        let column = self.name()?;
        let with_values = self.eat_words(&["WITH", "VALUES"]);
        Ok(ConstraintKind::Default { value, column, with_values })
    }

    fn check_constraint(&mut self) -> Parse<ConstraintKind> {
        self.advance();
        let not_for_replication = self.eat_words(&["NOT", "FOR", "REPLICATION"]);
        let condition = self.parenthesized(Parser::condition)?;
        Ok(ConstraintKind::Check { condition, not_for_replication })
    }

    fn key_constraint(&mut self, of_column: bool) -> Parse<ConstraintKind> {
        let primary = self.eat_keyword(Keyword::Primary);
        if primary {
            self.expect_keyword(Keyword::Key)?;
        } else {
            self.expect_keyword(Keyword::Unique)?;
        }
        let clustered = match () {
            () if self.eat_keyword(Keyword::Clustered) => Some(true),
            () if self.eat_keyword(Keyword::Nonclustered) => Some(false),
            () => None,
        };
        let hash = self.at_word("HASH").then(|| self.advance());
        let listed = !of_column || self.kind() == TokenKind::LeftParen;
        let columns = if listed { self.paren_list(Parser::index_column)? } else { Vec::new() };
        let mut options = self.index_with()?;
        if let Some(word) = hash {
            let value = SettingValue::None;
            options.insert(0, Setting { name: "HASH".into(), value, span: word.span() });
        }
        let on = self.optional_placement()?;
        let key = KeyConstraint { primary, clustered, columns, options, on };
        Ok(ConstraintKind::Key(Box::new(key)))
    }

    /// `WITH (…)` or the old `WITH FILLFACTOR = n, …`
    pub(super) fn index_with(&mut self) -> Parse<Vec<Setting>> {
        let next = self.peek_at(1);
        let after = self.peek_at(2);
        let bare = self.keyword() == Keyword::With
            && next.kind == TokenKind::Word
            && after.keyword != Keyword::As
            && after.kind != TokenKind::LeftParen;
        if !bare {
            return self.optional_with_settings();
        }
        self.advance();
        self.comma_list(|p| {
            let first = p.expect(TokenKind::Word)?;
            let name = p.token_text(first).to_ascii_uppercase();
            // A bare ON is the index's placement, not the option's value.
            if p.kind() == TokenKind::Equal {
                return p.setting_named(first, name);
            }
            let value = SettingValue::None;
            Ok(Setting { name: name.into(), value, span: first.span() })
        })
    }

    fn foreign_key(&mut self, of_column: bool) -> Parse<ConstraintKind> {
        let mut columns = Vec::new();
        if self.eat_keyword(Keyword::Foreign) {
            self.expect_keyword(Keyword::Key)?;
            if !of_column || self.kind() == TokenKind::LeftParen {
                columns = self.paren_list(Parser::name)?;
            }
        }
        self.expect_keyword(Keyword::References)?;
        let table = self.object_name()?;
        let referenced = self.optional_paren_list(Parser::name)?;
        let (mut on_delete, mut on_update) = (None, None);
        while self.keyword() == Keyword::On
            && matches!(self.peek_at(1).keyword, Keyword::Delete | Keyword::Update)
        {
            self.advance();
            let delete = self.advance().keyword == Keyword::Delete;
            let action = Some(self.referential_action()?);
            if delete { on_delete = action } else { on_update = action }
        }
        let not_for_replication = self.eat_words(&["NOT", "FOR", "REPLICATION"]);
        let key =
            ForeignKey { columns, table, referenced, on_delete, on_update, not_for_replication };
        Ok(ConstraintKind::ForeignKey(Box::new(key)))
    }

    fn referential_action(&mut self) -> Parse<ReferentialAction> {
        Ok(match () {
            () if self.eat_words(&["NO", "ACTION"]) => ReferentialAction::NoAction,
            () if self.eat_word("CASCADE") => ReferentialAction::Cascade,
            () if self.eat_words(&["SET", "NULL"]) => ReferentialAction::SetNull,
            () if self.eat_words(&["SET", "DEFAULT"]) => ReferentialAction::SetDefault,
            () => return Err(self.unexpected()),
        })
    }

    /// `INDEX name [UNIQUE] [CLUSTERED|NONCLUSTERED] [COLUMNSTORE] (columns) …`; behind a column it
    /// may go without its columns: it is of that one.
    fn inline_index(&mut self, of_column: bool) -> Parse<InlineIndex> {
        let first = self.advance();
        let name = self.name()?;
        let unique = self.eat_keyword(Keyword::Unique);
        let kind = self.index_kind();
        let without = of_column || kind == IndexKind::ClusteredColumnstore;
        if !without && self.kind() != TokenKind::LeftParen {
            return Err(self.unexpected());
        }
        let columns = self.optional_paren_list(Parser::index_column)?;
        let include = match self.eat_word("INCLUDE") {
            true => self.paren_list(Parser::name)?,
            false => Vec::new(),
        };
        let filter = self.optional_where()?;
        let options = self.optional_with_settings()?;
        let on = self.optional_placement()?;
        let span = self.span_from(first);
        Ok(InlineIndex { name, unique, kind, columns, include, filter, options, on, span })
    }

    /// `[CLUSTERED|NONCLUSTERED] [COLUMNSTORE|HASH]`
    pub(super) fn index_kind(&mut self) -> IndexKind {
        let plain = match () {
            () if self.eat_keyword(Keyword::Clustered) => IndexKind::Clustered,
            () if self.eat_keyword(Keyword::Nonclustered) => IndexKind::Nonclustered,
            () => IndexKind::Unspecified,
        };
        if self.eat_word("COLUMNSTORE") {
            return match plain {
                IndexKind::Clustered => IndexKind::ClusteredColumnstore,
                _ => IndexKind::NonclusteredColumnstore,
            };
        }
        if self.eat_word("HASH") { IndexKind::Hash } else { plain }
    }
}

/// A second default is kept as a constraint, which is refused by the name of its table.
fn add_default(column: &mut ColumnDefinition, default: DefaultConstraint) {
    if column.default.is_none() {
        column.default = Some(default);
        return;
    }
    let DefaultConstraint { name, value, with_values } = default;
    let span = value.span;
    let kind = ConstraintKind::Default { value, column: column.name.clone(), with_values };
    column.constraints.push(TableConstraint { name, kind, span });
}
