//! A page of a version store as it was, and the versions on it.

use crate::format::StoredVersion;
use base::{DatabaseId, PageId, SlotNo};
use page::{PageBytes, PageView, StoreKind, VersionPtr};

/// A page of the store as it was.
pub struct PageCopy {
    store: StoreKind,
    id: PageId,
    /// Whose versions these are, where the store is of one database.
    database: Option<DatabaseId>,
    bytes: Box<PageBytes>,
}

impl Default for PageCopy {
    fn default() -> Self {
        let (store, id) = (StoreKind::Shared, PageId::NONE);
        PageCopy { store, id, database: None, bytes: Box::new([0; _]) }
    }
}

impl PageCopy {
    pub(crate) fn put(&mut self, store: StoreKind, id: PageId, view: PageView<'_>) {
        (self.store, self.id, self.database) = (store, id, None);
        self.bytes.copy_from_slice(view.0);
    }

    pub(crate) fn of_database(&mut self, database: DatabaseId) {
        self.database = Some(database);
    }

    /// The versions on it, by slot.
    pub fn versions(&self) -> impl Iterator<Item = (VersionPtr, StoredVersion<'_>)> {
        versions_of(self.id, &self.bytes).map(move |(at, mut version)| {
            version.origin.database = self.database.unwrap_or(version.origin.database);
            (VersionPtr { store: self.store, ..at }, version)
        })
    }
}

/// The versions that stand on a page of a store, by slot, as they stand there. Their places are
/// those of the store in tempdb.
pub fn versions_of(
    page: PageId,
    bytes: &PageBytes,
) -> impl Iterator<Item = (VersionPtr, StoredVersion<'_>)> {
    let view = PageView(bytes);
    (0..view.slot_count()).filter_map(move |slot| {
        let _ = view.slot_offset(slot).filter(|at| *at != 0)?;
        let version = StoredVersion::of(view.record(slot)?)?;
        Some((VersionPtr { store: StoreKind::Shared, page, slot: SlotNo(slot) }, version))
    })
}
