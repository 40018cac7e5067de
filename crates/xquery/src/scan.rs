//! The characters of an expression. There are no tokens: what a word means depends on where it
//! stands, and `<` begins an element where an operand is due.

use base::{Message, SqlError, SqlResult};
use std::fmt::Display;

/// A place in the text that moves on.
pub(crate) struct Scan<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// `t.x.value()`: who is told in errors.
    pub(crate) method: String,
}

impl<'t> Scan<'t> {
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// An error about the expression.
    pub(crate) fn error<T>(&self, message: Message, facts: &[&dyn Display]) -> SqlResult<T> {
        let mut all: Vec<&dyn Display> = vec![&self.method];
        all.extend_from_slice(facts);
        Err(SqlError::new(message, &all))
    }

    /// 2209 at what stands here.
    pub(crate) fn syntax<T>(&self) -> SqlResult<T> {
        self.error(base::messages::XQUERY_SYNTAX, &[&self.near()])
    }

    /// What stands here, as errors show it: a name, or a character.
    pub(crate) fn near(&self) -> String {
        let rest = self.rest().trim_start();
        let Some(first) = rest.chars().next() else { return "<eof>".to_owned() };
        if first == '$' || xml::is_name_start(first) {
            let tail = rest.get(first.len_utf8()..).unwrap_or("");
            let end = tail.find(|c| !xml::is_name_char(c)).unwrap_or(tail.len());
            return rest[..first.len_utf8() + end].to_owned();
        }
        first.to_string()
    }

    /// White space and `(: comments :)`, which nest.
    pub(crate) fn skip(&mut self) -> SqlResult<()> {
        loop {
            let rest = self.rest();
            let length = rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len());
            self.at += length;
            if !self.rest().starts_with("(:") {
                return Ok(());
            }
            let mut depth = 0_usize;
            loop {
                let rest = self.rest();
                if rest.starts_with("(:") {
                    (depth, self.at) = (depth + 1, self.at + 2);
                } else if rest.starts_with(":)") {
                    (depth, self.at) = (depth - 1, self.at + 2);
                    if depth == 0 {
                        break;
                    }
                } else {
                    match rest.chars().next() {
                        Some(c) => self.at += c.len_utf8(),
                        None => return self.syntax(),
                    }
                }
            }
        }
    }

    /// A symbol, behind white space.
    pub(crate) fn eat(&mut self, symbol: &str) -> SqlResult<bool> {
        self.skip()?;
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        Ok(found)
    }

    /// A symbol that must stand here.
    pub(crate) fn expect(&mut self, symbol: &str) -> SqlResult<()> {
        match self.eat(symbol)? {
            true => Ok(()),
            false => self.error(base::messages::XQUERY_EXPECTED, &[&symbol]),
        }
    }

    /// The name without colon that stands here, if one does.
    pub(crate) fn peek_name(&self) -> Option<&'t str> {
        let rest = self.rest();
        let first = rest.chars().next().filter(|&c| xml::is_name_start(c))?;
        let tail = rest.get(first.len_utf8()..)?;
        let end = tail.find(|c| !xml::is_name_char(c)).unwrap_or(tail.len());
        rest.get(..first.len_utf8() + end)
    }

    pub(crate) fn eat_name(&mut self) -> Option<&'t str> {
        let name = self.peek_name()?;
        self.at += name.len();
        Some(name)
    }

    /// A word of the language, behind white space.
    pub(crate) fn eat_word(&mut self, word: &str) -> SqlResult<bool> {
        self.skip()?;
        let found = self.peek_name() == Some(word);
        self.at += if found { word.len() } else { 0 };
        Ok(found)
    }

    /// Some words one behind the other, or nothing.
    pub(crate) fn eat_words(&mut self, words: &[&str]) -> SqlResult<bool> {
        let from = self.at;
        for word in words {
            if !self.eat_word(word)? {
                self.at = from;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a word stands here and then a symbol.
    pub(crate) fn at_word_then(&mut self, word: &str, symbol: &str) -> SqlResult<bool> {
        let from = self.at;
        let found = self.eat_word(word)? && self.eat(symbol)?;
        self.at = from;
        Ok(found)
    }

    /// A string in quotes, which are doubled within; references are resolved.
    pub(crate) fn string(&mut self) -> SqlResult<Option<String>> {
        self.skip()?;
        let Some(quote @ ('"' | '\'')) = self.peek() else { return Ok(None) };
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.peek() {
                None => return self.syntax(),
                Some('&') => out.push(self.reference()?),
                Some(c) => {
                    self.at += c.len_utf8();
                    if c != quote {
                        out.push(c);
                    } else if self.peek() == Some(quote) {
                        self.at += 1;
                        out.push(quote);
                    } else {
                        return Ok(Some(out));
                    }
                }
            }
        }
    }

    /// `&lt;`, `&#65;`
    pub(crate) fn reference(&mut self) -> SqlResult<char> {
        let rest = self.rest();
        let Some((name, _)) = rest.get(1..).and_then(|r| r.split_once(';')) else {
            return self.error(base::messages::XQUERY_ENTITY, &[]);
        };
        let known = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => None,
        };
        let found = match (known, name.strip_prefix('#')) {
            (Some(c), _) => c,
            (None, None) => return self.error(base::messages::XQUERY_ENTITY, &[]),
            (None, Some(number)) => {
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                let c = code.ok().and_then(char::from_u32).filter(|&c| xml::is_xml_char(c));
                match c {
                    Some(c) => c,
                    None => return self.error(base::messages::XQUERY_NUMERIC_ENTITY, &[]),
                }
            }
        };
        self.at += name.len() + 2;
        Ok(found)
    }
}
