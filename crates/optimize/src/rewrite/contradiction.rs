//! Conditions on one relation that no row satisfies: `x > 5 AND x < 3`, `x = 1 AND x = 2`,
//! `x IS NULL AND x > 0`.
//!
//! Constants alone are compared: a plan is kept for other values of its variables.

use plan::{CompareOp, Predicate, Scalar, Slot};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use types::{Collation, Value, compare};

/// What is left of a column's values.
#[derive(Default)]
struct Left<'p> {
    low: Option<(&'p Value, bool)>,
    high: Option<(&'p Value, bool)>,
    null: bool,
    value: bool,
    collation: Option<Collation>,
}

/// Whether no row can satisfy all conditions, when `checks` are false for none.
pub(crate) fn contradicts(conditions: &[Predicate], checks: &[Predicate]) -> bool {
    let mut columns: BTreeMap<Slot, Left<'_>> = BTreeMap::new();
    for p in conditions {
        match p {
            Predicate::Compare { op, left, right, collation } => {
                let (column, op, value) = match (left.as_column(), right.as_column()) {
                    (Some(slot), None) => (slot, *op, right),
                    (None, Some(slot)) => (slot, op.mirrored(), left),
                    _ => continue,
                };
                let known = columns.entry(column).or_default();
                known.value = true;
                if known.collation.is_some_and(|c| c != *collation) {
                    continue;
                }
                known.collation = Some(*collation);
                if known.narrow(op, value) {
                    return true;
                }
            }
            Predicate::IsNull(x) => {
                if let Some(slot) = x.as_column() {
                    columns.entry(slot).or_default().null = true;
                }
            }
            _ => {}
        }
    }
    checks.iter().any(|p| refuted(p, &mut columns))
        || columns.values().any(|known| known.null && known.value)
}

/// Whether what is left of columns, where they are not NULL, makes a condition false.
fn refuted<'p>(p: &'p Predicate, columns: &mut BTreeMap<Slot, Left<'p>>) -> bool {
    match p {
        Predicate::And(parts) => parts.iter().any(|p| refuted(p, columns)),
        Predicate::Compare { op, left, right, collation } => {
            let (slot, op, value) = match (left.as_column(), right.as_column()) {
                (Some(slot), None) => (slot, *op, right),
                (None, Some(slot)) => (slot, op.mirrored(), left),
                _ => return false,
            };
            // A comparison with NULL is false for nothing.
            let value_there = value.as_constant().is_some_and(|v| !v.is_null());
            let known = columns.get_mut(&slot).filter(|k| k.value && value_there);
            known.is_some_and(|k| k.collation == Some(*collation) && k.narrow(op, value))
        }
        Predicate::InList { operand, list, collation } => {
            let known = operand.as_column().and_then(|slot| columns.get(&slot));
            known.is_some_and(|k| k.collation == Some(*collation) && k.is_none_of(list))
        }
        _ => false,
    }
}

impl<'p> Left<'p> {
    /// Leaves what a comparison allows; true when nothing is left.
    fn narrow(&mut self, op: CompareOp, value: &'p Scalar) -> bool {
        let Some(value) = value.as_constant() else { return false };
        if value.is_null() {
            return true;
        }
        match op {
            CompareOp::Equal => {
                self.raise(value, true);
                self.lower(value, true);
            }
            CompareOp::Greater => self.raise(value, false),
            CompareOp::GreaterOrEqual => self.raise(value, true),
            CompareOp::Less => self.lower(value, false),
            CompareOp::LessOrEqual => self.lower(value, true),
            CompareOp::NotEqual => {}
        }
        let (Some((low, with_low)), Some((high, with_high))) = (self.low, self.high) else {
            return false;
        };
        match self.order(low, high) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => !(with_low && with_high),
            _ => false,
        }
    }

    /// It has one value left, which is none of a list.
    fn is_none_of(&self, list: &[Scalar]) -> bool {
        let (Some((low, true)), Some((high, true))) = (self.low, self.high) else { return false };
        let one = self.value && self.order(low, high) == Some(Ordering::Equal);
        let other = |x: &Scalar| {
            x.as_constant().and_then(|x| self.order(low, x)).is_some_and(Ordering::is_ne)
        };
        one && list.iter().all(other)
    }

    fn raise(&mut self, value: &'p Value, with: bool) {
        let replaces = self.low.is_none_or(|(low, with_low)| match self.order(value, low) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => with_low && !with,
            _ => false,
        });
        if replaces {
            self.low = Some((value, with));
        }
    }

    fn lower(&mut self, value: &'p Value, with: bool) {
        let replaces = self.high.is_none_or(|(high, with_high)| match self.order(value, high) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => with_high && !with,
            _ => false,
        });
        if replaces {
            self.high = Some((value, with));
        }
    }

    /// The order of two values of one kind.
    fn order(&self, a: &Value, b: &Value) -> Option<Ordering> {
        let alike = std::mem::discriminant(a) == std::mem::discriminant(b);
        alike.then(|| compare(a, b, self.collation.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::ScalarType;
    use types::SqlType;

    fn int(n: i32) -> Scalar {
        Scalar::constant(Value::Int(n), SqlType::Int)
    }

    fn x(op: CompareOp, value: Scalar) -> Predicate {
        let column = Scalar::column(Slot(1), ScalarType::new(SqlType::Int, true));
        let (left, right) = (Box::new(column), Box::new(value));
        Predicate::Compare { op, left, right, collation: Collation::default() }
    }

    /// Ranges that are empty, and those that are not by one value.
    #[test]
    fn empty_ranges() {
        use CompareOp::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let none = |a, b| contradicts(&[a, b], &[]);
        assert!(none(x(Greater, int(5)), x(Less, int(3))));
        assert!(none(x(Equal, int(1)), x(Equal, int(2))));
        assert!(none(x(GreaterOrEqual, int(5)), x(Less, int(5))));
        assert!(!none(x(GreaterOrEqual, int(5)), x(LessOrEqual, int(5))));
        assert!(!none(x(Greater, int(3)), x(Less, int(5))));
        assert!(none(x(Equal, int(1)), x(Less, Scalar::null(SqlType::Int))));
        let column = Scalar::column(Slot(1), ScalarType::new(SqlType::Int, true));
        assert!(none(Predicate::IsNull(Box::new(column.clone())), x(Greater, int(0))));
        assert!(!contradicts(&[Predicate::IsNull(Box::new(column))], &[]));
    }
}
