//! A reader of JSON text that makes no tree: it walks UTF-16 units from left to right and stops
//! as soon as a question is answered.
//!
//! Invariants
//!  1. Every loop moves `at` on or ends: a text is read once.
//!  2. `depth` counts the containers that are open; beyond 128 it is error 13606.

use super::path::{DEPTH_MAX, Path, Step, hex, name_units};
use base::{SqlError, SqlResult, messages};
use std::ops::Range;

/// Units that are read between two looks at whether the request is to end.
const LOOK_UNITS: usize = 1 << 20;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Null,
    String,
    Number,
    Bool,
    Array,
    Object,
}

impl Kind {
    pub(super) fn is_container(self) -> bool {
        matches!(self, Kind::Array | Kind::Object)
    }
}

/// A value where it stands: a string with its quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
}

/// A container that is being read.
#[derive(Clone, Copy)]
pub(super) struct Items {
    object: bool,
    first: bool,
}

pub(super) struct Reader<'t> {
    text: &'t [u16],
    pub(super) at: usize,
    depth: usize,
    /// Where it has looked last whether the request is to end.
    looked_at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t [u16]) -> Reader<'t> {
        Reader::from(text, 0, 0)
    }

    /// One that goes on where another stood.
    pub(super) fn from(text: &'t [u16], at: usize, depth: usize) -> Reader<'t> {
        Reader { text, at, depth, looked_at: at }
    }

    /// How many containers are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The next character that is no blank; 0, which no text may hold, at the end.
    pub(super) fn peek(&mut self) -> u8 {
        while self.text.get(self.at).is_some_and(|u| matches!(u, 9 | 10 | 13 | 32)) {
            self.at += 1;
        }
        self.text.get(self.at).map_or(0, |&u| u8::try_from(u).unwrap_or(0xFF))
    }

    pub(super) fn unexpected(&self, at: usize) -> SqlError {
        let shown = super::shown(self.text, at);
        SqlError::new(messages::JSON_TEXT_INVALID, &[&shown, &at])
    }

    /// Into the array or object that begins here.
    pub(super) fn enter(&mut self) -> SqlResult<Items> {
        let object = self.peek() == b'{';
        if self.depth == DEPTH_MAX {
            return Err(SqlError::new(messages::JSON_TOO_DEEP, &[]));
        }
        self.depth += 1;
        self.at += 1;
        Ok(Items { object, first: true })
    }

    /// Up to the next value, with its name (between the quotes; of an element: empty). None: the
    /// container has ended, and `at` is behind it.
    pub(super) fn item(&mut self, items: &mut Items) -> SqlResult<Option<Range<usize>>> {
        self.look()?;
        let close = if items.object { b'}' } else { b']' };
        let next = self.peek();
        if next == close {
            self.at += 1;
            self.depth -= 1;
            return Ok(None);
        }
        if !std::mem::take(&mut items.first) {
            if next != b',' {
                return Err(self.unexpected(self.at));
            }
            self.at += 1;
        }
        if !items.object {
            return Ok(Some(0..0));
        }
        if self.peek() != b'"' {
            return Err(self.unexpected(self.at));
        }
        let name = self.string()?;
        if self.peek() != b':' {
            return Err(self.unexpected(self.at));
        }
        self.at += 1;
        Ok(Some(name.start + 1..name.end - 1))
    }

    /// Over the value that begins here.
    pub(super) fn value(&mut self) -> SqlResult<Span> {
        let first = self.peek();
        let start = self.at;
        let kind = match first {
            b'{' | b'[' => {
                let mut items = self.enter()?;
                while self.item(&mut items)?.is_some() {
                    self.value()?;
                }
                if first == b'{' { Kind::Object } else { Kind::Array }
            }
            b'"' => {
                self.string()?;
                Kind::String
            }
            _ => self.token()?,
        };
        Ok(Span { kind, at: start..self.at })
    }

    /// Now and then looks whether the request is to end.
    fn look(&mut self) -> SqlResult<()> {
        if self.at < self.looked_at + LOOK_UNITS {
            return Ok(());
        }
        self.looked_at = self.at;
        os::values::look()
    }

    /// Over a string; what is wrong with it is told of its first quote.
    fn string(&mut self) -> SqlResult<Range<usize>> {
        let start = self.at;
        self.at += 1;
        loop {
            if self.at.is_multiple_of(LOOK_UNITS) {
                self.look()?;
            }
            let Some(&unit) = self.text.get(self.at) else { return Err(self.unexpected(start)) };
            self.at += 1;
            match u8::try_from(unit) {
                Ok(b'"') => return Ok(start..self.at),
                Ok(b'\\') => match self.text.get(self.at).and_then(|&u| u8::try_from(u).ok()) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                    Some(b'u') if hex(self.text, self.at + 1).is_some() => self.at += 5,
                    _ => return Err(self.unexpected(start)),
                },
                Ok(0..32) => return Err(self.unexpected(start)),
                _ => {}
            }
        }
    }

    /// Over a number or a word.
    fn token(&mut self) -> SqlResult<Kind> {
        let start = self.at;
        let ends = |u: u16| matches!(u, 9 | 10 | 13 | 32) || b",:[]{}\"".contains(&(u as u8));
        while self.text.get(self.at).is_some_and(|&u| u > 0x7F || !ends(u)) {
            self.at += 1;
        }
        let units = &self.text[start..self.at];
        let token: Vec<u8> = units.iter().map(|&u| u8::try_from(u).unwrap_or(0xFF)).collect();
        match token.as_slice() {
            b"true" | b"false" => Ok(Kind::Bool),
            b"null" => Ok(Kind::Null),
            number if is_number(number) => Ok(Kind::Number),
            _ => Err(self.unexpected(start)),
        }
    }

    /// To the value in this text that steps lead to, the first of several of one name; false where
    /// there is none.
    pub(super) fn seek(&mut self, steps: &[Step]) -> SqlResult<bool> {
        if !matches!(self.peek(), b'{' | b'[') {
            return Err(self.unexpected(self.at));
        }
        self.follow(steps)
    }

    /// The same from the value that begins here, which may be a scalar.
    pub(super) fn follow(&mut self, steps: &[Step]) -> SqlResult<bool> {
        for step in steps {
            if !self.step(step)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn step(&mut self, step: &Step) -> SqlResult<bool> {
        match (step, self.peek()) {
            (Step::Member(_), b'{') | (Step::Element(_), b'[') => {}
            _ => return Ok(false),
        }
        let mut items = self.enter()?;
        let mut n = 0;
        while let Some(name) = self.item(&mut items)? {
            if self.is(step, name, n) {
                self.peek();
                return Ok(true);
            }
            self.value()?;
            n += 1;
        }
        Ok(false)
    }

    /// Whether the `n`th item of a container is what a step names.
    pub(super) fn is(&self, step: &Step, name: Range<usize>, n: u32) -> bool {
        match step {
            Step::Element(index) => *index == n,
            Step::Member(wanted) => name_units(&self.text[name]).eq(name_units(wanted)),
        }
    }

    /// The value of a path.
    pub(super) fn find(&mut self, path: &Path) -> SqlResult<Option<Span>> {
        if self.seek(&path.steps)? { self.value().map(Some) } else { Ok(None) }
    }

    /// The whole text: one value and blanks.
    pub(super) fn whole(&mut self) -> SqlResult<Span> {
        let span = self.value()?;
        self.peek();
        match self.at == self.text.len() {
            true => Ok(span),
            false => Err(self.unexpected(self.at)),
        }
    }
}

/// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
fn is_number(token: &[u8]) -> bool {
    let rest = token.strip_prefix(b"-").unwrap_or(token);
    let (whole, rest) = digits(rest);
    if whole == 0 || whole > 1 && token.strip_prefix(b"-").unwrap_or(token)[0] == b'0' {
        return false;
    }
    let rest = match rest.strip_prefix(b".") {
        None => rest,
        Some(rest) => match digits(rest) {
            (0, _) => return false,
            (_, rest) => rest,
        },
    };
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let exponent = match exponent {
                [b'+' | b'-', rest @ ..] => rest,
                rest => rest,
            };
            matches!(digits(exponent), (1.., []))
        }
        _ => false,
    }
}

/// How many digits, and what follows.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (n, &text[n..])
}

/// The characters of a string with its quotes.
pub(super) fn unescaped(text: &[u16], string: &Range<usize>) -> SqlResult<Vec<u16>> {
    let inner = &text[string.start + 1..string.end - 1];
    os::values::room(inner.len() * 2)?;
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&unit) = inner.get(at) {
        at += 1;
        if unit != u16::from(b'\\') {
            out.push(unit);
            continue;
        }
        let Some(&escape) = inner.get(at) else { break };
        at += 1;
        out.push(match u8::try_from(escape) {
            Ok(b'b') => 8,
            Ok(b'f') => 12,
            Ok(b'n') => 10,
            Ok(b'r') => 13,
            Ok(b't') => 9,
            Ok(b'u') => {
                at += 4;
                hex(inner, at - 4).unwrap_or(0xFFFD)
            }
            _ => escape,
        });
    }
    Ok(out)
}
