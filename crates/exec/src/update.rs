//! UPDATE and DELETE.
//!
//! A row is changed as it comes, in all its indexes. Only where several rows move within a unique
//! key they are gathered first: all old keys go, then all new ones come, so that
//! `SET id = id + 1` meets no key that is about to move itself.

use crate::operator::Node;
use crate::reader::hint_of;
use crate::rows::RowBuffer;
use crate::run::Run;
use crate::target::{Locator, RowChange, Target, Typed, Written};
use access::LockPlan;
use base::SqlResult;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use plan::{OldRow, Slot};
use types::{SqlType, convert};

/// Rows that a join has brought already, by the key of their base row.
type Seen = HashSet<Box<[u8]>, FixedState>;

/// One item of SET.
pub(crate) struct Assignment {
    pub(crate) column: Option<usize>,
    pub(crate) variable: Option<(usize, SqlType)>,
    pub(crate) value: Typed,
}

/// An UPDATE ready to run.
pub(crate) struct Update {
    pub(crate) target: Target,
    pub(crate) source: Node,
    pub(crate) old: OldRow,
    pub(crate) new: Vec<Option<Slot>>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) distinct_rows: bool,
    /// Rows are gathered before any is changed.
    pub(crate) gathers: bool,
    pub(crate) gathered: RowBuffer,
}

/// Whether the row at hand comes for the first time.
fn is_first(target: &mut Target, run: &Run<'_>, old: &OldRow, seen: &mut Seen) -> bool {
    let locator = Locator::of(run, old);
    seen.insert(target.base_key(run, &old.columns, &locator))
}

impl Update {
    pub(crate) fn run(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let locks = self.target.locks(run);
        let mut seen = Seen::default();
        self.gathered.clear(run);
        self.target.begin(run)?;
        self.source.open(run)?;
        while self.source.next(run)? {
            run.tick()?;
            if self.distinct_rows && !is_first(&mut self.target, run, &self.old, &mut seen) {
                continue;
            }
            self.assign(run)?;
            self.target.check(run)?;
            if self.gathers {
                self.gathered.push(run)?;
            } else {
                self.change(run, &locks)?;
            }
        }
        if self.gathers {
            self.change_gathered(run, &locks)?;
        }
        self.target.finish(run)
    }

    /// Evaluates SET in the order of the text.
    fn assign(&self, run: &mut Run<'_>) -> SqlResult<()> {
        for a in &self.assignments {
            let mut value = a.value.expr.eval(run)?;
            let mut of_type = a.value.sql_type;
            if let Some(column) = a.column {
                value = self.target.fit(value, of_type, column)?;
                of_type = self.target.table.columns[column].sql_type;
                if let Some(slot) = self.new[column] {
                    run.set(slot, value.clone());
                }
            }
            if let Some((variable, to)) = a.variable {
                run.variables[variable] = match of_type == to {
                    true => value,
                    false => convert(&value, of_type, to, 0)?,
                };
            }
        }
        Ok(())
    }

