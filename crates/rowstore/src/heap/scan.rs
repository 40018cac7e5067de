//! Scans heaps in allocation order, and fetches a row by its RID.
//!
//! A range of one RID (the stored 8 bytes as an equal bound) fetches that row. A reader as of a
//! moment also looks into the graveyard, for the slots that it skips (`graves.rs`).

mod graves;

use crate::current::CurrentRow;
use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::large::{BATCH_BYTES_MAX, FetchedValue, fetched};
use crate::locking::row::{Attempt, Guard, RowLock};
use crate::place::Place;
use crate::versions::{Visibility, conflict};
use access::{Deed, HobtKind, LockPlan, PageHint, RowCursor, ScanRange, Strength, TableReads};
use base::{PageId, SqlResult};
use buffer::ReadAhead;
use lock::{Duration, Resource, Ticket};
use os::counters::Event;
use page::{
    Field, PageKind, PageView, Previous, RecordKind, RowView, VersionTag, home_of, rid_bytes,
    rid_of, stub_target,
};
use work::Work;

/// A scan of a heap.
pub(crate) struct HeapCursor<'h> {
    hobt: &'h RowHobt,
    plan: LockPlan,
    ask: RowLock,
    pages: Vec<PageId>,
    /// Index of the page being read, and the next slot on it.
    page: usize,
    slot: u16,
    /// The scan reads only slots before this one.
    end: u16,
    one_row: bool,
    /// A sample: pages of other hobts, or above the leaves, are skipped.
    sampled: bool,
    listed: bool,
    ahead: ReadAhead,
    bytes: Vec<u8>,
    rows: Vec<(std::ops::Range<usize>, PageId, u16)>,
    values: Vec<FetchedValue>,
    /// A former version that is being copied.
    former: Vec<u8>,
    /// Slots of the latched page whose rows' ghosts are in the graveyard.
    graved: Vec<u16>,
    at: usize,
    held: Option<(Resource, Resource)>,
    /// A short lock for which the cursor has waited. It is requested again, and then held twice.
    waited: Option<Resource>,
    /// The number of the transaction's lock escalations when `ask` was determined.
    escalations: u64,
    reads: TableReads,
}

impl<'h> HeapCursor<'h> {
    pub(crate) fn open(
        hobt: &'h RowHobt,
        work: &mut Work,
        range: &ScanRange<'_>,
        plan: &LockPlan,
    ) -> RowResult<Self> {
        assert_eq!(hobt.spec.kind, HobtKind::Heap, "a tree is read in key order");
        let mut cursor = HeapCursor {
            hobt,
            plan: *plan,
            ask: RowLock::None,
            pages: Vec::new(),
            page: 0,
            slot: 0,
            end: u16::MAX,
            one_row: false,
            sampled: false,
            listed: false,
            ahead: ReadAhead::whole(),
            bytes: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            former: Vec::new(),
            graved: Vec::new(),
            at: 0,
            held: None,
            waited: None,
            escalations: 0,
            reads: TableReads::default(),
        };
        cursor.aim(work, range)?;
        Ok(cursor)
    }

    /// Reads these pages of a heap or clustered index without locks.
    pub(crate) fn sampled(hobt: &'h RowHobt, pages: Vec<PageId>) -> Self {
        HeapCursor {
            hobt,
            plan: LockPlan::read(access::Isolation::ReadUncommitted),
            ask: RowLock::None,
            pages,
            page: 0,
            slot: 0,
            end: u16::MAX,
            one_row: false,
            sampled: true,
            listed: true,
            ahead: ReadAhead::whole(),
            bytes: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            former: Vec::new(),
            graved: Vec::new(),
            at: 0,
            held: None,
            waited: None,
            escalations: 0,
            reads: TableReads::default(),
        }
    }

    /// Reads these pages of a heap like a scan of the whole heap.
    pub(crate) fn of_pages(
        hobt: &'h RowHobt,
        work: &mut Work,
        pages: &[PageId],
        plan: &LockPlan,
    ) -> RowResult<Self> {
        let mut cursor = Self::open(hobt, work, &ScanRange::default(), plan)?;
        cursor.pages.extend_from_slice(pages);
        cursor.listed = true;
        Ok(cursor)
    }

