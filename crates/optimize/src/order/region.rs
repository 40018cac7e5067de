//! A region: relations that are joined, taken apart so that they can be joined in any right order.
//!
//! ```text
//!   WHERE, inner ON         conditions: each may be tested as soon as the relations it reads meet
//!   LEFT, EXISTS, IN, …     operators: their right relations come as a whole, to a left side that
//!                           has at least the relations which their conditions read
//!   anything else           a relation: a table, a grouped or limited derived table, a FULL join
//! ```
//!
//! Invariants
//!  1. A condition in the right part of an operator is tested before the operator joins that part;
//!     one that reads the left side becomes the operator's own.
//!     So does one that reads what an APPLY around the operator reads from: (q APPLY (r SEMI s)) is
//!     ((q, r) SEMI s), and what s alone has is not read above it.
//!  2. A condition above a LEFT join that reads what the join may fill with NULL is tested after
//!     it (`after` has all relations that the join needs). Where it would refuse NULL, the join is
//!     none any more: `rewrite::outer` has seen to that.
//!  3. Columns computed on the way are computed above all joins, and conditions on them have been
//!     rewritten to what they are computed of, or are tested above; never across a LEFT join's
//!     right side, where they would have to become NULL, and not at all where anything else reads
//!     them.

use super::set::{RELATIONS_MAX, Set};
use crate::node::{Reader, Slots, writes};
use plan::{
    CompareOp, JoinHint, JoinKind, Logical, Predicate, Quantifier, Scalar, ScalarKind, Slot,
    Subquery, SubqueryId,
};
use std::collections::BTreeMap;

/// A relation.
pub(crate) struct Relation<'t> {
    pub(crate) tree: &'t Logical,
    pub(crate) slots: Slots,
    /// Conditions on it alone.
    pub(crate) filters: Vec<Predicate>,
    /// Relations whose slots it reads: it is opened for each of their rows.
    pub(crate) requires: Set,
}

/// A join that is not inner.
pub(crate) struct Operator<'t> {
    pub(crate) kind: JoinKind,
    /// What pairs must satisfy.
    pub(crate) conditions: Vec<Predicate>,
    /// Relations of the left side that must be there.
    pub(crate) left: Set,
    /// All relations of the right part.
    pub(crate) right: Set,
    /// The right part as it stands in the statement.
    pub(crate) tree: &'t Logical,
    /// What the operator says of several relations of the right part, and the tree does not.
    pub(crate) said: Vec<Predicate>,
    /// The subquery that it replaces.
    pub(crate) subquery: Option<SubqueryId>,
}

/// A condition on several relations.
#[derive(Clone)]
pub(crate) struct Condition {
    pub(crate) predicate: Predicate,
    /// Relations that must be joined before it is tested.
    pub(crate) after: Set,
    /// It is tested above joins: it runs a subquery, or may answer differently each time.
    pub(crate) late: bool,
    /// The right part of an operator in which it stands; none at the top.
    pub(crate) scope: Option<usize>,
}

/// How the statement joins its relations.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Relation(usize),
    Join(Box<Shape>, Box<Shape>, Option<JoinHint>),
}

/// See the module.
pub(crate) struct Region<'t> {
    pub(crate) relations: Vec<Relation<'t>>,
    pub(crate) operators: Vec<Operator<'t>>,
    pub(crate) conditions: Vec<Condition>,
    /// Columns computed above all joins, in order.
    pub(crate) computed: Vec<(Slot, Scalar)>,
    /// Conditions tested above these.
    pub(crate) last: Vec<Predicate>,
    /// Conditions that read no relation: nothing is read unless they are true.
    pub(crate) startup: Vec<Predicate>,
    pub(crate) shape: Shape,
    /// The statement says how it wants to be joined: its order holds.
    pub(crate) hinted: bool,
    /// Subqueries are left in conditions, for which there was no room: relations have them among
    /// their own, and are regions in their turn.
    pub(crate) full: bool,
}

