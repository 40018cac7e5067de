//! Memory of large values: texts that grow, XML trees, rows that a client has sent or may change.
//! Also of everything else that a request allocates without a reservation.
//!
//! Such values are made deep in the call tree, where no account is at hand: a text in an
//! aggregate's state, a tree in a conversion. So the account belongs to the thread. A request lends
//! it to its thread when it begins, and to its workers when they begin, together with the waiter
//! that cancels the request ([`attend`]).
//!
//! ```text
//! Charge   reserves for a value kept for long: a tree, a table that was sent, a fetch buffer
//! room     asks before something large is allocated; the heap counts it once it is there
//! look     in each long loop of a statement: ends a request that is cancelled, or a statement
//!          that has made memory scarce with what no account holds: a syntax tree
//! keep     before a session keeps something of which it may have thousands: a cursor, a handle
//! ```
//!
//! Invariants
//!  1. A [`Charge`] covers what its owner keeps, up to [`FREE_BYTES`]; dropping it, on any thread,
//!     gives everything back.
//!  2. Values leave a part of all memory to others: locks, plans, requests.
//!  3. When memory is scarce, a statement that has allocated much outside of accounts ends with
//!     701, and a session that has kept much keeps no more. All others go on. A batch ends when its
//!     statements together have taken a quarter of all memory.
//!
//! On a thread without an account (a test of a pure crate) nothing is counted.

use crate::heap;
use crate::memory::{self, Clerk, Memory, Reservation};
use crate::wait::Waiter;
use base::{SqlError, SqlResult, messages};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A value up to this size needs no reservation.
pub const FREE_BYTES: usize = 16 << 10;
/// The least that is reserved at a time.
const STEP_BYTES: usize = 64 << 10;
/// One part of so many of all memory is left to others.
const LEFT_PART: usize = 16;
/// For a thread whose unreserved allocations are at most this part of all memory, memory is scarce
/// only when it is beyond the limit by [`BEYOND_PART`].
const SMALL_PART: usize = 64;
/// When memory is used up, a request that has allocated this part of it must end.
const HUGE_PART: usize = 4;
/// Memory is ample as long as this part is free.
const AMPLE_PART: usize = 4;
/// How far beyond the limit memory is scarce even for a thread with small allocations, if these are
/// more than a step.
const BEYOND_PART: usize = 8;
/// Before an allocation of this size, the system is asked whether it has the addresses.
const LARGE_BYTES: usize = 1 << 20;

/// The account from which values get their memory.
pub struct ValueMemory {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
}

thread_local! {
    static LENT: RefCell<Option<Arc<ValueMemory>>> = const { RefCell::new(None) };
    static ATTENDED: RefCell<Option<Arc<Waiter>>> = const { RefCell::new(None) };
    static MADE_BEFORE: Cell<UnreservedBytes> = const { Cell::new(UnreservedBytes::ZERO) };
}

/// The thread has a lent account until this is dropped; then it has the one before.
pub struct LentAccount {
    before: Option<Arc<ValueMemory>>,
}

/// The thread's unreserved bytes at the time when something began.
#[derive(Clone, Copy)]
struct UnreservedBytes {
    /// When its session began, as if nothing else had been allocated meanwhile.
    session: isize,
    request: isize,
    statement: isize,
}

impl UnreservedBytes {
    const ZERO: UnreservedBytes = UnreservedBytes { session: 0, request: 0, statement: 0 };
}

/// The thread checks a waiter until this is dropped; then the one before.
pub struct WaiterScope {
    before: Option<Arc<Waiter>>,
    made_before: UnreservedBytes,
}

/// The thread runs a statement until this is dropped; then the enclosing one.
pub struct InStatement(isize);

/// The reservation for something that grows.
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

    /// Whether memory is scarce because of what this thread has allocated since.
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
pub fn lend(account: Option<Arc<ValueMemory>>) -> LentAccount {
    LentAccount { before: LENT.replace(account) }
}

/// The account of this thread, to lend it to another thread.
pub fn lent() -> Option<Arc<ValueMemory>> {
    LENT.with_borrow(Clone::clone)
}

impl Drop for LentAccount {
    fn drop(&mut self) {
        LENT.set(self.before.take());
    }
}

/// This thread runs a request that `waiter` cancels. Its session has kept `kept_bytes` without a
/// reservation from earlier requests.
#[must_use]
pub fn attend(waiter: Arc<Waiter>, kept_bytes: isize) -> WaiterScope {
    let now = made_bytes();
    let began = UnreservedBytes { session: now - kept_bytes, request: now, statement: now };
    let made_before = MADE_BEFORE.replace(began);
    WaiterScope { before: ATTENDED.replace(Some(waiter)), made_before }
}

impl WaiterScope {
    /// Unreserved bytes that the session keeps now: those of this request, and those kept before.
    pub fn kept_bytes(&self) -> isize {
        made_bytes() - MADE_BEFORE.get().session
    }
}

impl Drop for WaiterScope {
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
        MADE_BEFORE.set(UnreservedBytes { statement: self.0, ..MADE_BEFORE.get() });
    }
}

/// What this thread has allocated since, without a reservation.
fn made_since(before: isize) -> usize {
    usize::try_from(made_bytes() - before).unwrap_or(0)
}

/// What this thread has on the heap without a reservation.
fn made_bytes() -> isize {
    heap::own_bytes() - memory::own_bytes()
}

/// 701.
#[cold]
pub fn exhausted() -> SqlError {
    SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])
}

/// Whether there is room for so many bytes more that are not kept for long. The caller asks before
/// it allocates them.
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

/// Long computations call this every some thousand steps. It gives others their turn. It ends a
/// request that is cancelled or has made memory scarce.
///
/// # Errors
/// The cancellation, if one came; 701.
pub fn look() -> SqlResult<()> {
    if let Some(waiter) = ATTENDED.with_borrow(Clone::clone) {
        waiter.check()?;
    }
    look_at_memory()
}

/// The same for memory alone.
///
/// # Errors
/// 701.
pub fn look_at_memory() -> SqlResult<()> {
    within(MADE_BEFORE.get().statement)
}

/// A session calls this before it keeps something more.
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

/// Whether memory is used up, and this thread's request has allocated much of it.
pub fn is_used_up() -> bool {
    let of = |a: &Arc<ValueMemory>| {
        let limit = a.memory.limit_bytes();
        made_since(MADE_BEFORE.get().request) > limit / HUGE_PART
            && (a.memory.present_bytes() > limit || heap::is_spent())
    };
    LENT.with_borrow(|account| account.as_ref().is_some_and(of))
}

/// Whether there is enough memory to keep small things that could be on disk.
pub fn is_ample() -> bool {
    let of = |a: &Arc<ValueMemory>| {
        let limit = a.memory.limit_bytes();
        a.memory.taken_bytes() < limit - limit / AMPLE_PART
    };
    LENT.with_borrow(|account| account.as_ref().is_none_or(of))
}

impl Charge {
    /// Makes sure that so many bytes in all are reserved.
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
        // It grows in steps, larger ones where much is held, so that an owner that grows byte by
        // byte asks seldom.
        let more = (more_bytes + held / 16).next_multiple_of(STEP_BYTES);
        let taken = account.has_room(more)
            && match &mut self.reservation {
                Some(reservation) => reservation.grow(more).is_ok(),
                none => {
                    // The free bytes are reserved now, too.
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

/// A copy has no reservation until its owner covers it.
impl Clone for Charge {
    fn clone(&self) -> Charge {
        Charge::default()
    }
}

/// A reservation says nothing about the value.
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
