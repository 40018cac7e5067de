//! Recursive descent over the batch's tokens: the cursor, names, and what every part needs.
//!
//! Invariants
//!  1. Every production that can reach itself passes through `nested`, so that neither parsing
//!     nor dropping the tree recurses deeper than `EXPRESSION_DEPTH_MAX` (error 191).
//!     A level takes less than 4 KB of stack: what holds much on it isn't inlined, and 1 MB
//!     is enough for a thread that parses.
//!  2. `at` never passes the `End` token: looking ahead is always possible.
//!  3. Each loop takes a token per turn, or ends.

mod admin;
mod alter_table;
mod condition;
mod control;
mod cursor;
mod database;
mod drop;
mod errors;
mod execute;
mod expr;
mod function;
mod hint;
mod index;
mod insert;
mod merge;
mod module;
mod name;
mod odbc;
mod query;
mod schema;
mod select;
mod set;
mod setting;
mod source;
mod statement;
mod table;
mod type_name;
mod update;

use base::limits::EXPRESSION_DEPTH_MAX;
use base::{SqlError, SqlResult, messages};

use crate::ast::{Name, ObjectName, Span};
use crate::keywords::Keyword;
use crate::lexer::Lexer;
use crate::mention::{Mention, MentionKind, Mentions};
use crate::token::{Token, TokenKind};
use os::room::Room as _;

/// The result of every production: the first error ends the batch.
pub(crate) type Parse<T> = SqlResult<T>;

/// A place in a batch's tokens.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    quoted_identifier: bool,
    /// Whiles around this place (errors 135, 136).
    loops: u32,
    labels: Vec<Name>,
    gotos: Vec<Name>,
    /// What the text speaks of, where somebody asks.
    pub(crate) mentions: Option<Box<Mentions>>,
    /// Tokens that are taken before it looks whether the request goes on.
    until_look: u32,
    /// Why the text is read no further.
    pub(crate) stopped: Option<SqlError>,
}

