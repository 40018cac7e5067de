//! Comparisons and arithmetic of values.

use super::{Focus, Item, Run};
use crate::atomic::Atomic;
use crate::tree::{Arithmetic, Comparison, Expr, NodeComparison};
use base::SqlResult;
use std::cmp::Ordering;
use types::Decimal;

/// Digits behind the point of a product or quotient.
const SCALE: u8 = 6;

/// How two values order; none where they do not.
pub(super) fn order(a: &Atomic, b: &Atomic) -> Option<Ordering> {
    use Atomic as A;
    match (a, b) {
        (A::Integer(x) | A::Decimal(x), A::Integer(y) | A::Decimal(y)) => Some(x.cmp(y)),
        (A::Integer(_) | A::Decimal(_) | A::Double(..), _)
        | (_, A::Integer(_) | A::Decimal(_) | A::Double(..)) => {
            a.number()?.partial_cmp(&b.number()?)
        }
        (A::Boolean(_), _) | (_, A::Boolean(_)) => {
            let truth = |v: &Atomic| match v.cast(crate::atomic::AtomicType::Boolean) {
                Some(A::Boolean(b)) => Some(b),
                _ => None,
            };
            Some(truth(a)?.cmp(&truth(b)?))
        }
        (A::Bytes(x), A::Bytes(y)) => Some(x.cmp(y)),
        _ => Some(a.text().cmp(&b.text())),
    }
}

pub(super) fn matches(op: Comparison, a: &Atomic, b: &Atomic) -> bool {
    let Some(order) = order(a, b) else { return false };
    match op {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// The order of sorting: nothing comes first.
pub(super) fn key_order(a: Option<&Atomic>, b: Option<&Atomic>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => order(a, b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

impl Run<'_> {
    pub(super) fn compared(
        &mut self,
        op: Comparison,
        sides: &(Expr, Expr),
        focus: &Focus,
    ) -> SqlResult<Vec<Item>> {
        let left = self.value(&sides.0, focus)?;
        let right = self.value(&sides.1, focus)?;
        let (Some(left), Some(right)) = (left, right) else { return Ok(Vec::new()) };
        Ok(vec![Item::Atomic(Atomic::Boolean(matches(op, &left, &right)))])
    }

    pub(super) fn places(
        &mut self,
        op: NodeComparison,
        sides: &(Expr, Expr),
        focus: &Focus,
    ) -> SqlResult<Vec<Item>> {
        let left = self.eval(&sides.0, focus)?;
        let right = self.eval(&sides.1, focus)?;
        let (Some(Item::Node(t, a)), Some(Item::Node(u, b))) = (left.first(), right.first()) else {
            return Ok(Vec::new());
        };
        let order = (t, a).cmp(&(u, b));
        let holds = match op {
            NodeComparison::Is => order.is_eq(),
            NodeComparison::Before => order.is_lt(),
            NodeComparison::After => order.is_gt(),
        };
        Ok(vec![Item::Atomic(Atomic::Boolean(holds))])
    }

    pub(super) fn arithmetic(
        &mut self,
        first: &Expr,
        rest: &[(Arithmetic, Expr)],
        focus: &Focus,
    ) -> SqlResult<Vec<Item>> {
        let mut result = self.value(first, focus)?;
        for (op, operand) in rest {
            let operand = self.value(operand, focus)?;
            result = match (result, operand) {
                (Some(a), Some(b)) => computed(*op, &a, &b),
                _ => None,
            };
        }
        Ok(result.map(Item::Atomic).into_iter().collect())
    }

    pub(super) fn negated(&mut self, operand: &Expr, focus: &Focus) -> SqlResult<Vec<Item>> {
        let negated = self.value(operand, focus)?.and_then(|v| {
            Some(match v {
                Atomic::Integer(d) => Atomic::Integer(d.neg()),
                Atomic::Decimal(d) => Atomic::Decimal(d.neg()),
                other => Atomic::Double(-other.number()?, matches!(other, Atomic::Double(_, true))),
            })
        });
        Ok(negated.map(Item::Atomic).into_iter().collect())
    }
}

/// An operator over two values; none where it has no result.
pub(super) fn computed(op: Arithmetic, a: &Atomic, b: &Atomic) -> Option<Atomic> {
    use Atomic as A;
    if let (A::Integer(x) | A::Decimal(x), A::Integer(y) | A::Decimal(y)) = (a, b) {
        let whole = matches!((a, b), (A::Integer(_), A::Integer(_)));
        let exact = exact(op, *x, *y)?;
        return Some(match whole && op != Arithmetic::Divide {
            true => A::Integer(exact),
            false => A::Decimal(exact),
        });
    }
    let single = |v: &Atomic| matches!(v, A::Double(_, true) | A::Integer(_) | A::Decimal(_));
    let (x, y) = (a.number()?, b.number()?);
    let result = match op {
        Arithmetic::Add => x + y,
        Arithmetic::Subtract => x - y,
        Arithmetic::Multiply => x * y,
        Arithmetic::Divide => x / y,
        Arithmetic::Modulo => x % y,
    };
    let single = single(a) && single(b);
    let result = if single { f64::from(result as f32) } else { result };
    (!result.is_nan()).then_some(A::Double(result, single))
}

fn exact(op: Arithmetic, x: Decimal, y: Decimal) -> Option<Decimal> {
    match op {
        Arithmetic::Add => x.checked_add(y),
        Arithmetic::Subtract => x.checked_sub(y),
        Arithmetic::Multiply => x.mul(y, SCALE.min(x.scale().saturating_add(y.scale()))),
        Arithmetic::Divide if y.mantissa() == 0 => None,
        Arithmetic::Divide => x.div(y, SCALE + 1).map(|q| q.truncate(SCALE)),
        Arithmetic::Modulo if y.mantissa() == 0 => None,
        Arithmetic::Modulo => x.checked_rem(y),
    }
}
