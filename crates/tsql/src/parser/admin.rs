//! DBCC, KILL, permissions and the like; statements known by their first words alone.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{
    AlterServerConfiguration, Dbcc, DbccArgument, Kill, Name, OpaqueStatement, Permission,
    PermissionVerb, Setting, SettingValue, StatementKind,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Kinds of objects that CREATE, ALTER and DROP know and we don't.
const KINDS: &[&[&str]] = &[
    &["LOGIN"],
    &["ROLE"],
    &["SERVER", "ROLE"],
    &["SERVER", "AUDIT"],
    &["APPLICATION", "ROLE"],
    &["ASSEMBLY"],
    &["AGGREGATE"],
    &["ASYMMETRIC", "KEY"],
    &["AVAILABILITY", "GROUP"],
    &["BROKER", "PRIORITY"],
    &["CERTIFICATE"],
    &["COLUMN", "ENCRYPTION", "KEY"],
    &["COLUMN", "MASTER", "KEY"],
    &["CONTRACT"],
    &["COUNTER", "SIGNATURE"],
    &["CREDENTIAL"],
    &["CRYPTOGRAPHIC", "PROVIDER"],
    &["ENDPOINT"],
    &["EVENT", "NOTIFICATION"],
    &["EVENT", "SESSION"],
    &["EXTERNAL"],
    &["FULLTEXT", "CATALOG"],
    &["FULLTEXT", "INDEX"],
    &["FULLTEXT", "STOPLIST"],
    &["JSON", "INDEX"],
    &["MASTER", "KEY"],
    &["MESSAGE", "TYPE"],
    &["PARTITION", "SCHEME"],
    &["QUEUE"],
    &["REMOTE", "SERVICE", "BINDING"],
    &["RESOURCE", "GOVERNOR"],
    &["RESOURCE", "POOL"],
    &["ROUTE"],
    &["SEARCH", "PROPERTY", "LIST"],
    &["SECURITY", "POLICY"],
    &["SELECTIVE", "XML", "INDEX"],
    &["SENSITIVITY", "CLASSIFICATION"],
    &["SERVICE"],
    &["SIGNATURE"],
    &["SPATIAL", "INDEX"],
    &["SYMMETRIC", "KEY"],
    &["VECTOR", "INDEX"],
    &["WORKLOAD", "GROUP"],
    &["XML", "INDEX"],
    &["XML", "SCHEMA", "COLLECTION"],
];

