//! Rust source as far as tidy needs it: which bytes are code, which are text, which are comment.
//!
//! Invariants
//!  1. `code` has the length and the line breaks of the source; text and comments are blanks in
//!     it, so that braces, words and attributes found in it are really there.
//!  2. The quotes of a literal stay code, its content does not.
//!
//! Not here: macro expansion and syntax. Functions are found by brace matching in `survey`.

/// What a byte of the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Code,
    Text,
    Comment,
}

/// A source file, each byte classed.
pub(crate) struct LexedSource {
    /// The source with text and comments blanked.
    pub(crate) code: String,
    class: Vec<Class>,
}

impl LexedSource {
    pub(crate) fn new(source: &str) -> LexedSource {
        let bytes = source.as_bytes();
        let mut scanner = Scanner { bytes, at: 0, class: vec![Class::Code; bytes.len()] };
        while scanner.at < bytes.len() {
            scanner.step();
        }
        let code = bytes.iter().zip(&scanner.class).map(|(&byte, &class)| match (byte, class) {
            (b'\n', _) => '\n',
            (_, Class::Text | Class::Comment) => ' ',
            (byte, Class::Code) if byte.is_ascii() => char::from(byte),
            (_, Class::Code) => '_',
        });
        LexedSource { code: code.collect(), class: scanner.class }
    }

    /// The lines of `source` (the text this was made from), each with the classes of its bytes.
    pub(crate) fn lines<'a>(&'a self, source: &'a str) -> impl Iterator<Item = SourceLine<'a>> {
        let mut start = 0;
        source.split('\n').enumerate().map(move |(index, text)| {
            let class = &self.class[start..start + text.len()];
            start += text.len() + 1;
            SourceLine { number: index + 1, text, class }
        })
    }
}

/// One line with its bytes' classes.
pub(crate) struct SourceLine<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    class: &'a [Class],
}

impl SourceLine<'_> {
    /// The comment on this line, with its slashes; empty where there is none.
    pub(crate) fn comment(&self) -> String {
        let chars = self.text.char_indices();
        chars.filter(|(at, _)| self.class[*at] == Class::Comment).map(|(_, c)| c).collect()
    }

    /// Characters that are not the content of a literal.
    pub(crate) fn width_without_text(&self) -> usize {
        self.text.char_indices().filter(|(at, _)| self.class[*at] != Class::Text).count()
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    class: Vec<Class>,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Moves `count` bytes on, classing them.
    fn take(&mut self, count: usize, class: Class) {
        let end = (self.at + count).min(self.bytes.len());
        self.class[self.at..end].fill(class);
        self.at = end;
    }

    fn step(&mut self) {
        match self.peek(0) {
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'"' => self.string(),
            b'\'' => self.char_or_lifetime(),
            byte if is_word(byte) => self.word(),
            _ => self.at += 1,
        }
    }

    fn line_comment(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.take(1, Class::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    self.take(1, Class::Comment);
                    continue;
                }
            }
            self.take(2, Class::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek(0) != b'"' {
            let count = if self.peek(0) == b'\\' { 2 } else { 1 };
            self.take(count, Class::Text);
        }
        self.at += 1;
    }

    /// A word; where it is the prefix of a raw string, the string with it.
    fn word(&mut self) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        if !matches!(&self.bytes[start..self.at], b"r" | b"br" | b"cr") {
            return;
        }
        let mut hashes = 0;
        while self.peek(hashes) == b'#' {
            hashes += 1;
        }
        if self.peek(hashes) == b'"' {
            self.at += hashes + 1;
            self.raw_text(hashes);
        }
    }

    fn raw_text(&mut self, hashes: usize) {
        while self.at < self.bytes.len() {
            let closes = (1..=hashes).all(|ahead| self.peek(ahead) == b'#');
            if self.peek(0) == b'"' && closes {
                self.at += hashes + 1;
                return;
            }
            self.take(1, Class::Text);
        }
    }

    /// `'x'` and `'\n'` are literals, `'a` is a lifetime.
    fn char_or_lifetime(&mut self) {
        self.at += 1;
        if self.peek(0) == b'\\' {
            self.take(2, Class::Text);
            while self.at < self.bytes.len() && self.peek(0) != b'\'' {
                self.take(1, Class::Text);
            }
            self.at += 1;
            return;
        }
        let width = match self.peek(0) {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        };
        if self.peek(width) == b'\'' {
            self.take(width, Class::Text);
            self.at += 1;
        }
    }
}

/// A byte that can stand in an identifier.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Every identifier, keyword and number of `code` with its place.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_word(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        (start < at).then(|| (start, &code[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Braces, words and quotes in text and comments never count as code.
    #[test]
    fn only_code_remains() {
        let cases = [
            ("a // { fn\nb", "a        \nb"),
            ("a /* { /* } */ fn */ b", "a                    b"),
            (r#"f("{ \" }")"#, r#"f("      ")"#),
            (r##"f(r#"{ " }"#)"##, r##"f(r#"     "#)"##),
            (r#"b"{" c"{" br"{""#, r#"b" " c" " br" ""#),
            ("'{' b'{' '\\'' '\\u{7d}'", "' ' b' ' '  ' '      '"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("'é' '{'", "'  ' ' '"),
            ("r#type \"{\"", "r#type \" \""),
            ("\"unterminated {", "\"              "),
        ];
        for (source, code) in cases {
            assert_eq!(LexedSource::new(source).code, code, "source: {source}");
        }
    }

    /// A long literal does not make a line too wide, a long comment does.
    #[test]
    fn width_leaves_text_out() {
        let source = "x(\"éééé\"); // note";
        let lexed = LexedSource::new(source);
        let line = lexed.lines(source).next().expect("a text has a first line");
        assert_eq!(line.width_without_text(), source.chars().count() - 4);
        assert_eq!(line.comment(), "// note");
    }
}
