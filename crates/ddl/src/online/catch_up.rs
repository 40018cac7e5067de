//! Catching up, in rounds: the builder looks at the noted rows again and corrects their entries in
//! the indexes that it builds.
//!
//! Invariants
//!  1. A note is done when the builder has seen the committed state of its row: any later change
//!     leaves another note. If another transaction has the row locked, the note is kept for the
//!     next round.
//!  2. Under Sch-M no other transaction has uncommitted changes. So the last round leaves no note.
//!  3. In a unique index the last round removes all entries that must go before it puts any. If
//!     another row's entry then has the key of an entry to be put, the two rows have the same key.

use super::capture_of;
use super::target::{PutOutcome, Target};
use crate::build::Origin;
use crate::context::DdlContext;
use access::{
    Field, Hobt, Isolation, LockPlan, RowCursor, ScanRange, SpillFile, next_note, note_field,
};
use base::{SqlError, SqlResult, messages};
use catalog::HobtSpec;
use catalog::view::Table;
use std::collections::BTreeSet;
use std::sync::Arc;
use work::Work;

/// The most rounds before the builder asks for Sch-M.
const ROUNDS_MAX: u32 = 16;
/// After a round that finished fewer notes than this the builder asks for Sch-M.
const FEW: u64 = 1_000;

/// Reads the committed state of a row. It fails instead of waiting for a lock.
const READ: LockPlan = LockPlan { no_wait: true, ..LockPlan::read(Isolation::ReadCommitted) };

/// The work of one pass over the notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// While writers run: removes and puts entries. Rows that are locked are left for later.
    Round,
    /// Under Sch-M: removes entries that must go.
    Removals,
    /// Under Sch-M: puts the entries that rows should have.
    Puts,
}

/// The indexes that are built, as the pass over the notes sees them.
pub(crate) trait NoteTarget {
    /// Corrects the entries of a note's row. `row` is the row as it is now, if it exists;
    /// `locator` says where it is or was. Returns whether the note is done.
    fn put_right(
        &self,
        work: &mut Work,
        note: &[Field<'_>],
        locator: &[Field<'_>],
        row: Option<&dyn RowCursor>,
        pass: Pass,
    ) -> SqlResult<bool>;
}

/// The notes about a base, and the columns that they have.
pub(crate) struct CatchUp<'s> {
    source: &'s Arc<dyn Hobt>,
    is_heap: bool,
    /// The physical columns of the base that a note has. In a heap's notes they follow the RID.
    columns: Vec<usize>,
    /// For each column of the base's locator: its field in a note.
    row: Vec<usize>,
}

impl<'s> CatchUp<'s> {
    /// For all indexes that are built. Each of them learns which fields of a note it needs.
    pub(crate) fn new(
        before: &Table,
        source: &'s Arc<dyn Hobt>,
        targets: &mut [Target<'_>],
    ) -> CatchUp<'s> {
        let base = HobtSpec::of(before, before.base());
        let is_heap = base.kind.is_heap();
        let (first, mut columns) = (usize::from(is_heap), Vec::new());
        let mut field = |column: usize| {
            let known = columns.iter().position(|c| *c == column);
            first
                + known.unwrap_or_else(|| {
                    columns.push(column);
                    columns.len() - 1
                })
        };
        let row = match is_heap {
            true => vec![0],
            false => base.key.iter().map(|k| field(k.field)).collect(),
        };
        for target in targets {
            let at = |origin: &Origin| match origin {
                Origin::Column(column) => field(*column),
                _ => 0,
            };
            target.key = target.key_origins().map(at).collect();
            if target.needs_locator() {
                let of_row = |origin: &Origin| match origin {
                    Origin::Rid => Some(0),
                    Origin::Column(c) => base.key.iter().position(|k| k.field == *c),
                    _ => None,
                };
                let entry = target.origins.iter().enumerate();
                target.locator = entry.filter_map(|(n, o)| Some((row[of_row(o)?], n))).collect();
            }
        }
        CatchUp { source, is_heap, columns, row }
    }

    /// The columns that writers put into notes.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn fields(&self) -> usize {
        self.columns.len() + usize::from(self.is_heap)
    }

