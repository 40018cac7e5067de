//! UNION and UNION ALL: one side after the other, or all sides in one order and read side by side.
//!
//! ```text
//!   hash     all rows, equal ones found by hash
//!   concat   all rows, sorted, equal ones are neighbours
//!   merge    every side in one order of all columns: a tree of merges of two
//! ```
//! UNION ALL is merged where an order is wished and a merge of ordered sides costs less than a sort
//! of all rows. A UNION that no hint speaks of is merged where every side comes in order for
//! free; in which order is said by whoever stands above, else by the columns from left to right.
//!
//! Each side is converted once, whatever is chosen: unions nest as deep as the text does.

use crate::convert::{Optimizer, nothing};
use crate::node::{Node, OrderFallback, Slots, Wish, writes};
use crate::ordering::ascending;
use base::{SqlError, SqlResult, messages};
use catalog::view::Object;
use plan::{
    Concatenation, Get, GroupHint, Logical, MergeUnion, Physical, Predicate, Slot, SortKey,
    UnionHint,
};
use types::Collation;

/// The sides, each with the slots that go into `columns`.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'l> {
    pub(crate) inputs: &'l [(Logical, Vec<Slot>)],
    pub(crate) columns: &'l [Slot],
}

/// The sides as they are run, less what nobody reads.
#[derive(Clone)]
struct Sides {
    inputs: Vec<(Node, Vec<Slot>)>,
    columns: Vec<Slot>,
}

/// How sides are merged.
struct UnionMerge {
    keys: Vec<SortKey>,
    /// Equal rows once.
    distinct: bool,
    /// The most rows that may come out.
    rows: f64,
}

impl Parts<'_> {
    /// An order of the columns as one side spells it.
    fn order_of(&self, side: usize, keys: &[SortKey]) -> Vec<SortKey> {
        spelled(keys, self.columns, &self.inputs[side].1)
    }

    /// No slot is written by two sides: rows of all can be at hand at once.
    fn disjoint(&self) -> bool {
        let mut all = Slots::new();
        self.inputs.iter().flat_map(|(input, _)| writes(input)).all(|slot| all.insert(slot))
    }
}

