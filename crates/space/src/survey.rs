//! The pages of a unit, found by its IAM chain and the PFS: for scans, and for a comparison with
//! the pages that its heap or index reaches.
//!
//! Invariants
//!  1. [`Space::unit_pages`] returns all pages or fails. [`Space::survey`] goes on where it can,
//!     and reports what it could not follow.
//!  2. A chain ends: each IAM page has the sequence number after its predecessor's.

use crate::claim::interval_fault;
use crate::finding::{Finding, Findings};
use crate::map::is_system_extent;
use crate::space::Space;
use crate::{AllocUnit, SpaceError, iam, pfs_page};
use base::{AllocUnitId, ExtentId, FileId, Lsn, PageId};
use os::wait::{CancelReason, Waiter};
use page::{ExtentBits, PageKind, PageView, Pfs};
use std::collections::BTreeMap;

/// The pages of one unit.
#[derive(Clone, Debug, Default)]
pub struct UnitPages {
    /// Allocated pages of its extents, ascending within an extent.
    pub pages: Vec<PageId>,
    /// Its IAM pages, head first.
    pub iam_pages: Vec<PageId>,
    /// Extents it owns.
    pub extents: Vec<ExtentId>,
}

/// The pages of a unit whose maps may be damaged.
#[derive(Clone, Debug, Default)]
pub struct UnitSurvey {
    /// What could be followed.
    pub found: UnitPages,
    /// Pages of its extents that are not allocated.
    pub unallocated: Vec<PageId>,
    /// What is wrong with its chain.
    pub findings: Findings,
    /// No page of the unit is older; none where that is not known.
    pub made: Option<Lsn>,
}

impl Space {
    /// The pages of a unit, by its IAM chain and the PFS.
    ///
    /// # Errors
    /// Damaged maps; the waiter's cancellation.
    pub fn unit_pages(&self, unit: &AllocUnit, waiter: &Waiter) -> Result<UnitPages, SpaceError> {
        let mut found = UnitPages::default();
        let mut at = unit.first_iam;
        while !at.is_none() {
            waiter.check()?;
            let guard = self.iam(unit, at, found.iam_pages.len())?;
            found.iam_pages.push(at);
            at = guard.view().next_page();
        }
        self.each_extent(unit, &mut |space, e| {
            waiter.check()?;
            found.extents.push(e);
            let pfs = space.map(pfs_page(e.first_page()), PageKind::Pfs)?;
            for n in e.first_page().page..e.first_page().page + 8 {
                if Pfs::get(pfs.view(), n).is_allocated() {
                    found.pages.push(PageId { file: e.file, page: n });
                }
            }
            Ok(())
        })?;
        debug_assert!(found.pages.len() <= 8 * found.extents.len(), "eight pages an extent");
        debug_assert!(
            found.extents.is_empty() || !found.iam_pages.is_empty(),
            "extents by IAM pages"
        );
        Ok(found)
    }

    /// The same as far as the maps can be followed, and what is wrong with the unit's chain.
    ///
    /// # Errors
    /// The waiter's cancellation.
    pub fn survey(&self, unit: &AllocUnit, waiter: &Waiter) -> Result<UnitSurvey, CancelReason> {
        let mut survey = UnitSurvey::default();
        let mut intervals: BTreeMap<(FileId, u32), PageId> = BTreeMap::new();
        let mut at = unit.first_iam;
        while !at.is_none() {
            waiter.check()?;
            let (next, extents) = self.survey_iam(unit.id, at, &mut intervals, &mut survey);
            for e in extents {
                waiter.check()?;
                self.survey_extent(unit.id, e, &mut survey);
            }
            at = next;
        }
        let UnitPages { pages, iam_pages, extents } = &survey.found;
        debug_assert!(
            pages.len() + survey.unallocated.len() <= 8 * extents.len(),
            "eight an extent"
        );
        debug_assert!(intervals.len() <= iam_pages.len(), "an IAM page covers one interval");
        Ok(survey)
    }

