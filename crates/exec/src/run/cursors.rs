//! The cursors of a run, by the numbers under which operators know them.

use access::{BatchCursor, RowCursor, TableReads};

/// Cursors kept in place: few plans have more.
const CURSORS_INLINE: usize = 4;

/// The cursors of a run by number. A few need no allocation.
pub(crate) struct Cursors<'r> {
    few: [Option<Box<dyn RowCursor + 'r>>; CURSORS_INLINE],
    more: Vec<Option<Box<dyn RowCursor + 'r>>>,
    /// Cursors that give batches, with their numbers.
    batches: Vec<(usize, Box<dyn BatchCursor + 'r>)>,
}

impl<'r> Cursors<'r> {
    pub(super) fn new(count: usize) -> Self {
        let more = match count <= CURSORS_INLINE {
            true => Vec::new(),
            false => (CURSORS_INLINE..count).map(|_| None).collect(),
        };
        Cursors { few: [const { None }; CURSORS_INLINE], more, batches: Vec::new() }
    }

    #[inline]
    pub(crate) fn at(&mut self, cursor: usize) -> &mut Option<Box<dyn RowCursor + 'r>> {
        match cursor.checked_sub(CURSORS_INLINE) {
            None => &mut self.few[cursor],
            Some(i) => &mut self.more[i],
        }
    }

    /// A cursor that gives batches, if it is open.
    pub(crate) fn batches_at(&mut self, cursor: usize) -> Option<&mut Box<dyn BatchCursor + 'r>> {
        self.batches.iter_mut().find(|(n, _)| *n == cursor).map(|(_, open)| open)
    }

    /// Keeps a cursor that gives batches and has just been opened.
    pub(crate) fn put_batches(&mut self, cursor: usize, opened: Box<dyn BatchCursor + 'r>) {
        debug_assert!(self.batches_at(cursor).is_none(), "a cursor is opened once");
        self.batches.push((cursor, opened));
    }

    /// What a cursor has read, if it is open.
    pub(crate) fn reads(&mut self, cursor: usize) -> Option<TableReads> {
        match self.at(cursor) {
            Some(open) => Some(open.reads()),
            None => self.batches_at(cursor).map(|open| open.reads()),
        }
    }

    /// Calls `f` for each open cursor of rows.
    pub(super) fn each(&mut self, f: impl FnMut(&mut Box<dyn RowCursor + 'r>)) {
        self.few.iter_mut().chain(&mut self.more).flatten().for_each(f);
    }
}
