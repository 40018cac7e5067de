//! The lock table of an instance: requests, waits, releases.
//!
//! Latches, from outside in: an owner's list, then one partition, then a waiter's signal. The
//! deadlock search alone takes several partitions, in ascending order.

use crate::budget::Budget;
use crate::counters::Tally;
use crate::deadlock::Search;
use crate::error::LockError;
use crate::escalation::{EscalationCounter, EscalationPolicy};
use crate::head::{Ask, Duration, OwnerListChange};
use crate::mode::Mode;
use crate::owner::Owner;
use crate::resource::Resource;
use crate::shard::{ReleaseOutcome, Shard, Verdict};
use crate::ticket::{AwaitedRow, LockRequest, State, Ticket};
use base::HobtId;
use os::latch::LatchClass;
use os::memory::Memory;
use os::spin::{Spin, SpinKind};
use os::sync::{Mutex, MutexGuard, PaddedCell};
use os::wait::Wake;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// How a lock table is made.
#[derive(Clone)]
pub struct Options {
    /// Most holders and waiters there may be; beyond is error 1204.
    pub locks_max: u32,
    /// Partitions: a power of two.
    pub partitions: usize,
    /// The authority from which the locks' memory is reserved.
    pub memory: Option<Arc<Memory>>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lock::Table of {} partitions", self.shards.len())
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { locks_max: 4_000_000, partitions: 64, memory: None }
    }
}

/// How long a request may wait: SET LOCK_TIMEOUT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout(Option<u32>);

impl Timeout {
    /// Until it is granted (-1).
    pub const INFINITE: Timeout = Timeout(None);
    /// Not at all (0, NOWAIT).
    pub const NO_WAIT: Timeout = Timeout(Some(0));

    /// As SET LOCK_TIMEOUT says it: milliseconds, negative for ever.
    pub const fn from_setting(ms: i32) -> Self {
        if ms < 0 { Timeout::INFINITE } else { Timeout(Some(ms as u32)) }
    }
}

/// The lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Whether the caller should try [`Table::escalate`] now.
    pub escalate: bool,
}

/// What came of a request that doesn't wait.
#[derive(Debug)]
pub enum Outcome {
    /// The lock is held, new or stronger than before.
    Granted {
        /// Whether the caller should try [`Table::escalate`] now.
        escalate: bool,
    },
    /// The owner held at least that much already.
    AlreadyHeld,
    /// Others are in the way. Drop all latches, then [`Table::wait`].
    Wait(Ticket),
}

/// A partition on cache lines of its own.
#[repr(align(128))]
struct Partition(Mutex<Shard>);

/// The lock table of an instance.
pub struct Table {
    shards: Box<[Partition]>,
    seed: u64,
    budget: Budget,
    policy: AtomicU8,
    numbers: AtomicU64,
    spin: PaddedCell<Spin>,
    pub(crate) tally: PaddedCell<Tally>,
    pub(crate) search: Search,
}

impl Table {
    /// An empty table.
    ///
    /// # Panics
    /// When the number of partitions is no power of two, or there may be no locks.
    pub fn new(options: &Options) -> Arc<Self> {
        assert!(options.partitions.is_power_of_two(), "partitions are chosen by bits of a hash");
        assert!(options.partitions <= 1 << 24, "the hash has so many bits for them");
        let seed = os::entropy::random_u64();
        let shards = (0..options.partitions)
            .map(|_| Partition(Mutex::of(LatchClass::LockPartition, Shard::new(seed))));
        Arc::new(Table {
            shards: shards.collect(),
            seed,
            budget: Budget::new(options.locks_max, options.partitions, options.memory.as_ref()),
            policy: AtomicU8::new(0),
            numbers: AtomicU64::new(0),
            spin: PaddedCell(Spin::new(SpinKind::Lock)),
            tally: PaddedCell::default(),
            search: Search::default(),
        })
    }

    #[inline]
    pub(crate) fn hash(&self, resource: &Resource) -> u64 {
        resource.hash(self.seed)
    }

    /// Which partition a hash falls in: bits that the partition's map doesn't look at first.
    #[inline]
    pub(crate) fn shard_no(&self, hash: u64) -> usize {
        debug_assert!(self.shards.len().is_power_of_two(), "chosen by bits");
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    #[inline]
    pub(crate) fn shard_of(&self, hash: u64) -> MutexGuard<'_, Shard> {
        self.shards[self.shard_no(hash)].0.lock()
    }

