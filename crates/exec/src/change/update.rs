//! UPDATE and DELETE.
//!
//! A row is changed as it comes, in all its indexes. Only when several rows move within a unique
//! key they are gathered first: all old keys are removed, then all new ones added. So `SET id = id
//! + 1` meets no key that is about to move itself.

use super::first_rows::FirstRows;
use super::notes::{Note, Notes};
use super::output::{Output, changed};
use super::row_change::RowSlots;
use super::target::{Target, TypedExpr};
use crate::memory::RowBuffer;
use crate::operator::Node;
use crate::run::{RowSink, Run, WITHIN};
use access::LockPlan;
use base::SqlResult;
use plan::{OldRow, Physical, Slot};
use types::{SqlType, convert_dated};

/// One item of SET.
pub(crate) struct Assignment {
    column: Option<usize>,
    variable: Option<(usize, SqlType)>,
    value: TypedExpr,
}

impl Assignment {
    /// All of a SET.
    pub(crate) fn all(assignments: &[plan::Assignment]) -> SqlResult<Vec<Assignment>> {
        let assignment = |a: &plan::Assignment| {
            Ok(Assignment {
                column: a.column,
                variable: a.variable.map(|(id, ty)| (id.0 as usize, ty.sql_type)),
                value: TypedExpr::new(&a.value)?,
            })
        };
        assignments.iter().map(assignment).collect()
    }
}

/// An UPDATE ready to run.
pub(crate) struct Update {
    target: Target,
    source: Node,
    old: OldRow,
    new: Vec<Option<Slot>>,
    assignments: Vec<Assignment>,
    /// Finds the first row for each target row, where a join may bring a target row several times.
    firsts: Option<FirstRows>,
    /// Rows are gathered before any is changed.
    gathers: bool,
    gathered: RowBuffer,
    output: Option<Output>,
}

/// Brings the next row to change into the frame; false after the last.
fn next_row(
    run: &mut Run<'_>,
    source: &mut Node,
    firsts: &mut Option<FirstRows>,
    target: &mut Target,
    old: &OldRow,
) -> SqlResult<bool> {
    match firsts {
        Some(firsts) => firsts.next(run, source, target, old),
        None => {
            run.tick()?;
            source.next(run)
        }
    }
}

/// Evaluates SET in the order of the text.
pub(super) fn assign(
    run: &mut Run<'_>,
    target: &Target,
    new: &[Option<Slot>],
    assignments: &[Assignment],
) -> SqlResult<()> {
    for a in assignments {
        let mut value = a.value.expr.eval(run)?;
        let mut of_type = a.value.sql_type;
        if let Some(column) = a.column {
            value = target.fit(run, value, of_type, column)?;
            of_type = target.table.columns[column].sql_type;
            if let Some(slot) = new[column] {
                run.set(slot, value.clone());
            }
        }
        if let Some((variable, to)) = a.variable {
            run.variables[variable] = match of_type == to {
                true => value,
                false => convert_dated(&value, of_type, to, 0, run.facts.dialect())?,
            };
        }
    }
    Ok(())
}

impl Update {
    pub(crate) fn new(
        update: &plan::Update<Physical>,
        target: Target,
        source: Node,
        output: Option<Output>,
    ) -> SqlResult<Update> {
        target.check_slots(Some(&update.old), Some(&update.new))?;
        let kept = kept_slots(&update.old, &update.new, update.output.as_deref());
        Ok(Update {
            source,
            target,
            old: update.old.clone(),
            new: update.new.clone(),
            assignments: Assignment::all(&update.assignments)?,
            firsts: FirstRows::of(&update.source, update.distinct_rows),
            gathers: update.gathers(),
            gathered: RowBuffer::new(kept),
            output,
        })
    }

    /// How many times it keeps rows or keys of its own.
    pub(crate) fn kept(&self) -> usize {
        usize::from(self.gathers) + usize::from(self.firsts.is_some())
    }

    /// The run is over.
    pub(crate) fn close(&mut self) {
        self.source.close();
        self.gathered.drop_rows();
        self.firsts.iter_mut().for_each(FirstRows::drop_rows);
    }

