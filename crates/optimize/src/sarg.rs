//! Search arguments: conditions on a column that a key range can answer.
//!
//! A bound must be comparable with stored keys: it has the column's type, or is text of the
//! column's family. Where converting it could lose something, only equality seeks, with the
//! condition kept to be tested again.

use plan::{Bound, CompareOp, LikeText, Predicate, Scalar, ScalarKind, Slot};
use std::collections::BTreeSet;
use types::{Family, SqlType, Value, text};

/// What a condition asks of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ask {
    Equal(Scalar),
    Null,
    NotNull,
    /// Equality with any, or IS NULL where a pair says so.
    Any(Vec<(Scalar, bool)>),
    Lower(Bound),
    Upper(Bound),
    /// From LIKE.
    Between(Bound, Option<Bound>),
}

/// A condition that a seek can use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sarg {
    /// Whose.
    pub(crate) slot: Slot,
    pub(crate) ask: Ask,
    /// The range implies the condition: it need not be tested again.
    pub(crate) exact: bool,
}

/// The search argument of a condition over columns whose types `column_type` tells; slots of
/// `own` are the table's.
pub(crate) fn of(
    p: &Predicate,
    own: &BTreeSet<Slot>,
    column_type: &dyn Fn(Slot) -> Option<(SqlType, types::Collation)>,
) -> Option<Sarg> {
    let usable = |x: &Scalar| {
        let reads = x.reads();
        !reads.volatile && reads.subqueries.is_empty() && reads.slots.is_disjoint(own)
    };
    match p {
        Predicate::Compare { op, left, right, collation } => {
            let (slot, op, value) = match (column_of(left), column_of(right)) {
                (Some(slot), _) if own.contains(&slot) && usable(right) => (slot, *op, right),
                (_, Some(slot)) if own.contains(&slot) && usable(left) => {
                    (slot, op.mirrored(), left)
                }
                _ => return None,
            };
            let (column, of_column) = column_type(slot)?;
            if column.is_character() && of_column != *collation {
                return None;
            }
            compared(slot, op, value, column)
        }
        Predicate::IsNull(x) => {
            let slot = x.as_column().filter(|s| own.contains(s))?;
            column_type(slot)?;
            Some(Sarg { slot, ask: Ask::Null, exact: true })
        }
        Predicate::Not(inner) => {
            let Predicate::IsNull(x) = &**inner else { return None };
            let slot = x.as_column().filter(|s| own.contains(s))?;
            column_type(slot)?;
            Some(Sarg { slot, ask: Ask::NotNull, exact: true })
        }
        Predicate::Or(parts) => any_of(parts, own, column_type),
        Predicate::InList { operand, list, collation } => {
            let slot = column_of(operand).filter(|s| own.contains(s))?;
            let (column, of_column) = column_type(slot)?;
            if (column.is_character() && of_column != *collation) || !list.iter().all(usable) {
                return None;
            }
            let fitted: Option<Vec<(Scalar, bool)>> = list.iter().map(|x| fit(x, column)).collect();
            let fitted = fitted?;
            let exact = fitted.iter().all(|(_, exact)| *exact);
            let values = fitted.into_iter().map(|(x, _)| (x, false)).collect();
            Some(Sarg { slot, ask: Ask::Any(values), exact })
        }
        Predicate::Like { operand, pattern, collation } => {
            let slot = operand.as_column().filter(|s| own.contains(s))?;
            let (column, of_column) = column_type(slot)?;
            if of_column != *collation {
                return None;
            }
            let ask = match pattern {
                LikeText::Compiled(pattern) => like(pattern, column)?,
                LikeText::Dynamic { pattern, escape } => {
                    let escape = escape.as_deref();
                    if !usable(pattern) || !escape.is_none_or(usable) {
                        return None;
                    }
                    like_later(pattern, escape, column)
                }
            };
            Some(Sarg { slot, ask, exact: false })
        }
        _ => None,
    }
}

/// Equalities of one column with several values.
fn any_of(
    parts: &[Predicate],
    own: &BTreeSet<Slot>,
    column_type: &dyn Fn(Slot) -> Option<(SqlType, types::Collation)>,
) -> Option<Sarg> {
    let mut all: Option<Sarg> = None;
    for part in parts {
        let Sarg { slot, ask, exact } = of(part, own, column_type)?;
        let values = match ask {
            Ask::Equal(x) => vec![(x, false)],
            Ask::Null => vec![(Scalar::null(SqlType::Int), true)],
            Ask::Any(values) => values,
            _ => return None,
        };
        match &mut all {
            None => all = Some(Sarg { slot, ask: Ask::Any(values), exact }),
            Some(Sarg { slot: known, ask: Ask::Any(list), exact: both }) if *known == slot => {
                list.extend(values);
                *both &= exact;
            }
            Some(_) => return None,
        }
    }
    all
}

/// A column, also one widened without loss: `CAST(int AS bigint)`, `CAST(int AS decimal(10,0))`.
pub(crate) fn column_of(x: &Scalar) -> Option<Slot> {
    match &x.kind {
        ScalarKind::Column(slot) => Some(*slot),
        ScalarKind::Cast { operand, style: None, attempt: false } => {
            let slot = operand.as_column()?;
            widens(operand.ty.sql_type, x.ty.sql_type).then_some(slot)
        }
        _ => None,
    }
}

