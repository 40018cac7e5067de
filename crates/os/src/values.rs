//! Memory of large values: texts that grow, trees of XML, rows that a client has sent or may
//! change.
//!
//! Such values are made deep below whoever knows an account: a text within an aggregate's state, a
//! tree within a conversion. So the account is the thread's: a request lends it where it begins,
//! and its workers where they begin. What keeps bytes has a [`Charge`] beside them.
//!
//! Invariants
//!  1. A [`Charge`] covers what its owner keeps, but for [`FREE_BYTES`]; it gives everything back
//!     when it is dropped, on whatever thread.
//!  2. Values leave a part of all memory to others: locks, plans, requests.
//!
//! On a thread without an account (a test of a pure crate) nothing is counted.

use crate::memory::{Clerk, Memory, Reservation};
use base::{SqlError, SqlResult, messages};
use std::cell::RefCell;
use std::sync::Arc;

/// A value up to here costs nothing.
pub const FREE_BYTES: usize = 16 << 10;
/// The least that is reserved at a time.
const STEP_BYTES: usize = 64 << 10;
/// So much of all memory is left to others.
const LEFT_PART: usize = 16;

/// Where values get their memory.
pub struct ValueMemory {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
}

thread_local! {
    static LENT: RefCell<Option<Arc<ValueMemory>>> = const { RefCell::new(None) };
}

/// The thread has an account until this is dropped; then it has the one before.
pub struct Lent {
    before: Option<Arc<ValueMemory>>,
}

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
        let taken = self.memory.reserved_bytes().saturating_add(more_bytes);
        taken <= limit - limit / LEFT_PART
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
        if taken { Ok(()) } else { Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])) }
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
}
