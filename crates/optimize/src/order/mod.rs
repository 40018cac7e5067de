//! Join order: a region of joins taken apart, searched, and put together again.
//!
//! How it works, with its papers, stands in `../README.md`, part 4.

mod build;
mod classes;
mod greedy;
mod hyper;
mod merge;
mod method;
mod referenced;
mod region;
mod search;
mod set;
mod unused;

use crate::convert::{Optimizer, nothing};
use crate::node::{Node, Slots, Wish};
use crate::path::unordered;
use base::{SqlError, SqlResult, messages};
pub(crate) use build::{Joint, Key, merge_orders};
use classes::Classes;
use hyper::{Edge, Graph, Table};
use plan::{Logical, Physical, Predicate, StartupFilter};
pub(crate) use region::without_effect;
use region::{Collector, Region, Shape};
pub(crate) use search::equality;
use search::{Search, Way};
use set::Set;

/// Pairs of sets that are priced; beyond, joins are chosen greedily.
const PAIRS_MAX: usize = 20_000;
/// Sets that are looked at meanwhile; to price a pair takes as long as to look at so many.
const LOOKS_MAX: usize = PAIRS_MAX * LOOKS_OF_A_PAIR;
const LOOKS_OF_A_PAIR: usize = 16;
/// Looks of a whole statement, about a second: regions that come later are joined greedily, and
/// none of them is asked again for each row of another.
pub(crate) const EFFORT_MAX: usize = 400_000 * LOOKS_OF_A_PAIR;

/// Parts with joins of their own that are converted only to see what they cost, in one statement.
/// Each of them tries its own parts, so that in a statement that nests deeply they would come to a
/// power of its depth. Later ones are not tried where there is another way, else guessed.
pub(crate) const TRIALS_MAX: usize = 64;

fn never(p: &Predicate) -> bool {
    matches!(p, Predicate::Constant(Some(false) | None))
}

/// What is false for no row of a table.
fn checks(tree: &Logical) -> &[Predicate] {
    match tree {
        Logical::Get(get) => &get.checks,
        _ => &[],
    }
}

/// Whether no row can come of a region, because none of some relation can satisfy its conditions.
/// Of a relation that need not have a partner nothing is read then. Relations that still have as
/// many conditions as `before` have been looked at.
fn is_empty(region: &mut Region<'_>, before: &[usize]) -> bool {
    let right: Set = region.operators.iter().map(|o| o.right).fold(Set::EMPTY, Set::union);
    for (n, r) in region.relations.iter_mut().enumerate() {
        if r.filters.is_empty() || before.get(n) == Some(&r.filters.len()) {
            continue;
        }
        if r.filters.iter().any(never) || crate::rewrite::contradicts(&r.filters, checks(r.tree)) {
            if !right.has(n) {
                return true;
            }
            r.filters = vec![Predicate::Constant(Some(false))];
        }
    }
    false
}