    /// Leaves a note about the row of an entry. Columns that the entry does not have are NULL in
    /// the note. For other indexes this may be a key that the row does not have, which does no
    /// harm (README, rule 4).
    pub(crate) fn note_entry(&self, target: &Target<'_>, entry: &[Field<'_>]) {
        let mut note = Vec::new();
        let field = |origin: Origin| {
            let at = target.origins.iter().position(|o| *o == origin);
            at.and_then(|at| entry[at].inline())
        };
        if self.is_heap {
            note_field(field(Origin::Rid), &mut note);
        }
        for &column in &self.columns {
            note_field(field(Origin::Column(column)), &mut note);
        }
        if let Some(noted) = self.source.capture() {
            noted.note_again(&note);
        }
    }

    /// Leaves a note about the row with a locator, in a build whose notes have only the locator.
    pub(crate) fn note_locator(&self, locator: &[Field<'_>]) {
        assert_eq!(locator.len(), self.fields(), "notes have locators alone");
        let mut note = Vec::new();
        locator.iter().for_each(|field| note_field(field.inline(), &mut note));
        if let Some(noted) = self.source.capture() {
            noted.note_again(&note);
        }
    }

    /// Catches up while writers continue, until few notes are left.
    pub(crate) fn rounds(
        &self,
        cx: &mut DdlContext<'_>,
        targets: &(impl NoteTarget + ?Sized),
    ) -> SqlResult<()> {
        for _ in 0..ROUNDS_MAX {
            let mut notes = capture_of(&**self.source)?.take_captured(cx.spill.create()?)?;
            notes.rewind()?;
            if self.pass(cx.work, &mut *notes, targets, Pass::Round)? < FEW {
                break;
            }
        }
        Ok(())
    }

    /// The last round, under Sch-M.
    ///
    /// # Errors
    /// 1505 when two rows have the same key in a unique index.
    pub(crate) fn finish(
        &self,
        cx: &mut DdlContext<'_>,
        targets: &(impl NoteTarget + ?Sized),
    ) -> SqlResult<()> {
        let mut notes = capture_of(&**self.source)?.take_captured(cx.spill.create()?)?;
        if notes.bytes() == 0 {
            return Ok(());
        }
        notes.rewind()?;
        self.pass(cx.work, &mut *notes, targets, Pass::Removals)?;
        notes.seek(0)?;
        self.pass(cx.work, &mut *notes, targets, Pass::Puts)?;
        Ok(())
    }

    /// Passes over the notes. Returns how many are done.
    fn pass(
        &self,
        work: &mut Work,
        notes: &mut dyn SpillFile,
        targets: &(impl NoteTarget + ?Sized),
        pass: Pass,
    ) -> SqlResult<u64> {
        let waiter = Arc::clone(work.owner().waiter());
        let (mut chunk, mut done) = (Vec::new(), 0);
        while notes.read(&mut chunk)? {
            let (mut rest, mut fields) = (&*chunk, Vec::new());
            let mut seen = BTreeSet::new();
            while let Some(note) = next_note(&mut rest, self.fields(), &mut fields) {
                if !seen.insert(note) {
                    continue;
                }
                waiter.check().map_err(SqlError::from)?;
                match self.look(work, &fields, targets, pass)? {
                    true => done += 1,
                    false => capture_of(&**self.source)?.note_again(note),
                }
            }
            assert!(rest.is_empty(), "a chunk is of whole notes");
        }
        Ok(done)
    }

    /// Looks at the row of a note. Returns whether the note is done.
    fn look(
        &self,
        work: &mut Work,
        note: &[Field<'_>],
        targets: &(impl NoteTarget + ?Sized),
        pass: Pass,
    ) -> SqlResult<bool> {
        let row: Vec<Field<'_>> = self.row.iter().map(|&at| note[at]).collect();
        let mut cursor = self.source.scan(work, &ScanRange::equal(&row), &READ)?;
        let found = match cursor.next(work) {
            Ok(found) => found,
            Err(e) if pass == Pass::Round && e.number() == messages::LOCK_TIMEOUT.number => {
                return Ok(false);
            }
            Err(e) => return Err(e),
        };
        targets.put_right(work, note, &row, found.then_some(&*cursor), pass)
    }
}

impl NoteTarget for [Target<'_>] {
    fn put_right(
        &self,
        work: &mut Work,
        note: &[Field<'_>],
        _locator: &[Field<'_>],
        row: Option<&dyn RowCursor>,
        pass: Pass,
    ) -> SqlResult<bool> {
        let mut done = true;
        for target in self {
            let has = match row {
                Some(row) if target.has(row, note)? => Some(row),
                _ => None,
            };
            match (has, pass) {
                (Some(row), Pass::Round) => {
                    done &= target.put(work, row, note)? == PutOutcome::Done
                }
                (Some(row), Pass::Puts) => put(work, target, row, note)?,
                (None, Pass::Round | Pass::Removals) => target.remove(work, note)?,
                (Some(_), Pass::Removals) | (None, Pass::Puts) => {}
            }
        }
        Ok(done)
    }
}

/// Puts an entry under Sch-M. If another row has its key, this is error 1505.
fn put(
    work: &mut Work,
    target: &Target<'_>,
    row: &dyn RowCursor,
    note: &[Field<'_>],
) -> SqlResult<()> {
    match target.put(work, row, note)? {
        PutOutcome::Done => Ok(()),
        PutOutcome::Taken => Err(target.duplicate(row)?),
    }
}
