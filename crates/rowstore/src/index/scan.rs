//! Scans B-trees of rows: copies a batch of rows under one latch, as far as locks allow.
//!
//! Between calls no latch is held; the position is a key. If each row is locked for the statement
//! or the transaction, a batch is one row. If rows are only tested for locks and no other
//! transaction writes the table, one test covers the whole leaf.
//!
//! A serializable scan locks each key with the gap below it, and the first key beyond its range or
//! the end of the index: a forward scan when it comes there, a backward scan before it begins. When
//! it has waited for a lock, it goes on behind the last key that it has locked, not at the key that
//! blocked it. So it sees rows that were inserted in between meanwhile. A search for one whole key
//! that finds its row locks only that row.
//!
//! A reader as of a moment looks into the graveyard after each pass (`graves.rs`).
//!
//! A reader that goes from an entry to its row, and only tests both for locks, finds the row in its
//! later state. So it checks the entry again afterwards (`recheck`): if the entry's leaf still has
//! the LSN of the copy, entry and row are of one moment. If not, the entry is read again, whatever
//! changed the leaf. After eight attempts the entry is locked while its row is read; only then the
//! reader may be in a deadlock with a writer that goes from the row to the entry. (SQL Server locks
//! each entry at once.) Cost: a look at the leaf for each row, under its shared latch; a search
//! from the root, and another of the row, each time that the leaf had changed.

mod graves;
mod leaf;

use crate::current::CurrentRow;
use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::large::{BATCH_BYTES_MAX, FetchedValue, fetched};
use crate::locking::row::{Attempt, Guard, RowLock};
use crate::versions::{Visibility, conflict};
use access::{Deed, HobtKind, LockPlan, PageHint, RowCursor, ScanRange, Strength, TableReads};
use base::limits::PAGE_BODY_BYTES;
use base::{Lsn, PageId, SqlResult};
use btree::{Bias, KeyBuf, KeyFields, LeafEnd, LeafRead, Position, SearchKey, Successor};
use buffer::ReadAhead;
use lock::{Duration, Resource, Ticket};
use os::counters::Event;
use page::{Field, Previous, RowView, VersionTag, slot_cost};
use std::cmp::Ordering;
use work::Work;

/// The most rows of a batch. Batches grow up to it, so that TOP (1) copies one row. A reader of
/// current rows copies no more ahead; for others `leaf.rs` takes the whole leaf.
const BATCH_ROWS_MAX: usize = 256;
/// How often an entry is read again before it is locked.
const RECHECKS_MAX: u8 = 8;
/// The size of a batch from which on the last record of a leaf is compared with the range's end.
const MANY_ROWS: usize = 16;

/// An end of the range, copied.
#[derive(Clone, Default)]
pub(crate) struct Limit {
    pub(crate) key: KeyBuf,
    pub(crate) inclusive: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Backwards: the first key beyond the upper end must be locked.
    Beyond,
    Before,
    /// At the position's row, which is done.
    After,
    /// At the position's row, which must be read again.
    Again,
    Done,
}

/// A copied row.
#[derive(Clone)]
struct CopiedRow {
    bytes: std::ops::Range<usize>,
    page: PageId,
    slot: u16,
}

/// A scan of a B-tree.
pub(crate) struct IndexCursor<'h> {
    hobt: &'h RowHobt,
    plan: LockPlan,
    ask: RowLock,
    lower: Option<Limit>,
    upper: Option<Limit>,
    backward: bool,
    /// The range is one whole key.
    point: bool,
    state: State,
    position: Position,
    ahead: ReadAhead,
    /// The leaf whose last record is done, and its right neighbour.
    onward: Option<(PageId, PageId)>,
    bytes: Vec<u8>,
    rows: Vec<CopiedRow>,
    values: Vec<FetchedValue>,
    /// The LSN of the leaf from which the rows were copied.
    copied_at: Lsn,
    /// How often the current row was read again.
    rechecks: u8,
    /// A former version that is being copied.
    former: Vec<u8>,
    at: usize,
    batch: usize,
    held: Option<(Resource, Resource)>,
    /// A short lock for which the cursor has waited. It is requested again, and then held twice.
    waited: Option<Resource>,
    /// The number of the transaction's lock escalations when `ask` was determined.
    escalations: u64,
    reads: TableReads,
    /// No other transaction writes the table while the current leaf is latched.
    quiet: bool,
    /// The key behind which the current pass began; empty: at the beginning of the range.
    begun: KeyBuf,
    /// Keys of that pass whose rows the transaction has deleted itself.
    own_gone: Vec<KeyBuf>,
    /// The page whose ghosts were noted last.
    noted: PageId,
    /// Ghosts that were passed since the position was saved. They are not counted yet, because the
    /// cursor may pass them again.
    ghosts: u64,
}

