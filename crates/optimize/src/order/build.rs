//! From chosen ways to operators.

use super::method::Method;
use super::search::{Search, Step, Tie, bits, equality};
use super::set::Set;
use super::unused::innermost;
use crate::convert::carried;
use crate::node::{Node, Slots, Wish, repeated};
use base::SqlResult;
use plan::{
    HashJoin, JoinKind, Logical, NestedLoops, Physical, Predicate, Scalar, Slot, SortKey, Spool,
};
use types::Collation;

/// An equality that a hash can use: of the left, of the right.
pub(crate) struct Key {
    pub(crate) left: Scalar,
    pub(crate) right: Scalar,
    pub(crate) collation: Collation,
}

impl Key {
    /// Both sides are columns as they are.
    pub(crate) fn is_plain(&self) -> bool {
        self.left.as_column().is_some() && self.right.as_column().is_some()
    }
}

/// A join about to be made.
pub(crate) struct Joint {
    pub(crate) kind: JoinKind,
    pub(crate) left: Node,
    pub(crate) left_slots: Slots,
    /// The left side is one table: its unique keys are unique.
    pub(crate) left_whole: bool,
    pub(crate) right: Node,
    pub(crate) right_slots: Slots,
    /// What is read above.
    pub(crate) needed: Slots,
    /// What a pair must satisfy.
    pub(crate) conditions: Vec<Predicate>,
    /// Rows it gives.
    pub(crate) rows: f64,
}

/// Two sides with their keys in slots.
pub(crate) struct KeyedSides {
    pub(crate) kind: JoinKind,
    pub(crate) left: Node,
    pub(crate) left_whole: bool,
    pub(crate) right: Node,
    /// Slot of the left, slot of the right.
    pub(crate) keys: Vec<(Slot, Slot, Collation)>,
    pub(crate) rest: Vec<Predicate>,
    /// What is read of either side above.
    pub(crate) left_needed: Slots,
    pub(crate) right_needed: Slots,
    pub(crate) rows: f64,
    pub(crate) width: f64,
}

/// The orders in which two sides can be merged.
pub(crate) fn merge_orders(keys: &[Key]) -> (Vec<SortKey>, Vec<SortKey>) {
    let order = |side: fn(&Key) -> &Scalar| {
        let key = |k: &Key| {
            let slot = side(k).as_column()?;
            Some(SortKey { slot, collation: k.collation, descending: false })
        };
        keys.iter().filter_map(key).collect()
    };
    (order(|k| &k.left), order(|k| &k.right))
}

