//! Data types: their declarations in statements, and CREATE TYPE.
//!
//! ```text
//!   type_name  a type as a column or parameter declares it
//!   user_type  CREATE TYPE and DROP TYPE
//! ```

pub(crate) mod type_name;
pub(crate) mod user_type;
