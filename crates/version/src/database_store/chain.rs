//! Changes of versions that are there: one is freed, or gets another tag or superseder. Whoever
//! makes them holds the latch of the row's page.
//!
//! Each is a log group of its own. A writer that prunes a chain makes them before its own change is
//! logged. If a crash keeps them and loses the row's change:
//!
//!  1. A version that was freed lay behind a record whose writer is committed, and no snapshot
//!     needed it. Snapshots end with the process.
//!  2. A tag or superseder that was written over is of a version behind a committed record, too.
//!     After a start nobody reads those, and the background takes them out by either superseder.
//!
//! An undo or a revert takes the record itself back that leads to a version. So it frees the
//! version behind its own change in the log: a crash in between leaves a version that nobody wants.

use super::DatabaseStore;
use super::budget::logged_bytes;
use super::redo::{self, kinds};
use crate::error::VersionError;
use crate::format::UNIT;
use crate::tempdb_store::is_empty;
use base::Xsn;
use buffer::{Change, Undo};
use page::VersionPtr;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, TransactionChain};

impl DatabaseStore {
    /// Overwrites bytes of a version that a record by `superseder` points at, if it is there still.
    pub(super) fn patch(
        &self,
        VersionPtr { page, slot, .. }: VersionPtr,
        superseder: Xsn,
        at: impl FnOnce(&[u8]) -> usize,
        bytes: &[u8],
    ) -> Result<(), VersionError> {
        let pages = self.space.pages();
        let Some(guard) = self.write_own(page)? else { return Ok(()) };
        let version = self.version_at(guard.view(), slot, superseder);
        let Some(at) = version.map(|v| at(v.record) as u16) else { return Ok(()) };
        let mut payload = at.to_le_bytes().to_vec();
        payload.extend_from_slice(bytes);
        if let Err(what) = redo::fits(guard.view(), kinds::PATCH, slot.0, &payload) {
            return Err(pages.corrupt(page, what).into());
        }
        self.chains.take_kept(pages.log(), logged_bytes(payload.len()));
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let on = change.add(guard);
        change.apply(on, UNIT, kinds::PATCH, slot.0, &[&payload], Undo::Never);
        change.finish(&mut TransactionChain::default());
        Ok(())
    }

    /// Frees a version that a record by `superseder` pointed at, if it is there still. Where the
    /// log has no room, it is left to the background.
    pub(super) fn free_one(
        &self,
        VersionPtr { page, slot, .. }: VersionPtr,
        superseder: Xsn,
    ) -> Result<(), VersionError> {
        let pages = self.space.pages();
        let Some(guard) = self.write_own(page)? else { return Ok(()) };
        if self.version_at(guard.view(), slot, superseder).is_none() {
            return Ok(());
        }
        if let Err(what) = redo::fits(guard.view(), kinds::CLEAR, slot.0, &[]) {
            return Err(pages.corrupt(page, what).into());
        }
        if !self.chains.take(pages.log(), logged_bytes(0)) {
            return Ok(());
        }
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let on = change.add(guard);
        let before = change.view(on).record(slot.0).map_or(0, <[u8]>::len);
        change.apply(on, UNIT, kinds::CLEAR, slot.0, &[], Undo::Never);
        self.cleaned.fetch_add(before as u64, Relaxed);
        if is_empty(change.view(on)) {
            self.note_use(page, change.view(on), false);
        }
        change.finish(&mut TransactionChain::default());
        Ok(())
    }
}
