//! Reading: a source is scanned within a range of its key, a cursor stands on one row.

use crate::LockPlan;
use base::{PageId, SqlResult};
use os::clock::WallTime;
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

/// How large a source is, as far as it knows without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceSize {
    /// Rows.
    pub rows: u64,
    /// Pages.
    pub pages: u64,
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

/// Some pages of a source.
pub struct PageSample<'s> {
    /// Their rows.
    pub cursor: Box<dyn RowCursor + 's>,
    /// How many pages it reads, and of how many.
    pub pages: u64,
    /// All pages with rows; more than there are by those that are above them.
    pub of: u64,
    /// Rows of the source, where that is known.
    pub rows: Option<u64>,
}

/// What a plan does with a heap or index: sys.dm_db_index_usage_stats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It reads ranges of its key.
    Seek,
    /// It reads all of it.
    Scan,
    /// It looks up the rows of another index's entries.
    Lookup,
    /// It changes it.
    Update,
    /// No plan does it: it is read for statistics.
    SystemScan,
}

/// Rows that can be read: a heap, an index, a system view.
pub trait TableSource: Send + Sync {
    /// A statement begins to run whose plan uses it so: however often, or not at all, it comes to
    /// that. Counted where anybody asks.
    fn used(&self, _how: Use, _at: WallTime) {}

    /// Begins a scan. The cursor stands before its first row.
    ///
    /// # Errors
    /// Lock errors of the table lock, damaged pages, arguments out of range.
    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>>;

    /// Begins a scan of all rows with a cursor that outlives the source: where rows have no bound,
    /// as those of a log, so that nobody keeps them. Of other sources `None`.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn stream(&self) -> SqlResult<Option<Box<dyn RowCursor>>> {
        Ok(None)
    }

    /// How large it is.
    fn size(&self) -> SourceSize;

    /// Begins to read some of its pages, spread over all of them, without locks of rows. `wanted`
    /// says how many of so many; `None` where it wants all, or the source has no pages: then a scan
    /// is as good.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn sample(
        &self,
        _work: &mut Work,
        _wanted: &dyn Fn(SourceSize) -> u64,
    ) -> SqlResult<Option<PageSample<'_>>> {
        Ok(None)
    }

    /// Divides a range into parts for so many readers of one transaction. `None` where there is
    /// nothing to divide by. The locks must be such that rows are only asked about, not kept.
    ///
    /// # Errors
    /// Damaged pages.
    fn divide(
        &self,
        _work: &mut Work,
        _range: &ScanRange<'_>,
        _locks: &LockPlan,
        _readers: usize,
    ) -> SqlResult<Option<Box<dyn Division + '_>>> {
        Ok(None)
    }
}

/// A range in parts that several threads read side by side, each with cursors of its own. Parts are
/// given out in the order of the range.
pub trait Division: Send + Sync {
    /// Begins to read the next part that nobody has; `None` when all are given out.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn next(&self, work: &mut Work) -> SqlResult<Option<Box<dyn RowCursor + '_>>>;
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
    /// As [`TableSource::scan`].
    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()>;

    /// What it has read since it was made; nothing where no pages are.
    fn reads(&self) -> TableReads {
        TableReads::default()
    }
}