    fn aim(&mut self, work: &mut Work, range: &ScanRange<'_>) -> RowResult<()> {
        assert!(self.held.is_none(), "a row is given up before another scan begins");
        let rid = range.lower.and_then(|b| b.fields.first().and_then(|f| f.inline()));
        self.pages.clear();
        (self.page, self.slot, self.end) = (0, 0, u16::MAX);
        (self.one_row, self.listed) = (false, false);
        self.ahead = ReadAhead::whole();
        if let Some((page, slot)) = rid.and_then(rid_of) {
            self.pages.push(page);
            (self.slot, self.end) = (slot, slot.saturating_add(1));
            (self.one_row, self.listed) = (true, true);
        }
        self.reads.scans += u64::from(!self.one_row);
        // New rows may appear on any page, but only one at a RID.
        let guard = if self.one_row { Guard::Nothing } else { Guard::Table };
        self.ask = self.hobt.lock_table(work, &self.plan, guard)?;
        assert!(!self.ask.is_range(), "rule 13: heaps have no gaps");
        self.escalations = work.escalations();
        self.rows.clear();
        self.values.clear();
        self.at = 0;
        Ok(())
    }

    /// Counts a new scan.
    pub(crate) fn count(&self) {
        let (event, deed) = match self.one_row {
            true => (Event::ProbeScan, Deed::SingletonLookup),
            false => (Event::FullScan, Deed::RangeScan),
        };
        self.hobt.home.pages.counters().add(event, 1);
        self.hobt.did(deed);
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
            debug_assert_eq!(row.page_id(), page.page_id(), "a row is locked with its page");
            work.locks().release(work.owner(), row);
            work.locks().release(work.owner(), page);
        }
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
        }
        if !self.listed {
            self.pages =
                self.hobt.home.space.unit_pages(&self.hobt.unit, work.owner().waiter())?.pages;
            self.listed = true;
        }
        assert!(self.page <= self.pages.len(), "a page of the list, or behind the last");
        while self.rows.is_empty() {
            if let Err(c) = work.owner().waiter().check() {
                return Err(lock::LockError::Cancelled(c).into());
            }
            let Some(&id) = self.pages.get(self.page) else { return Ok(false) };
            if !self.one_row && self.slot == 0 {
                self.read_ahead(id);
            }
            let blocked = self.pass(work, id)?;
            if let Some(resource) = self.waited.take() {
                work.locks().release(work.owner(), resource);
            }
            if let Some(ticket) = blocked {
                debug_assert!(self.rows.is_empty(), "rows are given before anything is waited for");
                let short = ticket.duration() == Duration::Short;
                let resource = ticket.resource();
                self.hobt.wait(work, ticket, &self.plan)?;
                debug_assert!(self.waited.is_none(), "what was waited for is given back first");
                self.waited = short.then_some(resource);
            }
        }
        debug_assert!(self.values.last().is_none_or(|v| v.row < self.rows.len()), "of its rows");
        Ok(true)
    }

    fn read_ahead(&mut self, id: PageId) {
        debug_assert_eq!(self.pages.get(self.page), Some(&id), "the page that is read now");
        let before = self.page.checked_sub(1).map_or(PageId::NONE, |p| self.pages[p]);
        let pages = &self.pages[self.page..];
        let run = |most: u32| {
            let following = (id.page..).zip(pages).take(most as usize);
            let run = following.take_while(|(n, p)| p.file == id.file && p.page == *n);
            run.count() as u32
        };
        self.ahead.step_within(&self.hobt.home.pages, before, id, run);
    }

    /// Copies rows of a page from the slot on; a ticket when a lock must be waited for first.
    fn pass(&mut self, work: &mut Work, id: PageId) -> RowResult<Option<Ticket>> {
        debug_assert!(self.rows.is_empty(), "a batch is of one page");
        // Whether other transactions write the table is tested once a page, and after a stub.
        let mut quiet = !self.one_row && !self.sampled;
        loop {
            let guard = self.hobt.home.pages.read(id)?;
            quiet = quiet && self.hobt.nobody_writes(work, self.ask);
            let passed = self.pass_slots(work, guard.view(), quiet)?;
            drop(guard);
            let passed = match passed {
                Progress::Stub(to) => self.pass_stub(work, to, &mut quiet)?,
                passed => passed,
            };
            match passed {
                Progress::On | Progress::Stub(_) => {}
                Progress::Enough => return Ok(None),
                Progress::Blocked(ticket) => return Ok(self.rows.is_empty().then_some(ticket)),
                Progress::Page => {
                    self.page += 1;
                    self.slot = 0;
                    return Ok(None);
                }
            }
        }
    }

    /// The same, up to the next stub.
    fn pass_slots(
        &mut self,
        work: &mut Work,
        view: PageView<'_>,
        quiet: bool,
    ) -> RowResult<Progress> {
        let id = view.page_id();
        let ours = view.alloc_unit() == self.hobt.spec.unit && view.kind() == Some(PageKind::Data);
        let end = view.slot_count().min(self.end);
        if !ours && !self.one_row && !self.sampled {
            let what = "a page of the heap is another's";
            return Err(self.hobt.home.pages.corrupt(id, what).into());
        }
        self.note_graves(id);
        while ours && self.slot < end {
            let slot = self.slot;
            let record = view.record(slot);
            let passed = match record.map(|record| (record, home_of(record))) {
                None => {
                    self.check_empty(id, view, slot)?;
                    self.exhume(work, (id, slot))?
                }
                Some((record, Some(_))) if self.sampled => {
                    self.take(work, (record, (id, slot)), quiet)?
                }
                // A forwarded row is returned at its stub.
                Some((_, Some(_))) => self.exhume(work, (id, slot))?,
                Some((record, None)) => match stub_target(record) {
                    Some(_) if self.sampled => Progress::On,
                    Some(to) => return Ok(Progress::Stub(to)),
                    None if RecordKind::of(record[0]) == RecordKind::Forwarded => {
                        let what = "a forwarded row does not say its RID";
                        return Err(self.hobt.home.pages.corrupt(id, what).into());
                    }
                    None => self.take(work, (record, (id, slot)), quiet)?,
                },
            };
            match passed {
                Progress::On => self.slot += 1,
                Progress::Enough => {
                    self.slot += 1;
                    return Ok(passed);
                }
                passed => return Ok(passed),
            }
        }
        Ok(Progress::Page)
    }

    /// Copies the row to which the current stub leads.
    fn pass_stub(&mut self, work: &mut Work, to: Place, quiet: &mut bool) -> RowResult<Progress> {
        let home = (self.pages[self.page], self.slot);
        let Some(guard) = self.hobt.follow_stub(home, to)? else { return Ok(Progress::On) };
        *quiet = *quiet && self.hobt.nobody_writes(work, self.ask);
        let record = guard.view().record(to.1).expect("the row was just found");
        let passed = self.take(work, (record, to), *quiet)?;
        if matches!(passed, Progress::On | Progress::Enough) {
            self.hobt.home.pages.counters().add(Event::Forwarded, 1);
            self.hobt.did(Deed::ForwardedFetch);
            self.slot += 1;
        }
        Ok(passed)
    }

    /// Copies the row of the current slot, if the reader sees one. Its record is at a place.
    fn take(&mut self, work: &mut Work, at: (&[u8], Place), quiet: bool) -> RowResult<Progress> {
        let (record, place) = at;
        let home = home_of(record).unwrap_or(place);
        let mut now = self.hobt.current(record, place);
        // A ghost of a heap may have its tag in memory.
        let may_differ = VersionTag::is_on(record) || !matches!(now, CurrentRow::Row(_));
        let differs = may_differ && self.plan.as_of.is_some();
        if differs && self.ask == RowLock::None {
            self.take_seen(work, at, home)?;
            return Ok(self.full(false));
        }
        if self.sampled {
            match now {
                CurrentRow::Row(bytes) => self.take_row(bytes, home)?,
                CurrentRow::Ghost => {}
                CurrentRow::Former(before) => self.take_former((record, place.0), before, home)?,
            }
            return Ok(Progress::On);
        }
        let resource = self.hobt.rid_resource(home.0, home.1);
        let is_ghost = page::is_ghost_record(record);
        let gone = || is_ghost && self.hobt.is_gone(work.engine(), record, place);
        let ask = match (now, self.ask) {
            _ if quiet || gone() => RowLock::None,
            (CurrentRow::Ghost, RowLock::Short(m) | RowLock::Long(m)) => RowLock::Test(m),
            (_, ask) => ask,
        };
        if let Attempt::Wait(ticket) = self.try_at(work, (at, home), resource, ask)? {
            return match self.plan.read_past {
                true => Ok(self.full(matches!(self.ask, RowLock::Short(_) | RowLock::Long(_)))),
                false => Ok(Progress::Blocked(ticket)),
            };
        }
        // Its writer may have been aborted until the lock was granted.
        let before = std::mem::replace(&mut now, self.hobt.current(record, place));
        if before == CurrentRow::Ghost && now != before {
            return self.take(work, at, quiet);
        }
        if differs {
            self.take_seen(work, at, home)?;
        } else {
            match now {
                CurrentRow::Ghost => self.pass_ghost(work, at, resource),
                CurrentRow::Row(bytes) => self.take_row(bytes, home)?,
                CurrentRow::Former(before) => self.take_former((record, place.0), before, home)?,
            }
            if let (RowLock::Short(_), CurrentRow::Row(_) | CurrentRow::Former(_)) = (ask, now) {
                debug_assert!(self.held.is_none(), "one row is held at a time");
                self.held = Some((resource, self.hobt.page_resource(home.0)));
            }
        }
        Ok(self.full(matches!(self.ask, RowLock::Short(_) | RowLock::Long(_))))
    }

    /// Whether the copied rows make a batch. A locked row is a batch.
    fn full(&self, single: bool) -> Progress {
        debug_assert!(!single || self.rows.len() <= 1, "a locked row is a batch");
        let full = single || self.bytes.len() >= BATCH_BYTES_MAX;
        if full && !self.rows.is_empty() { Progress::Enough } else { Progress::On }
    }
}

