//! Joins: which conditions go to which side, loop or hash.
//!
//! A loop join hands the pair's conditions to its inner side, where outer slots are as good as
//! constants: an index may seek with them. It is chosen where it does so for few outer rows, or
//! where nothing can be hashed. An inner side that doesn't depend on the outer row is
//! kept in a spool.

use crate::access::with_filter;
use crate::convert::{Optimizer, carried};
use crate::estimate;
use crate::node::{Node, Slots, writes};
use base::{SqlError, SqlResult, messages};
use plan::{
    CompareOp, HashJoin, JoinHint, JoinKind, Logical, NestedLoops, Physical, Predicate, Scalar,
    ScalarType, Slot, SortKey,
};
use types::{Collation, SqlType};

/// Two sides about to be joined, the left one converted.
pub(crate) struct Pairing<'t> {
    pub(crate) kind: JoinKind,
    pub(crate) left: Node,
    pub(crate) left_slots: Slots,
    pub(crate) right: &'t Logical,
    /// Conditions on the right side alone.
    pub(crate) right_filters: Vec<Predicate>,
    /// Conditions on pairs.
    pub(crate) pair: Vec<Predicate>,
    pub(crate) hint: Option<JoinHint>,
}

/// An equality that a hash or an order can use: of the left, of the right.
pub(crate) struct Key {
    left: Scalar,
    right: Scalar,
    collation: Collation,
}

/// Two converted sides to be joined by equality.
pub(crate) struct Keyed {
    pub(crate) kind: JoinKind,
    pub(crate) left: Node,
    pub(crate) right: Node,
    /// Slot of the left, slot of the right.
    pub(crate) keys: Vec<(Slot, Slot, Collation)>,
    /// What is read of the left above the sides.
    pub(crate) left_needed: Slots,
    /// And of the right.
    pub(crate) right_needed: Slots,
}

/// Conditions by the side they speak of.
#[derive(Default)]
struct Sides {
    left: Vec<Predicate>,
    right: Vec<Predicate>,
    pair: Vec<Predicate>,
    above: Vec<Predicate>,
}

