//! `Space`: the allocator of one database.

use crate::format::facts_of;
use crate::grow::GrowthOptions;
use crate::map::gam_page;
use crate::{GrowthOptions as Growth, SpaceError};
use base::limits::EXTENT_PAGES;
use base::{ExtentId, FileId, PageId};
use buffer::{Pages, ReadGuard};
use os::latch::LatchClass;
use os::sync::{Mutex, RwLock};
use page::{EXTENTS_PER_INTERVAL, ExtentBits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The allocator of one database.
pub struct Space {
    pub(crate) pages: Arc<Pages>,
    /// Chosen and not yet allocated: no second claim gets them. The mutex is never held while a
    /// latch is taken.
    pub(crate) promised: Mutex<PromisedSpace>,
    /// One thread chooses at a time. The mutex is held while maps are read, so no thread takes it
    /// under a latch.
    pub(crate) choosing: Mutex<()>,
    pub(crate) files: RwLock<BTreeMap<u16, FileSpace>>,
    pub(crate) growing: Mutex<()>,
}

#[derive(Default)]
pub(crate) struct PromisedSpace {
    pub(crate) pages: Vec<PageId>,
    pub(crate) extents: Vec<ExtentId>,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSpace {
    pub(crate) size_pages: u32,
    pub(crate) growth: GrowthOptions,
    /// No free extent lies before this one.
    pub(crate) first_maybe_free: u32,
    /// Counts what was freed, so that a search that began before does not hide it; and changes of
    /// how the file may grow.
    pub(crate) freed: u64,
}

impl Space {
    /// The allocator over a database's attached files; their headers are read after recovery.
    ///
    /// # Errors
    /// A damaged header.
    pub fn open(pages: &Arc<Pages>, growth: Growth) -> Result<Arc<Space>, SpaceError> {
        let mut files = BTreeMap::new();
        for id in pages.file_ids() {
            let header = pages.read(PageId { file: id, page: 0 })?;
            let size_pages = facts_of(header.view()).size_pages;
            files.insert(id.0, FileSpace { size_pages, growth, first_maybe_free: 0, freed: 0 });
        }
        assert!(!files.is_empty(), "a database has a file");
        Ok(Arc::new(Space {
            pages: Arc::clone(pages),
            promised: Mutex::of(LatchClass::Extents, Default::default()),
            choosing: Mutex::of(LatchClass::Extents, ()),
            files: RwLock::new(files),
            growing: Mutex::of(LatchClass::FileGrowth, ()),
        }))
    }

    /// The pages this allocates.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// Size of a file in pages.
    pub fn size_pages(&self, file: FileId) -> Option<u32> {
        self.files.read().get(&file.0).map(|f| f.size_pages)
    }

    /// Pages of free extents of all files. Each map is true at its moment.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn free_pages(&self) -> Result<u64, SpaceError> {
        let files: Vec<_> = self.files.read().iter().map(|(id, f)| (*id, f.size_pages)).collect();
        let mut extents = 0;
        for (id, size_pages) in files {
            let (file, end) = (FileId(id), size_pages / EXTENT_PAGES);
            for first in (0..end).step_by(EXTENTS_PER_INTERVAL as usize) {
                let page = gam_page(PageId { file, page: first * EXTENT_PAGES });
                let gam = self.map(page, page::PageKind::Gam)?;
                let end = end.min(first + EXTENTS_PER_INTERVAL);
                extents += (first..end).filter(|e| ExtentBits::get(gam.view(), *e)).count();
            }
        }
        Ok(extents as u64 * u64::from(EXTENT_PAGES))
    }

    /// Changes when extents have become free or may have more room to come from: a caller that was
    /// refused may ask again.
    pub fn freed(&self) -> u64 {
        self.files.read().values().map(|f| f.freed).sum()
    }

    /// How a file grows.
    pub fn growth(&self, file: FileId) -> Option<GrowthOptions> {
        self.files.read().get(&file.0).map(|f| f.growth)
    }

    /// How a file grows from now on.
    pub fn set_growth(&self, file: FileId, growth: GrowthOptions) {
        if let Some(f) = self.files.write().get_mut(&file.0) {
            f.growth = growth;
            f.freed += 1;
        }
    }

    /// A map page, checked for its kind.
    pub(crate) fn map(
        &self,
        id: PageId,
        kind: page::PageKind,
    ) -> Result<ReadGuard<'_>, SpaceError> {
        use page::PageKind::{BulkMap, DiffMap, Gam, Iam, Pfs, Sgam};
        debug_assert!(matches!(kind, Gam | Sgam | Pfs | Iam | DiffMap | BulkMap), "a kind of map");
        let guard = self.pages.read(id)?;
        if guard.view().kind() != Some(kind) {
            return Err(self.pages.corrupt(id, "an allocation map has another kind").into());
        }
        Ok(guard)
    }
}
