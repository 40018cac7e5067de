//! Versions of rows: what a reader as of a moment sees, and what a writer leaves for him.
//!
//! ```text
//!   row (w2, ─┐)        the leaf, latched
//!             └─> image of it before w2: (w1, ─┐)       the store
//!                                              └─> image before w1: untagged
//! ```
//!
//! A reader goes along the pointers to the first writer that his snapshot sees. A ghost whose bytes
//! are its only former version says so in its tag (`Previous::Itself`), and nothing is stored.
//! Where the store has no room the tag says since whose version nothing was kept
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

pub(crate) mod kept;

use crate::current::{CurrentRow, before_aborted, current};
use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use access::{Deed, Granule, Isolation, LockPlan, Strength};
use base::limits::VERSION_TAG_BYTES;
use base::{PageId, Xsn};
use buffer::Change;
use page::{Field, Previous, RID_BYTES, RecordKind, VersionTag};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{CommitTime, Lifetime, Mutation, Outcome, Retention};
use version::{Origin, VersionError, VersionPtr};
use wal::TransactionChain;
use work::{Engine, GhostRule, Home, STATEMENT_VERSIONS, TRANSACTION_VERSIONS, Work};

/// What a reader as of a moment sees of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visibility {
    /// The record as it stands.
    AsItIs,
    /// The former version, which was copied.
    Former,
    /// No row.
    Nothing,
}

/// What becomes of a chain when its row changes.
pub(crate) struct ChainChange {
    /// Whose stores have the chain; none where there is none.
    home: Option<Arc<Home>>,
    /// Where what is left of it begins.
    previous: Previous,
    /// Dropped versions, by who superseded them.
    free: Vec<(VersionPtr, Xsn)>,
    /// A version that another record points at now: before, and now.
    relink: Vec<(VersionPtr, Xsn, Xsn)>,
    /// A kept version, by who superseded it, whose own tag changes.
    retag: Vec<(VersionPtr, Xsn, VersionTag)>,
    /// A kept version and the epoch in which it and what is behind it was found needed.
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

/// A writer's tag for what it writes over a record, or what is missing for it.
enum Link {
    Ready(VersionTag, ChainChange),
    /// So long a record is to be kept, and there is no room for it.
    Room(usize),
}

/// A record that is about to be written, with its tag where it gets one.
pub(crate) struct TaggedRecord<'r> {
    pub(crate) record: Cow<'r, [u8]>,
    /// The writer's number, where it is tagged.
    pub(crate) xsn: Option<Xsn>,
    /// What the change drops from the chain of what was there.
    pub(crate) tested: ChainChange,
    /// It is a ghost that keeps the bytes of its row.
    stays: bool,
}

impl RowHobt {
    /// Whether what is written here now is tagged.
    #[inline]
    fn is_versioned(&self) -> bool {
        self.spec.versions && self.home.is_versioned()
    }

