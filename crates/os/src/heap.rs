//! The heap as it is: what the process has allocated, counted by its allocator.
//!
//! Accounts say what was reserved ([`crate::memory`]). But a syntax tree, a cursor, or a temporary
//! copy of a value is on the heap too, though nothing reserved it. A binary whose allocator is
//! [`CountingAllocator`] knows how much is on the heap, for the process and for each thread.
//!
//! When the system refuses memory, a small allocation gets it from a reserve of addresses, set
//! aside earlier ([`set_aside`]). Until the reserve is filled again, requests for room are refused.
//! So a request ends with error 701 where the process would have ended.
//!
//! Invariants
//!  1. [`live_bytes`] is exact up to [`STEP_BYTES`] a thread.
//!  2. Nothing here allocates.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// A thread adds to the process's count in steps of this.
const STEP_BYTES: isize = 64 << 10;
/// The size of the reserve: an allocator takes addresses in aligned pieces of tens of megabytes.
const ASIDE_BYTES: usize = 160 << 20;
/// Addresses to leave free under the system's limit: for stacks, files, page tables.
const ADDRESSES_LEFT: usize = 64 << 20;

static LIVE: AtomicIsize = AtomicIsize::new(0);
/// The reserve's address, or none.
static ASIDE: AtomicUsize = AtomicUsize::new(0);
/// Whether the process keeps a reserve.
static KEEPS_ASIDE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread has allocated, less what it has freed.
    static OWN: Cell<isize> = const { Cell::new(0) };
    /// The part of it that is in [`LIVE`].
    static TOLD: Cell<isize> = const { Cell::new(0) };
}

/// An allocator that counts.
pub struct CountingAllocator<A>(pub A);

#[inline]
pub(crate) fn count(bytes: isize) {
    // A thread that ends counts no more.
    let _ended = OWN.try_with(|own| {
        let now = own.get() + bytes;
        own.set(now);
        TOLD.with(|told| {
            let more = now - told.get();
            if more.abs() >= STEP_BYTES {
                told.set(now);
                LIVE.fetch_add(more, Relaxed);
            }
        });
    });
}

// SAFETY: every call goes to the allocator within with the same arguments; what is counted beside
// it is integers.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is handed on.
        counted(layout.size(), 0, || unsafe { self.0.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is handed on.
        counted(layout.size(), 0, || unsafe { self.0.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is handed on; a block that could not be moved is as it was.
        counted(size, layout.size(), || unsafe { self.0.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is handed on.
        unsafe { self.0.dealloc(block, layout) }
    }
}

/// Allocates `bytes`, replacing `before` bytes. Where the system refuses, it spends the reserve and
/// tries again.
#[inline]
fn counted(bytes: usize, before: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let block = allocate();
    let block = if block.is_null() && spend_aside() { allocate() } else { block };
    if !block.is_null() {
        count(bytes as isize - before as isize);
    }
    block
}

/// Bytes on the heap of the process; 0 without a counting allocator.
pub fn live_bytes() -> usize {
    usize::try_from(LIVE.load(Relaxed)).unwrap_or(0)
}

/// What this thread has allocated, less what it has freed.
pub(crate) fn own_bytes() -> isize {
    OWN.with(Cell::get)
}

/// A thread that ends adds its rest to the process's count.
pub(crate) fn tell() {
    let _ended = OWN.try_with(|own| {
        TOLD.with(|told| LIVE.fetch_add(own.get() - told.replace(own.get()), Relaxed))
    });
}

/// Sets a reserve of addresses aside, if the system limits them.
pub fn set_aside() {
    if address_limit().is_some() {
        KEEPS_ASIDE.store(true, Relaxed);
        put_aside();
    }
}

/// Whether the reserve is gone and cannot be filled again. The next allocation that the system
/// refuses then ends the process.
pub(crate) fn is_spent() -> bool {
    KEEPS_ASIDE.load(Relaxed) && ASIDE.load(Relaxed) == 0 && !put_aside()
}

/// Whether the process can get this many more addresses, beside those that it should leave free.
pub fn has_addresses(bytes: usize) -> bool {
    if !KEEPS_ASIDE.load(Relaxed) {
        return true;
    }
    if is_spent() {
        return false;
    }
    let Some(limit) = address_limit() else { return true };
    let Some(used) = addresses() else { return true };
    used.saturating_add(bytes).saturating_add(ADDRESSES_LEFT) <= limit
}

/// How many addresses the system allows, if it limits them.
fn address_limit() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    usize::try_from(limit).ok()
}

/// How many addresses the process has, by the kernel's count.
fn addresses() -> Option<usize> {
    use rustix::fs::{Mode, OFlags, open};
    let file = open("/proc/self/statm", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; 32];
    let read = rustix::io::read(&file, &mut text).ok()?;
    let digits = text[..read].iter().take_while(|b| b.is_ascii_digit());
    let pages = digits.fold(0, |n, b| n * 10 + usize::from(b - b'0'));
    Some(pages * rustix::param::page_size())
}

#[cfg(not(miri))]
fn put_aside() -> bool {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a fresh anonymous mapping overlaps nothing; nobody reads or writes it.
    let mapped =
        unsafe { mmap_anonymous(std::ptr::null_mut(), ASIDE_BYTES, ProtFlags::empty(), flags) };
    let Ok(address) = mapped else { return false };
    if ASIDE.compare_exchange(0, address as usize, Relaxed, Relaxed).is_err() {
        // Another thread was quicker.
        unmap(address as usize);
    }
    true
}

/// Gives back addresses that [`put_aside`] has mapped. The caller has taken them out of [`ASIDE`],
/// or never put them there.
#[cfg(not(miri))]
fn unmap(address: usize) -> bool {
    // SAFETY: the addresses were mapped here, nobody reads or writes them, and whoever knows of
    // them gives them back once.
    unsafe { rustix::mm::munmap(address as *mut _, ASIDE_BYTES).is_ok() }
}

#[cfg(not(miri))]
fn spend_aside() -> bool {
    match ASIDE.swap(0, Relaxed) {
        // Another thread has just spent it: perhaps there is memory now.
        0 => KEEPS_ASIDE.load(Relaxed),
        address => unmap(address),
    }
}

#[cfg(miri)]
fn put_aside() -> bool {
    true
}

#[cfg(miri)]
fn spend_aside() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator<std::alloc::System> = CountingAllocator(std::alloc::System);

    #[test]
    fn what_is_allocated_is_counted_and_freed() {
        let before = own_bytes();
        let mut bytes: Vec<u8> = Vec::with_capacity(1 << 20);
        bytes.reserve_exact(3 << 20);
        assert_eq!(own_bytes() - before, 3 << 20);
        // Other threads may have freed what they have not told.
        assert!(live_bytes() >= 2 << 20);
        drop(bytes);
        assert_eq!(own_bytes(), before);
    }

    #[test]
    fn an_allocation_that_fails_counts_nothing() {
        let before = own_bytes();
        let mut bytes: Vec<u8> = Vec::new();
        assert!(bytes.try_reserve_exact(isize::MAX as usize - 8).is_err());
        assert_eq!(own_bytes(), before);
    }
}
