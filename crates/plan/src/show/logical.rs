//! Logical trees as text.

use super::{Show, line, list};
use crate::{Frame, Get, Logical, VirtualGet, WindowCall};
use std::fmt;

impl Show for Logical {
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        line(f, depth)?;
        match self {
            Logical::Get(get) => show_get(f, get),
            Logical::Virtual(v) => show_virtual(f, v),
            Logical::Function(call) => super::show_function(f, call),
            Logical::Values { rows, columns } => {
                write!(f, "Values {} rows", rows.len())?;
                super::physical::show_rows(f, rows, columns)
            }
            Logical::Changed { columns, .. } => {
                f.write_str("Changed ")?;
                super::physical::slots(f, columns)?;
                writeln!(f)
            }
            Logical::Filter { input, predicate } => {
                writeln!(f, "Filter {predicate}")?;
                input.show(f, depth + 1)
            }
            Logical::Compute { input, columns } => {
                f.write_str("Compute ")?;
                list(f, columns, |f, (slot, x)| write!(f, "{slot} = {x}"))?;
                writeln!(f)?;
                input.show(f, depth + 1)
            }
            Logical::Join { kind, left, right, on, apply, .. } => {
                let word = if *apply { "Apply" } else { "Join" };
                writeln!(f, "{word} {kind:?} on {on}")?;
                left.show(f, depth + 1)?;
                right.show(f, depth + 1)
            }
            Logical::Aggregate(a) => {
                f.write_str("Aggregate")?;
                super::physical::show_groups(f, &a.keys, &a.calls)?;
                a.input.show(f, depth + 1)
            }
            Logical::Distinct { input, columns } => {
                f.write_str("Distinct ")?;
                list(f, columns, |f, (slot, _)| write!(f, "{slot}"))?;
                writeln!(f)?;
                input.show(f, depth + 1)
            }
            Logical::Window { input, partition, order, calls } => {
                f.write_str("Window partition ")?;
                list(f, partition, |f, k| write!(f, "{k}"))?;
                f.write_str(" order ")?;
                list(f, order, |f, k| write!(f, "{k}"))?;
                show_window_calls(f, calls)?;
                input.show(f, depth + 1)
            }
            Logical::Sort { input, keys } => {
                f.write_str("Sort ")?;
                list(f, keys, |f, k| write!(f, "{k}"))?;
                writeln!(f)?;
                input.show(f, depth + 1)
            }
            Logical::Top { input, top } => {
                writeln!(f, "Top {top}")?;
                input.show(f, depth + 1)
            }
            Logical::Recursive(r) => super::show_recursion(f, r, depth),
            Logical::Concatenate { inputs, columns } => {
                f.write_str("Concatenate ")?;
                list(f, columns, |f, s| write!(f, "{s}"))?;
                writeln!(f)?;
                inputs.iter().try_for_each(|(input, _)| input.show(f, depth + 1))
            }
        }
    }
}

fn show_get(f: &mut fmt::Formatter<'_>, get: &Get) -> fmt::Result {
    write!(f, "Get {} (", get.alias)?;
    list(f, &get.columns, |f, c| write!(f, "{}: {}", c.column, c.slot))?;
    if let Some(sample) = &get.sample {
        write!(f, ") sample {sample:?}")?;
        return writeln!(f, "{}", get.locks);
    }
    writeln!(f, "){}", get.locks)
}

fn show_virtual(f: &mut fmt::Formatter<'_>, v: &VirtualGet) -> fmt::Result {
    write!(f, "Virtual {} (", v.name)?;
    list(f, &v.arguments, |f, x| write!(f, "{x}"))?;
    f.write_str(") ")?;
    list(f, &v.columns, |f, c| write!(f, "{}: {}", c.column, c.slot))?;
    writeln!(f)
}

pub(super) fn show_window_calls(f: &mut fmt::Formatter<'_>, calls: &[WindowCall]) -> fmt::Result {
    f.write_str(" compute ")?;
    list(f, calls, |f, c| {
        write!(f, "{} = ", c.output)?;
        write!(f, "{}(", c.function.name().to_ascii_uppercase())?;
        if c.function.arguments().next().is_none() && !c.function.ranks() {
            f.write_str("*")?;
        }
        for (n, x) in c.function.arguments().enumerate() {
            write!(f, "{}{x}", if n == 0 { "" } else { ", " })?;
        }
        f.write_str(")")?;
        match c.function.frame() {
            None | Some(Frame::WHOLE) => Ok(()),
            Some(Frame::ROWS) => f.write_str(" running rows"),
            Some(Frame::RANGE) => f.write_str(" running range"),
            Some(Frame { rows, start, end }) => {
                write!(f, " {} {start:?} to {end:?}", if rows { "rows" } else { "range" })
            }
        }
    })?;
    writeln!(f)
}
