//! Merge joins: both sides in the order of their keys, by an index or a sort.

use super::build::{Joint, Key};
use super::method::Method;
use super::search::{Search, Step, Tie, Way};
use super::set::Set;
use crate::convert::Optimizer;
use crate::node::{Node, Slots};
use base::SqlResult;
use plan::{JoinHint, JoinKind, MergeJoin, MergeKey, Physical, Predicate, Slot, SortKey};

/// What a side costs in the order of its keys.
#[derive(Clone, Copy)]
struct Side {
    first: f64,
    total: f64,
}

fn ascending(slot: Slot, key: &Key) -> SortKey {
    SortKey { slot, collation: key.collation, descending: false }
}

impl Search<'_, '_, '_> {
    /// The equalities of a pair by which it may be merged: columns on both sides, and where the
    /// statement asks for it what is computed of columns.
    fn merge_keys(&self, left: Set, right: Set, tie: Tie) -> Vec<Key> {
        let (of_left, of_right) = (self.slots_of(left), self.slots_of(right));
        let conditions = self.pair_conditions(left, right, tie);
        let (keys, _) = self.optimizer.keys(conditions, &of_left, &of_right);
        let asked = !self.allows(JoinHint::Hash);
        if asked || keys.iter().all(Key::is_plain) { keys } else { Vec::new() }
    }

    /// A side in the order of its keys.
    fn merge_side(&mut self, set: Set, keys: &[SortKey], plain: bool) -> SqlResult<Side> {
        let entry = &self.entries[&set];
        let way = entry.ways[entry.cheapest()];
        let sort = self.optimizer.prices.sort(entry.rows, entry.width).sum();
        let sorted = Side { first: way.total + sort, total: way.total + sort };
        let Some(n) = set.only().filter(|_| plain) else { return Ok(sorted) };
        let known = (n, keys.iter().map(|k| k.slot).collect::<Vec<_>>());
        if let Some((first, total)) = self.sorted.get(&known) {
            return Ok(Side { first: *first, total: *total });
        }
        let needed = self.needed[n].clone();
        let node = self.ordered_relation(n, keys, &needed)?;
        self.sorted.insert(known, (node.first, node.total));
        Ok(Side { first: node.first, total: node.total })
    }

    /// Merging two sets; the left one keeps its order.
    pub(super) fn merge_way(
        &mut self,
        sets: (Set, Set),
        tie: Tie,
        rows: f64,
    ) -> SqlResult<Option<Way>> {
        let keys = self.merge_keys(sets.0, sets.1, tie);
        if keys.is_empty() {
            return Ok(None);
        }
        let order = |left: bool| -> Vec<SortKey> {
            let side = |k: &Key| if left { k.left.as_column() } else { k.right.as_column() };
            keys.iter().filter_map(|k| Some(ascending(side(k)?, k))).collect()
        };
        let (left_keys, right_keys) = (order(true), order(false));
        let plain = keys.iter().all(Key::is_plain);
        let left = self.merge_side(sets.0, &left_keys, plain)?;
        let right = self.merge_side(sets.1, &right_keys, plain)?;
        let (l, r) = (&self.entries[&sets.0], &self.entries[&sets.1]);
        let own = self.optimizer.prices.merge(l.rows, r.rows, rows).sum();
        let ordered = plain && !self.wish.order.is_empty() && self.wish.order == left_keys
            || self.wish.order.is_empty();
        Ok(Some(Way {
            first: left.first + right.first,
            total: left.total + right.total + own,
            ordered,
            step: Step::Join {
                left: (sets.0, l.cheapest()),
                right: (sets.1, r.cheapest()),
                method: Method::Merge,
            },
        }))
    }

    /// A side of a merge join as operators.
    pub(super) fn build_merge_side(
        &mut self,
        (set, way): (Set, usize),
        keys: &[SortKey],
        needed: &Slots,
    ) -> SqlResult<Node> {
        if let Some(n) = set.only() {
            return self.ordered_relation(n, keys, needed);
        }
        let node = self.build(set, way, needed)?;
        let own = self.slots_of(set);
        Ok(self.optimizer.sorted(node, keys, needed, &own))
    }
}

impl Optimizer<'_> {
    /// A merge join of sides that come in the order of their keys, or are sorted now.
    pub(crate) fn merged(&self, j: Joint) -> Node {
        let k = self.keyed(j);
        let key = |&(left, right, collation): &(Slot, Slot, _)| {
            let descending = false;
            MergeKey { left, right, collation, descending }
        };
        let keys: Vec<MergeKey> = k.keys.iter().map(key).collect();
        let order = |slot: fn(&MergeKey) -> Slot| {
            let key = |k: &MergeKey| SortKey {
                slot: slot(k),
                collation: k.collation,
                descending: k.descending,
            };
            keys.iter().map(key).collect::<Vec<_>>()
        };
        let (left_order, right_order) = (order(|k| k.left), order(|k| k.right));
        let left_keys: Vec<Slot> = keys.iter().map(|k| k.left).collect();
        let single =
            k.left.single || k.left_whole && self.estimator.unique_key(&left_keys).is_some();
        let left = self.sorted(k.left, &left_order, &k.left_needed, &k.left_needed);
        let right = self.sorted(k.right, &right_order, &k.right_needed, &k.right_needed);
        let own = self.prices.merge(left.rows, right.rows, k.rows);
        let (first, total) = (left.first + right.first, left.total + right.total + own.sum());
        let below = [left.estimates(), right.estimates()].concat();
        let join = MergeJoin {
            kind: k.kind,
            left: left.tree,
            right: right.tree,
            keys,
            many_to_many: !single,
            residual: Predicate::all(k.rest),
            left_slots: k.left_needed.into_iter().collect(),
            right_slots: k.right_needed.into_iter().collect(),
        };
        let node = Node::joining(Physical::MergeJoin(Box::new(join)), own, below);
        // Right rows without partner have NULLs where the left keys would be.
        let order = if k.kind == JoinKind::Full { Vec::new() } else { left_order };
        Node { order, rows: k.rows, width: k.width, first, total, ..node }
    }
}