impl Region<'_> {
    /// Whether a relation bears subqueries for which there was no room here. To ask for it under
    /// many conditions would multiply the work by their number at each level.
    pub(crate) fn bears_rest(&self, relation: usize) -> bool {
        let r = &self.relations[relation];
        let nested = |p: &Predicate| !p.reads().subqueries.is_empty();
        self.full && r.filters.iter().any(nested)
    }

    /// Conditions that no join is left to test become some relation's own.
    pub(crate) fn settle_small(&mut self, gone: Set) {
        let mut there = (0..self.relations.len()).filter(|n| !gone.has(*n));
        let Some(first) = there.next() else { return };
        let (small, kept) = std::mem::take(&mut self.conditions)
            .into_iter()
            .partition::<Vec<_>, _>(|c| c.after.len() < 2);
        self.conditions = kept;
        for c in small {
            let relation = c.after.first().unwrap_or(first);
            self.relations[relation].filters.push(c.predicate);
        }
    }

    /// A condition reads what an operator below it may fill with NULL.
    pub(crate) fn may_be_absent(&self, condition: &Condition) -> bool {
        let below = |o: &Operator<'_>| match condition.scope {
            None => true,
            Some(_) => !o.right.contains(condition.after),
        };
        let fills = |o: &Operator<'_>| o.kind == JoinKind::Left && o.right.meets(condition.after);
        self.operators.iter().any(|o| fills(o) && below(o))
    }
}

/// Where a part stands.
#[derive(Clone, Copy)]
struct Place {
    /// The operator in whose right part it is.
    scope: Option<usize>,
    /// Columns may be computed above it.
    open: bool,
    /// As many relations it may become; what has more is a relation that is joined for itself.
    room: usize,
}

/// Parts of an expression that takes a column's place in a condition.
const UNFOLDED_MAX: usize = 40;
/// Relations that FROM may become; the others of a region are subqueries'.
const JOINED_MAX: usize = 48;

impl Place {
    /// The room of two sides.
    fn halves(self, left: &Logical, right: &Logical) -> (Place, Place) {
        let right = relations(right).min(self.room / 2).max(1);
        let left = relations(left).min(self.room - right).max(1);
        (Place { room: left, ..self }, Place { room: self.room - left, ..self })
    }
}

/// A part taken apart.
struct Part {
    set: Set,
    shape: Shape,
}

fn empty<'t>() -> Region<'t> {
    Region {
        relations: Vec::new(),
        operators: Vec::new(),
        conditions: Vec::new(),
        computed: Vec::new(),
        last: Vec::new(),
        startup: Vec::new(),
        shape: Shape::Relation(0),
        hinted: false,
        full: false,
    }
}

/// Takes trees apart.
pub(crate) struct Collector<'t> {
    reader: Reader<'t>,
    region: Region<'t>,
    /// Conditions whose relations are not all known yet, with their scopes.
    pending: Vec<(Predicate, Option<usize>)>,
    /// The right part of the operator of each scope.
    scopes: Vec<Set>,
    /// Every slot of a column that is to be computed later.
    later: Slots,
    /// What such slots are computed of, where that is short.
    values: BTreeMap<Slot, Scalar>,
}

/// A subquery condition that is a join.
struct Semi {
    kind: JoinKind,
    subquery: SubqueryId,
    /// The operand of IN.
    equal: Option<(Scalar, types::Collation)>,
    /// Where a side is NULL nobody knows whether it is equal, so no row is kept.
    three_valued: bool,
}

