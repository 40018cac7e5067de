//! Physical trees as text.

use super::{Show, line, list};
use crate::{
    Access, AggregateCall, Bound, ExchangeKind, HashJoin, KeyLookup, MergeJoin, MergeUnion,
    NestedLoops, Physical, Scalar, ScanColumn, Seek, Slot, Split, VirtualScan,
};
use std::fmt;
use types::Collation;

impl Show for Physical {
    fn is_nothing(&self) -> bool {
        match self {
            Physical::Constants { rows, columns } => rows.is_empty() && columns.is_empty(),
            _ => false,
        }
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        line(f, depth)?;
        match self {
            Physical::Access(a) => show_access(f, a),
            Physical::Lookup(l) => show_lookup(f, l, depth),
            Physical::Virtual(v) => show_virtual(f, v),
            Physical::Function(call) => super::show_function(f, call),
            Physical::Constants { rows, columns } => {
                write!(f, "Constants {} rows", rows.len())?;
                show_rows(f, rows, columns)
            }
            Physical::Changed { columns, .. } => {
                f.write_str("Changed ")?;
                slots(f, columns)?;
                writeln!(f)
            }
            Physical::Filter { input, predicate } => {
                writeln!(f, "Filter {predicate}")?;
                input.show(f, depth + 1)
            }
            Physical::StartupFilter { input, predicate } => {
                writeln!(f, "StartupFilter {predicate}")?;
                input.show(f, depth + 1)
            }
            Physical::Assert { input, .. } => {
                writeln!(f, "Assert one row")?;
                input.show(f, depth + 1)
            }
            Physical::Compute { input, columns } => {
                f.write_str("Compute ")?;
                list(f, columns, |f, (slot, x)| write!(f, "{slot} = {x}"))?;
                writeln!(f)?;
                input.show(f, depth + 1)
            }
            Physical::NestedLoops(join) => show_loops(f, join, depth),
            Physical::HashJoin(join) => show_hash_join(f, join, depth),
            Physical::MergeJoin(join) => show_merge_join(f, join, depth),
            Physical::MergeUnion(union) => show_merge_union(f, union, depth),
            Physical::Recursive(r) => super::show_recursion(f, r, depth),
            Physical::Concatenation { inputs, columns } => {
                f.write_str("Concatenation ")?;
                slots(f, columns)?;
                writeln!(f)?;
                inputs.iter().try_for_each(|(input, _)| input.show(f, depth + 1))
            }
            other => show_ordering(f, other, depth),
        }
    }
}

/// Operators that order, group and remember.
fn show_ordering(f: &mut fmt::Formatter<'_>, node: &Physical, depth: usize) -> fmt::Result {
    match node {
        Physical::Sort { input, keys, distinct, .. } => {
            f.write_str(if *distinct { "Sort distinct " } else { "Sort " })?;
            list(f, keys, |f, k| write!(f, "{k}"))?;
            writeln!(f)?;
            input.show(f, depth + 1)
        }
        Physical::TopSort { input, top, keys, .. } => {
            write!(f, "TopSort {top} by ")?;
            list(f, keys, |f, k| write!(f, "{k}"))?;
            writeln!(f)?;
            input.show(f, depth + 1)
        }
        Physical::Top { input, top } => {
            writeln!(f, "Top {top}")?;
            input.show(f, depth + 1)
        }
        Physical::HashAggregate { input, keys, calls } => {
            f.write_str("HashAggregate")?;
            show_groups(f, keys, calls)?;
            input.show(f, depth + 1)
        }
        Physical::StreamAggregate { input, keys, calls } => {
            f.write_str("StreamAggregate")?;
            show_groups(f, keys, calls)?;
            input.show(f, depth + 1)
        }
        Physical::Window { input, partition, order, calls, .. } => {
            f.write_str("Window partition ")?;
            list(f, partition, |f, (slot, _)| write!(f, "{slot}"))?;
            f.write_str(" order ")?;
            list(f, order, |f, (slot, _)| write!(f, "{slot}"))?;
            super::logical::show_window_calls(f, calls)?;
            input.show(f, depth + 1)
        }
        Physical::Spool { input, .. } => {
            writeln!(f, "Spool")?;
            input.show(f, depth + 1)
        }
        Physical::IndexSpool(s) => {
            f.write_str("IndexSpool by ")?;
            list(f, &s.keys, |f, k| write!(f, "{k}"))?;
            writeln!(f, " where {}", s.predicate)?;
            s.input.show(f, depth + 1)
        }
        Physical::Split(split) => show_split(f, split, depth),
        Physical::Exchange(e) => {
            match &e.kind {
                ExchangeKind::Gather => f.write_str("Gather")?,
                ExchangeKind::GatherOrdered(keys) => {
                    f.write_str("Gather ordered ")?;
                    list(f, keys, |f, k| write!(f, "{k}"))?;
                }
                ExchangeKind::Repartition(keys) => {
                    f.write_str("Repartition ")?;
                    list(f, keys, |f, (slot, _)| write!(f, "{slot}"))?;
                }
            }
            writeln!(f)?;
            e.input.show(f, depth + 1)
        }
        // All others are shown by the caller.
        _ => Ok(()),
    }
}

fn show_split(f: &mut fmt::Formatter<'_>, s: &Split, depth: usize) -> fmt::Result {
    write!(f, "Split {} ", s.action)?;
    list(f, &s.columns, |f, c| match c.old {
        Some(old) => write!(f, "{} = {old}, {}", c.to, c.new),
        None => write!(f, "{} = {}", c.to, c.new),
    })?;
    writeln!(f)?;
    s.input.show(f, depth + 1)
}

