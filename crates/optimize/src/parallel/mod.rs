//! Parallel plans: exchanges put into a serial plan, where they pay.
//!
//! A pass after a plan was chosen. From the top down it looks for parts that several workers can
//! run (*zones*) and puts a gather above each: scans divided among workers, filters, computes,
//! lookups and loop joins on them, hash joins whose build side each worker reads by itself or
//! whose sides are both repartitioned by their keys, groups made in two steps, sorts merged.
//!
//! ```text
//!   gather                     what is never in a zone: changes, TOP without an order, system
//!     final groups             views, spools, recursion, merge joins, subqueries of expressions,
//!       repartition            scans whose locks stay
//!         partial groups
//!           scan, divided
//! ```
//! Invariants
//!  1. A zone is opened once: no exchange stands on the inner side of a loop join.
//!  2. Rows of a zone in no order are gathered only where nobody above relies on one.
//!  3. Between a gather that merges and the next exchange below there is a sort, which reads all
//!     before it gives a row (`exec/src/exchange/README.md` needs that).
//!  4. Whatever is repartitioned by keys has equal keys in one worker, so joins, groups and windows
//!     over it see whole groups.

mod joined;
mod safe;
mod zone;

use crate::cost::UNIT;
use crate::node::Slots;
use plan::{
    Estimate, Exchange, ExchangeKind, Flow, InputOrder, Physical, PhysicalPlan, Plan, Query,
    SelectAssign, Slot, SortKey, Statement, VariableId,
};
use safe::own_reads;
use types::Collation;

/// What a statement may have of workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallelism {
    /// Workers of an exchange, at most; fewer than two: there are no parallel plans.
    pub workers: usize,
    /// A serial plan that costs no more stays: `cost threshold for parallelism`.
    pub threshold: f64,
    /// Why it is one worker, in SQL Server's words, where somebody decided that.
    pub serial_reason: Option<&'static str>,
}

impl Parallelism {
    /// Statements run alone.
    pub const NONE: Parallelism =
        Parallelism { workers: 1, threshold: f64::INFINITY, serial_reason: None };

    /// Whether several are worth it for what takes one so many microseconds.
    pub fn pays(&self, alone_us: f64) -> bool {
        self.workers > 1 && alone_us / UNIT > self.threshold
    }
}

/// Of a row through an exchange, and each byte of it, in microseconds.
const EXCHANGE_ROW: f64 = 0.07;
const EXCHANGE_BYTE: f64 = 0.002;
/// Starting a worker.
const WORKER: f64 = 60.0;
/// Groups that are not worth a second exchange.
const FEW_GROUPS: f64 = 10_000.0;

/// A statement of more operators runs in one thread: the pass looks at all that is below each.
const OPERATORS_MAX: usize = 300;

/// A part of a plan with what it costs.
#[derive(Clone)]
struct Part {
    tree: Physical,
    /// Of its operators, in preorder.
    estimates: Vec<Estimate>,
    /// Units until its last row is there.
    cost: f64,
    /// The order of its rows; of a zone, of each worker's.
    order: Vec<SortKey>,
    /// Of a zone: rows equal in these are one worker's. Empty: nothing is known.
    spread: Vec<(Slot, Collation)>,
}

/// The pass over one plan.
struct Pass<'p> {
    plan: &'p PhysicalPlan,
    workers: f64,
    /// Zones wherever there can be one.
    prefers: bool,
    slots: u32,
}

/// The same plan with exchanges, and what it costs; `None` where there can be none, or none pays.
/// `relies`: its rows are wanted in the order in which it gives them.
pub(crate) fn with_exchanges(
    plan: &PhysicalPlan,
    workers: usize,
    relies: bool,
) -> Option<(PhysicalPlan, f64)> {
    let prefers = plan.header.hints.prefer_exchanges;
    let mut pass = Pass { plan, workers: workers as f64, prefers, slots: plan.slots };
    let (source, needed) = match &plan.statement {
        Statement::Query(q) => (&q.source, q.columns.iter().map(|c| c.slot).collect()),
        Statement::Assign(a) => (&a.source, assigned(a, plan)),
        _ => return None,
    };
    if operators(source) > OPERATORS_MAX {
        return None;
    }
    let part = pass.serial(source, 0, &needed, relies);
    let mut exchanges = 0;
    part.tree.for_each(&mut |node| exchanges += usize::from(matches!(node, Physical::Exchange(_))));
    if exchanges == 0 {
        return None;
    }
    let slots = pass.slots;
    let mut estimates = part.estimates;
    estimates.extend_from_slice(&plan.estimates[operators(source)..]);
    let statement = match &plan.statement {
        Statement::Assign(a) => {
            let assignments: Vec<(VariableId, plan::Scalar)> = a.assignments.clone();
            Statement::Assign(SelectAssign { source: part.tree, assignments })
        }
        Statement::Query(q) => {
            Statement::Query(Query { source: part.tree, columns: q.columns.clone() })
        }
        _ => return None,
    };
    let mut header = plan.header.clone();
    header.workers = workers;
    let (subqueries, follow_ups) = (plan.subqueries.clone(), plan.follow_ups.clone());
    let parallel = Plan { statement, subqueries, follow_ups, slots, header, estimates };
    Some((parallel, part.cost))
}

