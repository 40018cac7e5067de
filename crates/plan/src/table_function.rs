//! A function of FROM that makes rows of its arguments.

use crate::{Scalar, Slot};
use builtins::TableFunction;

/// A call, the same in both trees.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionRows {
    /// Which.
    pub function: TableFunction,
    /// Converted to the types it takes; of an APPLY they may read slots of the left side.
    pub arguments: Vec<Scalar>,
    /// Where its columns go, the first ones of those it has.
    pub columns: Vec<Slot>,
}
