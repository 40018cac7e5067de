//! What converting a part of the tree gives, and the slots of its parts.

use crate::cost::{Cost, UNIT};
use plan::{Estimate, Logical, Physical, Predicate, Reads, Scalar, Slot, SortKey, SubqueryId};
use std::collections::{BTreeMap, BTreeSet};
use types::Collation;

/// A set of slots.
pub(crate) type Slots = BTreeSet<Slot>;

/// Slots that are equal in all rows: under a collation, or under every one.
pub(crate) type FixedSlots = BTreeMap<Slot, Option<Collation>>;

/// A converted part.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) tree: Physical,
    /// The order its rows come in.
    pub(crate) order: Vec<SortKey>,
    /// What is equal in all rows may stand anywhere in an order that compares it likewise.
    pub(crate) fixed: FixedSlots,
    /// Rows that are expected.
    pub(crate) rows: f64,
    /// Bytes of a row's values.
    pub(crate) width: f64,
    /// Microseconds until the first row is there, and the last.
    pub(crate) first: f64,
    pub(crate) total: f64,
    /// What the topmost operator does of it.
    pub(crate) own: Cost,
    /// Of the operators below the topmost, in preorder.
    pub(crate) below: Vec<Estimate>,
    /// It gives no more than one row.
    pub(crate) single: bool,
}

/// What whoever stands above would like.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'w> {
    /// An order of rows.
    pub(crate) order: &'w [SortKey],
    /// What it does about rows in no such order.
    pub(crate) otherwise: OrderFallback,
    /// It will stop after so many rows.
    pub(crate) goal: Option<f64>,
}

/// How an order is come by that rows don't have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum OrderFallback {
    /// They are sorted.
    Sort,
    /// The first so many are kept in order.
    TopSort(f64),
    /// Groups are made by hash.
    Hash,
}

impl Wish<'_> {
    /// Rows in any order, all of them.
    pub(crate) const NONE: Wish<'static> =
        Wish { order: &[], otherwise: OrderFallback::Sort, goal: None };

    /// The same in any order.
    pub(crate) fn unordered(self) -> Wish<'static> {
        Wish { goal: self.goal, ..Wish::NONE }
    }

    /// The part of so many rows that will be asked for.
    pub(crate) fn share(self, rows: f64) -> f64 {
        self.goal.map_or(1.0, |goal| (goal / rows.max(1.0)).clamp(0.0, 1.0))
    }
}

impl Node {
    /// An operator without inputs, its rows in no known order.
    pub(crate) fn leaf(tree: Physical, rows: f64, width: f64, own: Cost) -> Node {
        Node {
            tree,
            order: Vec::new(),
            fixed: FixedSlots::new(),
            rows,
            width,
            first: 0.0,
            total: own.sum(),
            own,
            below: Vec::new(),
            single: false,
        }
    }

    /// The same rows in the same order, each passed on by another operator.
    pub(crate) fn over(self, own: Cost, wrap: impl FnOnce(Physical) -> Physical) -> Node {
        let below = self.estimates();
        Node { below, own, total: self.total + own.sum(), tree: wrap(self.tree), ..self }
    }

    /// Another operator that reads everything before it gives a row.
    pub(crate) fn gathered(self, own: Cost, wrap: impl FnOnce(Physical) -> Physical) -> Node {
        let node = self.over(own, wrap);
        Node { first: node.total, ..node }
    }

    /// An operator over several inputs, whose expectations are listed in order.
    pub(crate) fn joining(tree: Physical, own: Cost, below: Vec<Estimate>) -> Node {
        Node { below, ..Node::leaf(tree, 0.0, 0.0, own) }
    }

    /// The expectations of all its operators, in preorder.
    pub(crate) fn estimates(&self) -> Vec<Estimate> {
        let own = Estimate {
            rows: self.rows,
            row_bytes: self.width,
            executions: 1.0,
            io: self.own.io / UNIT,
            cpu: self.own.cpu / UNIT,
            subtree: self.total / UNIT,
        };
        let mut all = Vec::with_capacity(self.below.len() + 1);
        all.push(own);
        all.extend_from_slice(&self.below);
        all
    }

    /// Microseconds for whoever stops after a part of the rows.
    pub(crate) fn partly(&self, share: f64) -> f64 {
        self.first + (self.total - self.first).max(0.0) * share
    }

    /// Whether rows come in an order.
    pub(crate) fn ordered_by(&self, keys: &[SortKey]) -> bool {
        self.single || follows(&self.order, &self.fixed, keys)
    }
}

/// Expectations of operators that are opened several times.
pub(crate) fn repeated(mut estimates: Vec<Estimate>, times: f64) -> Vec<Estimate> {
    for e in &mut estimates {
        e.executions *= times;
        e.subtree *= times;
    }
    estimates
}

/// Whether an order implies another.
pub(crate) fn follows(order: &[SortKey], fixed: &FixedSlots, keys: &[SortKey]) -> bool {
    let varies = |k: &&SortKey| {
        let under = fixed.get(&k.slot);
        under.is_none_or(|under| under.is_some_and(|collation| collation != k.collation))
    };
    let mut own = order.iter().filter(varies);
    keys.iter().filter(varies).all(|k| own.next() == Some(k))
}

/// The slots a logical tree writes.
pub(crate) fn writes(tree: &Logical) -> Slots {
    let mut writes = Slots::new();
    tree.reads_and_writes(&mut Reads::default(), &mut writes);
    writes
}

/// Slots that expressions read, with the outer ones of the subqueries they run.
#[derive(Clone, Copy)]
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

    /// Whether a subquery may give another value when it is run again.
    pub(crate) fn changes(&self, id: SubqueryId) -> bool {
        let (mut reads, mut writes) = (Reads::default(), Slots::new());
        self.subqueries[id.0 as usize].source.reads_and_writes(&mut reads, &mut writes);
        reads.changing || reads.subqueries.iter().any(|within| self.changes(*within))
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
