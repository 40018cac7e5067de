//! What stands in a start tag: a name, attributes with their values, references resolved.

use crate::entity::{Entities, Referent};
use crate::name::{is_name_char, is_name_start, is_xml_char};
use crate::place::{ParseResult, fault};
use base::messages;

/// A name as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QualifiedName<'t> {
    pub(crate) prefix: &'t str,
    pub(crate) local: &'t str,
}

/// An attribute as written.
#[derive(Debug)]
pub(crate) struct Attribute<'t> {
    pub(crate) name: QualifiedName<'t>,
    pub(crate) value: String,
    /// Behind the value.
    pub(crate) end: usize,
}

/// A place in the text that moves on.
pub(crate) struct Scanner<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// Whether there was any.
    pub(crate) fn blanks(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        self.at += length;
        length > 0
    }

    /// A name with at most one colon.
    pub(crate) fn qualified(&mut self) -> ParseResult<QualifiedName<'t>> {
        let first = self.part()?;
        if !self.eat(':') {
            return Ok(QualifiedName { prefix: "", local: first });
        }
        let local = self.part()?;
        if self.peek() == Some(':') {
            return fault(messages::XML_COLONS, self.at);
        }
        Ok(QualifiedName { prefix: first, local })
    }

    fn part(&mut self) -> ParseResult<&'t str> {
        let rest = self.rest();
        match rest.chars().next() {
            None => return fault(messages::XML_END_UNEXPECTED, self.text.len()),
            Some(c) if !is_name_start(c) => return fault(messages::XML_QUALIFIED_NAME, self.at),
            Some(_) => {}
        }
        let length = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
        self.at += length;
        Ok(&rest[..length])
    }

    /// ` name = "value"`, where there is one.
    pub(crate) fn attribute(&mut self, entities: &Entities) -> ParseResult<Option<Attribute<'t>>> {
        let spaced = self.blanks();
        match self.peek() {
            Some('/' | '>' | '?') => return Ok(None),
            None => return fault(messages::XML_END_UNEXPECTED, self.text.len()),
            Some(c) if !spaced => {
                let message = match is_name_start(c) {
                    true => messages::XML_WHITESPACE,
                    false => messages::XML_QUALIFIED_NAME,
                };
                return fault(message, self.at);
            }
            Some(_) => {}
        }
        let name = self.qualified()?;
        self.blanks();
        if !self.eat('=') {
            return fault(messages::XML_EQUAL, self.at);
        }
        self.blanks();
        let value = self.quoted(entities)?;
        Ok(Some(Attribute { name, value, end: self.at }))
    }

    /// A value in quotes: blanks of any kind become spaces.
    fn quoted(&mut self, entities: &Entities) -> ParseResult<String> {
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return fault(messages::XML_STRING_LITERAL, self.at);
        };
        self.at += 1;
        let mut value = String::new();
        loop {
            let Some(c) = self.peek() else {
                return fault(messages::XML_END_UNEXPECTED, self.text.len());
            };
            match c {
                '<' => return fault(messages::XML_LESS_IN_ATTRIBUTE, self.at),
                '&' => {
                    let (referred, end) = entities.reference(self.text, self.at)?;
                    match referred {
                        Referent::Character(c) => value.push(c),
                        Referent::Entity(text) => value.push_str(text),
                    }
                    self.at = end;
                    continue;
                }
                '\r' if self.rest().starts_with("\r\n") => {}
                '\t' | '\n' | '\r' => value.push(' '),
                c if c == quote => {
                    self.at += 1;
                    return Ok(value);
                }
                c if !is_xml_char(c) => return fault(messages::XML_CHARACTER, self.at),
                c => value.push(c),
            }
            self.at += c.len_utf8();
        }
    }
}

/// White space of XML.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
