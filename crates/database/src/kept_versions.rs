//! The versions that a database has in its own store, for views and for DBCC PAGE.

use crate::database::Database;
use base::{PageId, SqlError, SqlResult};
use os::wait::Waiter;
use page::{PageBytes, PageView};
use rowstore::KeptVersion;
use version::{PageCopy, StoredVersion, VERSION_UNIT, VersionPtr};

impl Database {
    /// Goes over the store's pages. `each` gets all versions of one page at a time; what it is told
    /// of a page is true of one moment.
    ///
    /// # Errors
    /// A page that cannot be read, the waiter's cancellation, those of `each`.
    pub fn own_versions(
        &self,
        waiter: &Waiter,
        each: &mut dyn FnMut(PageId, &[KeptVersion<'_>]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(store) = self.home.version_stores().own() else { return Ok(()) };
        let failed = |e: version::VersionError| e.into_sql(&self.home.name());
        let mut copy = PageCopy::default();
        for page in store.shown_pages().map_err(failed)? {
            waiter.check().map_err(SqlError::from)?;
            if store.show_page(page, &mut copy).map_err(failed)? {
                let versions: Vec<_> = copy.versions().map(kept).collect();
                each(page, &versions)?;
            }
        }
        Ok(())
    }
}

fn kept<'p>((place, v): (VersionPtr, StoredVersion<'p>)) -> KeptVersion<'p> {
    let (superseder, record) = (v.superseder, v.record);
    KeptVersion { place, superseder, database: v.origin.database, hobt: v.origin.hobt, record }
}

/// The versions on a page of a version store, of tempdb or of a database; none of another page.
pub fn versions_on(page: PageId, bytes: &PageBytes) -> Option<Vec<KeptVersion<'_>>> {
    (PageView(bytes).alloc_unit() == VERSION_UNIT)
        .then(|| version::versions_of(page, bytes).map(kept).collect())
}
