//! A copy of a page, its owner, and its state in the maps.

use crate::tables;
use crate::view::System;
use access::{HobtKind, StoredHobt};
use base::{AllocUnitId, FileId, PageId, SqlResult};
use buffer::FrameFacts;
use catalog::view::{Index, Table};
use database::{DATA_FILE, Database};
use page::{ExtentBits, PageBytes, PageKind, PageView, Pfs, Previous, StoreKind, VersionTag};
use space::{diff_page, gam_page, ml_page, pfs_page, sgam_page};
use std::sync::Arc;

/// A page as it was at a moment.
pub(crate) struct PageCopy {
    pub(crate) id: PageId,
    pub(crate) bytes: Box<PageBytes>,
    /// The frame of the page; `None` for a page that was never written.
    pub(crate) frame: Option<FrameFacts>,
}

impl PageCopy {
    /// Copies a page under its latch (invariant 1).
    ///
    /// # Errors
    /// 823, 824, 701.
    pub(crate) fn of(database: &Database, id: PageId) -> SqlResult<PageCopy> {
        let guard = database.pages().read_to_show(id)?;
        Ok(match guard {
            Some(guard) => {
                PageCopy { id, bytes: Box::new(*guard.view().0), frame: Some(guard.frame_facts()) }
            }
            None => PageCopy { id, bytes: Box::new([0; base::limits::PAGE_BYTES]), frame: None },
        })
    }

    pub(crate) fn view(&self) -> PageView<'_> {
        PageView(&self.bytes)
    }

    /// The address of the page's bytes in memory; 0 if they are not there.
    pub(crate) fn address(&self) -> u64 {
        self.frame.map_or(0, |f| f.page_address)
    }
}

/// The page with two numbers, if a data file of the database contains it.
pub(crate) fn page_of(database: &Database, file: i64, page: i64) -> Option<PageId> {
    let (file, page) = (FileId(u16::try_from(file).ok()?), u32::try_from(page).ok()?);
    let has = database.space().size_pages(file).is_some_and(|pages| page < pages);
    debug_assert!(!has || file == DATA_FILE, "a database has one data file");
    has.then_some(PageId { file, page })
}

/// The owner of an allocation unit's pages.
pub(crate) struct PageOwner {
    /// The hobt with its rows, or its tree of pieces of large values.
    pub(crate) hobt: Arc<dyn StoredHobt>,
    /// `None` for an owner that is not a table: a sequence, or an object that is being made.
    pub(crate) table: Option<Arc<Table>>,
    pub(crate) index: Option<Index>,
}

impl PageOwner {
    /// The open hobt of a unit, with its definition.
    pub(crate) fn of(
        system: &System<'_>,
        database: &Database,
        unit: AllocUnitId,
    ) -> Option<PageOwner> {
        let hobt = database.hobts().open_unit(unit)?;
        let number = hobt.spec().hobt;
        let own = || system.databases.view(database.id())?.table(hobt.spec().object);
        let table = tables::system_table(database.id(), number).or_else(own);
        let index = table.as_ref().and_then(|t| t.partition(number));
        let index = index.map(|(i, _)| i.clone());
        Some(PageOwner { hobt, table, index })
    }

    /// `index_id`: 0 for a heap, 1 for a clustered index.
    pub(crate) fn index_id(&self) -> i32 {
        match &self.index {
            Some(index) => index.index_id.0,
            None => i32::from(self.hobt.spec().kind != HobtKind::Heap),
        }
    }

    /// Whether the pages hold pieces of large values.
    pub(crate) fn is_of_pieces(&self) -> bool {
        self.hobt.spec().pieces
    }
}

/// A page's state in the maps, each with the map's page.
pub(crate) struct Allocation {
    /// Whether its extent is allocated.
    pub(crate) gam: (PageId, bool),
    /// Whether its extent is mixed and has a free page.
    pub(crate) sgam: (PageId, bool),
    pub(crate) pfs: (PageId, Pfs),
    /// Whether its extent has changed since a full backup.
    pub(crate) diff: (PageId, bool),
    /// Whether its extent was changed without being logged in full.
    pub(crate) ml: (PageId, bool),
}

