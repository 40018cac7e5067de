//! What the parser answers: number, text and line as SQL Server has them.

use std::fmt::Display;

use base::{Message, SqlError, messages};

use super::Parser;
use crate::ast::{ParsedText, Span};
use crate::keywords::Keyword;
use crate::token::{Token, TokenKind};

/// Characters of the batch that an error message repeats at most.
const EXCERPT_CHARS: usize = 128;

impl Parser<'_> {
    /// An error at the line of the token here.
    pub(super) fn error(&self, message: Message, args: &[&dyn Display]) -> SqlError {
        SqlError::new(message, args).at_line(self.offending().line)
    }

    /// An error at the line of a place already passed.
    pub(super) fn error_at(&self, line: u32, m: Message, args: &[&dyn Display]) -> SqlError {
        SqlError::new(m, args).at_line(line)
    }

    /// The token here, or the last one when the text ends.
    fn offending(&self) -> Token {
        match self.kind() {
            TokenKind::End => self.previous(),
            _ => self.peek(),
        }
    }

    /// The token as messages spell it: without the delimiters of a string or name.
    fn spelling(&self, token: Token) -> String {
        let text = self.token_text(token);
        let inner = match token.kind {
            TokenKind::String | TokenKind::Quoted | TokenKind::Double => {
                text.get(1..text.len() - 1)
            }
            TokenKind::National => text.get(2..text.len() - 1),
            TokenKind::UnclosedQuote => Some(unclosed_content(text)),
            _ => Some(text),
        };
        inner.unwrap_or(text).chars().take(EXCERPT_CHARS).collect()
    }

    /// What errors point at, as they spell it.
    pub(super) fn near(&self) -> String {
        self.spelling(self.offending())
    }

    /// The token here doesn't belong here: 102, 156, 319, or the lexer's 105 and 113.
    pub(super) fn unexpected(&self) -> SqlError {
        let token = self.offending();
        let near = self.spelling(token);
        let message = match token.kind {
            TokenKind::UnclosedQuote => messages::UNCLOSED_QUOTE,
            TokenKind::UnclosedComment => messages::MISSING_END_COMMENT,
            _ if self.kind() == TokenKind::End => messages::SYNTAX_NEAR,
            _ if token.keyword == Keyword::With => messages::SYNTAX_NEAR_WITH,
            _ if token.keyword != Keyword::None => messages::SYNTAX_NEAR_KEYWORD,
            _ => messages::SYNTAX_NEAR,
        };
        SqlError::new(message, &[&near]).at_line(token.line)
    }

    /// A feature that is known by its name alone.
    pub(super) fn unsupported(&self, feature: &str) -> SqlError {
        self.error(messages::FEATURE_NOT_SUPPORTED, &[&feature])
    }

    /// What the lexer could not end, if anything: its error, and 102 for a quote.
    pub(crate) fn unclosed(&self) -> Vec<SqlError> {
        let Some(&token) = self.tokens.iter().rev().nth(1) else { return Vec::new() };
        let near = self.spelling(token);
        let errors = match token.kind {
            TokenKind::UnclosedComment => vec![SqlError::new(messages::MISSING_END_COMMENT, &[])],
            TokenKind::UnclosedQuote => vec![
                SqlError::new(messages::UNCLOSED_QUOTE, &[&near]),
                SqlError::new(messages::SYNTAX_NEAR, &[&near]),
            ],
            _ => Vec::new(),
        };
        errors.into_iter().map(|e| e.at_line(token.line)).collect()
    }

    /// The span's text, cut to what a message repeats.
    pub(super) fn excerpt(&self, span: Span) -> String {
        span.of(ParsedText::whole(self.text)).chars().take(EXCERPT_CHARS).collect()
    }
}

/// What follows the opening mark of a quote that doesn't end.
fn unclosed_content(text: &str) -> &str {
    text.strip_prefix(['N', 'n']).unwrap_or(text).get(1..).unwrap_or("")
}
