//! A row of a change's target stays locked from where it is found to where it is changed.
//!
//! A scan of the target locks each row for update, and gives the lock up when it goes on to the
//! next. So while a row waits in a spool, a sort or a hash table nobody would keep others from
//! changing it, and what was computed from it would be written over theirs. Where an operator on
//! the way keeps rows back, the scan keeps the locks of what qualifies, to the end of the
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
        | Physical::Top { .. }
        | Physical::Concatenation { .. } => false,
    }
}
