//! Foreign keys of a change: checks of new rows, and follow-ups (cascades).
//!
//! A row is checked after it was written (see `plan::References`). When later rows of the statement
//! matter too, or referring rows must be found, slots of each changed row are kept. When all rows
//! are changed, the kept rows are read again, once for the checks and once for each follow-up.
//!
//! Invariants
//!  1. A follow-up is absent from `Run::follow_ups`, and a buffer from `Run::changed`, exactly
//!     while it is being used.

use super::assertion::Assertion;
use crate::memory::RowBuffer;
use crate::operator::{Node, Operator};
use crate::run::{FollowUp, Run};
use base::{SqlError, SqlResult, messages};
use plan::Conflict;

/// The foreign keys of a target, ready to be enforced.
pub(crate) struct ForeignKeys {
    checks: Vec<Assertion>,
    /// The number of the buffer that keeps changed rows.
    kept: Option<usize>,
    deferred: bool,
    /// The numbers of the follow-ups that change an index by itself.
    indexes: Vec<usize>,
    follow_ups: Vec<usize>,
}

impl ForeignKeys {
    pub(crate) fn new(target: &plan::Target) -> SqlResult<ForeignKeys> {
        let references = &target.references;
        let wide = target.wide.iter().flat_map(|w| &w.changes);
        let checks = references.checks.iter().map(|c| Assertion::new(&c.predicate, false));
        Ok(ForeignKeys {
            checks: checks.collect::<SqlResult<_>>()?,
            kept: references.kept.as_ref().map(|k| k.id.0 as usize),
            deferred: references.has_deferred(),
            indexes: wide.map(|f| f.0 as usize).collect(),
            follow_ups: references.follow_ups.iter().map(|f| f.0 as usize).collect(),
        })
    }
}

/// A foreign key that refuses its rows: any row of its source is error 547.
pub(crate) struct Refusal {
    pub(crate) source: Node,
    pub(crate) conflict: Conflict,
    pub(crate) database: Box<str>,
    pub(crate) verb: &'static str,
}

impl FollowUp for Refusal {
    fn follow(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.source.open(run)?;
        match self.source.next(run)? {
            true => Err(conflict_error(self.verb, &self.conflict, &self.database)),
            false => Ok(()),
        }
    }

    fn close(&mut self) {
        self.source.close();
    }
}

/// 547 of a foreign key.
#[cold]
fn conflict_error(verb: &str, conflict: &Conflict, database: &str) -> SqlError {
    let Conflict { kind, name, table, column } = conflict;
    let column = column.as_ref().map_or(String::new(), |c| format!(", column '{c}'"));
    SqlError::new(messages::CONSTRAINT_CONFLICT, &[&verb, kind, name, &database, table, &column])
}

/// The target whose foreign keys are judged, and the statement that messages name.
#[derive(Clone, Copy)]
pub(crate) struct Referrer<'t> {
    pub(crate) table: &'t plan::Target,
    pub(crate) statement: &'static str,
}

impl ForeignKeys {
    /// Before the first row: what an earlier execution kept is forgotten.
    pub(crate) fn begin(&self, run: &mut Run<'_>) -> SqlResult<()> {
        match self.kept {
            Some(id) => with_changed(run, id, |rows, run| {
                rows.clear(run);
                Ok(())
            }),
            None => Ok(()),
        }
    }

    /// A row was written: judges the foreign keys that can be judged now, and keeps the row where
    /// others are judged later.
    #[inline]
    pub(crate) fn written(&self, run: &mut Run<'_>, of: Referrer<'_>) -> SqlResult<()> {
        for n in 0..self.checks.len() {
            if !of.table.references.checks[n].deferred {
                self.check_foreign(run, of, n)?;
            }
        }
        match self.kept {
            Some(id) => with_changed(run, id, RowBuffer::push),
            None => Ok(()),
        }
    }

    fn check_foreign(&self, run: &mut Run<'_>, of: Referrer<'_>, n: usize) -> SqlResult<()> {
        if !self.checks[n].passes(run)? {
            let conflict = &of.table.references.checks[n].conflict;
            return Err(conflict_error(of.statement, conflict, &of.table.database_name));
        }
        Ok(())
    }

    /// All rows are written: indexes that are changed by themselves, deferred checks, then
    /// follow-ups.
    pub(crate) fn finish(&self, run: &mut Run<'_>, of: Referrer<'_>) -> SqlResult<()> {
        let Some(id) = self.kept else { return Ok(()) };
        if with_changed(run, id, |rows, _| Ok(rows.total() == 0))? {
            return Ok(());
        }
        follow(run, &self.indexes)?;
        if self.deferred {
            let checks = &of.table.references.checks;
            let deferred: Vec<usize> = (0..checks.len()).filter(|&n| checks[n].deferred).collect();
            each_changed(run, id, |run| {
                deferred.iter().try_for_each(|&n| self.check_foreign(run, of, n))
            })?;
        }
        follow(run, &self.follow_ups)?;
        with_changed(run, id, |rows, run| {
            rows.clear(run);
            Ok(())
        })
    }
}

/// Runs follow-ups, one after the other.
fn follow(run: &mut Run<'_>, numbers: &[usize]) -> SqlResult<()> {
    for &number in numbers {
        let taken = run.follow_ups.get_mut(number).and_then(Option::take);
        let Some(mut follow_up) = taken else { return Err(missing()) };
        let result = follow_up.follow(run);
        run.follow_ups[number] = Some(follow_up);
        result?;
    }
    Ok(())
}

fn missing() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a follow-up refers to itself"])
}

/// Takes a buffer out while it is used.
fn with_changed<R>(
    run: &mut Run<'_>,
    id: usize,
    f: impl FnOnce(&mut RowBuffer, &mut Run<'_>) -> SqlResult<R>,
) -> SqlResult<R> {
    let Some(mut rows) = run.changed.get_mut(id).and_then(Option::take) else {
        return Err(missing());
    };
    let result = f(&mut rows, run);
    run.changed[id] = Some(rows);
    result
}

/// Puts each kept row back into the frame.
fn each_changed(
    run: &mut Run<'_>,
    id: usize,
    mut f: impl FnMut(&mut Run<'_>) -> SqlResult<()>,
) -> SqlResult<()> {
    with_changed(run, id, |rows, run| {
        rows.rewind()?;
        while rows.next(run)? {
            run.tick()?;
            f(run)?;
        }
        Ok(())
    })
}

/// The changed rows as a source of a follow-up.
pub(crate) struct ChangedRows {
    id: usize,
}

impl ChangedRows {
    /// Reads the buffer with this number.
    pub(crate) fn new(id: usize) -> ChangedRows {
        ChangedRows { id }
    }
}

impl Operator for ChangedRows {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        with_changed(run, self.id, |rows, _| rows.rewind())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        with_changed(run, self.id, RowBuffer::next)
    }

    fn close(&mut self) {}
}
