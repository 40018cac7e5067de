//! What the ways to join two sets cost.
//!
//! ```text
//!   hash     the right side is remembered, the left one looks for partners in it; a LEFT join may
//!            remember its left side instead
//!   merge    both sides in the order of their keys, by an index or a sort
//!   loop     the right side is opened for each row of the left, where its conditions may seek
//!   spool    the right side is read once and kept; each row of the left goes through all of it
//!   turned   a semi join from the other end: each different value of the right side seeks in the
//!            left one
//! ```

use super::search::{Entry, Search, Step, Tie, Way, bits, equality};
use super::set::{RELATIONS_MAX, Set};
use crate::memo::is_small;
use crate::node::{Node, Wish};
use base::{SqlResult, messages};
use plan::{CompareOp, JoinHint, JoinKind, Predicate, Scalar};
use types::Collation;

/// What a way costs that a hint allows where there is no other alone, in microseconds.
const UNWANTED: f64 = 1e15;

/// How two sets are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Hash { build_left: bool },
    Merge,
    Loop,
    Spool,
    Turned,
}

/// The inner side of a loop, opened for one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerSide {
    first: f64,
    total: f64,
    rows: f64,
    /// Pages of what it reads may be anywhere.
    far: bool,
}

impl InnerSide {
    fn of(node: &Node) -> InnerSide {
        // What is read in a few microseconds from anywhere is most likely a seek.
        let far = node.total > 0.5;
        InnerSide { first: node.first, total: node.total, rows: node.rows, far }
    }

    /// One that is not converted to know what it costs.
    fn guessed(rows: f64) -> InnerSide {
        let total = rows.max(1.0);
        InnerSide { first: total / 2.0, total, rows, far: true }
    }

    /// When the first row is enough.
    fn first_row(&self) -> f64 {
        let share = 1.0 / self.rows.max(1.0);
        self.first + (self.total - self.first).max(0.0) * share
    }
}

/// Two sides with the numbers of their ways.
struct Sides<'e> {
    sets: (Set, Set),
    left: &'e Entry,
    right: &'e Entry,
    rows: f64,
    kind: JoinKind,
}

