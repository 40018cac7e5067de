//! Memory of large values: texts that grow, trees of XML, rows that a client has sent or may
//! change; and of whatever else a request makes that nobody has counted.
//!
//! Such values are made deep below whoever knows an account: a text within an aggregate's state, a
//! tree within a conversion. So the account is the thread's: a request lends it where it begins,
//! and its workers where they begin, with the waiter that ends it ([`attend`]).
//!
//! ```text
//! Charge   beside what is kept for long: a tree, a table that was sent, a fetch buffer
//! room     before something large is made, whose memory the heap counts once it is there
//! look     in each long loop of a statement: the request may be ended, and so may a statement that
//!          has made the memory scarce with what is in no account: a syntax tree
//! keep     before a session keeps something, of which it may have thousands: a cursor, a handle
//! ```
//!
//! Invariants
//!  1. A [`Charge`] covers what its owner keeps, but for [`FREE_BYTES`]; it gives everything back
//!     when it is dropped, on whatever thread.
//!  2. Values leave a part of all memory to others: locks, plans, requests.
//!  3. When memory is scarce, a statement that has made much that is in no account ends with 701, a
//!     session that has kept much keeps no more, and all others go on. A batch whose statements
//!     together have taken a quarter of all memory ends.
//!
//! On a thread without an account (a test of a pure crate) nothing is counted.

use crate::heap;
use crate::memory::{self, Clerk, Memory, Reservation};
use crate::wait::Waiter;
use base::{SqlError, SqlResult, messages};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A value up to here costs nothing.
pub const FREE_BYTES: usize = 16 << 10;
/// The least that is reserved at a time.
const STEP_BYTES: usize = 64 << 10;
/// So much of all memory is left to others.
const LEFT_PART: usize = 16;
/// Memory is not scarce for a thread that has made less than this part of it, uncounted.
const SMALL_PART: usize = 64;
/// A request that has made this part of all memory when it is used up is at its end.
const HUGE_PART: usize = 4;
/// Memory is ample as long as this part is free.
const AMPLE_PART: usize = 4;
/// Where memory is this part beyond the limit, that is anybody who has made more than a step.
const BEYOND_PART: usize = 8;
/// An allocation of this much is not made before the system is asked whether it has addresses.
const LARGE_BYTES: usize = 1 << 20;

/// Where values get their memory.
pub struct ValueMemory {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
}

thread_local! {
    static LENT: RefCell<Option<Arc<ValueMemory>>> = const { RefCell::new(None) };
    static ATTENDED: RefCell<Option<Arc<Waiter>>> = const { RefCell::new(None) };
    static MADE_BEFORE: Cell<Before> = const { Cell::new(Before::ZERO) };
}

/// The thread has an account until this is dropped; then it has the one before.
pub struct Lent {
    before: Option<Arc<ValueMemory>>,
}

/// What the thread had made, uncounted, when something began.
#[derive(Clone, Copy)]
struct Before {
    /// Its session, as if nothing else had been made meanwhile.
    session: isize,
    request: isize,
    statement: isize,
}

impl Before {
    const ZERO: Before = Before { session: 0, request: 0, statement: 0 };
}

/// The thread looks at a waiter until this is dropped; then at the one before.
pub struct Attended {
    before: Option<Arc<Waiter>>,
    made_before: Before,
}

/// The thread runs a statement until this is dropped; then the one around it.
pub struct InStatement(isize);

/// What is reserved for something that grows.
#[derive(Default)]
pub struct Charge {
    reservation: Option<Reservation>,
}

impl ValueMemory {
    /// An account with this authority.
    pub fn new(memory: &Arc<Memory>) -> ValueMemory {
        // SQL Server's store of large values that belong to no table.
        ValueMemory { memory: Arc::clone(memory), clerk: memory.clerk("OBJECTSTORE_LBSS") }
    }

    fn has_room(&self, more_bytes: usize) -> bool {
        let limit = self.memory.limit_bytes();
        let taken = self.memory.taken_bytes().saturating_add(more_bytes);
        taken <= limit - limit / LEFT_PART
            && (more_bytes < LARGE_BYTES || heap::has_addresses(more_bytes))
    }

