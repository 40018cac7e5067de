//! Several indexes for one table reference.
//!
//! ```text
//!   a = 1 OR b = 2      union          rows of either index, each row's place once, then the row
//!   a < 5 AND b > 7     intersection   places that both indexes give, joined by hash, then the row
//! ```
//! INDEX(ia, ib) asks for an intersection of all that it names, sought or scanned.
//!
//! Either way the row itself is fetched and tested by all conditions: indexes that are read one
//! after the other may have changed in between.

use crate::access::{Locator, Reference};
use crate::convert::Optimizer;
use crate::cost::Cost;
use crate::node::{Fixed, Node, Slots, Wish};
use crate::path::{Offer, Path};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use catalog::view::{IndexKind, PhysicalColumn};
use plan::{
    AggregateCall, AggregatePhase, CompareOp, Get, HashJoin, JoinKind, Physical, Predicate, Scalar,
    ScalarType, Slot,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{Collation, SqlType, Value};

/// Parts of an OR that are sought one by one.
const PARTS_MAX: usize = 32;
/// What is read in so many microseconds is not made quicker by two indexes.
const QUICK: f64 = 30.0;

/// How an index is read for the places of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Sought,
    /// Sought where conditions let it, else scanned.
    Any,
}

/// Places of rows that one index gives.
struct Branch {
    node: Node,
    locator: Locator,
    /// The conditions that the index decides.
    conditions: Vec<Predicate>,
}

