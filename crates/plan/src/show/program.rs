//! Whole plans as text.

use super::{Show, line, list};
use crate::{
    ColumnSource, Delete, FollowUp, Insert, Merge, Output, Plan, Statement, Target, Update,
};
use std::fmt;

impl<S: Show> fmt::Display for Plan<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.statement {
            Statement::Query(q) => {
                f.write_str("Query ")?;
                list(f, &q.columns, |f, c| {
                    let null = if c.nullable { " null" } else { "" };
                    write!(f, "{} = {} {}{null}", c.name, c.slot, c.sql_type)
                })?;
                writeln!(f)?;
                q.source.show(f, 1)?;
            }
            Statement::Assign(a) => {
                f.write_str("Assign ")?;
                list(f, &a.assignments, |f, (v, x)| write!(f, "{v} = {x}"))?;
                writeln!(f)?;
                a.source.show(f, 1)?;
            }
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_) => show_change(f, &self.statement)?,
            Statement::Scalar(x) => writeln!(f, "Scalar {x}")?,
            Statement::Condition(p) => writeln!(f, "Condition {p}")?,
        }
        for (n, s) in self.subqueries.iter().enumerate() {
            if s.source.is_nothing() {
                continue;
            }
            write!(f, "Subquery {n} ")?;
            list(f, &s.columns, |f, slot| write!(f, "{slot}"))?;
            if !s.outer.is_empty() {
                f.write_str(" outer ")?;
                list(f, &s.outer, |f, slot| write!(f, "{slot}"))?;
            }
            writeln!(f)?;
            s.source.show(f, 1)?;
        }
        for (n, follow_up) in self.follow_ups.iter().enumerate() {
            match follow_up {
                FollowUp::Refuse { conflict, source } => {
                    writeln!(f, "Follow-up {n} refuse {}", conflict.name)?;
                    source.show(f, 1)?;
                }
                FollowUp::Change(statement) => {
                    write!(f, "Follow-up {n} ")?;
                    show_change(f, statement)?;
                }
                FollowUp::Index(change) => {
                    let name = &change.target.base().name;
                    writeln!(f, "Follow-up {n} {:?} {name}", change.work)?;
                    change.source.show(f, 1)?;
                }
            }
        }
        Ok(())
    }
}

fn show_change<S: Show>(f: &mut fmt::Formatter<'_>, statement: &Statement<S>) -> fmt::Result {
    match statement {
        Statement::Insert(i) => show_insert(f, i),
        Statement::Update(u) => show_update(f, u),
        Statement::Delete(d) => show_delete(f, d),
        Statement::Merge(m) => show_merge(f, m),
        _ => Ok(()),
    }
}

fn show_insert<S: Show>(f: &mut fmt::Formatter<'_>, i: &Insert<S>) -> fmt::Result {
    write!(f, "Insert {} (", i.target.two_part_name())?;
    list(f, &i.columns, |f, c| match &c.source {
        ColumnSource::Value(x) | ColumnSource::Computed(x) => write!(f, "{} = {x}", c.slot),
        ColumnSource::Identity => write!(f, "{} = identity", c.slot),
    })?;
    writeln!(f, "){}", i.target.locks)?;
    show_target(f, &i.target)?;
    show_output(f, i.output.as_deref())?;
    i.source.show(f, 1)
}

fn show_update<S: Show>(f: &mut fmt::Formatter<'_>, u: &Update<S>) -> fmt::Result {
    write!(f, "Update {} set ", u.target.two_part_name())?;
    list(f, &u.assignments, |f, a| {
        if let Some((v, _)) = a.variable {
            write!(f, "{v} = ")?;
        }
        if let Some(slot) = a.column.and_then(|c| u.new.get(c).copied().flatten()) {
            write!(f, "{slot} = ")?;
        }
        write!(f, "{}", a.value)
    })?;
    if u.distinct_rows {
        f.write_str(" distinct rows")?;
    }
    writeln!(f, "{}", u.target.locks)?;
    show_target(f, &u.target)?;
    show_output(f, u.output.as_deref())?;
    u.source.show(f, 1)
}

fn show_delete<S: Show>(f: &mut fmt::Formatter<'_>, d: &Delete<S>) -> fmt::Result {
    write!(f, "Delete {}", d.target.two_part_name())?;
    if d.distinct_rows {
        f.write_str(" distinct rows")?;
    }
    writeln!(f, "{}", d.target.locks)?;
    show_target(f, &d.target)?;
    show_output(f, d.output.as_deref())?;
    d.source.show(f, 1)
}

fn show_merge<S: Show>(f: &mut fmt::Formatter<'_>, m: &Merge<S>) -> fmt::Result {
    writeln!(f, "Merge {}{}", m.target.two_part_name(), m.target.locks)?;
    for clause in &m.clauses {
        line(f, 1)?;
        writeln!(f, "{:?} and {}: {}", clause.when, clause.condition, clause.action.name())?;
    }
    show_target(f, &m.target)?;
    show_output(f, m.output.as_deref())?;
    m.source.show(f, 1)
}

fn show_output(f: &mut fmt::Formatter<'_>, output: Option<&Output>) -> fmt::Result {
    let Some(output) = output else { return Ok(()) };
    if let Some(into) = &output.into {
        line(f, 1)?;
        writeln!(f, "output into {}", into.target.two_part_name())?;
        if let Some(nested) = &into.nested {
            line(f, 2)?;
            writeln!(f, "where {}", nested.filter)?;
        }
    }
    if let Some(sent) = &output.sent {
        line(f, 1)?;
        f.write_str("output ")?;
        list(f, &sent.values, |f, x| write!(f, "{x}"))?;
        writeln!(f)?;
    }
    Ok(())
}

/// Indexes that are touched beside the base, and checks.
fn show_target(f: &mut fmt::Formatter<'_>, target: &Target) -> fmt::Result {
    for index in target.indexes.iter().skip(1).filter(|i| i.affected) {
        line(f, 1)?;
        let then = if index.wide { " by itself" } else { "" };
        writeln!(f, "maintains {}{then}", index.name)?;
    }
    for check in &target.checks {
        line(f, 1)?;
        writeln!(f, "check {}: {}", check.name, check.predicate)?;
    }
    for check in &target.references.checks {
        line(f, 1)?;
        let when = if check.deferred { "at the end " } else { "" };
        writeln!(f, "foreign key {}: {when}{}", check.conflict.name, check.predicate)?;
    }
    for follow_up in &target.references.follow_ups {
        line(f, 1)?;
        writeln!(f, "then follow-up {}", follow_up.0)?;
    }
    Ok(())
}