impl Optimizer<'_> {
    pub(crate) fn join(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wanted: &[SortKey],
    ) -> SqlResult<Node> {
        let Logical::Join { kind, left, right, on, hint, .. } = tree else {
            return self.convert(tree, filters, needed, wanted);
        };
        let (kind, left, right) = match kind {
            JoinKind::Right => (JoinKind::Left, right, left),
            JoinKind::Full => return self.full_join(tree, filters, needed),
            same => (*same, left, right),
        };
        let (left_slots, right_slots) = (writes(left), writes(right));
        let sides = self.sides(kind, on, filters, &left_slots, &right_slots);
        let mut above_needed = needed.clone();
        sides.above.iter().for_each(|p| above_needed.extend(self.reader().predicate(p)));
        let mut left_needed = above_needed.clone();
        sides.pair.iter().for_each(|p| left_needed.extend(self.reader().predicate(p)));
        left_needed.extend(self.reader().free(right));
        let left = self.convert(left, sides.left, &left_needed, wanted)?;
        let pairing = Pairing {
            kind,
            left,
            left_slots,
            right,
            right_filters: sides.right,
            pair: sides.pair,
            hint: *hint,
        };
        let node = self.pair_up(pairing, &above_needed)?;
        Ok(with_filter(node, sides.above))
    }

    fn sides(
        &self,
        kind: JoinKind,
        on: &Predicate,
        filters: Vec<Predicate>,
        left: &Slots,
        right: &Slots,
    ) -> Sides {
        let reader = self.reader();
        let mut sides = Sides::default();
        let inner = kind == JoinKind::Inner;
        for p in on.clone().conjuncts() {
            let reads = reader.predicate(&p);
            match (reads.is_disjoint(left), reads.is_disjoint(right)) {
                (true, _) => sides.right.push(p),
                (false, true) if inner => sides.left.push(p),
                // An outer row that fails ON is still there, without partner.
                (false, _) => sides.pair.push(p),
            }
        }
        for p in filters {
            let reads = reader.predicate(&p);
            match (reads.is_disjoint(left), reads.is_disjoint(right)) {
                (_, true) => sides.left.push(p),
                (true, false) if inner => sides.right.push(p),
                (false, false) if inner => sides.pair.push(p),
                _ => sides.above.push(p),
            }
        }
        sides
    }

    /// Joins a converted side with another by loop or hash.
    pub(crate) fn pair_up(&mut self, p: Pairing<'_>, needed: &Slots) -> SqlResult<Node> {
        let right_slots = writes(p.right);
        let mut right_needed: Slots = needed.intersection(&right_slots).copied().collect();
        if matches!(p.kind, JoinKind::Semi | JoinKind::Anti) {
            right_needed.clear();
        }
        let applied = !self.reader().free(p.right).is_disjoint(&p.left_slots)
            || p.right_filters
                .iter()
                .any(|f| !self.reader().predicate(f).is_disjoint(&p.left_slots));
        let (keys, rest) = self.keys(&p.pair, &p.left_slots, &right_slots);
        let hashable = !applied && !keys.is_empty() && p.hint != Some(JoinHint::Loop);
        match p.hint {
            Some(JoinHint::Hash) if hashable => {
                return self.hash(p, keys, rest, needed, right_needed);
            }
            Some(JoinHint::Merge) if hashable => {
                return self.merge(p, keys, rest, needed, right_needed);
            }
            Some(JoinHint::Hash | JoinHint::Merge) => {
                return Err(SqlError::new(messages::HINTS_NO_PLAN, &[]));
            }
            Some(JoinHint::Loop) | None => {}
        }
        let filters = p.right_filters.iter().chain(&p.pair).cloned().collect();
        let inner = self.convert_filtered(p.right, filters, &right_needed)?;
        let seeks = seeks_with(&inner.tree, &p.left_slots);
        let few = p.left.single || p.left.rows <= estimate::LOOP_OUTER;
        if hashable && !(seeks && few) && !(p.left.single && inner.single) {
            return self.hash(p, keys, rest, needed, right_needed);
        }
        let correlated = applied || !p.pair.is_empty();
        Ok(self.looped(p, inner, right_needed, correlated))
    }

    fn looped(
        &self,
        p: Pairing<'_>,
        mut inner: Node,
        right_needed: Slots,
        correlated: bool,
    ) -> Node {
        let slots: Vec<Slot> = right_needed.into_iter().collect();
        let trivial = matches!(inner.tree, Physical::Constants { .. });
        if !correlated && !p.left.single && !trivial {
            let carried = slots.clone();
            inner = inner.over(|input| Physical::Spool { input: Box::new(input), carried });
        }
        let one_side = matches!(p.kind, JoinKind::Semi | JoinKind::Anti);
        let rows = if one_side { p.left.rows * 0.5 } else { p.left.rows * inner.rows.max(1.0) };
        let single = p.left.single && (one_side || inner.single);
        let below = [p.left.estimates(), inner.estimates()].concat();
        let join = NestedLoops {
            kind: p.kind,
            outer: p.left.tree,
            inner: inner.tree,
            predicate: None,
            inner_slots: slots,
            correlated,
        };
        Node {
            tree: Physical::NestedLoops(Box::new(join)),
            order: p.left.order,
            fixed: p.left.fixed,
            rows,
            below,
            single,
        }
    }

    fn hash(
        &mut self,
        p: Pairing<'_>,
        keys: Vec<Key>,
        rest: Vec<Predicate>,
        needed: &Slots,
        right_needed: Slots,
    ) -> SqlResult<Node> {
        let Keyed { kind, left, right, keys: slots, left_needed, right_needed } =
            self.keyed(p, keys, &rest, needed, right_needed)?;
        let rows = left.rows.max(right.rows);
        // The smaller side is remembered; what an outer join keeps is probed with.
        let flip = kind == JoinKind::Inner && left.rows < right.rows;
        let (build, probe, build_slots, probe_slots) = match flip {
            true => (left, right, left_needed, right_needed),
            false => (right, left, right_needed, left_needed),
        };
        let keys: Vec<(Slot, Slot, Collation)> =
            slots.into_iter().map(|(l, r, c)| if flip { (l, r, c) } else { (r, l, c) }).collect();
        let own: Slots = build_slots.clone();
        let below = [build.estimates(), probe.estimates()].concat();
        let join = HashJoin {
            kind,
            build: build.tree,
            probe: probe.tree,
            build_slots: carried(&build_slots, &own, keys.iter().map(|k| k.0)),
            probe_slots: probe_slots.into_iter().collect(),
            keys,
            residual: Predicate::all(rest),
        };
        Ok(Node::unordered(Physical::HashJoin(Box::new(join)), rows).above(below))
    }

    /// Both sides with their keys in slots.
    pub(crate) fn keyed(
        &mut self,
        p: Pairing<'_>,
        keys: Vec<Key>,
        rest: &[Predicate],
        needed: &Slots,
        mut right_needed: Slots,
    ) -> SqlResult<Keyed> {
        for predicate in rest {
            let reads = self.reader().predicate(predicate);
            let right = writes(p.right);
            right_needed.extend(reads.intersection(&right));
        }
        let mut below = right_needed.clone();
        keys.iter().for_each(|k| below.extend(k.right.reads().slots));
        let right = self.convert_filtered(p.right, p.right_filters, &below)?;
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        let mut slots = Vec::with_capacity(keys.len());
        for key in keys {
            let left = self.key_slot(key.left, &mut of_left);
            let right = self.key_slot(key.right, &mut of_right);
            slots.push((left, right, key.collation));
        }
        let left = computed(p.left, of_left);
        let right = computed(right, of_right);
        let mut left_needed: Slots = needed.intersection(&p.left_slots).copied().collect();
        for predicate in rest {
            let reads = self.reader().predicate(predicate);
            left_needed.extend(reads.intersection(&p.left_slots));
        }
        Ok(Keyed { kind: p.kind, left, right, keys: slots, left_needed, right_needed })
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

    /// Equalities between the sides, and what is left.
    fn keys(&self, pair: &[Predicate], left: &Slots, right: &Slots) -> (Vec<Key>, Vec<Predicate>) {
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for p in pair {
            match self.key(p, left, right) {
                Some(key) => keys.push(key),
                None => rest.push(p.clone()),
            }
        }
        (keys, rest)
    }

    fn key(&self, p: &Predicate, left: &Slots, right: &Slots) -> Option<Key> {
        let Predicate::Compare { op: CompareOp::Equal, left: a, right: b, collation } = p else {
            return None;
        };
        let of = |x: &Scalar, own: &Slots, other: &Slots| {
            let reads = x.reads();
            reads.subqueries.is_empty()
                && !reads.volatile
                && !reads.slots.is_disjoint(own)
                && reads.slots.is_disjoint(other)
        };
        let (l, r) = if of(a, left, right) && of(b, right, left) {
            (a, b)
        } else if of(b, left, right) && of(a, right, left) {
            (b, a)
        } else {
            return None;
        };
        Some(Key { left: (**l).clone(), right: (**r).clone(), collation: *collation })
    }

    /// FULL: by hash where there is an equality; else all left rows with partners, then the right
    /// rows that have none.
    fn full_join(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Logical::Join { left, right, on, hint, .. } = tree else {
            return self.convert(tree, filters, needed, &[]);
        };
        let mut inner_needed = needed.clone();
        filters.iter().for_each(|p| inner_needed.extend(self.reader().predicate(p)));
        let (left_slots, right_slots) = (writes(left), writes(right));
        let conjuncts = on.clone().conjuncts();
        let (keys, rest) = self.keys(&conjuncts, &left_slots, &right_slots);
        if keys.is_empty() {
            let node = self.full_by_parts(left, right, on, &inner_needed)?;
            return Ok(with_filter(node, filters));
        }
        let mut left_needed = inner_needed.clone();
        conjuncts.iter().for_each(|p| left_needed.extend(self.reader().predicate(p)));
        let left = self.convert(left, Vec::new(), &left_needed, &[])?;
        let right_needed = inner_needed.intersection(&right_slots).copied().collect();
        let pairing = Pairing {
            kind: JoinKind::Full,
            left,
            left_slots,
            right,
            right_filters: Vec::new(),
            pair: Vec::new(),
            hint: *hint,
        };
        let node = match hint {
            Some(JoinHint::Merge) => {
                self.merge(pairing, keys, rest, &inner_needed, right_needed)?
            }
            _ => self.hash(pairing, keys, rest, &inner_needed, right_needed)?,
        };
        Ok(with_filter(node, filters))
    }

    fn full_by_parts(
        &mut self,
        left: &Logical,
        right: &Logical,
        on: &Predicate,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let part = |kind, left: &Logical, right: &Logical| Logical::Join {
            kind,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            on: on.clone(),
            hint: None,
            apply: false,
        };
        let first = self.convert(&part(JoinKind::Left, left, right), Vec::new(), needed, &[])?;
        let second = self.convert(&part(JoinKind::Anti, right, left), Vec::new(), needed, &[])?;
        let ty = ScalarType::new(SqlType::Int, true);
        let absent: Vec<(Slot, Scalar)> = needed
            .intersection(&writes(left))
            .map(|&slot| (slot, Scalar { ty, ..Scalar::null(SqlType::Int) }))
            .collect();
        let second = computed(second, absent);
        let both = writes(left).union(&writes(right)).copied().collect();
        let columns: Vec<Slot> = needed.intersection(&both).copied().collect();
        let rows = first.rows + second.rows;
        let below = [first.estimates(), second.estimates()].concat();
        let inputs = vec![(first.tree, columns.clone()), (second.tree, columns.clone())];
        Ok(Node::unordered(Physical::Concatenation { inputs, columns }, rows).above(below))
    }
}

fn computed(node: Node, columns: Vec<(Slot, Scalar)>) -> Node {
    match columns.is_empty() {
        true => node,
        false => node.over(|input| Physical::Compute { input: Box::new(input), columns }),
    }
}

/// Whether a tree's rows are found by seeking with some slots.
fn seeks_with(tree: &Physical, slots: &Slots) -> bool {
    match tree {
        Physical::Access(a) => a.seek.as_ref().is_some_and(|seek| {
            let bounds = seek.ranges.iter().flat_map(|r| {
                let ends = r.lower.iter().chain(&r.upper).map(|b| &b.value);
                r.equal.iter().chain(ends)
            });
            bounds.into_iter().any(|x| !x.reads().slots.is_disjoint(slots))
        }),
        Physical::NestedLoops(j) => seeks_with(&j.outer, slots),
        other => match other.inputs().as_slice() {
            [one] => seeks_with(one, slots),
            _ => false,
        },
    }
}
