//! What may run in workers, and what operators read.
//!
//! A worker has the statement's variables and its clock, and nothing else of the session: no
//! subqueries, no functions of the user, no `@@` facts.

use crate::node::Slots;
use builtins::Aggregate;
use plan::{
    AggregateCall, LockHints, Physical, PhysicalPlan, Predicate, Reads, Scalar, ScalarKind,
    Strength,
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
    match node {
        Physical::Access(a) => {
            let seek = a.seek.iter().flat_map(|s| &s.ranges).all(|r| {
                let ends = r.lower.iter().chain(&r.upper).map(|b| &b.value);
                r.equal.iter().chain(ends).all(scalar_is_safe)
            });
            seek && a.residual.iter().all(predicate_is_safe) && locks_are_safe(&a.locks)
        }
        Physical::Lookup(l) => l.residual.iter().all(predicate_is_safe) && locks_are_safe(&l.locks),
        Physical::Constants { rows, .. } => rows.iter().flatten().all(scalar_is_safe),
        Physical::Filter { predicate, .. } | Physical::StartupFilter { predicate, .. } => {
            predicate_is_safe(predicate)
        }
        Physical::Compute { columns, .. } => columns.iter().all(|(_, x)| scalar_is_safe(x)),
        Physical::NestedLoops(j) => j.predicate.iter().all(predicate_is_safe),
        Physical::HashJoin(j) => j.residual.iter().all(predicate_is_safe),
        Physical::MergeJoin(j) => j.residual.iter().all(predicate_is_safe),
        Physical::Top { top, .. } | Physical::TopSort { top, .. } => {
            top.count.iter().chain(&top.offset).all(scalar_is_safe)
        }
        Physical::HashAggregate { calls, .. } | Physical::StreamAggregate { calls, .. } => {
            calls.iter().flat_map(|c| c.argument.iter().chain(&c.separator)).all(scalar_is_safe)
        }
        Physical::Window { calls, .. } => {
            calls.iter().flat_map(|c| c.function.arguments()).all(scalar_is_safe)
        }
        Physical::Sort { .. }
        | Physical::Concatenation { .. }
        | Physical::MergeUnion(_)
        | Physical::Spool { .. } => true,
        Physical::Virtual(_)
        | Physical::Function(_)
        | Physical::Changed { .. }
        | Physical::Recursive(_)
        | Physical::Assert { .. }
        | Physical::IndexSpool(_)
        | Physical::Split(_)
        | Physical::Exchange(_) => false,
    }
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
    expressions(node, &mut reads);
    reads.volatile
}

/// Whether states of parts can be put together to that of all.
pub(super) fn is_decomposed(call: &AggregateCall) -> bool {
    let ordered = matches!(call.function, Aggregate::StringAgg | Aggregate::StringAggOrdered(_));
    !call.distinct && !ordered
}

/// Whether the result depends on the order of rows.
pub(super) fn relies_on_order(calls: &[AggregateCall]) -> bool {
    calls.iter().any(|c| c.function == Aggregate::StringAgg)
}

/// The slots that an operator reads itself.
pub(super) fn own_reads(node: &Physical, plan: &PhysicalPlan) -> Slots {
    let mut reads = Reads::default();
    expressions(node, &mut reads);
    match node {
        Physical::Lookup(l) => reads.slots.extend(&l.locator),
        Physical::HashJoin(j) => {
            reads.slots.extend(j.keys.iter().flat_map(|k| [k.0, k.1]));
            reads.slots.extend(j.build_slots.iter().chain(&j.probe_slots));
        }
        Physical::MergeJoin(j) => {
            reads.slots.extend(j.keys.iter().flat_map(|k| [k.left, k.right]));
            reads.slots.extend(j.left_slots.iter().chain(&j.right_slots));
        }
        Physical::NestedLoops(j) => {
            reads.slots.extend(&j.inner_slots);
            j.inner.for_each(&mut |below| reads.slots.extend(own_reads(below, plan)));
        }
        Physical::Sort { keys, carried, .. } | Physical::TopSort { keys, carried, .. } => {
            reads.slots.extend(keys.iter().map(|k| k.slot).chain(carried.iter().copied()));
        }
        Physical::HashAggregate { keys, .. } | Physical::StreamAggregate { keys, .. } => {
            reads.slots.extend(keys.iter().map(|k| k.0));
        }
        Physical::Window { partition, order, carried, .. } => {
            reads.slots.extend(partition.iter().chain(order).map(|k| k.0));
            reads.slots.extend(carried);
        }
        Physical::Concatenation { inputs, .. } => {
            reads.slots.extend(inputs.iter().flat_map(|(_, slots)| slots));
        }
        Physical::MergeUnion(u) => reads.slots.extend(u.left_slots.iter().chain(&u.right_slots)),
        Physical::Recursive(r) => reads.slots.extend(r.inputs().flat_map(|(_, slots)| slots)),
        Physical::Spool { carried, .. } => reads.slots.extend(carried),
        Physical::IndexSpool(s) => reads.slots.extend(&s.carried),
        _ => {}
    }
    for id in reads.subqueries {
        reads.slots.extend(&plan.subqueries[id.0 as usize].outer);
    }
    reads.slots
}

/// What the expressions of an operator read.
fn expressions(node: &Physical, out: &mut Reads) {
    match node {
        Physical::Access(a) => {
            for range in a.seek.iter().flat_map(|s| &s.ranges) {
                let ends = range.lower.iter().chain(&range.upper).map(|b| &b.value);
                range.equal.iter().chain(ends).for_each(|x| x.read_into(out));
            }
            a.residual.iter().for_each(|p| p.read_into(out));
        }
        Physical::Lookup(l) => l.residual.iter().for_each(|p| p.read_into(out)),
        Physical::Virtual(v) => v.arguments.iter().for_each(|x| x.read_into(out)),
        Physical::Function(f) => f.arguments.iter().for_each(|x| x.read_into(out)),
        Physical::Constants { rows, .. } => {
            rows.iter().flatten().for_each(|x| x.read_into(out));
        }
        Physical::Filter { predicate, .. } | Physical::StartupFilter { predicate, .. } => {
            predicate.read_into(out);
        }
        Physical::Compute { columns, .. } => columns.iter().for_each(|(_, x)| x.read_into(out)),
        Physical::NestedLoops(j) => j.predicate.iter().for_each(|p| p.read_into(out)),
        Physical::HashJoin(j) => j.residual.iter().for_each(|p| p.read_into(out)),
        Physical::MergeJoin(j) => j.residual.iter().for_each(|p| p.read_into(out)),
        Physical::Top { top, .. } | Physical::TopSort { top, .. } => top.read_into(out),
        Physical::HashAggregate { calls, .. } | Physical::StreamAggregate { calls, .. } => {
            let all = calls.iter().flat_map(|c| c.argument.iter().chain(&c.separator));
            all.for_each(|x| x.read_into(out));
        }
        Physical::Window { calls, .. } => calls.iter().for_each(|c| c.function.read_into(out)),
        Physical::IndexSpool(s) => s.read_into(out),
        Physical::Sort { .. }
        | Physical::Changed { .. }
        | Physical::Concatenation { .. }
        | Physical::MergeUnion(_)
        | Physical::Recursive(_)
        | Physical::Spool { .. }
        | Physical::Assert { .. }
        | Physical::Split(_)
        | Physical::Exchange(_) => {}
    }
}
