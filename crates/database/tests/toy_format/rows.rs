//! The toy format: the records of a hobt in a `Vec`, in the order of their key.
//!
//! A change is there at once, for everybody, and for ever: there are no locks, no log, and nothing
//! that takes a change back. A record has the layout of a row, so that CHECKDB can look at it. Its
//! place is page 0 and its position.

use access::{
    BulkLoad, ElementHash, EntryPart, Fill, HobtKind, HobtPlaces, HobtSpec, InsertOutcome, Loader,
    LockPlan, PageHint, PageReader, RowCursor, RowFinding, RowKey, RowLocation, RowReport,
    ScanRange, Shape, SourceSize, Statistics, StorageFormat, StoredHobt, SweepPosition, SweepStep,
    TableSink, TableSource, Upkeep, Verifier, WriteError,
};
use base::{AllocUnitId, HobtId, ObjectId, PageId, SqlError, SqlResult, messages};
use os::sync::{Mutex, MutexGuard};
use os::wait::{CancelReason, Waiter};
use page::{Field, RecordKind, RowLayout};
use std::any::Any;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use work::{Home, Work};

/// Rows in a `Vec`, for the clustered indexes of some objects. It keeps them by the numbers of
/// their hobts, also while their database is closed.
pub(crate) struct ToyFormat {
    objects: Vec<ObjectId>,
    kept: Mutex<BTreeMap<HobtId, Arc<SharedRows>>>,
}

impl ToyFormat {
    pub(crate) fn of(objects: Vec<ObjectId>) -> ToyFormat {
        ToyFormat { objects, kept: Mutex::default() }
    }
}

impl StorageFormat for ToyFormat {
    fn stores(&self, spec: &HobtSpec) -> bool {
        self.objects.contains(&spec.object) && spec.kind == HobtKind::Clustered
    }

    fn open(
        &self,
        _home: &Arc<Home>,
        spec: HobtSpec,
        _places: HobtPlaces,
        _large: Option<(AllocUnitId, HobtPlaces)>,
    ) -> Arc<dyn StoredHobt> {
        let kept = self.kept.lock();
        let rows = kept.get(&spec.hobt).expect("it was made in this format");
        ToyHobt::of(spec, Arc::clone(rows))
    }

    fn create(
        &self,
        work: &mut Work,
        _home: &Arc<Home>,
        spec: HobtSpec,
        _large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>> {
        assert!(work.is_active(), "whoever makes a hobt has a transaction");
        let rows = Arc::<SharedRows>::default();
        self.kept.lock().insert(spec.hobt, Arc::clone(&rows));
        Ok(ToyHobt::of(spec, rows))
    }
}

/// So many pages a sweep finds here, which has none.
pub(crate) const SWEPT_PAGES: usize = 150;

/// What sweeps for records by aborted transactions have met.
#[derive(Default)]
pub(crate) struct Sweeps {
    /// How often one has come to the end.
    pub(crate) passes: u64,
    /// So many more steps find the table locked.
    pub(crate) locked: u64,
}

/// What all who have the hobt open share.
#[derive(Default)]
struct SharedRows {
    records: Mutex<Vec<Vec<u8>>>,
    dropped: AtomicBool,
    sweeps: Mutex<Sweeps>,
}

/// A hobt of the toy format.
pub(crate) struct ToyHobt {
    spec: HobtSpec,
    layout: RowLayout,
    shared: Arc<SharedRows>,
}

impl ToyHobt {
    fn of(spec: HobtSpec, shared: Arc<SharedRows>) -> Arc<ToyHobt> {
        let first = spec.widths.len() - spec.added.len();
        let mut layout = RowLayout::of_rows(&spec.widths[..first]);
        for (width, default) in spec.widths[first..].iter().zip(&spec.added) {
            layout.add_column(*width, default.as_deref());
        }
        Arc::new(ToyHobt { spec, layout, shared })
    }

    /// Cuts a record short, as damage would.
    pub(crate) fn damage(&self, at: usize) {
        self.shared.records.lock()[at].truncate(3);
    }

    /// What sweeps have met here.
    pub(crate) fn sweeps(&self) -> MutexGuard<'_, Sweeps> {
        self.shared.sweeps.lock()
    }