    pub(crate) fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        let locks = self.target.locks(run);
        self.gathered.clear(run);
        self.target.begin(run)?;
        self.source.open(run)?;
        while run.takes_more(self.gathered.total()) && self.next(run)? {
            assign(run, &self.target, &self.new, &self.assignments)?;
            self.target.check(run)?;
            if self.gathers {
                self.gathered.push(run)?;
            } else {
                self.change(run, &locks, out)?;
            }
        }
        self.firsts.iter_mut().for_each(|firsts| firsts.clear(run));
        if self.gathers {
            self.change_gathered(run, &locks, out)?;
        }
        self.target.finish(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        next_row(run, &mut self.source, &mut self.firsts, &mut self.target, &self.old)
    }

    /// Changes the row at hand.
    fn change(
        &mut self,
        run: &mut Run<'_>,
        locks: &LockPlan,
        out: &mut dyn RowSink,
    ) -> SqlResult<()> {
        let slots = RowSlots { old: &self.old, new: &self.new };
        match self.target.change_row(run, slots, locks)? {
            true => changed(run, &self.target, &mut self.output, out),
            false => Ok(()),
        }
    }

    fn change_gathered(
        &mut self,
        run: &mut Run<'_>,
        locks: &LockPlan,
        out: &mut dyn RowSink,
    ) -> SqlResult<()> {
        self.gathered.rewind()?;
        run.counts.of(WITHIN).spilled(self.gathered.spilled_bytes());
        if self.gathered.total() == 1 {
            self.gathered.next(run)?;
            return self.change(run, locks, out);
        }
        let mut notes = Notes::default();
        while self.gathered.next(run)? {
            run.tick()?;
            let slots = RowSlots { old: &self.old, new: &self.new };
            let note = self.target.take_away(run, slots, locks)?;
            notes.push(run, note)?;
        }
        self.gathered.rewind()?;
        notes.rewind(run)?;
        while self.gathered.next(run)? {
            run.tick()?;
            if notes.next()? == Note::Vanished {
                continue;
            }
            let slots = RowSlots { old: &self.old, new: &self.new };
            self.target.give_back(run, slots, locks)?;
            changed(run, &self.target, &mut self.output, out)?;
        }
        notes.clear(run);
        self.gathered.clear(run);
        Ok(())
    }
}

/// A DELETE ready to run.
pub(crate) struct Delete {
    target: Target,
    source: Node,
    old: OldRow,
    /// Finds the first row for each target row, where a join may bring a target row several times.
    firsts: Option<FirstRows>,
    output: Option<Output>,
}

impl Delete {
    pub(crate) fn new(
        delete: &plan::Delete<Physical>,
        target: Target,
        source: Node,
        output: Option<Output>,
    ) -> SqlResult<Delete> {
        target.check_slots(Some(&delete.old), None)?;
        let firsts = FirstRows::of(&delete.source, delete.distinct_rows);
        Ok(Delete { source, target, old: delete.old.clone(), firsts, output })
    }

    /// How many times it keeps keys of its own.
    pub(crate) fn kept(&self) -> usize {
        usize::from(self.firsts.is_some())
    }

    /// The run is over.
    pub(crate) fn close(&mut self) {
        self.source.close();
        self.firsts.iter_mut().for_each(FirstRows::drop_rows);
    }

    pub(crate) fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        let locks = self.target.locks(run);
        self.target.begin(run)?;
        self.source.open(run)?;
        while run.takes_more(0)
            && next_row(run, &mut self.source, &mut self.firsts, &mut self.target, &self.old)?
        {
            if self.target.remove_row(run, &self.old, &locks)? {
                changed(run, &self.target, &mut self.output, out)?;
            }
        }
        self.firsts.iter_mut().for_each(|firsts| firsts.clear(run));
        self.target.finish(run)
    }
}

/// The slots that a gathered row keeps.
pub(super) fn kept_slots(
    old: &OldRow,
    new: &[Option<Slot>],
    output: Option<&plan::Output>,
) -> Vec<Slot> {
    let locator = [old.uniquifier, old.rid, old.hint];
    let mut slots: Vec<Slot> =
        old.columns.iter().chain(new).chain(&locator).copied().flatten().collect();
    slots.extend(output.into_iter().flat_map(plan::Output::reads));
    slots.sort_unstable();
    slots.dedup();
    slots
}