    /// Whether memory is scarce by what this thread has made since.
    fn is_overdrawn(&self, before: isize) -> bool {
        let limit = self.memory.limit_bytes();
        let made = made_since(before);
        if made <= STEP_BYTES {
            return false;
        }
        if heap::is_spent() {
            return true;
        }
        let present = self.memory.present_bytes();
        let small = made <= limit / SMALL_PART;
        present > if small { limit + limit / BEYOND_PART } else { limit - limit / LEFT_PART }
    }
}

/// Lends an account to this thread.
#[must_use]
pub fn lend(account: Option<Arc<ValueMemory>>) -> Lent {
    Lent { before: LENT.replace(account) }
}

/// The account of this thread, to be lent to another.
pub fn lent() -> Option<Arc<ValueMemory>> {
    LENT.with_borrow(Clone::clone)
}

impl Drop for Lent {
    fn drop(&mut self) {
        LENT.set(self.before.take());
    }
}

/// This thread runs a request that this waiter ends. Its session has kept so many bytes, uncounted,
/// of the requests before.
#[must_use]
pub fn attend(waiter: Arc<Waiter>, kept_bytes: isize) -> Attended {
    let now = made_bytes();
    let began = Before { session: now - kept_bytes, request: now, statement: now };
    let made_before = MADE_BEFORE.replace(began);
    Attended { before: ATTENDED.replace(Some(waiter)), made_before }
}

impl Attended {
    /// What has been made until now, uncounted, and is still there, with what was kept before.
    pub fn kept_bytes(&self) -> isize {
        made_bytes() - MADE_BEFORE.get().session
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        ATTENDED.set(self.before.take());
        MADE_BEFORE.set(self.made_before);
    }
}

/// A statement begins, perhaps within another.
#[must_use]
pub fn statement() -> InStatement {
    let mut before = MADE_BEFORE.get();
    let around = std::mem::replace(&mut before.statement, made_bytes());
    MADE_BEFORE.set(before);
    InStatement(around)
}

impl Drop for InStatement {
    fn drop(&mut self) {
        MADE_BEFORE.set(Before { statement: self.0, ..MADE_BEFORE.get() });
    }
}

/// What this thread has made since.
fn made_since(before: isize) -> usize {
    usize::try_from(made_bytes() - before).unwrap_or(0)
}

/// What this thread has on the heap that it has not reserved.
fn made_bytes() -> isize {
    heap::own_bytes() - memory::own_bytes()
}

/// 701.
#[cold]
pub fn exhausted() -> SqlError {
    SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])
}

/// Whether so many bytes more, not to be kept for long, have room: asked before they are allocated.
///
/// # Errors
/// 701.
#[inline]
pub fn room(bytes: usize) -> SqlResult<()> {
    if bytes <= STEP_BYTES { Ok(()) } else { room_for_many(bytes) }
}

#[cold]
fn room_for_many(bytes: usize) -> SqlResult<()> {
    let has_room = LENT.with_borrow(|account| account.as_ref().is_none_or(|a| a.has_room(bytes)));
    if has_room { Ok(()) } else { Err(exhausted()) }
}

/// What long computations call every some thousand steps: gives others their turn, and ends a
/// request that is to end, or has made the memory scarce.
///
/// # Errors
/// The cancellation, if one came; 701.
pub fn look() -> SqlResult<()> {
    if let Some(waiter) = ATTENDED.with_borrow(Clone::clone) {
        waiter.check()?;
    }
    look_at_memory()
}

/// The same of memory alone.
///
/// # Errors
/// 701.
pub fn look_at_memory() -> SqlResult<()> {
    within(MADE_BEFORE.get().statement)
}

/// What a session does before it keeps something more.
///
/// # Errors
/// 701.
pub fn keep() -> SqlResult<()> {
    within(MADE_BEFORE.get().session)
}

fn within(before: isize) -> SqlResult<()> {
    let of = |a: &Arc<ValueMemory>| a.is_overdrawn(before);
    let overdrawn = LENT.with_borrow(|account| account.as_ref().is_some_and(of));
    if overdrawn { Err(exhausted()) } else { Ok(()) }
}

/// Whether memory is used up, and this thread's request has made much of what there is.
pub fn is_used_up() -> bool {
    let of = |a: &Arc<ValueMemory>| {
        let limit = a.memory.limit_bytes();
        made_since(MADE_BEFORE.get().request) > limit / HUGE_PART
            && (a.memory.present_bytes() > limit || heap::is_spent())
    };
    LENT.with_borrow(|account| account.as_ref().is_some_and(of))
}

