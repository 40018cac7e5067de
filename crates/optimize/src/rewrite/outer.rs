//! Outer joins that a condition above makes inner: one that is never true for a row whose columns
//! of the filled side are all NULL.
//!
//! ```text
//!   a LEFT b   WHERE b.x = 5           a INNER b
//!   a FULL b   WHERE a.x > 1           a LEFT b
//!   a LEFT b   WHERE b.x IS NULL       stays
//! ```
//! After C. Galindo-Legaria and A. Rosenthal, "Outerjoin Simplification and Reordering for Query
//! Optimization" (TODS 1997).

use crate::node::{Slots, writes};
use plan::{CompareOp, JoinKind, Logical, Predicate, Scalar, ScalarKind};

/// Makes outer joins inner where that changes nothing.
pub(crate) fn without_outer(tree: &mut Logical) {
    walk(tree, &Slots::new());
}

/// `told`: slots that are not NULL in any row that is kept above.
fn walk(tree: &mut Logical, told: &Slots) {
    match tree {
        Logical::Get(_)
        | Logical::Virtual(_)
        | Logical::Function(_)
        | Logical::Values { .. }
        | Logical::Changed { .. } => {}
        Logical::Filter { input, predicate } => {
            let mut told = told.clone();
            refused(predicate, &mut told);
            walk(input, &told);
        }
        Logical::Compute { input, columns } => {
            let mut below = told.clone();
            for (slot, x) in columns.iter().rev() {
                if below.contains(slot) {
                    strict(x, &mut below);
                }
            }
            walk(input, &below);
        }
        Logical::Join { kind, left, right, on, .. } => join(kind, left, right, on, told),
        Logical::Aggregate(g) => {
            // A group's key is every row's of it.
            let keys = g.keys.iter().map(|(slot, _)| *slot).filter(|s| told.contains(s)).collect();
            walk(&mut g.input, &keys);
        }
        Logical::Distinct { input, .. } | Logical::Sort { input, .. } => walk(input, told),
        // Rows that are refused above count here.
        Logical::Window { input, .. } | Logical::Top { input, .. } => walk(input, &Slots::new()),
        Logical::Recursive(r) => {
            walk(&mut r.anchor, &Slots::new());
            r.members.iter_mut().for_each(|(member, _)| walk(member, &Slots::new()));
        }
        Logical::Concatenate { inputs, columns } => {
            for (input, slots) in inputs {
                let pairs = columns.iter().zip(slots.iter());
                let own = pairs.filter(|(c, _)| told.contains(c)).map(|(_, s)| *s).collect();
                walk(input, &own);
            }
        }
    }
}

fn join(
    kind: &mut JoinKind,
    left: &mut Logical,
    right: &mut Logical,
    on: &Predicate,
    told: &Slots,
) {
    let (of_left, of_right) = (!writes(left).is_disjoint(told), !writes(right).is_disjoint(told));
    *kind = match (*kind, of_left, of_right) {
        (JoinKind::Left, _, true) | (JoinKind::Right, true, _) => JoinKind::Inner,
        (JoinKind::Full, true, true) => JoinKind::Inner,
        (JoinKind::Full, true, false) => JoinKind::Left,
        (JoinKind::Full, false, true) => JoinKind::Right,
        (same, _, _) => same,
    };
    let mut both = told.clone();
    refused(on, &mut both);
    let none = Slots::new();
    let (for_left, for_right) = match *kind {
        JoinKind::Inner | JoinKind::Semi => (&both, &both),
        JoinKind::Left | JoinKind::Anti => (told, &both),
        JoinKind::Right => (&both, told),
        JoinKind::Full => (&none, &none),
    };
    walk(left, for_left);
    walk(right, for_right);
}

/// Adds the slots whose NULL makes a condition untrue.
fn refused(p: &Predicate, out: &mut Slots) {
    match p {
        Predicate::Compare { left, right, .. } => {
            strict(left, out);
            strict(right, out);
        }
        Predicate::Like { operand, .. } | Predicate::InList { operand, .. } => strict(operand, out),
        Predicate::Quantified { op: CompareOp::Equal, operand, quantifier, .. }
            if *quantifier == plan::Quantifier::Any =>
        {
            strict(operand, out);
        }
        Predicate::And(parts) => parts.iter().for_each(|p| refused(p, out)),
        Predicate::Or(parts) => {
            let each = parts.iter().map(|p| {
                let mut own = Slots::new();
                refused(p, &mut own);
                own
            });
            let all = each.reduce(|a, b| a.intersection(&b).copied().collect());
            out.extend(all.unwrap_or_default());
        }
        Predicate::Not(inner) => match &**inner {
            Predicate::IsNull(x) => strict(x, out),
            // Unknown stays unknown.
            Predicate::Compare { .. } | Predicate::Like { .. } | Predicate::InList { .. } => {
                refused(inner, out);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Adds the slots whose NULL makes an expression NULL.
fn strict(x: &Scalar, out: &mut Slots) {
    match &x.kind {
        ScalarKind::Column(slot) => {
            out.insert(*slot);
        }
        ScalarKind::Negate(x) | ScalarKind::BitNot(x) => strict(x, out),
        ScalarKind::Binary { left, right, .. } => {
            strict(left, out);
            strict(right, out);
        }
        ScalarKind::Cast { operand, .. } => strict(operand, out),
        _ => {}
    }
}
