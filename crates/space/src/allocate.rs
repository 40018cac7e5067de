//! Allocates and frees pages within a change: the bits of the maps, logged together with what uses
//! the pages.
//!
//! Latch order: the caller's tree pages; then IAM, GAM, SGAM, PFS, each kind by page id; then the
//! new pages, which no other thread can want.

use crate::claim::{ChosenPage, Claim};
use crate::map::is_system_extent;
use crate::redo::{bits_payload, format_iam_payload, kinds, pfs_payload};
use crate::space::Space;
use crate::{AllocUnit, SpaceError, gam_page, iam, pfs_page, sgam_page};
use base::{AllocUnitId, ExtentId, PageId};
use buffer::{Change, PageRef, Undo};
use page::{EXTENTS_PER_INTERVAL, ExtentBits, PageKind, Pfs};
use wal::{Group, LogReservation, TransactionChain};

const NO_UNIT: AllocUnitId = AllocUnitId(0);
/// Log bytes that a system change of the maps may write.
pub(crate) const SYSTEM_CHANGE_BYTES: u64 = 2048;

/// The maps of a claim's pages, latched in a change.
struct Maps {
    /// Extents that become the unit's, and the two maps of each.
    fresh: Vec<ExtentId>,
    iams: Vec<PageRef>,
    gams: Vec<PageRef>,
    /// The PFS page of each page.
    pfss: Vec<PageRef>,
}