/// Whether a conversion keeps every value and their order.
fn widens(from: SqlType, to: SqlType) -> bool {
    match (from.family(), to) {
        (Family::Integer, SqlType::Decimal { precision, scale }) => {
            from.precision() + scale <= precision
        }
        (Family::Integer, _) => {
            to.family() == Family::Integer && from.precision() <= to.precision()
        }
        _ => false,
    }
}

fn compared(slot: Slot, op: CompareOp, value: &Scalar, column: SqlType) -> Option<Sarg> {
    let (value, exact) = fit(value, column)?;
    let bound = |inclusive| bound(value.clone(), inclusive);
    let ask = match op {
        CompareOp::Equal => Ask::Equal(value),
        // A bound that was rounded would move the range.
        _ if !exact => return None,
        CompareOp::Less => Ask::Upper(bound(false)),
        CompareOp::LessOrEqual => Ask::Upper(bound(true)),
        CompareOp::Greater => Ask::Lower(bound(false)),
        CompareOp::GreaterOrEqual => Ask::Lower(bound(true)),
        CompareOp::NotEqual => return None,
    };
    Some(Sarg { slot, ask, exact })
}

/// A value as a key of a column; false when it may have been changed by that.
fn fit(x: &Scalar, column: SqlType) -> Option<(Scalar, bool)> {
    let own = x.ty.sql_type;
    if own == column {
        return Some((x.clone(), true));
    }
    match (own.family(), column.family()) {
        // Text and bytes of any length compare with stored ones as they are.
        (a, b) if a == b && matches!(a, Family::Char | Family::NChar | Family::Binary) => {
            Some((x.clone(), true))
        }
        (Family::Variant, _) | (_, Family::Variant) => None,
        (Family::Char | Family::NChar | Family::Binary | Family::Guid, _) => None,
        (_, Family::Char | Family::NChar | Family::Binary | Family::Guid) => None,
        (a, b) if (a == Family::Temporal) != (b == Family::Temporal) => None,
        // A float may be equal to numbers it isn't.
        (Family::Float, b) if b != Family::Float => None,
        (a, Family::Float) if a != Family::Float => None,
        _ => {
            let exact = widens(own, column) || constant_fits(x, column);
            Some((converted(x, column), exact))
        }
    }
}

fn constant_fits(x: &Scalar, column: SqlType) -> bool {
    let Some(value) = x.as_constant() else { return false };
    let there = types::convert(value, x.ty.sql_type, column, 0);
    let back = there.and_then(|v| types::convert(&v, column, x.ty.sql_type, 0));
    back.is_ok_and(|v| v == *value)
}

/// NULL where the value has no form in the column's type: nothing stored equals it then.
fn converted(x: &Scalar, column: SqlType) -> Scalar {
    let mut ty = x.ty.converted(column);
    if let Some(value) = x.as_constant() {
        let value = types::convert(value, x.ty.sql_type, column, 0).unwrap_or(Value::Null);
        ty.nullable = value.is_null();
        return Scalar { kind: ScalarKind::Constant(value), ty };
    }
    ty.nullable = true;
    let kind = ScalarKind::Cast { operand: Box::new(x.clone()), style: None, attempt: true };
    Scalar { kind, ty }
}

/// The range in which strings lie that match a pattern.
fn like(pattern: &builtins::LikePattern, column: SqlType) -> Option<Ask> {
    let (from, to) = pattern.range()?;
    let value = |units: &[u16]| {
        let wide = text::bytes_of_units(units);
        let value = match column.family() {
            Family::NChar => Value::NChar(types::Bytes::from(wide)),
            _ => Value::Char(types::Bytes::from(text::narrow(&wide))),
        };
        let sql_type = match column.family() {
            Family::NChar => SqlType::nvarchar(units.len().min(4000) as u16),
            _ => SqlType::varchar(units.len().min(8000) as u16),
        };
        Scalar::constant(value, sql_type)
    };
    let bound = |units: &[u16], inclusive| bound(value(units), inclusive);
    Some(Ask::Between(bound(&from, true), to.map(|u| bound(&u, false))))
}

/// The same of a pattern that is known when the statement runs.
fn like_later(pattern: &Scalar, escape: Option<&Scalar>, column: SqlType) -> Ask {
    let sql_type = match column.family() {
        Family::NChar => SqlType::nvarchar(4000),
        _ => SqlType::varchar(8000),
    };
    let args: Vec<Scalar> = std::iter::once(pattern).chain(escape).cloned().collect();
    let call = |function, inclusive| {
        let arg_types = args.iter().map(|a| a.ty.sql_type).collect();
        let kind = ScalarKind::Function { function, args: args.clone(), arg_types };
        let mut ty = pattern.ty.converted(sql_type);
        ty.nullable = true;
        Bound { unless_null: true, ..bound(Scalar { kind, ty }, inclusive) }
    };
    let end = call(&builtins::LIKE_RANGE_END, false);
    Ask::Between(call(&builtins::LIKE_RANGE_START, true), Some(end))
}

fn bound(value: Scalar, inclusive: bool) -> Bound {
    Bound { value, inclusive, after_null: false, unless_null: false }
}