impl Allocation {
    /// Reads the maps, one at a time.
    ///
    /// # Errors
    /// Damaged maps.
    pub(crate) fn of(database: &Database, id: PageId) -> SqlResult<Allocation> {
        let extent = id.page / base::limits::EXTENT_PAGES;
        let bit = |map: PageId, kind| -> SqlResult<bool> {
            let guard = database.pages().read(map)?;
            if guard.view().kind() != Some(kind) {
                return Err(database.pages().corrupt(map, "page type").into());
            }
            Ok(ExtentBits::get(guard.view(), extent))
        };
        let (gam, sgam) = (gam_page(id), sgam_page(id));
        let (diff, ml) = (diff_page(id), ml_page(id));
        let map = pfs_page(id);
        let byte = Pfs::get(database.pages().read(map)?.view(), id.page);
        Ok(Allocation {
            gam: (gam, !bit(gam, PageKind::Gam)?),
            sgam: (sgam, bit(sgam, PageKind::Sgam)?),
            pfs: (map, byte),
            diff: (diff, bit(diff, PageKind::DiffMap)?),
            ml: (ml, bit(ml, PageKind::BulkMap)?),
        })
    }
}

/// A PFS byte in DBCC PAGE's words, behind the byte itself.
pub(crate) fn pfs_words(byte: Pfs) -> String {
    let mut words = String::new();
    for (bit, word) in [(Pfs::IAM, "IAM_PG "), (Pfs::MIXED, "MIXED_EXT ")] {
        if byte.0 & bit != 0 {
            words.push_str(word);
        }
    }
    words.push_str(if byte.is_allocated() { "ALLOCATED " } else { "NOT ALLOCATED " });
    let ghosts = if byte.0 & Pfs::GHOSTS != 0 { " HAS_GHOST" } else { "" };
    format!("{words}{:>3}_PCT_FULL{ghosts}", percent_full(byte))
}

/// The fullness in a PFS byte, as an upper bound in percent.
pub(crate) fn percent_full(byte: Pfs) -> u8 {
    match byte.0 & Pfs::FULLNESS {
        0 => 0,
        1 => 50,
        2 => 80,
        3 => 95,
        _ => 100,
    }
}

/// The type of a page in words; empty for an unknown type.
pub(crate) fn type_name(v: PageView<'_>) -> &'static str {
    match v.kind() {
        Some(PageKind::Data) => "DATA_PAGE",
        Some(PageKind::Index) => "INDEX_PAGE",
        Some(PageKind::TextMix) => "TEXT_MIX_PAGE",
        Some(PageKind::TextTree) => "TEXT_TREE_PAGE",
        Some(PageKind::Sort) => "SORT_PAGE",
        Some(PageKind::Gam) => "GAM_PAGE",
        Some(PageKind::Sgam) => "SGAM_PAGE",
        Some(PageKind::Iam) => "IAM_PAGE",
        Some(PageKind::Pfs) => "PFS_PAGE",
        Some(PageKind::Boot) => "BOOT_PAGE",
        Some(PageKind::FileHeader) => "FILEHEADER_PAGE",
        Some(PageKind::DiffMap) => "DIFF_MAP_PAGE",
        Some(PageKind::BulkMap) => "ML_MAP_PAGE",
        None => "",
    }
}

/// Whether some record of the page has a former version in its row, or in its database's own store.
pub(crate) fn has_persisted_versions(v: PageView<'_>) -> bool {
    let tags = (0..v.slot_count()).filter_map(|slot| v.record(slot)).filter_map(VersionTag::of);
    tags.map(VersionTag::before).any(|before| {
        matches!(before, Previous::InRow { .. })
            || matches!(before, Previous::Stored(at) if at.store == StoreKind::Own)
    })
}

/// Whether some record of the page ends in a version tag.
pub(crate) fn has_versions(v: PageView<'_>) -> bool {
    (0..v.slot_count()).filter_map(|slot| v.record(slot)).any(VersionTag::is_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pfs_byte_is_told_in_words() {
        assert_eq!(pfs_words(Pfs(0x61)), "MIXED_EXT ALLOCATED  50_PCT_FULL");
        assert_eq!(pfs_words(Pfs(0x70)), "IAM_PG MIXED_EXT ALLOCATED   0_PCT_FULL");
        assert_eq!(pfs_words(Pfs(0x44)), "ALLOCATED 100_PCT_FULL");
        assert_eq!(pfs_words(Pfs(0)), "NOT ALLOCATED   0_PCT_FULL");
    }
}
