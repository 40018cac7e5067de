//! CREATE and ALTER: the choice by the next words; schemas, types, sequences, synonyms.

use super::{Parse, Parser};
use crate::ast::{
    AlterSchema, CreateSchema, CreateSynonym, CreateType, CreateTypeKind, ModuleVerb, Sequence,
    SequenceOption, StatementKind,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.eat_words(&["OR", "ALTER"]) {
            return self.module(ModuleVerb::CreateOrAlter);
        }
        match self.keyword() {
            Keyword::Table => self.create_table(),
            Keyword::Database => self.create_database(),
            Keyword::Schema => self.create_schema(),
            Keyword::Statistics => self.create_statistics(),
            Keyword::Unique | Keyword::Clustered | Keyword::Nonclustered | Keyword::Index => {
                self.create_index()
            }
            Keyword::Primary => self.opaque_after(&["CREATE"], 2),
            Keyword::Proc
            | Keyword::Procedure
            | Keyword::View
            | Keyword::Function
            | Keyword::Trigger => self.module(ModuleVerb::Create),
            Keyword::User | Keyword::Default | Keyword::Rule => self.opaque_after(&["CREATE"], 1),
            Keyword::Column | Keyword::External => self.opaque_ddl("CREATE"),
            Keyword::None if self.at_name() => self.create_worded(),
            _ => Err(self.unexpected()),
        }
    }

    /// CREATE and a word that isn't reserved.
    fn create_worded(&mut self) -> Parse<StatementKind> {
        if self.at_word("COLUMNSTORE") {
            return self.create_index();
        }
        if self.eat_word("TYPE") {
            return self.create_type();
        }
        if self.eat_word("SEQUENCE") {
            return self.sequence(false);
        }
        if self.eat_word("SYNONYM") {
            let name = self.object_name()?;
            self.expect_keyword(Keyword::For)?;
            let target = self.object_name()?;
            return Ok(StatementKind::CreateSynonym(Box::new(CreateSynonym { name, target })));
        }
        if self.eat_words(&["PARTITION", "FUNCTION"]) {
            return self.create_partition_function();
        }
        if self.eat_words(&["PARTITION", "SCHEME"]) {
            return self.create_partition_scheme();
        }
        self.opaque_ddl("CREATE")
    }

    pub(super) fn alter(&mut self) -> Parse<StatementKind> {
        self.advance();
        match self.keyword() {
            Keyword::Table => self.alter_table(),
            Keyword::Database => self.alter_database(),
            Keyword::Index => self.alter_index(),
            Keyword::Proc
            | Keyword::Procedure
            | Keyword::View
            | Keyword::Function
            | Keyword::Trigger => self.module(ModuleVerb::Alter),
            Keyword::Schema => self.alter_schema(),
            Keyword::User | Keyword::Authorization => self.opaque_after(&["ALTER"], 1),
            Keyword::Column | Keyword::External => self.opaque_ddl("ALTER"),
            Keyword::None if self.at_name() => {
                if self.eat_words(&["SERVER", "CONFIGURATION"]) {
                    self.alter_server_configuration()
                } else if self.eat_words(&["PARTITION", "FUNCTION"]) {
                    self.alter_partition_function()
                } else if self.eat_word("SEQUENCE") {
                    self.sequence(true)
                } else {
                    self.opaque_ddl("ALTER")
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `ALTER SCHEMA schema TRANSFER [class ::] name`
    fn alter_schema(&mut self) -> Parse<StatementKind> {
        self.advance();
        let schema = self.name()?;
        self.expect_word("TRANSFER")?;
        let class: Box<str> = if self.eat_words(&["XML", "SCHEMA", "COLLECTION"]) {
            self.expect(TokenKind::DoubleColon)?;
            "XML SCHEMA COLLECTION".into()
        } else if self.peek_at(1).kind == TokenKind::DoubleColon {
            let class = self.take_name()?;
            self.expect(TokenKind::DoubleColon)?;
            class.to_ascii_uppercase().into()
        } else {
            "OBJECT".into()
        };
        let name = self.object_name()?;
        Ok(StatementKind::AlterSchema(Box::new(AlterSchema { schema, class, name })))
    }

    fn create_schema(&mut self) -> Parse<StatementKind> {
        let first = self.advance();
        if !self.first_in_batch(2) {
            let message = base::messages::MUST_BE_FIRST_IN_BATCH;
            return Err(self.error_at(first.line, message, &[&"CREATE SCHEMA"]));
        }
        let name = if self.at_name() { Some(self.name()?) } else { None };
        let owner = match self.eat_keyword(Keyword::Authorization) {
            true => Some(self.name()?),
            false => None,
        };
        if name.is_none() && owner.is_none() {
            return Err(self.unexpected());
        }
        let mut elements = Vec::new();
        while matches!(
            self.keyword(),
            Keyword::Create | Keyword::Grant | Keyword::Deny | Keyword::Revoke
        ) {
            elements.push(self.statement()?);
        }
        Ok(StatementKind::CreateSchema(Box::new(CreateSchema { name, owner, elements })))
    }

    /// Whether nothing but semicolons stands before the last `taken` tokens.
    pub(super) fn first_in_batch(&self, taken: usize) -> bool {
        let before = self.at.saturating_sub(taken);
        self.tokens[..before].iter().all(|token| token.kind == TokenKind::Semicolon)
    }

    fn create_type(&mut self) -> Parse<StatementKind> {
        let name = self.object_name()?;
        let kind = if self.eat_keyword(Keyword::From) {
            let base = self.type_name()?;
            CreateTypeKind::Alias { base, nullable: self.optional_null() }
        } else if self.eat_keyword(Keyword::External) {
            return self.opaque_rest("CREATE TYPE EXTERNAL");
        } else {
            self.expect_keyword(Keyword::As)?;
            self.expect_keyword(Keyword::Table)?;
            let definition = self.table_definition()?;
            CreateTypeKind::Table { definition, options: self.optional_with_settings()? }
        };
        Ok(StatementKind::CreateType(Box::new(CreateType { name, kind })))
    }

    fn sequence(&mut self, alter: bool) -> Parse<StatementKind> {
        let name = self.object_name()?;
        let type_name = match self.eat_keyword(Keyword::As) {
            true => Some(self.type_name()?),
            false => None,
        };
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        let sequence = Sequence { alter, name, type_name, options };
        Ok(StatementKind::Sequence(Box::new(sequence)))
    }

    fn sequence_option(&mut self) -> Parse<Option<SequenceOption>> {
        let option = match () {
            () if self.eat_word("START") => {
                self.expect_keyword(Keyword::With)?;
                SequenceOption::Start(self.signed_literal()?)
            }
            () if self.eat_word("RESTART") => {
                let with = self.eat_keyword(Keyword::With);
                let value = if with { Some(self.signed_literal()?) } else { None };
                SequenceOption::Restart(value)
            }
            () if self.eat_word("INCREMENT") => {
                self.expect_keyword(Keyword::By)?;
                SequenceOption::Increment(self.signed_literal()?)
            }
            () if self.eat_word("MINVALUE") => {
                SequenceOption::MinValue(Some(self.signed_literal()?))
            }
            () if self.eat_word("MAXVALUE") => {
                SequenceOption::MaxValue(Some(self.signed_literal()?))
            }
            () if self.eat_word("CYCLE") => SequenceOption::Cycle(true),
            () if self.eat_word("CACHE") => {
                let sized = self.kind() == TokenKind::Integer;
                let size = if sized { Some(self.literal()?) } else { None };
                SequenceOption::Cache(size)
            }
            () if self.eat_words(&["NO", "MINVALUE"]) => SequenceOption::MinValue(None),
            () if self.eat_words(&["NO", "MAXVALUE"]) => SequenceOption::MaxValue(None),
            () if self.eat_words(&["NO", "CYCLE"]) => SequenceOption::Cycle(false),
            () if self.eat_words(&["NO", "CACHE"]) => SequenceOption::NoCache,
            () => return Ok(None),
        };
        Ok(Some(option))
    }
}
