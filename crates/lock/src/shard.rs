//! One partition of the table: the resources whose hash falls here, under one latch.
//!
//! Invariants
//!  1. A resource has a head iff somebody holds it or waits for it.
//!  2. `entries` counts holders and waiters, and never exceeds the allowance.

use crate::budget::Budget;
use crate::head::{Ask, Duration, GrantRound, Head, NONE, OwnerListChange, Pools};
use crate::mode::Mode;
use crate::owner::OwnerId;
use crate::resource::{Kind, Resource};
use crate::ticket::{LockRequest, State};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::sync::Arc;

/// One partition.
#[derive(Default)]
pub(crate) struct Shard {
    pub(crate) heads: HashTable<Head>,
    pub(crate) pools: Pools,
    entries: u32,
    allowance: u32,
    seed: u64,
    /// Requests of each kind, granted or not.
    pub(crate) requests: [u64; Kind::ALL.len()],
}

/// The answer to a request, before anybody waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Granted(OwnerListChange),
    AlreadyHeld(OwnerListChange),
    Conflict,
    Full,
}

/// What giving back found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReleaseOutcome {
    /// The owner did not hold it: escalation had removed it.
    NotHeld,
    /// The owner holds it still, long or by another reference.
    Kept,
    /// The owner holds it no longer.
    Gone,
}

