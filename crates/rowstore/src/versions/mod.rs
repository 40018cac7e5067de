//! Versions of rows: finds the version that a reader as of a moment sees, and keeps versions for
//! such readers when a writer changes a row.
//!
//! ```text
//!   row (w2, ─┐)        the leaf, latched
//!             └─> image of it before w2: (w1, ─┐)       the store
//!                                              └─> image before w1: untagged
//! ```
//!
//! A reader follows the pointers to the first version whose writer its snapshot sees. If the bytes
//! of a ghost are its only former version, its tag says so (`Previous::Itself`), and nothing is
//! stored. A small former row may stay in the record itself (`Previous::InRow`, `in_row.rs`). If
//! the store had no room, the tag names the writer since whose version nothing was kept
//! (`Previous::Lost`).
//!
//! Invariants
//!  1. A chain is changed by who holds its row X, and followed by those whose snapshot needs it:
//!     what they need stays (README.md of `version`, rule 3). A revert takes the record at its
//!     begin away without that lock: under the exclusive latch of the row's page, and only where
//!     the record's writer was aborted, so that nobody holds the row for a change that he has made.
//!  2. What is dropped from a chain is freed behind the change that drops it, so that a change
//!     which fails has left the chain as it was, and under the row's latch, so that nobody is on
//!     it.
//!  3. A writer looks at the version before its own and at those behind it as far as a snapshot
//!     that has ended since the last look may have read them.
//!  4. Who finds a version lost that his snapshot may need is refused. A change that keeps none has
//!     dropped nothing from its chain either: so its undo takes the pointer that was logged.
//!     Who is undone by his versions never goes without one: such a change is refused.
//!  5. What is behind a version that is gone is lost to whoever is older than its end: victims
//!     alone, for whom the store has waited no more. A ghost waits for them as for any other.

pub(crate) mod in_row;
mod in_row_pass;
pub(crate) mod kept;
mod replacement;

use crate::current::{CurrentRow, before_aborted, current};
use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use crate::versions::in_row::ReplacedRecord;
use access::{Deed, Granule, Isolation, LockPlan, Strength};
use base::limits::VERSION_TAG_BYTES;
use base::{PageId, Xsn};
use buffer::Change;
use page::{
    Field, IN_ROW_BYTES_MAX, InRowVersion, Previous, RID_BYTES, RecordKind, StoreKind, VersionTag,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{CommitTime, Lifetime, Mutation, Outcome, Retention};
use version::{Origin, VersionError, VersionPtr};
use wal::TransactionChain;
use work::{Engine, GhostRule, Home, STATEMENT_VERSIONS, TRANSACTION_VERSIONS, Work};

/// The version of a row that a reader as of a moment sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visibility {
    /// The record as it stands.
    AsItIs,
    /// A former version, which was copied.
    Former,
    /// No row.
    Nothing,
}

/// The changes of a chain that belong to a change of its row.
pub(crate) struct ChainChange {
    /// The database whose stores have the chain; `None` if there is no chain.
    home: Option<Arc<Home>>,
    /// The first version that is left.
    previous: Previous,
    /// Dropped versions, each with its superseder.
    free: Vec<(VersionPtr, Xsn)>,
    /// Versions that get another superseder: the old one and the new one.
    relink: Vec<(VersionPtr, Xsn, Xsn)>,
    /// Kept versions, each with its superseder, whose own tag changes.
    retag: Vec<(VersionPtr, Xsn, VersionTag)>,
    /// A kept version with its superseder, and the epoch in which it was found needed.
    needed: Option<(VersionPtr, Xsn, u32)>,
}

impl Default for ChainChange {
    fn default() -> Self {
        ChainChange {
            home: None,
            previous: Previous::None,
            free: Vec::new(),
            relink: Vec::new(),
            retag: Vec::new(),
            needed: None,
        }
    }
}

/// The tag of a record that replaces another, or the room that is missing for it.
enum Link {
    Ready(VersionTag, ChainChange),
    /// The replaced record stays in the new one and takes so many bytes there; with the number of
    /// who wrote it.
    InRow(usize, Xsn, ChainChange),
    /// A record of this length must be kept, and the store has no room for it.
    Room(usize),
}

/// A record that is about to be written, with its tag if it gets one.
pub(crate) struct TaggedRecord<'r> {
    pub(crate) record: Cow<'r, [u8]>,
    /// The writer's number, if the record is tagged.
    pub(crate) xsn: Option<Xsn>,
    /// The changes of the chain of the record that is replaced.
    pub(crate) tested: ChainChange,
    /// The record is a ghost that keeps the bytes of its row.
    stays: bool,
    /// The bytes of the in-row version that it gets where its page is changed; 0 for none.
    pub(crate) in_row: usize,
}

impl RowHobt {
    /// Whether records that are written here now get tags.
    #[inline]
    fn is_versioned(&self) -> bool {
        self.spec.versions && self.home.is_versioned()
    }

