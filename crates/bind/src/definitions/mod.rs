//! Definitions that the catalog keeps as text, where a statement meets them.
//!
//! ```text
//!   module        views and inline functions
//!   computed      computed columns
//!   matched       expressions that a computed column stores
//!   known_checks  what CHECKs say of the columns named
//!   uses          what uses a function
//! ```

pub(crate) mod computed;
pub(crate) mod known_checks;
pub(crate) mod matched;
pub(crate) mod module;
pub(crate) mod uses;
