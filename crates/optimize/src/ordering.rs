//! Nodes that order, group and limit.

use crate::access::with_filter;
use crate::convert::{Optimizer, carried, sorted};
use crate::node::{Node, Slots, writes};
use base::SqlResult;
use plan::{Grouping, Logical, Physical, Predicate, Reads, Slot, SortKey, Top};
use types::Collation;

/// The most rows that are kept sorted one by one instead of sorted at once.
const TOP_SORT_MAX: i64 = 100_000;

fn ascending(keys: &[(Slot, Collation)]) -> Vec<SortKey> {
    let key = |&(slot, collation)| SortKey { slot, collation, descending: false };
    keys.iter().map(key).collect()
}

impl Optimizer<'_> {
    pub(crate) fn sort(
        &mut self,
        input: &Logical,
        keys: &[SortKey],
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let mut below = needed.clone();
        below.extend(keys.iter().map(|k| k.slot));
        let node = self.convert(input, filters, &below, keys)?;
        Ok(sorted(node, keys, needed, &writes(input)))
    }

    pub(crate) fn top(
        &mut self,
        input: &Logical,
        top: &Top,
        filters: Vec<Predicate>,
        needed: &Slots,
        wanted: &[SortKey],
    ) -> SqlResult<Node> {
        let mut below = needed.clone();
        filters.iter().for_each(|p| below.extend(self.reader().predicate(p)));
        let mut reads = Reads::default();
        top.read_into(&mut reads);
        below.extend(self.reader().whole(reads));
        let node = match input {
            Logical::Sort { input, keys } => {
                let mut inner = below.clone();
                inner.extend(keys.iter().map(|k| k.slot));
                let node = self.convert(input, Vec::new(), &inner, keys)?;
                if !node.ordered_by(keys) && sorts_one_by_one(top) {
                    let carried = carried(&below, &writes(input), keys.iter().map(|k| k.slot));
                    let (rows, below) = (limit(top, node.rows), node.estimates());
                    let tree = Physical::TopSort {
                        input: Box::new(node.tree),
                        top: top.clone(),
                        keys: keys.clone(),
                        carried,
                    };
                    let node = Node::unordered(tree, rows).above(below);
                    let node = Node { order: keys.clone(), single: is_one(top), ..node };
                    return Ok(with_filter(node, filters));
                }
                sorted(node, keys, &below, &writes(input))
            }
            // What comes first is any row's luck: an order wished above may choose it.
            other => self.convert(other, Vec::new(), &below, wanted)?,
        };
        let rows = limit(top, node.rows);
        let single = node.single || is_one(top);
        let node = node.over(|input| Physical::Top { input: Box::new(input), top: top.clone() });
        Ok(with_filter(Node { rows, single, ..node }, filters))
    }

    pub(crate) fn distinct(
        &mut self,
        input: &Logical,
        columns: &[(Slot, Collation)],
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let mut below = needed.clone();
        below.extend(columns.iter().map(|(slot, _)| *slot));
        let keys = ascending(columns);
        let node = self.convert(input, filters, &below, &keys)?;
        Ok(grouped(node, columns, Vec::new()))
    }

    pub(crate) fn aggregate(
        &mut self,
        g: &Grouping,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let reader = self.reader();
        let shared: Slots = g.keys.iter().map(|(slot, _)| *slot).collect();
        let outputs: Slots = g.calls.iter().map(|c| c.output).collect();
        // What speaks of keys alone may be tested before grouping.
        let early = |p: &Predicate| {
            !shared.is_empty()
                && reader.predicate(p).is_disjoint(&outputs)
                && p.reads().slots.iter().any(|s| shared.contains(s))
        };
        let (down, above): (Vec<_>, Vec<_>) = filters.into_iter().partition(early);
        let mut wanted_outputs = needed.clone();
        above.iter().for_each(|p| wanted_outputs.extend(reader.predicate(p)));
        let calls: Vec<_> =
            g.calls.iter().filter(|c| wanted_outputs.contains(&c.output)).cloned().collect();
        let mut below = shared.clone();
        for call in &calls {
            let arguments = call.argument.iter().chain(&call.separator);
            arguments.for_each(|x| below.extend(reader.scalar(x)));
        }
        // Outer slots and those of an APPLY around are not ours to give, but stay readable.
        let keys = ascending(&g.keys);
        let node = self.convert(&g.input, down, &below, &keys)?;
        Ok(with_filter(grouped(node, &g.keys, calls), above))
    }

    pub(crate) fn window(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Logical::Window { input, partition, order, calls } = tree else {
            return self.convert(tree, filters, needed, &[]);
        };
        let reader = self.reader();
        let mut below = needed.clone();
        filters.iter().for_each(|p| below.extend(reader.predicate(p)));
        let calls: Vec<_> = calls.iter().filter(|c| below.contains(&c.output)).cloned().collect();
        if calls.is_empty() {
            return self.convert(input, filters, needed, &[]);
        }
        let carried_needed = below.clone();
        let mut reads = Reads::default();
        calls.iter().for_each(|c| c.function.read_into(&mut reads));
        below.extend(reader.whole(reads));
        let mut keys: Vec<SortKey> = Vec::new();
        for key in partition.iter().chain(order) {
            if !keys.iter().any(|k| k.slot == key.slot) {
                keys.push(*key);
            }
        }
        below.extend(keys.iter().map(|k| k.slot));
        let own = writes(input);
        let node = self.convert(input, Vec::new(), &below, &keys)?;
        let node = if keys.is_empty() { node } else { sorted(node, &keys, &below, &own) };
        let peers = |keys: &[SortKey]| keys.iter().map(|k| (k.slot, k.collation)).collect();
        let (partition, order) = (peers(partition), peers(order));
        let slots = carried(&carried_needed, &own, std::iter::empty());
        let node = node.over(|input| Physical::Window {
            input: Box::new(input),
            partition,
            order,
            calls,
            carried: slots,
        });
        Ok(with_filter(node, filters))
    }
}

/// Groups of a node's rows: of neighbours where its order has them so.
fn grouped(node: Node, keys: &[(Slot, Collation)], calls: Vec<plan::AggregateCall>) -> Node {
    let order = ascending(keys);
    let keys = keys.to_vec();
    let below = node.estimates();
    if keys.is_empty() {
        let tree = Physical::StreamAggregate { input: Box::new(node.tree), keys, calls };
        return Node { single: true, below, ..Node::unordered(tree, 1.0) };
    }
    let rows = (node.rows * 0.1).max(1.0);
    if node.ordered_by(&order) {
        let single = node.single;
        let fixed = node.fixed;
        let tree = Physical::StreamAggregate { input: Box::new(node.tree), keys, calls };
        return Node { order, fixed, rows, below, single, tree };
    }
    let tree = Physical::HashAggregate { input: Box::new(node.tree), keys, calls };
    Node::unordered(tree, rows).above(below)
}

fn constant_count(top: &Top) -> Option<i64> {
    top.count.as_ref()?.as_constant()?.as_i64()
}

fn sorts_one_by_one(top: &Top) -> bool {
    let bounded = constant_count(top).is_none_or(|n| n <= TOP_SORT_MAX);
    top.count.is_some() && !top.percent && top.offset.is_none() && bounded
}

fn is_one(top: &Top) -> bool {
    !top.percent && top.ties.is_none() && constant_count(top).is_some_and(|n| n <= 1)
}

fn limit(top: &Top, rows: f64) -> f64 {
    match constant_count(top) {
        Some(n) if !top.percent => rows.min(n.max(0) as f64),
        _ => rows,
    }
}