    /// The lock plan of a reference for this hobt. It reads as of a moment only if rows here have
    /// versions for its isolation level.
    pub(crate) fn moment(&self, plan: &LockPlan) -> LockPlan {
        let asked = match plan.isolation {
            Isolation::ReadCommitted => STATEMENT_VERSIONS,
            Isolation::Snapshot => TRANSACTION_VERSIONS,
            Isolation::ReadUncommitted | Isolation::RepeatableRead | Isolation::Serializable => 0,
        };
        let has = self.spec.versions && self.home.versioning() & asked != 0;
        let whole = plan.granule == Granule::Table;
        if plan.isolation != Isolation::Snapshot {
            let plain = plan.strength == Strength::Shared && !plan.hold && !whole;
            return LockPlan { as_of: plan.as_of.filter(|_| plain && has), ..*plan };
        }
        let as_of = plan.as_of.filter(|_| has);
        // A row is locked, and judged, only when it is changed.
        let searches = as_of.is_some() && plan.strength == Strength::Update && !plan.hold && !whole;
        let strength = if searches { Strength::Shared } else { plan.strength };
        LockPlan { as_of, strength, kept_back: plan.kept_back && !searches, ..*plan }
    }

    /// Refuses to change a locked row if another transaction has changed it since the changer's
    /// moment.
    pub(crate) fn judge(
        &self,
        work: &Work,
        plan: &LockPlan,
        (record, place): (&[u8], (PageId, u16)),
    ) -> RowResult<()> {
        let Some(at) = plan.unchanged_since else { return Ok(()) };
        debug_assert!(!self.is_aborted(record, place), "what it wrote is no change of the row");
        match self.tag_of(record, place) {
            Some(tag) if !self.sees(work, at, tag.writer) => Err(conflict(work, plan)),
            Some(_) | None => Ok(()),
        }
    }