    pub(crate) fn shard_at(&self, no: usize) -> MutexGuard<'_, Shard> {
        self.shards[no].0.lock()
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.shards.len()
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Asks for a lock without waiting. May be called under a page latch.
    ///
    /// `counter` is that of the statement's reference to the table, for page and row locks.
    ///
    /// # Errors
    /// [`LockError::OutOfLockMemory`].
    #[inline]
    pub fn try_lock(
        self: &Arc<Self>,
        owner: &Arc<Owner>,
        resource: Resource,
        mode: Mode,
        duration: Duration,
        counter: Option<&mut EscalationCounter>,
    ) -> Result<Outcome, LockError> {
        let ask = Table::ask(owner, resource, mode, duration);
        let hash = self.hash(&resource);
        let verdict = {
            let mut shard = self.shard_of(hash);
            let verdict = shard.request(&ask, hash, &self.budget);
            if verdict == Verdict::Conflict {
                return self.queue(shard, owner, (ask, None), hash).map(Outcome::Wait);
            }
            verdict
        };
        self.settle(owner, &ask, verdict, counter)
    }

    /// Asks whether a transaction that has written a row has ended: an instant S lock on it.
    /// Returns a ticket when it has not. May be called under a page latch.
    ///
    /// # Errors
    /// [`LockError::OutOfLockMemory`].
    pub fn try_end_of(
        self: &Arc<Self>,
        owner: &Arc<Owner>,
        xact: Resource,
        behind: AwaitedRow,
    ) -> Result<Option<Ticket>, LockError> {
        assert!(xact.xsn().is_some(), "a transaction is waited for: {xact:?}");
        assert_eq!(xact.database_id(), behind.row.database_id(), "the row is of its database");
        let ask = Table::ask(owner, xact, Mode::S, Duration::Instant);
        let hash = self.hash(&xact);
        let mut shard = self.shard_of(hash);
        match shard.request(&ask, hash, &self.budget) {
            Verdict::Conflict => self.queue(shard, owner, (ask, Some(behind)), hash).map(Some),
            Verdict::Granted(_) | Verdict::AlreadyHeld(_) => Ok(None),
            Verdict::Full => Err(LockError::OutOfLockMemory),
        }
    }

    /// The same, but where others are in the way there is no place in the queue: `None`.
    ///
    /// # Errors
    /// [`LockError::OutOfLockMemory`].
    #[inline]
    pub fn try_lock_now(
        &self,
        owner: &Arc<Owner>,
        resource: Resource,
        mode: Mode,
        duration: Duration,
        counter: Option<&mut EscalationCounter>,
    ) -> Result<Option<Grant>, LockError> {
        let ask = Table::ask(owner, resource, mode, duration);
        let hash = self.hash(&resource);
        let verdict = self.shard_of(hash).request(&ask, hash, &self.budget);
        if verdict == Verdict::Conflict {
            return Ok(None);
        }
        match self.settle(owner, &ask, verdict, counter)? {
            Outcome::Granted { escalate } => Ok(Some(Grant { escalate })),
            Outcome::AlreadyHeld => Ok(Some(Grant { escalate: false })),
            Outcome::Wait(_) => Ok(None),
        }
    }

    /// Asks and waits. Never under a latch.
    ///
    /// # Errors
    /// As [`Table::wait`].
    pub fn lock(
        self: &Arc<Self>,
        owner: &Arc<Owner>,
        resource: Resource,
        mode: Mode,
        duration: Duration,
        timeout: Timeout,
        mut counter: Option<&mut EscalationCounter>,
    ) -> Result<Grant, LockError> {
        match self.try_lock(owner, resource, mode, duration, counter.as_deref_mut())? {
            Outcome::Granted { escalate } => Ok(Grant { escalate }),
            Outcome::AlreadyHeld => Ok(Grant { escalate: false }),
            Outcome::Wait(ticket) => self.wait(ticket, timeout, counter),
        }
    }

    #[inline]
    fn ask(owner: &Owner, resource: Resource, mode: Mode, duration: Duration) -> Ask {
        assert!(mode != Mode::NL, "NL is asked for by nobody");
        let fine = resource.counts_toward_escalation();
        assert!(mode != Mode::BU || !fine, "rule 1: BU never meets a key");
        Ask { owner: owner.id(), session: owner.session(), resource, mode, duration }
    }

