//! References: `&lt;`, `&#x41;`, and the entities that a DTD declares.
//!
//! An entity has no references and no markup within, so it never leads to another; and what all
//! references of a text bring together is bounded, however often they name the longest one.

use crate::name::{is_name_char, is_name_start, is_xml_char};
use crate::place::{ParseResult, fault};
use base::messages;
use hashbrown::HashMap;
use std::cell::Cell;

/// What the entities of a text may bring together.
pub(crate) const EXPANDED_BYTES_MAX: usize = 16 << 20;

/// General entities by name, as a DTD declared them.
#[derive(Default)]
pub(crate) struct Entities {
    values: HashMap<Box<str>, Box<str>>,
    /// What references have brought so far.
    expanded_bytes: Cell<usize>,
}

/// What a reference stands for.
pub(crate) enum Referent<'e> {
    Character(char),
    Entity(&'e str),
}

impl Entities {
    /// Declares an entity; the first declaration of a name counts.
    pub(crate) fn declare(&mut self, name: &str, value: &str) {
        self.values.entry(name.into()).or_insert_with(|| value.into());
    }

    /// Whether references wanted to bring too much: the parser has stopped at one of them.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.expanded_bytes.get() > EXPANDED_BYTES_MAX
    }

    /// The reference at an ampersand, and the place behind its semicolon.
    pub(crate) fn reference(&self, text: &str, at: usize) -> ParseResult<(Referent<'_>, usize)> {
        let from = at + 1;
        let rest = text.get(from..).unwrap_or("");
        if let Some(number) = rest.strip_prefix('#') {
            let (c, end) = numeric(text, number, from + 1)?;
            return Ok((Referent::Character(c), end));
        }
        match rest.chars().next() {
            None => return fault(messages::XML_END_UNEXPECTED, text.len()),
            Some(c) if !is_name_start(c) => return fault(messages::XML_NAME_CHARACTER, from),
            Some(_) => {}
        }
        let length = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
        let (name, end) = (&rest[..length], from + length);
        match rest[length..].chars().next() {
            None => return fault(messages::XML_END_UNEXPECTED, text.len()),
            Some(';') => {}
            Some(_) => return fault(messages::XML_SEMICOLON, end),
        }
        let character = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let Some(value) = self.values.get(name) else {
                    return fault(messages::XML_ENTITY_UNDECLARED, end);
                };
                self.expanded_bytes.set(self.expanded_bytes.get() + value.len());
                if self.is_exhausted() {
                    return fault(messages::XML_ENTITY_SYNTAX, end);
                }
                return Ok((Referent::Entity(value), end + 1));
            }
        };
        Ok((Referent::Character(character), end + 1))
    }
}

/// The character of `&#…;`, whose digits begin at a place.
fn numeric(text: &str, rest: &str, at: usize) -> ParseResult<(char, usize)> {
    let (digits, from, radix, message) = match rest.strip_prefix('x') {
        Some(digits) => (digits, at + 1, 16, messages::XML_HEXADECIMAL_DIGIT),
        None => (rest, at, 10, messages::XML_DECIMAL_DIGIT),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let end = from + length;
    match digits[length..].chars().next() {
        None => return fault(messages::XML_END_UNEXPECTED, text.len()),
        Some(_) if length == 0 => return fault(message, end),
        Some(';') => {}
        Some(_) => return fault(messages::XML_SEMICOLON, end),
    }
    let number = u32::from_str_radix(&digits[..length], radix).ok();
    match number.and_then(char::from_u32).filter(|&c| is_xml_char(c)) {
        Some(c) => Ok((c, end + 1)),
        None => fault(messages::XML_CHARACTER, end),
    }
}
