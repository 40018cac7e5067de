//! Whether what a query asks of a table implies the filter of an index.
//!
//! Each test of the filter must follow from one condition of the query. Only constants are looked
//! at: a variable may have another value when the plan runs again. Any comparison with a column
//! implies that it is not NULL, whatever it is compared with.

use crate::path::Offer;
use crate::sarg::{Ask, Sarg};
use plan::{Bound, Predicate, Scalar, Slot};
use std::cmp::Ordering;
use types::{ColumnTest, Relation, Requirement, Restriction, Value, compare, convert};

/// Whether every row that satisfies the query's conditions passes a filter.
pub(crate) fn implies(offer: &Offer<'_>, filter: &Restriction) -> bool {
    filter.tests.iter().all(|test| {
        let Some(slot) = (offer.slot)(test.column) else { return false };
        let by_sarg = |(_, sarg): &(usize, Sarg)| sarg.slot == slot && follows(test, &sarg.ask);
        offer.sargs.iter().any(by_sarg)
            || offer.conditions.iter().any(|p| follows_of_condition(test, slot, p))
    })
}

/// Conditions that are no search arguments.
fn follows_of_condition(test: &ColumnTest, slot: Slot, p: &Predicate) -> bool {
    match p {
        Predicate::Not(inner) => match &**inner {
            Predicate::IsNull(x) => {
                test.requirement == Requirement::NotNull && x.as_column() == Some(slot)
            }
            _ => false,
        },
        Predicate::Compare { op: plan::CompareOp::NotEqual, left, right, .. } => {
            let other = match (left.as_column(), right.as_column()) {
                (Some(s), _) if s == slot => right,
                (_, Some(s)) if s == slot => left,
                _ => return false,
            };
            match &test.requirement {
                Requirement::NotNull => true,
                Requirement::Compared(Relation::NotEqual, excluded) => {
                    ordering(test, other, excluded) == Some(Ordering::Equal)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn follows(test: &ColumnTest, ask: &Ask) -> bool {
    match (&test.requirement, ask) {
        (Requirement::Null, ask) => *ask == Ask::Null,
        (_, Ask::Null) => false,
        (Requirement::NotNull, Ask::Any(list)) => list.iter().all(|(_, null)| !null),
        (Requirement::NotNull, _) => true,
        (_, Ask::NotNull) => false,
        (_, Ask::Equal(x)) => passes(test, x),
        (_, Ask::Any(list)) => list.iter().all(|(x, null)| !null && passes(test, x)),
        (Requirement::Compared(relation, constant), Ask::Lower(b)) => {
            beyond(test, b, *relation, constant, true)
        }
        (Requirement::Compared(relation, constant), Ask::Upper(b)) => {
            beyond(test, b, *relation, constant, false)
        }
        (Requirement::Compared(relation, constant), Ask::Between(from, to)) => {
            let upper = to.as_ref();
            beyond(test, from, *relation, constant, true)
                || upper.is_some_and(|b| beyond(test, b, *relation, constant, false))
        }
        (Requirement::OneOf(_), Ask::Lower(_) | Ask::Upper(_) | Ask::Between(..)) => false,
    }
}

/// A constant of the query as the filter has its own.
fn constant(test: &ColumnTest, x: &Scalar) -> Option<Value> {
    let value = x.as_constant().filter(|v| !v.is_null())?;
    convert(value, x.ty.sql_type, test.constant_type(), 0).ok()
}

fn ordering(test: &ColumnTest, x: &Scalar, constant_of_filter: &Value) -> Option<Ordering> {
    Some(compare(&constant(test, x)?, constant_of_filter, test.collation))
}

fn passes(test: &ColumnTest, x: &Scalar) -> bool {
    constant(test, x).is_some_and(|value| test.holds(&value))
}

/// Whether all values on one side of a bound stand so to a constant.
fn beyond(test: &ColumnTest, b: &Bound, relation: Relation, constant: &Value, lower: bool) -> bool {
    let Some(order) = ordering(test, &b.value, constant) else { return false };
    let outside = if lower { order.is_gt() } else { order.is_lt() };
    let at = order.is_eq();
    match (relation, lower) {
        (Relation::GreaterOrEqual, true) | (Relation::LessOrEqual, false) => outside || at,
        (Relation::Greater, true) | (Relation::Less, false) | (Relation::NotEqual, _) => {
            outside || (at && !b.inclusive)
        }
        _ => false,
    }
}