/// The result of a pass over a leaf.
enum Pass {
    /// Rows were copied, or the range ended.
    Enough,
    /// The cursor must wait for a row's lock.
    Blocked(Ticket),
}

pub(crate) fn limit(bound: &Option<access::KeyBound<'_>>) -> Option<Limit> {
    bound.map(|b| Limit { key: KeyBuf::of(b.fields), inclusive: b.inclusive })
}

impl<'h> IndexCursor<'h> {
    pub(crate) fn open(
        hobt: &'h RowHobt,
        work: &mut Work,
        range: &ScanRange<'_>,
        plan: &LockPlan,
    ) -> RowResult<Box<Self>> {
        assert!(hobt.spec.kind != HobtKind::Heap, "a heap has no key order");
        let mut cursor = Box::new(IndexCursor {
            hobt,
            plan: *plan,
            ask: RowLock::None,
            lower: None,
            upper: None,
            backward: false,
            point: false,
            state: State::Done,
            position: Position::default(),
            ahead: ReadAhead::new(),
            onward: None,
            bytes: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            copied_at: Lsn::default(),
            rechecks: 0,
            former: Vec::new(),
            at: 0,
            batch: 1,
            held: None,
            waited: None,
            escalations: 0,
            reads: TableReads::default(),
            quiet: false,
            begun: KeyBuf::default(),
            own_gone: Vec::new(),
            noted: PageId::NONE,
            ghosts: 0,
        });
        cursor.aim(work, range)?;
        Ok(cursor)
    }

    /// Reads the part of a range from one key to before another. An absent key means the end of the
    /// range.
    pub(crate) fn between(
        hobt: &'h RowHobt,
        work: &mut Work,
        part: (Option<&KeyBuf>, Option<&KeyBuf>),
        (lower, upper): (Option<&Limit>, Option<&Limit>),
        (backward, plan): (bool, &LockPlan),
    ) -> RowResult<Box<Self>> {
        let whole = ScanRange { backward, ..ScanRange::default() };
        let mut cursor = Self::open(hobt, work, &whole, plan)?;
        assert!(!cursor.ask.is_range(), "ranges of keys are locked by one scan");
        let from = part.0.map(|key| Limit { key: key.clone(), inclusive: true });
        let to = part.1.map(|key| Limit { key: key.clone(), inclusive: false });
        cursor.lower = from.or_else(|| lower.cloned());
        cursor.upper = to.or_else(|| upper.cloned());
        cursor.batch = BATCH_ROWS_MAX;
        Ok(cursor)
    }

    /// Takes the table's lock and moves before the first row of a range.
    fn aim(&mut self, work: &mut Work, range: &ScanRange<'_>) -> RowResult<()> {
        assert!(self.held.is_none(), "a row is given up before another scan begins");
        let whole = self.hobt.tree().order().len();
        let fits = |b: &Option<access::KeyBound<'_>>| b.is_none_or(|b| b.fields.len() <= whole);
        assert!(fits(&range.lower) && fits(&range.upper), "an end is of the key's columns");
        self.ask = self.hobt.lock_table(work, &self.plan, Guard::Gaps)?;
        self.rechecks = 0;
        self.escalations = work.escalations();
        self.lower = limit(&range.lower);
        self.upper = limit(&range.upper);
        self.point = self.is_point();
        self.reads.scans += u64::from(!self.point);
        self.backward = range.backward && !self.point;
        self.state = match self.backward && self.ask.is_range() {
            true => State::Beyond,
            false => State::Before,
        };
        (self.ahead, self.onward) = (ReadAhead::new(), None);
        self.rows.clear();
        self.values.clear();
        self.at = 0;
        self.batch = 1;
        Ok(())
    }