    /// The same before a new record replaces a ghost with the same key. It is refused if the
    /// changer sees the row that the ghost was, or a row with this key whose ghost has left the
    /// leaf. A transaction may insert again what it has deleted itself.
    pub(crate) fn judge_ghost(
        &self,
        work: &Work,
        plan: &LockPlan,
        (ghost, place): (&[u8], (PageId, u16)),
        key: &[Field<'_>],
    ) -> RowResult<()> {
        let Some(at) = plan.unchanged_since else { return Ok(()) };
        if self.is_own(work, ghost) {
            return Ok(());
        }
        self.judge_graves(work, plan, key)?;
        match self.as_of(work, at, (ghost, place), &mut Vec::new())? {
            Visibility::Former => Err(conflict(work, plan)),
            Visibility::AsItIs | Visibility::Nothing => Ok(()),
        }
    }

    /// Whether the transaction itself was the last writer of a record.
    pub(crate) fn is_own(&self, work: &Work, record: &[u8]) -> bool {
        VersionTag::of(record).is_some_and(|tag| work.owns(tag.writer))
    }

    /// Draws the transaction's number if records here get tags. The caller holds no latch.
    pub(crate) fn draw(&self, work: &mut Work) -> RowResult<Option<Xsn>> {
        if !self.is_versioned() {
            return Ok(None);
        }
        work.asks_for_room_anew();
        let xsn = work.versions_in(&self.home)?;
        if self.is_optimized() {
            work.lock_itself(&self.home, xsn)?;
        }
        Ok(Some(xsn))
    }

    /// Prepares a record that is about to be written. It already has room for its tag, which is
    /// filled in later. The caller holds no latch.
    pub(crate) fn written<'r>(
        &self,
        work: &mut Work,
        record: &'r [u8],
    ) -> RowResult<TaggedRecord<'r>> {
        let xsn = self.draw(work)?;
        let mut record = Cow::Borrowed(record);
        if xsn.is_some() {
            // With room for the tag and a short in-row version.
            let mut tagged = Vec::with_capacity(record.len() + 48);
            tagged.extend_from_slice(&record);
            record = Cow::Owned(tagged);
        }
        Ok(TaggedRecord::by(xsn, record))
    }

    /// The same for a record of the caller's, which gets its tag without a copy.
    pub(crate) fn written_whole(
        &self,
        work: &mut Work,
        record: Vec<u8>,
    ) -> RowResult<TaggedRecord<'static>> {
        Ok(TaggedRecord::by(self.draw(work)?, Cow::Owned(record)))
    }

    /// The transaction's number for a change under a latch; it was drawn before. A transaction
    /// without a number began when no reader used versions, and ends before any reader uses them.
    pub(crate) fn drawn(&self, work: &Work) -> Option<Xsn> {
        work.versions_drawn(&self.home).filter(|_| self.is_versioned())
    }

    /// The ghost that a live record becomes.
    pub(crate) fn ghost_of(&self, work: &Work, old: &[u8]) -> TaggedRecord<'static> {
        let mut record = old.to_vec();
        let kind = RecordKind::of(old[0]).ghosted().expect("a row becomes a ghost");
        record[0] = RecordKind::with_kind(record[0], kind);
        let xsn = self.drawn(work);
        if let Some(xsn) = xsn {
            VersionTag::new(xsn, Previous::None).put(&mut record);
        }
        TaggedRecord {
            record: Cow::Owned(record),
            xsn,
            tested: ChainChange::default(),
            stays: true,
            in_row: 0,
        }
    }

    /// Fills in the tag of a record that replaces `old`, if it replaces one; in front of it, the
    /// former row, if that stays there. Returns the length of the image if the store has no room
    /// for it.
    pub(crate) fn link_to(
        &self,
        work: &mut Work,
        new: &mut TaggedRecord<'_>,
        old: Option<ReplacedRecord<'_>>,
    ) -> RowResult<Option<usize>> {
        let (Some(xsn), Some(old)) = (new.xsn, old) else { return Ok(None) };
        match self.link(work, xsn, old, (&new.record, new.stays))? {
            Link::InRow(_, born, tested) => {
                let version = InRowVersion::of(old.record, &new.record, IN_ROW_BYTES_MAX);
                let version = version.expect("it takes as many bytes as it was told");
                version.put(new.record.to_mut(), xsn, born);
                self.leaves_in_row(new, tested);
                Ok(None)
            }
            Link::Ready(tag, tested) => {
                tag.put(new.record.to_mut());
                new.tested = tested;
                Ok(None)
            }
            Link::Room(bytes) => Ok(Some(bytes)),
        }
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { database: self.home.database, hobt: self.spec.hobt }
    }

    /// The tag of a record. A ghost of a heap may have its tag in memory instead of on its page.
    pub(crate) fn tag_of(&self, record: &[u8], place: (PageId, u16)) -> Option<VersionTag> {
        self.state.bare.tag_of(record, place)
    }

    /// The current row of a record. Its page is latched.
    #[inline]
    pub(crate) fn current<'r>(&self, record: &'r [u8], place: (PageId, u16)) -> CurrentRow<'r> {
        current(&self.home, &self.state.bare, record, place)
    }

    /// Copies the row that is current instead of a record by an aborted transaction. Returns false
    /// if there is none. `before` comes from [`Self::current`], under the same latch.
    ///
    /// # Errors
    /// 3958 when the version was not kept; a page that cannot be read.
    #[cold]
    pub(crate) fn former_row(
        &self,
        (record, mut page): (&[u8], PageId),
        mut before: Previous,
        out: &mut Vec<u8>,
    ) -> RowResult<bool> {
        out.clear();
        out.extend_from_slice(record);
        loop {
            match before {
                Previous::None => return Ok(false),
                Previous::Lost(_) => return Err(RowError::NotKept),
                Previous::Itself(born) => {
                    revive(out);
                    return Ok(!self.home.aborted().contains(born));
                }
                Previous::InRow { born, .. } => {
                    let record = std::mem::take(out);
                    self.read_in_row(&record, page, out)?;
                    return Ok(!self.home.aborted().contains(born));
                }
                Previous::Stored(at) => {
                    match self.home.version_stores().read(at, self.origin(), out) {
                        Err(VersionError::Missing(_)) => return Err(RowError::NotKept),
                        read => read?,
                    }
                    page = at.page;
                    match before_aborted(&self.home, VersionTag::of(out)) {
                        None => return Ok(!page::is_ghost_record(out)),
                        Some(behind) => before = behind,
                    }
                }
            }
        }
    }

    /// Whether a record stands for a row: its own, or a former version.
    #[inline]
    pub(crate) fn stands_for_row(&self, record: &[u8], place: (PageId, u16)) -> RowResult<bool> {
        match self.current(record, place) {
            CurrentRow::Row(_) => Ok(true),
            CurrentRow::Ghost => Ok(false),
            CurrentRow::Former(before) => {
                self.former_row((record, place.0), before, &mut Vec::new())
            }
        }
    }

    /// Whether a record is a row that may be changed. What aborted transactions wrote has been
    /// reverted under the lock of its row (`revert/mod.rs`).
    #[inline]
    pub(crate) fn is_row_to_change(&self, record: &[u8], place: (PageId, u16)) -> bool {
        matches!(self.current(record, place), CurrentRow::Row(_))
    }

    /// The place of the version before a record. A tag from before the database was opened has
    /// none, unless its writer was aborted.
    pub(crate) fn former(&self, tag: VersionTag) -> Previous {
        let goes = self.home.is_settled(tag.writer) && !self.home.aborted().contains(tag.writer);
        if goes { Previous::None } else { tag.before() }
    }

    /// The ghost that a row of a heap becomes, if its page has `free` bytes. With enough room the
    /// tag comes behind the row. Otherwise the ghost is as long as the row, and the tag replaces
    /// the row's last bytes. `None` if the row is too short for that; then its tag stays in memory.
    pub(crate) fn heap_ghost_of(
        &self,
        work: &Work,
        old: &[u8],
        free: usize,
    ) -> Option<TaggedRecord<'static>> {
        let mut ghost = self.ghost_of(work, old);
        if ghost.record.len() <= old.len() + free {
            return Some(ghost);
        }
        let home = page::home_of(old).map(|(page, slot)| page::rid_bytes(page, slot));
        let home = home.as_ref().map_or(&[][..], |rid| rid);
        let end = old.len().checked_sub(VERSION_TAG_BYTES + home.len()).filter(|n| *n >= 4)?;
        let record = ghost.record.to_mut();
        record.truncate(end);
        record[0] = RecordKind::GhostData.bits();
        record[1] = page::status_b(!home.is_empty());
        record[2..4].copy_from_slice(&(end as u16).to_le_bytes());
        record.extend_from_slice(home);
        let xsn = ghost.xsn.expect("a ghost is tagged where there are versions");
        VersionTag::new(xsn, Previous::None).put(record);
        debug_assert_eq!(ghost.record.len(), old.len(), "it fits its row's place");
        ghost.stays = false;
        Some(ghost)
    }

    /// The commit time of a writer; `None` while it has not committed.
    pub(crate) fn committed(&self, engine: &Engine, writer: Xsn) -> Option<CommitTime> {
        committed(&self.home, engine, writer)
    }

    /// Whether a ghost's tag says that its deleter has committed, or had ended before the last
    /// start. Then the ghost stays deleted, and a reader need not ask for its lock. `None` if it
    /// has no tag that could tell. Its page is latched. A number counts as committed only after its
    /// commit record is in the log ([`work::Work::commit`], 3). This record is durable by then.
    /// With delayed durability a crash may lose it, but only together with everything logged later.
    #[inline]
    pub(crate) fn tells_gone(
        &self,
        engine: &Engine,
        ghost: &[u8],
        place: (PageId, u16),
    ) -> Option<bool> {
        debug_assert!(page::is_ghost_record(ghost), "a row is not gone");
        let told = self.spec.versions && self.home.has_told_writers();
        let tag = if told { self.tag_of(ghost, place) } else { None };
        tag.map(|tag| self.committed(engine, tag.writer).is_some())
    }

    /// Whether a ghost has a tag, and its deleter has committed.
    #[inline]
    pub(crate) fn is_gone(&self, engine: &Engine, ghost: &[u8], place: (PageId, u16)) -> bool {
        self.tells_gone(engine, ghost, place) == Some(true)
    }

    /// Whether a reader as of a moment sees what a writer wrote.
    fn sees(&self, work: &Work, at: CommitTime, writer: Xsn) -> bool {
        work.owns(writer) || self.committed(work.engine(), writer).is_some_and(|time| time <= at)
    }

    /// The version of a record that a reader as of a moment sees. The record's page is latched. A
    /// former version is copied to `out`.
    pub(crate) fn as_of(
        &self,
        work: &Work,
        at: CommitTime,
        (record, place): (&[u8], (PageId, u16)),
        out: &mut Vec<u8>,
    ) -> RowResult<Visibility> {
        debug_assert!(work.is_registered(at), "who reads versions registers");
        let is_ghost = page::is_ghost_record(record);
        let tag = match self.tag_of(record, place) {
            Some(tag) if !self.sees(work, at, tag.writer) => tag,
            Some(_) | None => {
                return Ok(if is_ghost { Visibility::Nothing } else { Visibility::AsItIs });
            }
        };
        match self.former(tag) {
            Previous::None => Ok(Visibility::Nothing),
            Previous::Itself(since)
            | Previous::Lost(since)
            | Previous::InRow { born: since, .. }
                if !self.sees(work, at, since) =>
            {
                Ok(Visibility::Nothing)
            }
            Previous::Lost(_) => Err(not_kept(work, at)),
            Previous::InRow { .. } => {
                self.read_in_row(record, place.0, out)?;
                Ok(Visibility::Former)
            }
            Previous::Itself(_) => {
                out.clear();
                out.extend_from_slice(record);
                revive(out);
                Ok(Visibility::Former)
            }
            Previous::Stored(place) => self.follow(work, at, place, out),
        }
    }

    /// Follows the stored versions to the first that a reader sees.
    #[cold]
    fn follow(
        &self,
        work: &Work,
        at: CommitTime,
        mut place: VersionPtr,
        out: &mut Vec<u8>,
    ) -> RowResult<Visibility> {
        let stores = self.home.version_stores();
        let mut traversed = 0;
        loop {
            traversed += 1;
            let read = stores.read(place, self.origin(), out);
            // This must be asked after the read: what a victim has read may belong to another row.
            if work.engine().transactions.snapshots.is_victim(at) {
                return Err(RowError::Victim);
            }
            match read {
                Err(VersionError::Missing(..)) => return Err(RowError::NotKept),
                read => read?,
            }
            let tag = VersionTag::of(out).filter(|tag| !self.sees(work, at, tag.writer));
            let seen = match tag.map(VersionTag::before) {
                None if page::is_ghost_record(out) => Visibility::Nothing,
                None => Visibility::Former,
                Some(Previous::None) => Visibility::Nothing,
                Some(
                    Previous::Itself(since)
                    | Previous::Lost(since)
                    | Previous::InRow { born: since, .. },
                ) if !self.sees(work, at, since) => Visibility::Nothing,
                Some(Previous::Lost(_)) => return Err(RowError::NotKept),
                Some(Previous::InRow { .. }) => {
                    let image = std::mem::take(out);
                    self.read_in_row(&image, place.page, out)?;
                    Visibility::Former
                }
                Some(Previous::Itself(_)) => {
                    revive(out);
                    Visibility::Former
                }
                Some(Previous::Stored(before)) => {
                    place = before;
                    continue;
                }
            };
            work.traversed(traversed);
            return Ok(seen);
        }
    }

    /// Makes the tag of a record with which the transaction `xsn` replaces `old`; it holds X on the
    /// row. It keeps an image of `old`, unless `xsn` wrote `old` itself. If there is no older
    /// version, a ghost that keeps the bytes of its row (`stays`) needs no image, nor does a record
    /// with room for an in-row version.
    fn link(
        &self,
        work: &mut Work,
        xsn: Xsn,
        replaced: ReplacedRecord<'_>,
        (new, stays): (&[u8], bool),
    ) -> RowResult<Link> {
        let old = replaced.record;
        let was_ghost = page::is_ghost_record(old);
        let tag = VersionTag::of(old);
        let before = tag.map_or(Previous::None, |tag| self.former(tag));
        let creator = tag.map_or(Xsn::NONE, |t| t.writer);
        let aborted = self.home.aborted().contains(creator);
        assert!(!aborted, "a record by an aborted transaction is reverted before it is changed");
        if creator == xsn {
            return self.link_own(work, xsn, replaced, before);
        }
        let tested = match before {
            Previous::Stored(place) => self.test(work.engine(), creator, place)?,
            Previous::Lost(_) | Previous::None | Previous::Itself(_) | Previous::InRow { .. } => {
                let previous = self.lost_if_needed(work.engine(), before, creator);
                ChainChange { previous, ..ChainChange::default() }
            }
        };
        let itself = match before {
            Previous::Itself(lived_by) => self.is_needed(work.engine(), lived_by, creator),
            Previous::None | Previous::Stored(_) | Previous::Lost(_) | Previous::InRow { .. } => {
                false
            }
        };
        // Then an image takes its in-row version along.
        let in_row = self.is_in_row_needed(work, before, creator);
        let nothing_before = tested.previous == Previous::None && !in_row;
        // An untagged ghost comes from before the database had versions. A tagged ghost is kept
        // only for the versions behind it. The transaction's own is kept for its bytes: where this
        // change is aborted alone, the log may undo the deletion.
        if was_ghost && !itself && nothing_before && !work.owns(creator) {
            return Ok(Link::Ready(VersionTag::new(xsn, Previous::None), tested));
        }
        if !was_ghost && stays && nothing_before {
            return Ok(Link::Ready(VersionTag::new(xsn, Previous::Itself(creator)), tested));
        }
        if !was_ghost
            && nothing_before
            && let Some(version) = self.in_row_of(replaced, new)
        {
            return Ok(Link::InRow(version, creator, tested));
        }
        let mut image = old.to_vec();
        if let (Some(_), false, false) = (tag, itself, in_row) {
            VersionTag::new(creator, tested.previous).put(&mut image);
        }
        let since = match (before, tested.previous) {
            (Previous::Itself(lived_by), _) if itself => lived_by,
            (Previous::InRow { born, .. }, _) if in_row => born,
            (_, Previous::Lost(since)) => since,
            (_, Previous::Stored(_)) => Xsn::NONE,
            (_, Previous::None | Previous::Itself(_) | Previous::InRow { .. }) => creator,
        };
        self.keep(work, xsn, (&image, since), tested)
    }

    /// Like [`Self::link`], over a record that the transaction wrote itself. The version from
    /// before the transaction stays where it is.
    fn link_own(
        &self,
        work: &mut Work,
        xsn: Xsn,
        old: ReplacedRecord<'_>,
        before: Previous,
    ) -> RowResult<Link> {
        let (image, born) = match before {
            Previous::None | Previous::Stored(_) | Previous::Lost(_) => {
                return Ok(Link::Ready(VersionTag::new(xsn, before), ChainChange::default()));
            }
            // Its own ghost, whose bytes are the former row. They are about to be overwritten.
            Previous::Itself(lived_by) => {
                let mut image = old.record.to_vec();
                revive(&mut image);
                VersionTag::new(lived_by, Previous::None).put(&mut image);
                (image, lived_by)
            }
            Previous::InRow { born, .. } => {
                let mut image = Vec::with_capacity(old.record.len());
                self.read_in_row(old.record, old.page, &mut image)?;
                (image, born)
            }
        };
        self.keep(work, xsn, (&image, born), ChainChange::default())
    }

    /// Keeps an image if there is room. If there is none, and the writer may go on without, the tag
    /// says that nothing is kept of the row since the version of the writer `since`.
    fn keep(
        &self,
        work: &mut Work,
        xsn: Xsn,
        (image, since): (&[u8], Xsn),
        tested: ChainChange,
    ) -> RowResult<Link> {
        if work.has_version_room(&self.home, image.len()) {
            let place = work.keep_version(&self.home, self.origin(), (image, 0))?;
            self.did(Deed::VersionStored);
            return Ok(Link::Ready(VersionTag::new(xsn, Previous::Stored(place)), tested));
        }
        if !work.goes_without_version() {
            return Ok(Link::Room(image.len()));
        }
        let lost = match work.engine().transactions.mutations.has(Mutation::LostIsNone) {
            true => Previous::None,
            false => Previous::Lost(since),
        };
        // The chain stays as it is (invariant 4).
        Ok(Link::Ready(VersionTag::new(xsn, lost), ChainChange::default()))
    }

    /// The lost versions that a record by the committed transaction `writer` must still mention:
    /// none, if no reader has a moment between their writers.
    fn lost_if_needed(&self, engine: &Engine, before: Previous, writer: Xsn) -> Previous {
        match before {
            Previous::Lost(since) if self.is_needed(engine, since, writer) => before,
            Previous::Lost(_)
            | Previous::None
            | Previous::Itself(_)
            | Previous::Stored(_)
            | Previous::InRow { .. } => Previous::None,
        }
    }

    /// Tests which of the versions behind a record by the committed transaction `writer` are still
    /// needed.
    fn test(&self, engine: &Engine, writer: Xsn, first: VersionPtr) -> RowResult<ChainChange> {
        let (snapshots, stores) = (&engine.transactions.snapshots, self.home.version_stores());
        // Read before anything is tested: if a snapshot ends meanwhile, the next writer tests
        // again.
        let epoch = snapshots.epoch();
        let home = Some(Arc::clone(&self.home));
        let previous = Previous::Stored(first);
        let mut tested = ChainChange { home, previous, ..ChainChange::default() };
        // The current version, the superseder that its place names, and the superseder among the
        // versions that are kept.
        let (mut at, mut named, mut link) = (first, writer, writer);
        let mut holder: Option<(VersionPtr, Xsn, Xsn)> = None;
        loop {
            let looked = stores.look(at, named, |v| (VersionTag::of(v.record), v.needed_in))?;
            let Some((tag, needed_in)) = looked else {
                // The version is gone. Only victims could need it or an older one (invariant 5).
                let gone = Previous::Lost(Xsn::NONE);
                tested.point(&holder, self.lost_if_needed(engine, gone, link));
                return Ok(tested);
            };
            let ended = self.committed(engine, link);
            let still = needed_in == epoch
                || snapshots.oldest_ended_since(needed_in).is_none_or(|s| ended <= Some(s));
            if still && ended.is_some() {
                tested.needed = tested.needed.or(Some((at, named, epoch)));
                return Ok(tested);
            }
            let creator = tag.map_or(Xsn::NONE, |t| t.writer);
            // A ghost that is its own former version is kept only for that. No version is behind
            // it.
            let behind = tag.map_or(Previous::None, VersionTag::before);
            let (behind, born, ended) = match behind {
                Previous::Itself(lived_by) => (Previous::None, lived_by, creator),
                // It goes with its in-row version.
                Previous::InRow { born, .. } => (Previous::None, born, link),
                Previous::Lost(_) => (self.lost_if_needed(engine, behind, creator), creator, link),
                Previous::Stored(_) | Previous::None => (behind, creator, link),
            };
            if self.is_needed(engine, born, ended) {
                if engine.transactions.mutations.has(Mutation::LastPruned) {
                    return Ok(tested);
                }
                holder = Some((at, named, creator));
                if tested.needed.is_none() {
                    tested.needed = Some((at, named, epoch));
                }
                link = creator;
            } else {
                tested.free.push((at, named));
                tested.relink.retain(|r| r.0 != at);
                tested.point(&holder, behind);
                if let Previous::Stored(behind) = behind {
                    tested.relink.push((behind, creator, link));
                }
            }
            named = creator;
            match behind {
                Previous::Stored(place) => at = place,
                Previous::None
                | Previous::Itself(_)
                | Previous::Lost(_)
                | Previous::InRow { .. } => return Ok(tested),
            }
        }
    }

    /// `None` if a snapshot needs the row that a committed ghost was. Otherwise the changes of its
    /// chain that go with the removal of the ghost.
    pub(crate) fn ghost_need(
        &self,
        engine: &Engine,
        ghost: &[u8],
        place: (PageId, u16),
    ) -> RowResult<Option<ChainChange>> {
        let Some(tag) = self.tag_of(ghost, place) else { return Ok(Some(ChainChange::default())) };
        let goes_on = self.is_optimized() && self.goes_on(engine, tag.writer);
        if goes_on && !engine.transactions.mutations.has(Mutation::AnothersSettled) {
            return Ok(None);
        }
        match self.is_kept_by_rule(engine, tag.writer) {
            true => Ok(None),
            false => self.row_need(engine, tag),
        }
    }

    /// Like [`Self::ghost_need`], for the tag of a ghost, without the database's ghost rule.
    pub(crate) fn row_need(
        &self,
        engine: &Engine,
        tag: VersionTag,
    ) -> RowResult<Option<ChainChange>> {
        if engine.transactions.mutations.has(Mutation::NeededSettled) {
            return Ok(Some(ChainChange::default()));
        }
        Ok(match self.former(tag) {
            Previous::None => Some(ChainChange::default()),
            Previous::Itself(since)
            | Previous::Lost(since)
            | Previous::InRow { born: since, .. } => {
                let free = !self.is_needed(engine, since, tag.writer);
                free.then(ChainChange::default)
            }
            Previous::Stored(place) => {
                let tested = self.test(engine, tag.writer, place)?;
                (tested.previous == Previous::None).then_some(tested)
            }
        })
    }

    /// Whether the database's ghost rule keeps a ghost for all readers with a moment before its
    /// deleter's commit.
    fn is_kept_by_rule(&self, engine: &Engine, deleter: Xsn) -> bool {
        let transactions = &engine.transactions;
        let horizon = match engine.ghost_rule(&self.home) {
            GhostRule::Interval => return false,
            GhostRule::Statement => transactions.snapshots.horizon(&transactions.commits),
            GhostRule::Transaction => {
                let commits = &transactions.commits;
                transactions.users.horizon(commits).min(transactions.snapshots.horizon(commits))
            }
        };
        self.committed(engine, deleter).is_none_or(|e| e > horizon)
    }

    /// Whether the ghost rule leaves all ghosts to the cleaner.
    pub(crate) fn is_left_by_rule(&self, engine: &Engine) -> bool {
        self.is_versioned() && engine.ghost_rule(&self.home) != GhostRule::Interval
    }

    /// Whether a record has a former version, in the store or as the ghost's own bytes. A record
    /// may point into the store long after the version is gone.
    pub(crate) fn has_former(&self, record: &[u8], place: (PageId, u16)) -> RowResult<bool> {
        let Some(tag) = self.tag_of(record, place) else { return Ok(false) };
        Ok(match self.former(tag) {
            Previous::Stored(at) => {
                self.home.version_stores().look(at, tag.writer, |_| ())?.is_some()
            }
            Previous::Itself(_) | Previous::InRow { .. } => true,
            Previous::None | Previous::Lost(_) => false,
        })
    }

    /// How many versions behind a record are in its database's own store.
    pub(crate) fn stored_in_own(&self, record: &[u8], place: (PageId, u16)) -> RowResult<u64> {
        let stores = self.home.version_stores();
        let (mut tag, mut count) = (self.tag_of(record, place), 0);
        while let Some(Previous::Stored(at)) = tag.map(|tag| self.former(tag)) {
            let superseder = tag.map_or(Xsn::NONE, |tag| tag.writer);
            let looked = stores.look(at, superseder, |v| VersionTag::of(v.record))?;
            count += u64::from(looked.is_some() && at.store == StoreKind::Own);
            tag = looked.flatten();
        }
        Ok(count)
    }

    /// Prepares the undo of a change: links the record that is restored (`former`) into the chain.
    /// Returns the version to free, which the change had stored.
    pub(crate) fn retake(
        &self,
        engine: &Engine,
        now: &[u8],
        former: &mut Vec<u8>,
    ) -> RowResult<Option<(VersionPtr, Xsn)>> {
        let Some(tag) = VersionTag::of(now).filter(|t| !self.home.is_settled(t.writer)) else {
            // No tag, or a loser from before the start: no snapshot needs older versions.
            return Ok(None);
        };
        let stored = match tag.before() {
            Previous::Stored(place) => Some(place),
            Previous::None | Previous::Itself(_) | Previous::Lost(_) | Previous::InRow { .. } => {
                None
            }
        };
        let before = VersionTag::of(former);
        if let Some(before) = before.filter(|b| b.writer == tag.writer) {
            // The former record is its own, too. The version from before the transaction is stored
            // only once.
            let same = before.before() == tag.before();
            return Ok(stored.filter(|_| !same).map(|place| (place, tag.writer)));
        }
        let Some(before) = before else { return Ok(stored.map(|place| (place, tag.writer))) };
        let mut previous = match (before.before(), tag.before()) {
            (itself @ Previous::Itself(_), _) => itself,
            // It comes back with what it had in its row, and had no more.
            (Previous::InRow { .. }, _) => return Ok(stored.map(|place| (place, tag.writer))),
            // Nothing was dropped with it (invariant 4).
            (logged, Previous::Lost(_)) => logged,
            (Previous::None | Previous::Stored(_) | Previous::Lost(_), _) => Previous::None,
        };
        if engine.transactions.mutations.has(Mutation::LoggedPlace) {
            return Ok(stored.map(|place| (place, tag.writer)));
        }
        if let Some(place) = stored {
            let stores = self.home.version_stores();
            let image = stores.look(place, tag.writer, |v| VersionTag::of(v.record))?.flatten();
            previous = image.map_or(previous, VersionTag::before);
        }
        VersionTag::new(before.writer, previous).put(former);
        Ok(stored.map(|place| (place, tag.writer)))
    }

    /// Whether a snapshot needs the version that `born` wrote and `ended` superseded, or may need
    /// it.
    fn is_needed(&self, engine: &Engine, born: Xsn, ended: Xsn) -> bool {
        match (self.committed(engine, born), self.committed(engine, ended)) {
            (Some(b), Some(e)) => is_needed_between(engine, b, e),
            _ => true,
        }
    }
}

