//! Claims: pages are chosen before any latch is taken.
//!
//! Free pages of the unit's own extents come first, then a new extent, then a grown file. A chosen
//! page is promised to the claim until it is allocated or the claim is dropped: no other claim gets
//! it.

use crate::iam;
use crate::map::is_system_extent;
use crate::space::Space;
use crate::{AllocUnit, SpaceError, gam_page, pfs_page, sgam_page};
use base::{ExtentId, FileId, PageId};
use page::{ExtentBits, PageKind, PageView, Pfs};

/// One chosen page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChosenPage {
    pub(crate) page: PageId,
    /// Its extent is free in the GAM and becomes the unit's.
    pub(crate) new_extent: bool,
    /// It comes from a mixed extent.
    pub(crate) mixed: bool,
}

/// The promise of pages, taken back when dropped.
pub struct Claim<'s> {
    pub(crate) space: &'s Space,
    pub(crate) chosen: Vec<ChosenPage>,
}

impl Claim<'_> {
    /// How many pages are promised.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    pub(crate) fn has(&self, page: PageId) -> bool {
        self.chosen.iter().any(|c| c.page == page)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut promised = self.space.promised.lock();
        promised.pages.retain(|p| !self.chosen.iter().any(|c| c.page == *p));
        let fresh =
            |e: &ExtentId| self.chosen.iter().any(|c| c.new_extent && c.page.extent() == *e);
        promised.extents.retain(|e| !fresh(e));
    }
}