    /// Enters a grant in its owner's list and counts it.
    #[inline]
    fn settle(
        &self,
        owner: &Owner,
        ask: &Ask,
        verdict: Verdict,
        counter: Option<&mut EscalationCounter>,
    ) -> Result<Outcome, LockError> {
        match verdict {
            Verdict::Granted(entered) => {
                let escalate = self.record(owner, ask, entered, counter);
                Ok(Outcome::Granted { escalate })
            }
            // What is held for the moment and now to the end counts as one that is granted.
            Verdict::AlreadyHeld(entered) => match self.record(owner, ask, entered, counter) {
                true => Ok(Outcome::Granted { escalate: true }),
                false => Ok(Outcome::AlreadyHeld),
            },
            Verdict::Full => Err(LockError::OutOfLockMemory),
            Verdict::Conflict => unreachable!("the caller has dealt with a conflict"),
        }
    }

    #[inline]
    fn record(
        &self,
        owner: &Owner,
        ask: &Ask,
        entered: OwnerListChange,
        counter: Option<&mut EscalationCounter>,
    ) -> bool {
        let long = ask.duration == Duration::Long;
        debug_assert_eq!(owner.id(), ask.owner, "an owner's list has its own locks");
        debug_assert!(
            entered != OwnerListChange::Lengthened || long,
            "only a long request lengthens"
        );
        let test = ask.duration == Duration::Instant;
        debug_assert!(!test || entered == OwnerListChange::Same, "a test leaves nothing");
        match entered {
            OwnerListChange::Same => return false,
            OwnerListChange::Fresh if long => owner.held.lock().long.push(ask.resource),
            OwnerListChange::Fresh => owner.held.lock().short.push(ask.resource),
            OwnerListChange::Lengthened => owner.held.lock().lengthen(ask.resource),
        }
        match counter {
            Some(c) if long && ask.resource.counts_toward_escalation() => {
                c.count(self.escalation_policy(), || self.budget.is_tight())
            }
            _ => false,
        }
    }

    #[cold]
    fn queue(
        self: &Arc<Self>,
        mut shard: MutexGuard<'_, Shard>,
        owner: &Arc<Owner>,
        ask: (Ask, Option<AwaitedRow>),
        hash: u64,
    ) -> Result<Ticket, LockError> {
        let number = self.numbers.fetch_add(1, Relaxed);
        let pending = LockRequest::new(Arc::clone(owner), ask, hash, number);
        assert_eq!(pending.state(), State::Queued, "a new request is queued");
        if !shard.enqueue(&pending, &self.budget) {
            return Err(LockError::OutOfLockMemory);
        }
        drop(shard);
        self.tally.queued.fetch_add(1, Relaxed);
        self.search.queued();
        Ok(Ticket::new(Arc::clone(self), pending))
    }

    /// Waits for a queued lock. Never under a latch.
    ///
    /// # Errors
    /// The lock is not held, and the request is out of the queue: it was a deadlock's victim,
    /// waited too long, or was cancelled.
    pub fn wait(
        &self,
        ticket: Ticket,
        timeout: Timeout,
        counter: Option<&mut EscalationCounter>,
    ) -> Result<Grant, LockError> {
        let pending = ticket.into_pending();
        let result = self.wait_for_turn(&pending, timeout);
        self.search.left();
        result?;
        assert_eq!(pending.state(), State::Granted, "a wait without an error has its lock");
        assert_eq!(pending.owner.id(), pending.ask.owner, "an owner that waits is not renewed");
        let escalate = self.record(&pending.owner, &pending.ask, pending.entered(), counter);
        Ok(Grant { escalate })
    }

    fn wait_for_turn(&self, pending: &Arc<LockRequest>, timeout: Timeout) -> Result<(), LockError> {
        let tally = &self.tally.kinds[pending.ask.resource.kind() as usize];
        if timeout == Timeout::NO_WAIT {
            let left = self.leave(pending, LockError::TimedOut { waited_ms: 0 });
            let timed_out = matches!(left, Err(LockError::TimedOut { .. }));
            tally.refused_at_once.fetch_add(u64::from(timed_out), Relaxed);
            return left;
        }
        tally.waits.fetch_add(1, Relaxed);
        let from = os::clock::monotonic_ns();
        let left = self.wait_since(from, pending, timeout);
        let timed_out = matches!(left, Err(LockError::TimedOut { .. }));
        tally.timeouts.fetch_add(u64::from(timed_out), Relaxed);
        let waited_ns = os::clock::monotonic_ns().saturating_sub(from);
        tally.waited_ns.fetch_add(waited_ns, Relaxed);
        tally.ended.fetch_add(1, Relaxed);
        left
    }

