//! A token: what kind, which reserved word, where. Its text is a slice of the batch.

use crate::ast::Span;
use crate::keywords::Keyword;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A reserved word or a name without delimiters.
    Word,
    /// `[…]`, or `"…"` while quoted identifiers are on.
    Quoted,
    /// `@name`
    Variable,
    /// `@@name`
    Global,
    /// `$name`
    Pseudo,
    /// `'…'`, or `"…"` while quoted identifiers are off.
    String,
    /// `"…"` as a parser keeps it: which of the two it is a SET before it says.
    Double,
    /// `N'…'`
    National,
    Integer,
    Decimal,
    Float,
    Money,
    Binary,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Dot,
    Colon,
    DoubleColon,
    Equal,
    /// `<>`, `!=`
    NotEqual,
    Less,
    ShiftLeft,
    ShiftRight,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Tilde,
    PlusEqual,
    MinusEqual,
    StarEqual,
    SlashEqual,
    PercentEqual,
    AmpersandEqual,
    PipeEqual,
    CaretEqual,
    /// `!` apart from what it negates: `! =`.
    Exclamation,
    /// A character that begins nothing.
    Stray,
    /// A string or delimited name without its end; reaches to the end of the text.
    UnclosedQuote,
    /// A comment without its end; reaches to the end of the text.
    UnclosedComment,
    End,
}

/// See [`TokenKind`]. Sixteen bytes, so that a batch's tokens stay in the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) keyword: Keyword,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) line: u32,
}

const _: () = assert!(size_of::<Token>() == 16);

impl Token {
    pub(crate) fn span(&self) -> Span {
        Span { start: self.start, end: self.end, line: self.line }
    }
}