    fn encode(&self, row: &[Field<'_>]) -> Vec<u8> {
        let mut record = Vec::new();
        self.layout.encode(RecordKind::Primary, row, None, &mut record);
        record
    }

    fn field<'r>(&'r self, record: &'r [u8], column: usize) -> SqlResult<Field<'r>> {
        let damaged = || SqlError::new(messages::INVALID_OBJECT, &[&self.spec.hobt]);
        self.layout.field(record, column).ok_or_else(damaged)
    }

    /// A record against the first columns of a key. What is damaged is equal to nothing.
    fn order(&self, record: &[u8], key: &[Field<'_>]) -> Ordering {
        for (column, wanted) in self.spec.key.iter().zip(key) {
            let order = match (self.layout.field(record, column.leaf_column), wanted) {
                (Some(Field::Inline(a)), Field::Inline(b)) => (column.compare)(a, b, column.rule),
                (Some(Field::Null), Field::Null) => Ordering::Equal,
                (Some(Field::Inline(_)), Field::Null) => Ordering::Greater,
                _ => Ordering::Less,
            };
            match if column.descending { order.reverse() } else { order } {
                Ordering::Equal => {}
                order => return order,
            }
        }
        Ordering::Equal
    }

    fn key_of<'r>(&self, row: &[Field<'r>]) -> Vec<Field<'r>> {
        self.spec.key.iter().map(|k| row[k.leaf_column]).collect()
    }

    fn find(&self, records: &[Vec<u8>], key: &[Field<'_>]) -> Result<usize, usize> {
        records.binary_search_by(|record| self.order(record, key))
    }

    fn is_within(&self, record: &[u8], range: &ScanRange<'_>) -> bool {
        let beyond = |bound: &access::KeyBound<'_>, out: Ordering| {
            let order = self.order(record, bound.fields);
            order == out || order == Ordering::Equal && !bound.inclusive
        };
        !range.lower.as_ref().is_some_and(|bound| beyond(bound, Ordering::Less))
            && !range.upper.as_ref().is_some_and(|bound| beyond(bound, Ordering::Greater))
    }
}

/// The records that were there when the scan began.
struct ToyCursor<'h> {
    hobt: &'h ToyHobt,
    records: Vec<Vec<u8>>,
    /// One more than the position of the row it stands on.
    next: usize,
}

impl ToyCursor<'_> {
    fn begin(&mut self, range: &ScanRange<'_>) {
        let all = self.hobt.shared.records.lock();
        self.records =
            all.iter().filter(|record| self.hobt.is_within(record, range)).cloned().collect();
        if range.backward {
            self.records.reverse();
        }
        self.next = 0;
    }
}

impl RowCursor for ToyCursor<'_> {
    fn next(&mut self, _work: &mut Work) -> SqlResult<bool> {
        self.next += 1;
        Ok(self.next <= self.records.len())
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        self.hobt.field(&self.records[self.next - 1], column)
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, _work: &mut Work) {}

    fn rewind(&mut self, _work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.begin(range);
        Ok(())
    }
}

impl TableSource for ToyHobt {
    fn scan(
        &self,
        _work: &mut Work,
        range: &ScanRange<'_>,
        _locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        let mut cursor = ToyCursor { hobt: self, records: Vec::new(), next: 0 };
        cursor.begin(range);
        Ok(Box::new(cursor))
    }

    fn size(&self) -> SourceSize {
        SourceSize { rows: self.shared.records.lock().len() as u64, pages: 0 }
    }
}

impl TableSink for ToyHobt {
    fn insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        _locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        assert!(work.is_active(), "a row is written in a transaction");
        let mut records = self.shared.records.lock();
        match self.find(&records, &self.key_of(row)) {
            Ok(_) => Err(WriteError::Duplicate),
            Err(at) => {
                records.insert(at, self.encode(row));
                Ok(InsertOutcome::default())
            }
        }
    }

    fn update(
        &self,
        work: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let kept = {
            let mut records = self.shared.records.lock();
            let at = self.find(&records, key.fields).map_err(|_| WriteError::Vanished)?;
            records.remove(at)
        };
        let done = self.insert(work, row, locks);
        if done.is_err() {
            let mut records = self.shared.records.lock();
            if let Err(at) = self.find(&records, key.fields) {
                records.insert(at, kept);
            }
        }
        done
    }

    fn delete(&self, work: &mut Work, key: RowKey<'_>, _: &LockPlan) -> Result<(), WriteError> {
        assert!(work.is_active(), "a row is deleted in a transaction");
        let mut records = self.shared.records.lock();
        let at = self.find(&records, key.fields).map_err(|_| WriteError::Vanished)?;
        records.remove(at);
        Ok(())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

struct ToyLoader<'h> {
    hobt: &'h ToyHobt,
    records: Vec<Vec<u8>>,
}

