//! Index spools: a scan that is run again and again, each time for another key, is run once.
//!
//! ```text
//!   Scan t where t.k = outer.k      →      IndexSpool by t.k, seek outer.k
//!                                            Scan t
//! ```
//!
//! The inner side of a loop is where this pays: of APPLY with TOP, of a subquery that stayed one.
//! What could be joined by a hash was.
//!
//! Rules
//!  1. What is read once reads nothing from outside, and nothing that changes within a statement.
//!  2. A scan that gives an order is replaced only where the spool gives rows of one key at a time:
//!     those come in the scan's order.
//!  3. Rows that are to be changed, or stay locked, are read anew for each row.

use crate::convert::Optimizer;
use crate::cost::{Cost, UNIT};
use crate::node::{Node, Slots};
use plan::{
    Access, CompareOp, Estimate, IndexSpool, Level, Physical, Predicate, Reads, Scalar, Slot,
    SortKey, Strength, TopRows,
};
use types::{Collation, Family};

/// Where a tree's operators are, and what they are expected to do.
struct Walk {
    estimates: Vec<Estimate>,
    /// The place of the next operator.
    place: usize,
    /// How often the whole tree is run.
    times: f64,
}

/// Conditions of a scan, taken apart.
#[derive(Default)]
struct Parts {
    /// Those that read the scan's columns alone.
    own: Vec<Predicate>,
    /// All others.
    outer: Vec<Predicate>,
    /// Of those, what can be sought.
    equal: Vec<(SortKey, Scalar)>,
    lower: Option<(SortKey, Scalar)>,
    upper: Option<(SortKey, Scalar)>,
}

impl Optimizer<'_> {
    /// The same rows where the tree is run so many times.
    pub(crate) fn with_index_spools(&self, node: Node, times: f64) -> Node {
        if self.hints.no_spool || times < 2.0 || !times.is_finite() {
            return node;
        }
        let mut walk = Walk { estimates: node.estimates(), place: 0, times };
        let mut tree = node.tree;
        let saved = self.spool_scans(&mut tree, None, &mut walk);
        if saved == 0.0 {
            return Node { tree, ..node };
        }
        let root = walk.estimates.remove(0);
        let own = Cost { io: root.io * UNIT, cpu: root.cpu * UNIT };
        let total = root.subtree * UNIT;
        let first = node.first.min(total);
        Node { tree, own, total, first, below: walk.estimates, ..node }
    }

    /// Notes that expressions are computed for so many rows: the subqueries that they run may be
    /// worth a spool.
    pub(crate) fn note_runs(&self, rows: f64, read: impl FnOnce(&mut Reads)) {
        if self.subqueries.is_empty() {
            return;
        }
        let mut reads = Reads::default();
        read(&mut reads);
        let mut runs = self.runs.borrow_mut();
        for id in reads.subqueries {
            let most = runs.entry(id).or_insert(0.0);
            *most = most.max(rows * self.times);
        }
    }

    /// What is saved of a tree's cost; `goal`: how many rows of it are asked for.
    fn spool_scans(&self, tree: &mut Physical, goal: Option<f64>, walk: &mut Walk) -> f64 {
        let place = walk.place;
        if let Physical::Access(access) = tree {
            walk.place += 1;
            let Some((spool, saved)) = self.index_spool(access, goal, place, walk) else {
                return 0.0;
            };
            walk.place += 1;
            *tree = Physical::IndexSpool(Box::new(spool));
            return saved;
        }
        if matches!(tree, Physical::Recursive(_) | Physical::Exchange(_)) {
            tree.for_each(&mut |_| walk.place += 1);
            return 0.0;
        }
        walk.place += 1;
        let goal = goal_below(tree, goal);
        let mut saved = 0.0;
        for input in tree.inputs_mut() {
            saved += self.spool_scans(input, goal, walk);
        }
        walk.estimates[place].subtree -= saved;
        saved
    }

    /// A spool in place of a scan, where that pays; with what it saves.
    fn index_spool(
        &self,
        access: &mut Access,
        goal: Option<f64>,
        place: usize,
        walk: &mut Walk,
    ) -> Option<(IndexSpool, f64)> {
        let reread = access.seek.is_some() || access.sample.is_some() || access.rid.is_some();
        let placed = access.hint.is_some() || access.location.is_some();
        let stays = placed || !reads_only(access);
        let parts = if reread || stays { return None } else { self.parts(access)? };
        let e = *walk.estimates.get(place)?;
        let runs = e.executions * walk.times;
        let size = self.estimator.facts().size(access.source.database, access.source.hobt)?;
        let own: Vec<&Predicate> = parts.own.iter().collect();
        let rows = size.rows * self.estimator.all(&own);
        let scan = (e.io + e.cpu) * UNIT;
        let share = goal.map_or(1.0, |goal| (goal / e.rows.max(1e-3)).min(1.0));
        let sort = self.prices.sort(rows, e.row_bytes).sum();
        let once = scan + sort + self.prices.spool(rows, e.row_bytes, 1.0).sum();
        let each = self.prices.spool_seek(e.rows, parts.outer.len()).sum();
        if runs < 2.0 || runs * scan * share <= once + runs * each {
            return None;
        }
        let before = e.subtree;
        let own_cost = (each + (once - scan) / runs) / UNIT;
        let subtree = (e.executions * each + once / walk.times) / UNIT;
        walk.estimates[place] = Estimate { io: 0.0, cpu: own_cost, subtree, ..e };
        let executions = 1.0 / walk.times;
        let below = Estimate { rows, executions, subtree: scan * executions / UNIT, ..e };
        walk.estimates.insert(place + 1, below);
        let mut scan = access.clone();
        scan.residual = Predicate::all(parts.own);
        let carried = Physical::Access(Box::new(scan.clone())).written();
        let lower = parts.lower.as_ref().map(|(_, x)| x.clone());
        let upper = parts.upper.as_ref().map(|(_, x)| x.clone());
        let range = parts.lower.or(parts.upper).map(|(key, _)| key);
        let (keys, equal): (Vec<SortKey>, Vec<Scalar>) = parts.equal.into_iter().unzip();
        let keys = keys.into_iter().chain(range).collect();
        let predicate = Predicate::all(parts.outer)?;
        let input = Physical::Access(Box::new(scan));
        let spool = IndexSpool { input, keys, carried, equal, lower, upper, predicate };
        Some((spool, before - subtree))
    }

    /// The conditions of a scan, where some of them can be sought.
    fn parts(&self, access: &Access) -> Option<Parts> {
        let own: Slots = access.columns.iter().map(|c| c.slot).collect();
        let conditions = match access.residual.as_ref()? {
            Predicate::And(all) => all.clone(),
            one => vec![one.clone()],
        };
        let mut parts = Parts::default();
        for p in conditions {
            let reads = p.reads();
            if !reads.subqueries.is_empty() || reads.volatile {
                return None;
            }
            if reads.slots.is_subset(&own) && !reads.slots.is_empty() {
                if reads.session && self.assigns {
                    return None;
                }
                parts.own.push(p);
                continue;
            }
            if let Some((op, key, value)) = sought(&p, &own) {
                note(&mut parts, op, key, value);
            }
            parts.outer.push(p);
        }
        if !parts.equal.is_empty() {
            // Rows of one key alone come in the order of the scan.
            (parts.lower, parts.upper) = (None, None);
        }
        let range = parts.lower.is_some() || parts.upper.is_some();
        let ordered = access.ordered || access.backward;
        (!parts.equal.is_empty() || range && !ordered).then_some(parts)
    }
}

