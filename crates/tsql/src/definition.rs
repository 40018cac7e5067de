//! The text of a module as it is kept, CREATE whatever verb it was written with, and back.
//!
//! The text is the whole batch: what stands before the verb stays. SQL Server keeps `ALTER` as
//! `CREATE`, and of `CREATE OR ALTER` the first word with the blanks and comments that were between
//! the three.

use crate::keywords::Keyword;
use crate::lexer::Lexer;
use crate::parse::ParseOptions;
use crate::token::{Token, TokenKind};

/// A batch that makes a module, as it is kept.
pub fn as_create(text: &str, options: ParseOptions) -> String {
    let [first, or, alter] = first_words(text, options);
    match (first.keyword, or.keyword, alter.keyword) {
        (Keyword::Alter, ..) => with(text, &[(first, "CREATE")]),
        (Keyword::Create, Keyword::Or, Keyword::Alter) => with(text, &[(or, ""), (alter, "")]),
        _ => text.to_owned(),
    }
}

/// A kept text as the batch that makes its module anew.
pub fn as_alter(text: &str, options: ParseOptions) -> String {
    let [first, ..] = first_words(text, options);
    match first.keyword {
        Keyword::Create => with(text, &[(first, "ALTER")]),
        _ => text.to_owned(),
    }
}

/// The first three tokens that are no semicolons.
fn first_words(text: &str, options: ParseOptions) -> [Token; 3] {
    let mut lexer = Lexer::new(text, 0, 1, options.quoted_identifier);
    let mut next = || {
        loop {
            let token = lexer.next();
            if token.kind != TokenKind::Semicolon {
                return token;
            }
        }
    };
    [next(), next(), next()]
}

/// A text with other words in the place of some tokens, which are in its order.
fn with(text: &str, changes: &[(Token, &str)]) -> String {
    let mut changed = String::with_capacity(text.len() + 1);
    let mut at = 0;
    for (token, word) in changes {
        changed.push_str(text.get(at..token.start as usize).unwrap_or_default());
        changed.push_str(word);
        at = token.end as usize;
    }
    changed.push_str(text.get(at..).unwrap_or_default());
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module is kept with all that stands around its verb.
    #[test]
    fn a_batch_is_kept_as_a_create_statement() {
        let or_alter = "create or\r\n  ALTER proc p as select 'or alter'";
        for (text, kept) in [
            ("create proc p as", "create proc p as"),
            ("-- é alter\n;alter\nproc p as alter", "-- é alter\n;CREATE\nproc p as alter"),
            (or_alter, "create \r\n   proc p as select 'or alter'"),
            ("/* a */ create /*b*/ or alter view v", "/* a */ create /*b*/   view v"),
            ("", ""),
        ] {
            assert_eq!(as_create(text, ParseOptions::default()), kept);
        }
    }

    /// What is kept is made anew by a text of the same lines.
    #[test]
    fn a_kept_text_is_made_anew() {
        let made = as_alter("/* create */\n create proc p as create", ParseOptions::default());
        assert_eq!(made, "/* create */\n ALTER proc p as create");
    }
}
