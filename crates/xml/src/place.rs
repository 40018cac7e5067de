//! Where a document is wrong: errors 9400 to 9459 say the line and the character.

use base::{Message, SqlError};

/// A fault at a byte of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) message: Message,
    pub(crate) at: usize,
}

impl Fault {
    /// The error: the character at the place, or the last one where the text ends.
    pub(crate) fn into_error(self, text: &str) -> SqlError {
        let mut before = text.get(..self.at).unwrap_or(text);
        if self.at >= text.len() {
            before = text.char_indices().next_back().map_or("", |(last, _)| &text[..last]);
        }
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let character = before[start..].chars().count() + 1;
        SqlError::new(self.message, &[&line, &character])
    }
}

/// What a step of parsing gives.
pub(crate) type ParseResult<T> = Result<T, Fault>;

/// A fault.
pub(crate) fn fault<T>(message: Message, at: usize) -> ParseResult<T> {
    Err(Fault { message, at })
}
