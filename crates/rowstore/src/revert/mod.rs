//! Revert: puts the version before in the place of a record by an aborted transaction.
//!
//! ```text
//!   record by an aborted writer      what it becomes                            its tag
//!   with a stored version            the stored record; the version is freed    its own
//!   a ghost that was a row           that row                                   (born, none)
//!   with an in-row version           that row                                   (born, none)
//!   with nothing before it           a ghost of nobody, noted for the cleaner   (0, none)
//! ```
//!
//! Accelerated recovery leaves the records of an aborted transaction on their pages, and readers go
//! to the version before (`current.rs`). A writer that meets such a record reverts it first, and
//! then begins its search again. So does a sweep (`sweep.rs`), which goes over whole hobts, so that
//! the aborted map can forget the transaction. `entry.rs` has records of trees, `row.rs` those of
//! heaps. A split and REORGANIZE move such records as they are; a bulk load meets none.
//!
//! Invariants
//!  1. Nobody builds on a record by an aborted transaction: no undo image, no stored version and no
//!     tag of another transaction has its number. `RowHobt::link` asserts that.
//!  2. A revert is a log group that no transaction undoes (`Undo::Never`). It changes no row:
//!     `current` gives the same row before it and after it. So it needs no lock, only the exclusive
//!     latch. A writer that holds X on the row may find it reverted, and nothing else changed.
//!  3. The stored version is freed behind the group, and under the latch. So a crash in between
//!     leaves a version that nothing leads to, and never a record whose version is gone.
//!  4. The version chain behind the record that comes back is as it was: a writer has kept it up in
//!     the stored record (`ChainChange`), and nobody else changes the chain of an aborted record.
//!  5. `RowHobt::count_rows` counts what a writer did when it did it. A revert takes that back,
//!     unless the rows were counted while the writer was in the map (`counted_without`).
//!  6. Log is reserved while no latch is held. A writer waits where the log is full, a sweep does
//!     not.

mod entry;
mod row;
mod sweep;

pub(crate) use sweep::PageList;

use crate::current::before_aborted;
use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use crate::place::Place;
use crate::versions::revive;
use base::{PageId, SqlError, Xsn, messages};
use btree::{KeyBuf, KeyFields};
use os::wait::Waiter;
use page::{Field, Previous, RecordKind, VersionTag};
use std::sync::Arc;
use version::VersionPtr;
use wal::{Group, LogReservation};
use work::Work;

/// Log for one group: a few records, or a record of the greatest length and the one before it; and
/// for freeing their versions, where their store is logged.
const GROUP_LOG_BYTES: u64 = 48 << 10;

/// A group is not begun with more records than have so many bytes, before and after.
const GROUP_BYTES: usize = 8 << 10;

/// How reverts come to their log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LogRight {
    /// They wait for a checkpoint where the log is full.
    Waits,
    /// They fail there.
    Asks,
    /// It was promised to the transaction that is undone (`work::Part`).
    Promised,
}

/// The log that reverts need, and the buffer of their groups.
pub(crate) struct RevertLog {
    log: LogReservation,
    group: Group,
    waiter: Arc<Waiter>,
    right: LogRight,
    /// Whose promised bytes on pages of a heap it may use: those of the transaction that is undone.
    own: u32,
    /// Pages that have got ghosts by a split.
    moved: Vec<PageId>,
}

impl RevertLog {
    fn new(hobt: &RowHobt, waiter: &Arc<Waiter>, right: LogRight) -> RevertLog {
        let (log, waiter) = (LogReservation::none(hobt.home.log()), Arc::clone(waiter));
        RevertLog { log, group: Group::new(), waiter, right, own: 0, moved: Vec::new() }
    }

    /// Holds so much log at least; no latch is held.
    fn reserve(&mut self, bytes: u64) -> RowResult<()> {
        let missing = bytes.saturating_sub(self.log.bytes());
        match self.right {
            LogRight::Promised => {}
            LogRight::Waits => {
                self.log.patiently(Some(&self.waiter), |log| log.grow(missing))?;
                self.log.patiently(Some(&self.waiter), LogReservation::confirm)?;
            }
            LogRight::Asks => {
                self.log.grow(missing)?;
                self.log.confirm()?;
            }
        }
        Ok(())
    }
}

