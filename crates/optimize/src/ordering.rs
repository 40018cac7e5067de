//! Nodes that order, group and limit.

use crate::convert::{Optimizer, carried};
use crate::node::{FixedSlots, Node, OrderFallback, Slots, Wish, writes};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{
    AggregateCall, GroupHint, Grouping, HashAggregate, Logical, Physical, Predicate, Reads, Scalar,
    Slot, SortKey, StreamAggregate, Top, TopRows, TopSort, Window,
};
use types::{Collation, SqlType, Value};

/// The most rows that are kept sorted one by one instead of sorted at once.
const TOP_SORT_MAX: i64 = 100_000;

pub(crate) fn ascending(keys: &[(Slot, Collation)]) -> Vec<SortKey> {
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
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let mut below = needed.clone();
        below.extend(keys.iter().map(|k| k.slot));
        let wish = Wish { order: keys, otherwise: OrderFallback::Sort, goal: wish.goal };
        let node = self.convert_filtered(input, filters, &below, wish)?;
        Ok(self.sorted(node, keys, needed, &writes(input)))
    }

    pub(crate) fn top(
        &mut self,
        input: &Logical,
        top: &Top,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let mut below = needed.clone();
        filters.iter().for_each(|p| below.extend(self.reader().predicate(p)));
        let mut reads = Reads::default();
        top.read_into(&mut reads);
        below.extend(self.reader().whole(reads));
        let goal = goal(top).map_or(wish.goal, |n| Some(wish.goal.map_or(n, |g| g.min(n))));
        let node = match input {
            Logical::Sort { input, keys } => {
                let mut inner = below.clone();
                inner.extend(keys.iter().map(|k| k.slot));
                let one_by_one = sorts_one_by_one(top);
                let otherwise = match goal.filter(|_| one_by_one) {
                    Some(n) => OrderFallback::TopSort(n),
                    None => OrderFallback::Sort,
                };
                let node =
                    self.convert(input, Vec::new(), &inner, Wish { order: keys, otherwise, goal })?;
                if !node.ordered_by(keys) && one_by_one {
                    let node = self.top_sorted(node, top, keys, &below, &writes(input));
                    return Ok(self.with_filter(node, filters));
                }
                self.sorted(node, keys, &below, &writes(input))
            }
            // What comes first is any row's luck: an order wished above may choose it.
            other => self.convert(other, Vec::new(), &below, Wish { goal, ..wish })?,
        };
        let rows = limit(top, node.rows);
        let single = node.single || is_one(top);
        let share = (rows / node.rows.max(1.0)).min(1.0);
        // Rows that nobody asks for are not made.
        let node = Node { total: node.partly(share), ..node };
        let cost = self.prices.pass(rows);
        let node = node.over(cost, |input| {
            Physical::Top(TopRows { input: Box::new(input), top: top.clone() })
        });
        Ok(self.with_filter(Node { rows, single, ..node }, filters))
    }

    fn top_sorted(
        &self,
        node: Node,
        top: &Top,
        keys: &[SortKey],
        needed: &Slots,
        own: &Slots,
    ) -> Node {
        let carried = carried(needed, own, keys.iter().map(|k| k.slot));
        let rows = limit(top, node.rows);
        let cost = self.prices.top_sort(node.rows, rows, node.width);
        let node = node.gathered(cost, |input| {
            Physical::TopSort(TopSort {
                input: Box::new(input),
                top: top.clone(),
                keys: keys.to_vec(),
                carried,
            })
        });
        Node { rows, order: keys.to_vec(), single: is_one(top), ..node }
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
        let all: Slots = columns.iter().map(|(slot, _)| *slot).collect();
        if self.rows_differ(input, &all) {
            return self.convert_filtered(input, filters, &below, Wish::NONE);
        }
        let keys = ascending(columns);
        let wish = grouping_wish(&keys, self.hints.groups);
        let node = self.convert_filtered(input, filters, &below, wish)?;
        let slots: Vec<Slot> = columns.iter().map(|(slot, _)| *slot).collect();
        let groups = self.estimator.groups(&slots, node.rows);
        Ok(self.grouped(node, columns, Vec::new(), groups))
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
        if calls.is_empty() && !shared.is_empty() && self.rows_differ(&g.input, &shared) {
            let node = self.convert_filtered(&g.input, down, &below, Wish::NONE)?;
            return Ok(self.with_filter(node, above));
        }
        // Outer slots and those of an APPLY around are not ours to give, but stay readable.
        let keys = ascending(&g.keys);
        let wish = grouping_wish(&keys, self.hints.groups);
        let node = self.convert_filtered(&g.input, down, &below, wish)?;
        let node = match first_alone(g, &calls) {
            Some(first) => {
                let first = self.convert(&first, Vec::new(), &below, Wish::NONE)?;
                if first.total < node.total { first } else { node }
            }
            None => node,
        };
        let slots: Vec<Slot> = g.keys.iter().map(|(slot, _)| *slot).collect();
        let groups = self.estimator.groups(&slots, node.rows);
        Ok(self.with_filter(self.grouped(node, &g.keys, calls, groups), above))
    }

    pub(crate) fn window(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Logical::Window { input, partition, order, calls } = tree else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a window is a window"]));
        };
        let reader = self.reader();
        let mut below = needed.clone();
        filters.iter().for_each(|p| below.extend(reader.predicate(p)));
        let calls: Vec<_> = calls.iter().filter(|c| below.contains(&c.output)).cloned().collect();
        if calls.is_empty() {
            return self.convert_filtered(input, filters, needed, Wish::NONE);
        }
        let carried_needed = below.clone();
        let inner = writes(tree);
        let (down, above) =
            filters.into_iter().partition(|p| one_in_partition(p, partition, &inner));
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
        let wish = Wish { order: &keys, otherwise: OrderFallback::Sort, goal: None };
        let node = self.convert_filtered(input, down, &below, wish)?;
        let node = if keys.is_empty() { node } else { self.sorted(node, &keys, &below, &own) };
        let peers = |keys: &[SortKey]| keys.iter().map(|k| (k.slot, k.collation)).collect();
        let (partition, order) = (peers(partition), peers(order));
        let slots = carried(&carried_needed, &own, std::iter::empty());
        let cost = self.prices.spool(node.rows, node.width, 1.0)
            + self.prices.aggregates(node.rows, calls.len());
        let node = node.over(cost, |input| {
            Physical::Window(Window {
                input: Box::new(input),
                partition,
                order,
                calls,
                carried: slots,
            })
        });
        Ok(self.with_filter(node, above))
    }
}