impl Space {
    /// The page of the change with that id, latched now if it is not in it yet.
    fn latch<'a>(&'a self, change: &mut Change<'a>, id: PageId) -> Result<PageRef, SpaceError> {
        if let Some(page) = change.find(id) {
            return Ok(page);
        }
        let guard = self.pages.write(id)?;
        let page = change.add(guard);
        debug_assert_eq!(change.find(id), Some(page), "a page is once in a change");
        Ok(page)
    }

    /// Gives claimed pages to a unit. They come back in the change: blank, latched, in the order of
    /// the claim. The caller formats each.
    ///
    /// At most 80 bytes of log a page and 160 a new extent.
    ///
    /// # Errors
    /// Damaged maps; nothing is logged then.
    pub fn allocate<'a>(
        &'a self,
        change: &mut Change<'a>,
        unit: &AllocUnit,
        claim: Claim<'_>,
    ) -> Result<Vec<PageRef>, SpaceError> {
        let maps = self.latch_maps(change, unit, &claim)?;
        let mut made = Vec::with_capacity(claim.len());
        for c in &claim.chosen {
            made.push(change.add(self.pages.write_new(c.page)?));
        }
        debug_assert_eq!(made.len(), claim.len(), "every promise is kept");
        self.take(change, unit, &claim, &maps);
        Ok(made)
    }

    /// The same for pages that their owner writes past the pool: only the maps are changed. The
    /// pages' ids come back in the order of the claim.
    ///
    /// # Errors
    /// Damaged maps; nothing is logged then.
    pub fn allocate_past_pool<'a>(
        &'a self,
        change: &mut Change<'a>,
        unit: &AllocUnit,
        claim: Claim<'_>,
    ) -> Result<Vec<PageId>, SpaceError> {
        let maps = self.latch_maps(change, unit, &claim)?;
        self.take(change, unit, &claim, &maps);
        let made: Vec<PageId> = claim.chosen.iter().map(|c| c.page).collect();
        debug_assert!(made.iter().all(|id| change.find(*id).is_none()), "no page is in the change");
        Ok(made)
    }

    /// Latches the maps that a claim changes, and checks that they agree with the claim.
    fn latch_maps<'a>(
        &'a self,
        change: &mut Change<'a>,
        unit: &AllocUnit,
        claim: &Claim<'_>,
    ) -> Result<Maps, SpaceError> {
        assert!(claim.chosen.iter().all(|c| !c.mixed), "mixed pages are for IAM pages");
        assert!(std::ptr::eq(claim.space, self), "a promise is kept by whoever gave it");
        assert!(!claim.is_empty(), "something was promised");
        let mut fresh: Vec<ExtentId> =
            claim.chosen.iter().filter(|c| c.new_extent).map(|c| c.page.extent()).collect();
        fresh.dedup();
        debug_assert!((1..fresh.len()).all(|i| !fresh[..i].contains(&fresh[i])), "an extent once");
        let mut iams = Vec::with_capacity(fresh.len());
        for e in &fresh {
            iams.push(self.iam_covering(unit, *e)?);
        }
        let iams = self.latch_all(change, &iams)?;
        let gams: Vec<_> = fresh.iter().map(|e| gam_page(e.first_page())).collect();
        let gams = self.latch_all(change, &gams)?;
        let pfss: Vec<_> = claim.chosen.iter().map(|c| pfs_page(c.page)).collect();
        let pfss = self.latch_all(change, &pfss)?;
        for (c, pfs) in claim.chosen.iter().zip(&pfss) {
            self.check_pfs(change, *pfs, c.page, false)?;
            if change.find(c.page).is_some() {
                // The caller's own page, which a damaged PFS calls free.
                let what = "the PFS says of a page what its unit does not";
                return Err(self.pages.corrupt(change.id(*pfs), what).into());
            }
        }
        for (i, e) in fresh.iter().enumerate() {
            self.check_taken(change, (gams[i], iams[i]), *e)?;
        }
        Ok(Maps { fresh, iams, gams, pfss })
    }

    /// Logs that the claimed pages are the unit's.
    fn take(&self, change: &mut Change<'_>, unit: &AllocUnit, claim: &Claim<'_>, maps: &Maps) {
        let Maps { fresh, iams, gams, pfss } = maps;
        for (i, e) in fresh.iter().enumerate() {
            let on = bits_payload(e.extent, 1, true);
            change.apply(iams[i], unit.id, kinds::SET_BITS, 0, &[&on], Undo::Never);
            let off = bits_payload(e.extent, 1, false);
            change.apply(gams[i], NO_UNIT, kinds::SET_BITS, 0, &[&off], Undo::Never);
        }
        for (c, pfs) in claim.chosen.iter().zip(pfss) {
            self.set_pfs(change, *pfs, c.page, Pfs(Pfs::ALLOCATED));
        }
        debug_assert!(self.are_taken(change, (gams, iams), fresh), "rule 3");
        let last = claim.chosen.last().map(|c| c.page.extent());
        let mut hints = unit.hints.lock();
        let before = std::mem::replace(&mut hints.extent, last);
        // What is left of the extent that is no longer preferred is not forgotten.
        let left = fresh.iter().copied().chain(before).filter(|e| Some(*e) != last);
        let left: Vec<PageId> = left.flat_map(pages_of).collect();
        hints.free.extend(left.into_iter().filter(|p| !claim.has(*p)).rev());
    }

    /// Whether extents are a unit's: its bit is set, and the GAM's is clear.
    fn are_taken(
        &self,
        change: &Change<'_>,
        (gams, iams): (&[PageRef], &[PageRef]),
        extents: &[ExtentId],
    ) -> bool {
        assert!(gams.len() == extents.len() && iams.len() == extents.len(), "two maps an extent");
        extents.iter().zip(gams).zip(iams).all(|((e, gam), iam)| {
            ExtentBits::get(change.view(*iam), e.extent)
                && !ExtentBits::get(change.view(*gam), e.extent)
        })
    }
    /// Latches pages in id order; returns references in the order asked.
    fn latch_all<'a>(
        &'a self,
        change: &mut Change<'a>,
        ids: &[PageId],
    ) -> Result<Vec<PageRef>, SpaceError> {
        let mut order: Vec<PageId> = ids.to_vec();
        order.sort_unstable();
        order.dedup();
        debug_assert!(order.is_sorted(), "rule 4: latches of maps are taken in order");
        for id in order {
            self.latch(change, id)?;
        }
        let found = ids.iter().map(|&id| change.find(id));
        Ok(found.map(|p| p.expect("every page was just latched")).collect())
    }

    /// Whether the PFS says of a page what the caller's change requires. Damage is an error, as
    /// long as nothing is logged.
    pub(crate) fn check_pfs(
        &self,
        change: &Change<'_>,
        pfs: PageRef,
        page: PageId,
        allocated: bool,
    ) -> Result<(), SpaceError> {
        debug_assert_eq!(change.id(pfs), pfs_page(page), "the PFS page that covers the page");
        self.check_kind(change, pfs, PageKind::Pfs)?;
        if Pfs::get(change.view(pfs), page.page).is_allocated() == allocated {
            return Ok(());
        }
        let what = "the PFS says of a page what its unit does not";
        Err(self.pages.corrupt(change.id(pfs), what).into())
    }

    /// Whether a page of the change is a map of its kind.
    pub(crate) fn check_kind(
        &self,
        change: &Change<'_>,
        map: PageRef,
        kind: PageKind,
    ) -> Result<(), SpaceError> {
        if change.view(map).kind() == Some(kind) {
            return Ok(());
        }
        Err(self.pages.corrupt(change.id(map), "an allocation map has another kind").into())
    }

    /// Whether an extent is free in the GAM and not the unit's yet.
    fn check_taken(
        &self,
        change: &Change<'_>,
        (gam, iam): (PageRef, PageRef),
        e: ExtentId,
    ) -> Result<(), SpaceError> {
        self.check_kind(change, gam, PageKind::Gam)?;
        debug_assert_eq!(change.id(gam), gam_page(e.first_page()), "the GAM page that covers it");
        debug_assert_ne!(change.id(iam), change.id(gam), "two maps");
        let free = ExtentBits::get(change.view(gam), e.extent);
        if free && !ExtentBits::get(change.view(iam), e.extent) {
            return Ok(());
        }
        let map = if free { iam } else { gam };
        let what = "the maps do not agree on who owns an extent";
        Err(self.pages.corrupt(change.id(map), what).into())
    }

    pub(crate) fn set_pfs(&self, change: &mut Change<'_>, pfs: PageRef, page: PageId, new: Pfs) {
        let old = Pfs::get(change.view(pfs), page.page);
        debug_assert_eq!(change.id(pfs), pfs_page(page), "the PFS page that covers the page");
        assert!(old.is_allocated() != new.is_allocated(), "page {page}: {old:?} to {new:?}");
        let payload = pfs_payload(page.page, old, new);
        change.apply(pfs, NO_UNIT, kinds::SET_PFS, 0, &[&payload], Undo::Never);
        debug_assert_eq!(Pfs::get(change.view(pfs), page.page), new, "rule 3");
    }

    /// Gives a page of a unit back within a change; the page stays latched in it.
    ///
    /// At most 40 bytes of log.
    ///
    /// # Errors
    /// Damaged maps; nothing is logged then.
    pub fn free<'a>(
        &'a self,
        change: &mut Change<'a>,
        unit: &AllocUnit,
        page: PageRef,
    ) -> Result<(), SpaceError> {
        let id = change.id(page);
        assert_ne!(id, unit.first_iam, "a unit keeps the head of its chain");
        debug_assert_eq!(change.find(id), Some(page), "a page is once in a change");
        let pfs = self.latch(change, pfs_page(id))?;
        self.check_pfs(change, pfs, id, true)?;
        self.set_pfs(change, pfs, id, Pfs(0));
        unit.hints.lock().free.push(id);
        debug_assert!(!Pfs::get(change.view(pfs), id.page).is_allocated(), "rule 3");
        Ok(())
    }

    /// Whether the maps say that a unit has an extent. The caller may hold latches of pages that
    /// are no maps.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn has_extent(&self, unit: &AllocUnit, extent: ExtentId) -> Result<bool, SpaceError> {
        let (Some(iam), _) = self.find_iam(unit, extent)? else { return Ok(false) };
        Ok(ExtentBits::get(self.map(iam, PageKind::Iam)?.view(), extent.extent))
    }

    /// The IAM page of a unit that covers an extent.
    pub(crate) fn iam_covering(
        &self,
        unit: &AllocUnit,
        extent: ExtentId,
    ) -> Result<PageId, SpaceError> {
        match self.find_iam(unit, extent)? {
            (Some(id), _) => Ok(id),
            (None, last) => Err(self.pages.corrupt(last, "no IAM page covers the extent").into()),
        }
    }

    /// The IAM page that covers an extent, and the last of the chain.
    fn find_iam(
        &self,
        unit: &AllocUnit,
        extent: ExtentId,
    ) -> Result<(Option<PageId>, PageId), SpaceError> {
        let (mut at, mut steps) = (unit.first_iam, 0);
        loop {
            let guard = self.iam(unit, at, steps)?;
            let (file, range) = iam::interval(guard.view());
            if file == extent.file && range.contains(&extent.extent) {
                return Ok((Some(at), at));
            }
            let next = guard.view().next_page();
            if next.is_none() {
                return Ok((None, at));
            }
            at = next;
            steps += 1;
        }
    }

    /// Makes sure that an IAM page covers an extent, by a change of its own.
    pub(crate) fn cover(&self, unit: &AllocUnit, extent: ExtentId) -> Result<(), SpaceError> {
        debug_assert!(!is_system_extent(extent.extent), "extents of maps are nobody's");
        loop {
            let (found, last) = self.find_iam(unit, extent)?;
            if found.is_some() {
                return Ok(());
            }
            let claim = self.claim_mixed()?;
            let _log = self.reserve_log()?;
            let mut group = Group::new();
            let mut change = Change::new(&self.pages, &mut group);
            let tail = self.latch(&mut change, last)?;
            if !change.view(tail).next_page().is_none() {
                continue;
            }
            let sequence = iam::sequence(change.view(tail)) + 1;
            let id = claim.chosen[0].page;
            assert_ne!(id, last, "what is in use is not promised");
            let new = self.allocate_mixed(&mut change, claim)?;
            let start = extent.extent / EXTENTS_PER_INTERVAL * EXTENTS_PER_INTERVAL;
            debug_assert!(start <= extent.extent && extent.extent - start < EXTENTS_PER_INTERVAL);
            let header =
                format_iam_payload(sequence, extent.file, start, self.pages.log().next_lsn());
            change.apply(new, unit.id, kinds::FORMAT, 0, &[&header], Undo::Never);
            let mut link = [0; 6];
            link[..4].copy_from_slice(&id.page.to_le_bytes());
            link[4..].copy_from_slice(&id.file.0.to_le_bytes());
            change.apply(tail, unit.id, kinds::LINK_IAM, 0, &[&link], Undo::Never);
            debug_assert_eq!(change.view(tail).next_page(), id, "the chain goes on");
            debug_assert_eq!(
                iam::sequence(change.view(new)),
                sequence,
                "in the order of the chain"
            );
            change.finish(&mut TransactionChain::default());
            return Ok(());
        }
    }

    pub(crate) fn reserve_log(&self) -> Result<LogReservation, SpaceError> {
        let mut reservation = LogReservation::none(self.pages.log());
        reservation.patiently(None, |own| own.grow(SYSTEM_CHANGE_BYTES))?;
        assert!(reservation.bytes() >= SYSTEM_CHANGE_BYTES, "what was asked for is held");
        Ok(reservation)
    }

    /// Takes the claimed page of a mixed extent, for an IAM page.
    fn allocate_mixed<'a>(
        &'a self,
        change: &mut Change<'a>,
        claim: Claim<'_>,
    ) -> Result<PageRef, SpaceError> {
        let ChosenPage { page, new_extent, mixed } = claim.chosen[0];
        assert!(mixed && claim.len() == 1, "an IAM page comes alone");
        assert!(std::ptr::eq(claim.space, self), "a promise is kept by whoever gave it");
        let gam = match new_extent {
            true => Some(self.latch(change, gam_page(page))?),
            false => None,
        };
        if let Some(gam) = gam {
            self.check_kind(change, gam, PageKind::Gam)?;
        }
        let sgam = self.latch(change, sgam_page(page))?;
        self.check_kind(change, sgam, PageKind::Sgam)?;
        let pfs = self.latch(change, pfs_page(page))?;
        self.check_pfs(change, pfs, page, false)?;
        let new = change.add(self.pages.write_new(page)?);
        let extent = page.extent();
        if let Some(gam) = gam {
            let off = bits_payload(extent.extent, 1, false);
            change.apply(gam, NO_UNIT, kinds::SET_BITS, 0, &[&off], Undo::Never);
            let on = bits_payload(extent.extent, 1, true);
            change.apply(sgam, NO_UNIT, kinds::SET_BITS, 0, &[&on], Undo::Never);
        }
        self.set_pfs(change, pfs, page, Pfs(Pfs::ALLOCATED | Pfs::MIXED | Pfs::IAM));
        let first = extent.first_page().page;
        let all = (first..first + 8).all(|p| Pfs::get(change.view(pfs), p).is_allocated());
        if all {
            let off = bits_payload(extent.extent, 1, false);
            change.apply(sgam, NO_UNIT, kinds::SET_BITS, 0, &[&off], Undo::Never);
        }
        let room = ExtentBits::get(change.view(sgam), extent.extent);
        debug_assert!(!(all && room), "a full extent has no room");
        debug_assert_eq!(change.id(new), page, "the page that was promised");
        Ok(new)
    }

    /// Makes a unit: the head of its IAM chain, within the caller's change. `undo` says which
    /// transaction takes it back, by [`Space::drop_unit`].
    ///
    /// # Errors
    /// 1105, 9002, damaged maps.
    pub fn create_unit(&self, id: AllocUnitId, undo: Undo) -> Result<UnitChange<'_>, SpaceError> {
        let claim = self.claim_mixed()?;
        let first_iam = claim.chosen[0].page;
        assert!(claim.len() == 1 && claim.chosen[0].mixed, "a head in a mixed extent");
        debug_assert_ne!(id, NO_UNIT, "0 is the number of no unit");
        Ok(UnitChange {
            space: self,
            claim: Some(claim),
            unit: AllocUnit::open(id, first_iam),
            undo,
        })
    }
}

