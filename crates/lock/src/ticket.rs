//! A ticket: a place in a queue, from the request to the answer.
//!
//! ```text
//! Queued → Granted    [Head::grant_waiters, by the thread that released a lock]
//! Queued → Condemned  [deadlock search: grants skip it from now on]
//! Condemned → Victim  [deadlock search, after the witness has recorded it]
//! Queued, Condemned → out of the queue [Ticket: timeout, cancellation, drop]
//! ```
//!
//! Invariants
//!  1. Every transition happens under the partition's latch.
//!  2. A thread that takes another's request out of the queue signals its waiter once, still under
//!     that latch. So the end of a ticket can take an unread signal back.

use crate::head::{Ask, Duration, OwnerListChange};
use crate::owner::Owner;
use crate::resource::{Kind, Resource};
use crate::table::Table;
use os::wait::WaitKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What has become of a queued request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum State {
    /// It waits for its turn.
    Queued = 0,
    /// It is a holder now, and its owner's list doesn't know yet.
    Granted = 1,
    /// It stands in the queue, and will end as a deadlock victim.
    Condemned = 2,
    /// It was taken out of the queue as a deadlock victim.
    Victim = 3,
}

/// The row for which a transaction waits when it waits for the end of another transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AwaitedRow {
    /// The row.
    pub row: Resource,
    /// Whether the waiter means to change the row, or may yet.
    pub modifies: bool,
}

/// A request that stands, or stood, in a queue.
pub(crate) struct LockRequest {
    pub(crate) owner: Arc<Owner>,
    pub(crate) ask: Ask,
    /// What is behind a transaction that is waited for.
    pub(crate) behind: Option<AwaitedRow>,
    pub(crate) hash: u64,
    /// Orders requests by age.
    pub(crate) number: u64,
    pub(crate) since_ns: u64,
    state: AtomicU8,
    entered: AtomicU8,
}

impl LockRequest {
    pub(crate) fn new(
        owner: Arc<Owner>,
        (ask, behind): (Ask, Option<AwaitedRow>),
        hash: u64,
        number: u64,
    ) -> Arc<Self> {
        let of_xact = behind.is_none() || ask.resource.kind() == Kind::Xact;
        assert!(of_xact, "rows are behind transactions alone");
        assert_eq!(owner.id(), ask.owner, "a request waits in its owner's name");
        assert_eq!(owner.session(), ask.session, "and in its session's");
        debug_assert_eq!(ask.target(crate::Mode::NL), ask.mode, "who holds nothing asks for that");
        Arc::new(LockRequest {
            owner,
            ask,
            behind,
            hash,
            number,
            since_ns: os::clock::monotonic_ns(),
            state: AtomicU8::new(State::Queued as u8),
            entered: AtomicU8::new(OwnerListChange::Same as u8),
        })
    }

    /// The wait's name.
    pub(crate) fn wait_kind(&self) -> WaitKind {
        match (self.ask.resource.kind(), self.behind) {
            (Kind::Xact, Some(AwaitedRow { modifies: true, .. })) => WaitKind::LckSXactModify,
            (Kind::Xact, Some(_)) => WaitKind::LckSXactRead,
            (Kind::Xact, None) => WaitKind::LckSXact,
            _ => self.ask.mode.wait_kind(),
        }
    }

    pub(crate) fn state(&self) -> State {
        let state = self.state.load(Ordering::Acquire);
        debug_assert!(state <= State::Victim as u8, "a state that there is");
        match state {
            0 => State::Queued,
            1 => State::Granted,
            2 => State::Condemned,
            _ => State::Victim,
        }
    }

    /// What the grant changed.
    pub(crate) fn entered(&self) -> OwnerListChange {
        debug_assert_eq!(self.state(), State::Granted, "only a grant changes holders");
        let entered = self.entered.load(Ordering::Relaxed);
        debug_assert!(entered <= OwnerListChange::Same as u8, "an answer that there is");
        match entered {
            0 => OwnerListChange::Fresh,
            1 => OwnerListChange::Lengthened,
            _ => OwnerListChange::Same,
        }
    }

    fn become_state(&self, from: State, to: State) {
        let old = self.state.swap(to as u8, Ordering::AcqRel);
        assert_eq!(old, from as u8, "a request becomes {to:?} only from {from:?}");
    }

    /// It is its turn. Called under the partition's latch, as all of these.
    pub(crate) fn grant(&self, entered: OwnerListChange) {
        let same = entered == OwnerListChange::Same;
        debug_assert!(same || self.ask.duration != Duration::Instant, "a test leaves nothing");
        let long = self.ask.duration == Duration::Long;
        debug_assert!(
            entered != OwnerListChange::Lengthened || long,
            "only a long request lengthens"
        );
        debug_assert_eq!(self.owner.id(), self.ask.owner, "an owner that waits is not renewed");
        self.entered.store(entered as u8, Ordering::Relaxed);
        self.become_state(State::Queued, State::Granted);
        self.owner.waiter().signal();
    }

    /// The deadlock search has chosen it.
    pub(crate) fn condemn(&self) {
        assert_eq!(self.owner.id(), self.ask.owner, "an owner that waits is not renewed");
        self.become_state(State::Queued, State::Condemned);
    }

    /// It is out of the queue.
    pub(crate) fn kill(&self) {
        assert_eq!(self.owner.id(), self.ask.owner, "an owner that waits is not renewed");
        self.become_state(State::Condemned, State::Victim);
        self.owner.waiter().signal();
    }
}

/// The right to wait for a lock that was not granted at once. The caller passes it to
/// [`Table::wait`]; a dropped ticket leaves the queue.
#[must_use = "a ticket that is dropped leaves the queue"]
pub struct Ticket {
    table: Arc<Table>,
    pending: Option<Arc<LockRequest>>,
}

impl Ticket {
    pub(crate) fn new(table: Arc<Table>, pending: Arc<LockRequest>) -> Self {
        debug_assert_eq!(pending.owner.id(), pending.ask.owner, "who asked has the ticket");
        Ticket { table, pending: Some(pending) }
    }

    /// What is waited for.
    pub fn resource(&self) -> crate::Resource {
        self.pending().ask.resource
    }

    /// The requested mode.
    pub fn mode(&self) -> crate::Mode {
        self.pending().ask.mode
    }

    /// For how long it is wanted.
    pub fn duration(&self) -> Duration {
        self.pending().ask.duration
    }

    fn pending(&self) -> &Arc<LockRequest> {
        self.pending.as_ref().expect("a ticket has its request until it is waited for")
    }

    pub(crate) fn into_pending(mut self) -> Arc<LockRequest> {
        self.pending.take().expect("a ticket has its request until it is waited for")
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ticket({:?} on {:?})", self.mode(), self.resource())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take()
            && !os::sched::crashed()
        {
            self.table.abandon(&pending);
        }
    }
}
