//! JSON paths: `[append] [lax|strict] $ { .name | ."name" | [index] }`.
//!
//! Blanks may stand between any two parts. A name without quotes is ASCII letters, digits and `_`;
//! a name in quotes is a JSON string, kept as it is written: names compare in the form that
//! `name_units` gives.

use base::{SqlError, SqlResult, messages};

/// How deep a path may reach and a text may nest.
pub(super) const DEPTH_MAX: usize = 128;

/// One step of a path.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Step {
    /// A member of an object, as written.
    Member(Vec<u16>),
    /// An element of an array.
    Element(u32),
}

/// A path.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Path {
    /// JSON_MODIFY adds to the array that the path names.
    pub(crate) append: bool,
    /// What is not there is an error.
    pub(crate) strict: bool,
    pub(crate) steps: Vec<Step>,
}

impl Path {
    /// # Errors
    /// 13607 where it is no path, 13606 for too many steps.
    pub(crate) fn parse(text: &[u16], may_append: bool) -> SqlResult<Path> {
        let mut p = Parser { text, at: 0 };
        let mut path = Path::default();
        if may_append && p.word("append") {
            path.append = true;
        }
        if p.word("strict") {
            path.strict = true;
        } else {
            p.word("lax");
        }
        if !p.eat(b'$') {
            let start = p.at;
            let state = if p.word("append") { 14 } else { 22 };
            p.at = start;
            return Err(p.unexpected(state));
        }
        while p.peek().is_some() {
            if path.steps.len() == DEPTH_MAX {
                return Err(SqlError::new(messages::JSON_TOO_DEEP, &[]).with_state(4));
            }
            path.steps.push(p.step()?);
        }
        Ok(path)
    }

    /// The path of one member.
    pub(crate) fn of_member(name: &[u16]) -> Path {
        let mut written = Vec::with_capacity(name.len());
        for &unit in name {
            if unit == u16::from(b'"') || unit == u16::from(b'\\') {
                written.push(u16::from(b'\\'));
            }
            written.push(unit);
        }
        Path { steps: vec![Step::Member(written)], ..Path::default() }
    }
}

/// A name's characters: `\uXXXX` is the character it stands for, any other escape is two.
pub(super) fn name_units(written: &[u16]) -> impl Iterator<Item = u16> + '_ {
    let mut at = 0;
    // The character behind a backslash that is no `\u` begins no escape.
    let mut escaped = false;
    std::iter::from_fn(move || {
        let &unit = written.get(at)?;
        at += 1;
        if escaped || unit != u16::from(b'\\') {
            escaped = false;
            return Some(unit);
        }
        if written.get(at) == Some(&u16::from(b'u'))
            && let Some(code) = hex(written, at + 1)
        {
            at += 5;
            return Some(code);
        }
        escaped = true;
        Some(unit)
    })
}

/// Four hexadecimal digits.
pub(super) fn hex(text: &[u16], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 4)?;
    digits.iter().try_fold(0_u16, |n, &d| {
        let digit = char::from_u32(u32::from(d))?.to_digit(16)?;
        Some(n << 4 | digit as u16)
    })
}

struct Parser<'t> {
    text: &'t [u16],
    at: usize,
}

impl Parser<'_> {
    /// The next character that is no blank.
    fn peek(&mut self) -> Option<u16> {
        while self.text.get(self.at).is_some_and(|u| matches!(u, 9 | 10 | 12 | 13 | 32)) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(u16::from(byte));
        self.at += usize::from(hit);
        hit
    }

    /// A word that ends there.
    fn word(&mut self, word: &str) -> bool {
        self.peek();
        let end = self.at + word.len();
        let same = self.text.get(self.at..end).is_some_and(|t| t.iter().copied().eq(units(word)));
        let hit = same && !self.text.get(end).is_some_and(|&u| is_name(u));
        if hit {
            self.at = end;
        }
        hit
    }

    fn step(&mut self) -> SqlResult<Step> {
        if self.eat(b'[') {
            return self.element();
        }
        if !self.eat(b'.') {
            return Err(self.unexpected(22));
        }
        if self.eat(b'"') {
            return self.quoted();
        }
        self.peek();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|&u| is_name(u)) {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        match name.first() {
            Some(first) if !is_digit(*first) => Ok(Step::Member(name.to_vec())),
            _ => {
                self.at = start;
                Err(self.unexpected(22))
            }
        }
    }

    fn quoted(&mut self) -> SqlResult<Step> {
        let start = self.at;
        loop {
            match self.text.get(self.at).copied() {
                None => return Err(self.unexpected(20)),
                Some(u) if u == u16::from(b'"') => break,
                Some(u) if u == u16::from(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(Step::Member(self.text[start..self.at - 1].to_vec()))
    }

    fn escape(&mut self) -> SqlResult<()> {
        self.at += 1;
        let escaped = self.text.get(self.at).and_then(|&u| u8::try_from(u).ok());
        match escaped {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') if hex(self.text, self.at + 1).is_some() => self.at += 5,
            _ => return Err(self.unexpected(17)),
        }
        Ok(())
    }

    fn element(&mut self) -> SqlResult<Step> {
        if !self.peek().is_some_and(is_digit) {
            return Err(self.unexpected(21));
        }
        let mut index = 0_u32;
        while let Some(&digit) = self.text.get(self.at).filter(|&&u| is_digit(u)) {
            let next = index.checked_mul(10).and_then(|n| n.checked_add(u32::from(digit) - 48));
            index = next.ok_or_else(|| self.unexpected(16))?;
            self.at += 1;
        }
        match self.eat(b']') {
            true => Ok(Step::Element(index)),
            false => Err(self.unexpected(15)),
        }
    }

    /// 13607 at the character that stands here. Punctuation and digits out of place, and the end,
    /// have a state of their own.
    fn unexpected(&self, state: u8) -> SqlError {
        let state = match self.text.get(self.at).copied() {
            _ if matches!(state, 16 | 17 | 20) => state,
            None => 14,
            Some(u) if is_digit(u) || units("$\"[].,*").any(|p| p == u) => 14,
            Some(_) => state,
        };
        let shown = super::shown(self.text, self.at);
        SqlError::new(messages::JSON_PATH_INVALID, &[&shown, &self.at]).with_state(state)
    }
}

fn units(text: &str) -> impl Iterator<Item = u16> + '_ {
    text.bytes().map(u16::from)
}

fn is_digit(unit: u16) -> bool {
    (48..=57).contains(&unit)
}

fn is_name(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|b| b.is_ascii_alphanumeric() || b == b'_')
}