/// What an IAM page says of its interval makes no sense.
pub(crate) fn interval_fault(v: PageView<'_>) -> Option<&'static str> {
    let (file, range) = iam::interval(v);
    let aligned = range.start.is_multiple_of(page::EXTENTS_PER_INTERVAL);
    let sound = aligned && range.start < u32::MAX / 8 && file.0 != 0;
    (!sound).then_some("interval")
}

impl Space {
    /// Promises pages to a unit: the files are grown, the IAM chain extended as needed.
    ///
    /// # Errors
    /// 1105, 9002, damaged maps. The caller holds no latch.
    pub fn claim(&self, unit: &AllocUnit, pages: usize) -> Result<Claim<'_>, SpaceError> {
        assert!(pages > 0, "something is asked for");
        let mut claim = Claim { space: self, chosen: Vec::with_capacity(pages) };
        loop {
            {
                let _one = self.choosing.lock();
                self.choose_own(unit, &mut claim, pages)?;
                self.choose_new(&mut claim, pages)?;
            }
            assert!(claim.len() <= pages, "no more is promised than was asked for");
            if claim.len() == pages {
                break;
            }
            self.grow()?;
        }
        debug_assert!(
            claim.chosen.iter().all(|c| !c.mixed),
            "IAM pages alone are in mixed extents"
        );
        for i in 0..claim.len() {
            if claim.chosen[i].new_extent {
                self.cover(unit, claim.chosen[i].page.extent())?;
            }
        }
        Ok(claim)
    }

    /// Pages of extents that the unit owns already.
    fn choose_own(
        &self,
        unit: &AllocUnit,
        claim: &mut Claim<'_>,
        want: usize,
    ) -> Result<(), SpaceError> {
        let extent = unit.hints.lock().extent;
        if let Some(extent) = extent {
            for n in 0..8 {
                if claim.len() < want {
                    let page = PageId { file: extent.file, page: extent.first_page().page + n };
                    self.choose_if_free(claim, page)?;
                }
            }
        }
        let search = {
            let mut hints = unit.hints.lock();
            claim.len() < want && !std::mem::replace(&mut hints.searched, true)
        };
        if search {
            let mut found = self.free_pages_of(unit)?;
            // Taken from the end: lower pages first.
            found.reverse();
            unit.hints.lock().free.extend(found);
        }
        self.choose_hinted(unit, claim, want)
    }

    /// Pages that were free when the hint was written. A chosen page stays in the hints until it is
    /// found allocated, so a dropped claim loses nothing.
    fn choose_hinted(
        &self,
        unit: &AllocUnit,
        claim: &mut Claim<'_>,
        want: usize,
    ) -> Result<(), SpaceError> {
        let mut at = unit.hints.lock().free.len();
        while claim.len() < want && at > 0 {
            at -= 1;
            debug_assert!(claim.len() < want, "nobody is promised more than he wants");
            let Some(page) = unit.hints.lock().free.get(at).copied() else { continue };
            if !self.choose_if_free(claim, page)? {
                let mut hints = unit.hints.lock();
                if hints.free.get(at) == Some(&page) {
                    hints.free.remove(at);
                }
            }
        }
        Ok(())
    }

    /// Promises a page, unless it is allocated (false) or promised already.
    ///
    /// The promise comes before the check of the map. A claim that had the promise before gave it
    /// up under the map's latch, so the check sees what became of the page (rule 2).
    fn choose_if_free(&self, claim: &mut Claim<'_>, page: PageId) -> Result<bool, SpaceError> {
        {
            let mut promised = self.promised.lock();
            if promised.pages.contains(&page) {
                return Ok(true);
            }
            promised.pages.push(page);
        }
        // It is in the claim at once, so that an error takes the promise back, too.
        claim.chosen.push(ChosenPage { page, new_extent: false, mixed: false });
        let allocated = {
            let pfs = self.map(pfs_page(page), PageKind::Pfs)?;
            Pfs::get(pfs.view(), page.page).is_allocated()
        };
        if allocated {
            claim.chosen.pop();
            self.promised.lock().pages.retain(|p| *p != page);
        }
        Ok(!allocated)
    }

    /// Unallocated pages of all extents of a unit.
    fn free_pages_of(&self, unit: &AllocUnit) -> Result<Vec<PageId>, SpaceError> {
        let mut free = Vec::new();
        self.each_extent(unit, &mut |space, extent| {
            let first = extent.first_page();
            let pfs = space.map(pfs_page(first), PageKind::Pfs)?;
            let pages = (0..8).map(|n| PageId { file: first.file, page: first.page + n });
            free.extend(pages.filter(|p| !Pfs::get(pfs.view(), p.page).is_allocated()));
            Ok(())
        })?;
        Ok(free)
    }

    /// Calls `each` with every extent of a unit, in chain order, holding no latch.
    pub(crate) fn each_extent(
        &self,
        unit: &AllocUnit,
        each: &mut dyn FnMut(&Space, ExtentId) -> Result<(), SpaceError>,
    ) -> Result<(), SpaceError> {
        let mut at = unit.first_iam;
        let mut steps = 0;
        while !at.is_none() {
            let (next, extents) = {
                let guard = self.iam(unit, at, steps)?;
                let (file, range) = iam::interval(guard.view());
                let mut extents = Vec::new();
                let mut from = range.start;
                while let Some(e) = ExtentBits::first_set(guard.view(), from, range.end) {
                    extents.push(ExtentId { file, extent: e });
                    from = e + 1;
                }
                debug_assert!(extents.iter().all(|e| range.contains(&e.extent)), "of the interval");
                debug_assert!(extents.is_sorted(), "in order");
                (guard.view().next_page(), extents)
            };
            for extent in extents {
                each(self, extent)?;
            }
            at = next;
            steps += 1;
        }
        Ok(())
    }

    /// An IAM page of a unit, `steps` behind the head of its chain. Each page has its number in the
    /// chain, so a chain cannot run in a circle.
    pub(crate) fn iam(
        &self,
        unit: &AllocUnit,
        id: PageId,
        steps: usize,
    ) -> Result<buffer::ReadGuard<'_>, SpaceError> {
        let guard = self.map(id, PageKind::Iam)?;
        let v = guard.view();
        let wrong = match v.alloc_unit() == unit.id {
            false => Some("the IAM page belongs to another unit"),
            true if iam::sequence(v) as usize != steps => Some("the IAM chain is out of order"),
            true => interval_fault(v),
        };
        match wrong {
            Some(what) => Err(self.pages.corrupt(id, what).into()),
            None => Ok(guard),
        }
    }

    /// Pages of extents without an owner.
    fn choose_new(&self, claim: &mut Claim<'_>, want: usize) -> Result<(), SpaceError> {
        while claim.len() < want {
            let Some(extent) = self.free_extent()? else { return Ok(()) };
            let first = extent.first_page();
            for n in 0..8 {
                if claim.len() < want {
                    let page = PageId { file: first.file, page: first.page + n };
                    self.promised.lock().pages.push(page);
                    claim.chosen.push(ChosenPage { page, new_extent: true, mixed: false });
                }
            }
        }
        Ok(())
    }

    /// A free extent, now promised; files in order. The caller puts it into a claim.
    fn free_extent(&self) -> Result<Option<ExtentId>, SpaceError> {
        let files: Vec<_> = self.files.read().iter().map(|(id, f)| (FileId(*id), *f)).collect();
        for (file, facts) in files {
            let mut from = facts.first_maybe_free;
            let end = facts.size_pages / 8;
            let mut first_free = None;
            while from < end {
                let gam = self.map(gam_page(PageId { file, page: from * 8 }), PageKind::Gam)?;
                let interval_end = (from / page::EXTENTS_PER_INTERVAL + 1)
                    .saturating_mul(page::EXTENTS_PER_INTERVAL);
                let found = ExtentBits::first_set(gam.view(), from, end.min(interval_end));
                drop(gam);
                let Some(found) = found else {
                    from = interval_end;
                    continue;
                };
                if is_system_extent(found) {
                    let gam = gam_page(PageId { file, page: found * 8 });
                    return Err(self.pages.corrupt(gam, "an extent of maps is called free").into());
                }
                debug_assert!((from..end).contains(&found), "within what was searched");
                first_free = first_free.or(Some(found));
                let extent = ExtentId { file, extent: found };
                if self.promise_extent(extent)? {
                    self.remember_free(file, first_free.unwrap_or(found), facts.freed);
                    return Ok(Some(extent));
                }
                from = found + 1;
            }
            debug_assert!(
                first_free.is_none_or(|e| facts.first_maybe_free <= e),
                "a hint is no later"
            );
            self.remember_free(file, first_free.unwrap_or(end), facts.freed);
        }
        Ok(None)
    }

    /// Promises an extent that was free a moment ago, if it is still free and not promised.
    fn promise_extent(&self, extent: ExtentId) -> Result<bool, SpaceError> {
        {
            let mut promised = self.promised.lock();
            if promised.extents.contains(&extent) {
                return Ok(false);
            }
            debug_assert!(!is_system_extent(extent.extent), "extents of maps are nobody's");
            promised.extents.push(extent);
        }
        let looked = self.map(gam_page(extent.first_page()), PageKind::Gam);
        let free = looked.map(|gam| ExtentBits::get(gam.view(), extent.extent));
        if !matches!(free, Ok(true)) {
            self.promised.lock().extents.retain(|e| *e != extent);
        }
        free
    }

    /// Where the next search begins, unless an extent was freed since this one began.
    fn remember_free(&self, file: FileId, extent: u32, freed: u64) {
        if let Some(f) = self.files.write().get_mut(&file.0)
            && f.freed == freed
        {
            f.first_maybe_free = extent;
        }
    }

    /// An extent has been freed: searches begin there or before.
    pub(crate) fn forget_full(&self, extent: ExtentId) {
        if let Some(f) = self.files.write().get_mut(&extent.file.0) {
            f.freed += 1;
            f.first_maybe_free = f.first_maybe_free.min(extent.extent);
            debug_assert!(f.first_maybe_free <= extent.extent, "rule 6: the next search finds it");
        }
    }

    /// A page of a mixed extent: of one that has room, else of a new one.
    pub(crate) fn claim_mixed(&self) -> Result<Claim<'_>, SpaceError> {
        let mut claim = Claim { space: self, chosen: Vec::with_capacity(1) };
        loop {
            {
                let _one = self.choosing.lock();
                if self.choose_mixed(&mut claim)? {
                    assert!(
                        claim.len() == 1 && claim.chosen[0].mixed,
                        "one page of a mixed extent"
                    );
                    return Ok(claim);
                }
            }
            self.grow()?;
        }
    }

    fn choose_mixed(&self, claim: &mut Claim<'_>) -> Result<bool, SpaceError> {
        debug_assert!(claim.is_empty(), "one page is chosen");
        let files: Vec<_> = self.files.read().iter().map(|(id, f)| (FileId(*id), *f)).collect();
        for (file, facts) in files {
            // Mixed extents serve IAM and small system pages: they lie in the first interval.
            let end = (facts.size_pages / 8).min(page::EXTENTS_PER_INTERVAL);
            let mut from = 0;
            loop {
                let sgam = self.map(sgam_page(PageId { file, page: 0 }), PageKind::Sgam)?;
                let Some(e) = ExtentBits::first_set(sgam.view(), from, end) else { break };
                drop(sgam);
                debug_assert!((from..end).contains(&e), "within what was searched");
                for n in 0..8 {
                    self.choose_if_free(claim, PageId { file, page: e * 8 + n })?;
                    if let Some(c) = claim.chosen.first_mut() {
                        c.mixed = true;
                        return Ok(true);
                    }
                }
                from = e + 1;
            }
        }
        let Some(extent) = self.free_extent()? else { return Ok(false) };
        assert!(!is_system_extent(extent.extent), "a free extent holds no maps");
        let mut promised = self.promised.lock();
        promised.pages.push(extent.first_page());
        claim.chosen.push(ChosenPage { page: extent.first_page(), new_extent: true, mixed: true });
        Ok(true)
    }
}
