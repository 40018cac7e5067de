//! Cursors.

use super::{Parse, Parser};
use crate::ast::{
    CursorDefinition, CursorName, CursorPurpose, DeclareCursor, Fetch, FetchDirection,
    StatementKind,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;
use base::messages;

/// Options before the word CURSOR, as ISO has them; options behind it do not go with them (1049).
const OLD_OPTIONS: &[&str] = &["INSENSITIVE", "SCROLL"];

/// Options of a cursor.
const OPTIONS: &[&str] = &[
    "LOCAL",
    "GLOBAL",
    "FORWARD_ONLY",
    "SCROLL",
    "STATIC",
    "KEYSET",
    "DYNAMIC",
    "FAST_FORWARD",
    "READ_ONLY",
    "SCROLL_LOCKS",
    "OPTIMISTIC",
    "TYPE_WARNING",
    "INSENSITIVE",
];

impl Parser<'_> {
    /// `DECLARE name [INSENSITIVE] [SCROLL] CURSOR …`
    pub(super) fn declare_cursor(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let mut before = self.cursor_options(OLD_OPTIONS);
        let mut definition = self.cursor_definition()?;
        if !before.is_empty() && !definition.options.is_empty() {
            return Err(self.error_at(name.line, messages::CURSOR_SYNTAX_MIXED, &[]));
        }
        before.append(&mut definition.options);
        definition.options = before;
        Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor { name, definition })))
    }

    fn cursor_options(&mut self, known: &[&str]) -> Vec<Box<str>> {
        let mut options = Vec::new();
        while let Some(option) = known.iter().find(|option| self.at_word(option)) {
            self.advance();
            options.push(Box::from(*option));
        }
        options
    }

    /// `CURSOR [options] FOR query [FOR READ ONLY | UPDATE [OF columns]]`
    pub(super) fn cursor_definition(&mut self) -> Parse<CursorDefinition> {
        self.expect_keyword(Keyword::Cursor)?;
        let options = self.cursor_options(OPTIONS);
        self.expect_keyword(Keyword::For)?;
        let query = self.select_statement()?;
        let mut purpose = None;
        if self.eat_keyword(Keyword::For) {
            if self.eat_words(&["READ", "ONLY"]) {
                purpose = Some(CursorPurpose::ReadOnly);
            } else {
                self.expect_keyword(Keyword::Update)?;
                let columns = match self.eat_keyword(Keyword::Of) {
                    true => self.comma_list(Parser::name)?,
                    false => Vec::new(),
                };
                purpose = Some(CursorPurpose::Update(columns));
            }
        }
        Ok(CursorDefinition { options, query, purpose })
    }

    /// `[GLOBAL] name`, `@name`
    pub(super) fn cursor_name(&mut self) -> Parse<CursorName> {
        let global = self.at_word("GLOBAL") && Self::names(self.peek_at(1));
        if global {
            self.advance();
        }
        Ok(CursorName { global, name: self.name_or_variable()? })
    }

    pub(super) fn open_cursor(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.at_word("SYMMETRIC")
            || self.at_word("MASTER") && self.peek_at(1).keyword == Keyword::Key
        {
            self.at -= 1;
            return self.opaque(2);
        }
        Ok(StatementKind::OpenCursor(self.cursor_name()?))
    }

    pub(super) fn close_cursor(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.keyword() == Keyword::All && self.is_word(1, "SYMMETRIC") {
            return self.opaque_after(&["CLOSE"], 3);
        }
        if self.at_word("SYMMETRIC")
            || self.at_word("MASTER") && self.peek_at(1).keyword == Keyword::Key
        {
            self.at -= 1;
            return self.opaque(2);
        }
        Ok(StatementKind::CloseCursor(self.cursor_name()?))
    }

    pub(super) fn deallocate_cursor(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.eat_keyword(Keyword::Cursor);
        Ok(StatementKind::DeallocateCursor(self.cursor_name()?))
    }

    pub(super) fn fetch(&mut self) -> Parse<StatementKind> {
        self.advance();
        let followed = self.peek_at(1).keyword == Keyword::From;
        let direction = match () {
            () if followed && self.eat_word("NEXT") => FetchDirection::Next,
            () if followed && self.eat_word("PRIOR") => FetchDirection::Prior,
            () if followed && self.eat_word("FIRST") => FetchDirection::First,
            () if followed && self.eat_word("LAST") => FetchDirection::Last,
            () if self.at_counted("ABSOLUTE") => {
                self.advance();
                FetchDirection::Absolute(self.signed_literal()?)
            }
            () if self.at_counted("RELATIVE") => {
                self.advance();
                FetchDirection::Relative(self.signed_literal()?)
            }
            () => FetchDirection::Next,
        };
        self.eat_keyword(Keyword::From);
        let cursor = self.cursor_name()?;
        let into = match self.eat_keyword(Keyword::Into) {
            true => self.comma_list(Parser::variable)?,
            false => Vec::new(),
        };
        Ok(StatementKind::Fetch(Box::new(Fetch { direction, cursor, into })))
    }

    fn at_counted(&self, word: &str) -> bool {
        let next = self.peek_at(1).kind;
        self.at_word(word)
            && matches!(next, TokenKind::Integer | TokenKind::Minus | TokenKind::Variable)
    }
}
