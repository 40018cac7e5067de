//! Checks the maps: every extent has at most one owner, every owned extent is marked taken, and
//! each bit and byte agrees with the owners. CHECKDB only calls this.
//!
//! What each map must say of an extent:
//!
//! | extent | GAM | SGAM | PFS of a page |
//! |---|---|---|---|
//! | holds maps | 0 | 0 | allocated |
//! | free | 1 | 0 | 0 |
//! | a unit's | 0 | 0 | allocated or 0, as the unit's pages are |
//! | mixed | 0 | a page is free | an IAM page of a chain: allocated, mixed, IAM; else 0 |
//! | behind the file's end | 0 | 0 | 0 |

use crate::finding::{Finding, Findings};
use crate::map::{INTERVAL_PAGES, is_system_extent};
use crate::space::Space;
use crate::survey::UnitSurvey;
use crate::{
    AllocUnit, PageSet, SpaceError, diff_page, gam_page, map_fault, ml_page, pfs_page, sgam_page,
};
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, ExtentId, FileId, PageId};
use os::wait::{CancelReason, Waiter};
use page::{EXTENTS_PER_INTERVAL, ExtentBits, PFS_INTERVAL, PageKind, Pfs};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the owners when extents are looked at.
struct Owners {
    units: BTreeMap<ExtentId, AllocUnitId>,
    iam_pages: PageSet,
    mixed: BTreeSet<ExtentId>,
}

/// A walk over the extents of all files.
struct Walk<'s> {
    space: &'s Space,
    waiter: &'s Waiter,
    owners: Owners,
    findings: Findings,
    /// Pages of the maps that were looked at, and whether they can be used.
    maps: BTreeMap<PageId, bool>,
}

impl Space {
    /// Compares the maps with the chains of all units of the database. Either nothing changes them
    /// meanwhile, or the caller checks twice.
    ///
    /// # Errors
    /// The waiter's cancellation.
    pub fn check(&self, units: &[&AllocUnit], waiter: &Waiter) -> Result<Findings, CancelReason> {
        let mut findings = Findings::default();
        let mut owners = Owners {
            units: BTreeMap::new(),
            iam_pages: PageSet::default(),
            mixed: BTreeSet::new(),
        };
        for unit in units {
            let UnitSurvey { found, findings: of_unit, .. } = self.survey(unit, waiter)?;
            debug_assert!(found.extents.is_empty() || !found.iam_pages.is_empty(), "IAM pages own");
            findings.append(of_unit);
            for e in found.extents {
                waiter.check()?;
                if let Some(other) = owners.units.insert(e, unit.id) {
                    findings.push(Finding::OwnedTwice(e, other, unit.id));
                }
            }
            for page in found.iam_pages {
                owners.iam_pages.insert(page);
                owners.mixed.insert(page.extent());
            }
        }
        let mut walk = Walk { space: self, waiter, owners, findings, maps: BTreeMap::new() };
        let files: Vec<(u16, u32)> =
            self.files.read().iter().map(|(id, f)| (*id, f.size_pages)).collect();
        for (file, size) in files {
            walk.file(FileId(file), size)?;
        }
        Ok(walk.findings)
    }
}

