//! Rounds of catching up: rows that were noted are looked at again, and the entries of the indexes
//! that are built put right.
//!
//! Invariants
//!  1. A note is done with when its row was seen as nobody has it uncommitted: whatever becomes of
//!     it after that is noted behind it. Where somebody has it, the note comes again.
//!  2. Under Sch-M nobody has anything uncommitted: the last round leaves no note.
//!  3. Of a unique index the last round takes entries away before it puts any: whoever then has a
//!     key that is to be put is a row of its own.

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

/// Rounds before Sch-M is asked for, at most.
const ROUNDS_MAX: u32 = 16;
/// A round with fewer notes that were done with is the last before that.
const FEW: u64 = 1_000;

/// A row as it is committed; whoever has it uncommitted is not waited for.
const READ: LockPlan = LockPlan { no_wait: true, ..LockPlan::read(Isolation::ReadCommitted) };

/// What a pass over notes does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Both, as far as writers allow it.
    Round,
    /// Entries that are not to be go.
    Removals,
    /// Entries are put.
    Puts,
}

/// What is built, as far as notes are concerned.
pub(crate) trait NoteTarget {
    /// Makes what there is of the row of a note what it is to be; `row` is the row as it is now, if
    /// it is there, `locator` where it is or was. Whether the note is done with.
    fn put_right(
        &self,
        work: &mut Work,
        note: &[Field<'_>],
        locator: &[Field<'_>],
        row: Option<&dyn RowCursor>,
        pass: Pass,
    ) -> SqlResult<bool>;
}

/// Notes of a base, and what they are of.
pub(crate) struct CatchUp<'s> {
    source: &'s Arc<dyn Hobt>,
    is_heap: bool,
    /// Physical columns of the base that notes have, behind the RID of a heap.
    columns: Vec<usize>,
    /// By column of the base's key: which field of a note it is.
    row: Vec<usize>,
}

impl<'s> CatchUp<'s> {
    /// Of all indexes that are built; each is told where notes have its columns.
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

    /// The columns that writers note.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    fn fields(&self) -> usize {
        self.columns.len() + usize::from(self.is_heap)
    }

    /// Notes a row by an entry of it: what the entry does not have is NULL, and not looked for.
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

    /// Notes a row by where it is; of a build that needs nothing else of notes.
    pub(crate) fn note_locator(&self, locator: &[Field<'_>]) {
        assert_eq!(locator.len(), self.fields(), "notes have locators alone");
        let mut note = Vec::new();
        locator.iter().for_each(|field| note_field(field.inline(), &mut note));
        if let Some(noted) = self.source.capture() {
            noted.note_again(&note);
        }
    }

    /// Catches up while writers go on, until little is left.
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
    /// 1505 where two rows have one key of a unique index.
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

    /// Goes over notes; how many were done with.
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

    /// Looks at the row of a note; whether the note is done with.
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

/// Puts an entry for good.
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
