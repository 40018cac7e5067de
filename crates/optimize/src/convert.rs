//! The recursion: each logical node with the conditions and wishes from above.

use crate::access::with_filter;
use crate::estimate;
use crate::node::{Node, Reader, Slots, writes};
use base::SqlResult;
use catalog::view::Object;
use plan::{
    ChangedId, Logical, Physical, Predicate, Recursion, Scalar, Slot, SortKey, Subquery, SubqueryId,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// What the recursion knows beside the tree.
pub(crate) struct Optimizer<'a> {
    pub(crate) references: &'a [Object],
    pub(crate) subqueries: &'a [Subquery<Logical>],
    pub(crate) slots: Cell<u32>,
    /// Subqueries that became joins: no expression runs them.
    pub(crate) joined: BTreeSet<SubqueryId>,
    /// Subqueries of foreign keys: they run when all that they are about is written.
    pub(crate) enforcing: BTreeSet<SubqueryId>,
    /// Of the tree that was finished last.
    pub(crate) estimates: Vec<f64>,
    /// How many rows each target changes, by the number under which they are kept.
    pub(crate) changed: BTreeMap<ChangedId, Cardinality>,
}

/// How many rows there are.
#[derive(Clone, Copy)]
pub(crate) struct Cardinality {
    pub(crate) rows: f64,
    /// No more than one.
    pub(crate) single: bool,
}

impl<'a> Optimizer<'a> {
    /// What a target has kept.
    fn changed_rows(&self, id: ChangedId, columns: &[Slot]) -> Node {
        let many = Cardinality { rows: estimate::VIEW_ROWS, single: false };
        let Cardinality { rows, single } = self.changed.get(&id).copied().unwrap_or(many);
        let tree = Physical::Changed { id, columns: columns.to_vec() };
        Node { single, ..Node::unordered(tree, rows) }
    }

    pub(crate) fn new_slot(&self) -> Slot {
        let slot = Slot(self.slots.get());
        self.slots.set(slot.0 + 1);
        slot
    }

