//! Trace flags: numbers by which an administrator asks for other behaviour.
//!
//! `DBCC TRACEON (n, -1)` and `-T n` at the start turn one on for the whole server: one of
//! [`TraceFlags`], which whoever behaves differently asks. `DBCC TRACEON (n)` turns it on for a
//! session, which keeps its own [`TraceFlagSet`]. As in SQL Server any number of the range may be
//! turned on, and is listed then; whoever turns on one that means nothing here is told
//! ([`means_something`]).
//!
//! Invariants
//!  1. Every flag of [`TraceFlag`] acts on the whole server, so a session's set changes nothing:
//!     "global" flags have no effect when they are set for a session (Microsoft, "Trace Flags").
//!     Those of what DBCCs print are asked by their session, which knows both sets.
//!  2. The bits that are asked are those of the numbers that are listed.

use os::sync::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A trace flag that changes what the server does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFlag {
    /// 661: the ghost cleaner of the background rests. Whoever deletes still clears away.
    GhostCleanerOff,
    /// 1204: the report of a deadlock goes to the error log; here it is the same as 1222's.
    DeadlockResources,
    /// 1222: the report of a deadlock goes to the error log, as XML.
    DeadlockReport,
    /// 7006: ghosts stay as long as in SQL Server 2019, for whole transactions instead of
    /// statements.
    GhostsOf2019,
}

/// 3604: what a DBCC prints goes to the client. Of a session or of the server.
pub const DBCC_TO_CLIENT: i16 = 3604;
/// 3605: what a DBCC prints goes to the error log. Of a session or of the server.
pub const DBCC_TO_LOG: i16 = 3605;

/// Flags that ask for what is done anyway, and so need nothing, each with why.
const HELD_ALWAYS: [(i16, &str); 6] = [
    (460, "a string that is too long is told with its table and column (2628)"),
    (1117, "a filegroup has one file: all its files grow together"),
    (1118, "tables have whole extents; mixed ones hold IAM pages alone"),
    (2371, "large tables' statistics are stale after fewer changes (catalog, staleness)"),
    (3226, "there is no BACKUP whose success the error log could tell"),
    (4199, "no change of the optimizer waits for it"),
];

/// Whether a flag changes something here, or asks for what is done anyway.
pub fn means_something(number: i16) -> bool {
    let prints = number == DBCC_TO_CLIENT || number == DBCC_TO_LOG;
    TraceFlag::of_number(number).is_some() || prints || is_held_always(number)
}

/// Whether a flag asks for what is done anyway.
fn is_held_always(number: i16) -> bool {
    HELD_ALWAYS.iter().any(|(n, _)| *n == number)
}

impl TraceFlag {
    /// All, by their numbers.
    pub const ALL: [TraceFlag; 4] = [
        TraceFlag::GhostCleanerOff,
        TraceFlag::DeadlockResources,
        TraceFlag::DeadlockReport,
        TraceFlag::GhostsOf2019,
    ];

    /// The number that administrators know it by.
    pub const fn number(self) -> i16 {
        match self {
            TraceFlag::GhostCleanerOff => 661,
            TraceFlag::DeadlockResources => 1204,
            TraceFlag::DeadlockReport => 1222,
            TraceFlag::GhostsOf2019 => 7006,
        }
    }

    /// The flag of a number.
    pub fn of_number(number: i16) -> Option<TraceFlag> {
        TraceFlag::ALL.into_iter().find(|flag| flag.number() == number)
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Numbers of trace flags: those of a session, or those of the server at a moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceFlagSet(BTreeSet<i16>);

impl TraceFlagSet {
    /// Whether a flag is among them.
    pub fn has(&self, number: i16) -> bool {
        self.0.contains(&number)
    }

    /// Them, in order.
    pub fn numbers(&self) -> impl Iterator<Item = i16> {
        self.0.iter().copied()
    }

    /// Takes in others.
    pub fn add(&mut self, numbers: &[i16]) {
        debug_assert!(numbers.iter().all(|n| *n >= 0), "-1 is no flag");
        self.0.extend(numbers);
    }

    /// Takes out others.
    pub fn remove(&mut self, numbers: &[i16]) {
        self.0.retain(|n| !numbers.contains(n));
    }

    fn bits(&self) -> u32 {
        let flags = self.numbers().filter_map(TraceFlag::of_number);
        flags.fold(0, |bits, flag| bits | flag.bit())
    }
}

/// The trace flags of the server. Asking costs one relaxed load; who asks while one is turned gets
/// the answer of before or of after.
#[derive(Default)]
pub struct TraceFlags {
    bits: AtomicU32,
    all: Mutex<TraceFlagSet>,
}

impl TraceFlags {
    /// Whether a flag is on for the whole server.
    #[inline]
    pub fn is_on(&self, flag: TraceFlag) -> bool {
        self.bits.load(Relaxed) & flag.bit() != 0
    }

    /// Those that are on.
    pub fn all(&self) -> TraceFlagSet {
        self.all.lock().clone()
    }

    /// Turns flags on.
    pub fn turn_on(&self, numbers: &[i16]) {
        self.change(|all| all.add(numbers));
    }

    /// Turns flags off.
    pub fn turn_off(&self, numbers: &[i16]) {
        self.change(|all| all.remove(numbers));
    }

    fn change(&self, change: impl FnOnce(&mut TraceFlagSet)) {
        let mut all = self.all.lock();
        change(&mut all);
        // Under the lock, so that the last change's bits are the last (invariant 2).
        self.bits.store(all.bits(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_by_its_number_and_turned_alone() {
        let numbers = TraceFlag::ALL.map(TraceFlag::number);
        assert!(numbers.is_sorted(), "lists of flags are in order of numbers");
        for flag in TraceFlag::ALL {
            assert_eq!(TraceFlag::of_number(flag.number()), Some(flag));
            assert!(!is_held_always(flag.number()), "it changes something");
            let flags = TraceFlags::default();
            flags.turn_on(&[flag.number(), 4199]);
            let on = TraceFlag::ALL.into_iter().filter(|f| flags.is_on(*f));
            assert!(on.eq([flag]), "{flag:?} is a bit of its own");
            flags.turn_on(&numbers);
            flags.turn_off(&[flag.number()]);
            assert!(TraceFlag::ALL.into_iter().all(|f| flags.is_on(f) == (f != flag)));
            assert!(!flags.all().has(flag.number()) && flags.all().has(4199));
        }
        for unknown in [0, 1, -1, 660, 4199, 8790, i16::MAX] {
            assert_eq!(TraceFlag::of_number(unknown), None, "{unknown}");
        }
        assert!(HELD_ALWAYS.map(|(n, _)| n).is_sorted() && !is_held_always(8649));
        assert!(HELD_ALWAYS.iter().all(|(_, why)| !why.is_empty()), "each has its reason");
    }
}
