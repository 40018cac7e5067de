//! XQuery as the methods of the xml type take it: `query`, `value`, `exist`, `nodes`, `modify`.
//!
//! ```text
//! scan.rs      characters, words, strings
//! parser/      text to a typed expression
//! statics.rs   what an expression gives, by its form
//! tree.rs      the expression
//! atomic.rs    values and their types
//! run/         the expression over a value
//! query.rs     `Query`: one text, read once and run for each row
//! ```
//!
//! A text is read when its statement is compiled; rows only run it. Paths walk the array of a
//! value's tree: no document is rebuilt, nodes are numbers, and document order is their order.
//!
//! Invariants
//!  1. What is refused is refused by the form of the text, for any document (README, section 2).
//!  2. Expressions nest at most 64 deep (error 191), trees 128 (6335): recursion is bounded.
//!  3. Every loop over items or nodes asks whether it should stop.
//!
//! Not here: XML text itself, which is the crate `xml`'s, and what a column or variable is.

#![forbid(unsafe_code)]

mod atomic;
mod parser;
mod query;
mod run;
mod scan;
mod statics;
mod tree;

pub use atomic::Atomic;
pub use parser::{Method, Resolve, Setting, SqlName};
pub use query::{Query, Stop};