/// How many rows are asked of an operator's inputs.
fn goal_below(tree: &Physical, goal: Option<f64>) -> Option<f64> {
    match tree {
        Physical::Top(TopRows { top, .. })
            if !top.percent && top.ties.is_none() && top.offset.is_none() =>
        {
            let count = top.count.as_ref().and_then(Scalar::as_constant);
            count.and_then(types::Value::as_i64).map(|n| n as f64)
        }
        Physical::Filter(_) => None,
        Physical::Compute(_) | Physical::Lookup(_) => goal,
        _ => None,
    }
}

/// Whether a scan's rows are no more than read.
fn reads_only(access: &Access) -> bool {
    let locks = &access.locks;
    let level = match locks.level {
        None | Some(Level::ReadUncommitted | Level::ReadCommitted | Level::ReadCommittedLock) => {
            true
        }
        Some(Level::RepeatableRead | Level::Serializable | Level::Snapshot | Level::Enforcing) => {
            false
        }
    };
    level && locks.strength == Strength::Shared && !locks.hold && !locks.read_past
}

/// A condition that compares a column with something from outside: how, and with what.
fn sought(p: &Predicate, own: &Slots) -> Option<(CompareOp, SortKey, Scalar)> {
    let Predicate::Compare { op, left, right, collation } = p else { return None };
    let column = |x: &Scalar| x.as_column().filter(|slot| own.contains(slot));
    let outside = |x: &Scalar| x.reads().slots.is_disjoint(own);
    let alike = types_sort_alike(left, right);
    let (op, slot, value) = match (column(left), column(right)) {
        (Some(slot), None) if outside(right) => (*op, slot, right),
        (None, Some(slot)) if outside(left) => (op.mirrored(), slot, left),
        _ => return None,
    };
    alike.then(|| (op, key(slot, *collation), (**value).clone()))
}

fn key(slot: Slot, collation: Collation) -> SortKey {
    SortKey { slot, collation, descending: false }
}

/// Whether keys of both types order as their values compare.
fn types_sort_alike(a: &Scalar, b: &Scalar) -> bool {
    let (a, b) = (a.ty.sql_type, b.ty.sql_type);
    let text = matches!(a.family(), Family::Char | Family::NChar);
    a == b || text && a.family() == b.family()
}

fn note(parts: &mut Parts, op: CompareOp, key: SortKey, value: Scalar) {
    let ranges = |side: &Option<(SortKey, Scalar)>, other: &Option<(SortKey, Scalar)>| {
        side.is_none() && other.as_ref().is_none_or(|(k, _)| *k == key)
    };
    match op {
        CompareOp::Equal => parts.equal.push((key, value)),
        CompareOp::Greater | CompareOp::GreaterOrEqual if ranges(&parts.lower, &parts.upper) => {
            parts.lower = Some((key, value));
        }
        CompareOp::Less | CompareOp::LessOrEqual if ranges(&parts.upper, &parts.lower) => {
            parts.upper = Some((key, value));
        }
        _ => {}
    }
}