    /// How a reference is read here: as of its moment only where rows have versions for readers at
    /// its level.
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
        // What is to be changed is locked when it is changed, and judged then.
        let searches = as_of.is_some() && plan.strength == Strength::Update && !plan.hold && !whole;
        let strength = if searches { Strength::Shared } else { plan.strength };
        LockPlan { as_of, strength, kept_back: plan.kept_back && !searches, ..*plan }
    }

    /// Refuses to change a row, which is locked, where somebody has changed it since the moment as
    /// of which its changer reads.
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

    /// The same for a key that a ghost has which is about to be put over: refused where the changer
    /// sees the row that it was, or one whose ghost has left the leaf before. What it has deleted
    /// itself it may put again.
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

    /// Whether the transaction itself has written a record last.
    pub(crate) fn is_own(&self, work: &Work, record: &[u8]) -> bool {
        let writer = VersionTag::of(record).map(|tag| tag.writer);
        writer.is_some() && writer == work.xsn()
    }

    /// Draws the transaction's number where what is written here is tagged. No latch is held.
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

    /// A row that is about to be written: as long as it will be, its tag to be filled in. No latch
    /// is held.
    pub(crate) fn written<'r>(
        &self,
        work: &mut Work,
        record: &'r [u8],
    ) -> RowResult<TaggedRecord<'r>> {
        Ok(TaggedRecord::by(self.draw(work)?, record))
    }

    /// The number of a change under a latch: drawn before. Who has none began when nobody asked for
    /// versions, and ends before anybody reads them.
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
        }
    }

    /// Fills in the tag of what is written over a record, if over any. How much room is missing for
    /// the image, where that is so.
    pub(crate) fn link_to(
        &self,
        work: &mut Work,
        new: &mut TaggedRecord<'_>,
        old: Option<&[u8]>,
    ) -> RowResult<Option<usize>> {
        let (Some(xsn), Some(old)) = (new.xsn, old) else { return Ok(None) };
        match self.link(work, xsn, old, new.stays)? {
            Link::Room(bytes) => Ok(Some(bytes)),
            Link::Ready(tag, tested) => {
                tag.put(new.record.to_mut());
                new.tested = tested;
                Ok(None)
            }
        }
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { database: self.home.database, hobt: self.spec.hobt }
    }

    /// The tag of a record, which a ghost of a heap may have beside its page.
    pub(crate) fn tag_of(&self, record: &[u8], place: (PageId, u16)) -> Option<VersionTag> {
        self.state.bare.tag_of(record, place)
    }

    /// What is current of a record at a place, whose page is latched.
    #[inline]
    pub(crate) fn current<'r>(&self, record: &'r [u8], place: (PageId, u16)) -> CurrentRow<'r> {
        current(&self.home, &self.state.bare, record, place)
    }

    /// Copies the row that is current instead of a record by an aborted transaction; false where
    /// there is none. `before` is what [`Self::current`] has told of it, under the same latch.
    ///
    /// # Errors
    /// 3958 where the version was not kept; a page that cannot be read.
    #[cold]
    pub(crate) fn former_row(
        &self,
        record: &[u8],
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
                Previous::Stored(at) => {
                    match self.home.version_stores().read(at, self.origin(), out) {
                        Err(VersionError::Missing(_)) => return Err(RowError::NotKept),
                        read => read?,
                    }
                    match before_aborted(&self.home, VersionTag::of(out)) {
                        None => return Ok(!page::is_ghost_record(out)),
                        Some(behind) => before = behind,
                    }
                }
            }
        }
    }

    /// Whether a record stands for a row, its own or one before it.
    #[inline]
    pub(crate) fn stands_for_row(&self, record: &[u8], place: (PageId, u16)) -> RowResult<bool> {
        match self.current(record, place) {
            CurrentRow::Row(_) => Ok(true),
            CurrentRow::Ghost => Ok(false),
            CurrentRow::Former(before) => self.former_row(record, before, &mut Vec::new()),
        }
    }

    /// Whether a record is a row that may be changed. What aborted transactions wrote has been
    /// reverted under the lock of its row (`revert/mod.rs`).
    #[inline]
    pub(crate) fn is_row_to_change(&self, record: &[u8], place: (PageId, u16)) -> bool {
        matches!(self.current(record, place), CurrentRow::Row(_))
    }

    /// Where the version before a record is. What a tag from before the start says is nowhere.
    pub(crate) fn former(&self, tag: VersionTag) -> Previous {
        let goes = self.home.is_settled(tag.writer) && !self.home.aborted().contains(tag.writer);
        if goes { Previous::None } else { tag.before() }
    }

    /// The ghost that a row of a heap becomes with so many bytes to grow: with its tag behind it;
    /// as long as the row was, the tag over its last bytes; or without one, `None`, where it is
    /// shorter than that.
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

    /// When a writer committed; `None` while it has not.
    pub(crate) fn committed(&self, engine: &Engine, writer: Xsn) -> Option<CommitTime> {
        committed(&self.home, engine, writer)
    }

    /// Whether a ghost's tag says that its deleter has committed, or was settled before the start:
    /// nobody takes the ghost back, so nobody needs to be asked. `None`: no tag tells. Its page is
    /// latched. A number has committed behind its commit record ([`work::Work::commit`], 3), which
    /// is durable by then or, delayed, is lost only with whatever follows from what was read.
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

    /// Whether one does, and it has.
    #[inline]
    pub(crate) fn is_gone(&self, engine: &Engine, ghost: &[u8], place: (PageId, u16)) -> bool {
        self.tells_gone(engine, ghost, place) == Some(true)
    }

    /// Whether a reader as of a moment sees what a writer wrote.
    fn sees(&self, work: &Work, at: CommitTime, writer: Xsn) -> bool {
        work.xsn() == Some(writer)
            || self.committed(work.engine(), writer).is_some_and(|time| time <= at)
    }

    /// What a reader as of a moment sees of a record whose page is latched; a former version is
    /// copied to `out`.
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
            Previous::Itself(since) | Previous::Lost(since) if !self.sees(work, at, since) => {
                Ok(Visibility::Nothing)
            }
            Previous::Lost(_) => Err(not_kept(work, at)),
            Previous::Itself(_) => {
                out.clear();
                out.extend_from_slice(record);
                revive(out);
                Ok(Visibility::Former)
            }
            Previous::Stored(place) => self.follow(work, at, place, out),
        }
    }

    /// Goes along the stored versions to the first that a reader sees.
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
            // Asked behind the look: what a victim finds may be another's by now.
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
                Some(Previous::Itself(since) | Previous::Lost(since))
                    if !self.sees(work, at, since) =>
                {
                    Visibility::Nothing
                }
                Some(Previous::Lost(_)) => return Err(RowError::NotKept),
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

    /// The tag of what a writer puts in place of a record that it holds X: `xsn` is its number.
    /// The image of the record is kept, unless `xsn` wrote the record itself; a ghost that keeps
    /// its bytes (`stays`) needs none where nothing is behind it.
    fn link(&self, work: &mut Work, xsn: Xsn, old: &[u8], stays: bool) -> RowResult<Link> {
        let was_ghost = page::is_ghost_record(old);
        let tag = VersionTag::of(old);
        let before = tag.map_or(Previous::None, |tag| self.former(tag));
        let creator = tag.map_or(Xsn::NONE, |t| t.writer);
        let aborted = self.home.aborted().contains(creator);
        assert!(!aborted, "a record by an aborted transaction is reverted before it is changed");
        if creator == xsn {
            return self.link_own(work, xsn, old, before);
        }
        let tested = match before {
            Previous::Stored(place) => self.test(work.engine(), creator, place)?,
            Previous::Lost(_) | Previous::None | Previous::Itself(_) => {
                let previous = self.lost_if_needed(work.engine(), before, creator);
                ChainChange { previous, ..ChainChange::default() }
            }
        };
        let itself = match before {
            Previous::Itself(lived_by) => self.is_needed(work.engine(), lived_by, creator),
            Previous::None | Previous::Stored(_) | Previous::Lost(_) => false,
        };
        // An untagged ghost is of before there were versions; a tagged one is kept for what is
        // behind it alone.
        if was_ghost && !itself && tested.previous == Previous::None {
            return Ok(Link::Ready(VersionTag::new(xsn, Previous::None), tested));
        }
        if !was_ghost && stays && tested.previous == Previous::None {
            return Ok(Link::Ready(VersionTag::new(xsn, Previous::Itself(creator)), tested));
        }
        let mut image = old.to_vec();
        if let (Some(_), false) = (tag, itself) {
            VersionTag::new(creator, tested.previous).put(&mut image);
        }
        let since = match (before, tested.previous) {
            (Previous::Itself(lived_by), _) if itself => lived_by,
            (_, Previous::Lost(since)) => since,
            (_, Previous::Stored(_)) => Xsn::NONE,
            (_, Previous::None | Previous::Itself(_)) => creator,
        };
        self.keep(work, xsn, (&image, since), tested)
    }

    /// The same over a record of its own: what was before the transaction stays where it is.
    fn link_own(&self, work: &mut Work, xsn: Xsn, old: &[u8], before: Previous) -> RowResult<Link> {
        let Previous::Itself(lived_by) = before else {
            return Ok(Link::Ready(VersionTag::new(xsn, before), ChainChange::default()));
        };
        // Its own ghost, whose bytes were the row as it was: they are about to be written over.
        let mut image = old.to_vec();
        revive(&mut image);
        VersionTag::new(lived_by, Previous::None).put(&mut image);
        self.keep(work, xsn, (&image, lived_by), ChainChange::default())
    }

    /// Keeps an image where there is room or may be. Where there is none the tag says so, and that
    /// nothing is known of the row since a number wrote it.
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

    /// What a record by `writer`, which is committed, says of lost versions: nothing where nobody
    /// reads as of a moment between.
    fn lost_if_needed(&self, engine: &Engine, before: Previous, writer: Xsn) -> Previous {
        match before {
            Previous::Lost(since) if self.is_needed(engine, since, writer) => before,
            Previous::Lost(_) | Previous::None | Previous::Itself(_) | Previous::Stored(_) => {
                Previous::None
            }
        }
    }

    /// Tests the versions behind a record by `writer`, which is committed: what is needed.
    fn test(&self, engine: &Engine, writer: Xsn, first: VersionPtr) -> RowResult<ChainChange> {
        let (snapshots, stores) = (&engine.transactions.snapshots, self.home.version_stores());
        // Read before anything is tested: what ends meanwhile is tested again by the next.
        let epoch = snapshots.epoch();
        let home = Some(Arc::clone(&self.home));
        let previous = Previous::Stored(first);
        let mut tested = ChainChange { home, previous, ..ChainChange::default() };
        // The version at hand, whom its place names, and who has superseded it as far as is left.
        let (mut at, mut named, mut link) = (first, writer, writer);
        let mut holder: Option<(VersionPtr, Xsn, Xsn)> = None;
        loop {
            let looked = stores.look(at, named, |v| (VersionTag::of(v.record), v.needed_in))?;
            let Some((tag, needed_in)) = looked else {
                // Everybody has left it behind, and what is behind it, but victims (invariant 5).
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
            // A ghost that is its own former version is kept for that alone: behind it is nothing.
            let behind = tag.map_or(Previous::None, VersionTag::before);
            let (behind, born, ended) = match behind {
                Previous::Itself(lived_by) => (Previous::None, lived_by, creator),
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
                Previous::None | Previous::Itself(_) | Previous::Lost(_) => return Ok(tested),
            }
        }
    }

    /// Whether a snapshot needs the row that a committed ghost was. What is to be dropped with the
    /// ghost, if nobody does.
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

    /// The same whatever the rule, by the ghost's tag.
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
            Previous::Itself(since) | Previous::Lost(since) => {
                let free = !self.is_needed(engine, since, tag.writer);
                free.then(ChainChange::default)
            }
            Previous::Stored(place) => {
                let tested = self.test(engine, tag.writer, place)?;
                (tested.previous == Previous::None).then_some(tested)
            }
        })
    }

    /// Whether a ghost stays for who might read as of an earlier moment than its deleter's commit.
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

    /// Whether a ghost is left to the cleaner, whoever needs it or not.
    pub(crate) fn is_left_by_rule(&self, engine: &Engine) -> bool {
        self.is_versioned() && engine.ghost_rule(&self.home) != GhostRule::Interval
    }

    /// Whether a record has a former version, in the store or as the ghost's own bytes. A pointer
    /// into the store may stand in its record for long after the version has gone.
    pub(crate) fn has_former(&self, record: &[u8], place: (PageId, u16)) -> RowResult<bool> {
        let Some(tag) = self.tag_of(record, place) else { return Ok(false) };
        Ok(match self.former(tag) {
            Previous::Stored(at) => {
                self.home.version_stores().look(at, tag.writer, |_| ())?.is_some()
            }
            Previous::Itself(_) => true,
            Previous::None | Previous::Lost(_) => false,
        })
    }

    /// The version that a change of the transaction's own made, and that its undo takes back:
    /// gives the record that is restored its place in the chain. Says what is to be freed.
    pub(crate) fn retake(
        &self,
        engine: &Engine,
        now: &[u8],
        former: &mut Vec<u8>,
    ) -> RowResult<Option<(VersionPtr, Xsn)>> {
        let Some(tag) = VersionTag::of(now).filter(|t| !self.home.is_settled(t.writer)) else {
            // Not versioned, or by a loser of before: no snapshot asks for what was earlier.
            return Ok(None);
        };
        let stored = match tag.before() {
            Previous::Stored(place) => Some(place),
            Previous::None | Previous::Itself(_) | Previous::Lost(_) => None,
        };
        let before = VersionTag::of(former);
        if let Some(before) = before.filter(|b| b.writer == tag.writer) {
            // Its own, too: what was before the transaction has one place.
            let same = before.before() == tag.before();
            return Ok(stored.filter(|_| !same).map(|place| (place, tag.writer)));
        }
        let Some(before) = before else { return Ok(stored.map(|place| (place, tag.writer))) };
        let mut previous = match (before.before(), tag.before()) {
            (itself @ Previous::Itself(_), _) => itself,
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

    /// Whether a snapshot needs what one transaction wrote and another ended, or may yet.
    fn is_needed(&self, engine: &Engine, born: Xsn, ended: Xsn) -> bool {
        match (self.committed(engine, born), self.committed(engine, ended)) {
            (Some(b), Some(e)) => {
                engine.transactions.snapshots.need(Lifetime { b: b.min(e), e }) != Retention::Free
            }
            _ => true,
        }
    }
}

impl<'r> TaggedRecord<'r> {
    /// A record by a writer of that number, if it has one. Without, nothing is copied.
    fn by(xsn: Option<Xsn>, record: &'r [u8]) -> TaggedRecord<'r> {
        let mut record = Cow::Borrowed(record);
        if let Some(xsn) = xsn {
            VersionTag::new(xsn, Previous::None).put(record.to_mut());
        }
        TaggedRecord { record, xsn, tested: ChainChange::default(), stays: false }
    }
}

impl ChainChange {
    /// Frees what a change has dropped from its chain, and joins what is left. The row's page is
    /// latched still: nobody goes along the chain.
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

    /// The same, and the end of the change itself: the row's latch goes last, but for a fault.
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

    /// What is left goes on at another place: behind the last that is kept, or from the record.
    fn point(&mut self, holder: &Option<(VersionPtr, Xsn, Xsn)>, to: Previous) {
        let Some((place, named, creator)) = *holder else {
            self.previous = to;
            return;
        };
        self.retag.retain(|r| r.0 != place);
        self.retag.push((place, named, VersionTag::new(creator, to)));
    }
}

/// When a writer of a database committed; `None` while it has not, or where it was aborted.
pub(crate) fn committed(home: &Home, engine: &Engine, writer: Xsn) -> Option<CommitTime> {
    // Asked first: the commit table, and a later start, may have forgotten the outcome.
    if home.aborted().contains(writer) {
        return None;
    }
    if writer == Xsn::NONE || home.is_settled(writer) {
        return Some(CommitTime(0));
    }
    match outcome(engine, writer) {
        Outcome::Committed(time) => Some(time),
        Outcome::Active | Outcome::Aborted => None,
    }
}

/// What became of a writer.
#[inline]
pub(crate) fn outcome(engine: &Engine, writer: Xsn) -> Outcome {
    let transactions = &engine.transactions;
    #[cfg(feature = "mutations")]
    if transactions.mutations.has(Mutation::ClockUnasked) {
        return transactions.commits.outcome_ahead(writer);
    }
    transactions.commits.outcome(writer)
}

/// A transaction under SNAPSHOT is refused a row that another has changed; so is a statement that
/// locks rows when it has found them, which runs again.
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

/// Whether a ghost of a heap has its tag over its row's last bytes: it has no columns any more.
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