/// Whether there is enough memory to keep small things that could be on the disk.
pub fn is_ample() -> bool {
    let of = |a: &Arc<ValueMemory>| {
        let limit = a.memory.limit_bytes();
        a.memory.taken_bytes() < limit - limit / AMPLE_PART
    };
    LENT.with_borrow(|account| account.as_ref().is_none_or(of))
}

impl Charge {
    /// Sees to it that so many bytes in all are reserved.
    ///
    /// # Errors
    /// 701 when there is no room for them; what was held stays held.
    #[inline]
    pub fn cover(&mut self, bytes: usize) -> SqlResult<()> {
        let held = self.reservation.as_ref().map_or(FREE_BYTES, Reservation::bytes);
        if bytes <= held { Ok(()) } else { self.grow(bytes - held) }
    }

    #[cold]
    fn grow(&mut self, more_bytes: usize) -> SqlResult<()> {
        let Some(account) = lent() else { return Ok(()) };
        let held = self.reservation.as_ref().map_or(0, Reservation::bytes);
        // By steps, a larger one where much is held: who grows byte by byte asks seldom.
        let more = (more_bytes + held / 16).next_multiple_of(STEP_BYTES);
        let taken = account.has_room(more)
            && match &mut self.reservation {
                Some(reservation) => reservation.grow(more).is_ok(),
                none => {
                    // What was free is paid for, too.
                    *none = account.memory.reserve(&account.clerk, more + FREE_BYTES).ok();
                    none.is_some()
                }
            };
        if taken { Ok(()) } else { Err(exhausted()) }
    }

    /// Gives everything back.
    pub fn clear(&mut self) {
        self.reservation = None;
    }
}

/// A copy of what is covered is not: it is when its owner covers it.
impl Clone for Charge {
    fn clone(&self) -> Charge {
        Charge::default()
    }
}

/// What is reserved says nothing of a value.
impl PartialEq for Charge {
    fn eq(&self, _: &Charge) -> bool {
        true
    }
}

impl std::fmt::Debug for Charge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.reservation.as_ref().map_or(0, Reservation::bytes);
        write!(f, "Charge({bytes})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_what_they_may_and_give_it_back() {
        let memory = Memory::new(16 << 20);
        let mut held = Charge::default();
        assert!(held.cover(1 << 30).is_ok(), "nobody counts");
        let account = Arc::new(ValueMemory::new(&memory));
        {
            let _lent = lend(Some(account));
            assert!(held.cover(FREE_BYTES).is_ok() && memory.reserved_bytes() == 0);
            assert!(held.cover(10 << 20).is_ok());
            let first = memory.reserved_bytes();
            assert!(((10 << 20)..(11 << 20)).contains(&first));
            let refused = held.cover(16 << 20).map_err(|e| e.number());
            assert_eq!(refused, Err(701), "a sixteenth is left");
            assert_eq!(memory.reserved_bytes(), first);
            let mut other = Charge::default();
            assert!(other.cover(6 << 20).is_err() && other.cover(1 << 20).is_ok());
        }
        assert!(lent().is_none());
        held.clear();
        assert_eq!(memory.reserved_bytes(), 0);
    }

    #[test]
    fn who_makes_memory_scarce_ends_and_others_go_on() {
        let memory = Memory::new(16 << 20);
        memory.watch_heap(&[]);
        let _lent = lend(Some(Arc::new(ValueMemory::new(&memory))));
        let attended = attend(Arc::default(), 0);
        let _first = statement();
        assert!(look().is_ok() && keep().is_ok() && is_ample() && !is_used_up());
        heap::count(32 << 20);
        assert_eq!(look().map_err(|e| e.number()), Err(701));
        {
            let _second = statement();
            assert!(look().is_ok(), "another statement has made nothing");
            assert!(room(1 << 20).is_err(), "there is no room for anybody");
        }
        assert_eq!(keep().map_err(|e| e.number()), Err(701));
        assert!(is_used_up() && !is_ample() && attended.kept_bytes() >= 32 << 20);
        let clerk = memory.clerk("another");
        assert!(memory.reserve(&clerk, 1).is_err(), "what is there passes the limit by far");
        heap::count(-(32 << 20));
        assert!(look().is_ok() && keep().is_ok() && room(1 << 20).is_ok() && !is_used_up());
    }
}
