//! ALTER TABLE.

use super::{Parse, Parser};
use crate::ast::{
    AlterColumn, AlterColumnChange, AlterTable, AlterTableAction, AlterTableDrop,
    AlterTableDropKind, Expr, Name, Setting, SettingValue, StatementKind, TableDefinition,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn alter_table(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let action = self.alter_table_action()?;
        Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })))
    }

    fn alter_table_action(&mut self) -> Parse<AlterTableAction> {
        match self.keyword() {
            Keyword::With => {
                self.advance();
                let check = self.eat_keyword(Keyword::Check);
                if !check {
                    self.expect_keyword(Keyword::Nocheck)?;
                }
                match self.keyword() {
                    Keyword::Add => self.add_elements(Some(check)),
                    _ => self.check_constraints(Some(check)),
                }
            }
            Keyword::Add => self.add_elements(None),
            Keyword::Check | Keyword::Nocheck => self.check_constraints(None),
            Keyword::Drop => self.drop_elements(),
            Keyword::Alter => self.alter_column(),
            Keyword::Set => {
                self.advance();
                Ok(AlterTableAction::Set(self.paren_list(Parser::setting)?))
            }
            _ => self.worded_action(),
        }
    }

    fn worded_action(&mut self) -> Parse<AlterTableAction> {
        if self.eat_word("REBUILD") {
            let partition = self.optional_partition()?;
            let options = self.optional_with_settings()?;
            return Ok(AlterTableAction::Rebuild { partition, options });
        }
        if self.eat_word("SWITCH") {
            let partition = self.switch_partition()?;
            self.expect_keyword(Keyword::To)?;
            let target = self.object_name()?;
            let target_partition = self.switch_partition()?;
            let options = self.optional_with_settings()?;
            return Ok(AlterTableAction::Switch { partition, target, target_partition, options });
        }
        let enable = self.eat_word("ENABLE");
        if !enable {
            self.expect_word("DISABLE")?;
        }
        if self.eat_word("CHANGE_TRACKING") {
            let options = self.optional_with_settings()?;
            return Ok(AlterTableAction::ChangeTracking { enable, options });
        }
        self.expect_keyword(Keyword::Trigger)?;
        Ok(AlterTableAction::Trigger { enable, names: self.names_or_all()? })
    }

    /// `ALL`, which is the empty list, or names.
    fn names_or_all(&mut self) -> Parse<Vec<Name>> {
        if self.eat_keyword(Keyword::All) { Ok(Vec::new()) } else { self.comma_list(Parser::name) }
    }

    /// `PARTITION = ALL|n`; None for ALL and nothing.
    pub(super) fn optional_partition(&mut self) -> Parse<Option<Expr>> {
        if !self.eat_word("PARTITION") {
            return Ok(None);
        }
        self.expect(TokenKind::Equal)?;
        if self.eat_keyword(Keyword::All) { Ok(None) } else { self.expr().map(Some) }
    }

    fn switch_partition(&mut self) -> Parse<Option<Expr>> {
        if self.eat_word("PARTITION") { self.expr().map(Some) } else { Ok(None) }
    }

    fn add_elements(&mut self, check: Option<bool>) -> Parse<AlterTableAction> {
        self.advance();
        let mut definition = TableDefinition::default();
        self.table_element(&mut definition, true)?;
        while self.eat(TokenKind::Comma) {
            self.eat_keyword(Keyword::Add);
            self.table_element(&mut definition, true)?;
        }
        Ok(AlterTableAction::Add { check, definition })
    }

    fn check_constraints(&mut self, with_check: Option<bool>) -> Parse<AlterTableAction> {
        let enable = self.eat_keyword(Keyword::Check);
        if !enable {
            self.expect_keyword(Keyword::Nocheck)?;
        }
        self.expect_keyword(Keyword::Constraint)?;
        let names = self.names_or_all()?;
        Ok(AlterTableAction::CheckConstraint { with_check, enable, names })
    }

    /// `DROP [CONSTRAINT] [IF EXISTS] name, … , COLUMN name, …`
    fn drop_elements(&mut self) -> Parse<AlterTableAction> {
        self.advance();
        let mut kind = AlterTableDropKind::Constraint;
        let mut if_exists = false;
        let items = self.comma_list(|p| {
            let named = match () {
                () if p.eat_keyword(Keyword::Column) => AlterTableDropKind::Column,
                () if p.eat_keyword(Keyword::Constraint) => AlterTableDropKind::Constraint,
                () if p.eat_keyword(Keyword::Index) => AlterTableDropKind::Index,
                () if p.eat_words(&["PERIOD", "FOR"]) => AlterTableDropKind::Period,
                () => kind,
            };
            if named != kind {
                if_exists = false;
            }
            kind = named;
            if_exists |= p.eat_words(&["IF", "EXISTS"]);
            let name = p.name()?;
            let options = p.optional_with_settings()?;
            Ok(AlterTableDrop { kind, if_exists, name, options })
        })?;
        Ok(AlterTableAction::Drop(items))
    }

    fn alter_column(&mut self) -> Parse<AlterTableAction> {
        self.advance();
        if self.keyword() == Keyword::Index {
            return Err(self.unsupported("ALTER TABLE ALTER INDEX"));
        }
        self.expect_keyword(Keyword::Column)?;
        let name = self.name()?;
        let change = if matches!(self.keyword(), Keyword::Add | Keyword::Drop) {
            let add = self.advance().keyword == Keyword::Add;
            AlterColumnChange::Attribute { add, attribute: self.column_flag()? }
        } else {
            let type_name = self.type_name()?;
            let collation = match self.eat_keyword(Keyword::Collate) {
                true => Some(self.collation()?),
                false => None,
            };
            if let Some(word) = self.unbuilt_attribute() {
                return Err(self.unsupported(word));
            }
            let nullable = self.optional_null();
            let sparse = self.eat_word("SPARSE");
            AlterColumnChange::Type { type_name, collation, nullable, sparse }
        };
        let options = self.optional_with_settings()?;
        let column = AlterColumn { name, change, options };
        Ok(AlterTableAction::AlterColumn(Box::new(column)))
    }

    /// An attribute behind a column's type that none of our columns has.
    fn unbuilt_attribute(&self) -> Option<&'static str> {
        let words = ["MASKED", "ENCRYPTED", "HIDDEN", "FILESTREAM"];
        words.into_iter().find(|word| self.at_word(word))
    }

    /// `ROWGUIDCOL`, `PERSISTED`, `SPARSE`, `HIDDEN`, `NOT FOR REPLICATION`, `MASKED [WITH …]`
    fn column_flag(&mut self) -> Parse<Setting> {
        let first = self.peek();
        let flags = ["ROWGUIDCOL", "PERSISTED", "SPARSE", "HIDDEN", "MASKED"];
        let name = if self.eat_words(&["NOT", "FOR", "REPLICATION"]) {
            "NOT FOR REPLICATION"
        } else if let Some(flag) = flags.iter().find(|flag| self.at_word(flag)) {
            self.advance();
            flag
        } else {
            return Err(self.unexpected());
        };
        let mut value = SettingValue::None;
        if name == "MASKED" && self.keyword() == Keyword::With {
            value = SettingValue::Group { on: None, settings: self.masked_with()? };
        }
        Ok(Setting { name: name.into(), value, span: self.span_from(first) })
    }

    fn masked_with(&mut self) -> Parse<Vec<Setting>> {
        self.expect_keyword(Keyword::With)?;
        self.paren_list(Parser::masking_setting)
    }
}