fn as_semi(subqueries: &[Subquery<Logical>], p: &Predicate) -> Option<Semi> {
    match p {
        Predicate::Exists(subquery) => {
            let (kind, subquery) = (JoinKind::Semi, *subquery);
            Some(Semi { kind, subquery, equal: None, three_valued: false })
        }
        Predicate::Quantified {
            op: CompareOp::Equal,
            quantifier: Quantifier::Any,
            operand,
            subquery,
            collation,
        } if operand.reads().subqueries.is_empty() && !operand.reads().volatile => {
            let equal = Some(((**operand).clone(), *collation));
            let (kind, subquery) = (JoinKind::Semi, *subquery);
            Some(Semi { kind, subquery, equal, three_valued: false })
        }
        // NOT IN is three-valued where a side can be NULL. What reads nothing of the row is kept as
        // a set, which knows whether NULL is among it; else what ties it to the row is joined by.
        Predicate::Not(inner) => {
            let semi = as_semi(subqueries, inner)?;
            let subquery = &subqueries[semi.subquery.0 as usize];
            let three_valued = semi
                .equal
                .as_ref()
                .is_some_and(|(operand, _)| operand.ty.nullable || subquery.ty.nullable);
            let joins = semi.kind == JoinKind::Semi && !(three_valued && subquery.outer.is_empty());
            joins.then_some(Semi { kind: JoinKind::Anti, three_valued, ..semi })
        }
        _ => None,
    }
}

/// An equality, with `unknown` also where it is unknown.
fn equal_or_unknown(
    [left, right]: [Scalar; 2],
    collation: types::Collation,
    unknown: bool,
) -> Predicate {
    let nullable = [&left, &right].into_iter().filter(|x| unknown && x.ty.nullable);
    let mut parts: Vec<Predicate> =
        nullable.map(|x| Predicate::IsNull(Box::new(x.clone()))).collect();
    let (left, right) = (Box::new(left), Box::new(right));
    let equal = Predicate::Compare { op: CompareOp::Equal, left, right, collation };
    match parts.is_empty() {
        true => equal,
        false => {
            parts.insert(0, equal);
            Predicate::Or(parts)
        }
    }
}

/// How many relations a tree would give.
fn relations(tree: &Logical) -> usize {
    match tree {
        Logical::Filter { input, .. } | Logical::Compute { input, .. } => relations(input),
        Logical::Join { left, right, kind, .. } if *kind != JoinKind::Full => {
            relations(left) + relations(right)
        }
        _ => 1,
    }
}

