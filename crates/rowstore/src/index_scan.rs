//! Scanning B-trees of rows: a batch of rows is copied under one latch as far as locks allow.
//!
//! Between calls no latch is held; the position is a key. Where each row is locked for the
//! statement or the transaction, a batch is one row.

use crate::current::{Current, current};
use crate::entry_lock::{RowLock, Tried};
use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::large::{BATCH_BYTES_MAX, Fetched, fetched};
use access::{LockPlan, PageHint, RowCursor, ScanRange};
use base::{PageId, SqlResult};
use btree::{Bias, KeyBuf, KeyFields, LeafRead, Position, SearchKey};
use lock::{Resource, Ticket};
use page::Field;
use std::cmp::Ordering;
use work::Work;

/// Rows of a batch at most; batches grow up to it, so that TOP (1) copies one row.
const BATCH_ROWS_MAX: usize = 256;

/// An end of the range, copied.
#[derive(Default)]
struct Limit {
    key: KeyBuf,
    inclusive: bool,
}

enum State {
    Before,
    /// At the position's row, which was dealt with.
    After,
    /// At the position's row, which must be asked for again.
    Again,
    Done,
}

/// A copied row.
struct Copied {
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
    state: State,
    position: Position,
    bytes: Vec<u8>,
    rows: Vec<Copied>,
    values: Vec<Fetched>,
    at: usize,
    batch: usize,
    held: Option<(Resource, Resource)>,
}

/// What a pass over a leaf came to.
enum Pass {
    /// Rows were copied, or the range ended.
    Enough,
    /// A row's lock must be waited for.
    Blocked(Ticket),
}

fn limit(bound: &Option<access::KeyBound<'_>>) -> Option<Limit> {
    bound.map(|b| Limit { key: KeyBuf::of(b.fields), inclusive: b.inclusive })
}

impl<'h> IndexCursor<'h> {
    pub(crate) fn open(
        hobt: &'h RowHobt,
        work: &mut Work,
        range: &ScanRange<'_>,
        plan: &LockPlan,
    ) -> RowResult<Self> {
        let ask = hobt.lock_table(work, plan)?;
        Ok(IndexCursor {
            hobt,
            plan: *plan,
            ask,
            lower: limit(&range.lower),
            upper: limit(&range.upper),
            backward: range.backward,
            state: State::Before,
            position: Position::default(),
            bytes: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            at: 0,
            batch: 1,
            held: None,
        })
    }

