//! Conditions on one relation that no row satisfies: `x > 5 AND x < 3`, `x = 1 AND x IN (2, 3)`,
//! `x IS NULL AND x > 0`, `x = y AND x = 1 AND y = 2`; also by what CHECK constraints say.
//!
//! Constants alone are compared: a plan is kept for other values of its variables.
//!
//! Invariants
//!  1. A constraint is not false for any row. It tells nothing of a column that may be NULL in the
//!     rows that the conditions keep, for which it may be unknown.
//!  2. Values are compared under the one collation under which a column was first compared; what is
//!     asked under another tells no more than that the column is not NULL.

use plan::{CompareOp, Predicate, Scalar, Slot};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use types::{Collation, Value, compare};

/// What is left of a column's values, or of columns that are equal.
#[derive(Clone, Default)]
struct RemainingValues<'p> {
    low: Option<(&'p Value, bool)>,
    high: Option<(&'p Value, bool)>,
    /// One of these.
    list: Option<Vec<&'p Value>>,
    /// None of these.
    excluded: Vec<&'p Value>,
    null: bool,
    value: bool,
    collation: Option<Collation>,
}

/// What is known of columns.
#[derive(Default)]
struct KnownColumns<'p> {
    numbers: BTreeMap<Slot, usize>,
    all: Vec<RemainingValues<'p>>,
}

/// Whether no row can satisfy all conditions, when `checks` are false for none.
pub(crate) fn contradicts(conditions: &[Predicate], checks: &[Predicate]) -> bool {
    let mut known = KnownColumns::default();
    conditions.iter().for_each(|p| known.unite(p));
    conditions.iter().any(|p| known.tell(p))
        || checks.iter().any(|p| known.refuted(p))
        || known.all.iter().any(RemainingValues::is_empty)
}

/// A column and what it is compared with.
fn sides<'p>(
    op: CompareOp,
    left: &'p Scalar,
    right: &'p Scalar,
) -> Option<(Slot, CompareOp, &'p Scalar)> {
    match (left.as_column(), right.as_column()) {
        (Some(slot), None) => Some((slot, op, right)),
        (None, Some(slot)) => Some((slot, op.mirrored(), left)),
        _ => None,
    }
}

impl<'p> KnownColumns<'p> {
    fn of(&mut self, slot: Slot) -> &mut RemainingValues<'p> {
        let n = *self.numbers.entry(slot).or_insert(self.all.len());
        if n == self.all.len() {
            self.all.push(RemainingValues::default());
        }
        &mut self.all[n]
    }

    /// Columns of one kind that are equal share what is known; before anything is.
    fn unite(&mut self, p: &Predicate) {
        let Predicate::Compare { op: CompareOp::Equal, left, right, collation } = p else { return };
        let (Some(a), Some(b)) = (left.as_column(), right.as_column()) else { return };
        let own = |x: &Scalar| !x.ty.sql_type.is_character() || x.ty.collation == *collation;
        if left.ty.sql_type != right.ty.sql_type || !own(left) || !own(right) {
            return;
        }
        self.of(a).value = true;
        self.of(b).value = true;
        if left.ty.sql_type.is_character() {
            // Equal under this one they may differ under another.
            self.of(a).collation = Some(*collation);
        }
        let (a, b) = (self.numbers[&a], self.numbers[&b]);
        self.numbers.values_mut().filter(|n| **n == b).for_each(|n| *n = a);
    }

    /// Learns what a condition says; true where it is true for no row.
    fn tell(&mut self, p: &'p Predicate) -> bool {
        match p {
            Predicate::Compare { op, left, right, collation } => {
                let Some((slot, op, value)) = sides(*op, left, right) else {
                    let columns = [left, right].into_iter().filter_map(|x| x.as_column());
                    columns.for_each(|slot| self.of(slot).value = true);
                    return false;
                };
                let known = self.of(slot);
                known.value = true;
                known.is_under(*collation) && known.narrow(op, value)
            }
            Predicate::InList { operand, list, collation } => {
                let Some(slot) = operand.as_column() else { return false };
                let known = self.of(slot);
                known.value = true;
                if known.is_under(*collation)
                    && let Some(values) = constants(list)
                {
                    known.keep(values.into_iter().filter(|v| !v.is_null()).collect());
                }
                false
            }
            Predicate::Like { operand, .. } => {
                operand.as_column().into_iter().for_each(|slot| self.of(slot).value = true);
                false
            }
            Predicate::IsNull(x) => {
                x.as_column().into_iter().for_each(|slot| self.of(slot).null = true);
                false
            }
            Predicate::Not(inner) => {
                if let Predicate::IsNull(x) = &**inner {
                    x.as_column().into_iter().for_each(|slot| self.of(slot).value = true);
                }
                false
            }
            _ => false,
        }
    }

    /// Whether what is left of columns, where they are not NULL, makes a constraint false; else it
    /// is true of these.
    fn refuted(&mut self, p: &'p Predicate) -> bool {
        match p {
            Predicate::And(parts) => parts.iter().any(|p| self.refuted(p)),
            Predicate::Or(parts) => parts.iter().all(|p| {
                let mut alone =
                    KnownColumns { numbers: self.numbers.clone(), all: self.all.clone() };
                alone.refuted(p)
            }),
            Predicate::Compare { op, left, right, collation } => {
                let Some((slot, op, value)) = sides(*op, left, right) else { return false };
                // A comparison with NULL is false for nothing.
                let value_there = value.as_constant().is_some_and(|v| !v.is_null());
                let Some(known) = self.values(slot, *collation) else { return false };
                value_there && (known.narrow(op, value) || known.is_empty())
            }
            Predicate::InList { operand, list, collation } => {
                let values = constants(list).filter(|list| list.iter().all(|v| !v.is_null()));
                let (Some(slot), Some(values)) = (operand.as_column(), values) else {
                    return false;
                };
                let Some(known) = self.values(slot, *collation) else { return false };
                known.keep(values);
                known.is_empty()
            }
            _ => false,
        }
    }

    /// What is left of a column that is not NULL, if it was compared like this.
    fn values(&mut self, slot: Slot, collation: Collation) -> Option<&mut RemainingValues<'p>> {
        let n = *self.numbers.get(&slot)?;
        let known = &mut self.all[n];
        (known.value && known.is_under(collation)).then_some(known)
    }
}

