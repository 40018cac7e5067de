//! Ghosts of a heap that have no room for a version tag.
//!
//! A row that is older than its database's versions, is shorter than a tag and its front, and lies
//! on a full page becomes a ghost without a tag. This list holds its deleter. Snapshots do not
//! outlive the process, so this list need not either. An entry takes 32 bytes, and is removed with
//! its ghost.
//!
//! Where transactions are undone by their versions, a later start asks who has deleted a row. There
//! nothing comes into this list (`RowHobt::heap_delete`).

use base::{PageId, Xsn};
use os::sync::Mutex;
use page::{Previous, VersionTag};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// The deleters of a heap's ghosts that have no tag.
#[derive(Default)]
pub(crate) struct BareGhosts {
    /// Their number. Mostly it is 0, and then no further check is made.
    count: AtomicUsize,
    deleters: Mutex<BTreeMap<(PageId, u16), Xsn>>,
}

impl BareGhosts {
    /// A row becomes a ghost without a tag; its page is latched.
    pub(crate) fn note(&self, place: (PageId, u16), deleter: Xsn) {
        let mut deleters = self.deleters.lock();
        deleters.insert(place, deleter);
        self.count.store(deleters.len(), Release);
    }

    /// The ghost is gone, or a row again; its page is latched.
    pub(crate) fn forget(&self, place: (PageId, u16)) {
        if self.count.load(Acquire) == 0 {
            return;
        }
        let mut deleters = self.deleters.lock();
        deleters.remove(&place);
        self.count.store(deleters.len(), Release);
    }

    /// The tag of a record, which a ghost may have here; its page is latched.
    #[inline]
    pub(crate) fn tag_of(&self, record: &[u8], place: (PageId, u16)) -> Option<VersionTag> {
        let bare = || self.tag(place).filter(|_| page::is_ghost_record(record));
        VersionTag::of(record).or_else(bare)
    }

    /// The tag that such a ghost would have.
    fn tag(&self, place: (PageId, u16)) -> Option<VersionTag> {
        if self.count.load(Acquire) == 0 {
            return None;
        }
        let deleter = self.deleters.lock().get(&place).copied()?;
        Some(VersionTag::new(deleter, Previous::Itself(Xsn::NONE)))
    }
}
