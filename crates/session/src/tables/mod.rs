//! Temporary tables, table variables, table-valued parameters.

pub(crate) mod parameter;
pub(crate) mod pool;
pub(crate) mod private;
pub(crate) mod temp;
pub(crate) mod variable;