/// The values of a list that has nothing but constants.
fn constants(list: &[Scalar]) -> Option<Vec<&Value>> {
    list.iter().map(Scalar::as_constant).collect()
}

impl<'p> RemainingValues<'p> {
    /// Whether what it is compared with is compared as before.
    fn is_under(&mut self, collation: Collation) -> bool {
        *self.collation.get_or_insert(collation) == collation
    }

    /// Leaves what a comparison allows; true when it is true for nothing.
    fn narrow(&mut self, op: CompareOp, value: &'p Scalar) -> bool {
        let Some(value) = value.as_constant() else { return false };
        if value.is_null() {
            return true;
        }
        match op {
            CompareOp::Equal => self.keep(vec![value]),
            CompareOp::Greater => self.raise(value, false),
            CompareOp::GreaterOrEqual => self.raise(value, true),
            CompareOp::Less => self.lower(value, false),
            CompareOp::LessOrEqual => self.lower(value, true),
            CompareOp::NotEqual => self.excluded.push(value),
        }
        false
    }

    /// Leaves the values of a list.
    fn keep(&mut self, values: Vec<&'p Value>) {
        let kept = match self.list.take() {
            None => values,
            Some(list) => {
                let may_be = |v: &&Value| {
                    values.iter().any(|x| self.order(x, v).is_none_or(Ordering::is_eq))
                };
                list.into_iter().filter(may_be).collect()
            }
        };
        self.list = Some(kept);
    }

    /// Nothing is left.
    fn is_empty(&self) -> bool {
        if self.null && self.value {
            return true;
        }
        if let Some(list) = &self.list {
            return !list.iter().any(|v| self.allows(v));
        }
        let (Some((low, with_low)), Some((high, with_high))) = (self.low, self.high) else {
            return false;
        };
        match self.order(low, high) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => !(with_low && with_high && self.allows(low)),
            _ => false,
        }
    }

    /// Whether bounds and exclusions leave a value.
    fn allows(&self, v: &Value) -> bool {
        let above = self.low.is_none_or(|(low, with)| match self.order(v, low) {
            Some(order) => order.is_gt() || with && order.is_eq(),
            None => true,
        });
        let below = self.high.is_none_or(|(high, with)| match self.order(v, high) {
            Some(order) => order.is_lt() || with && order.is_eq(),
            None => true,
        });
        let excluded = |x: &&Value| self.order(v, x) == Some(Ordering::Equal);
        above && below && !self.excluded.iter().any(excluded)
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

    fn one_of(values: &[i32]) -> Predicate {
        let operand = Box::new(Scalar::column(Slot(1), ScalarType::new(SqlType::Int, true)));
        let list = values.iter().map(|n| int(*n)).collect();
        Predicate::InList { operand, list, collation: Collation::default() }
    }

    /// Lists against values, ranges and lists, and what a constraint says of them.
    #[test]
    fn lists() {
        use CompareOp::{Equal, Greater, NotEqual};
        assert!(contradicts(&[one_of(&[1, 2]), x(Equal, int(3))], &[]));
        assert!(!contradicts(&[one_of(&[1, 2]), x(Equal, int(2))], &[]));
        assert!(contradicts(&[one_of(&[1, 2]), x(Greater, int(2))], &[]));
        assert!(contradicts(&[one_of(&[1, 2]), one_of(&[3, 4])], &[]));
        assert!(contradicts(&[one_of(&[1]), x(NotEqual, int(1))], &[]));
        let check = Predicate::Or(vec![one_of(&[1, 2]), x(Greater, int(9))]);
        assert!(contradicts(&[x(Equal, int(5))], std::slice::from_ref(&check)));
        assert!(!contradicts(&[x(Equal, int(10))], std::slice::from_ref(&check)));
        let column = Scalar::column(Slot(1), ScalarType::new(SqlType::Int, true));
        assert!(!contradicts(&[Predicate::IsNull(Box::new(column))], &[check]));
    }
}