fn is_needed_between(engine: &Engine, b: CommitTime, e: CommitTime) -> bool {
    engine.transactions.snapshots.need(Lifetime { b: b.min(e), e }) != Retention::Free
}

impl<'r> TaggedRecord<'r> {
    /// A record by a writer with that number, which gets its tag.
    fn by(xsn: Option<Xsn>, mut record: Cow<'r, [u8]>) -> TaggedRecord<'r> {
        if let Some(xsn) = xsn {
            VersionTag::new(xsn, Previous::None).put(record.to_mut());
        }
        TaggedRecord { record, xsn, tested: ChainChange::default(), stays: false, in_row: 0 }
    }
}

impl ChainChange {
    /// Frees the versions that a change has dropped from its chain, and links those that are left.
    /// The row's page is still latched, so no reader is following the chain.
    pub(crate) fn finish(&self) -> RowResult<()> {
        let Some(home) = &self.home else { return Ok(()) };
        let stores = home.version_stores();
        for (place, superseder, tag) in &self.retag {
            stores.retag(*place, *superseder, &tag.bytes())?;
        }
        for (place, before, now) in &self.relink {
            stores.relink(*place, *before, *now)?;
        }
        for (place, superseder) in &self.free {
            stores.free(*place, *superseder)?;
        }
        if let Some((place, named, epoch)) = self.needed {
            let now = self.relink.iter().find(|r| r.0 == place).map_or(named, |r| r.2);
            stores.note_needed(place, now, epoch)?;
        }
        Ok(())
    }

