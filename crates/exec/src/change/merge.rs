//! MERGE: first collects what each row of the join of source and target requires, then applies it.
//!
//! Rows are gathered with their new values before any is changed. So nothing that was changed is
//! read again (a MERGE needs no spool), and rows may exchange keys: a first pass removes old keys,
//! a second one adds new ones.
//!
//! Invariants
//!  1. A row of the target is changed once at most: 8672.

use super::first_rows::FirstRows;
use super::notes::{Note, Notes};
use super::output::{Output, changed};
use super::row_change::RowSlots;
use super::row_insert::RowInsert;
use super::target::{Target, TypedExpr, WriteOutcome};
use super::update::{Assignment, assign, kept_slots};
use crate::expr::Cond;
use crate::memory::{RowBuffer, Sighting};
use crate::operator::Node;
use crate::run::{RowSink, Run, WITHIN};
use access::LockPlan;
use base::{SqlError, SqlResult, messages};
use plan::{MergeAction, MergeMatch, OldRow, Physical, Slot};
use types::Value;

/// A MERGE ready to run.
pub(crate) struct Merge {
    /// Nothing is written: rows go to OUTPUT and to the statement that captures them.
    captured: bool,
    target: Target,
    deletes: Option<Target>,
    source: Node,
    old: OldRow,
    new: Vec<Option<Slot>>,
    has_target: Slot,
    has_source: Option<Slot>,
    clauses: Vec<Clause>,
    insert: Option<RowInsert>,
    top: Option<TypedExpr>,
    clause: Slot,
    action: Slot,
    output: Option<Output>,
    gathered: RowBuffer,
    /// The rows of the target that were seen.
    seen: FirstRows,
}

/// WHEN … THEN
pub(crate) struct Clause {
    when: MergeMatch,
    condition: Cond,
    action: Action,
}

/// What becomes of a row.
enum Action {
    Update(Vec<Assignment>),
    Delete,
    Insert,
}

impl Clause {
    pub(crate) fn new(clause: &plan::MergeClause) -> SqlResult<Clause> {
        let action = match &clause.action {
            MergeAction::Update(set) => Action::Update(Assignment::all(set)?),
            MergeAction::Delete => Action::Delete,
            MergeAction::Insert(_) => Action::Insert,
        };
        Ok(Clause { when: clause.when, condition: Cond::new(&clause.condition)?, action })
    }
}

impl Merge {
    pub(crate) fn new(
        merge: &plan::Merge<Physical>,
        (target, deletes): (Target, Option<Target>),
        source: Node,
        clauses: Vec<Clause>,
        insert: Option<RowInsert>,
        output: Option<Output>,
    ) -> SqlResult<Merge> {
        target.check_slots(Some(&merge.old), Some(&merge.new))?;
        let mut kept = kept_slots(&merge.old, &merge.new, merge.output.as_deref());
        kept.push(merge.clause);
        Ok(Merge {
            captured: merge.captured,
            source,
            seen: FirstRows::new(target.key_slots(&merge.old)),
            target,
            deletes,
            old: merge.old.clone(),
            new: merge.new.clone(),
            has_target: merge.has_target,
            has_source: merge.has_source,
            clauses,
            insert,
            top: merge.top.as_ref().map(TypedExpr::new).transpose()?,
            clause: merge.clause,
            action: merge.action,
            output,
            gathered: RowBuffer::new(kept),
        })
    }

    /// The run is over.
    pub(crate) fn close(&mut self) {
        self.source.close();
        self.gathered.drop_rows();
        self.seen.drop_rows();
    }

