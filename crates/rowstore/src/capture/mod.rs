//! Capture: notes that writers leave about a hobt while another one is built from it
//! (`ddl/src/online`).
//!
//! ```text
//!   writer: the row's lock, its columns as they are ── the change ── notes of before and behind
//!   builder:      a scan without locks ... takes the notes, looks at their rows again ...
//! ```
//!
//! A note does not belong to a transaction. It stays when the change is rolled back, and still says
//! where the builder must look again. So undo leaves no notes: the transaction that changed the row
//! has noted its former state.
//!
//! Invariants
//!  1. A writer that changes a row while capture is on has found it on after it got IX on the
//!     table. Capture is switched on under S on the table: then no transaction has earlier changes
//!     that are neither noted nor ended. It is switched off when it is no longer needed.
//!  2. The notes of a change exist before its writer's transaction ends. So a session with Sch-M on
//!     the table has all notes.
//!  3. The state before a change is read under the row's lock, and cannot change in between.
//!  4. Notes in memory take at most `CHUNK_BYTES`, plus those that their writers are just moving to
//!     the file.

pub(crate) mod notes;

use crate::capture::notes::Notes;
use crate::current::CurrentRow;
use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::large::{FetchedValue, fetched};
use crate::place::Place;
use access::{
    Capture, HobtKind, InsertOutcome, LockPlan, RowKey, SpillFile, TableReads, WriteError,
    note_field,
};
use base::SqlResult;
use page::{Field, rid_bytes};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use txn::Mutation;
use work::Work;

/// Errors from here on are of damage: what they left is not known.
const DAMAGE: u8 = 20;

/// The notes that a writer will leave after its change.
pub(crate) struct NoteDraft {
    notes: Arc<Notes>,
    /// The row before the change, if there was one.
    before: Vec<u8>,
}

/// The writer's part.
impl RowHobt {
    /// Begins to note an insert, if capture is on.
    #[inline]
    pub(crate) fn noting_insert(
        &self,
        work: &mut Work,
        plan: &LockPlan,
    ) -> Result<Option<NoteDraft>, WriteError> {
        if !self.is_captured(work, plan)? {
            return Ok(None);
        }
        Ok(self.state.captures.notes().map(|notes| NoteDraft { notes, before: Vec::new() }))
    }

