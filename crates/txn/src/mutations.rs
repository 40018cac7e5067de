//! Faults that a test build can be told to commit, to prove that the models of row versions see
//! them (feature `mutations`). Any other build has none.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// One fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Mutation {
    /// A snapshot's point is read before the latch under which questions are answered.
    EarlyPoint = 1,
    /// A transaction settles its ghost even if a reader needs the row.
    NeededSettled = 2,
    /// A writer that prunes a row's former versions looks only at the last one.
    LastPruned = 4,
    /// A commit is seen before it is durable.
    EarlyStamp = 8,
    /// A key that is put into a gap of one's own guards no part of it.
    OwnRangeLost = 16,
    /// Where a version was not kept, the record says that there was no row.
    LostIsNone = 32,
    /// A transaction that gets at a row does not ask whether its writer is active.
    WriterPassed = 64,
    /// A thread that settles a ghost of another transaction takes it for a committed one.
    AnothersSettled = 128,
    /// Of four snapshots one is not registered.
    SnapshotForgotten = 256,
    /// The same, and no check asks whether readers are registered.
    ForgottenUnasked = 512,
    /// A commit is reported before the clock has reached it.
    ClockUnasked = 1024,
    /// A ghost leaves its leaf before it lies in the graveyard.
    BuriedLate = 2048,
    /// Undo restores a row with the place of its former version that the log has.
    LoggedPlace = 4096,
    /// A split leaves the ghosts of the half that moves behind.
    GhostsLost = 8192,
    /// A thread that settles takes a ghost in the place of its own for its own.
    HintTrusted = 16384,
    /// The versions that a change drops from a chain are freed after the row's latch was released.
    FreedLate = 32768,
    /// A row of a heap gets the RID of one whose ghost is in the graveyard.
    RidReused = 65_536,
    /// A transaction that deletes a row does not note it for an index that is being built.
    DeletesForgotten = 131_072,
    /// A commit over several databases writes no prepare records.
    Unprepared = 262_144,
    /// A decision of several databases keeps no log.
    DecisionUnkept = 524_288,
    /// A checkpoint carries nothing of the aborted map.
    MapUncarried = 1 << 20,
    /// A checkpoint carries no active transaction.
    ActiveUncarried = 1 << 21,
    /// A sweep forgets an aborted transaction before it has looked at the pages.
    ForgottenEarly = 1 << 22,
    /// The own store is reclaimed without a look at the aborted map.
    ReclaimedUnasked = 1 << 23,
    /// At a start the map has nothing that the log tells of it.
    MapUnread = 1 << 24,
    /// A checkpoint does not log the newest record again that it keeps of a transaction.
    KeptLost = 1 << 25,
    /// What lies behind a mark is not kept.
    TailUnkept = 1 << 26,
    /// A reader of a record's current row does not ask whether its writer was aborted.
    AbortedPassed = 1 << 27,
    /// Redo leaves out what is logged for redo alone: the records of version stores.
    RedoOnlySkipped = 1 << 28,
}

/// The faults of one engine.
#[derive(Default)]
pub struct Mutations(AtomicU32);

impl Mutations {
    /// Whether a fault is to be committed.
    #[inline]
    pub fn has(&self, mutation: Mutation) -> bool {
        cfg!(feature = "mutations") && self.0.load(Relaxed) & mutation as u32 != 0
    }

    /// Commits a fault from now on.
    #[cfg(feature = "mutations")]
    pub fn plant(&self, mutation: Mutation) {
        self.0.fetch_or(mutation as u32, Relaxed);
    }
}