/// Whether a condition is answered alike for all rows of a partition of a window, so that it may
/// be tested before: what it leaves are whole partitions. Values that are equal may still be told
/// apart (`'a'` and `'A'`, `0x` and `0x00`); of such only what is compared as the partition
/// compares them is one answer.
fn one_in_partition(p: &Predicate, partition: &[SortKey], inner: &Slots) -> bool {
    let reads = p.reads();
    let own: Slots = reads.slots.intersection(inner).copied().collect();
    let key = |slot: &Slot| partition.iter().find(|k| k.slot == *slot);
    let changing = reads.volatile || reads.changing || !reads.subqueries.is_empty();
    if changing || own.is_empty() || !own.iter().all(|slot| key(slot).is_some()) {
        return false;
    }
    let mut exact = true;
    p.clone().rewrite(&mut |x| {
        exact &= x.as_column().is_none_or(|slot| !own.contains(&slot)) || is_exact(x.ty.sql_type);
    });
    let compared = |x: &Scalar, collation: Collation| {
        x.as_column().and_then(|slot| key(&slot)).is_some_and(|k| k.collation == collation)
    };
    let outside = |x: &Scalar| x.reads().slots.is_disjoint(&own);
    exact
        || match p {
            Predicate::Compare { left, right, collation, .. } => {
                compared(left, *collation) && outside(right)
                    || compared(right, *collation) && outside(left)
            }
            Predicate::InList { operand, list, collation } => {
                compared(operand, *collation) && list.iter().all(outside)
            }
            Predicate::IsNull(x) => x.as_column().is_some(),
            _ => false,
        }
}

/// Whether values of a type that are equal are the same.
fn is_exact(sql_type: SqlType) -> bool {
    use types::Family as F;
    let family = sql_type.family();
    matches!(family, F::Integer | F::Decimal | F::Money | F::Temporal | F::Guid)
        && !matches!(sql_type, SqlType::DateTimeOffset(_))
}