impl<'a> Optimizer<'a> {
    /// Joins and conditions, in the best order that is found.
    pub(crate) fn region(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Node> {
        let mut region = Collector::collect(self.reader(), tree, filters);
        self.joined.extend(region.operators.iter().filter_map(|o| o.subquery));
        let mut above = needed.clone();
        region.last.iter().for_each(|p| above.extend(self.reader().predicate(p)));
        for (slot, x) in region.computed.iter().rev() {
            if above.contains(slot) {
                above.extend(self.reader().scalar(x));
            }
        }
        region.computed.retain(|(slot, _)| above.contains(slot));
        if region.startup.iter().any(never) || is_empty(&mut region, &[]) {
            return Ok(nothing());
        }
        let node = match region.relations.as_slice() {
            [one] => {
                debug_assert!(region.operators.is_empty() && region.conditions.is_empty());
                let filters = one.filters.clone();
                self.convert(one.tree, filters, &above, self.inside(wish, &region))?
            }
            _ => match self.joined_region(&mut region, &above, wish)? {
                Some(node) => node,
                None => return Ok(nothing()),
            },
        };
        Ok(self.upon(node, region, needed))
    }

    /// A wish for an order of columns that are computed above is nobody's below.
    fn inside<'w>(&self, wish: Wish<'w>, region: &Region<'_>) -> Wish<'w> {
        let computed = |k: &plan::SortKey| region.computed.iter().any(|(slot, _)| *slot == k.slot);
        if wish.order.iter().any(computed) { wish.unordered() } else { wish }
    }

    /// Columns that are computed above the joins, and what decides whether anything is read.
    fn upon(&self, node: Node, region: Region<'_>, needed: &Slots) -> Node {
        let mut columns = region.computed;
        let mut below = needed.clone();
        region.last.iter().for_each(|p| below.extend(self.reader().predicate(p)));
        let mut kept: Vec<_> = Vec::with_capacity(columns.len());
        while let Some((slot, x)) = columns.pop() {
            if below.contains(&slot) {
                below.extend(self.reader().scalar(&x));
                kept.push((slot, x));
            }
        }
        kept.reverse();
        let node = self.computed(node, kept);
        let node = self.with_filter(node, region.last);
        match Predicate::all(region.startup) {
            None => node,
            Some(predicate) => {
                let cost = self.prices.tests(1.0, 1);
                node.over(cost, |input| {
                    Physical::StartupFilter(StartupFilter { input: Box::new(input), predicate })
                })
            }
        }
    }

    /// A region of several relations; none when no row can come of it.
    fn joined_region(
        &mut self,
        region: &mut Region<'_>,
        needed: &Slots,
        wish: Wish<'_>,
    ) -> SqlResult<Option<Node>> {
        let forced = region.hinted || self.hints.force_order;
        let before: Vec<usize> = region.relations.iter().map(|r| r.filters.len()).collect();
        let mut classes = Classes::find(region, forced || !self.hints.joins.is_empty());
        if classes.contradiction || is_empty(region, &before) {
            return Ok(None);
        }
        let mut gone = self.unused(region, needed);
        if !forced {
            gone = gone.union(self.referenced(region, &mut classes, gone, needed));
        }
        region.settle_small(gone);
        let wish = self.inside(wish, region);
        let shape = region.shape.clone();
        let mut search = Search::new(self, region, &classes, needed, wish)?;
        let all: Set = (0..region.relations.len()).collect();
        let all = all.without(gone);
        if all.len() > 1 {
            match forced {
                true => {
                    search.forced(&shape, gone)?;
                }
                false => search.free(all),
            }
        }
        if let Some(e) = search.failed.take() {
            return Err(e);
        }
        let no_plan = || SqlError::new(messages::HINTS_NO_PLAN, &[]);
        let entry = search.entries.get(&all).filter(|e| !e.ways.is_empty());
        let entry = entry.cloned().ok_or_else(no_plan)?;
        let price = |w: &Way| {
            if w.ordered || wish.order.is_empty() {
                return w.first + (w.total - w.first) * wish.share(entry.rows);
            }
            w.total + unordered(search.optimizer.prices, wish.otherwise, entry.rows, entry.width)
        };
        let ways = entry.ways.iter().enumerate();
        let best = ways.min_by(|a, b| price(a.1).total_cmp(&price(b.1))).map_or(0, |(n, _)| n);
        let ordered = entry.ways[best].ordered;
        let mut node = search.build(all, best, needed)?;
        if ordered && !wish.order.is_empty() {
            node.order = wish.order.to_vec();
        }
        Ok(Some(node))
    }
}

impl Search<'_, '_, '_> {
    /// The edges of the region.
    fn edges(&self, all: Set) -> Vec<Edge> {
        let mut edges = Vec::new();
        for c in self.region.conditions.iter().filter(|c| !c.late && all.contains(c.after)) {
            for n in c.after.iter() {
                edges.push(Edge(Set::of(n), c.after.without(Set::of(n))));
            }
        }
        let of_classes = self.classes.joining.iter().map(classes::Class::set);
        for set in of_classes.chain(self.classes.ties.iter().copied()) {
            let set = set.and(all);
            let pairs =
                set.iter().flat_map(|a| set.iter().filter(move |b| *b < a).map(move |b| (a, b)));
            edges.extend(pairs.map(|(a, b)| Edge(Set::of(a), Set::of(b))));
        }
        let operators =
            self.region.operators.iter().filter(|o| all.contains(o.left.union(o.right)));
        edges.extend(operators.map(|o| Edge(o.left, o.right)));
        for n in all.iter() {
            let requires = self.region.relations[n].requires;
            if !requires.is_empty() {
                edges.push(Edge(requires, Set::of(n)));
            }
        }
        edges
    }

    /// Any order: all of them, or what greed finds where these are too many.
    fn free(&mut self, all: Set) {
        let count = self.region.relations.len();
        let mut edges = self.edges(all);
        let apart = Graph::new(count, &edges).components();
        let apart: Vec<Set> = apart.into_iter().filter(|c| all.meets(*c)).collect();
        for (n, a) in apart.iter().enumerate() {
            edges.extend(apart[..n].iter().map(|b| Edge(*a, *b)));
        }
        let relations = self.entries.clone();
        let graph = Graph::new(count, &edges);
        self.pairs_left = PAIRS_MAX;
        self.looks_left = LOOKS_MAX;
        let whole = self.optimizer.effort > 0 && graph.pairs(self);
        if (whole && self.has(all)) || self.failed.is_some() {
            return;
        }
        self.entries = relations;
        self.greedy(all, &graph);
    }

    /// The order of the text.
    fn forced(&mut self, shape: &Shape, gone: Set) -> SqlResult<Set> {
        match shape {
            Shape::Relation(n) => Ok(Set::of(*n).without(gone)),
            Shape::Join(left, right, hint) => {
                let left = self.forced(left, gone)?;
                let right = self.forced(right, gone)?;
                if left.is_empty() || right.is_empty() {
                    return Ok(left.union(right));
                }
                self.hint = *hint;
                self.add_pair(left, right);
                self.hint = None;
                let both = left.union(right);
                let no_plan = || SqlError::new(messages::HINTS_NO_PLAN, &[]);
                self.has(both).then_some(both).ok_or_else(no_plan)
            }
        }
    }
}
