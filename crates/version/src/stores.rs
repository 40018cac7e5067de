//! `Stores`: the version stores that the rows of one database use.
//!
//! ```text
//!   home ── chooses ──▶ the shared store (tempdb)        a tag's pointer: file 1 .. 32767
//!            └────────▶ a store of its own               a tag's pointer: file 32769 .. 65533
//! ```
//!
//! The choice holds for what is put from now on. A chain may lead from one store into the other, so
//! whatever exists is found by its pointer alone, never by the choice.

use crate::error::VersionError;
use crate::format::{Origin, StoredVersion};
use crate::store::VersionStore;
use base::Xsn;
use page::{StoreKind, VersionPtr};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, OnceLock};

/// The store that databases share; there once tempdb is.
pub type SharedStore = Arc<OnceLock<Arc<dyn VersionStore>>>;

/// The version stores of one database.
pub struct Stores {
    shared: SharedStore,
    own: OnceLock<Arc<dyn VersionStore>>,
    /// A store that stands for its own one, in a test.
    substitute: OnceLock<Arc<dyn VersionStore>>,
    /// Versions go to its own store from now on.
    keeps_own: AtomicBool,
}

impl Stores {
    /// Of a database that has no store of its own.
    pub fn new(shared: &SharedStore) -> Stores {
        let shared = Arc::clone(shared);
        let (own, substitute) = (OnceLock::new(), OnceLock::new());
        Stores { shared, own, substitute, keeps_own: AtomicBool::new(false) }
    }

    /// Gives the database a store of its own. Once, when the database is wired; it is not chosen
    /// yet.
    pub fn wire_own(&self, store: Arc<dyn VersionStore>) {
        let fresh = self.own.set(store).is_ok();
        assert!(fresh, "a database is wired once");
    }

    /// Puts another store in the place of the own one, before that has a version: for tests.
    pub fn set_own(&self, store: Arc<dyn VersionStore>) {
        let fresh = self.substitute.set(store).is_ok();
        assert!(fresh, "a store is replaced once");
    }

    /// The database's own store, if it has one.
    pub fn own(&self) -> Option<&Arc<dyn VersionStore>> {
        self.substitute.get().or_else(|| self.own.get())
    }

    /// Chooses where versions go from now on: to its own store, or to the shared one.
    pub fn keep_own(&self, own: bool) {
        assert!(!own || self.own().is_some(), "a store that is chosen is there");
        self.keeps_own.store(own, Release);
    }

    /// Whether versions go to its own store.
    #[inline]
    pub fn keeps_own(&self) -> bool {
        self.keeps_own.load(Acquire)
    }

    /// Where versions go. It costs a load and a compare.
    ///
    /// # Panics
    /// Before tempdb is there, unless the database's own store is chosen.
    #[inline]
    pub fn chosen(&self) -> &Arc<dyn VersionStore> {
        let kind = if self.keeps_own() { StoreKind::Own } else { StoreKind::Shared };
        self.of(kind).expect("tempdb is there before a database has versions")
    }

    fn of(&self, kind: StoreKind) -> Option<&Arc<dyn VersionStore>> {
        match kind {
            StoreKind::Shared => self.shared.get(),
            StoreKind::Own => self.own(),
        }
    }

    /// [`VersionStore::read`] by the pointer.
    ///
    /// # Errors
    /// [`VersionError::Missing`], also where there is no such store; a page that cannot be read.
    pub fn read(
        &self,
        at: VersionPtr,
        origin: Origin,
        out: &mut Vec<u8>,
    ) -> Result<(), VersionError> {
        self.of(at.store).ok_or(VersionError::Missing(at))?.read(at, origin, out)
    }

    /// [`VersionStore::look`] by the pointer. None where there is no such version or store.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn look<R>(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        f: impl FnOnce(StoredVersion<'_>) -> R,
    ) -> Result<Option<R>, VersionError> {
        let Some(store) = self.of(at.store) else { return Ok(None) };
        let (mut f, mut shown) = (Some(f), None);
        store.look(at, superseder, &mut |v| shown = f.take().map(|f| f(v)))?;
        Ok(shown)
    }

    /// [`VersionStore::note_needed`] by the pointer.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn note_needed(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        epoch: u32,
    ) -> Result<(), VersionError> {
        self.of(at.store).map_or(Ok(()), |store| store.note_needed(at, superseder, epoch))
    }

    /// [`VersionStore::free`] by the pointer.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn free(&self, at: VersionPtr, superseder: Xsn) -> Result<(), VersionError> {
        self.of(at.store).map_or(Ok(()), |store| store.free(at, superseder))
    }

    /// [`VersionStore::relink`] by the pointer.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn relink(&self, at: VersionPtr, before: Xsn, now: Xsn) -> Result<(), VersionError> {
        self.of(at.store).map_or(Ok(()), |store| store.relink(at, before, now))
    }

    /// [`VersionStore::retag`] by the pointer.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn retag(&self, at: VersionPtr, superseder: Xsn, tag: &[u8]) -> Result<(), VersionError> {
        self.of(at.store).map_or(Ok(()), |store| store.retag(at, superseder, tag))
    }
}