    /// Whether the range is one whole key, which at most one row has.
    fn is_point(&self) -> bool {
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return false };
        lower.inclusive
            && upper.inclusive
            && lower.key.bytes() == upper.key.bytes()
            && lower.key.fields().as_slice().len() == self.hobt.tree().order().len()
    }

    /// Counts a new scan.
    pub(crate) fn count(&self) {
        let event = match (&self.lower, &self.upper) {
            _ if self.point => Event::ProbeScan,
            (None, None) => Event::FullScan,
            (Some(_), _) | (_, Some(_)) => Event::RangeScan,
        };
        self.hobt.home.pages.counters().add(event, 1);
        self.hobt.did(if self.point { Deed::SingletonLookup } else { Deed::RangeScan });
    }

    /// Sets the state. The cursor passes nothing before its position again, so the ghosts before it
    /// are counted.
    fn stands(&mut self, state: State) {
        self.state = state;
        let ghosts = std::mem::take(&mut self.ghosts);
        self.count_ghosts(ghosts);
    }

    /// Saves the position of a record, which does not lie before the one that was saved last.
    fn save(&mut self, leaf: &LeafRead<'_>) -> RowResult<()> {
        match self.state {
            State::After | State::Again => leaf.save_onward(&mut self.position, self.backward)?,
            State::Before | State::Beyond | State::Done => leaf.save(&mut self.position)?,
        }
        Ok(())
    }

    /// Counts ghosts that were passed.
    fn count_ghosts(&mut self, ghosts: u64) {
        if ghosts > 0 {
            self.reads.ghosts += ghosts;
            self.hobt.home.pages.counters().add(Event::GhostSkipped, ghosts);
        }
    }

    fn first(&self) -> RowResult<Option<Successor<'h>>> {
        debug_assert_eq!(self.state, State::Before, "a scan begins once");
        let tree = self.hobt.tree();
        let (limit, inclusive, exclusive) = if self.backward {
            (&self.upper, Bias::LastAtMost, Bias::LastBelow)
        } else {
            (&self.lower, Bias::FirstAtLeast, Bias::FirstAbove)
        };
        let fields = limit.as_ref().map(|l| l.key.fields());
        let bias = match limit {
            Some(l) if !l.inclusive => exclusive,
            _ => inclusive,
        };
        let fields = fields.as_ref().map_or(&[][..], |f| f.as_slice());
        let key = SearchKey { fields, bias };
        Ok(match self.backward {
            true => tree.seek(key)?.map(Successor::Record),
            false => Some(tree.seek_next(key)?),
        })
    }

    fn resume(&self, again: bool) -> RowResult<Option<Successor<'h>>> {
        debug_assert!(!self.position.key().is_empty(), "the place was saved");
        let state = if again { State::Again } else { State::After };
        debug_assert_eq!(self.state, state, "at a row, dealt with or not");
        let tree = self.hobt.tree();
        Ok(match (self.backward, again) {
            (false, false) => Some(tree.resume_next(&self.position, Bias::FirstAbove)?),
            (false, true) => Some(tree.resume_next(&self.position, Bias::FirstAtLeast)?),
            (true, false) => tree.resume(&self.position, Bias::LastBelow)?.map(Successor::Record),
            (true, true) => tree.resume(&self.position, Bias::LastAtMost)?.map(Successor::Record),
        })
    }

    /// The first key beyond the upper end, latched, for a backward scan that locks ranges.
    fn beyond(&self) -> RowResult<Successor<'h>> {
        debug_assert!(self.backward && self.ask.is_range(), "who comes from there guards it");
        let tree = self.hobt.tree();
        let Some(l) = &self.upper else {
            // Without an upper end this is the end of the index, behind the last key. The scan
            // meets keys that are inserted there before it begins.
            let mut next = match tree.seek(SearchKey { fields: &[], bias: Bias::LastAtMost })? {
                Some(last) => last.ahead()?,
                None => tree.seek_next(SearchKey { fields: &[], bias: Bias::FirstAtLeast })?,
            };
            while let Successor::Record(leaf) = next {
                next = leaf.ahead()?;
            }
            return Ok(next);
        };
        let fields = l.key.fields();
        let bias = if l.inclusive { Bias::FirstAbove } else { Bias::FirstAtLeast };
        Ok(tree.seek_next(SearchKey { fields: fields.as_slice(), bias })?)
    }

    fn is_past(&self, record: &[u8]) -> bool {
        // The reader of its fields reports a damaged record.
        self.passes(record).unwrap_or(false)
    }

    /// Whether a record lies beyond the range; `None` if it is damaged.
    fn passes(&self, record: &[u8]) -> Option<bool> {
        let (limit, beyond) = if self.backward {
            (&self.lower, Ordering::Less)
        } else {
            (&self.upper, Ordering::Greater)
        };
        let Some(l) = limit else { return Some(false) };
        let fields = l.key.fields();
        Some(match self.hobt.tree().compare(record, fields.as_slice())? {
            Ordering::Equal => !l.inclusive,
            order => order == beyond,
        })
    }

    /// Moves on from the current row. Its lock is released, or kept for a later change of the row.
    fn go_on(&mut self, work: &mut Work) -> RowResult<()> {
        match self.held.take_if(|_| self.plan.kept_back) {
            Some(held) => self.hobt.keep_row(work, held),
            None => {
                self.give_up_row(work);
                Ok(())
            }
        }
    }

    fn give_up_row(&mut self, work: &Work) {
        if let Some((row, page)) = self.held.take() {
            debug_assert_eq!(row.hobt_id(), page.hobt_id(), "a row is locked with its page");
            let owner = work.owner();
            work.locks().release(owner, row);
            work.locks().release(owner, page);
        }
    }

    /// Moves back, so that the next row is the current one again, if it still exists.
    #[cold]
    fn step_back(&mut self) -> RowResult<()> {
        let (tree, row) = (self.hobt.tree(), &self.rows[self.at]);
        let (record, mut key) = (&self.bytes[row.bytes.clone()], KeyFields::default());
        if tree.key_of(record, &mut key).is_none() {
            return Err(self.hobt.home.pages.corrupt(row.page, "a record has no key").into());
        }
        self.position = Position::at(KeyBuf::of(key.as_slice()));
        self.state = if self.point { State::Before } else { State::Again };
        self.onward = None;
        self.rows.clear();
        (self.at, self.batch) = (0, 1);
        self.rechecks += 1;
        if let (RECHECKS_MAX.., RowLock::Test(mode)) = (self.rechecks, self.ask) {
            self.ask = RowLock::Short(mode);
        }
        Ok(())
    }

    /// After a row that had to be locked to be read, the next row is only tested again.
    fn forget_rechecks(&mut self) {
        if let (RECHECKS_MAX.., RowLock::Short(mode)) = (self.rechecks, self.ask) {
            self.ask = RowLock::Test(mode);
        }
        self.rechecks = 0;
    }

    fn refill(&mut self, work: &mut Work) -> RowResult<bool> {
        self.rows.clear();
        self.values.clear();
        self.bytes.clear();
        self.at = 0;
        assert!(self.held.is_none(), "a row is given up before the next is looked for");
        if self.escalations != work.escalations() {
            self.escalations = work.escalations();
            self.ask = self.hobt.still_needed(work, self.ask);
            if self.state == State::Beyond && !self.ask.is_range() {
                // The table's lock guards its end, too.
                self.state = State::Before;
            }
        }
        loop {
            if let Err(c) = work.owner().waiter().check() {
                return Err(lock::LockError::Cancelled(c).into());
            }
            if let Some((leaf, right)) = self.onward.take() {
                debug_assert_eq!(self.state, State::After, "the leaf's last record is behind");
                self.ahead.step(&self.hobt.home.pages, leaf, right);
            }
            self.note_begin();
            let next = match self.state {
                State::Done => return Ok(false),
                State::Beyond => Some(self.beyond()?),
                State::Before => self.first()?,
                State::After => self.resume(false)?,
                State::Again => self.resume(true)?,
            };
            let pass = match next {
                None => {
                    self.state = State::Done;
                    Pass::Enough
                }
                Some(next) if self.state == State::Beyond => self.guard_beyond(work, next)?,
                Some(Successor::Record(leaf)) => self.pass(work, leaf)?,
                Some(Successor::End(end)) => self.reach_end(work, end)?,
            };
            if let Some(resource) = self.waited.take() {
                work.locks().release(work.owner(), resource);
            }
            if matches!(pass, Pass::Enough) {
                self.merge_graves(work)?;
            }
            match pass {
                Pass::Enough if !self.rows.is_empty() => {
                    let of_leaf = self.batch.max(PAGE_BODY_BYTES / slot_cost(1));
                    let most = self.batch + of_leaf;
                    debug_assert!(self.rows.len() <= most, "a leaf's and the graveyard's");
                    let of_a_row = |v: &FetchedValue| v.row < self.rows.len();
                    debug_assert!(self.values.last().is_none_or(of_a_row), "a value is of a row");
                    self.batch = (self.batch * 4).min(BATCH_ROWS_MAX);
                    return Ok(true);
                }
                Pass::Enough => {}
                Pass::Blocked(ticket) => {
                    debug_assert!(self.rows.is_empty(), "rows are given before a wait");
                    let short = ticket.duration() == Duration::Short;
                    let resource = ticket.resource();
                    self.hobt.wait(work, ticket, &self.plan)?;
                    debug_assert!(self.waited.is_none(), "it is given back first");
                    self.waited = short.then_some(resource);
                }
            }
        }
    }

    /// Locks the first key beyond the upper end before the scan begins there.
    fn guard_beyond(&mut self, work: &mut Work, next: Successor<'h>) -> RowResult<Pass> {
        assert!(self.backward, "forwards the key beyond is met last");
        if !self.ask.is_range() {
            // The table lock, to which the transaction has escalated, covers it.
            self.state = State::Before;
            return Ok(Pass::Enough);
        }
        assert!(self.rows.is_empty(), "no row was read yet");
        let blocked = match next {
            Successor::Record(leaf) => self.lock(work, &leaf, self.ask)?,
            Successor::End(end) => return self.lock_end(work, &end, State::Before),
        };
        Ok(match blocked {
            Some(ticket) => Pass::Blocked(ticket),
            None => {
                self.state = State::Before;
                Pass::Enough
            }
        })
    }

    /// Ends a forward scan behind the last key. The gap there is locked while the leaf is latched.
    fn reach_end(&mut self, work: &mut Work, end: LeafEnd<'h>) -> RowResult<Pass> {
        assert!(!self.backward, "backwards a scan ends at the first key");
        if !self.ask.is_range() {
            self.stands(State::Done);
            return Ok(Pass::Enough);
        }
        self.lock_end(work, &end, State::Done)
    }

    fn lock_end(
        &mut self,
        work: &mut Work,
        _latched: &LeafEnd<'h>,
        then: State,
    ) -> RowResult<Pass> {
        debug_assert!(matches!(then, State::Before | State::Done), "the end is met once");
        debug_assert_ne!(self.state, then, "which leads on");
        Ok(match self.hobt.try_end(work, self.ask)? {
            Attempt::Wait(ticket) => Pass::Blocked(ticket),
            Attempt::Granted => {
                self.stands(then);
                Pass::Enough
            }
        })
    }

    /// Ends the scan at the first record beyond the range. Its lock guards the gap below it.
    fn pass_end(&mut self, work: &mut Work, leaf: &LeafRead<'h>) -> RowResult<Pass> {
        debug_assert!(self.is_past(leaf.record()), "the record is beyond the range");
        if self.ask.is_range()
            && !self.backward
            && let Some(ticket) = self.lock(work, leaf, self.ask)?
        {
            return Ok(Pass::Blocked(ticket));
        }
        self.stands(State::Done);
        Ok(Pass::Enough)
    }

    /// Copies rows from a leaf, until the batch is full, the leaf ends or a lock is not free.
    fn pass(&mut self, work: &mut Work, mut leaf: LeafRead<'h>) -> RowResult<Pass> {
        let page = leaf.page_id();
        assert_eq!(leaf.view().level(), 0, "rows are on leaves");
        assert!(self.state != State::Beyond, "the key beyond is locked before rows are read");
        debug_assert!(self.rows.is_empty(), "a batch is of one leaf");
        self.ghosts = 0;
        self.copied_at = leaf.view().lsn();
        debug_assert_eq!(leaf.view().alloc_unit(), self.hobt.spec.unit, "the leaf is this tree's");
        let single = !matches!(self.ask, RowLock::None | RowLock::Test(_));
        // A test of one row costs no more than a test of the table, and does not touch the lock
        // that all sessions share.
        self.quiet = !self.point && self.hobt.nobody_writes(work, self.ask);
        let unasked = self.quiet || self.ask == RowLock::None;
        if unasked && !self.point && !self.backward {
            return self.pass_unasked(work, leaf);
        }
        loop {
            if self.is_past(leaf.record()) {
                return self.pass_end(work, &leaf);
            }
            let copied = self.rows.len();
            if let Some(ticket) = self.take(work, &leaf)? {
                return self.blocked(&leaf, ticket);
            }
            debug_assert!(self.rows.len() <= copied + 1, "a record is one row");
            debug_assert!(!single || self.rows.len() <= 1, "a locked row is a batch");
            if self.point && self.rows.len() > copied {
                self.stands(State::Done);
                return Ok(Pass::Enough);
            }
            let enough = self.rows.len() >= self.batch
                || self.bytes.len() >= BATCH_BYTES_MAX
                || (single && !self.rows.is_empty());
            let edge = if self.backward {
                leaf.slot() == 0
            } else {
                leaf.slot() + 1 >= leaf.view().slot_count()
            };
            // The position is saved before the cursor moves on. If the next row is blocked, the
            // scan resumes after this one.
            let may_block = self.ask != RowLock::None && !self.quiet;
            if enough || edge || (may_block && self.rows.len() > copied) {
                self.save(&leaf)?;
                self.stands(State::After);
            }
            if edge && !self.backward {
                self.onward = Some((page, leaf.view().next_page()));
            }
            if enough || edge {
                return Ok(Pass::Enough);
            }
            let next = if self.backward { leaf.back()? } else { leaf.forward()? };
            leaf = next.ok_or_else(|| {
                let what = "a slot between two others is gone";
                self.hobt.home.pages.corrupt(page, what)
            })?;
        }
    }

    /// Copies a row.
    fn copy(&mut self, record: &[u8], page: PageId, slot: u16) -> RowResult<()> {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.give(record, from, page, slot)
    }

    /// Adds a row to the batch, whose record was already copied to `from`.
    fn give(&mut self, record: &[u8], from: usize, page: PageId, slot: u16) -> RowResult<()> {
        let bytes = from..from + record.len();
        debug_assert_eq!(self.bytes.get(bytes.clone()), Some(record), "it was copied");
        self.hobt.fetch(
            (record, page),
            self.rows.len(),
            &mut self.bytes,
            &mut self.values,
            &mut self.reads,
        )?;
        self.rows.push(CopiedRow { bytes, page, slot });
        Ok(())
    }

    /// Copies the version of a record that the reader's moment sees, if there is one.
    #[inline(never)]
    fn copy_seen(&mut self, work: &Work, record: &[u8], page: PageId, slot: u16) -> RowResult<()> {
        let Some(at) = self.plan.as_of else { return Ok(()) };
        let mut former = std::mem::take(&mut self.former);
        let seen = self.hobt.as_of(work, at, (record, (page, slot)), &mut former);
        let copied = match seen {
            Ok(Visibility::AsItIs) => self.copy(record, page, slot),
            // A reader that locks what it reads needs the current row.
            Ok(Visibility::Former) if self.plan.strength != Strength::Shared => {
                Err(conflict(work, &self.plan))
            }
            Ok(Visibility::Former) => self.copy(&former, page, slot),
            Ok(Visibility::Nothing) => {
                self.note_own(work, record);
                self.ghosts += u64::from(page::is_ghost_record(record));
                Ok(())
            }
            Err(e) => Err(e),
        };
        self.former = former;
        copied
    }

    /// Copies the row before the record of an aborted transaction, if there is one.
    #[cold]
    fn copy_former(
        &mut self,
        record: &[u8],
        before: Previous,
        (page, slot): (PageId, u16),
    ) -> RowResult<()> {
        let mut former = std::mem::take(&mut self.former);
        let copied = match self.hobt.former_row((record, page), before, &mut former) {
            Ok(true) => self.copy(&former, page, slot),
            Ok(false) => Ok(()),
            Err(e) => Err(e),
        };
        self.former = former;
        copied
    }

    /// A record's lock is not free. The rows before it are returned first.
    fn blocked(&mut self, leaf: &LeafRead<'h>, ticket: Ticket) -> RowResult<Pass> {
        assert!(self.ask != RowLock::None, "who asks for nothing is not blocked");
        if !self.rows.is_empty() {
            assert!(!self.ask.is_range(), "a scan of ranges reads row by row");
            drop(ticket);
            return Ok(Pass::Enough);
        }
        if !self.ask.is_range() {
            self.save(leaf)?;
            self.stands(State::Again);
        }
        Ok(Pass::Blocked(ticket))
    }

    /// Requests a record's lock. Returns a ticket if the cursor must wait for it or for the
    /// record's writer.
    fn lock(
        &self,
        work: &mut Work,
        leaf: &LeafRead<'_>,
        ask: RowLock,
    ) -> RowResult<Option<Ticket>> {
        debug_assert!(ask != RowLock::None, "who asks for nothing needs no lock");
        // A record without a key is damaged: the reader of its fields reports it.
        let Some(resource) = self.hobt.record_resource(leaf.record()) else { return Ok(None) };
        let modifies = self.plan.strength != Strength::Shared;
        let at = (leaf.record(), (leaf.page_id(), leaf.slot()));
        if let Some(ticket) = self.hobt.try_writer(work, at, modifies)? {
            return Ok(Some(ticket));
        }
        Ok(match self.hobt.try_row(work, leaf.page_id(), resource, ask)? {
            Attempt::Wait(ticket) => Some(ticket),
            Attempt::Granted => None,
        })
    }

    /// Whether a record is a ghost whose tag says that its lock need not be tested. A scan that
    /// locks gaps must lock it, because it is an anchor (rule 9).
    fn passes_gone(&self, work: &Work, (record, place): (&[u8], (PageId, u16))) -> bool {
        self.ask != RowLock::None
            && !self.ask.is_range()
            && page::is_ghost_record(record)
            && self.hobt.is_gone(work.engine(), record, place)
    }

    /// Requests a record's lock and copies its row. Returns a ticket if the cursor must wait for
    /// the lock.
    fn take(&mut self, work: &mut Work, leaf: &LeafRead<'_>) -> RowResult<Option<Ticket>> {
        let record = leaf.record();
        let place = (leaf.page_id(), leaf.slot());
        let (mut now, at) = (self.hobt.current(record, place), (record, place));
        if self.passes_gone(work, at) {
            if self.noted != leaf.page_id() {
                self.noted = leaf.page_id();
                self.hobt.home.ghosts().note(self.noted);
            }
        } else if self.ask != RowLock::None {
            let ask = match (now, self.ask) {
                // The lock of a ghost is only tested, unless the gap below it must be locked.
                (CurrentRow::Ghost, RowLock::Short(m) | RowLock::Long(m)) => RowLock::Test(m),
                (CurrentRow::Row(_) | CurrentRow::Former(_), ask) if self.point => ask.of_the_row(),
                (_, ask) => ask,
            };
            if !self.quiet
                && let Some(ticket) = self.lock(work, leaf, ask)?
            {
                return Ok((!self.plan.read_past).then_some(ticket));
            }
            // Its writer may have been aborted until the lock was granted.
            let before = std::mem::replace(&mut now, self.hobt.current(record, place));
            if before == CurrentRow::Ghost && now != before {
                return self.take(work, leaf);
            }
            if now == CurrentRow::Ghost {
                self.hobt.met_ghost(work, at, self.hobt.record_resource(record));
            }
            if let (RowLock::Short(_), CurrentRow::Row(_) | CurrentRow::Former(_)) = (ask, now)
                && let Some(resource) = self.hobt.record_resource(record)
            {
                debug_assert!(self.held.is_none(), "one row is held at a time");
                self.held = Some((resource, self.hobt.page_resource(leaf.page_id())));
            }
        }
        if VersionTag::is_on(record) && self.plan.as_of.is_some() {
            let plain = self.plan.strength == Strength::Shared;
            debug_assert!(!plain || self.ask == RowLock::None, "versions are read without locks");
            self.copy_seen(work, record, leaf.page_id(), leaf.slot())?;
            return Ok(None);
        }
        debug_assert!(!self.point || self.rows.is_empty(), "a point has one row");
        let follows = |r: &CopiedRow| (r.slot < leaf.slot()) != self.backward;
        debug_assert!(self.rows.last().is_none_or(follows), "in order of slots");
        match now {
            CurrentRow::Row(bytes) => self.copy(bytes, leaf.page_id(), leaf.slot())?,
            CurrentRow::Ghost => self.ghosts += 1,
            CurrentRow::Former(before) => self.copy_former(record, before, place)?,
        }
        Ok(None)
    }
}