impl Optimizer<'_> {
    /// UNION ALL.
    pub(crate) fn concatenate(
        &mut self,
        parts: &Parts<'_>,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        // A filter that runs a subquery reads the result's slots from within it.
        let (above, down): (Vec<_>, Vec<_>) =
            filters.into_iter().partition(|p| !p.reads().subqueries.is_empty());
        let mut read = needed.clone();
        above.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        let forced = self.hints.unions == [UnionHint::Merge];
        let merges =
            self.may_merge(parts, wish.order) && (forced || self.some_ordered(parts, wish.order));
        let sides = match merges {
            true => self.sides(parts, &down, &read, wish)?,
            false => self.sides(parts, &down, &read, wish.unordered())?,
        };
        if !merges {
            let node = self.concatenated(sides.inputs, sides.columns);
            return Ok(self.with_filter(node, above));
        }
        let rows = sides.inputs.iter().map(|(node, _)| node.rows).sum();
        let merging = UnionMerge { keys: wish.order.to_vec(), distinct: false, rows };
        let merged = self.merged_union(sides.clone(), &merging);
        let plain = self.concatenated(sides.inputs, sides.columns);
        let merged_pays = forced || self.priced(&merged, wish) < self.priced(&plain, wish);
        Ok(self.with_filter(if merged_pays { merged } else { plain }, above))
    }

    /// UNION: `keys` are all columns.
    pub(crate) fn united(
        &mut self,
        parts: &Parts<'_>,
        keys: &[(Slot, Collation)],
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let (above, down): (Vec<_>, Vec<_>) =
            filters.into_iter().partition(|p| !p.reads().subqueries.is_empty());
        let slots: Vec<Slot> = keys.iter().map(|(slot, _)| *slot).collect();
        let mut read = needed.clone();
        read.extend(&slots);
        above.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        let order = whole_order(keys, wish.order);
        let hints = &self.hints.unions;
        let hinted = hints.contains(&UnionHint::Merge);
        let free = hints.is_empty() && self.hints.groups.is_none();
        let merges =
            self.may_merge(parts, &order) && (hinted || free && self.all_ordered(parts, &order));
        let otherwise = match hints[..] {
            [UnionHint::Merge] => OrderFallback::Sort,
            _ => OrderFallback::Hash,
        };
        let inner = Wish { order: &order, otherwise, goal: None };
        let inner = if merges { inner } else { Wish::NONE };
        let sides = self.sides(parts, &down, &read, inner)?;
        let rows: f64 = sides.inputs.iter().map(|(node, _)| node.rows).sum();
        let groups = self.estimator.groups(&slots, rows).clamp(rows.min(1.0), rows.max(1.0));
        let mut ways = Vec::new();
        if merges && (hinted || are_ordered(&sides, &order)) {
            let merging = UnionMerge { keys: order.clone(), distinct: true, rows: groups };
            ways.push(self.merged_union(sides.clone(), &merging));
        }
        for how in self.groupings() {
            let all = self.concatenated(sides.inputs.clone(), sides.columns.clone());
            ways.push(self.grouped_as(how, all, keys, Vec::new(), groups));
        }
        let cheaper = |a: &Node, b: &Node| self.priced(a, wish).total_cmp(&self.priced(b, wish));
        let best = ways.into_iter().min_by(cheaper);
        let node = best.ok_or_else(|| SqlError::new(messages::HINTS_NO_PLAN, &[]))?;
        Ok(self.with_filter(node, above))
    }

    /// How equal rows of all sides together may be found.
    fn groupings(&self) -> Vec<Option<GroupHint>> {
        let way = |hint: &UnionHint| match hint {
            UnionHint::Hash => Some(Some(GroupHint::Hash)),
            UnionHint::Concat => Some(Some(self.hints.groups.unwrap_or(GroupHint::Order))),
            UnionHint::Merge => None,
        };
        match self.hints.unions.is_empty() {
            true => vec![self.hints.groups],
            false => self.hints.unions.iter().filter_map(way).collect(),
        }
    }

    /// Whether hints and slots allow a merge in an order of the columns.
    fn may_merge(&self, parts: &Parts<'_>, order: &[SortKey]) -> bool {
        let hints = &self.hints.unions;
        let allowed = hints.is_empty() || hints.contains(&UnionHint::Merge);
        let own = order.iter().all(|key| parts.columns.contains(&key.slot));
        allowed && own && !order.is_empty() && parts.inputs.len() > 1 && parts.disjoint()
    }

    fn all_ordered(&self, parts: &Parts<'_>, keys: &[SortKey]) -> bool {
        let side = |n: usize| self.may_be_ordered(&parts.inputs[n].0, &parts.order_of(n, keys));
        (0..parts.inputs.len()).all(side)
    }

    fn some_ordered(&self, parts: &Parts<'_>, keys: &[SortKey]) -> bool {
        let side = |n: usize| self.may_be_ordered(&parts.inputs[n].0, &parts.order_of(n, keys));
        (0..parts.inputs.len()).any(side)
    }

    /// Whether it is worth asking a relation for an order: it may come so without a sort.
    fn may_be_ordered(&self, tree: &Logical, keys: &[SortKey]) -> bool {
        let Some(first) = keys.first() else { return false };
        match tree {
            Logical::Get(get) => self.has_index_on(get, first.slot),
            one if is_one_row(one) => true,
            Logical::Values { .. } => false,
            Logical::Aggregate(g) => self.may_be_ordered(&g.input, keys),
            Logical::Compute { input, .. } if is_one_row(input) => true,
            Logical::Compute { input, columns } => {
                let computed = |k: &SortKey| columns.iter().find(|(slot, _)| *slot == k.slot);
                let moving = |k: &&SortKey| computed(k).is_none_or(|x| x.1.as_constant().is_none());
                let keys: Vec<SortKey> = keys.iter().filter(moving).copied().collect();
                !keys.iter().any(|k| computed(k).is_some()) && self.may_be_ordered(input, &keys)
            }
            Logical::Filter { input, .. }
            | Logical::Top { input, .. }
            | Logical::Window { input, .. } => self.may_be_ordered(input, keys),
            Logical::Join { left, right, .. } => {
                self.may_be_ordered(left, keys) || self.may_be_ordered(right, keys)
            }
            Logical::Sort { keys: own, .. } => own.first() == Some(first),
            Logical::Concatenate { inputs, columns } => {
                self.all_ordered(&Parts { inputs, columns }, keys)
            }
            Logical::Distinct { input, .. } => self.may_be_ordered(input, keys),
            Logical::Virtual(_)
            | Logical::Function(_)
            | Logical::Changed { .. }
            | Logical::Recursive(_) => false,
        }
    }

    /// Whether some index of a table has a column in its key.
    fn has_index_on(&self, get: &Get, slot: Slot) -> bool {
        let Some(Object::Table(table)) = self.references.get(get.table.0 as usize) else {
            return false;
        };
        let column = get.columns.iter().find(|c| c.slot == slot).map(|c| c.column);
        let enabled = table.indexes.iter().filter(|i| !i.disabled);
        enabled.into_iter().any(|i| i.key.iter().any(|k| Some(k.column) == column))
    }

    /// Each side with the conditions on it, as somebody wishes all of them.
    fn sides(
        &mut self,
        parts: &Parts<'_>,
        conditions: &[Predicate],
        read: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Sides> {
        let mut read = read.clone();
        conditions.iter().for_each(|p| read.extend(self.reader().predicate(p)));
        read.extend(wish.order.iter().map(|k| k.slot));
        let columns = parts.columns;
        let kept: Vec<usize> = (0..columns.len()).filter(|&n| read.contains(&columns[n])).collect();
        let mut inputs = Vec::with_capacity(parts.inputs.len());
        for (n, (input, slots)) in parts.inputs.iter().enumerate() {
            let own = conditions.iter().map(|p| substituted(p, columns, slots)).collect();
            let order = parts.order_of(n, wish.order);
            let wish = Wish { order: &order, ..wish };
            let slots: Vec<Slot> = kept.iter().map(|&n| slots[n]).collect();
            let needed = slots.iter().copied().collect();
            inputs.push((self.convert_filtered(input, own, &needed, wish)?, slots));
        }
        Ok(Sides { inputs, columns: kept.iter().map(|&n| columns[n]).collect() })
    }

    /// All rows of several nodes, one after the other.
    pub(crate) fn concatenated(&self, inputs: Vec<(Node, Vec<Slot>)>, columns: Vec<Slot>) -> Node {
        let rows: f64 = inputs.iter().map(|(n, _)| n.rows).sum();
        let width = inputs.iter().map(|(n, _)| n.width).fold(0.0, f64::max);
        let first = inputs.first().map_or(0.0, |(n, _)| n.first);
        let own = self.prices.pass(rows);
        let total = inputs.iter().map(|(n, _)| n.total).sum::<f64>() + own.sum();
        let below = inputs.iter().flat_map(|(n, _)| n.estimates()).collect();
        let inputs = inputs.into_iter().map(|(n, slots)| (n.tree, slots)).collect();
        let tree = Physical::Concatenation(Concatenation { inputs, columns });
        Node { rows, width, first, total, ..Node::joining(tree, own, below) }
    }

    /// Several sides merged: two halves of them, and these two.
    fn merged_union(&self, sides: Sides, merging: &UnionMerge) -> Node {
        let Sides { mut inputs, columns } = sides;
        let behind = inputs.split_off(inputs.len().div_ceil(2));
        let left = self.half(inputs, &columns, merging);
        let right = self.half(behind, &columns, merging);
        self.merge_of_two(left, right, columns, merging)
    }

    /// One side in order, or several merged, and the slots in which it leaves rows.
    fn half(
        &self,
        mut inputs: Vec<(Node, Vec<Slot>)>,
        columns: &[Slot],
        merging: &UnionMerge,
    ) -> (Node, Vec<Slot>) {
        if inputs.len() > 1 {
            let own: Vec<Slot> = columns.iter().map(|_| self.new_slot()).collect();
            let keys = spelled(&merging.keys, columns, &own);
            let sides = Sides { inputs, columns: own.clone() };
            return (self.merged_union(sides, &UnionMerge { keys, ..*merging }), own);
        }
        let (node, slots) = inputs.pop().unwrap_or_else(|| (nothing(), Vec::new()));
        let order = spelled(&merging.keys, columns, &slots);
        let (needed, own) = (slots.iter().copied().collect(), node.tree.written());
        let own = own.into_iter().collect();
        (self.sorted(node, &order, &needed, &own), slots)
    }

    fn merge_of_two(
        &self,
        (left, left_slots): (Node, Vec<Slot>),
        (right, right_slots): (Node, Vec<Slot>),
        columns: Vec<Slot>,
        merging: &UnionMerge,
    ) -> Node {
        let all = left.rows + right.rows;
        let own = self.prices.merge(left.rows, right.rows, 0.0) + self.prices.pass(all);
        let (first, total) = (left.first + right.first, left.total + right.total + own.sum());
        let width = left.width.max(right.width);
        let below = [left.estimates(), right.estimates()].concat();
        let keys = merging.keys.clone();
        let distinct = merging.distinct;
        let (left, right) = (left.tree, right.tree);
        let union = MergeUnion { left, right, left_slots, right_slots, columns, keys, distinct };
        let node = Node::joining(Physical::MergeUnion(Box::new(union)), own, below);
        let (order, rows) = (merging.keys.clone(), all.min(merging.rows));
        Node { order, rows, width, first, total, ..node }
    }
}