impl Shard {
    /// An empty partition, whose map hashes with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Shard { seed, ..Shard::default() }
    }

    /// Somebody asks for a resource of that kind.
    #[inline]
    pub(crate) fn count_request(&mut self, kind: Kind) {
        self.requests[kind as usize] += 1;
        crate::counters::count_request();
    }

    /// Grants at once, or says why not.
    #[inline]
    pub(crate) fn request(&mut self, ask: &Ask, hash: u64, budget: &Budget) -> Verdict {
        debug_assert_eq!(hash, ask.resource.hash(self.seed), "the hash is the resource's");
        self.inspect();
        self.count_request(ask.resource.kind());
        let seed = self.seed;
        let same = |h: &Head| h.resource == ask.resource;
        match self.heads.entry(hash, same, |h| h.resource.hash(seed)) {
            Entry::Vacant(place) => {
                if ask.duration == Duration::Instant {
                    return Verdict::Granted(OwnerListChange::Same);
                }
                if self.entries == self.allowance && !budget.draw(&mut self.allowance) {
                    return Verdict::Full;
                }
                self.entries += 1;
                debug_assert!(self.entries <= self.allowance, "invariant 2");
                place.insert(Head::held_by(ask));
                Verdict::Granted(OwnerListChange::Fresh)
            }
            Entry::Occupied(mut place) => {
                let head = place.get_mut();
                let held = head.held_mode(&self.pools, ask.owner);
                if held != Mode::NL && held.covers(ask.mode) {
                    return Verdict::AlreadyHeld(head.enter(&mut self.pools, ask));
                }
                if !head.admits(&self.pools, ask, held) {
                    return Verdict::Conflict;
                }
                let is_new = held == Mode::NL && ask.duration != Duration::Instant;
                if is_new && self.entries == self.allowance && !budget.draw(&mut self.allowance) {
                    return Verdict::Full;
                }
                self.entries += u32::from(is_new);
                debug_assert!(self.entries <= self.allowance, "invariant 2");
                let entered = head.enter(&mut self.pools, ask);
                debug_assert_eq!(
                    is_new,
                    entered == OwnerListChange::Fresh,
                    "a new holder is counted"
                );
                Verdict::Granted(entered)
            }
        }
    }

    /// Queues what [`Shard::request`] refused. False when there is no memory for it.
    pub(crate) fn enqueue(&mut self, pending: &Arc<LockRequest>, budget: &Budget) -> bool {
        if self.entries == self.allowance && !budget.draw(&mut self.allowance) {
            return false;
        }
        self.entries += 1;
        assert!(self.entries <= self.allowance, "invariant 2");
        assert_eq!(pending.state(), State::Queued, "a new request is queued");
        debug_assert_eq!(pending.hash, pending.ask.resource.hash(self.seed), "its own hash");
        let same = |h: &Head| h.resource == pending.ask.resource;
        let head = self.heads.find_mut(pending.hash, same);
        let head = head.expect("what conflicts has a head");
        debug_assert!(!head.is_idle(), "an idle head is forgotten");
        head.enqueue(&mut self.pools, Arc::clone(pending));
        true
    }

    /// The head of a resource, if it has one.
    pub(crate) fn head(&self, resource: &Resource, hash: u64) -> Option<&Head> {
        debug_assert_eq!(hash, resource.hash(self.seed), "the hash is the resource's");
        self.heads.find(hash, |h| h.resource == *resource)
    }

    /// Drops one short reference of an owner; what it still holds then, it holds `then`.
    #[inline]
    pub(crate) fn release(
        &mut self,
        owner: OwnerId,
        resource: &Resource,
        hash: u64,
        then: Option<Mode>,
        budget: &Budget,
    ) -> ReleaseOutcome {
        let mut released = ReleaseOutcome::NotHeld;
        self.change(resource, hash, budget, |head, pools| match head.drop_short(pools, owner) {
            None => 0,
            Some(false) => {
                released = ReleaseOutcome::Kept;
                if let Some(mode) = then {
                    head.weaken(pools, owner, mode);
                }
                0
            }
            Some(true) => {
                released = ReleaseOutcome::Gone;
                1
            }
        });
        released
    }

    /// Ends an owner's hold, whatever its duration.
    #[inline]
    pub(crate) fn remove(
        &mut self,
        owner: OwnerId,
        resource: &Resource,
        hash: u64,
        budget: &Budget,
    ) -> bool {
        let mut removed = false;
        self.change(resource, hash, budget, |head, pools| {
            removed = head.remove(pools, owner);
            u32::from(removed)
        });
        removed
    }

    /// Takes a request out of the queue. False when it is not there any more.
    pub(crate) fn dequeue(&mut self, pending: &Arc<LockRequest>, budget: &Budget) -> bool {
        let mut left = false;
        self.change(&pending.ask.resource, pending.hash, budget, |head, pools| {
            left = head.dequeue(pools, pending);
            u32::from(left)
        });
        left
    }

    /// Undoes a grant that is no longer wanted. Returns whether its owner lists a lock that is
    /// gone.
    pub(crate) fn undo_grant(&mut self, pending: &Arc<LockRequest>, budget: &Budget) -> bool {
        assert_eq!(pending.state(), State::Granted, "only a grant can be undone");
        let ask = &pending.ask;
        let mut gone = false;
        self.change(&ask.resource, pending.hash, budget, |head, pools| {
            gone = match (pending.entered(), ask.duration) {
                (OwnerListChange::Fresh, _) => head.remove(pools, ask.owner),
                (OwnerListChange::Lengthened, _) => head.shorten(pools, ask.owner),
                (OwnerListChange::Same, Duration::Short) => {
                    head.drop_short(pools, ask.owner) == Some(true)
                }
                (OwnerListChange::Same, Duration::Instant | Duration::Long) => false,
            };
            u32::from(gone)
        });
        let fresh = pending.entered() == OwnerListChange::Fresh;
        assert!(gone || !fresh, "what a grant alone holds goes with it");
        gone && pending.entered() != OwnerListChange::Fresh
    }

    /// Changes a head, serves its waiters, and forgets it when it is idle. The change says how
    /// many entries it freed.
    #[inline]
    fn change(
        &mut self,
        resource: &Resource,
        hash: u64,
        budget: &Budget,
        change: impl FnOnce(&mut Head, &mut Pools) -> u32,
    ) {
        debug_assert_eq!(hash, resource.hash(self.seed), "the hash is the resource's");
        let Ok(mut place) = self.heads.find_entry(hash, |h| h.resource == *resource) else {
            return;
        };
        let head = place.get_mut();
        let mut freed = change(head, &mut self.pools);
        if head.queue != NONE {
            let GrantRound { left, fresh } = head.grant_waiters(&mut self.pools);
            assert!(fresh <= left, "a new holder was a waiter");
            freed += left - fresh;
        }
        if head.is_idle() {
            place.remove();
        }
        self.entries = self.entries.checked_sub(freed).expect("what is freed was counted");
        self.inspect();
        if self.allowance - self.entries > budget.spare_max() {
            budget.give_back(&mut self.allowance);
            self.trim();
        }
    }

    /// Gives the map's memory back after a flood.
    fn trim(&mut self) {
        let seed = self.seed;
        let len = self.heads.len();
        if self.heads.capacity() > 8 * len + 1024 {
            self.heads.shrink_to(2 * len, |h| h.resource.hash(seed));
            assert_eq!(self.heads.len(), len, "shrinking loses nothing");
        }
    }

    /// Asserts what counters say of each other.
    #[inline]
    fn inspect(&self) {
        debug_assert!(self.entries <= self.allowance, "invariant 2");
        debug_assert!(self.heads.len() <= self.entries as usize, "invariant 1: heads have entries");
        debug_assert_eq!(
            self.heads.is_empty(),
            self.entries == 0,
            "invariant 1: entries have heads"
        );
    }

    /// Entries in use, for checks.
    pub(crate) fn entries(&self) -> u32 {
        debug_assert!(self.entries <= self.allowance, "invariant 2");
        self.entries
    }
}
