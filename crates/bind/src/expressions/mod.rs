//! Expressions and conditions: types, conversions, collations.
//!
//! ```text
//!   expression  operators, CASE, subqueries, variables
//!   literal     constants of the text
//!   constant    folding
//!   condition   what is true, false or unknown
//!   convert     conversions, and types as written
//!   comparable  types whose values do not compare
//!   collation   how text compares
//!   function    functions
//!   aggregate   aggregates, and what may stand beside them
//!   window      functions with OVER
//!   xml_method  methods of xml
//!   draws       what a statement draws from sequences
//!   next_value  NEXT VALUE FOR
//!   deduction   types that are not known yet
//!   undeclared  parameters that nobody declared
//! ```

pub(crate) mod aggregate;
pub(crate) mod collation;
pub(crate) mod comparable;
pub(crate) mod condition;
pub(crate) mod constant;
pub(crate) mod convert;
pub(crate) mod deduction;
pub(crate) mod draws;
pub(crate) mod expression;
pub(crate) mod function;
pub(crate) mod literal;
pub(crate) mod next_value;
pub(crate) mod undeclared;
pub(crate) mod window;
pub(crate) mod xml_method;
