//! Result types: precedence, the arithmetic of precision and scale, lengths of joined strings.

use super::{BinaryOp, Operation};
use crate::convert::check_implicit;
use crate::{Family, Length, SqlType};
use base::{SqlError, SqlResult, messages};

/// What an operator does with operands of two types.
///
/// # Errors
/// 402, 8117 or 206 when the operator has no meaning for them; 257 when it needs a CAST.
pub fn operation(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    if op.is_bitwise() {
        return bitwise(op, left, right);
    }
    if left.is_text_image() || right.is_text_image() {
        return Err(incompatible(op, left, right));
    }
    if left == SqlType::Xml || right == SqlType::Xml {
        return Err(if left == right { invalid(op, left) } else { incompatible(op, left, right) });
    }
    let strings = |t: SqlType| t.is_character() || t.family() == Family::Binary;
    if strings(left) && strings(right) {
        return joined(op, left, right);
    }
    if left == SqlType::Variant || right == SqlType::Variant {
        return Err(if left == right { invalid(op, left) } else { incompatible(op, left, right) });
    }
    if left.is_temporal() || right.is_temporal() {
        return temporal(op, left, right);
    }
    for side in [left, right] {
        if matches!(side.family(), Family::Guid) {
            return Err(invalid(op, side));
        }
    }
    if left == SqlType::Bit && right == SqlType::Bit {
        return Err(incompatible(op, left, right));
    }
    numeric(op, left, right)
}

fn incompatible(op: BinaryOp, left: SqlType, right: SqlType) -> SqlError {
    let (left, right) = (left.error_name(), right.error_name());
    SqlError::new(messages::TYPES_INCOMPATIBLE, &[&left, &right, &op.name()])
}

fn invalid(op: BinaryOp, side: SqlType) -> SqlError {
    SqlError::new(messages::OPERAND_TYPE_INVALID, &[&side.error_name(), &op.name()])
}

fn bitwise(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    let whole = |t: SqlType| t.family() == Family::Integer;
    let pliable = |t: SqlType| whole(t) || t.is_character() || t.family() == Family::Binary;
    if !(pliable(left) && pliable(right)) || !(whole(left) || whole(right)) {
        return Err(incompatible(op, left, right));
    }
    let result = match (whole(left), whole(right)) {
        (true, false) => left,
        (false, true) => right,
        _ if left.precedence() >= right.precedence() => left,
        _ => right,
    };
    Ok(Operation { left: result, right: result, result })
}

/// Two strings: `+` joins them, nothing else applies.
fn joined(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    if op != BinaryOp::Add {
        return Err(invalid(op, left));
    }
    let binary = |t: SqlType| t.family() == Family::Binary;
    if binary(left) != binary(right) {
        return Err(incompatible(op, left, right));
    }
    let wide = [left, right].iter().any(|t| t.family() == Family::NChar);
    let limit = if wide { 4000 } else { 8000 };
    let (a, b) = (length(left), length(right));
    let sum = a.sum(b, limit);
    let result = match (left, right, sum) {
        (SqlType::Binary(_), SqlType::Binary(_), Length::N(n)) => SqlType::Binary(n),
        _ if binary(left) => SqlType::VarBinary(sum),
        (SqlType::Char(_), SqlType::Char(_), Length::N(n)) => SqlType::Char(n),
        (SqlType::NChar(_), SqlType::NChar(_), Length::N(n)) => SqlType::NChar(n),
        _ if wide => SqlType::NVarChar(sum),
        _ => SqlType::VarChar(sum),
    };
    let operand = |t: SqlType, l: Length| match t.family() {
        // As an nvarchar it has room for half as many characters, beside one of max for all.
        Family::Char if wide && sum == Length::Max => SqlType::NVARCHAR_MAX,
        Family::Char if wide => SqlType::NVarChar(l.sum(Length::N(0), limit)),
        _ => t,
    };
    Ok(Operation { left: operand(left, a), right: operand(right, b), result })
}