impl Search<'_, '_, '_> {
    /// The operators of a way to a set; `needed` is what is read above.
    pub(crate) fn build(&mut self, set: Set, way: usize, needed: &Slots) -> SqlResult<Node> {
        let entry = &self.entries[&set];
        let (rows, way) = (entry.rows, entry.ways[way]);
        match way.step {
            Step::Relation => self.relation(set, way.ordered, needed),
            Step::Join { left, right, method } => {
                let tie = self.tie(left.0, right.0).unwrap_or_default();
                self.build_join(left, right, (tie, method), rows, needed)
            }
        }
    }

    fn relation(&mut self, set: Set, ordered: bool, needed: &Slots) -> SqlResult<Node> {
        let Some(n) = set.only() else { return Ok(crate::convert::nothing()) };
        if ordered && let Some(keys) = self.keys_of(n) {
            return self.ordered_relation(n, &keys, needed);
        }
        let relation = &self.region.relations[n];
        let filters = relation.filters.clone();
        self.optimizer.remembered(relation.tree, filters, needed, Wish::NONE)
    }

    pub(crate) fn slots_of(&self, set: Set) -> Slots {
        set.iter().flat_map(|n| self.region.relations[n].slots.iter().copied()).collect()
    }

    /// Conditions that are tested above the join which makes a set.
    fn above(&self, tie: Tie) -> Vec<Predicate> {
        let joined = tie.operator.is_some();
        let conditions = bits(tie.conditions).map(|n| &self.region.conditions[n]);
        conditions.filter(|c| c.late || joined).map(|c| c.predicate.clone()).collect()
    }

    /// A set is one table with conditions.
    fn is_table(&self, set: Set) -> bool {
        let tree = set.only().map(|n| innermost(self.region.relations[n].tree));
        matches!(tree, Some(Logical::Get(_)))
    }

    fn build_join(
        &mut self,
        left: (Set, usize),
        right: (Set, usize),
        (tie, method): (Tie, Method),
        rows: f64,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let kind = tie.operator.map_or(JoinKind::Inner, |(n, _)| self.region.operators[n].kind);
        let conditions = self.pair_conditions(left.0, right.0, tie);
        let above = self.above(tie);
        let reader = self.optimizer.reader();
        let mut kept = needed.clone();
        above.iter().for_each(|p| kept.extend(reader.predicate(p)));
        let mut below = kept.clone();
        conditions.iter().for_each(|p| below.extend(reader.predicate(p)));
        for n in right.0.iter() {
            below.extend(reader.free(self.region.relations[n].tree));
        }
        let (left_slots, right_slots) = (self.slots_of(left.0), self.slots_of(right.0));
        let of = |slots: &Slots| below.intersection(slots).copied().collect::<Slots>();
        let (left_below, right_below) = (of(&left_slots), of(&right_slots));
        let node = match method {
            Method::Turned => {
                self.build_turned(left.0, right, tie, (conditions, kind), &kept, &right_below)?
            }
            Method::Loop => {
                let outer = self.build(left.0, left.1, &left_below)?;
                let mut inner_needed: Slots = kept.intersection(&right_slots).copied().collect();
                if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                    inner_needed.clear();
                }
                let inner = self.inner_node(right.0, tie, conditions, Some(&inner_needed))?;
                self.optimizer.looped(kind, outer, inner, inner_needed, rows)
            }
            Method::Spool | Method::Hash { .. } | Method::Merge => {
                let (keys, _) = self.optimizer.keys(conditions.clone(), &left_slots, &right_slots);
                let (of_left, of_right) = match method {
                    // What is computed for a merge is sorted then.
                    Method::Merge if keys.iter().all(Key::is_plain) => {
                        let (l, r) = merge_orders(&keys);
                        let of_left = self.build_merge_side(left, &l, &left_below)?;
                        (of_left, self.build_merge_side(right, &r, &right_below)?)
                    }
                    _ => {
                        let of_left = self.build(left.0, left.1, &left_below)?;
                        (of_left, self.build(right.0, right.1, &right_below)?)
                    }
                };
                let joint = Joint {
                    kind,
                    left: of_left,
                    left_slots,
                    left_whole: self.is_table(left.0),
                    right: of_right,
                    right_slots,
                    needed: kept.clone(),
                    conditions,
                    rows,
                };
                match method {
                    Method::Hash { build_left } => self.optimizer.hashed(joint, build_left),
                    Method::Merge => self.optimizer.merged(joint),
                    _ => self.optimizer.spooled_join(joint),
                }
            }
        };
        Ok(self.optimizer.with_filter(node, above))
    }

    /// A semi join from its right end.
    fn build_turned(
        &mut self,
        left: Set,
        right: (Set, usize),
        tie: Tie,
        (mut conditions, _): (Vec<Predicate>, JoinKind),
        kept: &Slots,
        right_below: &Slots,
    ) -> SqlResult<Node> {
        let from = self.build(right.0, right.1, right_below)?;
        let turned = tie.operator.and_then(|(n, _)| self.turned_keys(n)).unwrap_or_default();
        let (mut keys, mut columns) = (Vec::with_capacity(turned.len()), Vec::new());
        for (x, collation) in turned {
            let slot = self.optimizer.key_slot(x.clone(), &mut columns);
            keys.push((slot, collation));
            let column = Scalar::column(slot, x.ty);
            conditions.iter_mut().for_each(|p| p.rewrite(&mut |y| replace(y, &x, &column)));
        }
        let from = self.optimizer.computed(from, columns);
        let slots: Vec<Slot> = keys.iter().map(|k| k.0).collect();
        let groups = self.optimizer.estimator.groups(&slots, from.rows);
        let from = self.optimizer.grouped(from, &keys, Vec::new(), groups);
        let needed: Slots = kept.intersection(&self.slots_of(left)).copied().collect();
        let inner = self.inner_node(left, tie, conditions, Some(&needed))?;
        let rows = self.entries[&left.union(right.0)].rows;
        Ok(self.optimizer.looped(JoinKind::Inner, from, inner, needed, rows))
    }
}