impl Optimizer<'_> {
    /// The cheapest way through several indexes, if it costs less than `price`.
    pub(crate) fn several(&self, r: &Reference<'_>, price: f64, wish: Wish<'_>) -> Option<Node> {
        let hinted = r.get.index.is_some() || r.get.force_scan;
        if hinted || price < QUICK || r.conditions.is_empty() {
            return None;
        }
        let ways = self.unions(r).into_iter().chain(self.intersection(r));
        let priced = ways.map(|node| (self.priced(&node, wish), node));
        let cheaper = priced.filter(|(own, _)| *own < price);
        cheaper.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, node)| node)
    }

    /// The rows that all indexes of a hint give.
    ///
    /// # Errors
    /// 8622 where one of them has not all rows, or FORCESEEK finds nothing to seek.
    pub(crate) fn hinted(&self, r: &Reference<'_>) -> SqlResult<Node> {
        let all = r.get.index.iter().chain(&r.get.further);
        let branches = all.map(|&n| self.branch_of(r, n, &r.conditions, Reading::Any));
        let branches = branches.collect::<Option<Vec<Branch>>>();
        let unable = || SqlError::new(messages::HINTS_NO_PLAN, &[]);
        let seeks = |b: &Branch| matches!(&b.node.tree, Physical::Access(a) if a.seek.is_some());
        let fits = |all: &Vec<Branch>| !r.get.force_seek || all.iter().any(seeks);
        let node = branches.filter(fits).and_then(|branches| match Self::locator_may_be_null(r) {
            true => self.counted(r, branches),
            false => self.joined(r, branches),
        });
        node.ok_or_else(unable)
    }

    /// What all branches give, joined one after the other.
    fn joined(&self, r: &Reference<'_>, branches: Vec<Branch>) -> Option<Node> {
        let all = branches.into_iter().reduce(|a, b| {
            let (small, large) = if a.node.rows <= b.node.rows { (a, b) } else { (b, a) };
            self.places_of_both(r, small, large)
        })?;
        Some(self.rows_of(r, all.node, all.locator))
    }

    /// The same where places may have NULL, which no join compares: those that come as often as
    /// there are branches.
    fn counted(&self, r: &Reference<'_>, branches: Vec<Branch>) -> Option<Node> {
        let rows = self.rows_in_all(r, &branches.iter().collect::<Vec<_>>());
        let count = Value::BigInt(branches.len() as i64);
        let (output, ty) = (self.new_slot(), ScalarType::new(SqlType::BigInt, false));
        let call = AggregateCall {
            function: Aggregate::CountBig,
            distinct: false,
            argument: None,
            separator: None,
            output,
            ty,
            phase: AggregatePhase::Whole,
        };
        let (groups, locator) = self.grouped_places(r, branches, vec![call])?;
        let in_all = Predicate::Compare {
            op: CompareOp::GreaterOrEqual,
            left: Box::new(Scalar::column(output, ty)),
            right: Box::new(Scalar::constant(count, SqlType::BigInt)),
            collation: Collation::default(),
        };
        let kept = Node { rows, ..self.with_filter(groups, vec![in_all]) };
        Some(self.rows_of(r, kept, locator))
    }

    /// For each OR whose parts indexes can seek, the rows that these give.
    fn unions(&self, r: &Reference<'_>) -> Vec<Node> {
        let mut found = Vec::new();
        for (n, p) in r.conditions.iter().enumerate() {
            let Predicate::Or(parts) = p else { continue };
            if parts.len() > PARTS_MAX {
                continue;
            }
            let others = r.conditions.iter().enumerate().filter(|(m, _)| *m != n);
            let others: Vec<Predicate> = others.map(|(_, p)| p.clone()).collect();
            let branch = |part: &Predicate| {
                let own = part.clone().conjuncts().into_iter();
                self.branch(r, own.chain(others.iter().cloned()).collect())
            };
            if let Some(branches) = parts.iter().map(branch).collect::<Option<Vec<Branch>>>() {
                found.extend(self.union(r, branches));
            }
        }
        found
    }

    /// Each place once, and the rows there.
    fn union(&self, r: &Reference<'_>, branches: Vec<Branch>) -> Option<Node> {
        let (distinct, locator) = self.grouped_places(r, branches, Vec::new())?;
        Some(self.rows_of(r, distinct, locator))
    }

    /// The places that any branch gives, each once, with what is computed of how they came.
    fn grouped_places(
        &self,
        r: &Reference<'_>,
        branches: Vec<Branch>,
        calls: Vec<AggregateCall>,
    ) -> Option<(Node, Locator)> {
        let (slots, types) = branches.first()?.locator.clone();
        let columns: Vec<Slot> = slots.iter().map(|_| self.new_slot()).collect();
        let inputs = branches.into_iter().map(|b| (b.node, b.locator.0)).collect();
        let all = self.concatenated(inputs, columns.clone());
        let places = all.rows;
        let collations = self.locator_collations(r);
        let keys: Vec<(Slot, Collation)> = columns.iter().copied().zip(collations).collect();
        Some((self.grouped(all, &keys, calls, places), (columns, types)))
    }

    /// The best two indexes whose places are joined.
    fn intersection(&self, r: &Reference<'_>) -> Option<Node> {
        if r.conditions.len() < 2 || Self::locator_may_be_null(r) {
            return None;
        }
        let secondary = 1..r.table.indexes.len();
        let mut branches: Vec<Branch> =
            secondary.filter_map(|n| self.sought(r, n, &r.conditions)).collect();
        let mut best: Option<(f64, usize, usize)> = None;
        for (i, a) in branches.iter().enumerate() {
            for (j, b) in branches.iter().enumerate().take(i) {
                let price = a.node.total + b.node.total + self.rows_in_all(r, &[a, b]);
                if a.conditions != b.conditions && best.is_none_or(|known| price < known.0) {
                    best = Some((price, i, j));
                }
            }
        }
        let (_, i, j) = best?;
        // The later one first: the other stays where it is.
        let (a, b) = (branches.swap_remove(i), branches.swap_remove(j));
        self.joined(r, vec![a, b])
    }

    fn rows_in_all(&self, r: &Reference<'_>, branches: &[&Branch]) -> f64 {
        let all: Vec<&Predicate> = branches.iter().flat_map(|b| &b.conditions).collect();
        self.estimator.table_rows(&r.table) * self.estimator.all(&all)
    }

    fn places_of_both(&self, r: &Reference<'_>, small: Branch, large: Branch) -> Branch {
        let rows = self.rows_in_all(r, &[&small, &large]);
        let (build, probe) = (small.node, large.node);
        let pairs = small.locator.0.iter().zip(&large.locator.0);
        let keys = pairs.zip(self.locator_collations(r)).map(|((&a, &b), c)| (a, b, c)).collect();
        let built = (build.rows, build.width);
        let own = self.prices.build(build.rows, build.width)
            + self.prices.probe(probe.rows, probe.width, rows, built);
        let (first, total) = (build.total + probe.first, build.total + probe.total + own.sum());
        let (width, below) = (build.width, [build.estimates(), probe.estimates()].concat());
        let join = HashJoin {
            kind: JoinKind::Inner,
            build: build.tree,
            probe: probe.tree,
            keys,
            residual: None,
            build_slots: small.locator.0.clone(),
            probe_slots: Vec::new(),
        };
        let node = Node::joining(Physical::HashJoin(Box::new(join)), own, below);
        let node = Node { rows, width, first, total, ..node };
        let conditions = [small.conditions, large.conditions].concat();
        Branch { node, locator: small.locator, conditions }
    }

    /// The rows at some places, tested by all conditions.
    fn rows_of(&self, r: &Reference<'_>, places: Node, locator: Locator) -> Node {
        let pages = self.estimator.size(&r.table, r.table.base()).pages;
        let cost = self.prices.lookup(places.rows, pages, r.conditions.len());
        let conditions: Vec<&Predicate> = r.conditions.iter().collect();
        let kept = self.estimator.table_rows(&r.table) * self.estimator.all(&conditions);
        let (rows, width) = (kept.min(places.rows), self.estimator.width(r.columns.values()));
        let late = r.conditions.clone();
        let node = places.over(cost, |input| self.fetched(r, input, locator, &Slots::new(), late));
        Node { rows, width, order: Vec::new(), fixed: Fixed::new(), single: false, ..node }
    }

    /// Places by the index that finds them at the least cost.
    fn branch(&self, r: &Reference<'_>, conditions: Vec<Predicate>) -> Option<Branch> {
        let pages = self.estimator.size(&r.table, r.table.base()).pages;
        let price = |b: &Branch| b.node.total + self.prices.lookup(b.node.rows, pages, 1).sum();
        let all = 0..r.table.indexes.len();
        let found = all.filter_map(|n| self.sought(r, n, &conditions));
        found.min_by(|a, b| price(a).total_cmp(&price(b)))
    }

    /// Places by one index, where conditions let it seek.
    fn sought(&self, r: &Reference<'_>, n: usize, conditions: &[Predicate]) -> Option<Branch> {
        self.branch_of(r, n, conditions, Reading::Sought)
    }

    /// Places by one index that has all rows.
    fn branch_of(
        &self,
        r: &Reference<'_>,
        position: usize,
        conditions: &[Predicate],
        reading: Reading,
    ) -> Option<Branch> {
        let index = &r.table.indexes[position];
        if index.disabled || index.key.is_empty() || index.filter.is_some() {
            return None;
        }
        let get = Get { target: None, ..r.get.clone() };
        let layout = r.table.hobt_layout(index);
        let of = |conditions: Vec<Predicate>| {
            let read: Slots = conditions.iter().flat_map(|p| p.reads().slots).collect();
            let columns = r.columns.iter().filter(|(_, slot)| read.contains(slot));
            let columns = columns.map(|(&c, &s)| (c, s)).collect();
            let (table, above) = (Arc::clone(&r.table), Vec::new());
            Reference { get: &get, table, columns, conditions, above }
        };
        let whole = of(conditions.to_vec());
        let decided = whole.decided_by(&layout, &r.hidden()).into_iter();
        // What would be answered otherwise for the row itself is asked there alone.
        let decided = decided.map(|n| whole.conditions[n].clone()).filter(|p| !p.reads().volatile);
        let own = of(decided.collect());
        let node = self.places(&own, position, reading)?;
        let Physical::Access(access) = node.tree else { return None };
        let mut access = *access;
        let fresh: BTreeMap<Slot, Slot> =
            access.columns.iter().map(|c| (c.slot, self.new_slot())).collect();
        access.columns.iter_mut().for_each(|c| c.slot = fresh[&c.slot]);
        if let Some(p) = &mut access.residual {
            p.rewrite(&mut |x| {
                if let plan::ScalarKind::Column(slot) = &mut x.kind
                    && let Some(new) = fresh.get(slot)
                {
                    *slot = *new;
                }
            });
        }
        let locator = self.locate(r, &layout, &mut access);
        let own_cost: Cost = node.own;
        let width = 8.0 * locator.0.len() as f64;
        let node = Node::leaf(Physical::Access(Box::new(access)), node.rows, width, own_cost);
        Some(Branch { node, locator, conditions: own.conditions })
    }

    /// A seek or scan that reads no more than its own conditions do.
    fn places(&self, own: &Reference<'_>, position: usize, reading: Reading) -> Option<Node> {
        let conditions: Vec<&Predicate> = own.conditions.iter().collect();
        let sargs = own.sargs(self.reader());
        let all: Vec<usize> = (0..own.conditions.len()).collect();
        let offer = Offer {
            sargs: &sargs,
            conditions: &own.conditions,
            above: &[],
            decided: &|_| all.clone(),
            slot: &|column| own.columns.get(&column).copied(),
            needed: &[],
            wish: Wish::NONE,
            estimator: &self.estimator,
            prices: self.prices,
            part: self.estimator.all(&conditions),
            width: 8.0,
            target: false,
        };
        let path = Path::new(&own.table, position, &offer);
        let fits = reading != Reading::Sought || path.seek.is_some();
        fits.then(|| self.by_path(own, path))
    }

    /// Whether a row's place has a part that no join compares: a key's NULL or its uniquifier.
    fn locator_may_be_null(r: &Reference<'_>) -> bool {
        let base = r.table.base();
        let layout = r.table.hobt_layout(base);
        let may_be = |part: PhysicalColumn| match part {
            PhysicalColumn::Column(n) => r.table.columns[n].nullable,
            _ => true,
        };
        base.kind != IndexKind::Heap && layout.key.iter().any(|k| may_be(layout.columns[k.field]))
    }

    /// How the parts of a locator compare.
    fn locator_collations(&self, r: &Reference<'_>) -> Vec<Collation> {
        let base = r.table.hobt_layout(r.table.base());
        if r.table.base().kind == IndexKind::Heap {
            return vec![Collation::default()];
        }
        let of = |part: PhysicalColumn| match part {
            PhysicalColumn::Column(n) => r.table.columns[n].collation,
            _ => Collation::default(),
        };
        base.key.iter().map(|k| of(base.columns[k.field])).collect()
    }
}
