//! CREATE DATABASE and ALTER DATABASE.

use super::{Parse, Parser};
use crate::ast::{
    AlterDatabase, AlterDatabaseAction, CreateDatabase, FileGroupFiles, FileSpec, Setting,
    SettingValue, StatementKind, Termination,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn create_database(&mut self) -> Parse<StatementKind> {
        self.advance();
        let special = ["SCOPED", "AUDIT", "ENCRYPTION"].iter().any(|word| self.at_word(word));
        if special && (Self::names(self.peek_at(1)) || self.peek_at(1).keyword == Keyword::Key) {
            return self.opaque_after(&["CREATE", "DATABASE"], 1);
        }
        let name = self.name()?;
        let mut database = CreateDatabase {
            name,
            containment: None,
            files: Vec::new(),
            log_files: Vec::new(),
            collation: None,
            options: Vec::new(),
            purpose: None,
        };
        if self.eat_word("CONTAINMENT") {
            self.expect(TokenKind::Equal)?;
            database.containment = Some(self.name()?);
        }
        self.database_files(&mut database)?;
        if self.eat_keyword(Keyword::Collate) {
            database.collation = Some(self.collation()?);
        }
        self.database_purpose(&mut database)?;
        database.options = self.optional_with_list()?;
        Ok(StatementKind::CreateDatabase(Box::new(database)))
    }

    /// `ON … LOG ON …`
    fn database_files(&mut self, database: &mut CreateDatabase) -> Parse<()> {
        if self.eat_keyword(Keyword::On) {
            self.eat_keyword(Keyword::Primary);
            let mut group = FileGroupFiles { filegroup: None, options: Vec::new(), files: vec![] };
            loop {
                if self.eat_word("FILEGROUP") {
                    let filegroup = Some(self.name()?);
                    let options = self.filegroup_options()?;
                    let next = FileGroupFiles { filegroup, options, files: vec![] };
                    let last = std::mem::replace(&mut group, next);
                    database.files.push(last);
                }
                group.files.push(self.file_spec()?);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            database.files.push(group);
        }
        if self.eat_words(&["LOG", "ON"]) {
            database.log_files = self.comma_list(Parser::file_spec)?;
        }
        Ok(())
    }

    /// `CONTAINS FILESTREAM`, `CONTAINS MEMORY_OPTIMIZED_DATA`, `DEFAULT`
    fn filegroup_options(&mut self) -> Parse<Vec<Setting>> {
        let mut options = Vec::new();
        loop {
            let first = self.peek();
            let name = if self.eat_keyword(Keyword::Contains) {
                let what = self.expect(TokenKind::Word)?;
                format!("CONTAINS {}", self.token_text(what).to_ascii_uppercase())
            } else if self.eat_keyword(Keyword::Default) {
                "DEFAULT".to_owned()
            } else {
                return Ok(options);
            };
            let span = self.span_from(first);
            options.push(Setting { name: name.into(), value: SettingValue::None, span });
        }
    }

    fn file_spec(&mut self) -> Parse<FileSpec> {
        let first = self.peek();
        let settings = self.paren_list(Parser::setting)?;
        Ok(FileSpec { settings, span: self.span_from(first) })
    }

    /// `FOR ATTACH …`, `AS SNAPSHOT OF …`, `AS COPY OF …`
    fn database_purpose(&mut self, database: &mut CreateDatabase) -> Parse<()> {
        let words: &[&str] = match self.keyword() {
            Keyword::For => &["FOR"],
            Keyword::As => &["AS"],
            _ => return Ok(()),
        };
        self.advance();
        let mut purpose = words.join(" ");
        while self.kind() == TokenKind::Word && !self.at_word("WITH") {
            let statement = matches!(
                self.keyword(),
                Keyword::Create | Keyword::Alter | Keyword::Use | Keyword::Select | Keyword::Exec
            );
            if statement {
                break;
            }
            purpose.push(' ');
            purpose.push_str(&self.take_text().to_ascii_uppercase());
        }
        database.purpose = Some(purpose.into());
        Ok(())
    }

    /// Of how many words the name is of what belongs to a database and has DDL of its own.
    pub(super) fn database_part(&self) -> Option<usize> {
        let parts = [["SCOPED", "CREDENTIAL"], ["AUDIT", "SPECIFICATION"], ["ENCRYPTION", "KEY"]];
        let here = |part: &[&str; 2]| self.is_word(1, part[0]) && self.is_word(2, part[1]);
        (self.keyword() == Keyword::Database && parts.iter().any(here)).then_some(3)
    }

    pub(super) fn alter_database(&mut self) -> Parse<StatementKind> {
        if let Some(words) = self.database_part() {
            return self.opaque_after(&["ALTER"], words);
        }
        self.advance();
        if self.eat_words(&["SCOPED", "CONFIGURATION"]) {
            return self.scoped_configuration();
        }
        let name = if self.eat_keyword(Keyword::Current) { None } else { Some(self.name()?) };
        let apart = ["HADR", "PARTNER", "WITNESS"].iter().find(|word| self.is_word(1, word));
        if let (Keyword::Set, Some(word)) = (self.keyword(), apart) {
            return self.opaque_rest(&format!("ALTER DATABASE SET {word}"));
        }
        let action = self.alter_database_action()?;
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, action })))
    }

    fn alter_database_action(&mut self) -> Parse<AlterDatabaseAction> {
        if self.eat_keyword(Keyword::Set) {
            let options = self.comma_list(Parser::setting)?;
            let termination = self.optional_termination()?;
            return Ok(AlterDatabaseAction::Set { options, termination });
        }
        if self.eat_keyword(Keyword::Collate) {
            return Ok(AlterDatabaseAction::Collate(self.collation()?));
        }
        if self.eat_word("MODIFY") {
            return self.modify_database();
        }
        if self.eat_keyword(Keyword::Add) {
            if self.eat_words(&["LOG", "FILE"]) {
                let files = self.comma_list(Parser::file_spec)?;
                return Ok(AlterDatabaseAction::AddLogFile(files));
            }
            if self.eat_word("FILEGROUP") {
                let name = self.name()?;
                let options = self.filegroup_options()?;
                return Ok(AlterDatabaseAction::AddFilegroup { name, options });
            }
            self.expect_keyword(Keyword::File)?;
            let files = self.comma_list(Parser::file_spec)?;
            let to = self.eat_words(&["TO", "FILEGROUP"]);
            let filegroup = if to { Some(self.name()?) } else { None };
            return Ok(AlterDatabaseAction::AddFile { files, filegroup });
        }
        self.expect_word("REMOVE")?;
        if self.eat_word("FILEGROUP") {
            return Ok(AlterDatabaseAction::RemoveFilegroup(self.name()?));
        }
        self.expect_keyword(Keyword::File)?;
        Ok(AlterDatabaseAction::RemoveFile(self.name_or_string()?))
    }

    fn modify_database(&mut self) -> Parse<AlterDatabaseAction> {
        if self.eat_word("NAME") {
            self.expect(TokenKind::Equal)?;
            return Ok(AlterDatabaseAction::ModifyName(self.name()?));
        }
        if self.eat_keyword(Keyword::File) {
            return Ok(AlterDatabaseAction::ModifyFile(self.file_spec()?));
        }
        self.expect_word("FILEGROUP")?;
        let name = self.name()?;
        let mut options = self.filegroup_options()?;
        if options.is_empty() {
            options.push(self.setting()?);
        }
        Ok(AlterDatabaseAction::ModifyFilegroup { name, options })
    }

    /// `WITH ROLLBACK IMMEDIATE | ROLLBACK AFTER n [SECONDS] | NO_WAIT`
    fn optional_termination(&mut self) -> Parse<Option<Termination>> {
        if self.keyword() != Keyword::With {
            return Ok(None);
        }
        if self.eat_words(&["WITH", "NO_WAIT"]) {
            return Ok(Some(Termination::NoWait));
        }
        if !self.eat_words(&["WITH", "ROLLBACK"]) {
            return Ok(None);
        }
        if self.eat_word("IMMEDIATE") {
            return Ok(Some(Termination::RollbackImmediate));
        }
        self.expect_word("AFTER")?;
        let seconds = self.integer()?;
        self.eat_word("SECONDS");
        Ok(Some(Termination::RollbackAfter(seconds)))
    }

    /// Behind SCOPED CONFIGURATION.
    fn scoped_configuration(&mut self) -> Parse<StatementKind> {
        let secondary = self.eat_words(&["FOR", "SECONDARY"]);
        let clear = self.eat_word("CLEAR");
        if !clear {
            self.expect_keyword(Keyword::Set)?;
        }
        let setting = self.setting()?;
        let action = AlterDatabaseAction::ScopedConfiguration { secondary, clear, setting };
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name: None, action })))
    }
}
