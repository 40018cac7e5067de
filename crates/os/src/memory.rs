//! The one memory authority: reserve before you allocate.
//!
//! Every consumer of memory in the engine (buffer pool, grants, plan cache, locks, network buffers)
//! has a clerk. The sum of all reservations never exceeds the limit (`--max-memory`).
//!
//! An authority can also watch what is really allocated ([`Memory::watch_heap`]). It then also
//! refuses when the heap, with what lies outside of it, exceeds the limit by a quarter. Large
//! values are refused sooner (`values.rs`).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::heap;
use crate::sync::Mutex;

/// Before so much is promised the system is asked whether it has the addresses.
const LARGE_BYTES: usize = 128 << 10;

thread_local! {
    /// What this thread has reserved, less what it has given back.
    static OWN: Cell<isize> = const { Cell::new(0) };
}

/// What this thread has reserved, less what it has given back.
pub(crate) fn own_bytes() -> isize {
    OWN.with(Cell::get)
}

fn count(bytes: isize) {
    // A thread that ends counts no more.
    let _ended = OWN.try_with(|own| own.set(own.get() + bytes));
}

/// There is not that much memory left under the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What was asked for.
    pub asked_bytes: usize,
    /// What was left.
    pub left_bytes: usize,
}

/// The limit and everything reserved under it.
pub struct Memory {
    limit_bytes: usize,
    reserved_bytes: AtomicUsize,
    clerks: Mutex<Vec<Arc<Clerk>>>,
    /// What was on the heap when it began to be watched; all bits: it is not.
    heap_bytes_at_first: AtomicUsize,
    /// What is reserved for what is not on the heap.
    outside_bytes: AtomicUsize,
}

/// One consumer, as sys.dm_os_memory_clerks shows it.
pub struct Clerk {
    name: &'static str,
    used_bytes: AtomicUsize,
}

/// The right to that many bytes, given back when dropped.
pub struct Reservation {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
    bytes: usize,
}

impl Clerk {
    /// What is reserved for it now.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.load(Relaxed)
    }
}

impl Memory {
    /// An authority over this many bytes.
    pub fn new(limit_bytes: usize) -> Arc<Self> {
        Arc::new(Memory {
            limit_bytes,
            reserved_bytes: AtomicUsize::new(0),
            clerks: Mutex::new(Vec::new()),
            heap_bytes_at_first: AtomicUsize::new(usize::MAX),
            outside_bytes: AtomicUsize::new(0),
        })
    }

    /// The limit.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// From now on what comes onto the heap counts, too. `outside`: clerks whose memory is not
    /// there.
    pub fn watch_heap(&self, outside: &[Arc<Clerk>]) {
        self.outside_bytes.store(outside.iter().map(|clerk| clerk.used_bytes()).sum(), Relaxed);
        self.heap_bytes_at_first.store(heap::live_bytes(), Relaxed);
    }

    /// What is there, promised or not: what lies outside of the heap, and what has come onto it.
    pub fn present_bytes(&self) -> usize {
        match self.heap_bytes_at_first.load(Relaxed) {
            usize::MAX => 0,
            at_first => {
                let come = heap::live_bytes().saturating_sub(at_first);
                self.outside_bytes.load(Relaxed).saturating_add(come)
            }
        }
    }

    /// What is promised or there, whichever is more.
    pub fn taken_bytes(&self) -> usize {
        self.reserved_bytes().max(self.present_bytes())
    }

    /// The clerk of that name, made at the first call.
    pub fn clerk(&self, name: &'static str) -> Arc<Clerk> {
        let mut clerks = self.clerks.lock();
        if let Some(c) = clerks.iter().find(|c| c.name == name) {
            return Arc::clone(c);
        }
        let clerk = Arc::new(Clerk { name, used_bytes: AtomicUsize::new(0) });
        clerks.push(Arc::clone(&clerk));
        clerk
    }

    /// Reserves bytes for a clerk.
    ///
    /// # Errors
    /// When the limit would be passed; the caller spills, waits or gives up with error 701.
    pub fn reserve(
        self: &Arc<Self>,
        clerk: &Arc<Clerk>,
        bytes: usize,
    ) -> Result<Reservation, OutOfMemory> {
        self.take(bytes)?;
        count(bytes as isize);
        clerk.used_bytes.fetch_add(bytes, Relaxed);
        Ok(Reservation { memory: Arc::clone(self), clerk: Arc::clone(clerk), bytes })
    }

    fn take(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let fits = |used: usize| used.checked_add(bytes).filter(|&n| n <= self.limit_bytes);
        if bytes >= LARGE_BYTES && !heap::has_addresses(bytes) {
            return Err(OutOfMemory { asked_bytes: bytes, left_bytes: 0 });
        }
        let present = self.present_bytes();
        if present.saturating_add(bytes) > self.limit_bytes.saturating_add(self.limit_bytes / 4) {
            return Err(OutOfMemory { asked_bytes: bytes, left_bytes: 0 });
        }
        match self.reserved_bytes.fetch_update(Relaxed, Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(used) => Err(OutOfMemory {
                asked_bytes: bytes,
                left_bytes: self.limit_bytes.saturating_sub(used),
            }),
        }
    }

    /// Bytes reserved by all.
    pub fn reserved_bytes(&self) -> usize {
        self.reserved_bytes.load(Relaxed)
    }

    /// Name and bytes of every clerk.
    pub fn snapshot(&self) -> Vec<(&'static str, usize)> {
        self.clerks.lock().iter().map(|c| (c.name, c.used_bytes.load(Relaxed))).collect()
    }
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Asks for more.
    ///
    /// # Errors
    /// When the limit would be passed; what is held stays held.
    pub fn grow(&mut self, more_bytes: usize) -> Result<(), OutOfMemory> {
        self.memory.take(more_bytes)?;
        count(more_bytes as isize);
        self.clerk.used_bytes.fetch_add(more_bytes, Relaxed);
        self.bytes += more_bytes;
        Ok(())
    }

    /// Gives a part back.
    ///
    /// # Panics
    /// When more is given back than is held.
    pub fn shrink(&mut self, fewer_bytes: usize) {
        assert!(fewer_bytes <= self.bytes, "a reservation gives back at most what it holds");
        self.bytes -= fewer_bytes;
        count(-(fewer_bytes as isize));
        self.clerk.used_bytes.fetch_sub(fewer_bytes, Relaxed);
        self.memory.reserved_bytes.fetch_sub(fewer_bytes, Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_never_pass_the_limit_and_come_back() {
        let m = Memory::new(100);
        let c = m.clerk("MEMORYCLERK_SQLQERESERVATIONS");
        let mut r = m.reserve(&c, 60).unwrap();
        let refused = m.reserve(&c, 41).err();
        assert_eq!(refused, Some(OutOfMemory { asked_bytes: 41, left_bytes: 40 }));
        r.grow(40).unwrap();
        assert!(r.grow(1).is_err());
        r.shrink(50);
        assert_eq!(m.snapshot(), vec![("MEMORYCLERK_SQLQERESERVATIONS", 50)]);
        drop(r);
        assert_eq!(m.reserved_bytes(), 0);
    }
}
