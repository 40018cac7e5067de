//! Which UPDATE gathers all its rows before it changes the first.
//!
//! Where several rows move within a unique key all old keys go before the new ones come: rows that
//! exchange values would meet each other else. `exec` gathers them; `optimize` sees to it that they
//! stay locked meanwhile, as with any operator that keeps rows back. So it is said here, once.

use crate::{IndexTarget, Physical, Scalar, Target, Unique, Update};

impl Target {
    /// Whether an UPDATE must take all old keys away before it gives new ones.
    pub fn moves_unique_keys(&self) -> bool {
        let moves =
            |i: &IndexTarget| i.affected && i.key_changes && i.unique != Unique::No && !i.wide;
        self.indexes.iter().any(moves)
    }
}

impl Update<Physical> {
    /// Whether it reads all its rows before it changes one.
    pub fn gathers(&self) -> bool {
        self.target.moves_unique_keys() && !self.source.gives_one_row()
    }
}

impl Physical {
    /// Whether it gives one row at most, as far as its form tells.
    pub fn gives_one_row(&self) -> bool {
        match self {
            Physical::Access(a) => a.seek.as_ref().is_some_and(|s| s.unique),
            Physical::Lookup(l) => l.input.gives_one_row(),
            Physical::Constants { rows, .. } => rows.len() <= 1,
            Physical::Assert { .. } => true,
            Physical::Top { input, top } | Physical::TopSort { input, top, .. } => {
                let count = top.count.as_ref().and_then(Scalar::as_constant);
                let one = !top.percent
                    && top.ties.is_none()
                    && count.and_then(types::Value::as_i64).is_some_and(|n| n <= 1);
                one || input.gives_one_row()
            }
            Physical::Filter { input, .. }
            | Physical::StartupFilter { input, .. }
            | Physical::Compute { input, .. }
            | Physical::Sort { input, .. }
            | Physical::Spool { input, .. } => input.gives_one_row(),
            Physical::StreamAggregate { keys, .. } => keys.is_empty(),
            Physical::Exchange(_)
            | Physical::Split(_)
            | Physical::IndexSpool(_)
            | Physical::Virtual(_)
            | Physical::Function(_)
            | Physical::Changed { .. }
            | Physical::NestedLoops(_)
            | Physical::HashJoin(_)
            | Physical::MergeJoin(_)
            | Physical::HashAggregate { .. }
            | Physical::Window { .. }
            | Physical::Concatenation { .. }
            | Physical::MergeUnion(_)
            | Physical::Recursive(_) => false,
        }
    }
}
