//! Values off the row: values too long for a record go to a tree of pieces beside the hobt.
//!
//! If a row would be longer than 8060 bytes, its longest variable columns move off it until it
//! fits. Each leaves a pointer of 16 bytes (number of the value, length). A value's pieces are
//! records `(number, piece; bytes)` of an ordinary tree in a unit of its own. So redo, undo, ghosts
//! and settling work as for rows.
//!
//!  1. Pieces are written before the row that points at them, and become ghosts after the row's
//!     change. So a reader that reads a live row under its page's latch finds every piece. Readers
//!     fetch the pieces under that latch.
//!  2. A value never changes. An update writes a new value and gives up the old one.
//!  3. Pieces have no locks: the lock of the row covers its values.
//!  4. New numbers follow the greatest in the tree, ghosts included. So no number is used again
//!     while pieces of its value are left.

pub(crate) mod piece;
pub(crate) mod values;

use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use crate::large::piece::{KEY_BYTES, PIECE_BYTES, POINTER_BYTES, Pointer, key_of};
use access::{Deed, HobtKind, LockPlan, RowKey, TableReads, WriteError};
use base::PageId;
use base::limits::RECORD_BYTES_MAX;
use btree::{Bias, SearchKey, SplitPolicy};
use buffer::Change;
use page::Field;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use work::Work;

/// The room for a uniquifier, which a row may get after it was made to fit.
const UNIQUIFIER_BYTES: usize = 8;
/// A batch of rows takes no more rows once it has this many bytes.
pub(crate) const BATCH_BYTES_MAX: usize = 1 << 20;

/// A value that was fetched for a copied row.
pub(crate) struct FetchedValue {
    pub(crate) row: usize,
    column: usize,
    bytes: Range<usize>,
}

/// The fetched field of a row, among the values of a batch.
pub(crate) fn fetched<'a>(
    values: &[FetchedValue],
    bytes: &'a [u8],
    row: usize,
    column: usize,
) -> Option<Field<'a>> {
    let found = values.iter().find(|v| v.row == row && v.column == column)?;
    debug_assert!(found.bytes.end <= bytes.len(), "a value is of its batch");
    Some(Field::Inline(&bytes[found.bytes.clone()]))
}

