//! Text to tokens, one at a time and without allocation.
//!
//! Comments nest. Lines are counted at `\n`. A token never fails: text that begins nothing is
//! `Stray`, text that doesn't end is `UnclosedQuote` or `UnclosedComment` up to the end.

use crate::keywords::{self, Keyword};
use crate::token::{Token, TokenKind};

/// Reads tokens from a place in a text.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line: u32,
    quoted_identifier: bool,
}

/// Bytes that continue a name; all of a multi-byte character's bytes are looked at as one.
static NAME_BYTE: [bool; 256] = name_bytes();

const fn name_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        table[b] = c.is_ascii_alphanumeric() || c == b'_' || c == b'@' || c == b'$' || c == b'#';
        b += 1;
    }
    table
}

/// The pseudo-column of a row's place.
const LOCATION: &[u8] = b"%%physloc%%";

/// Bytes that are neither blank nor may begin a comment, so that a token begins with them.
static BEGINS: [bool; 256] = beginnings();

const fn beginnings() -> [bool; 256] {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        table[b] = c.is_ascii_graphic() && c != b'-' && c != b'/';
        b += 1;
    }
    table
}

impl<'t> Lexer<'t> {
    /// From byte `at`, which begins a character and lies on `line`.
    pub(crate) fn new(text: &'t str, at: usize, line: u32, quoted_identifier: bool) -> Self {
        Lexer { text, bytes: text.as_bytes(), at, line, quoted_identifier }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token; `End` for ever at the end.
    pub(crate) fn next(&mut self) -> Token {
        // Most tokens stand behind one blank or none.
        self.at += usize::from(self.byte(0) == b' ');
        let unclosed = if BEGINS[self.byte(0) as usize] { None } else { self.skip_blank() };
        let (start, line) = (self.at, self.line);
        let kind = match unclosed {
            Some(open) => return self.token(TokenKind::UnclosedComment, open.0, open.1),
            None if self.at >= self.bytes.len() => TokenKind::End,
            None => self.scan(),
        };
        let mut token = self.token(kind, start, line);
        if kind == TokenKind::Word {
            token.keyword = keywords::lookup(&self.bytes[start..self.at]);
        }
        token
    }

    fn token(&self, kind: TokenKind, start: usize, line: u32) -> Token {
        debug_assert!(start <= self.at && self.at <= self.bytes.len(), "a token lies in the text");
        Token { kind, keyword: Keyword::None, start: start as u32, end: self.at as u32, line }
    }

    /// Past blanks and comments; the place of a comment that doesn't end.
    fn skip_blank(&mut self) -> Option<(usize, u32)> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                1..=b' ' => self.at += 1,
                0 if self.at < self.bytes.len() => self.at += 1,
                b'-' if self.byte(1) == b'-' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                b'/' if self.byte(1) == b'*' => {
                    let open = (self.at, self.line);
                    if !self.skip_comment() {
                        return Some(open);
                    }
                }
                0xc2..=0xf4 => match self.text[self.at..].chars().next() {
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Past a comment with the comments in it; false when the text ends first.
    fn skip_comment(&mut self) -> bool {
        let mut depth = 0u32;
        while self.at < self.bytes.len() {
            match (self.byte(0), self.byte(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return true;
                    }
                }
                (b, _) => {
                    self.line += u32::from(b == b'\n');
                    self.at += 1;
                }
            }
        }
        false
    }

    fn scan(&mut self) -> TokenKind {
        match self.byte(0) {
            b'n' | b'N' if self.byte(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'', TokenKind::National)
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'#' => self.name(TokenKind::Word),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            b'\'' => self.quoted(b'\'', TokenKind::String),
            b'[' => self.quoted(b']', TokenKind::Quoted),
            b'"' if self.quoted_identifier => self.quoted(b'"', TokenKind::Quoted),
            b'"' => self.quoted(b'"', TokenKind::String),
            b'@' if self.byte(1) == b'@' => self.name(TokenKind::Global),
            b'@' => self.name(TokenKind::Variable),
            b'$' => self.dollar(1),
            b'%' if self.is_location() => {
                self.at += LOCATION.len();
                TokenKind::Pseudo
            }
            0x80.. => self.wide(),
            _ => self.operator(),
        }
    }

    /// A name of any kind; its first byte is taken as it is.
    fn name(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let length = rest.iter().position(|b| !NAME_BYTE[*b as usize]);
            self.at += length.unwrap_or(rest.len());
            if self.byte(0) >= 0x80 {
                match self.text[self.at..].chars().next() {
                    Some(c) if c.is_alphanumeric() || is_mark(c) => self.at += c.len_utf8(),
                    _ => return kind,
                }
            } else {
                return kind;
            }
        }
    }

    /// A character beyond ASCII: a name, a currency, or stray.
    fn wide(&mut self) -> TokenKind {
        let Some(c) = self.text[self.at..].chars().next() else { return TokenKind::End };
        if is_currency(c) {
            return self.dollar(c.len_utf8());
        }
        self.at += c.len_utf8();
        if c.is_alphabetic() {
            self.at -= 1;
            return self.name(TokenKind::Word);
        }
        TokenKind::Stray
    }