/// The length of a string type; 0 for others.
fn length(t: SqlType) -> Length {
    match t {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => Length::N(n),
        SqlType::VarChar(l) | SqlType::NVarChar(l) | SqlType::VarBinary(l) => l,
        _ => Length::N(0),
    }
}

/// `datetime` and `smalldatetime` add and subtract as numbers of days; the newer types do not.
fn temporal(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    let old = |t| matches!(t, SqlType::DateTime | SqlType::SmallDateTime);
    if left.is_temporal() && right.is_temporal() && !(old(left) && old(right)) {
        return Err(incompatible(op, left, right));
    }
    for side in [left, right] {
        let other = if side == left { right } else { left };
        if side.is_temporal() && !old(side) {
            if other.is_number() {
                let (a, b) = (side.error_name(), other.error_name());
                return Err(SqlError::new(messages::OPERAND_CLASH, &[&a, &b]));
            }
            return Err(incompatible(op, left, right));
        }
    }
    if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
        return Err(invalid(op, if left.is_temporal() { left } else { right }));
    }
    let result = if left.precedence() >= right.precedence() { left } else { right };
    check_implicit(left, result)?;
    check_implicit(right, result)?;
    Ok(Operation { left: result, right: result, result })
}

fn numeric(op: BinaryOp, left: SqlType, right: SqlType) -> SqlResult<Operation> {
    let result = if left.precedence() >= right.precedence() { left } else { right };
    check_implicit(left, result)?;
    check_implicit(right, result)?;
    if op == BinaryOp::Modulo && result.family() == Family::Float {
        return Err(incompatible(op, left, right));
    }
    if result == SqlType::Bit {
        return Err(incompatible(op, left, right));
    }
    if let SqlType::Decimal { .. } = result {
        // Text takes the other side's digits.
        let (p1, s1) = digits(left).or(digits(right)).unwrap_or((38, 0));
        let (p2, s2) = digits(right).or(digits(left)).unwrap_or((38, 0));
        return Ok(Operation {
            left: SqlType::Decimal { precision: p1, scale: s1 },
            right: SqlType::Decimal { precision: p2, scale: s2 },
            result: decimal_result(op, (p1, s1), (p2, s2)),
        });
    }
    Ok(Operation { left: result, right: result, result })
}

/// Precision and scale of a number as a decimal.
fn digits(t: SqlType) -> Option<(u8, u8)> {
    match t {
        SqlType::Decimal { precision, scale } => Some((precision, scale)),
        _ if matches!(t.family(), Family::Integer | Family::Money) => {
            Some((t.precision(), t.scale()))
        }
        _ => None,
    }
}

