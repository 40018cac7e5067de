//! Divides a range into parts for several readers: pages of a heap, key ranges of a tree.
//!
//! A heap's pages are listed once and given out in stretches, in the order of allocation, so that
//! read-ahead still works. A tree is divided at separators of its interior pages, so that all parts
//! have about the same number of pages. Rows that are inserted or deleted during the scan may be
//! seen or not, as in a scan by one reader.
//!
//! Invariants
//!  1. The parts cover the range, and no key or page is in two of them.
//!  2. Each part is given out once.

use crate::error::RowResult;
use crate::heap::scan::HeapCursor;
use crate::hobt::RowHobt;
use crate::index::scan::{IndexCursor, Limit, limit};
use access::{Deed, Division, HobtKind, LockPlan, RowCursor, ScanRange};
use base::{PageId, SqlResult};
use btree::KeyBuf;
use os::counters::Event;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use work::Work;

/// Parts for each reader, so that all end at about the same time.
const PARTS_A_READER: usize = 32;
/// The fewest and the most pages of a part of a heap.
const HEAP_PAGES: (usize, usize) = (8, 512);
/// If there are more separators than this, only some of them are used.
const PARTS_MAX: usize = 1024;

/// Stretches of a heap's pages.
struct HeapParts<'h> {
    hobt: &'h RowHobt,
    plan: LockPlan,
    pages: Vec<PageId>,
    stretch: usize,
    next: AtomicUsize,
}

/// Ranges of keys.
struct KeyParts<'h> {
    hobt: &'h RowHobt,
    plan: LockPlan,
    lower: Option<Limit>,
    upper: Option<Limit>,
    backward: bool,
    between: Vec<KeyBuf>,
    next: AtomicUsize,
}

impl RowHobt {
    /// See [`access::TableSource::divide`].
    pub(crate) fn divided(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        plan: &LockPlan,
        readers: usize,
    ) -> RowResult<Box<dyn Division + '_>> {
        let wanted = readers.max(1) * PARTS_A_READER;
        let (plan, next) = (*plan, AtomicUsize::new(0));
        let whole = range.lower.is_none() && range.upper.is_none();
        let event = if whole { Event::FullScan } else { Event::RangeScan };
        self.home.pages.counters().add(event, 1);
        self.did(Deed::RangeScan);
        if self.spec.kind == HobtKind::Heap {
            let pages = self.home.space.unit_pages(&self.unit, work.owner().waiter())?.pages;
            let stretch = (pages.len() / wanted).clamp(HEAP_PAGES.0, HEAP_PAGES.1);
            return Ok(Box::new(HeapParts { hobt: self, plan, pages, stretch, next }));
        }
        let low = range.lower.map_or(&[][..], |bound| bound.fields);
        let high = range.upper.map_or(&[][..], |bound| bound.fields);
        let mut between = self.tree().separators(low, high, wanted, work.owner().waiter())?;
        between.retain(|key| self.is_inside(key, range));
        let every = between.len().div_ceil(PARTS_MAX.max(wanted)).max(1);
        if every > 1 {
            let mut at = 0;
            between.retain(|_| {
                at += 1;
                at % every == 0
            });
        }
        let (lower, upper) = (limit(&range.lower), limit(&range.upper));
        let backward = range.backward;
        Ok(Box::new(KeyParts { hobt: self, plan, lower, upper, backward, between, next }))
    }

    /// Whether a key lies inside a range. An exclusive end must not become part of a part.
    fn is_inside(&self, key: &KeyBuf, range: &ScanRange<'_>) -> bool {
        let fields = key.fields();
        let order = |bound: &access::KeyBound<'_>| {
            let both = bound.fields.len().min(fields.as_slice().len());
            let (own, end) = (&fields.as_slice()[..both], &bound.fields[..both]);
            self.tree().order().compare_keys(own, end)
        };
        let inside = |bound: &Option<access::KeyBound<'_>>, wanted: Ordering| {
            bound.as_ref().is_none_or(|b| match order(b) {
                Some(Ordering::Equal) => b.inclusive,
                found => found == Some(wanted),
            })
        };
        inside(&range.lower, Ordering::Greater) && inside(&range.upper, Ordering::Less)
    }
}

impl Division for HeapParts<'_> {
    fn next(&self, work: &mut Work) -> SqlResult<Option<Box<dyn RowCursor + '_>>> {
        let from = self.next.fetch_add(1, Relaxed).saturating_mul(self.stretch);
        let Some(rest) = self.pages.get(from..).filter(|rest| !rest.is_empty()) else {
            return Ok(None);
        };
        let pages = &rest[..self.stretch.min(rest.len())];
        let cursor = HeapCursor::of_pages(self.hobt, work, pages, &self.plan);
        Ok(Some(Box::new(cursor.map_err(|e| self.hobt.sql(e))?)))
    }
}

impl Division for KeyParts<'_> {
    fn next(&self, work: &mut Work) -> SqlResult<Option<Box<dyn RowCursor + '_>>> {
        let given = self.next.fetch_add(1, Relaxed);
        if given > self.between.len() {
            return Ok(None);
        }
        let part = if self.backward { self.between.len() - given } else { given };
        let ends = (part.checked_sub(1).map(|n| &self.between[n]), self.between.get(part));
        let whole = (self.lower.as_ref(), self.upper.as_ref());
        let how = (self.backward, &self.plan);
        let cursor = IndexCursor::between(self.hobt, work, ends, whole, how);
        Ok(Some(cursor.map_err(|e| self.hobt.sql(e))?))
    }
}
