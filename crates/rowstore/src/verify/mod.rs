//! Verifies a hobt: pages, records, order, links, ghosts, allocation against reachability, and
//! values off the rows against their pointers.
//!
//! Invariants
//!  1. Whatever the bytes are, the check ends and does not panic. It reports pages that cannot be
//!     read, and checks the others.
//!  2. Memory does not grow with the rows: pages are bits, values a fingerprint.

pub(crate) mod entry_hash;

use crate::current::CurrentRow;
use crate::hobt::RowHobt;
use crate::large::values::ValueCheck;
use crate::versions::is_cut_ghost;
use access::{HobtKind, RowFinding, RowLocation, RowReport};
use base::{Lsn, PageId};
use buffer::ReadAhead;
use os::wait::{CancelReason, Waiter};
use page::{
    Damage, Fault, Finding, PageKind, PageView, RecordKind, RowFault, RowLayout, home_of,
    stub_target,
};
use space::{PageSet, UnitSurvey};

/// The link of a heap's record to another place.
enum Link {
    /// From a stub to the place of its row.
    Stub((PageId, u16)),
    /// From a forwarded row, or its ghost, to its RID.
    Row((PageId, u16)),
}

/// A walk over the pages of one hobt.
struct Walk<'h, 'r> {
    hobt: &'h RowHobt,
    waiter: &'r Waiter,
    row: &'r mut dyn FnMut(RowLocation<'_>),
    newest: Lsn,
    reached: PageSet,
    found: Vec<RowFinding>,
    rows: u64,
    pages: Vec<PageId>,
}

