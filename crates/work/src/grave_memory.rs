//! The memory of all graves (`graveyards.rs`) of an instance.
//!
//! Invariants
//!  1. What is taken never exceeds the limit: who gets nothing leaves its ghost where it is.

use os::memory::{Memory, Reservation};
use os::sync::Mutex;
use std::sync::Arc;

/// What graves may take where no memory authority says it.
const DEFAULT_BYTES: usize = 16 << 20;
/// So much of all memory they may take.
const SHARE: usize = 16;
/// What is reserved at a time.
const LOT_BYTES: usize = 64 << 10;
/// The clerk's name in sys.dm_os_memory_clerks: our own, SQL Server has nothing like it.
const CLERK: &str = "MEMORYCLERK_GRAVEYARD";

/// The memory of all graves of an instance.
pub struct GraveMemory(Mutex<Account>);

struct Account {
    used_bytes: usize,
    limit_bytes: usize,
    reservation: Option<Reservation>,
}

impl Default for GraveMemory {
    fn default() -> Self {
        let account = Account { used_bytes: 0, limit_bytes: DEFAULT_BYTES, reservation: None };
        GraveMemory(Mutex::new(account))
    }
}

impl GraveMemory {
    /// It is reserved from an authority from now on.
    pub fn attach(&self, memory: &Arc<Memory>) {
        let mut account = self.0.lock();
        assert_eq!(account.used_bytes, 0, "before there are graves");
        account.limit_bytes = memory.limit_bytes() / SHARE;
        account.reservation = memory.reserve(&memory.clerk(CLERK), 0).ok();
    }

    /// Takes bytes; false where they are not to be had.
    pub fn take(&self, bytes: usize) -> bool {
        let mut account = self.0.lock();
        let used = account.used_bytes + bytes;
        if used > account.limit_bytes {
            return false;
        }
        if let Some(reservation) = &mut account.reservation
            && reservation.bytes() < used
        {
            let more = (used - reservation.bytes()).next_multiple_of(LOT_BYTES);
            if reservation.grow(more).is_err() {
                return false;
            }
        }
        account.used_bytes = used;
        true
    }

    /// Gives bytes back.
    pub fn give_back(&self, bytes: usize) {
        let mut account = self.0.lock();
        assert!(bytes <= account.used_bytes, "what is given back was taken");
        account.used_bytes -= bytes;
        let used = account.used_bytes.next_multiple_of(LOT_BYTES);
        if let Some(reservation) = &mut account.reservation
            && reservation.bytes() > used + LOT_BYTES
        {
            let fewer = reservation.bytes() - used;
            reservation.shrink(fewer);
        }
    }

    /// What is taken.
    pub fn used_bytes(&self) -> usize {
        self.0.lock().used_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graves_take_a_share_of_all_memory_and_give_it_back() {
        let memory = Memory::new(SHARE * 200_000);
        let graves = GraveMemory::default();
        graves.attach(&memory);
        assert!(graves.take(100_000) && graves.take(100_000) && !graves.take(1));
        assert_eq!((graves.used_bytes(), memory.reserved_bytes()), (200_000, 4 * LOT_BYTES));
        graves.give_back(199_999);
        assert_eq!((graves.used_bytes(), memory.reserved_bytes()), (1, LOT_BYTES));
        let rest = memory.reserve(&memory.clerk("rest"), memory.limit_bytes() - LOT_BYTES);
        assert!(rest.is_ok() && graves.take(LOT_BYTES - 1) && !graves.take(1), "none is left");
    }
}