    fn first(&self) -> RowResult<Option<LeafRead<'h>>> {
        let tree = self.hobt.tree();
        let (limit, inclusive, exclusive) = if self.backward {
            (&self.upper, Bias::LastAtMost, Bias::LastBelow)
        } else {
            (&self.lower, Bias::FirstAtLeast, Bias::FirstAbove)
        };
        let found = match limit {
            Some(l) => {
                let fields = l.key.fields();
                let bias = if l.inclusive { inclusive } else { exclusive };
                tree.seek(SearchKey { fields: fields.as_slice(), bias })
            }
            None => tree.seek(SearchKey { fields: &[], bias: inclusive }),
        };
        Ok(found?)
    }

    fn resume(&self, again: bool) -> RowResult<Option<LeafRead<'h>>> {
        let bias = match (self.backward, again) {
            (false, false) => Bias::FirstAbove,
            (false, true) => Bias::FirstAtLeast,
            (true, false) => Bias::LastBelow,
            (true, true) => Bias::LastAtMost,
        };
        Ok(self.hobt.tree().resume(&self.position, bias)?)
    }

    fn is_past(&self, record: &[u8]) -> bool {
        let (limit, beyond) = if self.backward {
            (&self.lower, Ordering::Less)
        } else {
            (&self.upper, Ordering::Greater)
        };
        let Some(l) = limit else { return false };
        let fields = l.key.fields();
        match self.hobt.tree().compare(record, fields.as_slice()) {
            Some(Ordering::Equal) => !l.inclusive,
            Some(order) => order == beyond,
            // A damaged record is met when its fields are read.
            None => false,
        }
    }

    fn give_up_row(&mut self, work: &Work) {
        if let Some((row, page)) = self.held.take() {
            let owner = work.owner();
            work.locks().release(owner, row);
            work.locks().release(owner, page);
        }
    }

    fn refill(&mut self, work: &mut Work) -> RowResult<bool> {
        self.rows.clear();
        self.values.clear();
        self.bytes.clear();
        self.at = 0;
        loop {
            if let Err(c) = work.owner().waiter().check() {
                return Err(lock::LockError::Cancelled(c).into());
            }
            let leaf = match self.state {
                State::Done => return Ok(false),
                State::Before => self.first()?,
                State::After => self.resume(false)?,
                State::Again => self.resume(true)?,
            };
            let Some(leaf) = leaf else {
                self.state = State::Done;
                return Ok(false);
            };
            match self.pass(work, leaf)? {
                Pass::Enough if !self.rows.is_empty() => {
                    self.batch = (self.batch * 4).min(BATCH_ROWS_MAX);
                    return Ok(true);
                }
                Pass::Enough => {}
                Pass::Blocked(ticket) => {
                    self.state = State::Again;
                    self.hobt.wait(work, ticket, &self.plan)?;
                }
            }
        }
    }

    /// Copies rows from a leaf on, until the batch is full, the leaf ends or a lock is missing.
    fn pass(&mut self, work: &mut Work, mut leaf: LeafRead<'h>) -> RowResult<Pass> {
        let page = leaf.page_id();
        let single = matches!(self.ask, RowLock::Short(_) | RowLock::Long(_));
        loop {
            if self.is_past(leaf.record()) {
                self.state = State::Done;
                return Ok(Pass::Enough);
            }
            if let Some(ticket) = self.take(work, &leaf)? {
                if self.rows.is_empty() {
                    leaf.save(&mut self.position)?;
                    return Ok(Pass::Blocked(ticket));
                }
                drop(ticket);
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
            if enough || edge {
                leaf.save(&mut self.position)?;
                self.state = State::After;
                return Ok(Pass::Enough);
            }
            // Saved before moving on, so that a blocked row behind resumes after this one.
            if self.rows.last().is_some_and(|r| r.slot == leaf.slot() && r.page == page) {
                leaf.save(&mut self.position)?;
                self.state = State::After;
            }
            let next = if self.backward { leaf.back()? } else { leaf.forward()? };
            match next {
                Some(next) => leaf = next,
                None => {
                    self.state = State::Done;
                    return Ok(Pass::Enough);
                }
            }
        }
    }

    /// Asks for a record's lock and copies its row; a ticket when the lock must be waited for.
    fn take(&mut self, work: &mut Work, leaf: &LeafRead<'_>) -> RowResult<Option<Ticket>> {
        let record = leaf.record();
        let now = current(record);
        if self.ask != RowLock::None {
            let mut fields = KeyFields::default();
            let known = self.hobt.tree().key_of(record, &mut fields).is_some();
            let resource = self.hobt.key_resource(KeyBuf::of(fields.as_slice()).bytes());
            // A ghost is only asked about: a committed one is not worth a lock.
            let ask = match (now, self.ask) {
                (Current::Ghost, RowLock::Short(m) | RowLock::Long(m)) => RowLock::Test(m),
                (_, ask) => ask,
            };
            if known
                && let Tried::Wait(t) = self.hobt.try_row(work, leaf.page_id(), resource, ask)?
            {
                if self.plan.read_past {
                    return Ok(None);
                }
                return Ok(Some(t));
            }
            if let (RowLock::Short(_), Current::Row(_)) = (ask, now) {
                self.held = Some((resource, self.hobt.page_resource(leaf.page_id())));
            }
        }
        if let Current::Row(bytes) = now {
            let from = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            let bytes = from..self.bytes.len();
            let row = (record, leaf.page_id());
            self.hobt.fetch(row, self.rows.len(), &mut self.bytes, &mut self.values)?;
            self.rows.push(Copied { bytes, page: leaf.page_id(), slot: leaf.slot() });
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
        self.give_up_row(work);
        self.refill(work).map_err(|e| self.hobt.sql(e))
    }

    #[inline]
    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
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

    fn hint(&self) -> Option<PageHint> {
        self.rows.get(self.at).map(|r| PageHint { page: r.page, slot: r.slot })
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, work: &mut Work) {
        self.give_up_row(work);
    }

    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.give_up_row(work);
        self.ask = self.hobt.lock_table(work, &self.plan).map_err(|e| self.hobt.sql(e))?;
        self.lower = limit(&range.lower);
        self.upper = limit(&range.upper);
        self.backward = range.backward;
        self.state = State::Before;
        self.rows.clear();
        self.values.clear();
        self.at = 0;
        self.batch = 1;
        Ok(())
    }
}
