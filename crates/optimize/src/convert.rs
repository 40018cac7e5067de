//! The recursion: each logical node with the conditions and wishes from above.

use crate::cost::Prices;
use crate::estimate::{Estimator, VIEW_ROWS};
use crate::memo::Memo;
use crate::node::{Node, Reader, Slots, Wish, repeated};
use crate::union::Parts;
use base::limits::TREE_HEIGHT_MAX;
use base::{SqlError, SqlResult, messages};
use catalog::view::Object;
use plan::{
    ChangedId, ChangedRows, Constants, Estimate, IndexChange, JoinKind, Logical, Physical,
    Predicate, QueryHints, Recursion, Scalar, Slot, Sort, SortKey, Subquery, SubqueryId, Toll,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// What the recursion knows beside the tree.
pub(crate) struct Optimizer<'a> {
    pub(crate) references: &'a [Object],
    pub(crate) subqueries: &'a [Subquery<Logical>],
    pub(crate) estimator: Estimator<'a>,
    pub(crate) prices: Prices,
    pub(crate) hints: &'a QueryHints,
    pub(crate) slots: Cell<u32>,
    /// Subqueries that became joins: no expression runs them.
    pub(crate) joined: BTreeSet<SubqueryId>,
    /// Subqueries of foreign keys: they run when all that they are about is written.
    pub(crate) enforcing: BTreeSet<SubqueryId>,
    /// The statement assigns variables while it runs.
    pub(crate) assigns: bool,
    /// How often the tree that is converted will be run.
    pub(crate) times: f64,
    /// How often expressions are expected to run each subquery.
    pub(crate) runs: RefCell<BTreeMap<SubqueryId, f64>>,
    /// What those runs cost, in microseconds.
    pub(crate) runs_price: f64,
    /// The statement calls functions of the user, which may read any table.
    pub(crate) calls: bool,
    /// Of the tree that was finished last.
    pub(crate) estimates: Vec<Estimate>,
    /// How many rows each target changes, by the number under which they are kept.
    pub(crate) changed: BTreeMap<ChangedId, Cardinality>,
    /// The next number under which a target may keep rows.
    pub(crate) next_changed: u32,
    /// How many follow-ups the statement came with.
    pub(crate) follow_ups: usize,
    /// Indexes that are changed by themselves, which follow those, with their expectations.
    pub(crate) index_changes: Vec<(IndexChange<Physical>, Vec<Estimate>)>,
    /// What parts of the tree have become.
    pub(crate) memo: Memo,
    /// Nodes that are being converted, one in the other.
    pub(crate) depth: usize,
    /// What is left of `order::EFFORT_MAX`.
    pub(crate) effort: usize,
    /// The trials that remain of `order::TRIALS_MAX`.
    pub(crate) trials: usize,
    /// Invariant 5 of the crate.
    pub(crate) toll: Toll<'a>,
}

/// What a node of a plan takes, about.
pub(crate) const NODE_BYTES: usize = 1024;

/// How many rows there are.
#[derive(Clone, Copy)]
pub(crate) struct Cardinality {
    pub(crate) rows: f64,
    /// No more than one.
    pub(crate) single: bool,
}

impl<'a> Optimizer<'a> {
    /// What a target has kept.
    pub(crate) fn changed_rows(&self, id: ChangedId, columns: &[Slot]) -> Node {
        let many = Cardinality { rows: VIEW_ROWS, single: false };
        let Cardinality { rows, single } = self.changed.get(&id).copied().unwrap_or(many);
        let tree = Physical::Changed(ChangedRows { id, columns: columns.to_vec() });
        let width = 8.0 * columns.len() as f64;
        Node { single, ..Node::leaf(tree, rows, width, self.prices.pass(rows)) }
    }

    pub(crate) fn new_slot(&self) -> Slot {
        let slot = Slot(self.slots.get());
        self.slots.set(slot.0 + 1);
        slot
    }

