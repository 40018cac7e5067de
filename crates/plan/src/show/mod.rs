//! Plans as indented text, for debugging and golden tests.

mod expression;
mod logical;
mod physical;
mod program;

use std::fmt;

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
fn line(f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    write!(f, "{:1$}", "", depth * 2)
}

/// Writes the slots of a recursion, then its anchor and its members.
fn show_recursion<T: Show>(
    f: &mut fmt::Formatter<'_>,
    r: &crate::Recursion<T>,
    depth: usize,
) -> fmt::Result {
    write!(f, "Recursive {} ", r.name)?;
    list(f, &r.columns, |f, s| write!(f, "{s}"))?;
    f.write_str(" for each ")?;
    list(f, &r.work, |f, s| write!(f, "{s}"))?;
    writeln!(f)?;
    r.inputs().try_for_each(|(input, _)| input.show(f, depth + 1))
}

/// Writes things with commas between.
fn list<T>(
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

fn show_function(f: &mut fmt::Formatter<'_>, call: &crate::FunctionRows) -> fmt::Result {
    write!(f, "{}(", call.function.name())?;
    list(f, &call.arguments, |f, x| write!(f, "{x}"))?;
    f.write_str(") into ")?;
    list(f, &call.columns, |f, s| write!(f, "{s}"))?;
    writeln!(f)
}
