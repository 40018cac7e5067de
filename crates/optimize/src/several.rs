//! Several indexes for one table reference.
//!
//! ```text
//!   a = 1 OR b = 2      union          rows of either index, each row's place once, then the row
//!   a < 5 AND b > 7     intersection   places that both indexes give, joined by hash, then the row
//! ```
//! INDEX(ia, ib) asks for an intersection of all that it names, sought or scanned.
//!
//! Where the indexes have every column that is read above, that is all: of a union each of them
//! must, of an intersection all together. Otherwise the row itself is fetched and tested by all
//! conditions.
//!
//! Indexes are read one after the other, so a row may change in between, unless versions or the
//! locks of REPEATABLE READ hold it.
//!  1. A union gives each place once, with what the first entry of it had that was met: all of one
//!     moment, at which its part of the OR was true. ANY takes it from there.
//!  2. A covered intersection has of each index what that index had: perhaps a row that never was
//!     so as a whole, as in SQL Server.

use crate::access::{Locator, PARTS_MAX, Reference};
use crate::convert::Optimizer;
use crate::cost::Cost;
use crate::node::{FixedSlots, Node, Slots, Wish};
use crate::path::{Offer, Path};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use catalog::view::{HobtLayout, PhysicalColumn};
use plan::{
    AggregateCall, AggregatePhase, CompareOp, Get, HashJoin, JoinKind, Physical, Predicate, Scalar,
    ScalarType, ScanColumn, Slot,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::{Collation, SqlType, Value};

/// What is read in so many microseconds is not made quicker by two indexes.
const QUICK: f64 = 30.0;

/// So many ORs of one reference are tried: each is priced beside all other conditions.
const ORS_MAX: usize = 16;

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
    /// Columns of the rows themselves that the index gives too, and where.
    given: ColumnSlots,
    /// The conditions that the index decides.
    conditions: Vec<Predicate>,
}

