//! Parts that were converted before, for the same conditions and wishes.
//!
//! A join asks for a relation several times: by itself, for each row of another, and once more when
//! the plan is put together. Where the relation is grouped rows of joins again, each level would
//! multiply the work of the levels below. So what a part of the tree became is remembered.
//!
//! A part is known by its place and by what stands there: a place may be used again for another.

use crate::convert::{NODE_BYTES, Optimizer};
use crate::node::{Node, OrderFallback, Slots, Wish};
use base::SqlResult;
use plan::{Logical, Predicate, SortKey, SubqueryId};
use std::collections::{BTreeSet, HashMap};

/// See the module.
#[derive(Default)]
pub(crate) struct Memo(HashMap<usize, Vec<MemoEntry>>);

struct MemoEntry {
    tree: Logical,
    asked: PlanRequest,
    node: Node,
    /// Subqueries that became joins of it.
    joined: BTreeSet<SubqueryId>,
}

/// What was asked of a part.
#[derive(PartialEq)]
struct PlanRequest {
    filters: Vec<Predicate>,
    needed: Slots,
    order: Vec<SortKey>,
    otherwise: OrderFallback,
    goal: Option<f64>,
}

/// Whether a part is converted again as quickly as it is found, but for subqueries that conditions
/// from above join to it.
pub(crate) fn is_small(tree: &Logical) -> bool {
    match tree {
        // Its own are joins, too.
        Logical::Filter { input, predicate } => {
            predicate.reads().subqueries.is_empty() && is_small(input)
        }
        Logical::Compute { input, .. } => is_small(input),
        Logical::Get(_)
        | Logical::Virtual(_)
        | Logical::Function(_)
        | Logical::Values { .. }
        | Logical::Changed { .. } => true,
        _ => false,
    }
}

impl Optimizer<'_> {
    /// As `convert_filtered`, once for the same.
    pub(crate) fn remembered(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let simple = |p: &Predicate| p.reads().subqueries.is_empty();
        if is_small(tree) && filters.iter().all(simple) {
            return self.convert_filtered(tree, filters, needed, wish);
        }
        let place = std::ptr::from_ref(tree) as usize;
        let (order, otherwise, goal) = (wish.order.to_vec(), wish.otherwise, wish.goal);
        let asked = PlanRequest { filters, needed: needed.clone(), order, otherwise, goal };
        let known = self.memo.0.get(&place).into_iter().flatten();
        if let Some(found) = known.into_iter().find(|r| r.asked == asked && r.tree == *tree) {
            self.joined.extend(&found.joined);
            return Ok(found.node.clone());
        }
        let before = std::mem::take(&mut self.joined);
        let node = self.convert_filtered(tree, asked.filters.clone(), needed, wish);
        let joined = std::mem::replace(&mut self.joined, before);
        self.joined.extend(&joined);
        let node = node?;
        self.trials = self.trials.saturating_sub(1);
        self.toll.pay(tree.count() * NODE_BYTES)?;
        let tree = tree.clone();
        let entry = self.memo.0.entry(place).or_default();
        entry.push(MemoEntry { tree, asked, node: node.clone(), joined });
        Ok(node)
    }
}
