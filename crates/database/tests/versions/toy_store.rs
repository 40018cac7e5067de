//! A version store of the plainest kind: former records in a map.

use base::{Lsn, PageId, SlotNo, Xsn};
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use version::{
    Origin, Place, Reclamation, StoreKind, StoredVersion, Usage, VersionError, VersionPtr,
    VersionStore,
};

/// Any record fits a place.
const ROOM: usize = 1 << 20;

#[derive(Clone)]
struct KeptVersion {
    superseder: Xsn,
    origin: Origin,
    needed_in: u32,
    record: Vec<u8>,
}

#[derive(Clone, Default)]
struct Versions {
    kept: BTreeMap<VersionPtr, KeptVersion>,
    usage: Usage,
    reads: u64,
    /// A log that was written before versions are freed, and how far it was each time.
    log: Option<Arc<wal::Log>>,
    freed_behind: Vec<Lsn>,
}

#[derive(Default)]
pub(crate) struct ToyStore(Mutex<Versions>);

impl ToyStore {
    pub(crate) fn new() -> Arc<ToyStore> {
        Arc::default()
    }

    /// How often a version was read, or looked at.
    pub(crate) fn reads(&self) -> u64 {
        self.0.lock().reads
    }

    /// A store that has what this one has now: what a crash leaves of it.
    pub(crate) fn copy(&self) -> Arc<ToyStore> {
        Arc::new(ToyStore(Mutex::new(self.0.lock().clone())))
    }

    /// From now on a log is looked at when a version is freed.
    pub(crate) fn watch(&self, log: &Arc<wal::Log>) {
        self.0.lock().log = Some(Arc::clone(log));
    }

    /// The last record of that log at each time when a version was freed since it was asked last.
    pub(crate) fn freed_behind(&self) -> Vec<Lsn> {
        std::mem::take(&mut self.0.lock().freed_behind)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().kept.len()
    }

    /// Changes the version that a record by `superseder` points at, if it is there.
    fn change(&self, at: VersionPtr, superseder: Xsn, change: impl FnOnce(&mut KeptVersion)) {
        assert_eq!(at.store, StoreKind::Own, "a pointer into another store leads here");
        let mut versions = self.0.lock();
        versions.kept.get_mut(&at).filter(|k| k.superseder == superseder).map(change);
    }
}

impl VersionStore for ToyStore {
    fn make_room(&self, place: &mut Place, _: usize) -> Result<(), VersionError> {
        if place.page().is_none() {
            place.take(PageId::new(1, 1), ROOM);
        }
        Ok(())
    }

    fn leave(&self, place: &mut Place) -> Result<(), VersionError> {
        place.clear();
        Ok(())
    }

    fn append(
        &self,
        place: &mut Place,
        origin: Origin,
        superseder: Xsn,
        (record, needed_in): (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        assert!(place.has_room(record.len()), "room was made");
        let mut versions = self.0.lock();
        versions.usage.generated += 1;
        let number = versions.usage.generated as u32;
        let at = VersionPtr::own(PageId::new(1 + (number % 3) as u16, number), SlotNo(7));
        let kept = KeptVersion { superseder, origin, needed_in, record: record.to_vec() };
        assert!(versions.kept.insert(at, kept).is_none(), "a place is given once");
        Ok(at)
    }

    fn read(&self, at: VersionPtr, origin: Origin, out: &mut Vec<u8>) -> Result<(), VersionError> {
        assert_eq!(at.store, StoreKind::Own, "a pointer into another store leads here");
        let mut versions = self.0.lock();
        versions.reads += 1;
        let kept = versions.kept.get(&at).filter(|k| k.origin == origin);
        out.clone_from(&kept.ok_or(VersionError::Missing(at))?.record);
        Ok(())
    }

    fn look(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        show: &mut dyn FnMut(StoredVersion<'_>),
    ) -> Result<bool, VersionError> {
        assert_eq!(at.store, StoreKind::Own, "a pointer into another store leads here");
        let mut versions = self.0.lock();
        versions.reads += 1;
        let Some(kept) = versions.kept.get(&at).filter(|k| k.superseder == superseder) else {
            return Ok(false);
        };
        let KeptVersion { origin, needed_in, ref record, .. } = *kept;
        show(StoredVersion { superseder, origin, needed_in, record });
        Ok(true)
    }

    fn note_needed(&self, at: VersionPtr, superseder: Xsn, epoch: u32) -> Result<(), VersionError> {
        self.change(at, superseder, |kept| kept.needed_in = epoch);
        Ok(())
    }

    fn free(&self, at: VersionPtr, superseder: Xsn) -> Result<(), VersionError> {
        let mut versions = self.0.lock();
        if versions.kept.get(&at).is_some_and(|k| k.superseder == superseder) {
            versions.kept.remove(&at);
            versions.usage.cleaned += 1;
            let last = versions.log.as_ref().map(|log| log.last_lsn());
            versions.freed_behind.extend(last);
        }
        Ok(())
    }

    fn relink(&self, at: VersionPtr, before: Xsn, now: Xsn) -> Result<(), VersionError> {
        self.change(at, before, |kept| kept.superseder = now);
        Ok(())
    }

    fn retag(&self, at: VersionPtr, superseder: Xsn, tag: &[u8]) -> Result<(), VersionError> {
        self.change(at, superseder, |kept| {
            let end = kept.record.len() - tag.len();
            kept.record[end..].copy_from_slice(tag);
        });
        Ok(())
    }

    fn reclaim(
        &self,
        _: usize,
        _: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclamation, VersionError> {
        let mut versions = self.0.lock();
        let before = versions.kept.len();
        versions.kept.retain(|_, kept| !is_past(kept.superseder));
        let gone = before - versions.kept.len();
        versions.usage.cleaned += gone as u64;
        Ok(Reclamation { versions: gone, ..Reclamation::default() })
    }

    fn usage(&self) -> Usage {
        self.0.lock().usage
    }
}