    /// Begins to note a change of a row. The row is locked X from here on.
    #[inline]
    pub(crate) fn noting_change(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> Result<Option<NoteDraft>, WriteError> {
        match self.is_captured(work, plan)? {
            true => self.note_before(work, key, plan).map_err(|e| self.write_error(e)),
            false => Ok(None),
        }
    }

    /// Whether inserts are noted now; see [`RowHobt::noting_insert`].
    #[inline]
    pub(crate) fn is_noted(&self, work: &mut Work, plan: &LockPlan) -> RowResult<bool> {
        self.lock_for_change(work, plan)?;
        let base = !self.spec.pieces && self.spec.kind != HobtKind::Nonclustered;
        Ok(base && self.state.captures.is_on())
    }

    /// Whether capture is on. The table is locked before this is read (invariant 1).
    #[inline]
    fn is_captured(&self, work: &mut Work, plan: &LockPlan) -> Result<bool, WriteError> {
        if self.spec.pieces || self.spec.kind == HobtKind::Nonclustered {
            return Ok(false);
        }
        self.lock_for_change(work, plan).map_err(|e| self.write_error(e))?;
        Ok(self.state.captures.is_on())
    }

    #[cold]
    fn note_before(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> RowResult<Option<NoteDraft>> {
        let Some(notes) = self.state.captures.notes() else { return Ok(None) };
        let mut before = Vec::new();
        match self.spec.kind {
            HobtKind::Heap => {
                if let Some(row) = self.heap_row(work, key, plan)?
                    && let Some(record) = row.record(self)
                {
                    let rid = Some(rid_bytes(row.home.0, row.home.1));
                    self.note_record(&notes.columns, (record, row.place), rid, &mut before)?;
                }
            }
            HobtKind::Clustered | HobtKind::Nonclustered => {
                if let Some(leaf) = self.row_for_change(work, key, plan)?
                    && let Some(record) = leaf.record()
                {
                    let at = (record, (leaf.page_id(), leaf.slot()));
                    self.note_record(&notes.columns, at, None, &mut before)?;
                }
            }
        }
        Ok(Some(NoteDraft { notes, before }))
    }

    /// Adds the noted columns of a record to a note. Its page is latched.
    fn note_record(
        &self,
        columns: &[usize],
        (record, place): (&[u8], Place),
        rid: Option<[u8; 8]>,
        note: &mut Vec<u8>,
    ) -> RowResult<()> {
        let CurrentRow::Row(record) = self.current(record, place) else { return Ok(()) };
        let page = place.0;
        let (mut bytes, mut values): (Vec<u8>, Vec<FetchedValue>) = (Vec::new(), Vec::new());
        let mut reads = TableReads::default();
        let off_row = |c: &usize| matches!(self.layout.field(record, *c), Some(Field::OffRow(_)));
        if columns.iter().any(off_row) {
            self.fetch((record, page), 0, &mut bytes, &mut values, &mut reads)?;
        }
        if let Some(rid) = rid {
            note_field(Some(&rid), note);
        }
        for &column in columns {
            let field = match self.layout.field(record, column) {
                Some(Field::OffRow(_)) => fetched(&values, &bytes, 0, column),
                field => field,
            };
            let what = "a record's columns do not fit its layout";
            let field = field.ok_or_else(|| self.home.pages.corrupt(page, what))?;
            note_field(field.inline(), note);
        }
        Ok(())
    }

    /// Notes a row after its delete, even if the delete failed.
    pub(crate) fn note_delete(
        &self,
        work: &Work,
        noting: Option<NoteDraft>,
        done: &Result<(), WriteError>,
    ) {
        let Some(NoteDraft { notes, before }) = noting else { return };
        if work.engine().transactions.mutations.has(Mutation::DeletesForgotten) {
            return;
        }
        note_failure(&notes, done.as_ref().err());
        if !before.is_empty() {
            notes.add(&before);
        }
    }

    /// Notes a row after its insert or update, and the former row.
    pub(crate) fn note_put(
        &self,
        noting: Option<NoteDraft>,
        row: &[Field<'_>],
        done: &Result<InsertOutcome, WriteError>,
    ) {
        let Some(NoteDraft { notes, before }) = noting else { return };
        note_failure(&notes, done.as_ref().err());
        if !before.is_empty() {
            notes.add(&before);
        }
        let Ok(inserted) = done else { return };
        let mut note = Vec::new();
        if self.spec.kind == HobtKind::Heap {
            note_field(inserted.rid.as_ref().map(|rid| &rid[..]), &mut note);
        }
        let uniquifier = inserted.uniquifier.map(u32::to_le_bytes);
        for &column in &notes.columns {
            let field = match self.uniquifier_at() {
                Some(at) if at == column => uniquifier.as_ref().map(|u| &u[..]),
                _ => self.column_of(row, column),
            };
            note_field(field, &mut note);
        }
        if note != before {
            notes.add(&note);
        }
    }

    /// A column of a row that is written. A column that its writer does not know has its default.
    fn column_of<'a>(&'a self, row: &[Field<'a>], column: usize) -> Option<&'a [u8]> {
        match row.get(column) {
            Some(field) => field.inline(),
            None => {
                let first = self.spec.widths.len() - self.spec.added.len();
                self.spec.added.get(column.checked_sub(first)?)?.as_deref()
            }
        }
    }
}

/// Ends the build if a change failed because of damage. After any other error nothing has changed.
fn note_failure(notes: &Notes, e: Option<&WriteError>) {
    if let Some(WriteError::Sql(e)) = e
        && e.severity() >= DAMAGE
    {
        notes.fail(e.clone());
    }
}

impl Capture for RowHobt {
    fn begin_capture(&self, columns: &[usize], file: Box<dyn SpillFile>) {
        assert!(self.spec.kind != HobtKind::Nonclustered, "rows are captured, not entries");
        self.state.captures.begin(columns, file);
    }

    fn take_captured(&self, next: Box<dyn SpillFile>) -> SqlResult<Box<dyn SpillFile>> {
        let notes = self.state.captures.notes().expect("who takes notes has them noted");
        notes.take(next)
    }

    fn note_again(&self, note: &[u8]) {
        let notes = self.state.captures.notes().expect("who takes notes has them noted");
        notes.add(note);
    }

    fn end_capture(&self) {
        self.state.captures.end();
    }

    fn set_private(&self, private: bool) {
        for hobt in [Some(self), self.large.as_deref()].into_iter().flatten() {
            hobt.state.private.store(private, Release);
        }
        self.state.numbers_twins.store(false, Release);
    }

    fn number_twins(&self) {
        assert!(self.is_private(), "all others number them always");
        self.state.numbers_twins.store(true, Release);
    }
}

impl RowHobt {
    /// Whether an inserted row keeps the uniquifier that it has.
    #[inline]
    pub(crate) fn keeps_uniquifiers(&self) -> bool {
        self.is_private() && !self.state.numbers_twins.load(Relaxed)
    }

    /// Whether only the transaction that made the hobt, and now works on it, knows it.
    #[inline]
    pub(crate) fn is_private(&self) -> bool {
        self.state.private.load(Relaxed)
    }
}