pub(super) fn slots(f: &mut fmt::Formatter<'_>, slots: &[Slot]) -> fmt::Result {
    list(f, slots, |f, s| write!(f, "{s}"))
}

pub(super) fn show_rows(
    f: &mut fmt::Formatter<'_>,
    rows: &[Vec<Scalar>],
    columns: &[Slot],
) -> fmt::Result {
    if !columns.is_empty() {
        f.write_str(" ")?;
        slots(f, columns)?;
        f.write_str(" = ")?;
        list(f, rows, |f, row| {
            f.write_str("(")?;
            list(f, row, |f, x| write!(f, "{x}"))?;
            f.write_str(")")
        })?;
    }
    writeln!(f)
}

pub(super) fn show_groups(
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
    writeln!(f)
}

fn columns(f: &mut fmt::Formatter<'_>, columns: &[ScanColumn]) -> fmt::Result {
    f.write_str(" (")?;
    list(f, columns, |f, c| write!(f, "{}: {}", c.field, c.slot))?;
    f.write_str(")")
}

fn show_access(f: &mut fmt::Formatter<'_>, a: &Access) -> fmt::Result {
    f.write_str(if a.seek.is_some() { "Seek " } else { "Scan " })?;
    f.write_str(&a.source.table)?;
    if !a.source.index.is_empty() {
        write!(f, ".{}", a.source.index)?;
    }
    columns(f, &a.columns)?;
    if let Some(rid) = a.rid {
        write!(f, " rid {rid}")?;
    }
    if let Some(seek) = &a.seek {
        show_seek(f, seek)?;
    }
    if let Some(p) = &a.residual {
        write!(f, " where {p}")?;
    }
    if a.ordered {
        f.write_str(" ordered")?;
    }
    if let Some(sample) = &a.sample {
        write!(f, " sample {}", sample.fraction)?;
    }
    if a.backward {
        f.write_str(" backward")?;
    }
    writeln!(f, "{}", a.locks)
}

fn show_seek(f: &mut fmt::Formatter<'_>, seek: &Seek) -> fmt::Result {
    f.write_str(if seek.unique { " key" } else { " range" })?;
    for range in &seek.ranges {
        f.write_str(" [")?;
        list(f, &range.equal, |f, x| write!(f, "={x}"))?;
        if let Some(Bound { value, inclusive, .. }) = &range.lower {
            write!(f, "{}{value}", if *inclusive { " from " } else { " after " })?;
        }
        if let Some(Bound { value, inclusive, .. }) = &range.upper {
            write!(f, "{}{value}", if *inclusive { " to " } else { " before " })?;
        }
        f.write_str("]")?;
    }
    Ok(())
}

fn show_lookup(f: &mut fmt::Formatter<'_>, l: &KeyLookup, depth: usize) -> fmt::Result {
    write!(f, "Lookup {}", l.source.table)?;
    columns(f, &l.columns)?;
    f.write_str(" by ")?;
    slots(f, &l.locator)?;
    if let Some(p) = &l.residual {
        write!(f, " where {p}")?;
    }
    writeln!(f, "{}", l.locks)?;
    l.input.show(f, depth + 1)
}

fn show_virtual(f: &mut fmt::Formatter<'_>, v: &VirtualScan) -> fmt::Result {
    write!(f, "Virtual {}(", v.name)?;
    list(f, &v.arguments, |f, x| write!(f, "{x}"))?;
    f.write_str(")")?;
    columns(f, &v.columns)?;
    if let Some(p) = &v.residual {
        write!(f, " where {p}")?;
    }
    writeln!(f)
}

fn show_loops(f: &mut fmt::Formatter<'_>, join: &NestedLoops, depth: usize) -> fmt::Result {
    write!(f, "NestedLoops {:?}", join.kind)?;
    if join.correlated {
        f.write_str(" correlated")?;
    }
    if let Some(p) = &join.predicate {
        write!(f, " on {p}")?;
    }
    writeln!(f)?;
    join.outer.show(f, depth + 1)?;
    join.inner.show(f, depth + 1)
}

fn show_hash_join(f: &mut fmt::Formatter<'_>, join: &HashJoin, depth: usize) -> fmt::Result {
    write!(f, "HashJoin {:?} ", join.kind)?;
    list(f, &join.keys, |f, (b, p, _)| write!(f, "{b} = {p}"))?;
    if let Some(p) = &join.residual {
        write!(f, " and {p}")?;
    }
    writeln!(f)?;
    join.build.show(f, depth + 1)?;
    join.probe.show(f, depth + 1)
}

fn show_merge_join(f: &mut fmt::Formatter<'_>, join: &MergeJoin, depth: usize) -> fmt::Result {
    let many = if join.many_to_many { " many-to-many" } else { "" };
    write!(f, "MergeJoin {:?}{many} ", join.kind)?;
    list(f, &join.keys, |f, k| {
        write!(f, "{} = {}{}", k.left, k.right, if k.descending { " desc" } else { "" })
    })?;
    if let Some(p) = &join.residual {
        write!(f, " and {p}")?;
    }
    writeln!(f)?;
    join.left.show(f, depth + 1)?;
    join.right.show(f, depth + 1)
}

fn show_merge_union(f: &mut fmt::Formatter<'_>, union: &MergeUnion, depth: usize) -> fmt::Result {
    f.write_str(if union.distinct { "MergeUnion distinct " } else { "MergeUnion " })?;
    slots(f, &union.columns)?;
    f.write_str(" by ")?;
    list(f, &union.keys, |f, k| write!(f, "{k}"))?;
    writeln!(f)?;
    union.left.show(f, depth + 1)?;
    union.right.show(f, depth + 1)
}