    /// Does the same and finishes the change, which releases the row's latch. With `late`, a
    /// planted fault, it releases the latch first.
    pub(crate) fn end(
        &self,
        change: Change<'_>,
        chain: &mut TransactionChain,
        late: bool,
    ) -> RowResult<()> {
        let freed = if late { Ok(()) } else { self.finish() };
        change.finish(chain);
        if late {
            os::sched::switch_point();
            return self.finish();
        }
        freed
    }

    /// Sets the next version of the last version that is kept, or of the record itself.
    fn point(&mut self, holder: &Option<(VersionPtr, Xsn, Xsn)>, to: Previous) {
        let Some((place, named, creator)) = *holder else {
            self.previous = to;
            return;
        };
        self.retag.retain(|r| r.0 != place);
        self.retag.push((place, named, VersionTag::new(creator, to)));
    }
}

/// The commit time of a writer of a database; `None` if it is active or was aborted. The page of
/// the record with that number is latched, or a version of it is read.
pub(crate) fn committed(home: &Home, engine: &Engine, writer: Xsn) -> Option<CommitTime> {
    committed_by(home, writer, |writer| match outcome(engine, writer) {
        Outcome::Committed(time) => Some(time),
        Outcome::Active | Outcome::Aborted => None,
    })
}

/// The same with another way to the outcome.
#[inline]
fn committed_by(
    home: &Home,
    writer: Xsn,
    outcome: impl FnOnce(Xsn) -> Option<CommitTime>,
) -> Option<CommitTime> {
    let time = match writer == Xsn::NONE || home.is_settled(writer) {
        true => CommitTime(0),
        false => outcome(writer)?,
    };
    // The aborted map is asked behind the commit table, which may have forgotten the outcome: who
    // is aborted enters the map before that, and leaves it when no page has a record by it.
    (!home.aborted().contains(writer)).then_some(time)
}

/// The outcome of a writer.
#[inline]
pub(crate) fn outcome(engine: &Engine, writer: Xsn) -> Outcome {
    let transactions = &engine.transactions;
    #[cfg(feature = "mutations")]
    if transactions.mutations.has(Mutation::ClockUnasked) {
        return transactions.commits.outcome_ahead(writer);
    }
    transactions.commits.outcome(writer)
}

/// The error for a row that another transaction has changed since the changer's moment. A
/// transaction under SNAPSHOT ends with it. A statement with lock after qualification runs again.
#[cold]
pub(crate) fn conflict(work: &Work, plan: &LockPlan) -> RowError {
    let ends = u64::from(plan.isolation == Isolation::Snapshot);
    work.engine().transactions.update_conflicts.fetch_add(ends, Relaxed);
    RowError::Conflict
}

/// A reader may need a version that was not kept.
#[cold]
fn not_kept(work: &Work, at: CommitTime) -> RowError {
    match work.engine().transactions.snapshots.is_victim(at) {
        true => RowError::Victim,
        false => RowError::NotKept,
    }
}

/// Whether the tag of a heap's ghost replaced its row's last bytes. Such a ghost has no columns.
pub(crate) fn is_cut_ghost(record: &[u8]) -> bool {
    let end = record.get(2..4).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])));
    let only = |status: u8| status == VersionTag::status(RecordKind::GhostData);
    let home = if page::home_of(record).is_some() { RID_BYTES } else { 0 };
    record.first().is_some_and(|status| only(*status))
        && end.is_some_and(|end| end >= 4 && end + home + VERSION_TAG_BYTES == record.len())
}

/// Makes the copy of a ghost the row that it was.
pub(crate) fn revive(record: &mut [u8]) {
    if let Some(kind) = page::kind_before(record) {
        record[0] = RecordKind::with_kind(record[0], kind);
    }
}