impl<'t> Collector<'t> {
    /// Takes a tree apart, with conditions from above it.
    pub(crate) fn collect(
        reader: Reader<'t>,
        tree: &'t Logical,
        filters: Vec<Predicate>,
    ) -> Region<'t> {
        let found = Collector::attempt(reader, tree, filters.clone(), true);
        found.or_else(|| Collector::attempt(reader, tree, filters, false)).unwrap_or_else(empty)
    }

    /// The same; none where something reads a column that was to be computed later.
    fn attempt(
        reader: Reader<'t>,
        tree: &'t Logical,
        filters: Vec<Predicate>,
        open: bool,
    ) -> Option<Region<'t>> {
        let region = empty();
        let (pending, scopes, later) = (Vec::new(), Vec::new(), Slots::new());
        let mut collector =
            Collector { reader, region, pending, scopes, later, values: BTreeMap::new() };
        let place = Place { scope: None, open, room: JOINED_MAX };
        let mut part = collector.part(tree, place);
        for p in filters {
            part = collector.condition(p, part, place);
        }
        if !collector.is_settled() {
            return None;
        }
        collector.region.shape = part.shape;
        collector.settle();
        Some(collector.region)
    }

    /// Nobody but conditions at the top reads what is computed later.
    fn is_settled(&self) -> bool {
        let reads = |p: &Predicate| !self.reader.predicate(p).is_disjoint(&self.later);
        let read = |r: &Relation<'_>| !self.reader.free(r.tree).is_disjoint(&self.later);
        !self.region.operators.iter().flat_map(|o| &o.conditions).any(reads)
            && !self.pending.iter().any(|(p, _)| reads(p))
            && !self.region.relations.iter().any(read)
    }

    fn part(&mut self, tree: &'t Logical, place: Place) -> Part {
        match tree {
            Logical::Filter { input, predicate } => {
                let mut part = self.part(input, place);
                for p in predicate.clone().conjuncts() {
                    part = self.condition(p, part, place);
                }
                part
            }
            Logical::Compute { input, columns } if place.open && movable(columns) => {
                let part = self.part(input, place);
                for (slot, x) in columns {
                    self.later.insert(*slot);
                    self.note_value(*slot, x);
                    self.region.computed.push((*slot, x.clone()));
                }
                part
            }
            Logical::Join { kind, left, right, on, hint, .. }
                if *kind != JoinKind::Full && place.room > 1 =>
            {
                self.region.hinted |= hint.is_some();
                match kind {
                    JoinKind::Inner => {
                        let (of_left, of_right) = place.halves(left, right);
                        let left = self.part(left, of_left);
                        let right = self.part(right, of_right);
                        let mut part = joined(left, right, *hint);
                        for p in on.clone().conjuncts() {
                            part = self.condition(p, part, place);
                        }
                        part
                    }
                    JoinKind::Right => self.outer((JoinKind::Left, *hint), right, left, on, place),
                    kind => self.outer((*kind, *hint), left, right, on, place),
                }
            }
            other => self.relation(other),
        }
    }

    fn relation(&mut self, tree: &'t Logical) -> Part {
        let number = self.region.relations.len();
        let relation =
            Relation { tree, slots: writes(tree), filters: Vec::new(), requires: Set::EMPTY };
        self.region.relations.push(relation);
        Part { set: Set::of(number), shape: Shape::Relation(number) }
    }

    fn outer(
        &mut self,
        (kind, hint): (JoinKind, Option<JoinHint>),
        left: &'t Logical,
        right: &'t Logical,
        on: &Predicate,
        place: Place,
    ) -> Part {
        let (of_left, of_right) = place.halves(left, right);
        let left = self.part(left, of_left);
        let conditions = on.clone().conjuncts();
        self.operator(left, (kind, hint), right, conditions, None, of_right)
    }

    /// Joins a part with the right part of an operator.
    fn operator(
        &mut self,
        left: Part,
        (kind, hint): (JoinKind, Option<JoinHint>),
        tree: &'t Logical,
        mut conditions: Vec<Predicate>,
        subquery: Option<SubqueryId>,
        place: Place,
    ) -> Part {
        let scope = self.scopes.len();
        self.scopes.push(Set::EMPTY);
        conditions.iter_mut().for_each(|p| p.rewrite(&mut |x| self.unfold(x)));
        let before = (self.region.relations.len(), self.region.operators.len());
        let (pending, computed) = (self.pending.len(), self.region.computed.len());
        let open = kind != JoinKind::Left;
        let mut right = self.part(tree, Place { scope: Some(scope), open, ..place });
        // An APPLY around it lets it read what stands to the left of all of it.
        let left_slots = self.slots_of((0..before.0).collect());
        let reads_left = |p: &Predicate| !self.reader.predicate(p).is_disjoint(&left_slots);
        let tied = inner_reads(&self.region, before, &left_slots, self.reader)
            || self.pending[pending..].iter().any(|(p, s)| {
                // What a join within ought to test, or what is not tested by joins.
                let late = right.set.len() > 1 && !p.reads().subqueries.is_empty();
                (late || *s != Some(scope)) && reads_left(p)
            });
        if tied {
            // A join within reads the left side: the right part is opened for each of its rows.
            self.region.relations.truncate(before.0);
            self.region.operators.truncate(before.1);
            self.pending.truncate(pending);
            self.region.computed.truncate(computed);
            right = self.relation(tree);
        }
        self.scopes[scope] = right.set;
        let (own, kept): (Vec<_>, Vec<_>) =
            self.pending.split_off(pending).into_iter().partition(|(p, s)| {
                *s == Some(scope) && !self.reader.predicate(p).is_disjoint(&left_slots)
            });
        self.pending.extend(kept);
        conditions.extend(own.into_iter().map(|(p, _)| p));
        if kind != JoinKind::Left {
            // The right part's computed columns are seen by nobody else.
            conditions.iter_mut().for_each(|p| p.rewrite(&mut |x| self.unfold(x)));
            self.region.computed.truncate(computed);
        }
        let right_slots = self.slots_of(right.set);
        let (of_right, conditions): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|p| {
            let reads = self.reader.predicate(p);
            !reads.is_disjoint(&right_slots) && reads.is_disjoint(&left_slots)
        });
        let several = |p: &&Predicate| self.set_of(&self.reader.predicate(p)).len() > 1;
        let said = of_right.iter().filter(several).cloned().collect();
        self.pending.extend(of_right.into_iter().map(|p| (p, Some(scope))));
        let (own, all) = (left.set, right.set);
        let operator = Operator { kind, conditions, left: own, right: all, tree, said, subquery };
        self.region.operators.push(operator);
        joined(left, right, hint)
    }

    /// A condition on a part: a join with a subquery, or one to be settled at the end.
    fn condition(&mut self, mut p: Predicate, part: Part, place: Place) -> Part {
        p.rewrite(&mut |x| self.unfold(x));
        let Some(semi) = as_semi(self.reader.subqueries, &p) else {
            match place.scope.is_none() && !self.reader.predicate(&p).is_disjoint(&self.later) {
                true => self.region.last.push(p),
                false => self.pending.push((p, place.scope)),
            }
            return part;
        };
        let subquery = &self.reader.subqueries[semi.subquery.0 as usize];
        let right = without_effect(&subquery.source, semi.equal.is_none());
        let count = self.region.relations.len();
        if count + relations(right) > RELATIONS_MAX {
            self.region.full = true;
            self.pending.push((p, place.scope));
            return part;
        }
        let place = Place { room: RELATIONS_MAX - count, ..place };
        let mut conditions = Vec::new();
        if let Some((operand, collation)) = semi.equal {
            let sides = [operand, Scalar::column(subquery.columns[0], subquery.ty)];
            conditions.push(equal_or_unknown(sides, collation, semi.three_valued));
        }
        self.operator(part, (semi.kind, None), right, conditions, Some(semi.subquery), place)
    }

    fn slots_of(&self, set: Set) -> Slots {
        set.iter().flat_map(|n| self.region.relations[n].slots.iter().copied()).collect()
    }

    /// A column that is computed above becomes what it is computed of.
    fn unfold(&self, x: &mut Scalar) {
        let ScalarKind::Column(slot) = x.kind else { return };
        if let Some(value) = self.values.get(&slot) {
            *x = value.clone();
        }
    }

    /// Notes what a column is computed of, in terms of relations, unless that is long.
    fn note_value(&mut self, slot: Slot, x: &Scalar) {
        let mut value = x.clone();
        value.rewrite(&mut |x| self.unfold(x));
        let mut parts = 0;
        value.rewrite(&mut |_| parts += 1);
        if parts <= UNFOLDED_MAX {
            self.values.insert(slot, value);
        }
    }

    /// The relations that slots belong to.
    fn set_of(&self, slots: &Slots) -> Set {
        let relations = self.region.relations.iter().enumerate();
        relations.filter(|(_, r)| !r.slots.is_disjoint(slots)).map(|(n, _)| n).collect()
    }

    /// Everything is known: says of each relation, operator and condition what it needs.
    fn settle(&mut self) {
        for n in 0..self.region.relations.len() {
            let free = self.reader.free(self.region.relations[n].tree);
            let requires = self.set_of(&free);
            self.region.relations[n].requires = requires;
        }
        for n in 0..self.region.operators.len() {
            self.settle_operator(n);
        }
        // What an operator may fill with NULL is read after it, by an APPLY too.
        for (n, r) in self.region.relations.iter_mut().enumerate() {
            for o in self.region.operators.iter().rev() {
                if r.requires.meets(o.right) && !o.right.has(n) {
                    r.requires = r.requires.union(o.left).union(o.right);
                }
            }
        }
        for (p, scope) in std::mem::take(&mut self.pending) {
            self.settle_condition(p, scope);
        }
    }

    /// Which relations of its left side an operator needs: those it reads, and where one of them
    /// may be NULL by an earlier operator, what that one needs.
    fn settle_operator(&mut self, n: usize) {
        let operator = &self.region.operators[n];
        let mut reads = Slots::new();
        operator.conditions.iter().for_each(|p| reads.extend(self.reader.predicate(p)));
        let dependent = operator.right.iter().map(|r| self.region.relations[r].requires);
        let dependent = dependent.fold(Set::EMPTY, Set::union);
        // Relations that an APPLY around it reads from are of its left side, too.
        let mut left = self.set_of(&reads).union(dependent).without(operator.right);
        for earlier in self.region.operators[..n].iter().rev() {
            if operator.left.contains(earlier.right) && left.meets(earlier.right) {
                left = left.union(earlier.left).union(earlier.right);
            }
        }
        if left.is_empty() {
            left = operator.left;
        }
        self.region.operators[n].left = left;
    }

    fn settle_condition(&mut self, predicate: Predicate, scope: Option<usize>) {
        let reads = predicate.reads();
        let (volatile, nested) = (reads.volatile, !reads.subqueries.is_empty());
        let mut after = self.set_of(&self.reader.whole(reads));
        let all: Set = (0..self.region.relations.len()).collect();
        let here = match scope {
            None => all,
            Some(scope) => self.scopes[scope],
        };
        if after.is_empty() && scope.is_none() && !volatile && !nested {
            self.region.startup.push(predicate);
            return;
        }
        if after.is_empty() {
            after = if scope.is_none() { here } else { first(here) };
        }
        // What an operator may fill with NULL is read after it.
        for o in self.region.operators.iter().rev() {
            if after.meets(o.right) && here.contains(o.right) && o.right != here {
                after = after.union(o.left).union(o.right);
            }
        }
        if let Some(relation) = after.only() {
            let filters = &mut self.region.relations[relation].filters;
            if !is_among(filters, &predicate) {
                filters.push(predicate);
            }
            return;
        }
        let late = volatile || nested;
        self.region.conditions.push(Condition { predicate, after, late, scope });
    }
}

