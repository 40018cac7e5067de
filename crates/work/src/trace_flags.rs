//! Trace flags: numbers by which an administrator asks for other behaviour.
//!
//! `DBCC TRACEON (n, -1)` and `-T n` at the start turn one on for the whole server: one of
//! [`TraceFlags`], which whoever behaves differently asks. `DBCC TRACEON (n)` turns it on for a
//! session, which keeps its own [`TraceFlagSet`]. A number that means nothing here has no
//! [`TraceFlag`], so that nobody can turn it on and believe it.
//!
//! Invariant: a flag of [`TraceFlag::is_global_only`] is in no session's set.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A trace flag that means something here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFlag {
    /// 661: the ghost cleaner of the background rests. Whoever deletes still clears away.
    GhostCleanerOff,
    /// 3604: what DBCC prints goes to the client.
    DbccToClient,
    /// 3605: what DBCC prints goes to the error log.
    DbccToErrorLog,
    /// 7006: ghosts stay as long as in SQL Server 2019, for whole transactions instead of
    /// statements.
    GhostsOf2019,
}

impl TraceFlag {
    /// All, by their numbers.
    pub const ALL: [TraceFlag; 4] = [
        TraceFlag::GhostCleanerOff,
        TraceFlag::DbccToClient,
        TraceFlag::DbccToErrorLog,
        TraceFlag::GhostsOf2019,
    ];

    /// The number that administrators know it by.
    pub const fn number(self) -> i16 {
        match self {
            TraceFlag::GhostCleanerOff => 661,
            TraceFlag::DbccToClient => 3604,
            TraceFlag::DbccToErrorLog => 3605,
            TraceFlag::GhostsOf2019 => 7006,
        }
    }

    /// The flag of a number; `None` for one that means nothing here.
    pub fn of_number(number: i16) -> Option<TraceFlag> {
        TraceFlag::ALL.into_iter().find(|flag| flag.number() == number)
    }

    /// Whether it makes sense for the whole server only: what it changes is no session's.
    pub const fn is_global_only(self) -> bool {
        matches!(self, TraceFlag::GhostCleanerOff | TraceFlag::GhostsOf2019)
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Some trace flags: those of a session, or those of the server at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceFlagSet(u32);

impl TraceFlagSet {
    /// Whether a flag is among them.
    pub const fn has(self, flag: TraceFlag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// Takes in those of another set.
    pub const fn add(&mut self, others: TraceFlagSet) {
        self.0 |= others.0;
    }

    /// Takes out those of another set.
    pub const fn remove(&mut self, others: TraceFlagSet) {
        self.0 &= !others.0;
    }
}

impl FromIterator<TraceFlag> for TraceFlagSet {
    fn from_iter<I: IntoIterator<Item = TraceFlag>>(flags: I) -> TraceFlagSet {
        TraceFlagSet(flags.into_iter().fold(0, |bits, flag| bits | flag.bit()))
    }
}

/// The trace flags of the server. Asking costs one relaxed load; who asks while one is turned gets
/// the answer of before or of after.
#[derive(Default)]
pub struct TraceFlags(AtomicU32);

impl TraceFlags {
    /// Whether a flag is on for the whole server.
    #[inline]
    pub fn is_on(&self, flag: TraceFlag) -> bool {
        self.0.load(Relaxed) & flag.bit() != 0
    }

    /// Those that are on.
    pub fn all(&self) -> TraceFlagSet {
        TraceFlagSet(self.0.load(Relaxed))
    }

    /// Turns flags on.
    pub fn turn_on(&self, flags: TraceFlagSet) {
        self.0.fetch_or(flags.0, Relaxed);
    }

    /// Turns flags off.
    pub fn turn_off(&self, flags: TraceFlagSet) {
        self.0.fetch_and(!flags.0, Relaxed);
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
            let flags = TraceFlags::default();
            flags.turn_on(TraceFlagSet::from_iter([flag]));
            let on = TraceFlag::ALL.into_iter().filter(|f| flags.is_on(*f));
            assert!(on.eq([flag]), "{flag:?} is a bit of its own");
            flags.turn_on(TraceFlagSet::from_iter(TraceFlag::ALL));
            flags.turn_off(TraceFlagSet::from_iter([flag]));
            assert!(TraceFlag::ALL.into_iter().all(|f| flags.is_on(f) == (f != flag)));
            let mut set = flags.all();
            assert!(!set.has(flag));
            set.add(TraceFlagSet::from_iter([flag]));
            set.remove(flags.all());
            assert_eq!(set, TraceFlagSet::from_iter([flag]));
        }
        for unknown in [0, 1, -1, 660, 4199, 8790, i16::MAX] {
            assert_eq!(TraceFlag::of_number(unknown), None, "{unknown}");
        }
    }
}