fn assigned(a: &SelectAssign<Physical>, plan: &PhysicalPlan) -> Slots {
    let mut needed = Slots::new();
    for (_, x) in &a.assignments {
        let reads = x.reads();
        needed.extend(reads.slots);
        for id in reads.subqueries {
            needed.extend(&plan.subqueries[id.0 as usize].outer);
        }
    }
    needed
}

/// How many operators a tree has.
fn operators(tree: &Physical) -> usize {
    let mut count = 0;
    tree.for_each(&mut |_| count += 1);
    count
}

/// The inputs of an operator with their places in preorder.
fn inputs_at(node: &Physical, at: usize) -> Vec<(usize, &Physical)> {
    let mut place = at + 1;
    let with_place = |input| {
        let own = place;
        place += operators(input);
        (own, input)
    };
    node.inputs().into_iter().map(with_place).collect()
}

impl<'p> Pass<'p> {
    fn estimate(&self, at: usize) -> Estimate {
        self.plan.estimates.get(at).copied().unwrap_or_default()
    }

    /// What an operator costs without its inputs, all its openings together.
    fn own(&self, at: usize) -> f64 {
        let e = self.estimate(at);
        (e.io + e.cpu) * e.executions.max(1.0)
    }

    /// A part as it stands.
    fn as_it_is(&self, tree: &Physical, at: usize) -> Part {
        let count = operators(tree);
        let estimates = (at..at + count).map(|n| self.estimate(n)).collect();
        let cost = self.estimate(at).subtree;
        Part { tree: tree.clone(), estimates, cost, order: Vec::new(), spread: Vec::new() }
    }

    /// A part whose rows one thread gives: with a zone below a gather here, or further down, or
    /// none.
    fn serial(&mut self, tree: &Physical, at: usize, needed: &Slots, relies: bool) -> Part {
        let below = self.serial_below(tree, at, needed, relies);
        match self.gathered(tree, at, needed, relies) {
            Some(zone) if self.prefers || zone.cost < below.cost => zone,
            _ => below,
        }
    }

    /// The operator in one thread, over inputs that may be gathered.
    fn serial_below(&mut self, tree: &Physical, at: usize, needed: &Slots, relies: bool) -> Part {
        let mut part = self.as_it_is(tree, at);
        let own = own_reads(tree, self.plan);
        let needed: Slots = needed.union(&own).copied().collect();
        let inputs = inputs_at(tree, at);
        let rely = relied_on(tree, relies);
        if rely.is_empty() {
            return part;
        }
        let mut estimates = vec![part.estimates[0]];
        let mut made = Vec::with_capacity(inputs.len());
        for (n, (place, input)) in inputs.into_iter().enumerate() {
            let below = match rely.get(n) {
                Some(&relies) => self.serial(input, place, &needed, relies),
                None => self.as_it_is(input, place),
            };
            part.cost += below.cost - self.estimate(place).subtree;
            estimates.extend_from_slice(&below.estimates);
            made.push(below.tree);
        }
        estimates[0].subtree = part.cost;
        (part.tree, part.estimates) = (with_inputs(tree, made), estimates);
        part
    }

    /// A zone with a gather above it.
    fn gathered(
        &mut self,
        tree: &Physical,
        at: usize,
        needed: &Slots,
        relies: bool,
    ) -> Option<Part> {
        if let Some(part) = self.gathered_groups(tree, at, needed) {
            return (!relies || part.order.is_empty()).then_some(part);
        }
        if let Physical::TopSort(sort) = tree {
            return self.gathered_top(tree, sort, at, needed);
        }
        let zone = self.zone(tree, at, needed)?;
        if relies && zone.order.is_empty() {
            return None;
        }
        let order = if relies { zone.order.clone() } else { Vec::new() };
        Some(self.gather(zone, order, needed))
    }

