//! LEFT joins that change nothing: no slot of their right table is read above, and a unique key of
//! it is compared, so that no row finds two partners.

use super::region::{Operator, Region};
use super::search::equality;
use super::set::Set;
use crate::convert::Optimizer;
use crate::node::Slots;
use plan::{JoinKind, Logical, Scalar, Slot};

impl Optimizer<'_> {
    /// Takes such joins out of a region; the relations that went.
    pub(super) fn unused(&self, region: &mut Region<'_>, needed: &Slots) -> Set {
        let mut gone = Set::EMPTY;
        loop {
            let mut numbers = 0..region.operators.len();
            let Some(n) = numbers.find(|&n| self.is_unused(region, n, needed)) else { return gone };
            let operator = region.operators.remove(n);
            gone = gone.union(operator.right);
            for o in &mut region.operators {
                o.left = o.left.without(operator.right);
                o.right = o.right.without(operator.right);
            }
            for c in &mut region.conditions {
                c.after = c.after.without(operator.right);
            }
        }
    }

    fn is_unused(&self, region: &Region<'_>, n: usize, needed: &Slots) -> bool {
        let operator = &region.operators[n];
        let Some(relation) = operator.right.only().filter(|_| operator.kind == JoinKind::Left)
        else {
            return false;
        };
        let own = &region.relations[relation].slots;
        let found = match innermost(region.relations[relation].tree) {
            Logical::Get(_) => self.estimator.unique_key(&compared(operator, own)).is_some(),
            Logical::Aggregate(g) => {
                let slots = compared(operator, own);
                !g.keys.is_empty() && g.keys.iter().all(|(key, _)| slots.contains(key))
            }
            _ => false,
        };
        if !found {
            return false;
        }
        self.read_of(region, needed, Some(n)).is_disjoint(own)
    }

    /// What is read of a region's relations, by all but one operator. What classes compare is not
    /// among it.
    pub(super) fn read_of(&self, region: &Region<'_>, needed: &Slots, but: Option<usize>) -> Slots {
        let mut read = needed.clone();
        let reader = self.reader();
        region.conditions.iter().for_each(|c| read.extend(reader.predicate(&c.predicate)));
        region.computed.iter().for_each(|(_, x)| read.extend(reader.scalar(x)));
        region.relations.iter().for_each(|r| read.extend(reader.free(r.tree)));
        let others = region.operators.iter().enumerate().filter(|(m, _)| Some(*m) != but);
        others.for_each(|(_, o)| {
            o.conditions.iter().for_each(|p| read.extend(reader.predicate(p)));
        });
        read
    }
}

/// Columns of its right side that an operator compares with values of its left side.
fn compared(operator: &Operator<'_>, own: &Slots) -> Vec<Slot> {
    let column = |x: &Scalar, other: &Scalar| {
        let slot = crate::sarg::column_of(x).filter(|slot| own.contains(slot))?;
        other.reads().slots.is_disjoint(own).then_some(slot)
    };
    let keys = operator.conditions.iter().filter_map(equality);
    keys.filter_map(|(a, b, _)| column(a, b).or_else(|| column(b, a))).collect()
}

/// What conditions are on.
pub(super) fn innermost(tree: &Logical) -> &Logical {
    match tree {
        Logical::Filter { input, .. } => innermost(input),
        other => other,
    }
}