fn pages_of(extent: ExtentId) -> impl DoubleEndedIterator<Item = PageId> {
    let first = extent.first_page();
    (0..8).map(move |n| PageId { file: first.file, page: first.page + n })
}

/// A unit about to be made; [`UnitChange::apply`] puts it into a change.
pub struct UnitChange<'s> {
    space: &'s Space,
    claim: Option<Claim<'s>>,
    unit: AllocUnit,
    undo: Undo,
}

impl<'s> UnitChange<'s> {
    /// Logs the unit's first IAM page into a change that holds no map yet.
    ///
    /// # Errors
    /// Damaged maps.
    ///
    /// # Panics
    /// Never: it is consumed.
    pub fn apply(mut self, change: &mut Change<'s>) -> Result<AllocUnit, SpaceError> {
        let claim = self.claim.take().expect("a unit is made once");
        let new = self.space.allocate_mixed(change, claim)?;
        assert_eq!(change.id(new), self.unit.first_iam, "the head that was promised");
        let header =
            format_iam_payload(0, self.unit.first_iam.file, 0, self.space.pages.log().next_lsn());
        change.apply(new, self.unit.id, kinds::FORMAT, 0, &[&header], self.undo);
        debug_assert_eq!(iam::sequence(change.view(new)), 0, "the head of its chain");
        debug_assert!(change.view(new).next_page().is_none(), "and its end");
        Ok(self.unit)
    }
}
