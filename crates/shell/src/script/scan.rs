//! What the text of a batch lies within at its end: a quote, a comment, or nothing.
//!
//! The same rules as the language's own splitter of batches (`tsql::batches`): comments nest,
//! brackets quote, a doubled closing quote is one within.

/// What text lies within.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Within {
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

impl Within {
    /// After the byte at `at`; the second part is where to go on.
    pub(crate) fn step(self, bytes: &[u8], at: usize) -> (Within, usize) {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match (self, byte, next) {
            (Within::LineComment, b'\n', _) => (Within::Nothing, at + 1),
            (Within::Nothing, b'-', b'-') => (Within::LineComment, at + 2),
            (Within::Nothing, b'/', b'*') => (Within::Comment(1), at + 2),
            (Within::Nothing, b'\'' | b'"', _) => (Within::Quote(byte), at + 1),
            (Within::Nothing, b'[', _) => (Within::Quote(b']'), at + 1),
            (Within::Comment(depth), b'/', b'*') => {
                (Within::Comment(depth.saturating_add(1)), at + 2)
            }
            (Within::Comment(1), b'*', b'/') => (Within::Nothing, at + 2),
            (Within::Comment(depth), b'*', b'/') => (Within::Comment(depth - 1), at + 2),
            (Within::Quote(close), a, b) if a == close && b == close => (self, at + 2),
            (Within::Quote(close), b, _) if b == close => (Within::Nothing, at + 1),
            (same, _, _) => (same, at + 1),
        }
    }

    /// After a whole line, which has no line break.
    pub(crate) fn after_line(self, line: &str) -> Within {
        let bytes = line.as_bytes();
        let (mut within, mut at) = (self, 0);
        while at < bytes.len() {
            (within, at) = within.step(bytes, at);
        }
        if within == Within::LineComment { Within::Nothing } else { within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_within_what_it_opened() {
        let cases = [
            ("select 1", Within::Nothing),
            ("select 'it''s", Within::Quote(b'\'')),
            ("select 'it''s'", Within::Nothing),
            ("select [a]]'b", Within::Quote(b']')),
            ("select [a]]'b]", Within::Nothing),
            ("select \"x", Within::Quote(b'"')),
            ("-- it's", Within::Nothing),
            ("/* a /* b */", Within::Comment(1)),
            ("/* a /* b */ */ 'x", Within::Quote(b'\'')),
            ("/*/", Within::Comment(1)),
        ];
        for (line, within) in cases {
            assert_eq!(Within::Nothing.after_line(line), within, "{line}");
        }
        assert_eq!(Within::Quote(b'\'').after_line("-- x' -- y"), Within::Nothing);
    }
}
