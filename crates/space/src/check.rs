//! Checking the maps: every extent has one owner, every owned extent is taken, and which pages a
//! unit has, for comparison with what its hobt reaches. CHECKDB only calls this.

use crate::map::is_system_extent;
use crate::space::Space;
use crate::{AllocUnit, SpaceError, gam_page, iam, pfs_page, sgam_page};
use base::{AllocUnitId, ExtentId, FileId, PageId};
use page::{ExtentBits, PageKind, Pfs};
use std::collections::BTreeMap;

/// What is wrong with the maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two units own an extent: 8904.
    OwnedTwice(ExtentId, AllocUnitId, AllocUnitId),
    /// A unit owns an extent that the GAM says is free: 8903.
    OwnedButFree(ExtentId, AllocUnitId),
    /// The GAM says taken, and nobody owns it: 8905.
    Lost(ExtentId),
    /// A page of an extent that nobody owns is allocated, or an IAM page is not: 8948.
    Pfs(PageId),
    /// The SGAM says that a mixed extent has a free page: it is not mixed, or has none.
    Mixed(ExtentId),
    /// A unit owns an extent that holds maps, or lies behind the end of its file.
    Stray(ExtentId, AllocUnitId),
    /// A map or chain cannot be followed.
    Unreadable(PageId, &'static str),
}

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

impl Space {
    /// The pages of a unit, by its IAM chain and the PFS.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn unit_pages(&self, unit: &AllocUnit) -> Result<UnitPages, SpaceError> {
        let mut found = UnitPages::default();
        let mut at = unit.first_iam;
        while !at.is_none() {
            let guard = self.iam(unit, at)?;
            if iam::sequence(guard.view()) as usize != found.iam_pages.len() {
                return Err(self.pages.corrupt(at, "the IAM chain is out of order").into());
            }
            found.iam_pages.push(at);
            at = guard.view().next_page();
        }
        self.each_extent(unit, &mut |space, e| {
            found.extents.push(e);
            let pfs = space.map(pfs_page(e.first_page()), PageKind::Pfs)?;
            for n in e.first_page().page..e.first_page().page + 8 {
                if Pfs::get(pfs.view(), n).is_allocated() {
                    found.pages.push(PageId { file: e.file, page: n });
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Compares the maps with the chains of all units of the database. Nobody changes it
    /// meanwhile, or the caller holds a lock that keeps allocation away.
    pub fn check(&self, units: &[&AllocUnit]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut owners: BTreeMap<ExtentId, AllocUnitId> = BTreeMap::new();
        let mut iam_pages = Vec::new();
        for unit in units {
            match self.unit_pages(unit) {
                Ok(found) => {
                    for e in found.extents {
                        if let Some(other) = owners.insert(e, unit.id) {
                            findings.push(Finding::OwnedTwice(e, other, unit.id));
                        }
                    }
                    iam_pages.extend(found.iam_pages);
                }
                Err(_) => findings.push(Finding::Unreadable(unit.first_iam, "IAM chain")),
            }
        }
        iam_pages.sort_unstable();
        let files: Vec<(u16, u32)> =
            self.files.read().iter().map(|(id, f)| (*id, f.size_pages)).collect();
        let stray = |e: &ExtentId| {
            let size = files.iter().find(|f| f.0 == e.file.0).map_or(0, |f| f.1);
            is_system_extent(e.extent) || e.extent >= size / 8
        };
        let strays = owners.iter().filter(|(e, _)| stray(e));
        findings.extend(strays.map(|(e, unit)| Finding::Stray(*e, *unit)));
        for (file, size) in files {
            for extent in 0..size / 8 {
                let e = ExtentId { file: FileId(file), extent };
                if !is_system_extent(extent)
                    && self.check_extent(e, owners.get(&e), &iam_pages, &mut findings).is_err()
                {
                    findings.push(Finding::Unreadable(e.first_page(), "allocation map"));
                }
            }
        }
        findings
    }

    fn check_extent(
        &self,
        e: ExtentId,
        owner: Option<&AllocUnitId>,
        iam_pages: &[PageId],
        findings: &mut Vec<Finding>,
    ) -> Result<(), SpaceError> {
        let first = e.first_page();
        let free = {
            let gam = self.map(gam_page(first), PageKind::Gam)?;
            ExtentBits::get(gam.view(), e.extent)
        };
        let pages: Vec<PageId> =
            (0..8).map(|n| PageId { file: e.file, page: first.page + n }).collect();
        let bytes: Vec<Pfs> = {
            let pfs = self.map(pfs_page(first), PageKind::Pfs)?;
            pages.iter().map(|p| Pfs::get(pfs.view(), p.page)).collect()
        };
        let has_room = {
            let sgam = self.map(sgam_page(first), PageKind::Sgam)?;
            ExtentBits::get(sgam.view(), e.extent)
        };
        let full = bytes.iter().all(|b| b.is_allocated());
        if has_room && (owner.is_some() || free || full) {
            findings.push(Finding::Mixed(e));
        }
        match (owner, free) {
            (Some(unit), true) => findings.push(Finding::OwnedButFree(e, *unit)),
            (Some(_), false) => {}
            (None, true) => {
                let taken = pages.iter().zip(&bytes).filter(|(_, b)| b.is_allocated());
                findings.extend(taken.map(|(p, _)| Finding::Pfs(*p)));
            }
            (None, false) if !has_room && !full => findings.push(Finding::Lost(e)),
            (None, false) => check_mixed(&pages, &bytes, iam_pages, findings),
        }
        Ok(())
    }
}

/// An extent without owner that is taken must be mixed, its pages known IAM pages.
fn check_mixed(pages: &[PageId], bytes: &[Pfs], iam_pages: &[PageId], findings: &mut Vec<Finding>) {
    for (page, byte) in pages.iter().zip(bytes) {
        let known = iam_pages.binary_search(page).is_ok();
        if known != byte.is_allocated() {
            findings.push(Finding::Pfs(*page));
        }
    }
}

impl Space {
    /// The IAM interval of a page, for DBCC PAGE.
    pub fn iam_interval(&self, v: page::PageView<'_>) -> (FileId, std::ops::Range<u32>) {
        iam::interval(v)
    }
}