    fn wait_since(
        &self,
        from: u64,
        pending: &Arc<LockRequest>,
        timeout: Timeout,
    ) -> Result<(), LockError> {
        let deadline = timeout.0.map(|ms| from + u64::from(ms) * 1_000_000);
        let timed_out = || LockError::TimedOut {
            waited_ms: os::clock::monotonic_ns().saturating_sub(from) / 1_000_000,
        };
        // Mostly the holder is running and releases it within a few microseconds.
        self.spin.look(|| pending.state() != State::Queued);
        self.search.waits();
        let kind = pending.wait_kind();
        loop {
            match pending.owner.waiter().wait(kind, deadline) {
                Wake::TimedOut => {
                    assert!(deadline.is_some(), "who waits for ever does not time out");
                    return self.leave(pending, timed_out());
                }
                Wake::Cancelled(why) => return self.leave(pending, LockError::Cancelled(why)),
                Wake::Signalled => match pending.state() {
                    State::Granted => return Ok(()),
                    State::Victim => return Err(self.as_victim(pending)),
                    // The signal was meant for an earlier wait.
                    State::Queued | State::Condemned => {}
                },
            }
        }
    }

    /// Ends a wait from the waiter's side. An answer that came first counts.
    fn leave(&self, pending: &Arc<LockRequest>, why: LockError) -> Result<(), LockError> {
        let mut shard = self.shard_of(pending.hash);
        match pending.state() {
            State::Granted => {
                pending.owner.waiter().clear_signal();
                Ok(())
            }
            State::Victim => {
                pending.owner.waiter().clear_signal();
                Err(self.as_victim(pending))
            }
            state @ (State::Queued | State::Condemned) => {
                let was_there = shard.dequeue(pending, &self.budget);
                assert!(was_there, "a request without an answer stands in its queue");
                if state == State::Condemned {
                    return Err(self.as_victim(pending));
                }
                Err(why)
            }
        }
    }

    fn as_victim(&self, pending: &LockRequest) -> LockError {
        assert_ne!(pending.state(), State::Granted, "a victim has no lock");
        assert_ne!(pending.state(), State::Queued, "a victim was chosen");
        LockError::DeadlockVictim { session: pending.ask.session }
    }

    /// A ticket was dropped.
    pub(crate) fn abandon(&self, pending: &Arc<LockRequest>) {
        let mut listed = false;
        {
            let mut shard = self.shard_of(pending.hash);
            match pending.state() {
                State::Granted => {
                    pending.owner.waiter().clear_signal();
                    listed = shard.undo_grant(pending, &self.budget);
                }
                State::Victim => pending.owner.waiter().clear_signal(),
                State::Queued | State::Condemned => {
                    let was_there = shard.dequeue(pending, &self.budget);
                    assert!(was_there, "a request without an answer stands in its queue");
                }
            }
        }
        assert!(!listed || pending.ask.duration != Duration::Instant, "a test lists nothing");
        if listed {
            let was_listed = pending.owner.held.lock().remove_short(&pending.ask.resource);
            assert!(was_listed, "an undone lock was on its owner's short list");
        }
        self.search.left();
    }

    /// Releases one short reference. A lock that is also held long stays, and so does a stronger
    /// mode. A lock that escalation removed is no error. Returns whether the owner no longer holds
    /// it.
    #[inline]
    pub fn release(&self, owner: &Owner, resource: Resource) -> bool {
        self.drop_short(owner, resource, None)
    }

    /// The same; if the owner still holds the lock, it holds it in `before` again, its mode before
    /// the request that is released. Returns whether it no longer holds it.
    ///
    /// # Panics
    /// When the mode that it holds does not include `before`.
    pub fn release_to(&self, owner: &Owner, resource: Resource, before: Mode) -> bool {
        self.drop_short(owner, resource, Some(before))
    }

    #[inline]
    fn drop_short(&self, owner: &Owner, resource: Resource, then: Option<Mode>) -> bool {
        let hash = self.hash(&resource);
        let id = owner.id();
        let released = self.shard_of(hash).release(id, &resource, hash, then, &self.budget);
        let listed = || owner.held.lock().short.contains(&resource);
        debug_assert!(released != ReleaseOutcome::NotHeld || !listed(), "what is listed is held");
        if released == ReleaseOutcome::Gone {
            let was_listed = owner.held.lock().remove_short(&resource);
            assert!(was_listed, "a released lock was on its owner's short list");
        }
        released != ReleaseOutcome::Kept
    }

    /// Gives one long lock back before its owner ends: what a user locks by name. Whether it was
    /// held long.
    pub fn release_long(&self, owner: &Owner, resource: Resource) -> bool {
        let mut held = owner.held.lock();
        let Some(at) = held.long.iter().rposition(|r| *r == resource) else { return false };
        held.long.remove(at);
        self.remove(owner.id(), &resource);
        true
    }

