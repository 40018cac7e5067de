//! Operators: what type a pair of operands gives, and the values.

use crate::{SqlType, Value};
use base::{SqlError, SqlResult, messages};

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

/// What an operator does with operands of two types.
///
/// # Errors
/// 402, 8117 or 206 when the operator has no meaning for them.
pub fn operation(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    let _ = op;
    if left == right {
        return Ok(Operation { left, right, result: left });
    }
    Err(SqlError::new(messages::OPERAND_CLASH, &[&left.error_name(), &right.error_name()]))
}

/// Computes an operator on operands converted as its `Operation` says; NULL gives NULL.
///
/// # Errors
/// 8134 on division by zero, 8115 on overflow.
pub fn apply(op: BinaryOp, left: &Value, right: &Value, result: SqlType) -> SqlResult<Value> {
    let _ = (op, left, right, result);
    Err(SqlError::new(messages::INTERNAL, &[&"arithmetic"]))
}

/// Unary minus.
///
/// # Errors
/// 8117 for a type without it, 8115 on overflow.
pub fn negate(value: &Value, sql_type: SqlType) -> SqlResult<Value> {
    let _ = value;
    Err(SqlError::new(messages::OPERAND_TYPE_INVALID, &[&sql_type.error_name(), &"minus"]))
}

/// The type both sides of a comparison are converted to.
///
/// # Errors
/// 402 or 206 when they cannot be compared.
pub fn comparison_type(left: SqlType, right: SqlType) -> SqlResult<SqlType> {
    common_type(left, right)
}

/// The type of CASE, COALESCE, UNION and the like over two types.
///
/// # Errors
/// 206 when neither converts to the other implicitly.
pub fn common_type(left: SqlType, right: SqlType) -> SqlResult<SqlType> {
    Ok(if left.precedence() >= right.precedence() { left } else { right })
}
