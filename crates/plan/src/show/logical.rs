//! Logical trees as text.

use super::{
    Show, function_line, line, list, recursion_line, show_groups, show_rows, slots, window_calls,
};
use crate::{Get, Logical, VirtualGet};
use std::fmt;

impl Show for Logical {
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        line(f, depth)?;
        show_node(f, self)?;
        writeln!(f)?;
        let mut result = Ok(());
        self.for_each_input(&mut |input| {
            if result.is_ok() {
                result = input.show(f, depth + 1);
            }
        });
        result
    }
}

/// Writes the line of a node.
fn show_node(f: &mut fmt::Formatter<'_>, node: &Logical) -> fmt::Result {
    match node {
        Logical::Get(get) => show_get(f, get),
        Logical::Virtual(v) => show_virtual(f, v),
        Logical::Function(call) => function_line(f, call),
        Logical::Values { rows, columns } => {
            write!(f, "Values {} rows", rows.len())?;
            show_rows(f, rows, columns)
        }
        Logical::Changed { columns, .. } => {
            f.write_str("Changed ")?;
            slots(f, columns)
        }
        Logical::Filter { predicate, .. } => write!(f, "Filter {predicate}"),
        Logical::Compute { columns, .. } => {
            f.write_str("Compute ")?;
            list(f, columns, |f, (slot, x)| write!(f, "{slot} = {x}"))
        }
        Logical::Join { kind, on, apply, .. } => {
            let word = if *apply { "Apply" } else { "Join" };
            write!(f, "{word} {kind:?} on {on}")
        }
        Logical::Aggregate(a) => {
            f.write_str("Aggregate")?;
            show_groups(f, &a.keys, &a.calls)
        }
        Logical::Distinct { columns, .. } => {
            f.write_str("Distinct ")?;
            list(f, columns, |f, (slot, _)| write!(f, "{slot}"))
        }
        Logical::Window { partition, order, calls, .. } => {
            f.write_str("Window partition ")?;
            list(f, partition, |f, k| write!(f, "{k}"))?;
            f.write_str(" order ")?;
            list(f, order, |f, k| write!(f, "{k}"))?;
            window_calls(f, calls)
        }
        Logical::Sort { keys, .. } => {
            f.write_str("Sort ")?;
            list(f, keys, |f, k| write!(f, "{k}"))
        }
        Logical::Top { top, .. } => write!(f, "Top {top}"),
        Logical::Recursive(r) => recursion_line(f, r),
        Logical::Concatenate { columns, .. } => {
            f.write_str("Concatenate ")?;
            slots(f, columns)
        }
    }
}

fn show_get(f: &mut fmt::Formatter<'_>, get: &Get) -> fmt::Result {
    write!(f, "Get {} (", get.alias)?;
    list(f, &get.columns, |f, c| write!(f, "{}: {}", c.column, c.slot))?;
    if let Some(sample) = &get.sample {
        write!(f, ") sample {sample:?}")?;
        return write!(f, "{}", get.locks);
    }
    write!(f, "){}", get.locks)
}

fn show_virtual(f: &mut fmt::Formatter<'_>, v: &VirtualGet) -> fmt::Result {
    write!(f, "Virtual {} (", v.name)?;
    list(f, &v.arguments, |f, x| write!(f, "{x}"))?;
    f.write_str(") ")?;
    list(f, &v.columns, |f, c| write!(f, "{}: {}", c.column, c.slot))
}

impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, 0)
    }
}
