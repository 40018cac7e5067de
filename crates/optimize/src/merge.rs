//! Merge joins: both sides in the order of their keys, sorted where they do not come so.

use crate::convert::{Optimizer, sorted};
use crate::join::{Key, Keyed, Pairing};
use crate::node::{Node, Slots};
use base::SqlResult;
use plan::{JoinKind, MergeJoin, MergeKey, Physical, Predicate, Slot, SortKey};

impl Optimizer<'_> {
    /// Joins by merging.
    pub(crate) fn merge(
        &mut self,
        p: Pairing<'_>,
        keys: Vec<Key>,
        rest: Vec<Predicate>,
        needed: &Slots,
        right_needed: Slots,
    ) -> SqlResult<Node> {
        let Keyed { kind, left, right, keys, left_needed, right_needed } =
            self.keyed(p, keys, &rest, needed, right_needed)?;
        let key = |&(left, right, collation)| {
            let descending = false;
            MergeKey { left, right, collation, descending }
        };
        let keys: Vec<MergeKey> = keys.iter().map(key).collect();
        let order = |slot: fn(&MergeKey) -> Slot| {
            let key = |k: &MergeKey| SortKey {
                slot: slot(k),
                collation: k.collation,
                descending: k.descending,
            };
            keys.iter().map(key).collect::<Vec<_>>()
        };
        let (left_order, right_order) = (order(|k| k.left), order(|k| k.right));
        let many_to_many = !left.single;
        let left = sorted(left, &left_order, &left_needed, &left_needed);
        let right = sorted(right, &right_order, &right_needed, &right_needed);
        let rows = left.rows.max(right.rows);
        let below = [left.estimates(), right.estimates()].concat();
        let join = MergeJoin {
            kind,
            left: left.tree,
            right: right.tree,
            keys,
            many_to_many,
            residual: Predicate::all(rest),
            left_slots: left_needed.into_iter().collect(),
            right_slots: right_needed.into_iter().collect(),
        };
        let node = Node::unordered(Physical::MergeJoin(Box::new(join)), rows).above(below);
        // Right rows without partner have NULLs where the left keys would be.
        let order = if kind == JoinKind::Full { Vec::new() } else { left_order };
        Ok(Node { order, ..node })
    }
}
