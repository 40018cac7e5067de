//! What the text of a batch lies within at its end: a quote, a comment, or nothing.
//!
//! The same rules as the language's own splitter of batches (`tsql::batches`): comments nest,
//! brackets quote, a doubled closing quote is one within.

/// What text lies within.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LexicalContext {
    /// Plain text.
    #[default]
    Nothing,
    /// A string or a delimited name that ends with this byte.
    Quote(u8),
    /// Block comments, this deep.
    Comment(u32),
    /// A comment to the end of the line; never at a line's end.
    LineComment,
}

impl LexicalContext {
    /// After the byte at `at`; the second part is where to go on.
    pub(crate) fn step(self, bytes: &[u8], at: usize) -> (LexicalContext, usize) {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match (self, byte, next) {
            (LexicalContext::LineComment, b'\n', _) => (LexicalContext::Nothing, at + 1),
            (LexicalContext::Nothing, b'-', b'-') => (LexicalContext::LineComment, at + 2),
            (LexicalContext::Nothing, b'/', b'*') => (LexicalContext::Comment(1), at + 2),
            (LexicalContext::Nothing, b'\'' | b'"', _) => (LexicalContext::Quote(byte), at + 1),
            (LexicalContext::Nothing, b'[', _) => (LexicalContext::Quote(b']'), at + 1),
            (LexicalContext::Comment(depth), b'/', b'*') => {
                (LexicalContext::Comment(depth.saturating_add(1)), at + 2)
            }
            (LexicalContext::Comment(1), b'*', b'/') => (LexicalContext::Nothing, at + 2),
            (LexicalContext::Comment(depth), b'*', b'/') => {
                (LexicalContext::Comment(depth - 1), at + 2)
            }
            (LexicalContext::Quote(close), a, b) if a == close && b == close => (self, at + 2),
            (LexicalContext::Quote(close), b, _) if b == close => (LexicalContext::Nothing, at + 1),
            (same, _, _) => (same, at + 1),
        }
    }

    /// After a whole line, which has no line break.
    pub(crate) fn after_line(self, line: &str) -> LexicalContext {
        let bytes = line.as_bytes();
        let (mut within, mut at) = (self, 0);
        while at < bytes.len() {
            (within, at) = within.step(bytes, at);
        }
        if within == LexicalContext::LineComment { LexicalContext::Nothing } else { within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_within_what_it_opened() {
        let cases = [
            ("select 1", LexicalContext::Nothing),
            ("select 'it''s", LexicalContext::Quote(b'\'')),
            ("select 'it''s'", LexicalContext::Nothing),
            ("select [a]]'b", LexicalContext::Quote(b']')),
            ("select [a]]'b]", LexicalContext::Nothing),
            ("select \"x", LexicalContext::Quote(b'"')),
            ("-- it's", LexicalContext::Nothing),
            ("/* a /* b */", LexicalContext::Comment(1)),
            ("/* a /* b */ */ 'x", LexicalContext::Quote(b'\'')),
            ("/*/", LexicalContext::Comment(1)),
        ];
        for (line, within) in cases {
            assert_eq!(LexicalContext::Nothing.after_line(line), within, "{line}");
        }
        assert_eq!(LexicalContext::Quote(b'\'').after_line("-- x' -- y"), LexicalContext::Nothing);
    }
}