impl Walk<'_> {
    fn file(&mut self, file: FileId, size: u32) -> Result<(), CancelReason> {
        self.header(PageId { file, page: 0 }, PageKind::FileHeader);
        if file.0 == 1 {
            self.header(crate::boot_page(), PageKind::Boot);
        }
        let there = self.pages_there(file);
        if there < size {
            let header = PageId { file, page: 0 };
            let what = "the file is shorter than its header says";
            self.findings.push(Finding::Unreadable(header, AllocUnitId(0), what));
        }
        let size = size.min(there);
        for extent in 0..size / 8 {
            self.waiter.check()?;
            let e = ExtentId { file, extent };
            if let Err(SpaceError::Buffer(_)) = self.extent(e) {
                // The map that could not be read has said so.
            }
        }
        self.behind_the_end(file, size);
        Ok(())
    }

    /// How many pages the file has; a damaged header may say that they are far more.
    fn pages_there(&self, file: FileId) -> u32 {
        let bytes = self.space.pages.file(file).and_then(|file| file.len().ok()).unwrap_or(0);
        u32::try_from(bytes / PAGE_BYTES as u64).unwrap_or(u32::MAX)
    }

    /// Looks at a page of the maps. Whether it can be used.
    fn header(&mut self, id: PageId, kind: PageKind) -> bool {
        let checked = self.space.pages.read(id).map_err(|_| "the page cannot be read");
        let fault =
            checked.map(|g| (map_fault(g.view(), id, kind), page::header_damages(g.view().0)));
        match fault {
            Ok((None, damages)) => {
                for damage in damages {
                    self.findings.push(Finding::Header(id, AllocUnitId(0), damage));
                }
                true
            }
            Ok((Some(what), _)) | Err(what) => {
                self.findings.push(Finding::Unreadable(id, AllocUnitId(0), what));
                false
            }
        }
    }

    /// Whether a page of the maps can be used; says so the first time when it cannot.
    fn map(&mut self, id: PageId, kind: PageKind) -> bool {
        if let Some(&known) = self.maps.get(&id) {
            return known;
        }
        let usable = self.header(id, kind);
        let known = self.maps.insert(id, usable);
        debug_assert_eq!(known, None, "a map is looked at once");
        usable
    }

    fn bit(&mut self, id: PageId, kind: PageKind, e: ExtentId) -> Result<Option<bool>, SpaceError> {
        debug_assert_eq!(id.file, e.file, "a map is in the file of its extents");
        if !self.map(id, kind) {
            return Ok(None);
        }
        let guard = self.space.pages.read(id)?;
        Ok(Some(ExtentBits::get(guard.view(), e.extent)))
    }

    fn extent(&mut self, e: ExtentId) -> Result<(), SpaceError> {
        let first = e.first_page();
        let free = self.bit(gam_page(first), PageKind::Gam, e)?;
        let room = self.bit(sgam_page(first), PageKind::Sgam, e)?;
        let changed = self.bit(diff_page(first), PageKind::DiffMap, e)?;
        let bulk = self.bit(ml_page(first), PageKind::BulkMap, e)?;
        if changed == Some(false) {
            self.findings.push(Finding::Changed(e, diff_page(first)));
        }
        if bulk == Some(true) {
            self.findings.push(Finding::Changed(e, ml_page(first)));
        }
        let bytes = self.pfs(first)?;
        let (Some(free), Some(room), Some(bytes)) = (free, room, bytes) else { return Ok(()) };
        let owner = self.owners.units.get(&e).copied();
        match owner {
            _ if is_system_extent(e.extent) => self.of_maps(e, (free, room), &bytes),
            Some(unit) => self.owned(e, unit, (free, room), &bytes),
            None if self.owners.mixed.contains(&e) => self.mixed(e, (free, room), &bytes),
            None => self.unowned(e, (free, room), &bytes),
        }
        Ok(())
    }

    fn pfs(&mut self, first: PageId) -> Result<Option<[u8; 8]>, SpaceError> {
        debug_assert!(first.page.is_multiple_of(8), "the first page of an extent");
        let id = pfs_page(first);
        if !self.map(id, PageKind::Pfs) {
            return Ok(None);
        }
        let guard = self.space.pages.read(id)?;
        let mut bytes = [0; 8];
        for (n, byte) in (0..).zip(&mut bytes) {
            *byte = Pfs::get(guard.view(), first.page + n).0;
        }
        Ok(Some(bytes))
    }

    fn expect(&mut self, first: PageId, n: usize, found: u8, expected: u8) {
        debug_assert!(n < 8 && first.page.is_multiple_of(8), "a page of an extent");
        let page = PageId { file: first.file, page: first.page + n as u32 };
        if found != expected {
            self.findings.push(Finding::Pfs(page, found, expected));
        }
    }

    fn of_maps(&mut self, e: ExtentId, (free, room): (bool, bool), bytes: &[u8; 8]) {
        debug_assert!(is_system_extent(e.extent), "an extent of maps");
        for (given, map) in [(free, gam_page(e.first_page())), (room, sgam_page(e.first_page()))] {
            if given {
                self.findings.push(Finding::NotToGive(e, map));
            }
        }
        for (n, byte) in bytes.iter().enumerate() {
            self.expect(e.first_page(), n, *byte, Pfs::ALLOCATED);
        }
    }

    /// Which pages of the unit are allocated, its hobt says.
    fn owned(
        &mut self,
        e: ExtentId,
        unit: AllocUnitId,
        (free, room): (bool, bool),
        bytes: &[u8; 8],
    ) {
        debug_assert_eq!(self.owners.units.get(&e), Some(&unit), "its owner");
        debug_assert!(!is_system_extent(e.extent), "extents of maps are nobody's");
        if free {
            self.findings.push(Finding::OwnedButFree(e, unit));
        }
        if room {
            self.findings.push(Finding::Mixed(e));
        }
        for (n, byte) in bytes.iter().enumerate() {
            self.expect(e.first_page(), n, *byte, *byte & Pfs::ALLOCATED);
        }
    }

    /// An extent that holds IAM pages of chains.
    fn mixed(&mut self, e: ExtentId, (free, room): (bool, bool), bytes: &[u8; 8]) {
        const OF_IAM: u8 = Pfs::ALLOCATED | Pfs::MIXED | Pfs::IAM;
        debug_assert!(self.owners.mixed.contains(&e), "it holds IAM pages");
        debug_assert!(!self.owners.units.contains_key(&e), "it is no unit's");
        let mut has_room = false;
        for (n, byte) in bytes.iter().enumerate() {
            let page = PageId { file: e.file, page: e.first_page().page + n as u32 };
            let known = self.owners.iam_pages.contains(page);
            has_room |= !known;
            match (known, *byte) {
                (false, OF_IAM) => self.findings.push(Finding::NoChain(page, *byte)),
                (known, found) => {
                    self.expect(e.first_page(), n, found, if known { OF_IAM } else { 0 });
                }
            }
        }
        if free {
            self.findings.push(Finding::MixedButFree(e));
        }
        if room != has_room {
            self.findings.push(Finding::Mixed(e));
        }
    }

    /// An extent that is nobody's: free, or mixed without a page in use.
    fn unowned(&mut self, e: ExtentId, (free, room): (bool, bool), bytes: &[u8; 8]) {
        debug_assert!(!self.owners.units.contains_key(&e), "it is no unit's");
        debug_assert!(!self.owners.mixed.contains(&e), "it holds no IAM page");
        match (free, room) {
            (true, true) => self.findings.push(Finding::Mixed(e)),
            (false, false) => self.findings.push(Finding::Lost(e)),
            (true, false) | (false, true) => {}
        }
        for (n, byte) in bytes.iter().enumerate() {
            let page = PageId { file: e.file, page: e.first_page().page + n as u32 };
            if byte & Pfs::IAM != 0 {
                self.findings.push(Finding::NoChain(page, *byte));
            } else {
                self.expect(e.first_page(), n, *byte, 0);
            }
        }
    }

    /// The last maps of a file reach beyond it.
    fn behind_the_end(&mut self, file: FileId, size: u32) {
        let last = PageId { file, page: size.saturating_sub(1) };
        let end = (last.page / INTERVAL_PAGES + 1).saturating_mul(EXTENTS_PER_INTERVAL);
        for (map, kind) in [(gam_page(last), PageKind::Gam), (sgam_page(last), PageKind::Sgam)] {
            let usable = self.map(map, kind);
            let Some(guard) = self.space.pages.read(map).ok().filter(|_| usable) else { continue };
            let mut from = size / 8;
            while let Some(extent) = ExtentBits::first_set(guard.view(), from, end) {
                self.findings.push(Finding::NotToGive(ExtentId { file, extent }, map));
                from = extent + 1;
            }
        }
        let map = pfs_page(last);
        let usable = self.map(map, PageKind::Pfs);
        let Some(guard) = self.space.pages.read(map).ok().filter(|_| usable) else { return };
        let end = (last.page / PFS_INTERVAL + 1).saturating_mul(PFS_INTERVAL);
        for page in size..end {
            let byte = Pfs::get(guard.view(), page).0;
            if byte != 0 {
                self.findings.push(Finding::Pfs(PageId { file, page }, byte, 0));
            }
        }
    }
}