    pub(crate) fn reader(&self) -> Reader<'a> {
        Reader { subqueries: self.subqueries }
    }

    /// A node whose rows satisfy `filters`, with `needed` in their slots, in the `wanted` order if
    /// that costs nothing.
    pub(crate) fn convert(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wanted: &[SortKey],
    ) -> SqlResult<Node> {
        let never = |p: &Predicate| matches!(p, Predicate::Constant(Some(false) | None));
        if filters.iter().any(never) {
            return Ok(nothing());
        }
        match tree {
            Logical::Get(get) => self.get(get, filters, needed, wanted),
            Logical::Virtual(get) => self.virtual_scan(get, filters, needed),
            Logical::Changed { id, columns } => {
                Ok(with_filter(self.changed_rows(*id, columns), filters))
            }
            Logical::Values { rows, columns } => {
                let single = rows.len() <= 1;
                let tree = Physical::Constants { rows: rows.clone(), columns: columns.clone() };
                let node = Node::unordered(tree, rows.len() as f64);
                Ok(with_filter(Node { single, ..node }, filters))
            }
            Logical::Filter { input, predicate } => {
                self.filter(input, predicate, filters, needed, wanted)
            }
            Logical::Compute { input, columns } => {
                self.compute(input, columns, filters, needed, wanted)
            }
            Logical::Join { .. } => self.join(tree, filters, needed, wanted),
            Logical::Aggregate(g) => self.aggregate(g, filters, needed),
            Logical::Distinct { input, columns } => self.distinct(input, columns, filters, needed),
            Logical::Window { .. } => self.window(tree, filters, needed),
            Logical::Sort { input, keys } => self.sort(input, keys, filters, needed),
            Logical::Top { input, top } => self.top(input, top, filters, needed, wanted),
            Logical::Concatenate { inputs, columns } => {
                self.concatenate(inputs, columns, filters, needed)
            }
            Logical::Recursive(r) => self.recursive(r, filters),
        }
    }

    fn filter(
        &mut self,
        input: &Logical,
        predicate: &Predicate,
        filters: Vec<Predicate>,
        needed: &Slots,
        wanted: &[SortKey],
    ) -> SqlResult<Node> {
        let own = writes(input);
        let mut down = filters;
        let (mut first, mut semi) = (Vec::new(), Vec::new());
        let mut below = needed.clone();
        for p in predicate.clone().conjuncts() {
            if matches!(p, Predicate::Constant(Some(false) | None)) {
                return Ok(nothing());
            }
            let reads = p.reads();
            if reads.subqueries.is_empty() && !reads.volatile && reads.slots.is_disjoint(&own) {
                first.push(p);
            } else if self.is_semi(&p) {
                below.extend(self.reader().predicate(&p));
                semi.push(p);
            } else {
                down.push(p);
            }
        }
        let mut node = self.convert(input, down, &below, wanted)?;
        for p in semi {
            node = self.semi(node, &own, p, needed)?;
        }
        Ok(match Predicate::all(first) {
            None => node,
            Some(predicate) => {
                node.over(|input| Physical::StartupFilter { input: Box::new(input), predicate })
            }
        })
    }

    fn compute(
        &mut self,
        input: &Logical,
        columns: &[(Slot, Scalar)],
        filters: Vec<Predicate>,
        needed: &Slots,
        wanted: &[SortKey],
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
        let node = self.convert(input, down, &below, wanted)?;
        let node = match kept.is_empty() {
            true => node,
            false => node.over(|input| Physical::Compute { input: Box::new(input), columns: kept }),
        };
        Ok(with_filter(node, above))
    }

    fn concatenate(
        &mut self,
        inputs: &[(Logical, Vec<Slot>)],
        columns: &[Slot],
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let mut read = needed.clone();
        filters.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        // A filter that runs a subquery reads the result's slots from within it.
        let (above, down): (Vec<_>, Vec<_>) =
            filters.into_iter().partition(|p| !p.reads().subqueries.is_empty());
        let kept: Vec<usize> = (0..columns.len()).filter(|&n| read.contains(&columns[n])).collect();
        let mut parts = Vec::with_capacity(inputs.len());
        let (mut rows, mut below) = (0.0, Vec::new());
        for (input, slots) in inputs {
            let own: Vec<Predicate> = down.iter().map(|p| substituted(p, columns, slots)).collect();
            let slots: Vec<Slot> = kept.iter().map(|&n| slots[n]).collect();
            let wanted_slots = slots.iter().copied().collect();
            let node = self.convert_filtered(input, own, &wanted_slots)?;
            rows += node.rows;
            below.extend(node.estimates());
            parts.push((node.tree, slots));
        }
        let columns = kept.iter().map(|&n| columns[n]).collect();
        let tree = Physical::Concatenation { inputs: parts, columns };
        Ok(with_filter(Node::unordered(tree, rows).above(below), above))
    }

    /// A recursion keeps all columns: a row that comes out is also a row to go on with. Its
    /// members read the row they run for as one outside them.
    fn recursive(&mut self, r: &Recursion<Logical>, filters: Vec<Predicate>) -> SqlResult<Node> {
        let mut below = Vec::new();
        let mut part = |own: &mut Self, tree, slots: &[Slot]| {
            let node = own.convert(tree, Vec::new(), &slots.iter().copied().collect(), &[])?;
            below.extend(node.estimates());
            SqlResult::Ok((node.rows, node.tree))
        };
        let (rows, anchor) = part(self, &r.anchor, &r.anchor_slots)?;
        let mut members = Vec::with_capacity(r.members.len());
        for (member, slots) in &r.members {
            members.push((part(self, member, slots)?.1, slots.clone()));
        }
        let tree = Physical::Recursive(Box::new(Recursion {
            name: r.name.clone(),
            anchor,
            anchor_slots: r.anchor_slots.clone(),
            members,
            columns: r.columns.clone(),
            work: r.work.clone(),
            limit: r.limit,
        }));
        let node = Node::unordered(tree, rows * RECURSION_STEPS).above(below);
        Ok(with_filter(node, filters))
    }

    /// Converts with conditions as if they stood right above the tree.
    pub(crate) fn convert_filtered(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        match Predicate::all(filters) {
            None => self.convert(tree, Vec::new(), needed, &[]),
            Some(predicate) => self.filter(tree, &predicate, Vec::new(), needed, &[]),
        }
    }
}

/// How many rows are expected to follow from each of an anchor.
const RECURSION_STEPS: f64 = 10.0;

/// No rows.
pub(crate) fn nothing() -> Node {
    let tree = Physical::Constants { rows: Vec::new(), columns: Vec::new() };
    let node = Node::unordered(tree, 0.0);
    Node { single: true, ..node }
}

fn substituted(p: &Predicate, from: &[Slot], to: &[Slot]) -> Predicate {
    let mut p = p.clone();
    p.rewrite(&mut |x| {
        if let plan::ScalarKind::Column(slot) = &mut x.kind
            && let Some(n) = from.iter().position(|s| s == slot)
        {
            *slot = to[n];
        }
    });
    p
}

/// A sort of a node's rows.
pub(crate) fn sorted(node: Node, keys: &[SortKey], needed: &Slots, own: &Slots) -> Node {
    if node.ordered_by(keys) {
        return node;
    }
    let carried = carried(needed, own, keys.iter().map(|k| k.slot));
    let (rows, below) = (node.rows, node.estimates());
    debug_assert!(estimate::sort(rows) >= 0.0);
    let tree = Physical::Sort {
        input: Box::new(node.tree),
        keys: keys.to_vec(),
        carried,
        distinct: false,
    };
    Node { order: keys.to_vec(), fixed: node.fixed, below, ..Node::unordered(tree, rows) }
}

/// The slots an operator remembers: of its input's those that are needed, and some of its own use.
pub(crate) fn carried(needed: &Slots, own: &Slots, also: impl Iterator<Item = Slot>) -> Vec<Slot> {
    let mut slots: Slots = needed.intersection(own).copied().collect();
    slots.extend(also);
    slots.into_iter().collect()
}
