//! The cells of a stream's row. A cell is written when it is first read, and kept until the next
//! row.

use page::Field;
use std::cell::{OnceCell, RefCell};

/// The cells of one row.
pub(crate) struct Cells {
    cells: Vec<OnceCell<Option<Vec<u8>>>>,
    /// The cells that have been written.
    written: RefCell<Vec<usize>>,
}

impl Cells {
    pub(crate) fn new(columns: usize) -> Cells {
        let cells = (0..columns).map(|_| OnceCell::new()).collect();
        Cells { cells, written: RefCell::default() }
    }

    /// Forgets the row.
    pub(crate) fn clear(&mut self) {
        for column in self.written.get_mut().drain(..) {
            self.cells[column].take();
        }
        debug_assert!(self.cells.iter().all(|c| c.get().is_none()), "nothing is left of a row");
    }

    /// A cell. `write` writes its stored bytes, or returns false for NULL.
    pub(crate) fn field(
        &self,
        column: usize,
        write: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Field<'_> {
        let cell = self.cells[column].get_or_init(|| {
            self.written.borrow_mut().push(column);
            let mut bytes = Vec::new();
            write(&mut bytes).then_some(bytes)
        });
        cell.as_ref().map_or(Field::Null, |bytes| Field::Inline(bytes))
    }
}

/// Stored bytes of an nvarchar.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) -> bool {
    out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    true
}

/// Stored bytes of a whole number; NULL for `None`.
macro_rules! put_number {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(out: &mut Vec<u8>, n: Option<$type>) -> bool {
            out.extend_from_slice(&n.unwrap_or_default().to_le_bytes());
            n.is_some()
        }
    };
}
put_number!(put_small, i16);
put_number!(put_int, i32);
put_number!(put_big, i64);
