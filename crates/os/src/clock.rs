//! Time: monotonic nanoseconds for intervals, wall time for GETDATE and the error log.

use crate::sched;

/// Wall time: nanoseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WallTime(pub i64);

/// Simulated clocks start on 2026-01-01.
const SIMULATED_EPOCH_NS: i64 = 1_767_225_600 * 1_000_000_000;

/// Nanoseconds since an arbitrary start; never goes back.
#[inline]
pub fn monotonic_ns() -> u64 {
    match sched::current() {
        Some(s) => s.now_ns(),
        None => {
            let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
        }
    }
}

/// The wall clock in UTC.
#[inline]
pub fn now() -> WallTime {
    match sched::current() {
        Some(s) => WallTime(SIMULATED_EPOCH_NS + s.now_ns() as i64),
        None => {
            let t = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            WallTime(t.tv_sec * 1_000_000_000 + t.tv_nsec)
        }
    }
}

/// The wall clock as of the system's last tick: a few milliseconds behind [`now`], and several
/// times as quick to ask.
#[inline]
pub fn about_now() -> WallTime {
    match sched::current() {
        Some(_) => now(),
        None => {
            let t = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
            WallTime(t.tv_sec * 1_000_000_000 + t.tv_nsec)
        }
    }
}

/// CPU time of the process in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time of a thread of this process, by the number that [`crate::task::thread_number`] gave;
/// `None` when it has ended, or where the system does not tell.
pub fn cpu_ns_of(thread: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// CPU time of this thread in nanoseconds; in a simulation, virtual time.
pub fn thread_cpu_ns() -> u64 {
    if let Some(s) = sched::current() {
        return s.now_ns();
    }
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
