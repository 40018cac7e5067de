//! Changes, moves or deletes a row in all hobts of a target.
//!
//! A row that keeps its keys is changed in place. When rows exchange values of a unique key, each
//! is removed first, and put back when all old keys are gone.
//!
//! Invariants
//!  1. An entry that names its row by a uniquifier is written when the uniquifier is known. When a
//!     row moves in its clustered index, the entry is rewritten, even if its own key stays.

use super::notes::Note;
use super::target::{Locator, RowChange, Target, WriteOutcome};
use crate::run::Run;
use crate::scan::hint_of;
use access::LockPlan;
use base::SqlResult;
use plan::{EntryField, OldRow, Slot};

/// Where the frame holds a row before and after.
#[derive(Clone, Copy)]
pub(crate) struct RowSlots<'a> {
    pub(crate) old: &'a OldRow,
    /// By column.
    pub(crate) new: &'a [Option<Slot>],
}

impl Target {
    /// Changes the row at hand; false when it had vanished.
    pub(crate) fn change_row(
        &mut self,
        run: &mut Run<'_>,
        slots: RowSlots<'_>,
        locks: &LockPlan,
    ) -> SqlResult<bool> {
        let old = Locator::of(run, slots.old);
        let hint = slots.old.hint.and_then(|slot| hint_of(run.slot(slot)));
        let mut new = old.clone();
        for index in 0..self.index_count() {
            let at = &self.table.indexes[index];
            if index != 0 && !at.affected || at.wide {
                continue;
            }
            let moves = at.key_changes && index == 0;
            if moves {
                // The sink chooses the uniquifier of the new key.
                new = Locator::NONE;
            }
            let change = RowChange {
                old: &slots.old.columns,
                new: slots.new,
                old_locator: &old,
                new_locator: &new,
                hint,
            };
            match self.update(run, index, &change, locks)? {
                Ok(of_base) if moves => new = of_base,
                Ok(_) => {}
                Err(_) => return Ok(false),
            }
        }
        self.set_place(run, &new);
        Ok(true)
    }

    /// Whether the entry of a gathered row is deleted in the first pass and inserted in the second.
    fn moves(&self, index: usize) -> bool {
        let [base, ..] = &self.table.indexes[..] else { return false };
        let at = &self.table.indexes[index];
        at.key_changes || base.key_changes && at.fields.contains(&EntryField::Uniquifier)
    }

    /// First pass: deletes old keys that move, changes rows that stay in place. Returns what became
    /// of the base row.
    pub(crate) fn take_away(
        &mut self,
        run: &mut Run<'_>,
        slots: RowSlots<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Note> {
        let old = Locator::of(run, slots.old);
        let hint = slots.old.hint.and_then(|slot| hint_of(run.slot(slot)));
        for index in 0..self.index_count() {
            let at = &self.table.indexes[index];
            let affected = index == 0 || at.affected && !at.wide;
            let moves = self.moves(index);
            let change = RowChange {
                old: &slots.old.columns,
                new: slots.new,
                old_locator: &old,
                new_locator: &old,
                hint,
            };
            if affected && moves {
                if self.delete(run, index, &change, locks)? == WriteOutcome::Vanished {
                    return Ok(Note::Vanished);
                }
            } else if affected && self.update(run, index, &change, locks)?.is_err() {
                return Ok(Note::Vanished);
            }
        }
        Ok(Note::Taken)
    }

    /// Second pass: new keys are inserted.
    pub(crate) fn give_back(
        &mut self,
        run: &mut Run<'_>,
        slots: RowSlots<'_>,
        locks: &LockPlan,
    ) -> SqlResult<()> {
        let mut locator = Locator::of(run, slots.old);
        for index in 0..self.index_count() {
            let at = &self.table.indexes[index];
            if !(at.affected || index == 0) || !self.moves(index) || at.wide {
                continue;
            }
            let known = if index == 0 { &Locator::NONE } else { &locator };
            let inserted = self.insert(run, index, slots.new, known, locks)?;
            if let Ok(of_base) = inserted
                && index == 0
            {
                locator = of_base;
            }
        }
        self.set_place(run, &locator);
        Ok(())
    }

    /// Deletes the row at hand; false when it had vanished.
    pub(crate) fn remove_row(
        &mut self,
        run: &mut Run<'_>,
        old: &OldRow,
        locks: &LockPlan,
    ) -> SqlResult<bool> {
        let locator = Locator::of(run, old);
        let change = RowChange {
            old: &old.columns,
            new: &[],
            old_locator: &locator,
            new_locator: &locator,
            hint: old.hint.and_then(|slot| hint_of(run.slot(slot))),
        };
        for index in 0..self.index_count() {
            if self.is_narrow(index)
                && self.delete(run, index, &change, locks)? == WriteOutcome::Vanished
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