    /// Looks at one IAM page: the next, none where the chain cannot be followed, and the extents
    /// that it says the unit has.
    fn survey_iam(
        &self,
        unit: AllocUnitId,
        at: PageId,
        intervals: &mut BTreeMap<(FileId, u32), PageId>,
        survey: &mut UnitSurvey,
    ) -> (PageId, Vec<ExtentId>) {
        const END: (PageId, Vec<ExtentId>) = (PageId::NONE, Vec::new());
        debug_assert!(!at.is_none(), "a chain goes on at a page");
        debug_assert!(intervals.len() <= survey.found.iam_pages.len(), "invariant 2");
        let guard = match self.pages.read(at) {
            Ok(guard) => guard,
            Err(_) => {
                let what = "the page cannot be read";
                survey.findings.push(Finding::Unreadable(at, unit, what));
                return END;
            }
        };
        let v = guard.view();
        if let Some(what) = iam_fault(v, at, unit) {
            survey.findings.push(Finding::Unreadable(at, unit, what));
            return END;
        }
        let (file, range) = iam::interval(v);
        if self.size_pages(file).is_none_or(|size| range.start >= size / 8) {
            survey.findings.push(Finding::Unreadable(at, unit, "interval"));
            return END;
        }
        debug_assert!(range.start.is_multiple_of(page::EXTENTS_PER_INTERVAL), "checked above");
        let expected = survey.found.iam_pages.len() as u32;
        if iam::sequence(v) != expected {
            let finding = Finding::Chain(unit, at, iam::sequence(v), expected);
            survey.findings.push(finding);
            return END;
        }
        if expected == 0 {
            survey.made = Some(iam::made(v)).filter(|lsn| *lsn != Lsn::ZERO);
        }
        for damage in page::header_damages(v.0) {
            survey.findings.push(Finding::Header(at, unit, damage));
        }
        survey.found.iam_pages.push(at);
        if let Some(other) = intervals.insert((file, range.start), at) {
            survey.findings.push(Finding::IntervalTwice(unit, other, at));
        }
        let next = v.next_page();
        let (mut extents, mut from) = (Vec::new(), range.start);
        while let Some(e) = ExtentBits::first_set(v, from, range.end) {
            extents.push(ExtentId { file, extent: e });
            from = e + 1;
        }
        debug_assert!(extents.is_sorted(), "extents are found in order");
        debug_assert!(extents.iter().all(|e| range.contains(&e.extent)), "within the interval");
        (next, extents)
    }

    fn survey_extent(&self, unit: AllocUnitId, e: ExtentId, survey: &mut UnitSurvey) {
        let end = self.size_pages(e.file).unwrap_or(0) / 8;
        if is_system_extent(e.extent) || e.extent >= end {
            return survey.findings.push(Finding::Stray(e, unit));
        }
        survey.found.extents.push(e);
        // The check of all extents reports a PFS page that cannot be read.
        let Ok(pfs) = self.map(pfs_page(e.first_page()), PageKind::Pfs) else { return };
        let before = survey.found.pages.len() + survey.unallocated.len();
        for n in e.first_page().page..e.first_page().page + 8 {
            let page = PageId { file: e.file, page: n };
            match Pfs::get(pfs.view(), n).is_allocated() {
                true => survey.found.pages.push(page),
                false => survey.unallocated.push(page),
            }
        }
        let after = survey.found.pages.len() + survey.unallocated.len();
        debug_assert_eq!(after - before, 8, "each page is allocated or not");
    }
}

/// Why a page is no page of the maps of a kind.
pub fn map_fault(v: PageView<'_>, id: PageId, kind: PageKind) -> Option<&'static str> {
    if v.page_id() != id {
        return Some("page ID");
    }
    if v.kind() != Some(kind) {
        return Some("type");
    }
    if kind != PageKind::Iam && v.alloc_unit() != AllocUnitId(0) {
        return Some("alloc unit ID");
    }
    let links = !v.prev_page().is_none() || (kind != PageKind::Iam && !v.next_page().is_none());
    let counts = (v.level(), v.slot_count(), v.ghost_count(), v.min_len());
    if links || counts != (0, 0, 0, 0) || (v.free_count(), v.free_data()) != (8096, 96) {
        return Some("link or count");
    }
    None
}

fn iam_fault(v: PageView<'_>, id: PageId, unit: AllocUnitId) -> Option<&'static str> {
    if v.alloc_unit() != unit {
        return Some("alloc unit ID");
    }
    map_fault(v, id, PageKind::Iam).or_else(|| interval_fault(v)).or_else(|| iam::unused_fault(v))
}
