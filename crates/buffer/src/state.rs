//! A page's state word: its latch, whether it is in memory, whether it is being written.
//!
//! ```text
//! bits 0-7   0 free, 1-254 shared holders, 255 exclusive
//! bit  8     RESIDENT    the bytes are in memory
//! bit  9     REFERENCED  used since the clock hand passed
//! bit 10     WAITERS     somebody is parked on the word
//! bit 11     WRITING     a copy of the bytes is on its way home
//! bit  12     INSPECTED   its slots were found sound since it came into memory
//! bits 16-63 version, +1 at each release of the exclusive latch
//! ```
//!
//! A newcomer that finds WAITERS set waits too, so that writers are not starved.

use crate::reads;
use os::latch::LatchClass;
use os::park;
use os::spin::{Spin, SpinKind};
use os::sync::PaddedCell;
use os::wait::{WaitKind, timed, timed_latch};
use std::sync::atomic::{AtomicU64, Ordering::*};

pub(crate) const HOLDERS: u64 = 0xFF;
pub(crate) const EXCLUSIVE: u64 = 0xFF;
pub(crate) const RESIDENT: u64 = 1 << 8;
pub(crate) const REFERENCED: u64 = 1 << 9;
pub(crate) const WAITERS: u64 = 1 << 10;
pub(crate) const WRITING: u64 = 1 << 11;
pub(crate) const INSPECTED: u64 = 1 << 12;
/// All bits but the latch and the version.
pub(crate) const FLAGS: u64 = RESIDENT | REFERENCED | WAITERS | WRITING | INSPECTED;
const VERSION_ONE: u64 = 1 << 16;

static SPIN: PaddedCell<Spin> = PaddedCell(Spin::new(SpinKind::PageLatch));

/// What a latch attempt found.
pub(crate) enum LatchOutcome {
    /// The latch is held and the page is in memory.
    Resident,
    /// The exclusive latch is held and the page must be brought in.
    Absent,
}

fn holders(s: u64) -> u64 {
    s & HOLDERS
}

/// Whether a thread holds the page exclusively: the holder may assert this.
pub(crate) fn is_exclusive(word: &AtomicU64) -> bool {
    holders(word.load(Relaxed)) == EXCLUSIVE
}

/// Whether readers hold the page.
pub(crate) fn is_shared(word: &AtomicU64) -> bool {
    (1..EXCLUSIVE).contains(&holders(word.load(Relaxed)))
}

/// Whether the page's bytes are in memory. The answer stays true only for a holder of the latch.
pub(crate) fn is_resident(word: &AtomicU64) -> bool {
    word.load(Relaxed) & RESIDENT != 0
}

/// Bits that a release may set and clear: neither the latch nor who waits for it.
fn assert_bits(set: u64, clear: u64) {
    debug_assert_eq!(set & clear, 0, "a bit is set or cleared");
    let own = HOLDERS | WAITERS;
    debug_assert_eq!((set | clear) & own, 0, "the latch itself is not the caller's");
    debug_assert!((set | clear) < VERSION_ONE, "nor is the version");
}

/// Parks until the word changes from busy. It may return spuriously.
fn wait(word: &AtomicU64, seen: u64, kind: WaitKind) {
    debug_assert!(seen & (HOLDERS | WAITERS) != 0, "only a latch in use is waited for");
    if seen & WAITERS == 0 && word.compare_exchange(seen, seen | WAITERS, Relaxed, Relaxed).is_err()
    {
        return;
    }
    let address = std::ptr::from_ref(word) as usize;
    let waits = || word.load(Relaxed) & WAITERS != 0;
    let began = os::clock::monotonic_ns();
    match kind {
        WaitKind::PageLatchSh | WaitKind::PageLatchEx => {
            timed_latch(kind, LatchClass::Buffer, || park::wait_briefly(address, waits))
        }
        _ => timed(kind, || park::wait(address, waits)),
    }
    let for_bytes = matches!(kind, WaitKind::PageIoLatchSh | WaitKind::PageIoLatchEx);
    reads::note_wait(for_bytes, os::clock::monotonic_ns() - began);
}

/// Looks at the latch of a page in memory until fewer hold it, or it is held for long.
#[cold]
fn spin(word: &AtomicU64, fewer_than: u64) -> bool {
    SPIN.look(|| {
        let s = word.load(Relaxed);
        holders(s) < fewer_than && s & WAITERS == 0
    })
}

fn wake(word: &AtomicU64) {
    park::wake_all(std::ptr::from_ref(word) as usize);
}