impl RowCursor for IndexCursor<'_> {
    #[inline]
    fn next(&mut self, work: &mut Work) -> SqlResult<bool> {
        if self.at + 1 < self.rows.len() {
            self.at += 1;
            return Ok(true);
        }
        debug_assert!(self.held.is_none() || self.rows.len() == 1, "a locked row is a batch");
        self.go_on(work).map_err(|e| self.hobt.sql(e))?;
        if self.rechecks > 0 && !self.rows.is_empty() {
            self.forget_rechecks();
        }
        let (before, lob) = (work::page_reads(), self.reads.lob);
        let followed = work.versions_traversed();
        let hobt = self.hobt;
        let more = hobt.counting_waits(|| self.refill(work));
        self.reads.note(work::page_reads().since(before), lob);
        self.reads.versions += work.tell_traversed() - followed;
        more.map_err(|e| self.hobt.sql(e))
    }

    #[inline]
    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        debug_assert!(column < self.hobt.layout.column_count(), "a column of the row");
        let row = &self.rows[self.at];
        let record = &self.bytes[row.bytes.clone()];
        let field = match self.hobt.layout.field(record, column) {
            Some(Field::OffRow(_)) => fetched(&self.values, &self.bytes, self.at, column),
            field => field,
        };
        field.ok_or_else(|| {
            let what = "a record's columns do not fit its layout";
            self.hobt.home.pages.corrupt(row.page, what).into()
        })
    }

    #[inline]
    fn view(&self) -> Option<RowView<'_>> {
        let row = self.rows.get(self.at)?;
        self.hobt.layout.view(&self.bytes[row.bytes.clone()])
    }

    fn hint(&self) -> Option<PageHint> {
        debug_assert!(self.rows.is_empty() || self.at < self.rows.len(), "on a row, or on none");
        let row = self.rows.get(self.at).filter(|r| !r.page.is_none())?;
        Some(PageHint { page: row.page, slot: row.slot })
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    #[inline]
    fn recheck(&mut self) -> SqlResult<bool> {
        if !matches!(self.ask, RowLock::Test(_)) {
            return Ok(true);
        }
        let row = &self.rows[self.at];
        // A page that cannot be read no longer has the row.
        let leaf = self.hobt.home.pages.read_again(row.page);
        if leaf.is_ok_and(|leaf| leaf.view().lsn() == self.copied_at) {
            return Ok(true);
        }
        self.step_back().map_err(|e| self.hobt.sql(e))?;
        Ok(false)
    }

    fn release_row(&mut self, work: &mut Work) {
        self.give_up_row(work);
    }

    fn keep_back(&mut self) {
        self.plan.kept_back |= self.plan.strength != Strength::Shared;
    }

    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.go_on(work).map_err(|e| self.hobt.sql(e))?;
        self.aim(work, range).map_err(|e| self.hobt.sql(e))?;
        self.count();
        Ok(())
    }

    fn reads(&self) -> TableReads {
        self.reads
    }
}