impl BulkLoad for ToyHobt {
    fn load(&self, _work: &mut Work, _fill: Fill) -> SqlResult<Box<dyn Loader + '_>> {
        Ok(Box::new(ToyLoader { hobt: self, records: Vec::new() }))
    }
}

impl Loader for ToyLoader<'_> {
    fn push(&mut self, _work: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError> {
        let hobt = self.hobt;
        let order = self.records.last().map(|last| hobt.order(last, &hobt.key_of(row)));
        if order == Some(Ordering::Equal) {
            return Err(WriteError::Duplicate);
        }
        assert_ne!(order, Some(Ordering::Greater), "keys ascend");
        self.records.push(hobt.encode(row));
        Ok(())
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> SqlResult<u64> {
        let rows = self.records.len() as u64;
        *self.hobt.shared.records.lock() = self.records;
        Ok(rows)
    }
}

impl Shape for ToyHobt {
    fn spec(&self) -> &HobtSpec {
        &self.spec
    }

    fn places(&self) -> HobtPlaces {
        HobtPlaces { first_iam: PageId::NONE, root: PageId::NONE }
    }

    fn layout(&self) -> &RowLayout {
        &self.layout
    }

    fn with_columns(
        &self,
        _work: &mut Work,
        spec: HobtSpec,
        _large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>> {
        Ok(ToyHobt::of(spec, Arc::clone(&self.shared)))
    }

    fn without_large(&self) -> Arc<dyn StoredHobt> {
        ToyHobt::of(self.spec.clone(), Arc::clone(&self.shared))
    }

    fn in_place_of(&self, _former: &dyn StoredHobt) -> Arc<dyn StoredHobt> {
        ToyHobt::of(self.spec.clone(), Arc::clone(&self.shared))
    }
}

impl Verifier for ToyHobt {
    fn verify(
        &self,
        waiter: &Waiter,
        row: &mut dyn FnMut(RowLocation<'_>),
    ) -> Result<RowReport, CancelReason> {
        let mut report = RowReport { complete: true, ..RowReport::default() };
        for (slot, record) in self.shared.records.lock().iter().enumerate() {
            waiter.cancellation().map_or(Ok(()), Err)?;
            let (page, slot) = (PageId::NONE, slot as u16);
            match self.layout.check(record) {
                Ok(()) => {
                    report.rows += 1;
                    row(RowLocation { page, slot, record });
                }
                Err(fault) => {
                    report.complete = false;
                    report.findings.push(RowFinding::Record(page, slot, fault));
                }
            }
        }
        Ok(report)
    }

    fn entry_hash(&self, row: RowLocation<'_>, parts: &[EntryPart]) -> Option<u128> {
        let mut hash = ElementHash::default();
        for part in parts {
            let EntryPart::Column(column) = part else { return None };
            match self.layout.field(row.record, *column)? {
                Field::Null => hash.number(u64::MAX),
                Field::Inline(bytes) => {
                    hash.number(bytes.len() as u64);
                    hash.bytes(bytes);
                }
                Field::OffRow(_) => return None,
            }
        }
        Some(hash.end())
    }

    fn record_at(&self, _page: PageId, slot: u16) -> Option<Vec<u8>> {
        self.shared.records.lock().get(usize::from(slot)).cloned()
    }
}

impl Upkeep for ToyHobt {
    /// There are no versions, so nothing is reverted: pages are counted.
    fn revert_aborted(
        &self,
        _work: &Work,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> SqlResult<SweepStep> {
        let mut sweeps = self.sweeps();
        if sweeps.locked > 0 {
            sweeps.locked -= 1;
            let next = Some(from.cloned().unwrap_or_default());
            return Ok(SweepStep { next, ..SweepStep::default() });
        }
        let from = from.and_then(|at| at.0.first()).map_or(0, |at| usize::from(*at));
        let to = (from + budget).min(SWEPT_PAGES);
        let next = (to < SWEPT_PAGES).then(|| SweepPosition(vec![to as u8]));
        if next.is_none() {
            sweeps.passes += 1;
        }
        Ok(SweepStep { pages: to - from, reverted: 0, next })
    }

    fn mark_dropped(&self) {
        self.shared.dropped.store(true, Relaxed);
    }

    fn is_dropped(&self) -> bool {
        self.shared.dropped.load(Relaxed)
    }

    fn is_private(&self) -> bool {
        false
    }
}

impl Statistics for ToyHobt {
    fn row_count(&self, _waiter: &Waiter) -> SqlResult<u64> {
        Ok(self.size().rows)
    }

    fn measured_size(&self, _waiter: &Waiter) -> SqlResult<SourceSize> {
        Ok(self.size())
    }
}

impl PageReader for ToyHobt {}
