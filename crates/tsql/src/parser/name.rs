//! Names of one or more parts, aliases, variables.

use base::limits::IDENTIFIER_CHARS_MAX;
use base::messages;

use super::{Parse, Parser};
use crate::ast::{ColumnName, Name, ObjectName};
use crate::keywords::Keyword;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Whether this token can be a name: delimited, or a word that isn't reserved.
    pub(super) fn names(token: Token) -> bool {
        match token.kind {
            TokenKind::Quoted => true,
            TokenKind::Word => token.keyword == Keyword::None,
            _ => false,
        }
    }

    pub(super) fn at_name(&self) -> bool {
        Self::names(self.peek())
    }

    /// One name.
    pub(super) fn name(&mut self) -> Parse<Name> {
        if self.at_name() { self.take_name() } else { Err(self.unexpected()) }
    }

    /// The token here as a name, whatever it is; delimiters off, length checked (103, 1038).
    pub(super) fn take_name(&mut self) -> Parse<Name> {
        let token = self.peek();
        let text = self.token_text(token);
        let name: Box<str> = match token.kind {
            TokenKind::Quoted => undelimited(text, 1),
            TokenKind::String => undelimited(text, 1),
            TokenKind::National => undelimited(text, 2),
            _ => text.into(),
        };
        self.check_name(&name)?;
        self.advance();
        Ok(Name { text: name, line: token.line })
    }

    fn check_name(&self, name: &str) -> Parse<()> {
        if name.is_empty() {
            return Err(self.error(messages::NAME_EMPTY, &[]));
        }
        let long = name.len() > IDENTIFIER_CHARS_MAX;
        if long && name.encode_utf16().count() > IDENTIFIER_CHARS_MAX {
            let start: String = name.chars().take(IDENTIFIER_CHARS_MAX).collect();
            let args: [&dyn std::fmt::Display; 3] = [&"identifier", &start, &IDENTIFIER_CHARS_MAX];
            return Err(self.error(messages::IDENTIFIER_TOO_LONG, &args));
        }
        Ok(())
    }

    /// `@name`
    pub(super) fn variable(&mut self) -> Parse<Name> {
        if self.kind() == TokenKind::Variable { self.take_name() } else { Err(self.unexpected()) }
    }

    /// A name, or a variable in its place.
    pub(super) fn name_or_variable(&mut self) -> Parse<Name> {
        if self.kind() == TokenKind::Variable { self.take_name() } else { self.name() }
    }

    /// A name or a string in its place.
    pub(super) fn name_or_string(&mut self) -> Parse<Name> {
        match self.kind() {
            TokenKind::String | TokenKind::National => self.take_name(),
            _ => self.name(),
        }
    }

    /// `[server.][database.][schema.]object`; parts before the last may be empty.
    pub(crate) fn object_name(&mut self) -> Parse<ObjectName> {
        let first = self.peek();
        if first.kind == TokenKind::Dot {
            return self.object_name_rest(first, None);
        }
        let part = self.name()?;
        self.object_name_rest(first, Some(part))
    }

    /// The rest of a name whose first part, or its absence, is known.
    pub(super) fn object_name_rest(
        &mut self,
        first: Token,
        part: Option<Name>,
    ) -> Parse<ObjectName> {
        let mut parts = [None, None, None, part];
        while self.kind() == TokenKind::Dot {
            if parts[0].is_some() {
                let spelled = self.excerpt(self.span_from(first));
                let args: [&dyn std::fmt::Display; 3] = [&"object", &spelled, &3];
                return Err(self.error(messages::NAME_TOO_MANY_PREFIXES, &args));
            }
            self.advance();
            parts.rotate_left(1);
            parts[3] = match self.kind() {
                TokenKind::Dot => None,
                TokenKind::Pseudo => Some(self.take_name()?),
                _ if matches!(self.keyword(), Keyword::IdentityCol | Keyword::RowGuidCol) => {
                    Some(self.take_name()?)
                }
                // Behind a dot a reserved word is an error, as anywhere.
                _ => Some(self.name()?),
            };
        }
        let [server, database, schema, object] = parts;
        let Some(object) = object else { return Err(self.unexpected()) };
        Ok(ObjectName { server, database, schema, object, span: self.span_from(first) })
    }

    /// A column, with its table if said.
    pub(super) fn column_name(&mut self) -> Parse<ColumnName> {
        if matches!(self.kind(), TokenKind::Pseudo)
            || matches!(self.keyword(), Keyword::IdentityCol | Keyword::RowGuidCol)
        {
            return Ok(ColumnName { qualifier: None, name: self.take_name()? });
        }
        let name = self.object_name()?;
        self.mention_column(&name.object);
        Ok(column_of(name))
    }

    /// `AS alias`, `alias`, or nothing.
    pub(super) fn optional_alias(&mut self) -> Parse<Option<Name>> {
        if self.eat_keyword(Keyword::As) {
            return self.name().map(Some);
        }
        // A name before a colon is a label: the next statement.
        let label = self.peek_at(1).kind == TokenKind::Colon;
        if self.at_name() && !label && !self.at_windows() {
            self.name().map(Some)
        } else {
            Ok(None)
        }
    }

    /// A string constant's value.
    pub(super) fn string(&mut self) -> Parse<Box<str>> {
        let token = self.peek();
        let skip = match token.kind {
            TokenKind::String => 1,
            TokenKind::National => 2,
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(undelimited(self.token_text(token), skip))
    }

    /// A number that counts something.
    pub(super) fn integer(&mut self) -> Parse<u32> {
        if self.kind() != TokenKind::Integer {
            return Err(self.unexpected());
        }
        let Ok(n) = self.token_text(self.peek()).parse() else { return Err(self.unexpected()) };
        self.advance();
        Ok(n)
    }
}

/// The last part as a column, the parts before it as its table.
pub(super) fn column_of(name: ObjectName) -> ColumnName {
    let ObjectName { server, database, schema, object, span } = name;
    let qualifier = schema.map(|table| {
        let end = span.end.saturating_sub(object.len() as u32);
        let span = crate::ast::Span { end, ..span };
        Box::new(ObjectName {
            server: None,
            database: server,
            schema: database,
            object: table,
            span,
        })
    });
    ColumnName { qualifier, name: object }
}

/// The text within a token's delimiters, the first `open` bytes long, doubled ones made single.
pub(super) fn undelimited(text: &str, open: usize) -> Box<str> {
    let inner = text.get(open..text.len().saturating_sub(1)).unwrap_or("");
    let close = match text.as_bytes().last() {
        Some(b']') => "]",
        Some(b'"') => "\"",
        _ => "'",
    };
    if inner.contains(close) { inner.replace(&close.repeat(2), close).into() } else { inner.into() }
}