    /// The rows of a zone's workers in one thread, in an order in which each gives its own.
    fn gather(&self, zone: Part, order: Vec<SortKey>, needed: &Slots) -> Part {
        let mut needed = needed.clone();
        needed.extend(order.iter().map(|k| k.slot));
        let columns = carried(&zone.tree, &needed);
        let kind = match order.is_empty() {
            true => ExchangeKind::Gather,
            false => ExchangeKind::GatherOrdered(order.clone()),
        };
        Part { order, ..self.exchange(zone, kind, columns, 1.0) }
    }

    /// An exchange above a zone: `readers` share the reading of it.
    fn exchange(&self, zone: Part, kind: ExchangeKind, columns: Vec<Slot>, readers: f64) -> Part {
        let below = zone.estimates[0];
        let each = EXCHANGE_ROW + EXCHANGE_BYTE * below.row_bytes;
        let work = below.rows * each / UNIT;
        let starts = WORKER * self.workers / UNIT;
        let cost = zone.cost + work / 2.0 / self.workers + work / 2.0 / readers + starts;
        let own = Estimate { io: 0.0, cpu: work + starts, subtree: cost, ..below };
        let mut estimates = vec![own];
        estimates.extend_from_slice(&zone.estimates);
        let exchange = Exchange { input: zone.tree, kind, columns };
        let tree = Physical::Exchange(Box::new(exchange));
        Part { tree, estimates, cost, order: Vec::new(), spread: Vec::new() }
    }

    /// The rows of a zone, those that are equal in `keys` in one worker.
    fn repartitioned(&self, zone: Part, keys: &[(Slot, Collation)], needed: &Slots) -> Part {
        if !zone.spread.is_empty() && zone.spread == keys {
            return zone;
        }
        let mut needed = needed.clone();
        needed.extend(keys.iter().map(|k| k.0));
        let columns = carried(&zone.tree, &needed);
        let kind = ExchangeKind::Repartition(keys.to_vec());
        Part { spread: keys.to_vec(), ..self.exchange(zone, kind, columns, self.workers) }
    }

    /// An operator of a zone above another.
    fn above(&self, zone: Part, at: usize, node: impl FnOnce(Physical) -> Physical) -> Part {
        let cost = zone.cost + self.own(at) / self.workers;
        let mut estimates = vec![Estimate { subtree: cost, ..self.estimate(at) }];
        estimates.extend_from_slice(&zone.estimates);
        Part { tree: node(zone.tree), estimates, cost, ..zone }
    }

    fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }
}

/// Of the slots that a tree leaves rows in, those that are needed, each once.
fn carried(tree: &Physical, needed: &Slots) -> Vec<Slot> {
    let mut columns: Vec<Slot> = tree.written();
    columns.retain(|slot| needed.contains(slot));
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Of each input that exchanges may stand below of, whether its rows must keep their order.
fn relied_on(tree: &Physical, relies: bool) -> Vec<bool> {
    let operator = tree.describe();
    let below = match tree {
        // Few rows may be wanted: only what reads everything anyway is worth a zone.
        Physical::Top(top) => reads_all(&top.input),
        _ => !reads_again(tree),
    };
    let orders = if below { operator.orders() } else { Vec::new() };
    let relied = |order| match order {
        InputOrder::Any => false,
        InputOrder::AsOutput => relies,
        InputOrder::Own => true,
    };
    orders.into_iter().map(relied).collect()
}

/// Whether it reads entries of its input again, which nothing between can give: both are of one
/// thread.
fn reads_again(tree: &Physical) -> bool {
    let lookup = tree.describe().stored().is_some_and(|rows| rows.is_lookup());
    lookup && tree.inputs().into_iter().any(|input| input.describe().stored().is_some())
}

/// Whether the first row comes only when all of the input was read.
fn reads_all(tree: &Physical) -> bool {
    match tree {
        Physical::Filter(f) => reads_all(&f.input),
        Physical::Compute(c) => reads_all(&c.input),
        _ => tree.describe().flow() == Flow::Blocks,
    }
}

/// The operator over other inputs.
fn with_inputs(node: &Physical, made: Vec<Physical>) -> Physical {
    let mut node = node.clone();
    for (place, input) in node.inputs_mut().into_iter().zip(made) {
        *place = input;
    }
    node
}