impl RowHobt {
    /// Checks everything about the hobt's pages. No other thread changes it meanwhile. `row` sees
    /// every live record that has the form of its layout, with its page latched.
    ///
    /// # Errors
    /// The waiter's cancellation, which is checked at each page; then there is no report.
    pub(crate) fn verify(
        &self,
        waiter: &Waiter,
        row: &mut dyn FnMut(RowLocation<'_>),
    ) -> Result<RowReport, CancelReason> {
        let Some(large) = &self.large else { return self.verify_pages(waiter, row) };
        assert_ne!(large.spec.unit, self.spec.unit, "values off the rows have a unit of their own");
        let mut values = ValueCheck::default();
        let mut report = self.verify_pages(waiter, &mut |r| {
            values.see_row(self, r);
            row(r);
        })?;
        report.large = values.compare(self, large, report.complete, waiter)?;
        Ok(report)
    }

    pub(crate) fn verify_pages(
        &self,
        waiter: &Waiter,
        row: &mut dyn FnMut(RowLocation<'_>),
    ) -> Result<RowReport, CancelReason> {
        let survey = self.home.space.survey(&self.unit, waiter)?;
        let mut walk = Walk {
            hobt: self,
            waiter,
            row,
            newest: self.home.log().next_lsn(),
            reached: PageSet::default(),
            found: Vec::new(),
            rows: 0,
            pages: Vec::new(),
        };
        match &self.tree {
            Some(tree) => {
                let found = tree.verify(waiter, &mut |id, view| walk.tree_page(id, view))?;
                for finding in &found {
                    walk.reached.insert(finding.page);
                }
                walk.found.extend(found.into_iter().map(RowFinding::Page));
            }
            None => walk.heap(&survey)?,
        }
        walk.allocation(&survey)?;
        let hides = |f: &RowFinding| match f {
            RowFinding::Page(f) => hides_records(f),
            RowFinding::Record(..) | RowFinding::NoForwarded(..) | RowFinding::NoStub(..) => true,
            // Pages of a heap are known by its maps only.
            RowFinding::NotAllocated(_) | RowFinding::NotInIam(_) => self.tree.is_none(),
            _ => false,
        };
        let followed = self.tree.is_some() || survey.findings.is_empty();
        Ok(RowReport {
            complete: followed && !walk.found.iter().any(hides),
            rows: walk.rows,
            pages: survey.found.pages.len() as u64,
            findings: walk.found,
            large: Vec::new(),
        })
    }

    /// A copy of a record, for messages. A forwarded row is found by its RID.
    pub(crate) fn record_at(&self, page: PageId, slot: u16) -> Option<Vec<u8>> {
        let record = |(page, slot)| {
            let guard = self.home.pages.read(page).ok()?;
            guard.view().record(slot).map(<[u8]>::to_vec)
        };
        let found = record((page, slot))?;
        match stub_target(&found) {
            Some(to) => record(to).filter(|row| home_of(row) == Some((page, slot))),
            None => Some(found),
        }
    }
}

impl Walk<'_, '_> {
    fn tree_page(&mut self, id: PageId, view: PageView<'_>) {
        debug_assert!(self.hobt.tree.is_some(), "a heap is known by its maps");
        self.reached.insert(id);
        self.pages.push(id);
        let hobt = self.hobt;
        let interior = hobt.tree.as_ref().map(btree::Tree::interior_layout);
        match interior.filter(|_| view.level() > 0) {
            Some(layout) => self.body(id, view, layout, false),
            None => self.body(id, view, &hobt.layout, true),
        }
    }

    /// Checks that are the same for every page: the header's constants, its LSN, the records' form.
    fn body(&mut self, id: PageId, view: PageView<'_>, layout: &RowLayout, rows: bool) {
        for damage in page::header_damages(view.0) {
            self.found.push(RowFinding::Page(Finding::damage(id, damage)));
        }
        if view.lsn() >= self.newest {
            // The cleaner changes pages meanwhile.
            self.newest = self.hobt.home.log().next_lsn();
        }
        if view.lsn() >= self.newest || view.lsn() == Lsn::ZERO {
            let damage = Damage::Header { field: "m_lsn", stored: view.lsn().vlf(), expected: 0 };
            self.found.push(RowFinding::Page(Finding::damage(id, damage)));
        }
        for slot in 0..view.slot_count() {
            let Some(record) = view.record(slot) else { continue };
            let kind = RecordKind::of(record[0]);
            let fits = match self.hobt.spec.kind {
                _ if !rows => kind == RecordKind::Index,
                HobtKind::Nonclustered => kind.is_index(),
                HobtKind::Heap if kind == RecordKind::Forwarded => home_of(record).is_some(),
                HobtKind::Heap if kind == RecordKind::ForwardingStub => continue,
                HobtKind::Heap | HobtKind::Clustered => {
                    matches!(kind, RecordKind::Primary | RecordKind::GhostData)
                }
            };
            if !fits {
                // The check of a tree reports this itself.
                if self.hobt.tree.is_none() {
                    let text = "the record's kind fits its page";
                    let finding = Finding::new(id, Fault::Kind, text).at(slot).of(kind as i64, 0);
                    self.found.push(RowFinding::Page(finding));
                }
                continue;
            }
            self.record(layout, rows, RowLocation { page: id, slot, record });
        }
    }

    fn record(&mut self, layout: &RowLayout, rows: bool, at: RowLocation<'_>) {
        let RowLocation { page, slot, record } = at;
        let is_ghost = page::is_ghost_record(record);
        let is_heap = self.hobt.spec.kind == HobtKind::Heap;
        let is_clustered = self.hobt.spec.kind == HobtKind::Clustered && rows;
        let trailer = if is_clustered { record[1] } else { 0 };
        match layout.check(record) {
            Ok(()) if trailer != 0 => {
                let found = usize::from(trailer);
                let fault = RowFault { test: "status B is zero", found, wanted: 0 };
                self.found.push(RowFinding::Record(page, slot, fault));
            }
            // It may have columns whose addition was rolled back.
            Err(_) if rows && is_ghost && !self.hobt.spec.added.is_empty() => self.current_row(at),
            Err(_) if is_heap && is_cut_ghost(record) => self.current_row(at),
            Err(fault) => self.found.push(RowFinding::Record(page, slot, fault)),
            Ok(()) if rows => self.current_row(at),
            Ok(()) => {}
        }
    }

    /// Hands over the current row of a record, if there is one.
    fn current_row(&mut self, at: RowLocation<'_>) {
        let RowLocation { page, slot, record } = at;
        let mut former = Vec::new();
        let row = match self.hobt.current(record, (page, slot)) {
            CurrentRow::Row(row) => row,
            CurrentRow::Ghost => return,
            // If it cannot be read, a reader gets the error; it is no finding here.
            CurrentRow::Former(before) => {
                match self.hobt.former_row((record, page), before, &mut former) {
                    Ok(true) => &former,
                    Ok(false) | Err(_) => return,
                }
            }
        };
        self.rows += 1;
        let is_heap = self.hobt.spec.kind == HobtKind::Heap;
        let away = if is_heap { home_of(record) } else { None };
        let (page, slot) = away.unwrap_or((page, slot));
        (self.row)(RowLocation { page, slot, record: row });
    }

    fn heap(&mut self, survey: &UnitSurvey) -> Result<(), CancelReason> {
        assert_eq!(self.hobt.spec.kind, HobtKind::Heap, "only a heap is known by its maps");
        assert!(self.pages.is_empty(), "a heap's pages are known by its maps alone");
        let (mut ahead, mut before) = (ReadAhead::whole(), PageId::NONE);
        for id in &survey.found.pages {
            self.waiter.check()?;
            self.reached.insert(*id);
            ahead.step(&self.hobt.home.pages, before, *id);
            before = *id;
            match self.heap_page(*id) {
                Ok(links) => self.forwarding(*id, links),
                Err(finding) => self.found.push(RowFinding::Page(finding)),
            }
        }
        // A heap keeps its pages, so one that was written since the heap was made is allocated.
        let Some(made) = survey.made else { return Ok(()) };
        for id in &survey.unallocated {
            self.waiter.check()?;
            let Ok(guard) = self.hobt.home.pages.read(*id) else { continue };
            let v = guard.view();
            let ours = v.alloc_unit() == self.hobt.spec.unit && v.kind() == Some(PageKind::Data);
            if ours && v.lsn() > made {
                self.found.push(RowFinding::NotAllocated(*id));
            }
        }
        let root = self.hobt.places.root;
        if !survey.found.extents.contains(&root.extent()) {
            self.found.push(RowFinding::NotInIam(root));
        }
        Ok(())
    }

    /// Checks a page of the heap. Returns its links to other places.
    fn heap_page(&mut self, id: PageId) -> Result<Vec<(u16, Link)>, Finding> {
        let hobt = self.hobt;
        let guard = hobt.home.pages.read(id);
        let guard = guard.map_err(|e| Finding::new(id, Fault::Unreadable, e.to_string()))?;
        let v = guard.view();
        heap_header(id, v, hobt).map_or(Ok(()), Err)?;
        page::fits::header(v).map_err(|what| Finding::new(id, Fault::Header, what))?;
        for damage in page::damages(v.0) {
            self.found.push(RowFinding::Page(Finding::damage(id, damage)));
        }
        self.body(id, v, &hobt.layout, true);
        let link = |record: &[u8]| match stub_target(record) {
            Some(to) => Some(Link::Stub(to)),
            None => home_of(record).map(Link::Row),
        };
        Ok((0..v.slot_count()).filter_map(|s| Some((s, link(v.record(s)?)?))).collect())
    }

    /// Checks that stubs lead to rows, and that forwarded rows have stubs.
    fn forwarding(&mut self, id: PageId, links: Vec<(u16, Link)>) {
        for (slot, link) in links {
            let (home, place) = match link {
                Link::Stub(to) => ((id, slot), to),
                Link::Row(home) => (home, (id, slot)),
            };
            let ends = self.hobt.both_ends(home, place).ok();
            match (link, ends) {
                (Link::Stub(to), None | Some((true, false))) => {
                    self.found.push(RowFinding::NoForwarded(id, slot, to));
                }
                (Link::Row(home), None | Some((false, true))) => {
                    self.found.push(RowFinding::NoStub(id, slot, home));
                }
                // Both agree, or a ghost was removed meanwhile.
                _ => {}
            }
        }
    }

    /// Compares the allocated pages with those that were reached.
    fn allocation(&mut self, survey: &UnitSurvey) -> Result<(), CancelReason> {
        let mut allocated = PageSet::default();
        for page in &survey.found.pages {
            self.waiter.check()?;
            allocated.insert(*page);
            if !self.reached.contains(*page) {
                self.found.push(RowFinding::Unreachable(*page));
            }
        }
        let mut owned = PageSet::default();
        for e in &survey.found.extents {
            owned.insert(e.first_page());
        }
        for page in std::mem::take(&mut self.pages) {
            self.waiter.check()?;
            debug_assert!(self.reached.contains(page), "what was seen is reached");
            if allocated.contains(page) {
                continue;
            }
            self.found.push(match owned.contains(page.extent().first_page()) {
                true => RowFinding::NotAllocated(page),
                false => RowFinding::NotInIam(page),
            });
        }
        Ok(())
    }
}

/// Whether records may have been missed because of a finding.
fn hides_records(f: &Finding) -> bool {
    match &f.damage {
        Some(Damage::FreeCount { .. } | Damage::FreeData(_) | Damage::GhostCount { .. }) => false,
        // A page with one of these is no page of the hobt.
        Some(Damage::Header { field, .. }) => {
            matches!(*field, "pminlen" | "m_prevPage" | "m_nextPage")
        }
        _ => f.fault.hides_records(),
    }
}

/// The reason why a page does not belong to a heap, if there is one.
fn heap_header(id: PageId, v: PageView<'_>, hobt: &RowHobt) -> Option<Finding> {
    if v.page_id() != id {
        return Some(Finding::new(
            id,
            Fault::PageId,
            format!("it says that it is {}", v.page_id()),
        ));
    }
    if v.alloc_unit() != hobt.spec.unit {
        let finding = Finding::new(id, Fault::Unit, "the page belongs to another unit");
        return Some(finding.of(v.alloc_unit().0.into(), hobt.spec.unit.0.into()));
    }
    if v.kind() != Some(PageKind::Data) {
        let finding = Finding::new(id, Fault::PageKind, "the page is no page of a heap");
        return Some(finding.of(v.kind_byte().into(), PageKind::Data as i64));
    }
    if v.level() != 0 {
        let finding = Finding::new(id, Fault::Level, "a heap has one level");
        return Some(finding.of(v.level().into(), 0));
    }
    let links = [("m_prevPage", v.prev_page()), ("m_nextPage", v.next_page())];
    let fields = links.map(|(field, link)| (field, u32::from(!link.is_none()), 0));
    let min_len = ("pminlen", u32::from(v.min_len()), u32::from(hobt.layout.min_len()));
    let wrong = fields.into_iter().chain([min_len]).find(|(_, stored, wanted)| stored != wanted);
    let (field, stored, expected) = wrong?;
    Some(Finding::damage(id, Damage::Header { field, stored, expected }))
}
