//! LEFT joins that change nothing: no slot of their right table is read above, and a unique key of
//! it is compared, so that no row finds two partners.

use super::region::{Operator, Region};
use super::search::equality;
use super::set::Set;
use crate::convert::Optimizer;
use crate::node::Slots;
use plan::{JoinKind, Logical, Slot};

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
        let Logical::Get(_) = innermost(region.relations[relation].tree) else { return false };
        let mut read = needed.clone();
        let reader = self.reader();
        region.conditions.iter().for_each(|c| read.extend(reader.predicate(&c.predicate)));
        region.computed.iter().for_each(|(_, x)| read.extend(reader.scalar(x)));
        region.relations.iter().for_each(|r| read.extend(reader.free(r.tree)));
        let others = region.operators.iter().enumerate().filter(|(m, _)| *m != n);
        others.for_each(|(_, o)| {
            o.conditions.iter().for_each(|p| read.extend(reader.predicate(p)));
        });
        read.is_disjoint(own) && self.finds_one(operator, own)
    }

    /// Whether an operator's conditions find no more than one row.
    fn finds_one(&self, operator: &Operator<'_>, own: &Slots) -> bool {
        let keys = operator.conditions.iter().filter_map(equality);
        let slots: Vec<Slot> = keys
            .flat_map(|(a, b, _)| match (a.as_column(), b.as_column()) {
                (Some(slot), _) if own.contains(&slot) && b.reads().slots.is_disjoint(own) => {
                    Some(slot)
                }
                (_, Some(slot)) if own.contains(&slot) && a.reads().slots.is_disjoint(own) => {
                    Some(slot)
                }
                _ => None,
            })
            .collect();
        self.estimator.unique_key(&slots).is_some()
    }
}

/// What conditions are on.
fn innermost(tree: &Logical) -> &Logical {
    match tree {
        Logical::Filter { input, .. } => innermost(input),
        other => other,
    }
}