/// Waits for the shared latch, or the exclusive one of a page that is not in memory.
#[inline]
pub(crate) fn latch_shared(word: &AtomicU64) -> LatchOutcome {
    os::sched::switch_point();
    let mut spins = true;
    loop {
        let s = word.load(Relaxed);
        if s & RESIDENT == 0 {
            if holders(s) == 0 {
                debug_assert_eq!(s & WRITING, 0, "a page on its way home stays in memory");
                if word.compare_exchange_weak(s, s | EXCLUSIVE, Acquire, Relaxed).is_ok() {
                    return LatchOutcome::Absent;
                }
            } else {
                wait(word, s, WaitKind::PageIoLatchSh);
            }
        } else if holders(s) >= EXCLUSIVE - 1 || s & WAITERS != 0 {
            if !std::mem::take(&mut spins) || !spin(word, EXCLUSIVE - 1) {
                wait(word, s, WaitKind::PageLatchSh);
            }
        } else if word.compare_exchange_weak(s, (s + 1) | REFERENCED, Acquire, Relaxed).is_ok() {
            return LatchOutcome::Resident;
        }
    }
}

/// Waits for the exclusive latch.
#[inline]
pub(crate) fn latch_exclusive(word: &AtomicU64) -> LatchOutcome {
    os::sched::switch_point();
    let mut spins = true;
    loop {
        let s = word.load(Relaxed);
        if holders(s) != 0 {
            if s & RESIDENT != 0 && std::mem::take(&mut spins) && spin(word, 1) {
                continue;
            }
            let kind =
                if s & RESIDENT == 0 { WaitKind::PageIoLatchEx } else { WaitKind::PageLatchEx };
            wait(word, s, kind);
        } else if word
            .compare_exchange_weak(s, s | EXCLUSIVE | REFERENCED, Acquire, Relaxed)
            .is_ok()
        {
            let gone = s & RESIDENT == 0;
            debug_assert!(!gone || s & WRITING == 0, "a page on its way home stays in memory");
            return if gone { LatchOutcome::Absent } else { LatchOutcome::Resident };
        }
    }
}

/// Takes the shared latch of a page in memory if that needs no waiting.
pub(crate) fn try_shared(word: &AtomicU64) -> bool {
    let s = word.load(Relaxed);
    s & RESIDENT != 0
        && holders(s) < EXCLUSIVE - 1
        && word.compare_exchange(s, s + 1, Acquire, Relaxed).is_ok()
}

/// Takes the exclusive latch if no thread has a latch of the page.
pub(crate) fn try_exclusive(word: &AtomicU64) -> Option<LatchOutcome> {
    let s = word.load(Relaxed);
    (holders(s) == 0 && word.compare_exchange(s, s | EXCLUSIVE, Acquire, Relaxed).is_ok())
        .then_some(if s & RESIDENT == 0 { LatchOutcome::Absent } else { LatchOutcome::Resident })
}

/// Turns the only shared latch into the exclusive one, if it is the only one.
pub(crate) fn try_upgrade(word: &AtomicU64) -> bool {
    let s = word.load(Relaxed);
    debug_assert!((1..EXCLUSIVE).contains(&holders(s)), "the caller reads the page");
    debug_assert!(s & RESIDENT != 0, "what is read is in memory");
    holders(s) == 1 && word.compare_exchange(s, s | EXCLUSIVE, Acquire, Relaxed).is_ok()
}

/// Releases a shared latch.
#[inline]
pub(crate) fn unlatch_shared(word: &AtomicU64) {
    let before = word.fetch_sub(1, Release);
    assert!((1..EXCLUSIVE).contains(&holders(before)), "a shared latch is held");
    debug_assert!(before & RESIDENT != 0, "nobody evicts what is read");
    if holders(before) == 1 && before & WAITERS != 0 {
        word.fetch_and(!WAITERS, Relaxed);
        wake(word);
    }
}

/// Releases the exclusive latch, setting and clearing bits on the way.
#[inline]
pub(crate) fn unlatch_exclusive(word: &AtomicU64, set: u64, clear: u64) {
    assert_bits(set, clear);
    let mut s = word.load(Relaxed);
    loop {
        assert_eq!(holders(s), EXCLUSIVE, "the exclusive latch is held");
        let mut next = (((s & !HOLDERS & !WAITERS) | set) & !clear).wrapping_add(VERSION_ONE);
        if next & RESIDENT == 0 {
            next &= !INSPECTED;
        }
        let lost = next & RESIDENT == 0 && next & WRITING != 0;
        debug_assert!(!lost, "a page on its way home stays in memory (rule 4)");
        match word.compare_exchange_weak(s, next, Release, Relaxed) {
            Ok(_) => break,
            Err(now) => s = now,
        }
    }
    if s & WAITERS != 0 {
        wake(word);
    }
}

/// Turns the exclusive latch into a shared one.
pub(crate) fn downgrade(word: &AtomicU64, set: u64) {
    assert_bits(set, 0);
    let mut s = word.load(Relaxed);
    loop {
        assert_eq!(holders(s), EXCLUSIVE, "the exclusive latch is held");
        let next = ((s & !HOLDERS & !WAITERS) | set | 1).wrapping_add(VERSION_ONE);
        debug_assert!(next & RESIDENT != 0, "what is read is in memory");
        match word.compare_exchange_weak(s, next, AcqRel, Relaxed) {
            Ok(_) => break,
            Err(now) => s = now,
        }
    }
    if s & WAITERS != 0 {
        wake(word);
    }
}