    /// Changes the row at hand.
    fn change(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<()> {
        let old = Locator::of(run, &self.old);
        let hint = self.old.hint.and_then(|slot| hint_of(run.slot(slot)));
        let mut new = old.clone();
        for index in 0..self.target.index_count() {
            let at = &self.target.table.indexes[index];
            if !at.affected && index != 0 {
                continue;
            }
            let moves = at.key_changes && index == 0;
            if moves {
                // The sink chooses the uniquifier of the new key.
                new = Locator::NONE;
            }
            let change = RowChange {
                old: &self.old.columns,
                new: &self.new,
                old_locator: &old,
                new_locator: &new,
                hint,
            };
            match self.target.update(run, index, &change, locks)? {
                // A heap row may have got another place.
                Ok(of_base) if moves || (index == 0 && of_base.has_rid()) => new = of_base,
                Ok(_) => {}
                Err(_) => return Ok(()),
            }
        }
        run.outcome.rows_affected += 1;
        self.target.written(run)
    }

    fn change_gathered(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<()> {
        self.gathered.rewind()?;
        if self.gathered.total() == 1 {
            self.gathered.next(run)?;
            return self.change(run, locks);
        }
        let mut vanished: HashSet<u64, FixedState> = HashSet::default();
        let mut moved: HashMap<u64, Locator, FixedState> = HashMap::default();
        let mut row = 0;
        while self.gathered.next(run)? {
            run.tick()?;
            let old = Locator::of(run, &self.old);
            match self.take_away(run, &old, locks)? {
                None => drop(vanished.insert(row)),
                Some(new) if new != old => drop(moved.insert(row, new)),
                Some(_) => {}
            }
            row += 1;
        }
        self.gathered.rewind()?;
        row = 0;
        while self.gathered.next(run)? {
            run.tick()?;
            if !vanished.contains(&row) {
                let locator = moved.remove(&row).unwrap_or_else(|| Locator::of(run, &self.old));
                self.give_back(run, locator, locks)?;
                run.outcome.rows_affected += 1;
                self.target.written(run)?;
            }
            row += 1;
        }
        self.gathered.clear(run);
        Ok(())
    }

    /// First pass: old keys that move are deleted, rows that stay are changed in place.
    /// The base row's locator then, unless it had vanished.
    fn take_away(
        &mut self,
        run: &mut Run<'_>,
        old: &Locator,
        locks: &LockPlan,
    ) -> SqlResult<Option<Locator>> {
        let mut new = old.clone();
        let hint = self.old.hint.and_then(|slot| hint_of(run.slot(slot)));
        for index in 0..self.target.index_count() {
            let at = &self.target.table.indexes[index];
            let (affected, moves) = (at.affected || index == 0, at.key_changes);
            let change = RowChange {
                old: &self.old.columns,
                new: &self.new,
                old_locator: old,
                new_locator: &new,
                hint,
            };
            if affected && moves {
                if self.target.delete(run, index, &change, locks)? == Written::Vanished {
                    return Ok(None);
                }
            } else if affected {
                match self.target.update(run, index, &change, locks)? {
                    Ok(of_base) if index == 0 && of_base.has_rid() => new = of_base,
                    Ok(_) => {}
                    Err(_) => return Ok(None),
                }
            }
        }
        Ok(Some(new))
    }

    /// Second pass: new keys are inserted.
    fn give_back(
        &mut self,
        run: &mut Run<'_>,
        mut locator: Locator,
        locks: &LockPlan,
    ) -> SqlResult<()> {
        for index in 0..self.target.index_count() {
            let at = &self.target.table.indexes[index];
            if !(at.affected || index == 0) || !at.key_changes {
                continue;
            }
            let known = if index == 0 { &Locator::NONE } else { &locator };
            let inserted = self.target.insert(run, index, &self.new, known, locks)?;
            if let Ok(of_base) = inserted
                && index == 0
            {
                locator = of_base;
            }
        }
        Ok(())
    }
}

/// A DELETE ready to run.
pub(crate) struct Delete {
    pub(crate) target: Target,
    pub(crate) source: Node,
    pub(crate) old: OldRow,
    pub(crate) distinct_rows: bool,
}

impl Delete {
    pub(crate) fn run(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let locks = self.target.locks(run);
        let mut seen = Seen::default();
        self.target.begin(run)?;
        self.source.open(run)?;
        while self.source.next(run)? {
            run.tick()?;
            if self.distinct_rows && !is_first(&mut self.target, run, &self.old, &mut seen) {
                continue;
            }
            self.remove(run, &locks)?;
        }
        self.target.finish(run)
    }

    fn remove(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<()> {
        let old = Locator::of(run, &self.old);
        let change = RowChange {
            old: &self.old.columns,
            new: &[],
            old_locator: &old,
            new_locator: &old,
            hint: self.old.hint.and_then(|slot| hint_of(run.slot(slot))),
        };
        for index in 0..self.target.index_count() {
            if self.target.delete(run, index, &change, locks)? == Written::Vanished {
                return Ok(());
            }
        }
        run.outcome.rows_affected += 1;
        self.target.written(run)
    }
}

/// The slots that a gathered row keeps.
pub(crate) fn kept_slots(old: &OldRow, new: &[Option<Slot>]) -> Vec<Slot> {
    let locator = [old.uniquifier, old.rid, old.hint];
    let mut slots: Vec<Slot> =
        old.columns.iter().chain(new).chain(&locator).copied().flatten().collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}