    pub(crate) fn reader(&self) -> Reader<'a> {
        Reader { subqueries: self.subqueries }
    }

    /// A node whose rows satisfy `filters`, with `needed` in their slots, and as far as it pays as
    /// somebody above wishes.
    pub(crate) fn convert(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let never = |p: &Predicate| matches!(p, Predicate::Constant(Some(false) | None));
        if filters.iter().any(never) {
            return Ok(nothing());
        }
        if self.depth >= TREE_HEIGHT_MAX {
            return Err(too_deep());
        }
        self.toll.pay(NODE_BYTES)?;
        self.depth += 1;
        let node = self.convert_kind(tree, filters, needed, wish);
        self.depth -= 1;
        node
    }

    fn convert_kind(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        match tree {
            Logical::Get(get) => self.get(get, filters, needed, wish),
            Logical::Virtual(get) => self.virtual_scan(get, filters, needed),
            Logical::Function(call) => {
                let rows = call.function.rows_guess();
                let width = 16.0 * call.columns.len() as f64;
                let tree = Physical::Function(call.clone());
                let node = Node::leaf(tree, rows, width, self.prices.pass(rows));
                Ok(self.with_filter(node, filters))
            }
            Logical::Changed { id, columns } => {
                Ok(self.with_filter(self.changed_rows(*id, columns), filters))
            }
            Logical::Values { rows, columns } => {
                let (single, count) = (rows.len() <= 1, rows.len() as f64);
                let width = 8.0 * columns.len() as f64;
                let tree =
                    Physical::Constants(Constants { rows: rows.clone(), columns: columns.clone() });
                let node = Node::leaf(tree, count, width, self.prices.pass(count));
                Ok(self.with_filter(Node { single, ..node }, filters))
            }
            Logical::Join { kind: JoinKind::Full, .. } => self.full_join(tree, filters, needed),
            Logical::Filter { .. } | Logical::Join { .. } => {
                self.region(tree, filters, needed, wish)
            }
            Logical::Compute { input, columns } => {
                self.compute(input, columns, filters, needed, wish)
            }
            Logical::Aggregate(g) => self.aggregate(g, filters, needed),
            Logical::Distinct { input, columns } => match &**input {
                Logical::Concatenate { inputs, columns: united } => {
                    let parts = Parts { inputs, columns: united };
                    self.united(&parts, columns, filters, needed, wish)
                }
                input => self.distinct(input, columns, filters, needed),
            },
            Logical::Window { .. } => self.window(tree, filters, needed),
            Logical::Sort { input, keys } => self.sort(input, keys, filters, needed, wish),
            Logical::Top { input, top } => self.top(input, top, filters, needed, wish),
            Logical::Concatenate { inputs, columns } => {
                self.concatenate(&Parts { inputs, columns }, filters, needed, wish)
            }
            Logical::Recursive(r) => self.recursive(r, filters),
        }
    }

    fn compute(
        &mut self,
        input: &Logical,
        columns: &[(Slot, Scalar)],
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let reader = self.reader();
        let computed: Slots = columns.iter().map(|(slot, _)| *slot).collect();
        let (above, down): (Vec<_>, Vec<_>) =
            filters.into_iter().partition(|p| !reader.predicate(p).is_disjoint(&computed));
        let mut below = needed.clone();
        above.iter().for_each(|p| below.extend(reader.predicate(p)));
        let mut kept = Vec::with_capacity(columns.len());
        // A column may read those before it.
        for (slot, x) in columns.iter().rev() {
            if below.contains(slot) {
                below.extend(reader.scalar(x));
                kept.push((*slot, x.clone()));
            }
        }
        kept.reverse();
        let outside = wish.order.iter().any(|k| computed.contains(&k.slot));
        let wish = if outside { wish.unordered() } else { wish };
        let node = self.convert_filtered(input, down, &below, wish)?;
        let node = self.computed(node, kept);
        Ok(self.with_filter(node, above))
    }

    /// A recursion keeps all columns: a row that comes out is also a row to go on with. Its
    /// members read the row they run for as one outside them.
    fn recursive(&mut self, r: &Recursion<Logical>, filters: Vec<Predicate>) -> SqlResult<Node> {
        let part = |own: &mut Self, tree, slots: &[Slot]| {
            own.convert(tree, Vec::new(), &slots.iter().copied().collect(), Wish::NONE)
        };
        let anchor = part(self, &r.anchor, &r.anchor_slots)?;
        let rows = anchor.rows * RECURSION_STEPS;
        let (mut below, mut total) = (anchor.estimates(), anchor.total);
        let mut members = Vec::with_capacity(r.members.len());
        for (member, slots) in &r.members {
            let node = part(self, member, slots)?;
            below.extend(repeated(node.estimates(), rows.max(1.0)));
            total += node.total * rows;
            members.push((node.tree, slots.clone()));
        }
        let tree = Physical::Recursive(Box::new(Recursion {
            name: r.name.clone(),
            anchor: anchor.tree,
            anchor_slots: r.anchor_slots.clone(),
            members,
            columns: r.columns.clone(),
            work: r.work.clone(),
            limit: r.limit,
        }));
        let own = self.prices.spool(rows, anchor.width, 1.0);
        let total = total + own.sum();
        let node = Node { rows, width: anchor.width, total, ..Node::joining(tree, own, below) };
        Ok(self.with_filter(node, filters))
    }

    /// Converts with conditions as if they stood right above the tree: some may be joins with
    /// subqueries, or read nothing of it.
    pub(crate) fn convert_filtered(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let plain = match tree {
            Logical::Get(get) => filters.iter().all(|p| {
                let reads = p.reads();
                let own = get.columns.iter().any(|c| reads.slots.contains(&c.slot));
                own && reads.subqueries.is_empty()
            }),
            _ => filters.is_empty(),
        };
        match plain {
            true => self.convert(tree, filters, needed, wish),
            false => self.region(tree, filters, needed, wish),
        }
    }
}

/// How many rows are expected to follow from each of an anchor.
const RECURSION_STEPS: f64 = 10.0;

/// No rows.
pub(crate) fn nothing() -> Node {
    let tree = Physical::Constants(Constants { rows: Vec::new(), columns: Vec::new() });
    let node = Node::leaf(tree, 0.0, 0.0, crate::cost::Cost::default());
    Node { single: true, ..node }
}

impl Optimizer<'_> {
    /// A sort of a node's rows.
    pub(crate) fn sorted(&self, node: Node, keys: &[SortKey], needed: &Slots, own: &Slots) -> Node {
        if node.ordered_by(keys) {
            return node;
        }
        let carried = carried(needed, own, keys.iter().map(|k| k.slot));
        let cost = self.prices.sort(node.rows, node.width);
        let sorted = node.gathered(cost, |input| {
            Physical::Sort(Sort {
                input: Box::new(input),
                keys: keys.to_vec(),
                carried,
                distinct: false,
            })
        });
        Node { order: keys.to_vec(), single: false, ..sorted }
    }
}

/// The slots an operator remembers: of its input's those that are needed, and some of its own use.
pub(crate) fn carried(needed: &Slots, own: &Slots, also: impl Iterator<Item = Slot>) -> Vec<Slot> {
    let mut slots: Slots = needed.intersection(own).copied().collect();
    slots.extend(also);
    slots.into_iter().collect()
}

/// 8631: what descends the tree has a stack of one size.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(messages::STACK_LIMIT, &[])
}