    /// Whether the place of a row is named here, in any case.
    fn is_location(&self) -> bool {
        let word = self.bytes.get(self.at..self.at + LOCATION.len());
        word.is_some_and(|w| w.eq_ignore_ascii_case(LOCATION))
    }

    /// Behind a currency sign of `sign` bytes.
    fn dollar(&mut self, sign: usize) -> TokenKind {
        self.at += sign;
        if sign == 1 && (self.byte(0).is_ascii_alphabetic() || self.byte(0) == b'_') {
            return self.name(TokenKind::Pseudo);
        }
        self.blank_before_digit();
        let signed = matches!(self.byte(0), b'-' | b'+');
        if signed && (self.byte(1).is_ascii_digit() || self.byte(1) == b'.') {
            self.at += 1;
        }
        self.digits();
        if self.byte(0) == b'.' {
            self.at += 1;
            self.digits();
        }
        TokenKind::Money
    }

    /// Blanks between a currency sign and its digits belong to the constant.
    fn blank_before_digit(&mut self) {
        let rest = &self.bytes[self.at..];
        let blanks = rest.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
        if rest.get(blanks).is_some_and(u8::is_ascii_digit) {
            self.at += blanks;
        }
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            self.at += 2;
            while self.byte(0).is_ascii_hexdigit() {
                self.at += 1;
            }
            return TokenKind::Binary;
        }
        let mut kind = TokenKind::Integer;
        self.digits();
        if self.byte(0) == b'.' {
            kind = TokenKind::Decimal;
            self.at += 1;
            self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let signed = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + signed).is_ascii_digit() || !NAME_BYTE[self.byte(1) as usize] {
                kind = TokenKind::Float;
                self.at += 1 + signed;
                self.digits();
            }
        }
        kind
    }

    /// From an opening mark through its close; a doubled close is a character of the text.
    fn quoted(&mut self, close: u8, kind: TokenKind) -> TokenKind {
        self.at += 1;
        while let Some(&b) = self.bytes.get(self.at) {
            self.at += 1;
            if b == close {
                if self.byte(0) != close {
                    return kind;
                }
                self.at += 1;
            }
            self.line += u32::from(b == b'\n');
        }
        TokenKind::UnclosedQuote
    }

    fn operator(&mut self) -> TokenKind {
        use TokenKind::*;
        let (kind, length) = match (self.byte(0), self.byte(1)) {
            (b'(', _) => (LeftParen, 1),
            (b')', _) => (RightParen, 1),
            (b'{', _) => (LeftBrace, 1),
            (b'}', _) => (RightBrace, 1),
            (b',', _) => (Comma, 1),
            (b';', _) => (Semicolon, 1),
            (b'.', _) => (Dot, 1),
            (b':', b':') => (DoubleColon, 2),
            (b':', _) => (Colon, 1),
            (b'=', _) => (Equal, 1),
            (b'<', b'>') | (b'!', b'=') => (NotEqual, 2),
            (b'<', b'<') => (ShiftLeft, 2),
            (b'>', b'>') => (ShiftRight, 2),
            (b'<', b'=') | (b'!', b'>') => (LessEqual, 2),
            (b'<', _) => (Less, 1),
            (b'>', b'=') | (b'!', b'<') => (GreaterEqual, 2),
            (b'>', _) => (Greater, 1),
            (b'+', b'=') => (PlusEqual, 2),
            (b'+', _) => (Plus, 1),
            (b'-', b'=') => (MinusEqual, 2),
            (b'-', _) => (Minus, 1),
            (b'*', b'=') => (StarEqual, 2),
            (b'*', _) => (Star, 1),
            (b'/', b'=') => (SlashEqual, 2),
            (b'/', _) => (Slash, 1),
            (b'%', b'=') => (PercentEqual, 2),
            (b'%', _) => (Percent, 1),
            (b'&', b'=') => (AmpersandEqual, 2),
            (b'&', _) => (Ampersand, 1),
            (b'|', b'=') => (PipeEqual, 2),
            (b'|', _) => (Pipe, 1),
            (b'^', b'=') => (CaretEqual, 2),
            (b'^', _) => (Caret, 1),
            (b'~', _) => (Tilde, 1),
            (b'!', _) => (Exclamation, 1),
            _ => (Stray, 1),
        };
        self.at += length;
        kind
    }
}

/// The signs beside `$` that may stand before a constant of money. They are a type's, and the
/// same that a conversion of text takes.
fn is_currency(c: char) -> bool {
    matches!(
        c,
        '¢' | '£' | '¤' | '¥' | '৲' | '৳' | '฿' | '៛' | '₠'
            ..='₱' | '﷼' | '﹩' | '＄' | '￠' | '￡' | '￥' | '￦'
    )
}

/// Combining marks, which names may have behind a letter.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{203f}' | '\u{2040}')
}