    /// Ends every lock that is only short: the statement is over.
    pub fn release_short(&self, owner: &Owner) {
        let id = owner.id();
        let mut held = owner.held.lock();
        for resource in held.short.drain(..) {
            self.remove(id, &resource);
        }
        assert!(held.short.is_empty(), "every short lock went");
    }

    /// Gives everything back: the transaction is over.
    pub fn release_all(&self, owner: &Owner) {
        let id = owner.id();
        let mut held = owner.held.lock();
        // Finest first: no other owner gets a table before its rows are free.
        for resource in held.short.drain(..).rev() {
            self.remove(id, &resource);
        }
        for resource in held.long.drain(..).rev() {
            self.remove(id, &resource);
        }
        assert!(held.short.is_empty() && held.long.is_empty(), "everything went");
        if held.long.capacity() > 8_192 {
            held.long.shrink_to(1_024);
        }
    }

    #[inline]
    fn remove(&self, id: crate::OwnerId, resource: &Resource) {
        let hash = self.hash(resource);
        let removed = self.shard_of(hash).remove(id, resource, hash, &self.budget);
        assert!(removed, "what an owner lists is held: {resource:?}");
    }

    /// Exchanges the owner's page, key and row locks of a table's hobts for one lock on the table.
    /// Where others are in the way nothing happens: the advice comes again.
    pub fn escalate(
        &self,
        owner: &Arc<Owner>,
        table: Resource,
        mode: Mode,
        hobts: &[HobtId],
    ) -> bool {
        assert!(!table.counts_toward_escalation(), "escalation is to a table or a hobt");
        assert!(!hobts.is_empty(), "a table has a hobt");
        assert!(mode.covers(Mode::IS), "the table's lock stands for its rows': {mode:?}");
        match self.try_lock_now(owner, table, mode, Duration::Long, None) {
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
        let id = owner.id();
        let mut held = owner.held.lock();
        let held = &mut *held;
        for list in [&mut held.short, &mut held.long] {
            list.retain(|resource| {
                let superfluous = resource.database_id() == table.database_id()
                    && hobts.iter().any(|hobt| resource.is_within_hobt(*hobt));
                if superfluous {
                    self.remove(id, resource);
                }
                !superfluous
            });
        }
        assert!(held.long.contains(&table), "the table is held to the end");
        self.tally.escalations.fetch_add(1, Relaxed);
        true
    }

    /// What an owner holds a resource in; NL for nothing.
    pub fn held_mode(&self, owner: &Owner, resource: Resource) -> Mode {
        let hash = self.hash(&resource);
        let shard = self.shard_of(hash);
        let head = shard.head(&resource, hash);
        head.map_or(Mode::NL, |h| h.held_mode(&shard.pools, owner.id()))
    }

    /// Whether a resource would be granted now: an instant request that is never queued.
    pub fn would_grant(&self, owner: &Owner, resource: Resource, mode: Mode) -> bool {
        let ask = Table::ask(owner, resource, mode, Duration::Instant);
        let hash = self.hash(&resource);
        let mut shard = self.shard_of(hash);
        shard.count_request(resource.kind());
        let Some(head) = shard.head(&resource, hash) else { return true };
        debug_assert!(!head.is_idle(), "an idle head is forgotten");
        let held = head.held_mode(&shard.pools, owner.id());
        head.admits(&shard.pools, &ask, held)
    }

    /// Whether another owner holds a resource or waits for it.
    pub fn has_other(&self, owner: &Owner, resource: Resource) -> bool {
        let hash = self.hash(&resource);
        let id = owner.id();
        let shard = self.shard_of(hash);
        let Some(head) = shard.head(&resource, hash) else { return false };
        debug_assert!(!head.is_idle(), "an idle head is forgotten");
        head.holders(&shard.pools).iter().any(|h| h.owner != id)
            || shard.pools.waiting(head.queue).iter().any(|w| w.pending.ask.owner != id)
    }

    /// Trace flags 1211 and 1224.
    pub fn set_escalation_policy(&self, policy: EscalationPolicy) {
        self.policy.store(policy as u8, Relaxed);
        debug_assert_eq!(EscalationPolicy::from_u8(policy as u8), policy);
    }

    /// When escalation is advised.
    #[inline]
    pub fn escalation_policy(&self) -> EscalationPolicy {
        EscalationPolicy::from_u8(self.policy.load(Relaxed))
    }

    /// Holders and waiters there are.
    pub fn entry_count(&self) -> u64 {
        (0..self.shard_count()).map(|n| u64::from(self.shard_at(n).entries())).sum()
    }
}