/// The progress of a pass over a page.
enum Progress {
    /// The slot is done; the next one follows.
    On,
    /// There are enough rows for a batch.
    Enough,
    /// The cursor must wait for a lock.
    Blocked(Ticket),
    /// The cursor is at a stub that leads to a place.
    Stub(Place),
    /// The page is done.
    Page,
}

impl HeapCursor<'_> {
    /// Checks that a slot without a record is empty.
    fn check_empty(&self, id: PageId, view: PageView<'_>, slot: u16) -> RowResult<()> {
        if view.slot_offset(slot).is_some_and(|at| at != 0) {
            let what = "a slot holds no record";
            return Err(self.hobt.home.pages.corrupt(id, what).into());
        }
        Ok(())
    }

    /// Counts the ghosts that were passed since `counted` in the server's counter.
    fn count_ghosts(&self, counted: u64) {
        let more = self.reads.ghosts - counted;
        if more > 0 {
            self.hobt.home.pages.counters().add(Event::GhostSkipped, more);
        }
    }

    /// Tests or takes a row's lock, after a check of its writer.
    fn try_at(
        &self,
        work: &mut Work,
        (at, home): ((&[u8], Place), Place),
        row: Resource,
        ask: RowLock,
    ) -> RowResult<Attempt> {
        if ask != RowLock::None {
            let modifies = self.plan.strength != Strength::Shared;
            if let Some(ticket) = self.hobt.try_writer(work, at, modifies)? {
                return Ok(Attempt::Wait(ticket));
            }
        }
        self.hobt.try_row(work, home.0, row, ask)
    }

    /// Counts a ghost. A reader that uses locks notes its page for the cleaner.
    fn pass_ghost(&mut self, work: &Work, at: (&[u8], Place), row: Resource) {
        self.reads.ghosts += 1;
        if self.ask != RowLock::None {
            self.hobt.met_ghost(work, at, Some(row));
        }
    }

    /// Copies the row before the record of an aborted transaction, if there is one.
    #[cold]
    fn take_former(
        &mut self,
        record: (&[u8], PageId),
        before: Previous,
        home: Place,
    ) -> RowResult<()> {
        let mut former = std::mem::take(&mut self.former);
        let taken = match self.hobt.former_row(record, before, &mut former) {
            Ok(true) => self.take_row(&former, home),
            Ok(false) => Ok(()),
            Err(e) => Err(e),
        };
        self.former = former;
        taken
    }

    /// Copies the version of a record that the reader's moment sees, if there is one.
    fn take_seen(&mut self, work: &Work, row: (&[u8], Place), home: Place) -> RowResult<()> {
        let Some(at) = self.plan.as_of else { return Ok(()) };
        let mut former = std::mem::take(&mut self.former);
        let seen = self.hobt.as_of(work, at, row, &mut former)?;
        let passed = seen == Visibility::Nothing && page::is_ghost_record(row.0);
        self.reads.ghosts += u64::from(passed);
        self.give_seen(work, seen, (row.0, &former), home)?;
        self.former = former;
        Ok(())
    }

    /// Copies the record or its former version, as `seen` says.
    fn give_seen(
        &mut self,
        work: &Work,
        seen: Visibility,
        (now, former): (&[u8], &[u8]),
        home: Place,
    ) -> RowResult<()> {
        match seen {
            Visibility::AsItIs => self.take_row(now, home),
            // A reader that locks what it reads needs the current row.
            Visibility::Former if self.plan.strength != Strength::Shared => {
                Err(conflict(work, &self.plan))
            }
            Visibility::Former => self.take_row(former, home),
            Visibility::Nothing => Ok(()),
        }
    }

    /// Copies a row, with its values that are off it.
    fn take_row(&mut self, bytes: &[u8], (id, slot): Place) -> RowResult<()> {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let range = from..self.bytes.len();
        let at = self.rows.len();
        let row = (bytes, id);
        self.hobt.fetch(row, at, &mut self.bytes, &mut self.values, &mut self.reads)?;
        let follows = self.sampled || self.rows.last().is_none_or(|r| r.2 < slot);
        debug_assert!(follows, "in order of slots");
        self.rows.push((range, id, slot));
        Ok(())
    }
}

