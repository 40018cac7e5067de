//! Names: which of them a place sees, what each one is, and what is asked of a table by name.
//!
//! ```text
//!   scope       what names a part of a statement may use
//!   groups      what a query groups by
//!   cte         common table expressions
//!   result      a bound query, its columns and its place
//!   reference   a table with the columns that are named
//!   expansion   a module whose text stands in the place of its name
//!   from        a part of FROM
//!   resolve     which column a name is
//!   hint        table hints
//!   table_hint  OPTION (TABLE HINT (…))
//! ```

pub(crate) mod cte;
pub(crate) mod expansion;
pub(crate) mod from;
pub(crate) mod groups;
pub(crate) mod hint;
pub(crate) mod reference;
pub(crate) mod resolve;
pub(crate) mod result;
pub(crate) mod scope;
pub(crate) mod table_hint;
