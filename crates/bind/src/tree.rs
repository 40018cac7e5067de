//! What is put around a tree, and what it reads.

use plan::{Logical, Predicate, Scalar, Slot, TableNo};
use std::collections::BTreeMap;
use std::ops::Range;
use types::{SqlType, Value};

/// Rows for which a predicate is true.
pub(crate) fn filtered(input: Logical, predicate: Predicate) -> Logical {
    match predicate {
        Predicate::Constant(Some(true)) => input,
        predicate => Logical::Filter { input: Box::new(input), predicate },
    }
}

/// Rows with further columns.
pub(crate) fn computed_columns(input: Logical, columns: Vec<(Slot, Scalar)>) -> Logical {
    match columns.is_empty() {
        true => input,
        false => Logical::Compute { input: Box::new(input), columns },
    }
}

/// Flags the rows of references that are still to be flagged.
pub(crate) fn flag_rows(tree: &mut Logical, flags: &mut BTreeMap<TableNo, Slot>) {
    tree.for_each_mut(&mut |node| {
        if let Logical::Get(get) = node
            && let Some(slot) = flags.remove(&get.table)
        {
            flag(node, slot);
        }
    });
}

/// Puts a constant beside the rows of a side, which its absence makes NULL.
pub(crate) fn flag(side: &mut Logical, slot: Slot) {
    let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
    let input = Box::new(std::mem::replace(side, nothing));
    let one = Scalar::constant(Value::Int(1), SqlType::Int);
    *side = Logical::Compute { input, columns: vec![(slot, one)] };
}

/// The range of the references that a tree reads.
pub(crate) fn tables_of(tree: &Logical) -> Range<u32> {
    let mut tables: Option<Range<u32>> = None;
    tree.for_each(&mut |node| {
        if let Logical::Get(get) = node {
            let no = get.table.0;
            let known = tables.get_or_insert(no..no + 1);
            *known = known.start.min(no)..known.end.max(no + 1);
        }
    });
    tables.unwrap_or(0..0)
}
