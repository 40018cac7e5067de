//! T-SQL text to a tree: lexer, recursive-descent parser, and the splitter of GO batches.
//!
//! [`parse`] takes a batch and gives a tree that owns its names; or the errors SQL Server gives,
//! with its numbers, severities, texts and lines. A batch with any error runs nothing of it.
//! Nothing here knows a catalog: names are as written, types are names, constants keep their
//! text. What parses and isn't supported is refused by whoever binds it.
//!
//! Invariants
//!  1. Any text ends in a tree or an error: no panic, no unbounded recursion, no loop that
//!     stands still.
//!  2. A span is a range of the text that the parser was given as a whole, and of no piece of it
//!     ([`ast::ParsedText`]). A module is stored as the whole batch that makes it.
//!  3. A long text is read as long as its request goes on and there is memory for its tree.

#![forbid(unsafe_code)]

pub mod ast;
pub mod batches;
mod definition;
mod keywords;
mod lexer;
mod mention;
mod normalize;
mod parse;
mod parser;
mod token;
mod variable;

pub use definition::{as_alter, as_create};
pub use mention::{Mention, MentionKind, Mentions, mentions, mentions_of_expression};
pub use normalize::normalize;
pub use parse::{
    ParseOptions, ParsedBatch, parse, parse_condition, parse_expression, parse_object_name,
    parse_parameters, parse_type,
};
pub use variable::{UsedVariable, variables};