/// The part of a hobt whose rows have large values.
impl RowHobt {
    /// Makes a row fit, by moving its longest values off it if necessary, and writes it.
    pub(crate) fn store<R>(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        write: impl FnOnce(&mut Work, &[Field<'_>]) -> Result<R, WriteError>,
    ) -> Result<R, WriteError> {
        debug_assert!(self.is_row(row), "one field a column");
        let bytes = self.layout.encoded_len(row, false);
        let Some(large) = &self.large else {
            if bytes > RECORD_BYTES_MAX {
                return Err(WriteError::RowTooLong { bytes });
            }
            return write(work, row);
        };
        let joins = if self.spec.uniquifier { UNIQUIFIER_BYTES } else { 0 };
        if bytes + joins <= RECORD_BYTES_MAX {
            return write(work, row);
        }
        let off = self.columns_off(row, RECORD_BYTES_MAX - joins)?;
        assert!(!off.is_empty(), "a row that does not fit gives something up");
        let mut pointers = Vec::with_capacity(off.len());
        for &column in &off {
            let value = row[column].inline().unwrap_or_default();
            pointers.push(large.put_value(work, value).map_err(|e| self.write_error(e))?);
        }
        let spelled: Vec<_> = pointers.iter().map(|p| p.to_bytes()).collect();
        let mut stored = row.to_vec();
        for (&column, pointer) in off.iter().zip(&spelled) {
            stored[column] = Field::OffRow(pointer);
        }
        let fits = self.layout.encoded_len(&stored, false) + joins <= RECORD_BYTES_MAX;
        assert!(fits, "what is left in the row fits");
        self.did_times(Deed::PushedOffRow, off.len() as u64);
        let written = write(work, &stored);
        // These two errors do not end the statement, so no rollback would remove the values.
        if let Err(WriteError::Duplicate | WriteError::Vanished) = written {
            self.give_up(work, &pointers)?;
        }
        written
    }

    /// The columns that must move off a row, so that it is not longer than `limit`: the longest
    /// first.
    fn columns_off(&self, row: &[Field<'_>], limit: usize) -> Result<Vec<usize>, WriteError> {
        let pointer = [0; POINTER_BYTES];
        let mut stored = row.to_vec();
        let mut off = Vec::new();
        loop {
            let bytes = self.layout.encoded_len(&stored, false);
            if bytes <= limit {
                return Ok(off);
            }
            let may_go = |c: &usize| {
                self.spec.widths[*c].is_none() && self.spec.key.iter().all(|k| k.leaf_column != *c)
            };
            let length = |c: &usize| match stored[*c] {
                Field::Inline(b) => b.len(),
                Field::Null | Field::OffRow(_) => 0,
            };
            let longest = (0..stored.len()).filter(may_go).max_by_key(length);
            match longest.filter(|c| length(c) > POINTER_BYTES) {
                Some(column) => {
                    stored[column] = Field::OffRow(&pointer);
                    debug_assert!(!off.contains(&column), "a value goes once");
                    debug_assert!(self.layout.encoded_len(&stored, false) < bytes, "and helps");
                    off.push(column);
                }
                None => return Err(WriteError::RowTooLong { bytes }),
            }
        }
    }

    /// The large values of a row that is about to change. The row is locked X from here on.
    /// `Vanished` if it does not exist.
    pub(crate) fn values_before(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> Result<Vec<Pointer>, WriteError> {
        if self.large.is_none() {
            return Ok(Vec::new());
        }
        let found = match self.spec.kind {
            HobtKind::Heap => self
                .heap_row(work, key, plan)
                .map(|row| row.and_then(|row| row.record(self).map(|r| self.values_of(r)))),
            HobtKind::Clustered | HobtKind::Nonclustered => self
                .row_for_change(work, key, plan)
                .map(|leaf| leaf.and_then(|leaf| leaf.record().map(|r| self.values_of(r)))),
        };
        // A row that is inserted now is not the one to change, and its values are unknown here.
        found.map_err(|e| self.write_error(e))?.ok_or(WriteError::Vanished)
    }

    pub(crate) fn values_of(&self, record: &[u8]) -> Vec<Pointer> {
        let mut values = Vec::new();
        self.each_pointer(record, &mut |pointer| values.push(pointer));
        values
    }

    /// Calls `each` with every pointer of a row.
    pub(crate) fn each_pointer(&self, record: &[u8], each: &mut dyn FnMut(Pointer)) {
        for column in 0..self.spec.widths.len() {
            if let Some(Field::OffRow(bytes)) = self.layout.field(record, column)
                && let Some(pointer) = Pointer::of(bytes)
            {
                each(pointer);
            }
        }
    }

    /// Turns the pieces of values into ghosts, after no row points to them any more.
    pub(crate) fn give_up(&self, work: &mut Work, values: &[Pointer]) -> Result<(), WriteError> {
        let Some(large) = &self.large else {
            assert!(values.is_empty(), "whoever has values off its rows has where they are");
            return Ok(());
        };
        for value in values {
            large.ghost_value(work, *value).map_err(|e| self.write_error(e))?;
        }
        Ok(())
    }

    /// Fetches the large values of a row that is being copied. The row's page is latched.
    #[inline]
    pub(crate) fn fetch(
        &self,
        (record, page): (&[u8], PageId),
        row: usize,
        bytes: &mut Vec<u8>,
        values: &mut Vec<FetchedValue>,
        reads: &mut TableReads,
    ) -> RowResult<()> {
        let Some(large) = &self.large else { return Ok(()) };
        if !self.layout.view(record).is_some_and(|row| row.has_off_row()) {
            return Ok(());
        }
        let (before, of_rows) = (work::page_reads(), bytes.len());
        for column in 0..self.spec.widths.len() {
            if let Some(Field::OffRow(pointer)) = self.layout.field(record, column) {
                let from = bytes.len();
                let what = "a pointer off the row makes no sense";
                let pointer = Pointer::of(pointer);
                let pointer = pointer.ok_or_else(|| self.home.pages.corrupt(page, what))?;
                large.read_value(pointer, bytes)?;
                let came = (bytes.len() - from) as u64;
                debug_assert_eq!(came, pointer.bytes, "the whole value came");
                let after = |v: &FetchedValue| (v.row, v.column) < (row, column);
                debug_assert!(values.last().is_none_or(after), "values in the order of rows");
                values.push(FetchedValue { row, column, bytes: from..bytes.len() });
            }
        }
        let pages = work::page_reads().since(before);
        let counts = self.state.counts();
        counts.add(Deed::LobPages, pages.logical);
        counts.add(Deed::LobBytes, (bytes.len() - of_rows) as u64);
        reads.add(&TableReads { lob: pages, ..TableReads::default() });
        Ok(())
    }
}

/// The part of the tree of pieces.
impl RowHobt {
    /// Calls `each` with the pieces of the value to which a field points, in order.
    pub(crate) fn each_piece_at(
        &self,
        pointer: &[u8],
        each: &mut dyn FnMut(&[u8]),
    ) -> RowResult<()> {
        match Pointer::of(pointer) {
            Some(pointer) => self.each_piece(pointer, each),
            None => Err(self.lost(self.tree().root())),
        }
    }

    /// The number of a piece's value, the piece's own number, and its length.
    pub(crate) fn piece(&self, record: &[u8]) -> Option<(u64, u32, u64)> {
        let key = self.layout.field(record, 0)?.inline()?;
        let number = u32::from_be_bytes(*key.get(8..)?.first_chunk::<4>()?);
        let (value, bytes) = self.piece_of(record)?;
        Some((value, number, bytes))
    }

    /// The number of a piece's value, and the piece's length.
    pub(crate) fn piece_of(&self, record: &[u8]) -> Option<(u64, u64)> {
        let key = self.layout.field(record, 0)?.inline()?.first_chunk::<8>()?;
        let bytes = self.layout.field(record, 1)?.inline()?.len() as u64;
        Some((u64::from_be_bytes(*key), bytes))
    }

    fn next_value(&self) -> RowResult<u64> {
        debug_assert!(self.spec.pieces, "pieces have numbers");
        if self.state.next_value.load(Relaxed) == 0 {
            let last = self.tree().seek(SearchKey { fields: &[], bias: Bias::LastAtMost })?;
            let last = last.as_ref().and_then(|l| self.piece_of(l.record()));
            let last = last.map_or(0, |(value, _)| value);
            let what = "a value off the row has the last number there is";
            let next = last.checked_add(1);
            let next = next.ok_or_else(|| self.home.pages.corrupt(self.tree().root(), what))?;
            self.state.next_value.fetch_max(next, Relaxed);
        }
        let value = self.state.next_value.fetch_add(1, Relaxed);
        assert_ne!(value, 0, "rule 4: values are numbered from 1");
        Ok(value)
    }

    fn put_value(&self, work: &mut Work, value: &[u8]) -> RowResult<Pointer> {
        assert!(value.len() > POINTER_BYTES, "a short value stays in its row");
        let pointer = Pointer { value: self.next_value()?, bytes: value.len() as u64 };
        let pieces = value.chunks(PIECE_BYTES).len();
        assert_eq!(pointer.pieces() as usize, pieces, "who reads looks for as many");
        for (n, piece) in value.chunks(PIECE_BYTES).enumerate() {
            self.put_piece(work, &key_of(pointer.value, n as u32), piece)?;
        }
        Ok(pointer)
    }

    fn put_piece(&self, work: &mut Work, key: &[u8], piece: &[u8]) -> RowResult<()> {
        assert_eq!(key.len(), KEY_BYTES, "a piece has a value and a number");
        assert!((1..=PIECE_BYTES).contains(&piece.len()), "a piece is a page's at most");
        let mut record = Vec::with_capacity(piece.len() + 64);
        self.encode(&[Field::Inline(key), Field::Inline(piece)], &mut record);
        debug_assert!(record.len() <= RECORD_BYTES_MAX, "a piece is a record");
        let key = [Field::Inline(key)];
        let record = self.written(work, &record)?.record;
        loop {
            work.part(&self.home).reserve(2 * record.len() + 256)?;
            let leaf = self.tree().seek_write(&key)?;
            if leaf.is_exact() {
                let what = "a value off the row has a number behind the last";
                return Err(self.home.pages.corrupt(leaf.page_id(), what).into());
            }
            if !leaf.has_room(record.len()) {
                drop(leaf);
                self.room_for(work, &key, record.len(), SplitPolicy::Append)?;
                continue;
            }
            let session = work.session();
            let xsn = self.drawn(work);
            let part = work.part(&self.home);
            let (undo, begin) = (part.undo_of_row(xsn, self.spec.unit), part.begin());
            let before = part.chain.last;
            let mut change = Change::new(&self.home.pages, &mut part.group);
            begin.log(&mut change, session);
            let (page, slot) = leaf.join(&mut change);
            self.tree().insert(&mut change, page, slot, &record, undo)?;
            change.finish(&mut part.chain);
            debug_assert!(part.chain.last > before, "the change is its transaction's");
            part.logged(2 * record.len());
            self.count_rows(1);
            return Ok(());
        }
    }

    fn ghost_value(&self, work: &mut Work, pointer: Pointer) -> RowResult<()> {
        debug_assert!(self.spec.pieces, "a value is in a tree of pieces");
        self.draw(work)?;
        for piece in 0..pointer.pieces() {
            let key = key_of(pointer.value, piece);
            let fields = [Field::Inline(&key)];
            loop {
                work.part(&self.home).reserve(2048)?;
                let leaf = self.tree().seek_write(&fields)?;
                let at = (leaf.page_id(), leaf.slot());
                if leaf.record().is_some_and(|piece| self.is_aborted(piece, at)) {
                    drop(leaf);
                    self.revert_key(work, &fields)?;
                    continue;
                }
                if !leaf.record().is_some_and(|piece| self.is_row_to_change(piece, at)) {
                    return Err(self.lost(leaf.page_id()));
                }
                if self.ghost_record(work, leaf, &btree::KeyBuf::of(&fields))? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn read_value(&self, pointer: Pointer, out: &mut Vec<u8>) -> RowResult<()> {
        self.each_piece(pointer, &mut |piece| out.extend_from_slice(piece))
    }

    fn each_piece(&self, pointer: Pointer, each: &mut dyn FnMut(&[u8])) -> RowResult<()> {
        debug_assert!(self.spec.pieces, "a value is in a tree of pieces");
        let first = key_of(pointer.value, 0);
        let fields = [Field::Inline(&first)];
        let search = SearchKey { fields: &fields, bias: Bias::FirstAtLeast };
        let mut at = self.tree().seek(search)?;
        let mut left = pointer.bytes;
        for piece in 0..pointer.pieces() {
            let Some(leaf) = at else { return Err(self.lost(self.tree().root())) };
            let key = self.layout.field(leaf.record(), 0).and_then(|k| k.inline());
            let bytes = self.layout.field(leaf.record(), 1).and_then(|b| b.inline());
            let wanted = left.min(PIECE_BYTES as u64);
            match bytes.filter(|b| b.len() as u64 == wanted) {
                Some(b) if key == Some(&key_of(pointer.value, piece)) => each(b),
                _ => return Err(self.lost(leaf.page_id())),
            }
            debug_assert!(wanted > 0, "each piece brings something");
            left -= wanted;
            at = if left > 0 { leaf.forward()? } else { None };
        }
        debug_assert_eq!(left, 0, "as many pieces as the value has");
        Ok(())
    }

    #[cold]
    fn lost(&self, page: PageId) -> RowError {
        self.home.pages.corrupt(page, "a piece of a value off the row is missing").into()
    }
}