/// What a record by an aborted transaction becomes.
struct Former {
    slot: u16,
    /// The number in the tag of the record.
    writer: Xsn,
    /// With its own tag. One that was stored has the form of a row at home.
    record: Vec<u8>,
    is_stored: bool,
    /// Stored versions that nothing leads to any more, each with the number of its superseder.
    free: Vec<(VersionPtr, Xsn)>,
}

/// What a group of reverts did.
#[derive(Default)]
struct Tally {
    reverted: u64,
    rows: i64,
    free: Vec<(VersionPtr, Xsn)>,
}

impl RowHobt {
    /// Whether a record's writer is in the aborted map. Its page is latched.
    #[inline]
    pub(crate) fn is_aborted(&self, record: &[u8], place: Place) -> bool {
        !self.home.aborted().is_empty()
            && before_aborted(&self.home, self.tag_of(record, place)).is_some()
    }

    /// A writer has met a record by an aborted transaction at the place of a key: it is reverted.
    /// No latch is held, and the writer begins its search again.
    #[cold]
    pub(crate) fn revert_key(&self, work: &mut Work, key: &[Field<'_>]) -> RowResult<()> {
        let mut log = RevertLog::new(self, work.owner().waiter(), LogRight::Waits);
        self.revert_entries(&mut log, key)?;
        for page in log.moved.drain(..) {
            work.ghosts_moved(&self.settler(), page);
        }
        Ok(())
    }

    /// The same at the place of a RID.
    #[cold]
    pub(crate) fn revert_rid(&self, work: &Work, home: Place) -> RowResult<()> {
        let mut log = RevertLog::new(self, work.owner().waiter(), LogRight::Waits);
        self.revert_row(&mut log, home).map(drop)
    }

    /// The same as [`Self::revert_key`] for an undo: a later part of the transaction was aborted,
    /// and now an earlier change of the same row is undone.
    #[cold]
    pub(crate) fn revert_key_for_undo(&self, key: &[Field<'_>]) -> RowResult<()> {
        let mut log = RevertLog::new(self, &Arc::default(), LogRight::Promised);
        self.revert_entries(&mut log, key)?;
        log.moved.drain(..).for_each(|page| self.home.ghosts().note(page));
        Ok(())
    }

    /// The same at the place of a RID.
    pub(crate) fn revert_rid_for_undo(&self, home: Place, own: u32) -> RowResult<()> {
        if self.home.aborted().is_empty() {
            return Ok(());
        }
        let log = RevertLog::new(self, &Arc::default(), LogRight::Promised);
        self.revert_row(&mut RevertLog { own, ..log }, home).map(drop)
    }

    /// What a record becomes, if its writer is in the aborted map. Its page is latched.
    ///
    /// # Errors
    /// A version that is not there, or cannot be read.
    fn former_of(&self, record: &[u8], place: Place) -> RowResult<Option<Former>> {
        let Some(tag) = self.tag_of(record, place) else { return Ok(None) };
        let Some(mut before) = before_aborted(&self.home, Some(tag)) else { return Ok(None) };
        let mut former = Former {
            slot: place.1,
            writer: tag.writer,
            record: record.to_vec(),
            is_stored: false,
            free: Vec::new(),
        };
        let mut superseder = tag.writer;
        loop {
            match before {
                Previous::None => {
                    if former.is_stored {
                        // Several numbers of a transaction were aborted, and the first made the
                        // row. The record that is there becomes the ghost, in its place.
                        former.record = record.to_vec();
                        former.is_stored = false;
                    }
                    self.give_to_nobody(&mut former.record, place)?;
                    return Ok(Some(former));
                }
                Previous::Itself(born) if self.home.aborted().contains(born) => {
                    before = Previous::None;
                }
                Previous::Itself(born) => {
                    revive(&mut former.record);
                    // Where the tag is beside the page, the row had none.
                    if VersionTag::is_on(&former.record) {
                        VersionTag::new(born, Previous::None).put(&mut former.record);
                    }
                    return Ok(Some(former));
                }
                Previous::InRow { born, .. } if self.home.aborted().contains(born) => {
                    before = Previous::None;
                }
                Previous::InRow { .. } => {
                    let kept = std::mem::take(&mut former.record);
                    self.in_row_former(&kept, place.0, &mut former.record)?;
                    return Ok(Some(former));
                }
                Previous::Lost(_) => return Err(no_version(place, "was not kept")),
                Previous::Stored(at) => {
                    former.record = self.stored(at, superseder, (record, place))?;
                    former.is_stored = true;
                    former.free.push((at, superseder));
                    let tag = VersionTag::of(&former.record);
                    let Some(behind) = before_aborted(&self.home, tag) else {
                        return Ok(Some(former));
                    };
                    (before, superseder) = (behind, tag.map_or(Xsn::NONE, |tag| tag.writer));
                }
            }
        }
    }

    /// A stored record that is to come back in the place of another of its row.
    fn stored(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        (record, place): (&[u8], Place),
    ) -> RowResult<Vec<u8>> {
        let stores = self.home.version_stores();
        let image = stores.look(at, superseder, |v| (v.origin, v.record.to_vec()))?;
        let image = image.filter(|(origin, _)| *origin == self.origin()).map(|(_, image)| image);
        let image = image.ok_or_else(|| no_version(place, "is gone"))?;
        let fits = match &self.tree {
            None => image.first().is_some_and(|b| RecordKind::of(*b) == RecordKind::Primary),
            Some(tree) => {
                let mut key = KeyFields::default();
                tree.key_of(&image, &mut key).is_some()
                    && tree.compare(record, key.as_slice()) == Some(std::cmp::Ordering::Equal)
            }
        };
        match fits {
            true => Ok(image),
            false => Err(no_version(place, "is of another row")),
        }
    }

    /// Makes a record a ghost that no transaction has left: nobody takes it back, and no snapshot
    /// needs it.
    fn give_to_nobody(&self, record: &mut Vec<u8>, (page, _): Place) -> RowResult<()> {
        if !page::is_ghost_record(record) {
            let kind = RecordKind::of(record[0]).ghosted();
            let what = "a record by an aborted transaction is no row";
            let kind = kind.ok_or_else(|| self.home.pages.corrupt(page, what))?;
            record[0] = RecordKind::with_kind(record[0], kind);
        }
        VersionTag::new(Xsn::NONE, Previous::None).put(record);
        Ok(())
    }

    /// Counts a record that is about to be replaced by what was before it.
    fn tally(&self, tally: &mut Tally, now: &[u8], former: &Former) {
        let rows = |record: &[u8]| i64::from(!page::is_ghost_record(record));
        tally.reverted += 1;
        tally.free.extend_from_slice(&former.free);
        if !self.state.counted_without.lock().contains(&former.writer) {
            tally.rows += rows(&former.record) - rows(now);
        }
    }

    /// Invariant 3, while the page is latched still.
    fn free_reverted(&self, tally: &Tally) {
        for (at, superseder) in &tally.free {
            // What cannot be freed now is left to the store's reclaimer.
            let _ = self.home.version_stores().free(*at, *superseder);
        }
    }
}

/// The key of a record of a tree.
fn key_of(hobt: &RowHobt, record: &[u8], page: PageId) -> RowResult<KeyBuf> {
    let mut key = KeyBuf::default();
    let what = "a record has no key";
    hobt.tree().copy_key(record, &mut key).ok_or_else(|| hobt.home.pages.corrupt(page, what))?;
    Ok(key)
}

/// A change whose version cannot be kept is refused where transactions are undone by their
/// versions. So this is our bug, or damage.
#[cold]
fn no_version((page, slot): Place, how: &str) -> RowError {
    let what = format!("the version before the aborted record at ({page}:{slot}) {how}");
    RowError::Sql(SqlError::new(messages::INTERNAL, &[&what]))
}