impl Search<'_, '_, '_> {
    pub(super) fn allows(&self, method: JoinHint) -> bool {
        let hinted = &self.optimizer.hints.joins;
        match self.hint {
            Some(hint) => hint == method,
            None => hinted.is_empty() || hinted.contains(&method),
        }
    }

    /// Prices the ways to join a left with a right set.
    pub(crate) fn price(
        &mut self,
        left: Set,
        right: Set,
        tie: Tie,
        kind: JoinKind,
    ) -> SqlResult<()> {
        let (Some(l), Some(r)) = (self.entries.get(&left), self.entries.get(&right)) else {
            return Ok(());
        };
        let sought_only = l.ways.is_empty();
        if sought_only && kind != JoinKind::Semi {
            return Ok(());
        }
        let (l, r) = (l.clone(), r.clone());
        let rows = self.entries.get(&left.union(right)).map_or(0.0, |e| e.rows);
        let sides = Sides { sets: (left, right), left: &l, right: &r, rows, kind };
        let mut ways = Vec::new();
        let dependent = r.ways.is_empty();
        if dependent && !self.is_given(left, right) {
            return Ok(());
        }
        if sought_only {
            // FORCESEEK: what the other side has may be sought.
            if !dependent && self.allows(JoinHint::Loop) {
                self.turned_ways(&sides, tie, &mut ways)?;
            }
            self.add_ways(left.union(right), ways);
            return Ok(());
        }
        if !dependent && self.allows(JoinHint::Hash) && self.has_keys(left, right, tie) {
            self.hash_ways(&sides, &mut ways);
        }
        if !dependent && self.allows(JoinHint::Merge) && self.has_keys(left, right, tie) {
            ways.extend(self.merge_way((left, right), tie, rows)?);
        }
        if self.allows(JoinHint::Loop) {
            let untied = tie.classes == 0 && tie.operator.is_none() && tie.conditions == 0;
            if dependent || !untied || self.optimizer.hints.no_spool {
                self.loop_ways(&sides, tie, &mut ways)?;
            }
            if !dependent {
                self.spool_ways(&sides, &mut ways);
            }
            if kind == JoinKind::Semi && !dependent {
                self.turned_ways(&sides, tie, &mut ways)?;
            }
        }
        self.add_ways(left.union(right), ways);
        Ok(())
    }

    fn add_ways(&mut self, set: Set, ways: Vec<Way>) {
        let wish = self.wish;
        if let Some(entry) = self.entries.get_mut(&set) {
            ways.into_iter().for_each(|way| entry.add(way, wish));
        }
    }

    /// A relation's needs are met by the left side.
    fn is_given(&self, left: Set, right: Set) -> bool {
        right.only().is_some_and(|n| left.contains(self.region.relations[n].requires))
    }

    fn hash_ways(&self, s: &Sides<'_>, ways: &mut Vec<Way>) {
        let (l, r) = (s.left.cheapest(), s.right.cheapest());
        let (left, right) = (s.left.ways[l], s.right.ways[r]);
        let prices = self.optimizer.prices;
        let way = |build_left: bool| {
            let (build, probe) = if build_left { (s.left, s.right) } else { (s.right, s.left) };
            let (of_build, of_probe) = if build_left { (left, right) } else { (right, left) };
            let own = prices.build(build.rows, build.width).sum();
            let built = (build.rows, build.width);
            let probing = prices.probe(probe.rows, probe.width, s.rows, built).sum();
            let start = of_build.total + own;
            Way {
                first: start + of_probe.first,
                total: start + of_probe.total + probing,
                ordered: false,
                step: Step::Join {
                    left: (s.sets.0, l),
                    right: (s.sets.1, r),
                    method: Method::Hash { build_left },
                },
            }
        };
        ways.push(way(false));
        if s.kind == JoinKind::Left {
            ways.push(way(true));
        }
    }

    fn loop_ways(&mut self, s: &Sides<'_>, tie: Tie, ways: &mut Vec<Way>) -> SqlResult<()> {
        let Some(inner) = self.inner_of(s.sets.0, s.sets.1, tie)? else { return Ok(()) };
        let each = match s.kind {
            JoinKind::Semi => inner.first_row(),
            JoinKind::Anti => (inner.first_row() + inner.total) / 2.0,
            _ => inner.total,
        };
        let prices = self.optimizer.prices;
        let outer = s.left.rows;
        let far = if inner.far { prices.far(outer).sum() } else { 0.0 };
        let own = prices.looped(outer, s.rows).sum() + far;
        for (n, left) in s.left.ways.iter().enumerate() {
            ways.push(Way {
                first: left.first + inner.first,
                // Somebody opens it at least once.
                total: left.total + outer.max(1.0) * each + own,
                ordered: left.ordered,
                step: Step::Join {
                    left: (s.sets.0, n),
                    right: (s.sets.1, 0),
                    method: Method::Loop,
                },
            });
        }
        Ok(())
    }

    fn spool_ways(&self, s: &Sides<'_>, ways: &mut Vec<Way>) {
        let r = s.right.cheapest();
        let (right, prices) = (s.right.ways[r], self.optimizer.prices);
        let outer = s.left.rows.max(1.0);
        let part = if matches!(s.kind, JoinKind::Semi) { 0.5 } else { 1.0 };
        let kept = prices.spool(s.right.rows, s.right.width, outer * part).sum();
        let tests = prices.tests(outer * s.right.rows * part, 1).sum();
        let unwanted = if self.optimizer.hints.no_spool { UNWANTED } else { 0.0 };
        let own = kept + tests + prices.looped(outer, s.rows).sum() + unwanted;
        for (n, left) in s.left.ways.iter().enumerate() {
            ways.push(Way {
                first: left.first + right.first + unwanted,
                total: left.total + right.total + own,
                ordered: left.ordered,
                step: Step::Join {
                    left: (s.sets.0, n),
                    right: (s.sets.1, r),
                    method: Method::Spool,
                },
            });
        }
    }

    fn turned_ways(&mut self, s: &Sides<'_>, tie: Tie, ways: &mut Vec<Way>) -> SqlResult<()> {
        let (left, right) = s.sets;
        let Some((n, _)) = tie.operator else { return Ok(()) };
        if left.only().is_none() || self.turned_keys(n).is_none() {
            return Ok(());
        }
        let Some(inner) = self.inner_of(right, left, tie)? else { return Ok(()) };
        let r = s.right.cheapest();
        let (from, prices) = (s.right.ways[r], self.optimizer.prices);
        let groups = self.partners(n, s.right.rows);
        let start = from.total + prices.hash_groups(s.right.rows, groups, s.right.width).sum();
        let own = prices.looped(groups, s.rows).sum() + prices.far(groups).sum();
        ways.push(Way {
            first: start + inner.first,
            total: start + groups.max(1.0) * inner.total + own,
            ordered: false,
            step: Step::Join { left: (left, 0), right: (right, r), method: Method::Turned },
        });
        Ok(())
    }

    /// What of the right part tells whether a semi join finds something: where its conditions are
    /// nothing but equalities with such.
    pub(crate) fn turned_keys(&self, n: usize) -> Option<Vec<(Scalar, Collation)>> {
        let operator = &self.region.operators[n];
        let slots = self.slots_of(operator.right);
        let reads = |x: &Scalar| self.optimizer.reader().scalar(x);
        let right = |x: &Scalar| {
            let reads = reads(x);
            !reads.is_empty() && reads.is_subset(&slots)
        };
        let of_right = |x: &Scalar| !reads(x).is_disjoint(&slots);
        let key = |p: &Predicate| {
            let (a, b, collation) = equality(p)?;
            let x = match (right(a), right(b)) {
                (true, false) if !of_right(b) => a,
                (false, true) if !of_right(a) => b,
                _ => return None,
            };
            Some((x.clone(), collation))
        };
        let keys: Option<Vec<_>> = operator.conditions.iter().map(key).collect();
        keys.filter(|keys| !keys.is_empty())
    }

    /// The conditions that tie two sets, but for those tested above.
    pub(crate) fn pair_conditions(&self, left: Set, right: Set, tie: Tie) -> Vec<Predicate> {
        if let Some((n, _)) = tie.operator {
            return self.region.operators[n].conditions.clone();
        }
        let mut found = Vec::new();
        for n in bits(tie.classes) {
            let class = &self.classes.joining[n];
            if let (Some(a), Some(b)) = (class.member(left), class.member(right)) {
                found.push(Predicate::Compare {
                    op: CompareOp::Equal,
                    left: Box::new(a.clone()),
                    right: Box::new(b.clone()),
                    collation: class.collation,
                });
            }
        }
        let conditions = bits(tie.conditions).map(|n| &self.region.conditions[n]);
        found.extend(conditions.filter(|c| !c.late).map(|c| c.predicate.clone()));
        found
    }

    /// Whether a relation would take too long to be asked for under each join's conditions, and
    /// there is a way to it without them.
    fn is_asked_once(&self, relation: usize) -> bool {
        let alone = self.entries.get(&Set::of(relation)).is_some_and(|e| !e.ways.is_empty());
        let late = self.optimizer.effort == 0 && !is_small(self.region.relations[relation].tree);
        alone && (late || self.region.bears_rest(relation))
    }

    /// Whether a right part has joins of its own to be tried.
    fn is_dear(&self, right: Set) -> bool {
        let nested = |p: &Predicate| !p.reads().subqueries.is_empty();
        right.only().is_none_or(|n| {
            let r = &self.region.relations[n];
            !is_small(r.tree) || r.filters.iter().any(nested)
        })
    }

    /// What the right side costs when it is opened for a row of the left.
    fn inner_of(&mut self, left: Set, right: Set, tie: Tie) -> SqlResult<Option<InnerSide>> {
        let relation = right.only();
        let own = |n: usize| self.region.operators[n].right == right;
        let own_right = tie.operator.is_some_and(|(n, _)| own(n));
        let place = match (tie.operator, relation) {
            (Some((n, _)), _) if own_right => RELATIONS_MAX + n,
            (Some((n, _)), Some(_)) => 2 * RELATIONS_MAX + n,
            (None, Some(n)) => n,
            (_, None) => return Ok(None),
        };
        if !own_right && relation.is_some_and(|n| self.is_asked_once(n)) {
            return Ok(None);
        }
        let key = (place, tie.classes, tie.conditions);
        if let Some(known) = self.inner.get(&key) {
            return Ok(*known);
        }
        if self.inner.len() >= INNER_MAX {
            return Ok(None);
        }
        if self.optimizer.trials == 0 && self.is_dear(right) {
            let entry = self.entries.get(&right);
            return Ok(entry.filter(|e| e.ways.is_empty()).map(|e| InnerSide::guessed(e.rows)));
        }
        let conditions = self.pair_conditions(left, right, tie);
        // A trial takes no subquery out of expressions: what is built in the end does.
        let joined = self.optimizer.joined.clone();
        let tried = self.inner_node(right, tie, conditions, None);
        self.optimizer.joined = joined;
        let inner = match tried {
            Err(e) if e.number() == messages::HINTS_NO_PLAN.number => None,
            node => Some(InnerSide::of(&node?)),
        };
        self.inner.insert(key, inner);
        Ok(inner)
    }

    /// The right side of a loop, with the conditions of the pair.
    pub(crate) fn inner_node(
        &mut self,
        right: Set,
        tie: Tie,
        conditions: Vec<Predicate>,
        needed: Option<&crate::node::Slots>,
    ) -> SqlResult<Node> {
        let semi = tie.operator.is_some_and(|(n, _)| {
            let o = &self.region.operators[n];
            o.right == right && matches!(o.kind, JoinKind::Semi | JoinKind::Anti)
        });
        let wish = if semi { Wish { goal: Some(1.0), ..Wish::NONE } } else { Wish::NONE };
        if let Some(n) = right.only() {
            let relation = &self.region.relations[n];
            let needed = needed.unwrap_or(&self.needed[n]).clone();
            let filters = relation.filters.iter().cloned().chain(conditions).collect();
            return self.optimizer.remembered(relation.tree, filters, &needed, wish);
        }
        let mut slots = crate::node::Slots::new();
        match needed {
            Some(needed) => slots.extend(needed),
            None => right.iter().for_each(|n| slots.extend(&self.needed[n])),
        }
        let operator = tie.operator.map(|(n, _)| &self.region.operators[n]);
        let Some(operator) = operator else { return Ok(crate::convert::nothing()) };
        let nested = self.region.operators.iter().map(|o| o.right);
        let within = nested.filter(|o| right.contains(*o) && *o != right);
        let hidden = within.fold(Set::EMPTY, Set::union);
        let told = right.without(hidden).iter().flat_map(|n| &self.region.relations[n].filters);
        let told = told.chain(&operator.said);
        let filters = told.cloned().chain(conditions).collect();
        self.optimizer.remembered(operator.tree, filters, &slots, wish)
    }
}

/// Conversions of inner sides, so that optimizing ends.
const INNER_MAX: usize = 400;