impl RowCursor for HeapCursor<'_> {
    #[inline]
    fn next(&mut self, work: &mut Work) -> SqlResult<bool> {
        if self.at + 1 < self.rows.len() {
            self.at += 1;
            return Ok(true);
        }
        debug_assert!(self.held.is_none() || self.rows.len() == 1, "a locked row is a batch");
        self.go_on(work).map_err(|e| self.hobt.sql(e))?;
        let (before, lob) = (work::page_reads(), self.reads.lob);
        let followed = work.versions_traversed();
        let ghosts = self.reads.ghosts;
        let hobt = self.hobt;
        let more = hobt.counting_waits(|| self.refill(work));
        self.reads.note(work::page_reads().since(before), lob);
        self.reads.versions += work.tell_traversed() - followed;
        self.count_ghosts(ghosts);
        more.map_err(|e| self.hobt.sql(e))
    }

    #[inline]
    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        debug_assert!(column < self.hobt.layout.column_count(), "a column of the row");
        let (bytes, page, _) = &self.rows[self.at];
        let field = match self.hobt.layout.field(&self.bytes[bytes.clone()], column) {
            Some(Field::OffRow(_)) => fetched(&self.values, &self.bytes, self.at, column),
            field => field,
        };
        field.ok_or_else(|| {
            let what = "a record's columns do not fit its layout";
            self.hobt.home.pages.corrupt(*page, what).into()
        })
    }

    #[inline]
    fn view(&self) -> Option<RowView<'_>> {
        let (bytes, _, _) = self.rows.get(self.at)?;
        self.hobt.layout.view(&self.bytes[bytes.clone()])
    }

    fn hint(&self) -> Option<PageHint> {
        self.rows.get(self.at).map(|(_, page, slot)| PageHint { page: *page, slot: *slot })
    }

    fn rid(&self) -> Option<[u8; 8]> {
        debug_assert!(self.rows.is_empty() || self.at < self.rows.len(), "on a row, or on none");
        self.rows.get(self.at).map(|(_, page, slot)| rid_bytes(*page, *slot))
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
