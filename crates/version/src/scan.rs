//! Looking at all that is kept: for those who ask what the store has.
//!
//! A page is copied under its latch and looked at without one, so nobody waits longer for a look
//! than for a reader. What is told of a page is true of one moment; of two pages, of two.

use crate::error::VersionError;
use crate::page_copy::PageCopy;
use crate::tempdb_store::{TempdbStore, owned};
use base::PageId;
use page::StoreKind;

impl TempdbStore {
    /// All its pages, those without versions among them.
    pub fn pages(&self) -> Vec<PageId> {
        self.lists.lock().all.clone()
    }

    /// Copies a page. False when it is the store's no more.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn copy_page(&self, page: PageId, into: &mut PageCopy) -> Result<bool, VersionError> {
        match self.space.pages().read(page) {
            Ok(guard) if owned(guard.view()).is_some() => {
                into.put(StoreKind::Shared, page, guard.view());
                Ok(true)
            }
            Ok(_) => Ok(false),
            // A page that was given back may be nowhere to be read.
            Err(_) if !self.is_own(page) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }
}