    pub(crate) fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        let locks = self.target.locks(run);
        for target in self.targets() {
            target.begin(run)?;
        }
        self.gather(run)?;
        self.gathered.rewind()?;
        run.counts.of(WITHIN).spilled(self.gathered.spilled_bytes());
        if self.captured {
            self.pass_on(run, out)?;
        } else {
            let mut notes = self.take_away(run, &locks)?;
            self.gathered.rewind()?;
            self.give(run, &mut notes, &locks, out)?;
            notes.clear(run);
        }
        self.gathered.clear(run);
        self.targets().try_for_each(|target| target.finish(run))
    }

    /// The target of DELETE, of UPDATE, of INSERT.
    fn targets(&self) -> impl Iterator<Item = &Target> {
        let inserts = self.insert.as_ref().map(|i| &i.target);
        self.deletes.iter().chain([&self.target]).chain(inserts)
    }

    fn gather(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let twice = || SqlError::new(messages::MERGE_ROW_TWICE, &[]);
        let mut left = self.limit(run)?;
        self.gathered.clear(run);
        self.source.open(run)?;
        while left > 0 && run.takes_more(self.gathered.total()) && self.source.next(run)? {
            run.tick()?;
            let Some(n) = self.clause_of(run)? else { continue };
            let touches = !matches!(self.clauses[n].action, Action::Insert);
            if touches && self.seen.look(run, &mut self.target, &self.old)? == Sighting::Before {
                return Err(twice());
            }
            self.prepare(run, n)?;
            run.set(self.clause, Value::Int(n as i32));
            self.gathered.push(run)?;
            left -= 1;
        }
        if self.seen.any_twice(run, &mut self.target, &self.old)? {
            return Err(twice());
        }
        self.seen.clear(run);
        Ok(())
    }

    /// TOP
    fn limit(&self, run: &mut Run<'_>) -> SqlResult<u64> {
        let Some(top) = &self.top else { return Ok(u64::MAX) };
        let n = top.expr.eval(run)?.as_i64();
        match n.map(u64::try_from) {
            Some(Ok(n)) => Ok(n),
            _ => Err(SqlError::new(messages::TOP_INVALID, &[])),
        }
    }

    /// The clause that acts upon the row at hand.
    fn clause_of(&self, run: &mut Run<'_>) -> SqlResult<Option<usize>> {
        let target = !run.slot(self.has_target).is_null();
        let source = self.has_source.is_none_or(|slot| !run.slot(slot).is_null());
        let when = match (source, target) {
            (true, true) => MergeMatch::Matched,
            (true, false) => MergeMatch::NotMatchedByTarget,
            (false, _) => MergeMatch::NotMatchedBySource,
        };
        for (n, clause) in self.clauses.iter().enumerate() {
            if clause.when == when && clause.condition.eval(run)? == Some(true) {
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    /// Computes the new row.
    fn prepare(&mut self, run: &mut Run<'_>, clause: usize) -> SqlResult<()> {
        match &self.clauses[clause].action {
            Action::Insert => match &self.insert {
                Some(insert) => insert.compute(run),
                None => Ok(()),
            },
            Action::Delete => {
                self.new.iter().flatten().for_each(|&slot| run.set(slot, Value::Null));
                Ok(())
            }
            Action::Update(assignments) => {
                for (old, new) in self.old.columns.iter().zip(&self.new) {
                    if let (Some(old), Some(new)) = (old, new) {
                        let value = run.slot(*old).clone();
                        run.set(*new, value);
                    }
                }
                assign(run, &self.target, &self.new, assignments)?;
                self.target.check(run)
            }
        }
    }

    /// The clause of a gathered row.
    fn gathered_clause(&self, run: &Run<'_>) -> SqlResult<usize> {
        let n = run.slot(self.clause).as_i64().and_then(|n| usize::try_from(n).ok());
        let lost = || SqlError::new(messages::INTERNAL, &[&"a gathered row has no clause"]);
        n.filter(|&n| n < self.clauses.len()).ok_or_else(lost)
    }

    /// First pass: deletes rows, and old keys that move.
    fn take_away(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<Notes> {
        let moves = self.target.table.moves_unique_keys();
        let mut notes = Notes::default();
        while self.gathered.next(run)? {
            run.tick()?;
            let n = self.gathered_clause(run)?;
            let slots = RowSlots { old: &self.old, new: &self.new };
            let note = match &self.clauses[n].action {
                Action::Delete => {
                    let deletes = self.deletes.as_mut().unwrap_or(&mut self.target);
                    match deletes.remove_row(run, &self.old, locks)? {
                        true => Note::Taken,
                        false => Note::Vanished,
                    }
                }
                Action::Update(_) if moves => self.target.take_away(run, slots, locks)?,
                Action::Insert | Action::Update(_) => Note::Untouched,
            };
            notes.push(run, note)?;
        }
        notes.rewind(run)?;
        Ok(notes)
    }

    /// Instead of both passes: gives the rows to OUTPUT as if they had been changed.
    fn pass_on(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        while self.gathered.next(run)? {
            run.tick()?;
            let n = self.gathered_clause(run)?;
            let (name, target) = match (&self.clauses[n].action, &self.insert) {
                (Action::Insert, Some(insert)) => ("INSERT", &insert.target),
                (Action::Insert, None) => continue,
                (Action::Delete, _) => ("DELETE", self.deletes.as_ref().unwrap_or(&self.target)),
                (Action::Update(_), _) => ("UPDATE", &self.target),
            };
            run.set(self.action, Value::nvarchar(name));
            changed(run, target, &mut self.output, out)?;
        }
        Ok(())
    }

    /// Second pass: inserts rows and new keys, and changes the other rows.
    fn give(
        &mut self,
        run: &mut Run<'_>,
        notes: &mut Notes,
        locks: &LockPlan,
        out: &mut dyn RowSink,
    ) -> SqlResult<()> {
        while self.gathered.next(run)? {
            run.tick()?;
            let note = notes.next()?;
            if note == Note::Vanished {
                continue;
            }
            let n = self.gathered_clause(run)?;
            let slots = RowSlots { old: &self.old, new: &self.new };
            let (name, target) = match (&self.clauses[n].action, &mut self.insert) {
                (Action::Insert, Some(insert)) => {
                    if insert.put(run, locks)? != WriteOutcome::Written {
                        run.outcome.duplicates_ignored = true;
                        continue;
                    }
                    ("INSERT", &insert.target)
                }
                (Action::Insert, None) => continue,
                (Action::Delete, _) => ("DELETE", self.deletes.as_ref().unwrap_or(&self.target)),
                (Action::Update(_), _) => {
                    if note == Note::Taken {
                        self.target.give_back(run, slots, locks)?;
                    } else if !self.target.change_row(run, slots, locks)? {
                        continue;
                    }
                    ("UPDATE", &self.target)
                }
            };
            run.set(self.action, Value::nvarchar(name));
            changed(run, target, &mut self.output, out)?;
        }
        Ok(())
    }
}