/// Whether a condition is among the last of a list. One that is further up is asked twice, which
/// takes less than to look for it in a list of thousands.
pub(crate) fn is_among(filters: &[Predicate], predicate: &Predicate) -> bool {
    const LAST: usize = 64;
    filters.iter().rev().take(LAST).any(|other| other == predicate)
}

/// Whether what was found since some place has a join or an APPLY of its own that reads slots of
/// the left side.
fn inner_reads(
    region: &Region<'_>,
    from: (usize, usize),
    left: &Slots,
    reader: Reader<'_>,
) -> bool {
    let reads = |p: &Predicate| !reader.predicate(p).is_disjoint(left);
    let relations = &region.relations[from.0..];
    let applied = |r: &Relation<'_>| !reader.free(r.tree).is_disjoint(left);
    region.operators[from.1..].iter().flat_map(|o| &o.conditions).any(reads)
        || relations.len() > 1 && relations.iter().any(applied)
}

fn first(set: Set) -> Set {
    set.first().map_or(Set::EMPTY, Set::of)
}

fn joined(left: Part, right: Part, hint: Option<JoinHint>) -> Part {
    let shape = Shape::Join(Box::new(left.shape), Box::new(right.shape), hint);
    Part { set: left.set.union(right.set), shape }
}

/// Columns that may be computed later, once for each row that is left.
fn movable(columns: &[(Slot, Scalar)]) -> bool {
    columns.iter().all(|(_, x)| {
        let reads = x.reads();
        !reads.volatile && reads.subqueries.is_empty()
    })
}

/// A subquery's rows without what doesn't matter to a semi join: their order, how often they come,
/// and of EXISTS what they have.
pub(crate) fn without_effect(mut tree: &Logical, exists: bool) -> &Logical {
    loop {
        tree = match tree {
            Logical::Sort { input, .. } | Logical::Distinct { input, .. } => input,
            Logical::Compute { input, .. } if exists => input,
            other => return other,
        };
    }
}