/// The rows of which MIN or MAX needs no more than the first, in the order of its argument: of a
/// table all rows of which are one group.
fn first_alone(g: &Grouping, calls: &[AggregateCall]) -> Option<Logical> {
    let [call] = calls else { return None };
    let descending = match call.function {
        Aggregate::Max => true,
        Aggregate::Min => false,
        _ => return None,
    };
    let slot = call.argument.as_ref()?.as_column().filter(|_| g.keys.is_empty())?;
    let mut reads = Reads::default();
    g.input.reads_and_writes(&mut reads, &mut Slots::new());
    if !is_table(&g.input) || reads.volatile || !reads.subqueries.is_empty() {
        return None;
    }
    let argument = call.argument.clone()?;
    let collation = argument.ty.collation;
    let input = match argument.ty.nullable {
        true => {
            let predicate = Predicate::Not(Box::new(Predicate::IsNull(Box::new(argument))));
            Logical::Filter { input: Box::new(g.input.clone()), predicate }
        }
        false => g.input.clone(),
    };
    let keys = vec![SortKey { slot, collation, descending }];
    let count = Some(Scalar::constant(Value::BigInt(1), SqlType::BigInt));
    let top = Top { count, percent: false, ties: None, offset: None };
    let input = Box::new(Logical::Sort { input: Box::new(input), keys });
    Some(Logical::Top { input, top })
}

/// A table with conditions.
fn is_table(tree: &Logical) -> bool {
    match tree {
        Logical::Filter { input, .. } => is_table(input),
        Logical::Get(_) => true,
        _ => false,
    }
}

/// What a GROUP BY or DISTINCT wishes of its rows.
fn grouping_wish(keys: &[SortKey], how: Option<GroupHint>) -> Wish<'_> {
    let otherwise = match how {
        Some(GroupHint::Order) => OrderFallback::Sort,
        Some(GroupHint::Hash) | None => OrderFallback::Hash,
    };
    Wish { order: keys, otherwise, goal: None }
}

impl Optimizer<'_> {
    /// Groups of a node's rows, as the statement's hints say. Where texts are joined, neighbours
    /// are: one group's text is in memory at a time. SQL Server joins them no other way.
    pub(crate) fn grouped(
        &self,
        node: Node,
        keys: &[(Slot, Collation)],
        calls: Vec<AggregateCall>,
        groups: f64,
    ) -> Node {
        let joins = |c: &AggregateCall| {
            matches!(c.function, Aggregate::StringAgg | Aggregate::StringAggOrdered(_))
        };
        let how = match self.hints.groups {
            None if calls.iter().any(joins) => Some(GroupHint::Order),
            how => how,
        };
        self.grouped_as(how, node, keys, calls, groups)
    }

    /// Groups of a node's rows: of neighbours where its order has them so.
    pub(crate) fn grouped_as(
        &self,
        how: Option<GroupHint>,
        node: Node,
        keys: &[(Slot, Collation)],
        calls: Vec<AggregateCall>,
        groups: f64,
    ) -> Node {
        let order = ascending(keys);
        let (rows, single, count) = (node.rows, node.single, calls.len());
        let aggregates = self.prices.aggregates(rows, count);
        let outputs = calls.iter().map(|c| &c.output);
        let width = self.estimator.width(keys.iter().map(|k| &k.0).chain(outputs));
        let groups = match keys.is_empty() {
            true => 1.0,
            false => groups.clamp(rows.min(1.0), rows.max(1.0)),
        };
        let node = match how {
            Some(GroupHint::Order) => {
                let own = node.tree.written().into_iter().collect();
                self.sorted(node, &order, &own, &own)
            }
            _ => node,
        };
        let keys = keys.to_vec();
        let hashed = how == Some(GroupHint::Hash) && !keys.is_empty();
        if node.ordered_by(&order) && !hashed {
            let cost = self.prices.stream_groups(rows) + aggregates;
            let all = keys.is_empty();
            let node = node.over(cost, |input| {
                Physical::StreamAggregate(StreamAggregate { input: Box::new(input), keys, calls })
            });
            let first = if all { node.total } else { node.first };
            let (single, fixed) =
                (single || all, if all { FixedSlots::new() } else { node.fixed.clone() });
            return Node { order, fixed, rows: groups, width, first, single, ..node };
        }
        let cost = self.prices.hash_groups(rows, groups, width) + aggregates;
        let node = node.gathered(cost, |input| {
            Physical::HashAggregate(HashAggregate { input: Box::new(input), keys, calls })
        });
        let (order, fixed) = (Vec::new(), FixedSlots::new());
        Node { order, fixed, rows: groups, width, single, ..node }
    }
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

/// After how many rows it stops.
fn goal(top: &Top) -> Option<f64> {
    let offset = match &top.offset {
        None => 0,
        Some(x) => x.as_constant()?.as_i64()?,
    };
    let count = constant_count(top).filter(|_| !top.percent)?;
    Some(count.saturating_add(offset).max(1) as f64)
}

fn limit(top: &Top, rows: f64) -> f64 {
    match constant_count(top) {
        Some(n) if !top.percent => rows.min(n.max(0) as f64),
        _ => rows,
    }
}
