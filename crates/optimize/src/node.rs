//! What converting a part of the tree gives, and the slots of its parts.

use plan::{Logical, Physical, Predicate, Reads, Scalar, Slot, SortKey, SubqueryId};
use std::collections::BTreeSet;

/// A set of slots.
pub(crate) type Slots = BTreeSet<Slot>;

/// A converted part.
pub(crate) struct Node {
    pub(crate) tree: Physical,
    /// The order its rows come in.
    pub(crate) order: Vec<SortKey>,
    /// Slots that are the same in all rows: they may stand anywhere in an order.
    pub(crate) fixed: Slots,
    /// A guess.
    pub(crate) rows: f64,
    /// The guesses for the operators below the topmost, in preorder.
    pub(crate) below: Vec<f64>,
    /// It gives no more than one row.
    pub(crate) single: bool,
}

impl Node {
    /// A part without known order.
    pub(crate) fn unordered(tree: Physical, rows: f64) -> Node {
        let (order, below) = (Vec::new(), Vec::new());
        Node { tree, order, fixed: Slots::new(), rows, below, single: false }
    }

    /// The same rows in the same order under another operator.
    pub(crate) fn over(self, wrap: impl FnOnce(Physical) -> Physical) -> Node {
        let below = self.estimates();
        Node { tree: wrap(self.tree), below, ..self }
    }

    /// The guesses for all its operators, in preorder.
    pub(crate) fn estimates(&self) -> Vec<f64> {
        std::iter::once(self.rows).chain(self.below.iter().copied()).collect()
    }

    /// The same, as of an operator with these operators below.
    pub(crate) fn above(self, below: Vec<f64>) -> Node {
        Node { below, ..self }
    }

    /// Whether rows come in an order.
    pub(crate) fn ordered_by(&self, keys: &[SortKey]) -> bool {
        self.single || follows(&self.order, &self.fixed, keys)
    }
}

/// Whether an order implies another.
pub(crate) fn follows(order: &[SortKey], fixed: &Slots, keys: &[SortKey]) -> bool {
    let mut own = order.iter().filter(|k| !fixed.contains(&k.slot));
    keys.iter().filter(|k| !fixed.contains(&k.slot)).all(|k| own.next() == Some(k))
}

/// The slots a logical tree writes.
pub(crate) fn writes(tree: &Logical) -> Slots {
    let mut writes = Slots::new();
    tree.reads_and_writes(&mut Reads::default(), &mut writes);
    writes
}

/// Slots that expressions read, with the outer ones of the subqueries they run.
pub(crate) struct Reader<'a> {
    pub(crate) subqueries: &'a [plan::Subquery<Logical>],
}

impl Reader<'_> {
    pub(crate) fn predicate(&self, p: &Predicate) -> Slots {
        self.whole(p.reads())
    }

    pub(crate) fn scalar(&self, x: &Scalar) -> Slots {
        self.whole(x.reads())
    }

    pub(crate) fn whole(&self, reads: Reads) -> Slots {
        let mut slots = reads.slots;
        for id in &reads.subqueries {
            slots.extend(self.outer(*id));
        }
        slots
    }

    pub(crate) fn outer(&self, id: SubqueryId) -> impl Iterator<Item = Slot> + '_ {
        self.subqueries[id.0 as usize].outer.iter().copied()
    }

    /// What a tree reads and doesn't write.
    pub(crate) fn free(&self, tree: &Logical) -> Slots {
        let (mut reads, mut writes) = (Reads::default(), Slots::new());
        tree.reads_and_writes(&mut reads, &mut writes);
        self.whole(reads).difference(&writes).copied().collect()
    }
}
