//! Whether transactions may read a database as of their moment, and how many do.
//!
//! Invariants
//!  1. Who is let in reads as of a moment since when every change of the database left a version:
//!     `since` is a time at which nobody read before the gate opened. It is 0 where a database is
//!     opened with it: nobody has a moment at the start, and a new database has had versions since
//!     it was made.
//!  2. State and count change under one latch: who closes the gate knows everybody inside.

use base::SessionId;
use os::sync::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::*};
use txn::CommitTime;

/// `snapshot_isolation_state` of sys.databases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum SnapshotState {
    /// Not allowed.
    #[default]
    Off = 0,
    /// Allowed.
    On = 1,
    /// Nobody new is let in.
    ToOff = 2,
    /// Changes leave versions; those that began before are waited for.
    ToOn = 3,
}

/// Why a transaction is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// 3951: it began under another level.
    BegunOtherwise,
    /// 3952: it is not allowed.
    NotAllowed,
    /// 3954: not any more.
    GoingOff,
    /// 3956: not yet.
    ComingOn,
    /// 3957: it was not when the transaction's moment was taken.
    Later,
}

/// The gate of one database.
#[derive(Default)]
pub(crate) struct SnapshotGate {
    inside: Mutex<GateState>,
    /// The state is `On`: for those who ask often.
    on: AtomicBool,
}

#[derive(Default)]
struct GateState {
    state: SnapshotState,
    since: CommitTime,
    /// Sessions, in no order.
    readers: Vec<SessionId>,
}

impl SnapshotGate {
    pub(crate) fn state(&self) -> SnapshotState {
        self.inside.lock().state
    }

    pub(crate) fn set(&self, state: SnapshotState, since: CommitTime) {
        let mut inside = self.inside.lock();
        inside.state = state;
        inside.since = since;
        self.on.store(state == SnapshotState::On, Release);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Acquire)
    }

    pub(crate) fn since(&self) -> CommitTime {
        self.inside.lock().since
    }

    pub(crate) fn readers(&self) -> BTreeSet<SessionId> {
        self.inside.lock().readers.iter().copied().collect()
    }

    pub(crate) fn enter(&self, session: SessionId, at: CommitTime) -> Result<(), Refusal> {
        let mut inside = self.inside.lock();
        match inside.state {
            SnapshotState::On if at >= inside.since => {
                inside.readers.push(session);
                Ok(())
            }
            SnapshotState::On => Err(Refusal::Later),
            SnapshotState::Off => Err(Refusal::NotAllowed),
            SnapshotState::ToOff => Err(Refusal::GoingOff),
            SnapshotState::ToOn => Err(Refusal::ComingOn),
        }
    }

    pub(crate) fn leave(&self, session: SessionId) {
        let mut inside = self.inside.lock();
        let at = inside.readers.iter().position(|s| *s == session);
        inside.readers.swap_remove(at.expect("who leaves was let in"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_open_gate_lets_in_and_only_moments_since_it_opened() {
        let (gate, me) = (SnapshotGate::default(), SessionId(51));
        assert_eq!(gate.enter(me, CommitTime(9)), Err(Refusal::NotAllowed));
        gate.set(SnapshotState::ToOn, CommitTime(0));
        assert_eq!(gate.enter(me, CommitTime(9)), Err(Refusal::ComingOn));
        gate.set(SnapshotState::On, CommitTime(9));
        assert_eq!(gate.enter(me, CommitTime(8)), Err(Refusal::Later));
        assert_eq!(gate.enter(me, CommitTime(9)), Ok(()));
        gate.set(SnapshotState::ToOff, CommitTime(9));
        assert_eq!(gate.enter(SessionId(52), CommitTime(10)), Err(Refusal::GoingOff));
        assert_eq!(gate.readers(), [me].into());
        gate.leave(me);
        assert!(gate.readers().is_empty());
    }
}
