//! Planted faults: in builds with the feature only, and off until chosen at run time.
//!
//! Each breaks one promise of the README; a crash run must see it.

#[cfg(feature = "mutations")]
use crate::log::Log;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What is done wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Fault {
    /// A flush says that it has synced, and has not (rule 2).
    SkippedSync = 1,
    /// The last record of a group is not logged (rule 1).
    LostTail = 2,
    /// A virtual log file is used again one checkpoint early: the durable one needs it (rule 6).
    EarlyReuse = 4,
    /// A reservation is granted without looking whether there is room (rule 7).
    SkippedReserve = 8,
    /// A file is cut before the pointer says that its log ends earlier (`shrink.rs`).
    CutFirst = 16,
    /// Blocks do not say where the durable log ended (`found.rs`).
    EndUntold = 32,
    /// Blocks say that all before them is durable, which it is not yet (`found.rs`, invariant 1).
    EndEarly = 64,
}

/// Names of the faults, as tests choose them.
#[cfg(feature = "mutations")]
const NAMES: [(&str, Fault); 7] = [
    ("log-sync", Fault::SkippedSync),
    ("group-tail", Fault::LostTail),
    ("early-reuse", Fault::EarlyReuse),
    ("reserve", Fault::SkippedReserve),
    ("cut-first", Fault::CutFirst),
    ("end-untold", Fault::EndUntold),
    ("end-early", Fault::EndEarly),
];

/// Which faults are on.
#[derive(Default)]
pub(crate) struct Mutations(AtomicU8);

impl Mutations {
    /// Whether a fault is on; never in a build without the feature.
    #[inline]
    pub(crate) fn has(&self, fault: Fault) -> bool {
        cfg!(feature = "mutations") && self.0.load(Relaxed) & fault as u8 != 0
    }
}

#[cfg(feature = "mutations")]
impl Log {
    /// Turns a fault on; false where the log knows none of that name.
    pub fn mutate(&self, name: &str) -> bool {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, fault)| self.mutations.0.fetch_or(*fault as u8, Relaxed)).is_some()
    }
}
