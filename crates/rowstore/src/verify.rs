//! Verifying a hobt: pages, order, links, ghosts, and allocation against reachability.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use base::PageId;
use page::{PageKind, RecordKind};
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong, for CHECKDB to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFinding {
    /// A finding of the tree.
    Tree(btree::Finding),
    /// A page of a heap: its slots are damaged.
    Heap(PageId, &'static str),
    /// A page is allocated to the hobt and nothing leads to it: 8979.
    Unreachable(PageId),
    /// A page is reached and not allocated to the hobt: 8948.
    NotAllocated(PageId),
    /// A row points at a value off it that is not there, or not whole: 8965.
    ValueMissing(PageId),
    /// A value is there that no row points at: 8964.
    ValueUnreferenced(PageId),
    /// The maps cannot be followed.
    Maps(String),
}

/// Values off the rows: bytes that rows expect of them, and where one of the rows is.
#[derive(Default)]
struct ValueCheck {
    expected: BTreeMap<u64, (u64, PageId)>,
}

impl ValueCheck {
    fn see_row(&mut self, hobt: &RowHobt, page: PageId, record: &[u8]) {
        if hobt.large().is_some() {
            let values = hobt.values_of(record).into_iter();
            self.expected.extend(values.map(|v| (v.value, (v.bytes, page))));
        }
    }

    /// Checks the tree of pieces, and that it holds what is expected and nothing else.
    fn compare(self, large: &RowHobt) -> Vec<RowFinding> {
        let mut held: BTreeMap<u64, (u64, PageId)> = BTreeMap::new();
        let mut findings = large.verify(&mut |page, record| {
            if let Some((value, bytes)) = large.piece_of(record) {
                held.entry(value).or_insert((0, page)).0 += bytes;
            }
        });
        for (value, (bytes, page)) in &self.expected {
            if held.get(value).map(|h| h.0) != Some(*bytes) {
                findings.push(RowFinding::ValueMissing(*page));
            }
        }
        let unknown = held.iter().filter(|(value, _)| !self.expected.contains_key(value));
        findings.extend(unknown.map(|(_, (_, page))| RowFinding::ValueUnreferenced(*page)));
        findings
    }
}

impl RowHobt {
    /// Checks everything about the hobt's pages. Nobody changes it meanwhile. `row` sees every
    /// live record.
    pub fn verify(&self, row: &mut dyn FnMut(PageId, &[u8])) -> Vec<RowFinding> {
        let mut values = ValueCheck::default();
        let row = &mut |page, record: &[u8]| {
            values.see_row(self, page, record);
            row(page, record);
        };
        let mut findings = Vec::new();
        let allocated: BTreeSet<PageId> = match self.home.space.unit_pages(&self.unit) {
            Ok(pages) => pages.pages.into_iter().collect(),
            Err(e) => return vec![RowFinding::Maps(e.to_string())],
        };
        let mut reached = BTreeSet::new();
        match &self.tree {
            Some(tree) => {
                let found = tree.verify(&mut |id, view| {
                    reached.insert(id);
                    if view.level() == 0 {
                        for slot in 0..view.slot_count() {
                            if let Some(r) = view.record(slot)
                                && !RecordKind::of(r[0]).is_ghost()
                            {
                                row(id, r);
                            }
                        }
                    }
                });
                findings.extend(found.into_iter().map(RowFinding::Tree));
            }
            None => {
                for id in &allocated {
                    reached.insert(*id);
                    if let Err(what) = self.verify_heap_page(*id, row) {
                        findings.push(what);
                    }
                }
            }
        }
        if let Some(large) = &self.large {
            findings.extend(values.compare(large));
        }
        findings.extend(allocated.difference(&reached).map(|p| RowFinding::Unreachable(*p)));
        findings.extend(reached.difference(&allocated).map(|p| RowFinding::NotAllocated(*p)));
        findings
    }

    fn verify_heap_page(
        &self,
        id: PageId,
        row: &mut dyn FnMut(PageId, &[u8]),
    ) -> Result<(), RowFinding> {
        let read = self.home.pages.read(id);
        let guard = read.map_err(|_| RowFinding::Heap(id, "the page cannot be read"))?;
        let view = guard.view();
        if view.kind() != Some(PageKind::Data) || view.alloc_unit() != self.spec.unit {
            return Err(RowFinding::Heap(id, "the page is not one of this heap"));
        }
        page::check_slots(view.0).map_err(|_| RowFinding::Heap(id, "its slots are damaged"))?;
        for slot in 0..view.slot_count() {
            if let Some(r) = view.record(slot)
                && !RecordKind::of(r[0]).is_ghost()
            {
                row(id, r);
            }
        }
        Ok(())
    }

    /// Counts the live rows, for sys.partitions after a start.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub(crate) fn count_all(&self) -> RowResult<u64> {
        let mut rows = 0;
        match &self.tree {
            Some(tree) => {
                let mut at =
                    tree.seek(btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast })?;
                while let Some(leaf) = at {
                    rows += u64::from(!RecordKind::of(leaf.record()[0]).is_ghost());
                    at = leaf.forward()?;
                }
            }
            None => {
                for id in self.home.space.unit_pages(&self.unit)?.pages {
                    let guard = self.home.pages.read(id)?;
                    let view = guard.view();
                    let live =
                        |s: &u16| view.record(*s).is_some_and(|r| !RecordKind::of(r[0]).is_ghost());
                    rows += (0..view.slot_count()).filter(live).count() as u64;
                }
            }
        }
        Ok(rows)
    }

    /// Rows as sys.partitions shows them, uncommitted ones included; counted at the first
    /// question after a start.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub fn row_count(&self) -> base::SqlResult<u64> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.rows_known.load(Relaxed) == 0 {
            let counted = self.count_all().map_err(|e| self.sql(e))?;
            self.rows.store(counted as i64, Relaxed);
            self.rows_known.store(1, Relaxed);
        }
        Ok(self.rows.load(Relaxed).max(0) as u64)
    }
}