impl Parser<'_> {
    pub(super) fn checkpoint(&mut self) -> Parse<StatementKind> {
        self.advance();
        let timed = matches!(self.kind(), TokenKind::Integer | TokenKind::Variable);
        let seconds = if timed { Some(Box::new(self.signed_literal()?)) } else { None };
        Ok(StatementKind::Checkpoint(seconds))
    }

    pub(super) fn kill(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.at_word("STATS") || self.at_word("QUERY") {
            self.at -= 1;
            return self.opaque(2);
        }
        let target = self.signed_literal()?;
        let status_only = self.eat_words(&["WITH", "STATUSONLY"]);
        Ok(StatementKind::Kill(Box::new(Kill { target, status_only })))
    }

    pub(super) fn dbcc(&mut self) -> Parse<StatementKind> {
        self.advance();
        let word = self.expect(TokenKind::Word)?;
        let name = self.token_text(word).to_ascii_uppercase().into();
        let mut arguments = Vec::new();
        if self.eat(TokenKind::LeftParen) && !self.eat(TokenKind::RightParen) {
            arguments = self.comma_list(Parser::dbcc_argument)?;
            self.expect(TokenKind::RightParen)?;
        }
        let options = self.optional_with_list()?;
        Ok(StatementKind::Dbcc(Box::new(Dbcc { name, arguments, options })))
    }

    fn dbcc_argument(&mut self) -> Parse<DbccArgument> {
        if self.at_name() {
            return self.object_name().map(DbccArgument::Name);
        }
        let word = self.peek();
        if word.kind == TokenKind::Word && word.keyword != Keyword::Null {
            let name = self.take_name()?;
            return Ok(DbccArgument::Name(super::expr::plain(name, word)));
        }
        self.signed_literal().map(DbccArgument::Value)
    }

    pub(super) fn reconfigure(&mut self) -> Parse<StatementKind> {
        self.advance();
        let with_override = self.eat_words(&["WITH", "OVERRIDE"]);
        Ok(StatementKind::Reconfigure { with_override })
    }

    pub(super) fn shutdown(&mut self) -> Parse<StatementKind> {
        self.advance();
        let nowait = self.eat_words(&["WITH", "NOWAIT"]);
        Ok(StatementKind::Shutdown { nowait })
    }

    /// GRANT, DENY, REVOKE
    pub(super) fn permission(&mut self) -> Parse<StatementKind> {
        let verb = match self.advance().keyword {
            Keyword::Grant => PermissionVerb::Grant,
            Keyword::Deny => PermissionVerb::Deny,
            _ => PermissionVerb::Revoke,
        };
        let mut grant_option = self.eat_words(&["GRANT", "OPTION", "FOR"]);
        let mut permissions = self.comma_list(Parser::permission_words)?;
        let (mut class, mut securable) = (None, None);
        if self.eat_keyword(Keyword::On) {
            let mut words = Vec::new();
            let mut ahead = 0;
            while self.peek_at(ahead).kind == TokenKind::Word {
                ahead += 1;
            }
            if ahead > 0 && self.peek_at(ahead).kind == TokenKind::DoubleColon {
                for _ in 0..ahead {
                    words.push(self.take_text().to_ascii_uppercase());
                }
                self.advance();
                class = Some(words.join(" ").into());
            }
            securable = Some(self.object_name()?);
            // Columns may stand behind the object as well as behind each permission.
            let columns = self.optional_paren_list(Parser::name)?;
            for permission in permissions.iter_mut().filter(|p| p.1.is_empty()) {
                permission.1.clone_from(&columns);
            }
        }
        if !self.eat_keyword(Keyword::To) {
            self.expect_keyword(Keyword::From)?;
        }
        let principals = self.comma_list(Parser::principal)?;
        grant_option |= self.eat_words(&["WITH", "GRANT", "OPTION"]);
        let cascade = self.eat_keyword(Keyword::Cascade);
        if self.eat_keyword(Keyword::As) {
            self.name()?;
        }
        let permission =
            Permission { verb, permissions, class, securable, principals, grant_option, cascade };
        Ok(StatementKind::Permission(Box::new(permission)))
    }

    /// `VIEW SERVER STATE`, `SELECT (a, b)`
    fn permission_words(&mut self) -> Parse<(Box<str>, Vec<Name>)> {
        let mut words = Vec::new();
        while self.kind() == TokenKind::Word
            && !matches!(self.keyword(), Keyword::On | Keyword::To | Keyword::From)
        {
            words.push(self.take_text().to_ascii_uppercase());
        }
        if words.is_empty() {
            return Err(self.unexpected());
        }
        let columns = self.optional_paren_list(Parser::name)?;
        Ok((words.join(" ").into(), columns))
    }

    fn principal(&mut self) -> Parse<Name> {
        if self.keyword() == Keyword::Public { self.take_name() } else { self.name() }
    }

    /// Behind ALTER SERVER CONFIGURATION: `SET PROCESS AFFINITY CPU = AUTO | 0 TO 3, 5`
    pub(super) fn alter_server_configuration(&mut self) -> Parse<StatementKind> {
        self.expect_keyword(Keyword::Set)?;
        let first = self.expect(TokenKind::Word)?;
        let mut name = self.token_text(first).to_ascii_uppercase();
        let affinity = name == "PROCESS" && self.at_word("AFFINITY");
        if !affinity {
            let more = [TokenKind::Word, TokenKind::Equal];
            while self.kind() == TokenKind::Word && more.contains(&self.peek_at(1).kind) {
                name = format!("{name} {}", self.take_text().to_ascii_uppercase());
            }
            let setting = self.setting_named(first, name)?;
            let ranges = Vec::new();
            let alter = AlterServerConfiguration { setting, ranges };
            return Ok(StatementKind::AlterServerConfiguration(Box::new(alter)));
        }
        self.advance();
        let node = self.eat_word("NUMANODE");
        if !node {
            self.expect_word("CPU")?;
        }
        self.expect(TokenKind::Equal)?;
        let name = if node { "PROCESS AFFINITY NUMANODE" } else { "PROCESS AFFINITY CPU" };
        let auto = !node && self.eat_word("AUTO");
        let ranges = if auto { Vec::new() } else { self.comma_list(Parser::cpu_range)? };
        let value = if auto { SettingValue::Word("AUTO".into()) } else { SettingValue::None };
        let setting = Setting { name: name.into(), value, span: self.span_from(first) };
        let alter = AlterServerConfiguration { setting, ranges };
        Ok(StatementKind::AlterServerConfiguration(Box::new(alter)))
    }

    fn cpu_range(&mut self) -> Parse<(u32, u32)> {
        let low = self.integer()?;
        let high = if self.eat_keyword(Keyword::To) { self.integer()? } else { low };
        Ok((low, high))
    }

    /// A statement named by the `words` tokens here, its rest skipped.
    pub(super) fn opaque(&mut self, words: usize) -> Parse<StatementKind> {
        self.opaque_after(&[], words)
    }

    /// The same when some words are taken already.
    pub(super) fn opaque_after(&mut self, taken: &[&str], words: usize) -> Parse<StatementKind> {
        let mut name = taken.join(" ");
        for _ in 0..words {
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&self.take_text().to_ascii_uppercase());
        }
        self.opaque_rest(&name)
    }

    /// `CREATE|ALTER|DROP` of something we know by name only.
    pub(super) fn opaque_ddl(&mut self, verb: &str) -> Parse<StatementKind> {
        match KINDS.iter().find(|words| self.eat_words(words)) {
            Some(words) => {
                self.eat_words(&["IF", "EXISTS"]);
                self.opaque_rest(&format!("{verb} {}", words.join(" ")))
            }
            None => Err(self.error(messages::OBJECT_TYPE_UNKNOWN, &[&self.near()])),
        }
    }

    /// Whether a word that begins a statement is a clause of an ALTER here: `DROP MEMBER m`,
    /// `DROP (…)`, `GRANT CREATE ANY DATABASE`.
    fn at_clause(&self) -> bool {
        let dropped = [
            "MEMBER",
            "ENCRYPTION",
            "EVENT",
            "TARGET",
            "FILTER",
            "BLOCK",
            "FILE",
            "VALUE",
            "PRIVATE",
            "ATTESTED",
            "STATISTICAL_SEMANTICS",
        ];
        match self.keyword() {
            Keyword::Drop => {
                let next = self.peek_at(1).kind;
                let listed =
                    [TokenKind::LeftParen, TokenKind::String, TokenKind::National].contains(&next);
                let event = self.is_word(2, "SESSION") || self.is_word(2, "NOTIFICATION");
                listed || !event && dropped.iter().any(|word| self.is_word(1, word))
            }
            Keyword::Grant | Keyword::Deny => {
                self.peek_at(1).keyword == Keyword::Create && self.is_word(2, "ANY")
            }
            Keyword::Create => self.is_word(1, "ANY"),
            // The operation that a predicate of a security policy guards.
            Keyword::Insert => {
                let before = self.token_text(self.previous());
                before.eq_ignore_ascii_case("AFTER") || before.eq_ignore_ascii_case("BEFORE")
            }
            _ => false,
        }
    }

    /// Skips to the end of a statement that has no tree.
    pub(super) fn opaque_rest(&mut self, name: &str) -> Parse<StatementKind> {
        let mut depth = 0u32;
        let altering = name.starts_with("ALTER") || name.starts_with("CREATE SECURITY");
        loop {
            let token = self.peek();
            let ends = match token.kind {
                TokenKind::End | TokenKind::Semicolon => true,
                _ if depth > 0 || altering && self.at_clause() => false,
                _ => begins_statement(token.keyword),
            };
            if ends {
                break;
            }
            match token.kind {
                TokenKind::LeftParen => depth += 1,
                TokenKind::RightParen if depth == 0 => break,
                TokenKind::RightParen => depth -= 1,
                TokenKind::UnclosedQuote | TokenKind::UnclosedComment => {
                    return Err(self.unexpected());
                }
                _ => {}
            }
            self.advance();
        }
        Ok(StatementKind::Opaque(Box::new(OpaqueStatement { name: name.into() })))
    }
}

/// Words that only ever begin a statement.
fn begins_statement(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Select
            | Keyword::Insert
            | Keyword::Declare
            | Keyword::Print
            | Keyword::Exec
            | Keyword::Execute
            | Keyword::Create
            | Keyword::Drop
            | Keyword::If
            | Keyword::While
            | Keyword::Begin
            | Keyword::End
            | Keyword::Else
            | Keyword::Use
            | Keyword::Dbcc
            | Keyword::Return
            | Keyword::Waitfor
            | Keyword::Raiserror
            | Keyword::Truncate
            | Keyword::Commit
            | Keyword::Rollback
            | Keyword::Backup
            | Keyword::Restore
            | Keyword::Grant
            | Keyword::Revoke
            | Keyword::Deny
    )
}
