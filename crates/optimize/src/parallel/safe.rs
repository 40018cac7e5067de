//! What may run in workers, and what operators read.
//!
//! A worker has the statement's variables and its clock, and nothing else of the session: no
//! subqueries, no functions of the user, no `@@` facts.

use crate::node::Slots;
use builtins::Aggregate;
use plan::{
    AggregateCall, Expression, LockHints, Opening, Physical, PhysicalPlan, Predicate, Reads,
    Scalar, ScalarKind, Strength,
};

/// Functions that may answer differently each time, and yet need no more than a worker has.
const WORKERS_KNOW: [&str; 9] = [
    "CURRENT_TIMESTAMP",
    "DATE_BUCKET",
    "FORMAT",
    "GETDATE",
    "GETUTCDATE",
    "NEWID",
    "SYSDATETIME",
    "SYSDATETIMEOFFSET",
    "SYSUTCDATETIME",
];

/// Whether a worker can compute an expression.
pub(super) fn scalar_is_safe(x: &Scalar) -> bool {
    if !x.reads().subqueries.is_empty() {
        return false;
    }
    let mut safe = true;
    x.clone().rewrite(&mut |x| safe &= kind_is_safe(x));
    safe
}

/// The same of a condition.
pub(super) fn predicate_is_safe(p: &Predicate) -> bool {
    if !p.reads().subqueries.is_empty() {
        return false;
    }
    let mut safe = true;
    p.clone().rewrite(&mut |x| safe &= kind_is_safe(x));
    safe
}

fn kind_is_safe(x: &Scalar) -> bool {
    match &x.kind {
        ScalarKind::Global(_) | ScalarKind::Call(_) | ScalarKind::Subquery(_) => false,
        ScalarKind::Function { function, .. } => {
            function.deterministic || WORKERS_KNOW.contains(&function.name)
        }
        _ => true,
    }
}

/// Whether a reference's rows are only asked about: locks that stay are taken by one thread.
pub(super) fn locks_are_safe(locks: &LockHints) -> bool {
    use plan::Level as L;
    let level = match locks.level {
        None | Some(L::ReadUncommitted | L::ReadCommitted | L::ReadCommittedLock) => true,
        Some(L::RepeatableRead | L::Serializable | L::Snapshot | L::Enforcing) => false,
    };
    level && locks.strength == Strength::Shared && !locks.hold
}

/// Whether a worker can run an operator itself, whatever its inputs are.
pub(super) fn own_is_safe(node: &Physical) -> bool {
    let operator = node.describe();
    let mut safe = operator.runs_in_workers();
    safe &= operator.stored().is_none_or(|rows| locks_are_safe(rows.locks));
    operator.expressions(&mut |x| {
        safe &= match x {
            Expression::Value(x) => scalar_is_safe(x),
            Expression::Condition(p) | Expression::Test(p) => predicate_is_safe(p),
            Expression::Order(_) => true,
        }
    });
    safe
}

/// Whether each worker can run a whole tree by itself, to the same rows.
pub(super) fn whole_is_safe(tree: &Physical) -> bool {
    let mut safe = true;
    tree.for_each(&mut |node| safe &= own_is_safe(node) && !volatile(node));
    safe
}

/// Whether another run may give other rows.
fn volatile(node: &Physical) -> bool {
    let mut reads = Reads::default();
    node.read_into(&mut reads);
    reads.volatile
}

/// Whether states of parts can be put together to that of all.
pub(super) fn is_decomposed(call: &AggregateCall) -> bool {
    let ordered = matches!(call.function, Aggregate::StringAgg | Aggregate::StringAggOrdered(_));
    !call.distinct && !ordered
}

/// The slots that an operator reads itself; what it opens again for each row counts as its own.
pub(super) fn own_reads(node: &Physical, plan: &PhysicalPlan) -> Slots {
    let mut reads = Reads::default();
    node.read_into(&mut reads);
    let operator = node.describe();
    reads.slots.extend(operator.slots_read());
    for (n, input) in node.inputs().into_iter().enumerate() {
        if operator.opening(n) != Opening::Once {
            input.for_each(&mut |below| reads.slots.extend(own_reads(below, plan)));
        }
    }
    for id in reads.subqueries {
        reads.slots.extend(&plan.subqueries[id.0 as usize].outer);
    }
    reads.slots
}
