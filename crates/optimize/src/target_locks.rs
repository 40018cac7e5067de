//! A row of a change's target stays locked from where it is found to where it is changed.
//!
//! A scan of the target locks each row for update, and gives the lock up when it goes on to the
//! next. So while a row waits in a spool, a sort or a hash table nobody would keep others from
//! changing it: what was computed from it would be written over theirs, and its entries would be
//! looked for where they are no more (8646). Where an operator on the way keeps rows back, or the
//! change itself gathers them, the scan keeps the locks of what qualifies, to the end of the
//! transaction.

use plan::{Physical, Strength};

/// Has the scans and lookups of a target keep their locks where rows are `kept_back` above them.
pub(crate) fn keep(tree: &mut Physical, kept_back: bool) {
    match tree {
        Physical::Access(a) if a.locks.strength != Strength::Shared => {
            a.locks.kept_back |= kept_back
        }
        Physical::Lookup(l) if l.locks.strength != Strength::Shared => {
            l.locks.kept_back |= kept_back
        }
        _ => {}
    }
    let kept_back = kept_back || keeps_rows_back(tree);
    for input in tree.inputs_mut() {
        keep(input, kept_back);
    }
}

/// Whether an operator may read on before what it has read was asked for.
fn keeps_rows_back(operator: &Physical) -> bool {
    match operator {
        Physical::Sort { .. }
        | Physical::TopSort { .. }
        | Physical::HashAggregate { .. }
        | Physical::StreamAggregate { .. }
        | Physical::Window { .. }
        | Physical::Spool { .. }
        | Physical::IndexSpool(_)
        | Physical::Exchange(_)
        | Physical::Split(_)
        | Physical::HashJoin(_)
        | Physical::MergeJoin(_)
        | Physical::MergeUnion(_)
        | Physical::Recursive(_) => true,
        // A percentage is of all rows, so they are counted first.
        Physical::Top { top, .. } => top.percent,
        Physical::Access(_)
        | Physical::Lookup(_)
        | Physical::Virtual(_)
        | Physical::Function(_)
        | Physical::Constants { .. }
        | Physical::Changed { .. }
        | Physical::Filter { .. }
        | Physical::StartupFilter { .. }
        | Physical::Assert { .. }
        | Physical::Compute { .. }
        | Physical::NestedLoops(_)
        | Physical::Concatenation { .. } => false,
    }
}