/// The documented table: `+ -`, `*`, `/` and `%` over precisions and scales, capped at 38.
fn decimal_result(op: BinaryOp, (p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> SqlType {
    let (p1, s1, p2, s2) = (p1 as i32, s1 as i32, p2 as i32, s2 as i32);
    let whole = (p1 - s1).max(p2 - s2);
    let (precision, scale) = match op {
        BinaryOp::Mul => (p1 + p2 + 1, s1 + s2),
        BinaryOp::Div => {
            let scale = (s1 + p2 + 1).max(6);
            (p1 - s1 + s2 + scale, scale)
        }
        BinaryOp::Modulo => ((p1 - s1).min(p2 - s2) + s1.max(s2), s1.max(s2)),
        _ => (s1.max(s2) + whole + 1, s1.max(s2)),
    };
    let (precision, scale) = if precision <= 38 {
        (precision, scale)
    } else if matches!(op, BinaryOp::Mul | BinaryOp::Div) {
        // The whole part is kept as long as six digits remain after the point.
        (38, (38 - (precision - scale)).max(scale.min(6)))
    } else {
        (38, scale.min(38 - whole))
    };
    SqlType::Decimal { precision: precision.max(1) as u8, scale: scale.max(0) as u8 }
}

/// The type of unary minus.
///
/// # Errors
/// 8117 for a type without it.
pub fn negated_type(t: SqlType) -> SqlResult<SqlType> {
    match t {
        SqlType::TinyInt => Ok(SqlType::SmallInt),
        _ if t.is_number() && t != SqlType::Bit => Ok(t),
        _ => Err(SqlError::new(messages::OPERAND_TYPE_INVALID, &[&t.error_name(), &"minus"])),
    }
}

/// The type both sides of a comparison are converted to.
///
/// # Errors
/// 402 or 206 when they cannot be compared, 305 for xml.
pub fn comparison_type(left: SqlType, right: SqlType) -> SqlResult<SqlType> {
    if left.is_text_image() || right.is_text_image() {
        check_implicit(left, right).or_else(|_| check_implicit(right, left))?;
        let (left, right) = (left.error_name(), right.error_name());
        return Err(SqlError::new(messages::TYPES_INCOMPATIBLE, &[&left, &right, &"equal to"]));
    }
    if left == SqlType::Xml && right == SqlType::Xml {
        return Err(SqlError::new(messages::XML_NOT_COMPARABLE, &[&"xml"]));
    }
    if left == SqlType::Xml || right == SqlType::Xml {
        let (left, right) = (left.error_name(), right.error_name());
        return Err(SqlError::new(messages::TYPES_INCOMPATIBLE, &[&left, &right, &"equal to"]));
    }
    if left.is_temporal() && right.is_temporal() && check_implicit(left, right).is_err() {
        let (left, right) = (left.error_name(), right.error_name());
        return Err(SqlError::new(messages::TYPES_INCOMPATIBLE, &[&left, &right, &"equal to"]));
    }
    common_type(left, right)
}

/// The type of CASE, COALESCE, UNION and the like over two types.
///
/// # Errors
/// 206 when neither converts to the other, 257 when that needs a CAST.
pub fn common_type(left: SqlType, right: SqlType) -> SqlResult<SqlType> {
    if left == right {
        return Ok(left);
    }
    let (low, high) =
        if left.precedence() >= right.precedence() { (right, left) } else { (left, right) };
    check_implicit(low, high)?;
    let longest = length(low).max(length(high));
    Ok(match high {
        SqlType::Decimal { .. } => {
            let (p1, s1) = digits(high).unwrap_or((38, 0));
            let (p2, s2) = digits(low).unwrap_or((p1, s1));
            let whole = (p1 - s1).max(p2 - s2);
            let scale = s1.max(s2).min(38 - whole);
            SqlType::Decimal { precision: whole + scale, scale }
        }
        SqlType::Time(s) => SqlType::Time(s.max(seconds_scale(low))),
        SqlType::DateTime2(s) => SqlType::DateTime2(s.max(seconds_scale(low))),
        SqlType::DateTimeOffset(s) => SqlType::DateTimeOffset(s.max(seconds_scale(low))),
        // A string of another kind may only bring its length.
        SqlType::VarChar(_) if low.family() == Family::Char => SqlType::VarChar(longest),
        SqlType::Char(_) if low.family() == Family::Char => fixed(longest, SqlType::Char),
        SqlType::NVarChar(_) if low.is_character() => SqlType::NVarChar(capped(longest)),
        SqlType::NChar(_) => match low {
            SqlType::NChar(_) | SqlType::Char(_) => fixed(capped(longest), SqlType::NChar),
            SqlType::VarChar(_) => SqlType::NVarChar(capped(longest)),
            _ => high,
        },
        SqlType::VarBinary(_) => SqlType::VarBinary(longest),
        SqlType::Binary(_) => fixed(longest, SqlType::Binary),
        other => other,
    })
}

fn seconds_scale(t: SqlType) -> u8 {
    if t.is_temporal() { t.scale() } else { 0 }
}

fn capped(l: Length) -> Length {
    match l {
        Length::N(n) => Length::N(n.min(4000)),
        Length::Max => Length::Max,
    }
}

fn fixed(l: Length, make: fn(u16) -> SqlType) -> SqlType {
    match l {
        Length::N(n) => make(n),
        // Fixed types have no max; only they come here.
        Length::Max => make(8000),
    }
}
