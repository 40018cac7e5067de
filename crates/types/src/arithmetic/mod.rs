//! Operators: what type a pair of operands gives, and the values.
//!
//! `operation` decides once, at binding; `apply` runs per row on operands that have been
//! converted as the operation says. `common_type` is the type of CASE, UNION and comparisons.

mod apply;
mod types;

use crate::SqlType;

pub use apply::{apply, bit_not, negate};
pub use types::{common_type, comparison_type, negated_type, operation};

/// A binary operator on values (comparisons are `compare`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `+`, also joining strings
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Modulo,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
}

impl BinaryOp {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Modulo => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
        }
    }

    /// Its name in error texts.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "subtract",
            BinaryOp::Mul => "multiply",
            BinaryOp::Div => "divide",
            BinaryOp::Modulo => "modulo",
            BinaryOp::BitAnd => "'&'",
            BinaryOp::BitOr => "'|'",
            BinaryOp::BitXor => "'^'",
        }
    }

    /// `&`, `|` or `^`.
    pub fn is_bitwise(self) -> bool {
        matches!(self, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
    }
}

/// How an operator is computed: convert the operands to `left` and `right`, then `apply`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The type the left operand is converted to first.
    pub left: SqlType,
    /// The type the right operand is converted to first.
    pub right: SqlType,
    /// The type of the result.
    pub result: SqlType,
}

#[cfg(test)]
mod tests;
