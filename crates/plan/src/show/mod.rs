//! Plans as indented text, for debugging and golden tests.

mod expression;
mod logical;
mod program;

use crate::{AggregateCall, Frame, FunctionRows, Recursion, Scalar, Slot, WindowCall};
use std::fmt;
use types::Collation;

/// A tree that prints itself at a depth.
pub trait Show {
    /// Writes it and what is below it, each line indented.
    ///
    /// # Errors
    /// The formatter's.
    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result;

    /// Whether it stands for a subquery that became a join: there is nothing to print.
    fn is_nothing(&self) -> bool {
        false
    }
}

/// Begins a line at a depth.
pub(crate) fn line(f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    write!(f, "{:1$}", "", depth * 2)
}

/// Writes things with commas between.
pub(crate) fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    mut one: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (n, item) in items.into_iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        one(f, item)?;
    }
    Ok(())
}

/// Writes slots with commas between.
pub(crate) fn slots(f: &mut fmt::Formatter<'_>, slots: &[Slot]) -> fmt::Result {
    list(f, slots, |f, s| write!(f, "{s}"))
}

/// Writes a function of FROM and its columns.
pub(crate) fn function_line(f: &mut fmt::Formatter<'_>, call: &FunctionRows) -> fmt::Result {
    write!(f, "{}(", call.function.name())?;
    list(f, &call.arguments, |f, x| write!(f, "{x}"))?;
    f.write_str(") into ")?;
    slots(f, &call.columns)
}

/// Writes the slots of a recursion.
pub(crate) fn recursion_line<T>(f: &mut fmt::Formatter<'_>, r: &Recursion<T>) -> fmt::Result {
    write!(f, "Recursive {} ", r.name)?;
    slots(f, &r.columns)?;
    f.write_str(" for each ")?;
    slots(f, &r.work)
}

/// Writes rows of values and where they go.
pub(crate) fn show_rows(
    f: &mut fmt::Formatter<'_>,
    rows: &[Vec<Scalar>],
    columns: &[Slot],
) -> fmt::Result {
    if columns.is_empty() {
        return Ok(());
    }
    f.write_str(" ")?;
    slots(f, columns)?;
    f.write_str(" = ")?;
    list(f, rows, |f, row| {
        f.write_str("(")?;
        list(f, row, |f, x| write!(f, "{x}"))?;
        f.write_str(")")
    })
}

/// Writes what groups share and compute.
pub(crate) fn show_groups(
    f: &mut fmt::Formatter<'_>,
    keys: &[(Slot, Collation)],
    calls: &[AggregateCall],
) -> fmt::Result {
    if !keys.is_empty() {
        f.write_str(" by ")?;
        list(f, keys, |f, (slot, _)| write!(f, "{slot}"))?;
    }
    if !calls.is_empty() {
        f.write_str(" compute ")?;
        list(f, calls, |f, c| {
            let distinct = if c.distinct { "DISTINCT " } else { "" };
            match &c.argument {
                Some(x) => write!(f, "{} = {}({distinct}{x})", c.output, c.function.name()),
                None => write!(f, "{} = {}(*)", c.output, c.function.name()),
            }
        })?;
    }
    Ok(())
}

/// Writes what is computed over windows.
pub(crate) fn window_calls(f: &mut fmt::Formatter<'_>, calls: &[WindowCall]) -> fmt::Result {
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
    })
}