/// Tokens between two looks at whether the request goes on.
const LOOK_TOKENS: u32 = 4096;

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str, quoted_identifier: bool) -> Self {
        let mut parser = Parser {
            text,
            tokens: Vec::with_capacity((text.len() / 4).min(1 << 14) + 8),
            at: 0,
            depth: 0,
            quoted_identifier,
            loops: 0,
            labels: Vec::new(),
            gotos: Vec::new(),
            mentions: None,
            until_look: LOOK_TOKENS,
            stopped: None,
        };
        parser.lex();
        parser
    }

    pub(super) fn mention(&mut self, kind: MentionKind, name: &ObjectName) {
        if let Some(mentions) = &mut self.mentions {
            mentions.objects.push(Mention { kind, name: name.clone() });
        }
    }

    pub(super) fn mention_column(&mut self, name: &Name) {
        if let Some(mentions) = &mut self.mentions {
            mentions.columns.push(name.clone());
        }
    }

    /// A name that the text gives itself.
    pub(super) fn mention_own(&mut self, name: &Name) {
        if let Some(mentions) = &mut self.mentions {
            mentions.own.push(name.clone());
        }
    }

    pub(super) fn mention_star(&mut self, line: u32) {
        if let Some(mentions) = &mut self.mentions {
            mentions.stars.push(line);
        }
    }

    /// Cuts the text into tokens.
    fn lex(&mut self) {
        let mut lexer = Lexer::new(self.text, 0, 1, self.quoted_identifier);
        let mut until_look = LOOK_TOKENS;
        loop {
            let mut token = lexer.next();
            until_look -= 1;
            if until_look == 0 {
                until_look = LOOK_TOKENS;
                self.stopped = self.stopped.take().or_else(|| self.room_for_tokens().err());
            }
            if self.stopped.is_some() {
                token.kind = TokenKind::End;
                token.keyword = Keyword::None;
            }
            if self.text.as_bytes().get(token.start as usize) == Some(&b'"')
                && matches!(token.kind, TokenKind::Quoted | TokenKind::String)
            {
                token.kind = TokenKind::Double;
            }
            self.tokens.push(token);
            match token.kind {
                TokenKind::End => break,
                TokenKind::UnclosedQuote | TokenKind::UnclosedComment => {
                    self.tokens.push(lexer.next());
                    break;
                }
                _ => {}
            }
        }
    }

    /// Room for as many tokens as are read before the next look.
    fn room_for_tokens(&mut self) -> SqlResult<()> {
        os::values::look()?;
        self.tokens.make_room(LOOK_TOKENS as usize + 1)
    }

    /// Where the request does not go on, neither does the text.
    #[cold]
    fn look(&mut self) {
        self.until_look = LOOK_TOKENS;
        if let Err(why) = os::values::look() {
            self.stopped = Some(why);
            self.at = self.tokens.len() - 1;
        }
    }

    /// SET QUOTED_IDENTIFIER changes how the rest of the batch is read: what `"…"` is, and not
    /// where it ends.
    pub(super) fn set_quoted_identifier(&mut self, on: bool) {
        self.quoted_identifier = on;
    }

    /// A token as it is read now.
    #[inline]
    fn read(&self, token: Token) -> Token {
        match (token.kind, self.quoted_identifier) {
            (TokenKind::Double, true) => Token { kind: TokenKind::Quoted, ..token },
            (TokenKind::Double, false) => Token { kind: TokenKind::String, ..token },
            _ => token,
        }
    }

    pub(super) fn peek(&self) -> Token {
        self.read(self.tokens[self.at])
    }

    /// `ahead` tokens further; the last one when there are fewer.
    pub(super) fn peek_at(&self, ahead: usize) -> Token {
        self.read(self.tokens[(self.at + ahead).min(self.tokens.len() - 1)])
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    pub(super) fn keyword(&self) -> Keyword {
        self.peek().keyword
    }

    pub(super) fn previous(&self) -> Token {
        self.read(self.tokens[self.at.saturating_sub(1)])
    }

    pub(super) fn token_text(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
            self.until_look -= 1;
            if self.until_look == 0 {
                self.look();
            }
        }
        token
    }

    /// The text of the token here, which is taken.
    pub(super) fn take_text(&mut self) -> &'t str {
        let token = self.advance();
        self.token_text(token)
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let here = self.kind() == kind;
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect(&mut self, kind: TokenKind) -> Parse<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let here = self.keyword() == keyword;
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect_keyword(&mut self, keyword: Keyword) -> Parse<Token> {
        if self.keyword() == keyword { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    /// Whether the token `ahead` is this word (upper case), reserved or not.
    pub(super) fn is_word(&self, ahead: usize, word: &str) -> bool {
        debug_assert!(word.bytes().all(|b| !b.is_ascii_lowercase()), "{word} is upper case");
        let token = self.peek_at(ahead);
        token.kind == TokenKind::Word && self.token_text(token).eq_ignore_ascii_case(word)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.is_word(0, word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// All these words one after another, or none of them.
    pub(super) fn eat_words(&mut self, words: &[&str]) -> bool {
        let here = words.iter().enumerate().all(|(i, word)| self.is_word(i, word));
        if here {
            self.at += words.len();
        }
        here
    }

    /// The span from a token to the last one taken.
    pub(super) fn span_from(&self, first: Token) -> Span {
        let end = self.previous().end.max(first.start);
        Span { start: first.start, end, line: first.line }
    }

    /// Invariant 1: one level deeper, or error 191.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= EXPRESSION_DEPTH_MAX {
            return Err(self.error(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// `item, item, …`
    pub(super) fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item, item, …)`
    pub(super) fn paren_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        self.expect(TokenKind::LeftParen)?;
        let items = self.comma_list(item)?;
        self.expect(TokenKind::RightParen)?;
        Ok(items)
    }

    /// `(item, …)` if a parenthesis is here, else nothing.
    pub(super) fn optional_paren_list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        if self.kind() == TokenKind::LeftParen { self.paren_list(item) } else { Ok(Vec::new()) }
    }

    /// `(inner)`
    pub(super) fn parenthesized<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        self.expect(TokenKind::LeftParen)?;
        let value = inner(self)?;
        self.expect(TokenKind::RightParen)?;
        Ok(value)
    }
}
