//! The tree: what a batch says, owned, with the place of everything an error may point at.
//!
//! Chains of operators, AND/OR, set operators and joins are flat lists, so the height of the
//! tree is the nesting of the text, which the parser bounds (error 191). Whoever folds a chain
//! into a left-deep tree of its own bounds that tree itself.

mod admin;
mod control;
mod database;
mod dml;
mod execute;
mod expr;
mod index;
mod module;
mod name;
mod query;
mod setting;
mod statement;
mod table;

pub use admin::*;
pub use control::*;
pub use database::*;
pub use dml::*;
pub use execute::*;
pub use expr::*;
pub use index::*;
pub use module::*;
pub use name::*;
pub use query::*;
pub use setting::*;
pub use statement::*;
pub use table::*;