/// Columns by ordinal, and the slots that they come in.
type ColumnSlots = BTreeMap<usize, Slot>;

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
        let all: Vec<usize> = r.get.index.iter().chain(&r.get.further).copied().collect();
        let gives = self.given_by(r, &all).filter(|_| !Self::locator_may_be_null(r));
        let whole = gives.is_some();
        let gives = gives.unwrap_or_else(|| vec![ColumnSlots::new(); all.len()]);
        let branch = |(&n, gives)| self.branch_of(r, n, &r.conditions, Reading::Any, gives);
        let branches = all.iter().zip(gives).map(branch).collect::<Option<Vec<Branch>>>();
        let unable = || SqlError::new(messages::HINTS_NO_PLAN, &[]);
        let seeks =
            |b: &Branch| b.node.tree.describe().stored().is_some_and(|s| s.seek().is_some());
        let fits = |all: &Vec<Branch>| !r.get.force_seek || all.iter().any(seeks);
        let node = branches.filter(fits).and_then(|branches| match Self::locator_may_be_null(r) {
            true => self.counted(r, branches),
            false => self.joined(r, branches, whole),
        });
        node.ok_or_else(unable)
    }

    /// What all branches give, joined one after the other; `whole`, with all that is read.
    fn joined(&self, r: &Reference<'_>, branches: Vec<Branch>, whole: bool) -> Option<Node> {
        let all = branches.into_iter().reduce(|a, b| {
            let (small, large) = if a.node.rows <= b.node.rows { (a, b) } else { (b, a) };
            self.places_of_both(r, small, large)
        })?;
        if !whole {
            return Some(self.rows_of(r, all.node, all.locator));
        }
        let rest = r.conditions.iter().filter(|p| !all.conditions.contains(p)).cloned();
        Some(self.with_filter(all.node, rest.collect()))
    }

    /// Which of several indexes gives which column, where they have all that are read beyond the
    /// conditions that one of them decides.
    fn given_by(&self, r: &Reference<'_>, positions: &[usize]) -> Option<Vec<ColumnSlots>> {
        if r.get.target.is_some() || r.get.location.is_some() {
            return None;
        }
        let layout = |&n: &usize| r.table.hobt_layout(&r.table.indexes[n]);
        let layouts: Vec<HobtLayout> = positions.iter().map(layout).collect();
        let hidden = r.hidden();
        let decided: Vec<usize> = layouts.iter().flat_map(|l| r.decided_by(l, &hidden)).collect();
        let mut read: BTreeSet<usize> = r.wanted.clone();
        for (n, p) in r.conditions.iter().enumerate() {
            let reads = p.reads();
            if reads.volatile || !decided.contains(&n) {
                let own = r.columns.iter().filter(|(_, slot)| reads.slots.contains(slot));
                read.extend(own.map(|(column, _)| *column));
            }
        }
        let mut all = vec![ColumnSlots::new(); positions.len()];
        for column in read {
            let has = |l: &HobtLayout| l.position(PhysicalColumn::Column(column)).is_some();
            all[layouts.iter().position(has)?].insert(column, r.columns[&column]);
        }
        Some(all)
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
        let (groups, locator) = self.grouped_places(r, branches, vec![call], None)?;
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
        let ors = r.conditions.iter().enumerate().filter_map(|(n, p)| match p {
            Predicate::Or(parts) if parts.len() <= PARTS_MAX => Some((n, parts)),
            _ => None,
        });
        for (n, parts) in ors.take(ORS_MAX) {
            let others = r.conditions.iter().enumerate().filter(|(m, _)| *m != n);
            let others: Vec<Predicate> = others.map(|(_, p)| p.clone()).collect();
            let whole = Self::may_be_whole(r).then_some(true);
            for whole in whole.into_iter().chain([false]) {
                let branch = |part: &Predicate| {
                    let own = part.clone().conjuncts().into_iter();
                    self.branch(r, own.chain(others.iter().cloned()).collect(), whole)
                };
                let branches = parts.iter().map(branch).collect::<Option<Vec<Branch>>>();
                found.extend(branches.and_then(|branches| self.union(r, branches, whole)));
            }
        }
        found
    }

    /// Nobody needs the row itself, and every condition can be asked of an index.
    fn may_be_whole(r: &Reference<'_>) -> bool {
        let free = r.get.target.is_none() && r.get.location.is_none();
        free && !r.conditions.iter().any(|p| p.reads().volatile)
    }

    /// Each place once, and the rows there; `whole`, these come from the branches.
    fn union(&self, r: &Reference<'_>, branches: Vec<Branch>, whole: bool) -> Option<Node> {
        let wanted = whole.then_some(&r.wanted);
        let (distinct, locator) = self.grouped_places(r, branches, Vec::new(), wanted)?;
        if whole {
            let conditions: Vec<&Predicate> = r.conditions.iter().collect();
            let kept = self.estimator.table_rows(&r.table) * self.estimator.all(&conditions);
            return Some(Node { rows: kept.min(distinct.rows), ..distinct });
        }
        Some(self.rows_of(r, distinct, locator))
    }

    /// The places that any branch gives, each once, with what is computed of how they came, and
    /// the wanted columns, which all branches give, as the first entry of the place has them.
    fn grouped_places(
        &self,
        r: &Reference<'_>,
        branches: Vec<Branch>,
        mut calls: Vec<AggregateCall>,
        wanted: Option<&BTreeSet<usize>>,
    ) -> Option<(Node, Locator)> {
        let types = branches.first()?.locator.1.clone();
        let mut wanted = wanted.cloned().unwrap_or_default();
        let place = |part: &PhysicalColumn| match part {
            PhysicalColumn::Column(c) if wanted.remove(c) => r.columns[c],
            _ => self.new_slot(),
        };
        let places: Vec<Slot> = r.locator_parts().iter().map(place).collect();
        let others: Vec<(usize, Slot)> = wanted.iter().map(|&c| (c, self.new_slot())).collect();
        calls.extend(others.iter().map(|&(c, slot)| Self::any(r, c, slot)));
        let input = |b: Branch| {
            let given = others.iter().map(|(c, _)| b.given[c]);
            (b.node, b.locator.0.iter().copied().chain(given).collect())
        };
        let inputs = branches.into_iter().map(input).collect();
        let columns = places.iter().copied().chain(others.iter().map(|o| o.1)).collect();
        let all = self.concatenated(inputs, columns);
        let rows = all.rows;
        let collations = self.locator_collations(r);
        let keys: Vec<(Slot, Collation)> = places.iter().copied().zip(collations).collect();
        Some((self.grouped(all, &keys, calls, rows), (places, types)))
    }

    /// A column as the first row of a group has it in a slot.
    fn any(r: &Reference<'_>, column: usize, slot: Slot) -> AggregateCall {
        let ty = ScalarType::new(r.table.columns[column].sql_type, true);
        AggregateCall {
            function: Aggregate::Any,
            distinct: false,
            argument: Some(Scalar::column(slot, ty)),
            separator: None,
            output: r.columns[&column],
            ty,
            phase: AggregatePhase::Whole,
        }
    }

    /// The best two indexes whose places are joined.
    fn intersection(&self, r: &Reference<'_>) -> Option<Node> {
        if r.conditions.len() < 2 || Self::locator_may_be_null(r) {
            return None;
        }
        let seeks = |n| Some((n, self.sought(r, n, &r.conditions, ColumnSlots::new())?));
        let branches: Vec<(usize, Branch)> = (1..r.table.indexes.len()).filter_map(seeks).collect();
        let pages = self.estimator.size(&r.table, r.table.base()).pages;
        let mut best: Option<(f64, [usize; 2])> = None;
        for (i, (n, a)) in branches.iter().enumerate() {
            for (m, b) in &branches[..i] {
                let rows = self.rows_in_all(r, &[a, b]);
                let fetching = match self.given_by(r, &[*n, *m]) {
                    None => self.prices.lookup(rows, pages, r.conditions.len()).sum(),
                    Some(_) => 0.0,
                };
                let price = a.node.total + b.node.total + rows + fetching;
                if a.conditions != b.conditions && best.is_none_or(|known| price < known.0) {
                    best = Some((price, [*n, *m]));
                }
            }
        }
        let (_, pair) = best?;
        let gives = self.given_by(r, &pair);
        let whole = gives.is_some();
        let both = pair.into_iter().zip(gives.unwrap_or_else(|| vec![ColumnSlots::new(); 2]));
        let both = both.map(|(n, gives)| self.sought(r, n, &r.conditions, gives));
        self.joined(r, both.collect::<Option<Vec<Branch>>>()?, whole)
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
        let (width, below) =
            (build.width + probe.width, [build.estimates(), probe.estimates()].concat());
        let kept: Slots = small.locator.0.iter().chain(small.given.values()).copied().collect();
        let join = HashJoin {
            kind: JoinKind::Inner,
            build: build.tree,
            probe: probe.tree,
            keys,
            residual: None,
            build_slots: kept.into_iter().collect(),
            probe_slots: Vec::new(),
        };
        let node = Node::joining(Physical::HashJoin(Box::new(join)), own, below);
        let node = Node { rows, width, first, total, ..node };
        let conditions = [small.conditions, large.conditions].concat();
        let given = small.given.into_iter().chain(large.given).collect();
        Branch { node, locator: small.locator, given, conditions }
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
        Node { rows, width, order: Vec::new(), fixed: FixedSlots::new(), single: false, ..node }
    }

    /// Places by the index that finds them at the least cost; `whole`, of those that have all that
    /// is read.
    fn branch(&self, r: &Reference<'_>, conditions: Vec<Predicate>, whole: bool) -> Option<Branch> {
        let pages = self.estimator.size(&r.table, r.table.base()).pages;
        let price = |b: &Branch| match whole {
            true => b.node.total,
            false => b.node.total + self.prices.lookup(b.node.rows, pages, 1).sum(),
        };
        let found = (0..r.table.indexes.len()).filter_map(|n| {
            let mut gives = ColumnSlots::new();
            if whole {
                let layout = r.table.hobt_layout(&r.table.indexes[n]);
                let has = |&c: &usize| layout.position(PhysicalColumn::Column(c)).is_some();
                r.wanted.iter().all(has).then_some(())?;
                gives = r.wanted.iter().map(|&c| (c, self.new_slot())).collect();
            }
            let found = self.sought(r, n, &conditions, gives)?;
            (!whole || found.conditions.len() == conditions.len()).then_some(found)
        });
        found.min_by(|a, b| price(a).total_cmp(&price(b)))
    }

    /// Places by one index, where conditions let it seek.
    fn sought(
        &self,
        r: &Reference<'_>,
        n: usize,
        conditions: &[Predicate],
        gives: ColumnSlots,
    ) -> Option<Branch> {
        self.branch_of(r, n, conditions, Reading::Sought, gives)
    }

    /// Places by one index that has all rows, with columns in the slots where these are to be.
    fn branch_of(
        &self,
        r: &Reference<'_>,
        position: usize,
        conditions: &[Predicate],
        reading: Reading,
        given: ColumnSlots,
    ) -> Option<Branch> {
        let index = &r.table.indexes[position];
        if index.disabled || index.key.is_empty() || index.filter.is_some() {
            return None;
        }
        let get = Get { target: None, location: None, ..r.get.clone() };
        let layout = r.table.hobt_layout(index);
        let of = |conditions: Vec<Predicate>| {
            let read: Slots = conditions.iter().flat_map(|p| p.reads().slots).collect();
            let columns = r.columns.iter().filter(|(_, slot)| read.contains(slot));
            let columns = columns.map(|(&c, &s)| (c, s)).collect();
            let (table, above) = (Arc::clone(&r.table), Vec::new());
            Reference { get: &get, table, columns, wanted: BTreeSet::new(), conditions, above }
        };
        let whole = of(conditions.to_vec());
        let decided = whole.decided_by(&layout, &r.hidden()).into_iter();
        // What would be answered otherwise for the row itself is asked there alone.
        let decided = decided.map(|n| whole.conditions[n].clone()).filter(|p| !p.reads().volatile);
        let own = of(decided.collect());
        let node = self.places(&own, position, reading)?;
        let Physical::Access(access) = node.tree else { return None };
        let mut access = *access;
        let read: Slots = access.columns.iter().map(|c| c.slot).collect();
        for column in given.keys().filter(|c| !read.contains(&r.columns[*c])) {
            let field = layout.position(PhysicalColumn::Column(*column))?;
            let (sql_type, slot) = (r.table.columns[*column].sql_type, r.columns[column]);
            access.columns.push(ScanColumn { field, sql_type, slot });
        }
        let mut fresh: BTreeMap<Slot, Slot> =
            access.columns.iter().map(|c| (c.slot, self.new_slot())).collect();
        fresh.extend(given.iter().map(|(c, &slot)| (r.columns[c], slot)));
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
        let wide = self.estimator.width(given.keys().map(|c| &r.columns[c]));
        let width = 8.0 * locator.0.len() as f64 + wide;
        let node = Node::leaf(Physical::Access(Box::new(access)), node.rows, width, own_cost);
        Some(Branch { node, locator, given, conditions: own.conditions })
    }

    /// A seek or scan that reads no more than its own conditions do.
    fn places(&self, own: &Reference<'_>, position: usize, reading: Reading) -> Option<Node> {
        let conditions: Vec<&Predicate> = own.conditions.iter().collect();
        let sargs = own.sargs(self.reader());
        let ors = own.ors(self.reader());
        let all: Vec<usize> = (0..own.conditions.len()).collect();
        let offer = Offer {
            sargs: &sargs,
            ors: &ors,
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
            forced: 0,
        };
        let ways = Path::ways(&own.table, position, &offer).into_iter();
        let fits = |path: &Path<'_>| reading != Reading::Sought || path.seek.is_some();
        let best = ways.filter(fits).min_by(|a, b| a.price.total_cmp(&b.price))?;
        Some(self.by_path(own, best))
    }

    /// Whether a row's place has a part that no join compares: a key's NULL or its uniquifier.
    fn locator_may_be_null(r: &Reference<'_>) -> bool {
        let base = r.table.base();
        let layout = r.table.hobt_layout(base);
        let may_be = |part: PhysicalColumn| match part {
            PhysicalColumn::Column(n) => r.table.columns[n].nullable,
            _ => true,
        };
        !base.kind.is_heap() && layout.key.iter().any(|k| may_be(layout.columns[k.field]))
    }

    /// How the parts of a locator compare.
    fn locator_collations(&self, r: &Reference<'_>) -> Vec<Collation> {
        let of = |part: PhysicalColumn| match part {
            PhysicalColumn::Column(n) => r.table.columns[n].collation,
            _ => Collation::default(),
        };
        r.locator_parts().into_iter().map(of).collect()
    }
}