fn replace(y: &mut Scalar, x: &Scalar, column: &Scalar) {
    if y == x {
        *y = column.clone();
    }
}

impl crate::convert::Optimizer<'_> {
    /// A loop whose inner side reads the outer row.
    pub(crate) fn looped(
        &self,
        kind: JoinKind,
        outer: Node,
        inner: Node,
        inner_slots: Slots,
        rows: f64,
    ) -> Node {
        let inner = self.with_index_spools(inner, outer.rows * self.times);
        let one_side = matches!(kind, JoinKind::Semi | JoinKind::Anti);
        let width = outer.width + if one_side { 0.0 } else { inner.width };
        let own = self.prices.looped(outer.rows, rows);
        let times = outer.rows.max(1.0);
        let total = outer.total + times * inner.total + own.sum();
        let first = outer.first + inner.first;
        let single = outer.single && (one_side || inner.single);
        let below = [outer.estimates(), repeated(inner.estimates(), times)].concat();
        let join = NestedLoops {
            kind,
            outer: outer.tree,
            inner: inner.tree,
            predicate: None,
            inner_slots: inner_slots.into_iter().collect(),
            correlated: true,
        };
        let node = Node::joining(Physical::NestedLoops(Box::new(join)), own, below);
        Node { order: outer.order, fixed: outer.fixed, rows, width, first, total, single, ..node }
    }

    /// A loop over a right side that is read once and kept.
    pub(crate) fn spooled_join(&self, j: Joint) -> Node {
        let one_side = matches!(j.kind, JoinKind::Semi | JoinKind::Anti);
        let times = j.left.rows.max(1.0);
        let mut carried: Slots = j.needed.intersection(&j.right_slots).copied().collect();
        for p in &j.conditions {
            carried.extend(self.reader().predicate(p).intersection(&j.right_slots));
        }
        let slots: Vec<Slot> = carried.into_iter().collect();
        let trivial = j.left.single || matches!(j.right.tree, Physical::Constants(_));
        let mut right = j.right;
        if !trivial {
            let carried = slots.clone();
            let cost = self.prices.spool(right.rows, right.width, times);
            right = right
                .over(cost, |input| Physical::Spool(Spool { input: Box::new(input), carried }));
        }
        let pairs = times * right.rows;
        let own =
            self.prices.looped(j.left.rows, j.rows) + self.prices.tests(pairs, j.conditions.len());
        let total = j.left.total + right.total + own.sum();
        let first = j.left.first + right.total;
        let single = j.left.single && (one_side || right.single);
        let width = j.left.width + if one_side { 0.0 } else { right.width };
        let below = [j.left.estimates(), right.estimates()].concat();
        let join = NestedLoops {
            kind: j.kind,
            outer: j.left.tree,
            inner: right.tree,
            predicate: Predicate::all(j.conditions),
            inner_slots: if one_side { Vec::new() } else { slots },
            correlated: false,
        };
        let node = Node::joining(Physical::NestedLoops(Box::new(join)), own, below);
        let (order, fixed) = (j.left.order, j.left.fixed);
        Node { order, fixed, rows: j.rows, width, first, total, single, ..node }
    }

    /// A hash join; `build_left` remembers the left side.
    pub(crate) fn hashed(&self, j: Joint, build_left: bool) -> Node {
        let k = self.keyed(j);
        let (build, probe, build_slots, probe_slots) = match build_left {
            true => (k.left, k.right, k.left_needed, k.right_needed),
            false => (k.right, k.left, k.right_needed, k.left_needed),
        };
        // Of a LEFT join the side that is kept has become the one that is remembered.
        let kind = match k.kind {
            JoinKind::Left if build_left => JoinKind::Right,
            kind => kind,
        };
        let turn = |&(l, r, c): &(Slot, Slot, Collation)| match build_left {
            true => (l, r, c),
            false => (r, l, c),
        };
        let keys: Vec<(Slot, Slot, Collation)> = k.keys.iter().map(turn).collect();
        let built = (build.rows, build.width);
        let own = self.prices.build(build.rows, build.width)
            + self.prices.probe(probe.rows, probe.width, k.rows, built);
        let (first, total) = (build.total + probe.first, build.total + probe.total + own.sum());
        let below = [build.estimates(), probe.estimates()].concat();
        let own_slots: Slots = build_slots.clone();
        let join = HashJoin {
            kind,
            build: build.tree,
            probe: probe.tree,
            build_slots: carried(&build_slots, &own_slots, keys.iter().map(|k| k.0)),
            probe_slots: probe_slots.into_iter().collect(),
            keys,
            residual: Predicate::all(k.rest),
        };
        let node = Node::joining(Physical::HashJoin(Box::new(join)), own, below);
        Node { rows: k.rows, width: k.width, first, total, ..node }
    }

    /// Both sides with their keys in slots.
    pub(crate) fn keyed(&self, j: Joint) -> KeyedSides {
        let (keys, rest) = self.keys(j.conditions, &j.left_slots, &j.right_slots);
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        let mut slots = Vec::with_capacity(keys.len());
        for key in keys {
            let left = self.key_slot(key.left, &mut of_left);
            let right = self.key_slot(key.right, &mut of_right);
            slots.push((left, right, key.collation));
        }
        let left = self.computed(j.left, of_left);
        let right = self.computed(j.right, of_right);
        let one_side = matches!(j.kind, JoinKind::Semi | JoinKind::Anti);
        let mut needed = j.needed;
        if one_side {
            needed = needed.difference(&j.right_slots).copied().collect();
        }
        rest.iter().for_each(|p| needed.extend(self.reader().predicate(p)));
        let of = |own: &Slots| needed.intersection(own).copied().collect::<Slots>();
        let (left_needed, right_needed) = (of(&j.left_slots), of(&j.right_slots));
        let width = left.width + if one_side { 0.0 } else { right.width };
        KeyedSides {
            kind: j.kind,
            left,
            left_whole: j.left_whole,
            right,
            keys: slots,
            rest,
            left_needed,
            right_needed,
            rows: j.rows,
            width,
        }
    }

    fn key_slot(&self, x: Scalar, columns: &mut Vec<(Slot, Scalar)>) -> Slot {
        match x.as_column() {
            Some(slot) => slot,
            None => {
                let slot = self.new_slot();
                columns.push((slot, x));
                slot
            }
        }
    }

    /// Equalities between two sides, and what is left.
    pub(crate) fn keys(
        &self,
        pair: Vec<Predicate>,
        left: &Slots,
        right: &Slots,
    ) -> (Vec<Key>, Vec<Predicate>) {
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for p in pair {
            match key(&p, left, right) {
                Some(key) => keys.push(key),
                None => rest.push(p),
            }
        }
        (keys, rest)
    }
}

fn key(p: &Predicate, left: &Slots, right: &Slots) -> Option<Key> {
    let (a, b, collation) = equality(p)?;
    let of = |x: &Scalar, own: &Slots, other: &Slots| {
        let reads = x.reads();
        !reads.slots.is_disjoint(own) && reads.slots.is_disjoint(other)
    };
    let (l, r) = if of(a, left, right) && of(b, right, left) {
        (a, b)
    } else if of(b, left, right) && of(a, right, left) {
        (b, a)
    } else {
        return None;
    };
    Some(Key { left: l.clone(), right: r.clone(), collation })
}
