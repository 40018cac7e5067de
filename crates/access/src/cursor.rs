//! Reading: a cursor goes through a range of a source's key and stands on one row.

use base::{PageId, SqlResult};
use page::{Field, RowView};
use work::{PageReads, Work};

/// One end of a range: values for the first key columns.
#[derive(Clone, Copy, Debug)]
pub struct KeyBound<'a> {
    /// Stored bytes of the first so many key columns.
    pub fields: &'a [Field<'a>],
    /// Whether rows that equal them are within the range.
    pub inclusive: bool,
}

/// Which rows, in which direction. Without bounds: all.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanRange<'a> {
    /// Where rows begin in key order.
    pub lower: Option<KeyBound<'a>>,
    /// Where they end.
    pub upper: Option<KeyBound<'a>>,
    /// From the upper end to the lower.
    pub backward: bool,
}

impl<'a> ScanRange<'a> {
    /// Every row whose first key columns equal these.
    pub const fn equal(fields: &'a [Field<'a>]) -> Self {
        let bound = Some(KeyBound { fields, inclusive: true });
        ScanRange { lower: bound, upper: bound, backward: false }
    }
}

/// Where a row was seen last; only a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageHint {
    /// Its page.
    pub page: PageId,
    /// Its slot.
    pub slot: u16,
}

impl PageHint {
    /// As `%%physloc%%` and a RID have it: page 4, file 2, slot 2.
    pub fn bytes(self) -> [u8; 8] {
        page::rid_bytes(self.page, self.slot)
    }
}

/// What was read of a table: STATISTICS IO.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableReads {
    /// Scans and seeks that were begun, but for searches of one whole unique key.
    pub scans: u64,
    /// Pages of rows, of the index above them included.
    pub pages: PageReads,
    /// Pages of values off the rows.
    pub lob: PageReads,
    /// Ghosts that were passed because they are ghosts, those among them that no snapshot sees.
    pub ghosts: u64,
    /// Stored versions that were gone along to those that a snapshot sees.
    pub versions: u64,
}

impl TableReads {
    /// Adds what a cursor has just read, of which that beyond `lob` is counted already as of values
    /// off the rows.
    pub fn note(&mut self, all: PageReads, lob: PageReads) {
        let off_rows = self.lob.since(lob);
        add(&mut self.pages, &all.since(off_rows));
    }

    /// Adds what another cursor has read.
    pub fn add(&mut self, more: &TableReads) {
        self.scans += more.scans;
        add(&mut self.pages, &more.pages);
        add(&mut self.lob, &more.lob);
        self.ghosts += more.ghosts;
        self.versions += more.versions;
    }
}

fn add(to: &mut PageReads, more: &PageReads) {
    to.logical += more.logical;
    to.physical += more.physical;
    to.read_ahead += more.read_ahead;
}

/// A scan in progress. It holds no latch between calls.
pub trait RowCursor: Send {
    /// Moves to the next row; false after the last.
    ///
    /// # Errors
    /// 1205, 1222, cancellation, damaged pages.
    fn next(&mut self, work: &mut Work) -> SqlResult<bool>;

    /// The stored bytes of a physical column of the row it stands on.
    ///
    /// # Errors
    /// A damaged record (824).
    fn field(&self, column: usize) -> SqlResult<Field<'_>>;

    /// The record of the row it stands on, for whoever reads several columns; where there is none,
    /// or a column is off the row, `field` answers.
    fn view(&self) -> Option<RowView<'_>> {
        None
    }

    /// Where the row is: for changing it again without a search.
    fn hint(&self) -> Option<PageHint>;

    /// The row identifier in a heap: file, page, slot as 8 stored bytes.
    fn rid(&self) -> Option<[u8; 8]>;

    /// Whether the row it stands on is still as it was given, for whoever has read more of the same
    /// row elsewhere since. If not, or if that cannot be told, the cursor stands before it: `next`
    /// gives it as it is now, or what follows it.
    ///
    /// # Errors
    /// A damaged record (824).
    fn recheck(&mut self) -> SqlResult<bool> {
        Ok(true)
    }

    /// Gives the lock of the row back where its level allows it: the row did not qualify.
    fn release_row(&mut self, work: &mut Work);

    /// From now on what it gives stays locked when it goes on, as with
    /// [`LockPlan::kept_back`](crate::LockPlan::kept_back), where it locks what it gives for a
    /// change.
    fn keep_back(&mut self) {}

    /// Begins again with another range, keeping buffers: the inner side of a loop join.
    ///
    /// # Errors
    /// As [`TableSource::scan`](crate::TableSource::scan).
    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()>;

    /// What it has read since it was made; nothing where no pages are.
    fn reads(&self) -> TableReads {
        TableReads::default()
    }
}