/// Keys told of `from` in the slots of `to` at the same places, each once.
fn spelled(keys: &[SortKey], from: &[Slot], to: &[Slot]) -> Vec<SortKey> {
    let mut own: Vec<SortKey> = Vec::with_capacity(keys.len());
    for key in keys {
        let Some(place) = from.iter().position(|&slot| slot == key.slot) else { continue };
        let key = SortKey { slot: to[place], ..*key };
        if !own.contains(&key) {
            own.push(key);
        }
    }
    own
}

fn is_one_row(tree: &Logical) -> bool {
    match tree {
        Logical::Values { rows, .. } => rows.len() <= 1,
        Logical::Aggregate(g) => g.keys.is_empty(),
        Logical::Compute { input, .. } | Logical::Filter { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// An order of all columns: as it is wished above, if columns alone are wished, then the others.
fn whole_order(columns: &[(Slot, Collation)], wished: &[SortKey]) -> Vec<SortKey> {
    let own = |k: &SortKey| columns.contains(&(k.slot, k.collation));
    let mut order = if wished.iter().all(own) { wished.to_vec() } else { Vec::new() };
    for key in ascending(columns) {
        if !order.iter().any(|k| k.slot == key.slot) {
            order.push(key);
        }
    }
    order
}

fn are_ordered(sides: &Sides, keys: &[SortKey]) -> bool {
    let side =
        |(node, slots): &(Node, Vec<Slot>)| node.ordered_by(&spelled(keys, &sides.columns, slots));
    sides.inputs.iter().all(side)
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
