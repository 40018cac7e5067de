//! `VersionStore`: what a store of former records offers, whichever pages it has.
//!
//! A home (a database) chooses the store that its changes put their versions into; the pointer in a
//! record's tag says into which store it leads (`stores.rs`). Callers hold a store as
//! `dyn VersionStore`: a call costs one jump through a table more, beside the latch and the copy
//! that each of these functions costs anyway.

use crate::error::VersionError;
use crate::format::{Origin, StoredVersion};
use crate::page_copy::PageCopy;
use crate::place::Place;
use base::{PageId, Xsn};
use page::VersionPtr;

/// A store of former records.
pub trait VersionStore: Send + Sync {
    /// Sees to it that a record of that length can be appended at a place. The caller holds no
    /// latch.
    ///
    /// # Errors
    /// [`VersionError::Full`], or a page cannot be read.
    fn make_room(&self, place: &mut Place, record_bytes: usize) -> Result<(), VersionError>;

    /// Gives a place's page up: the unit of work rests, or the page is full.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn leave(&self, place: &mut Place) -> Result<(), VersionError>;

    /// Keeps a record as it was before `superseder` changed it, and says in which epoch what is
    /// behind it was found needed. Room was made.
    ///
    /// # Errors
    /// A page that cannot be read; nothing has changed then.
    fn append(
        &self,
        place: &mut Place,
        origin: Origin,
        superseder: Xsn,
        record: (&[u8], u32),
    ) -> Result<VersionPtr, VersionError>;

    /// Copies a version of a hobt, in place of what the buffer had.
    ///
    /// # Errors
    /// [`VersionError::Missing`] when it is not there (rule 3 says when that cannot be).
    fn read(&self, at: VersionPtr, origin: Origin, out: &mut Vec<u8>) -> Result<(), VersionError>;

    /// Shows the version that a record by `superseder` points at; false when it is not there any
    /// more.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn look(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        show: &mut dyn FnMut(StoredVersion<'_>),
    ) -> Result<bool, VersionError>;

    /// Notes the epoch of snapshots in which a version and those behind it were found needed.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn note_needed(&self, at: VersionPtr, superseder: Xsn, epoch: u32) -> Result<(), VersionError>;

    /// Takes a version out that a record by `superseder` pointed at. One that is not there any more
    /// is nobody's loss (rule 4).
    ///
    /// # Errors
    /// A page that cannot be read.
    fn free(&self, at: VersionPtr, superseder: Xsn) -> Result<(), VersionError>;

    /// Another record points at a version from now on, since the one between them goes: it becomes
    /// that of `now`. One that is not there any more is wanted by nobody.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn relink(&self, at: VersionPtr, before: Xsn, now: Xsn) -> Result<(), VersionError>;

    /// Overwrites the last bytes of a stored record: its version tag. One that is not there any
    /// more is wanted by nobody.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn retag(&self, at: VersionPtr, superseder: Xsn, tag: &[u8]) -> Result<(), VersionError>;

    /// Goes over so many pages from a position on, and takes out versions whose superseder
    /// `is_past`. No transaction in the aborted map is: the versions before it are current (txn,
    /// rule 8). It may be repeated at any time.
    ///
    /// # Errors
    /// A full log, or a page that cannot be read.
    fn reclaim(
        &self,
        from: usize,
        budget: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclamation, VersionError>;

    /// Makes pages ahead, so that writers need not wait until the store has grown: as many as were
    /// taken since the last call, and at most so many. How many wait now. A store that makes none
    /// ahead has none.
    ///
    /// # Errors
    /// [`VersionError::Full`], or a page cannot be read.
    fn make_ahead(&self, _pages_max: usize) -> Result<usize, VersionError> {
        Ok(0)
    }

    /// What it takes now.
    fn usage(&self) -> Usage;

    /// What was done in it since the start; nothing where that is not counted.
    fn activity(&self) -> Activity {
        Activity::default()
    }

    /// All its pages, those without versions among them, for views; none where it shows none.
    ///
    /// # Errors
    /// Damaged maps.
    fn shown_pages(&self) -> Result<Vec<PageId>, VersionError> {
        Ok(Vec::new())
    }

    /// Copies such a page. False when it is the store's no more.
    ///
    /// # Errors
    /// A page that cannot be read.
    fn show_page(&self, _page: PageId, _into: &mut PageCopy) -> Result<bool, VersionError> {
        Ok(false)
    }
}

/// What was done in a store since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Versions that were put.
    pub generated: u64,
    /// Times that somebody read one, or its front.
    pub retrieved: u64,
    /// Pages that the store got from the database.
    pub allocated_pages: u64,
    /// Of these, those that were made ahead.
    pub pages_ahead: u64,
    /// Pages that it gave back.
    pub deleted_pages: u64,
}

/// What a store takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Pages that it has.
    pub pages: u64,
    /// Of these, pages without versions.
    pub empty: u64,
    /// Allocation units that these are of: one, once there is a page.
    pub units: u64,
    /// Bytes of versions that were put, since the start.
    pub generated: u64,
    /// Bytes of versions that were taken out, since the start. Of a store that survives some were
    /// put earlier, so it may be more.
    pub cleaned: u64,
}

/// What a step of reclaiming did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reclamation {
    /// Pages that were looked at.
    pub pages: usize,
    /// Versions taken out.
    pub versions: usize,
    /// Pages given back to the database that has the store.
    pub freed: usize,
    /// Of each page that keeps versions the lowest superseder that is not past. A store that does
    /// not look says nothing.
    pub kept_for: Vec<Xsn>,
    /// Where the next step begins; `None` at the end of the store.
    pub next: Option<usize>,
}
