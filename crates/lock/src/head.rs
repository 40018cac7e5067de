//! One locked resource: who holds it, who waits for it.
//!
//! ```text
//! Head 56 bytes, in the partition's map
//! +----------+--------------+-------+-------+---------+
//! | resource | first holder | group | queue | granted |
//! |    24    |      16      |   4   |   4   | 4: set  |
//! +----------+--------------+-------+-------+---------+
//!     a second holder moves all of them into a group, a vector from the partition's pool;
//!     a waiter opens a queue, likewise from the pool
//! ```
//! Nothing here locks, waits or signals, except that a granted waiter is signalled.
//!
//! Invariants
//!  1. Holders of different owners are pairwise compatible; an owner is at most one holder.
//!  2. `granted` is the set of the holders' modes.
//!  3. A waiter that may be granted (README rules 3 to 5) is granted before the latch is left.
//!  4. In a queue conversions stand before all others.

use crate::mode::{Mode, ModeSet};
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::ticket::{LockRequest, State};
use base::SessionId;
use std::sync::Arc;

/// How long a lock is to be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Duration {
    /// Not held: the request only tests that the lock could be held now. RangeI-N before an insert.
    Instant,
    /// Until [`crate::Table::release`]. Each request counts as one reference.
    Short,
    /// Until [`crate::Table::release_all`].
    Long,
}

/// An owner that holds a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) owner: OwnerId,
    /// Short requests not yet released.
    pub(crate) refs: u32,
    pub(crate) session: SessionId,
    pub(crate) mode: Mode,
    /// Whether any request was long.
    pub(crate) long: bool,
}

/// What a grant changed for its owner's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum OwnerListChange {
    /// The resource was not held by this owner: it belongs on a list now.
    Fresh,
    /// It was held short, and is held long now.
    Lengthened,
    /// The lists do not change.
    Same,
}

/// A request: what is requested, and by which owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) owner: OwnerId,
    pub(crate) session: SessionId,
    pub(crate) resource: Resource,
    pub(crate) mode: Mode,
    pub(crate) duration: Duration,
}

impl Ask {
    /// The mode that must be compatible: a test alone adds nothing to what is held.
    #[inline]
    pub(crate) fn target(&self, held: Mode) -> Mode {
        let target = match self.duration {
            Duration::Instant => self.mode,
            Duration::Short | Duration::Long => held.combine(self.mode),
        };
        debug_assert!(target.covers(self.mode), "rule 2: it has what is asked for");
        target
    }

    fn holder(&self) -> Holder {
        debug_assert!(self.duration != Duration::Instant, "a test leaves no holder");
        Holder {
            owner: self.owner,
            refs: u32::from(self.duration == Duration::Short),
            session: self.session,
            mode: self.mode,
            long: self.duration == Duration::Long,
        }
    }
}

/// A place in a queue.
pub(crate) struct QueueEntry {
    pub(crate) pending: Arc<LockRequest>,
    /// Whether the owner holds the resource already.
    pub(crate) converts: bool,
    /// The mode it would have then.
    pub(crate) target: Mode,
}

/// No group, no queue.
pub(crate) const NONE: u32 = u32::MAX;

/// One locked resource.
pub(crate) struct Head {
    pub(crate) resource: Resource,
    first: Holder,
    group: u32,
    pub(crate) queue: u32,
    granted: ModeSet,
}

const _: () = assert!(size_of::<Head>() <= 56);

/// The holders of resources that have several, the waiters of those that have any.
#[derive(Default)]
pub(crate) struct Pools {
    groups: Vec<Vec<Holder>>,
    groups_free: Vec<u32>,
    queues: Vec<(Option<Resource>, Vec<QueueEntry>)>,
    queues_free: Vec<u32>,
}

impl Pools {
    fn new_group(&mut self) -> u32 {
        debug_assert!(self.groups_free.len() <= self.groups.len(), "free groups are groups");
        let at = self.groups_free.pop().unwrap_or_else(|| {
            assert!(self.groups.len() < NONE as usize, "fewer groups than entries");
            self.groups.push(Vec::new());
            (self.groups.len() - 1) as u32
        });
        assert!(self.groups[at as usize].is_empty(), "a pooled group is empty");
        at
    }

    fn new_queue(&mut self, resource: Resource) -> u32 {
        let at = self.queues_free.pop().unwrap_or_else(|| {
            assert!(self.queues.len() < NONE as usize, "fewer queues than entries");
            self.queues.push((None, Vec::new()));
            (self.queues.len() - 1) as u32
        });
        let slot = &mut self.queues[at as usize];
        assert!(slot.0.is_none() && slot.1.is_empty(), "a pooled queue is empty");
        slot.0 = Some(resource);
        at
    }

    /// The resources that have waiters.
    pub(crate) fn waited_for(&self) -> impl Iterator<Item = Resource> {
        debug_assert!(self.queues_free.len() <= self.queues.len(), "free queues are queues");
        self.queues.iter().filter_map(|q| q.0)
    }

    /// The waiters of a queue, first served first.
    pub(crate) fn waiting(&self, queue: u32) -> &[QueueEntry] {
        if queue == NONE {
            return &[];
        }
        let (of, waiting) = &self.queues[queue as usize];
        debug_assert!(of.is_some(), "a queue in use knows whose it is");
        waiting
    }
}

impl Head {
    /// A resource that one owner holds.
    #[inline]
    pub(crate) fn held_by(ask: &Ask) -> Self {
        assert!(ask.mode != Mode::NL, "NL is held by nobody");
        Head {
            resource: ask.resource,
            first: ask.holder(),
            group: NONE,
            queue: NONE,
            granted: ModeSet::EMPTY.with(ask.mode),
        }
    }

    /// Everybody who holds it.
    #[inline]
    pub(crate) fn holders<'a>(&'a self, pools: &'a Pools) -> &'a [Holder] {
        if self.group != NONE {
            debug_assert!(pools.groups[self.group as usize].len() > 1, "a group is several");
            &pools.groups[self.group as usize]
        } else if self.first.mode == Mode::NL {
            &[]
        } else {
            std::slice::from_ref(&self.first)
        }
    }

    fn holders_mut<'a>(&'a mut self, pools: &'a mut Pools) -> &'a mut [Holder] {
        if self.group != NONE {
            debug_assert!(pools.groups[self.group as usize].len() > 1, "a group is several");
            &mut pools.groups[self.group as usize]
        } else if self.first.mode == Mode::NL {
            &mut []
        } else {
            std::slice::from_mut(&mut self.first)
        }
    }

    /// What that owner holds it in.
    #[inline]
    pub(crate) fn held_mode(&self, pools: &Pools, owner: OwnerId) -> Mode {
        let mine = self.holders(pools).iter().find(|h| h.owner == owner);
        let mode = mine.map_or(Mode::NL, |h| h.mode);
        let granted = self.granted.meets(ModeSet::EMPTY.with(mode));
        debug_assert!(granted == mine.is_some(), "invariant 2");
        mode
    }

    /// The modes of all holders but that owner.
    pub(crate) fn others(&self, pools: &Pools, owner: OwnerId) -> ModeSet {
        let others = self.holders(pools).iter().filter(|h| h.owner != owner);
        let others = others.fold(ModeSet::EMPTY, |set, h| set.with(h.mode));
        debug_assert_eq!(others.or(self.granted), self.granted, "invariant 2");
        others
    }

    /// Whether nobody holds it and nobody waits for it.
    pub(crate) fn is_idle(&self) -> bool {
        let held = self.group != NONE || self.first.mode != Mode::NL;
        debug_assert_eq!(held, self.granted != ModeSet::EMPTY, "invariant 2");
        self.first.mode == Mode::NL && self.group == NONE && self.queue == NONE
    }

    /// Whether a request that isn't queued yet may be granted (README rules 3 to 5).
    #[inline]
    pub(crate) fn admits(&self, pools: &Pools, ask: &Ask, held: Mode) -> bool {
        let target = ask.target(held);
        debug_assert!(target != Mode::NL, "something is asked for");
        debug_assert_eq!(ask.resource, self.resource, "what is asked for is this");
        if held == Mode::NL {
            if target.conflict_set().meets(self.granted) {
                return false;
            }
        } else if target.conflict_set().meets(self.others(pools, ask.owner)) {
            return false;
        }
        self.queue == NONE || {
            let ahead = pools.waiting(self.queue).iter();
            let mut ahead = ahead.take_while(|w| held == Mode::NL || w.converts);
            !ahead.any(|w| stands_in_the_way(w, ask.owner, target, held))
        }
    }

    /// Makes the requester a holder, or strengthens its hold. The caller has checked that it may.
    pub(crate) fn enter(&mut self, pools: &mut Pools, ask: &Ask) -> OwnerListChange {
        debug_assert_eq!(ask.resource, self.resource, "what is asked for is this");
        if ask.duration == Duration::Instant {
            return OwnerListChange::Same;
        }
        let mine = self.holders_mut(pools).iter_mut().find(|h| h.owner == ask.owner);
        let Some(holder) = mine else {
            self.add(pools, ask.holder());
            return OwnerListChange::Fresh;
        };
        let was = holder.mode;
        let now = was.combine(ask.mode);
        holder.mode = now;
        let entered = match ask.duration {
            Duration::Long if !holder.long => {
                holder.long = true;
                OwnerListChange::Lengthened
            }
            Duration::Short => {
                holder.refs = holder.refs.saturating_add(1);
                OwnerListChange::Same
            }
            Duration::Long | Duration::Instant => OwnerListChange::Same,
        };
        debug_assert!(holder.refs > 0 || holder.long, "who holds has a reason");
        debug_assert!(now.covers(was), "rule 2: a mode never gets weaker");
        if now != was {
            self.granted = self.others(pools, ask.owner);
            assert!(!now.conflict_set().meets(self.granted), "a conversion was checked");
            self.granted = self.granted.with(now);
        }
        entered
    }

    fn add(&mut self, pools: &mut Pools, holder: Holder) {
        assert!(
            !holder.mode.conflict_set().meets(self.granted),
            "{:?} is granted in {:?} against {:?}",
            self.resource,
            holder.mode,
            self.granted
        );
        self.granted = self.granted.with(holder.mode);
        debug_assert!(holder.refs > 0 || holder.long, "who holds has a reason");
        if self.group == NONE && self.first.mode == Mode::NL {
            self.first = holder;
            return;
        }
        if self.group == NONE {
            self.group = pools.new_group();
            let group = &mut pools.groups[self.group as usize];
            assert!(group.is_empty(), "a pooled group is empty");
            group.push(self.first);
        }
        pools.groups[self.group as usize].push(holder);
        let group = &pools.groups[self.group as usize];
        debug_assert!(group.len() > 1, "a group is several");
        if self.queue != NONE {
            for w in &mut pools.queues[self.queue as usize].1 {
                w.converts |= w.pending.ask.owner == holder.owner;
            }
        }
    }

    /// Gives one short reference back. Whether the owner holds the resource no longer.
    pub(crate) fn drop_short(&mut self, pools: &mut Pools, owner: OwnerId) -> Option<bool> {
        let mine = self.holders_mut(pools).iter_mut().find(|h| h.owner == owner)?;
        assert!(mine.refs > 0 || mine.long, "who holds has a reason: {mine:?}");
        debug_assert!(mine.mode != Mode::NL, "who holds has a mode");
        mine.refs = mine.refs.saturating_sub(1);
        if mine.refs > 0 || mine.long {
            return Some(false);
        }
        Some(self.remove(pools, owner))
    }

    /// An owner that still holds the resource holds it in a weaker mode from now on.
    pub(crate) fn weaken(&mut self, pools: &mut Pools, owner: OwnerId, to: Mode) {
        let mine = self.holders_mut(pools).iter_mut().find(|h| h.owner == owner);
        let mine = mine.expect("who weakens a lock holds it");
        assert!(to != Mode::NL && mine.mode.covers(to), "{:?} has no {to:?} in it", mine.mode);
        mine.mode = to;
        self.granted = self.others(pools, owner).with(to);
        let asks = |w: &QueueEntry| w.pending.ask.owner == owner;
        debug_assert!(!pools.waiting(self.queue).iter().any(asks), "rule 2: it waits for nothing");
    }

    /// The owner holds it no longer.
    pub(crate) fn remove(&mut self, pools: &mut Pools, owner: OwnerId) -> bool {
        if self.group == NONE {
            if self.first.owner != owner || self.first.mode == Mode::NL {
                return false;
            }
            self.first.mode = Mode::NL;
            self.granted = ModeSet::EMPTY;
            return true;
        }
        let group = &mut pools.groups[self.group as usize];
        assert!(group.len() > 1, "a group is several");
        let Some(at) = group.iter().position(|h| h.owner == owner) else { return false };
        group.swap_remove(at);
        debug_assert!(group.iter().all(|h| h.owner != owner), "an owner is one holder");
        self.granted = group.iter().fold(ModeSet::EMPTY, |set, h| set.with(h.mode));
        if let [last] = group[..] {
            debug_assert!(last.mode != Mode::NL, "who is left holds it");
            self.first = last;
            group.clear();
            pools.groups_free.push(self.group);
            self.group = NONE;
        }
        true
    }

    /// Makes a long lock short again that should not have become long, because its waiter has gone.
    /// The lock ends if it has no short reference. Returns whether the owner no longer holds the
    /// resource.
    pub(crate) fn shorten(&mut self, pools: &mut Pools, owner: OwnerId) -> bool {
        let Some(mine) = self.holders_mut(pools).iter_mut().find(|h| h.owner == owner) else {
            return false;
        };
        assert!(mine.long, "what was lengthened is long");
        mine.long = false;
        mine.refs == 0 && self.remove(pools, owner)
    }

    /// Queues a request: a conversion behind the conversions, others at the end.
    pub(crate) fn enqueue(&mut self, pools: &mut Pools, pending: Arc<LockRequest>) {
        let held = self.held_mode(pools, pending.ask.owner);
        assert_eq!(pending.ask.resource, self.resource, "what is waited for is this");
        debug_assert!(!self.admits(pools, &pending.ask, held), "who may have it does not wait");
        if self.queue == NONE {
            self.queue = pools.new_queue(self.resource);
        }
        let queue = &mut pools.queues[self.queue as usize].1;
        debug_assert!(!queue.iter().any(|w| Arc::ptr_eq(&w.pending, &pending)), "queued once");
        let converts = held != Mode::NL;
        let at = if converts {
            queue.iter().position(|w| !w.converts).unwrap_or(queue.len())
        } else {
            queue.len()
        };
        let target = pending.ask.target(held);
        debug_assert!(queue[at..].iter().all(|w| !w.converts || !converts), "invariant 4");
        queue.insert(at, QueueEntry { pending, converts, target });
    }

    /// Takes a request out of the queue, ungranted.
    pub(crate) fn dequeue(&mut self, pools: &mut Pools, pending: &Arc<LockRequest>) -> bool {
        if self.queue == NONE {
            return false;
        }
        let queue = &mut pools.queues[self.queue as usize].1;
        let Some(at) = queue.iter().position(|w| Arc::ptr_eq(&w.pending, pending)) else {
            return false;
        };
        assert_ne!(pending.state(), State::Granted, "a granted request has left the queue");
        debug_assert!(queue[..at].iter().all(|w| w.converts) || !queue[at].converts, "invariant 4");
        queue.remove(at);
        self.close_empty_queue(pools);
        true
    }

    fn close_empty_queue(&mut self, pools: &mut Pools) {
        if self.queue != NONE && pools.queues[self.queue as usize].1.is_empty() {
            let of = pools.queues[self.queue as usize].0.take();
            assert_eq!(of, Some(self.resource), "a queue knows whose it is");
            pools.queues_free.push(self.queue);
            debug_assert!(pools.queues_free.len() <= pools.queues.len(), "a queue is free once");
            self.queue = NONE;
        }
    }

    /// Grants every waiter that may have the resource now, first come first served. Returns how
    /// many waiters left the queue, and how many of them are new holders.
    pub(crate) fn grant_waiters(&mut self, pools: &mut Pools) -> GrantRound {
        let mut done = GrantRound::default();
        if self.queue == NONE {
            return done;
        }
        let at = self.queue as usize;
        let waiting = pools.queues[at].1.len();
        let mut ahead = ModeSet::EMPTY;
        let mut next = 0;
        while next < pools.queues[at].1.len() {
            if !self.may_leave(pools, next, ahead) {
                ahead = ahead.with(pools.queues[at].1[next].target);
                next += 1;
                continue;
            }
            let granted = pools.queues[at].1.remove(next);
            let entered = self.enter(pools, &granted.pending.ask);
            done.left += 1;
            done.fresh += u32::from(entered == OwnerListChange::Fresh);
            granted.pending.grant(entered);
        }
        assert!(done.fresh <= done.left, "a new holder was a waiter");
        let left = waiting - pools.queues[at].1.len();
        assert_eq!(left, done.left as usize, "who left the queue was granted");
        self.close_empty_queue(pools);
        done
    }

    /// Whether the waiter at that place may be granted; `ahead` are the targets before it.
    fn may_leave(&self, pools: &mut Pools, place: usize, ahead: ModeSet) -> bool {
        let queue = &pools.queues[self.queue as usize].1;
        debug_assert!(place < queue.len(), "a place of the queue");
        let w = &queue[place];
        if w.pending.state() != State::Queued {
            return false;
        }
        debug_assert_eq!(w.pending.ask.resource, self.resource, "what is waited for is this");
        if !w.converts {
            return !w.target.conflict_set().meets(self.granted.or(ahead));
        }
        let owner = w.pending.ask.owner;
        let held = self.held_mode(pools, owner);
        let target = w.pending.ask.target(held);
        let blocked = target.conflict_set().meets(self.others(pools, owner))
            || queue[..place].iter().any(|a| stands_in_the_way(a, owner, target, held));
        debug_assert!(held != Mode::NL, "who converts holds something");
        pools.queues[self.queue as usize].1[place].target = target;
        !blocked
    }

    /// What all holders together hold.
    pub(crate) fn granted_mode(&self, pools: &Pools) -> Mode {
        let holders = self.holders(pools).iter();
        let mode = holders.fold(Mode::NL, |all, h| all.combine(h.mode));
        debug_assert_eq!(mode == Mode::NL, self.granted == ModeSet::EMPTY, "invariant 2");
        mode
    }

    /// All that a waiter waits for: holders with an incompatible mode, and incompatible waiters
    /// ahead of it.
    pub(crate) fn blockers(
        &self,
        pools: &Pools,
        pending: &Arc<LockRequest>,
    ) -> Option<Vec<Blocker>> {
        let queue = pools.waiting(self.queue);
        let place = queue.iter().position(|w| Arc::ptr_eq(&w.pending, pending))?;
        let owner = pending.ask.owner;
        let held = self.held_mode(pools, owner);
        let target = pending.ask.target(held);
        let holders = self.holders(pools).iter();
        let holders = holders.filter(|h| h.owner != owner && target.conflicts(h.mode));
        let mut all: Vec<Blocker> = holders
            .map(|h| Blocker {
                owner: h.owner,
                session: h.session,
                mode: h.mode,
                asked: h.mode,
                place: Place::Holds,
            })
            .collect();
        let ahead = queue[..place].iter();
        all.extend(ahead.filter(|a| stands_in_the_way(a, owner, target, held)).map(|a| {
            let ask = &a.pending.ask;
            Blocker {
                owner: ask.owner,
                session: ask.session,
                mode: a.target,
                asked: ask.mode,
                place: if a.converts { Place::Converts } else { Place::Waits },
            }
        }));
        debug_assert!(all.iter().all(|b| b.owner != owner), "nobody is in his own way");
        Some(all)
    }

    /// Asserts the invariants; gives back how many entries it has.
    pub(crate) fn verify(&self, pools: &Pools) -> u32 {
        let holders = self.holders(pools);
        let queue = pools.waiting(self.queue);
        assert!(!self.is_idle(), "an idle head is forgotten");
        assert!(self.group == NONE || holders.len() > 1, "a group is several");
        assert!(queue.is_sorted_by_key(|w| !w.converts), "invariant 4");
        assert_eq!(queue.is_empty(), self.queue == NONE, "an empty queue is closed");
        for (i, a) in holders.iter().enumerate() {
            assert!(a.refs > 0 || a.long, "who holds has a reason: {a:?}");
            for b in &holders[i + 1..] {
                assert!(
                    a.owner != b.owner && !a.mode.conflicts(b.mode),
                    "invariant 1: {a:?} {b:?}"
                );
            }
        }
        let modes = holders.iter().fold(ModeSet::EMPTY, |set, h| set.with(h.mode));
        assert_eq!(modes, self.granted, "invariant 2");
        for w in queue {
            assert_eq!(w.pending.ask.resource, self.resource, "what is waited for is this");
            let held = self.held_mode(pools, w.pending.ask.owner);
            assert_eq!(w.converts, held != Mode::NL, "who converts holds something");
            let waits_for = self.blockers(pools, &w.pending).expect("it stands in the queue");
            let queued = w.pending.state() == State::Queued;
            assert!(!queued || !waits_for.is_empty(), "invariant 3: {:?}", w.pending.ask);
        }
        (holders.len() + queue.len()) as u32
    }
}

/// What a round of granting did.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct GrantRound {
    pub(crate) left: u32,
    pub(crate) fresh: u32,
}

/// A holder or waiter that blocks a waiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocker {
    /// Who.
    pub owner: OwnerId,
    /// Its session.
    pub session: SessionId,
    /// The mode in which it holds the resource, or will hold it once granted.
    pub mode: Mode,
    /// What it holds, or asks for.
    pub asked: Mode,
    /// Where it stands.
    pub place: Place,
}

/// Where a blocker stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It holds the resource.
    Holds,
    /// It holds it and waits, further ahead, for a stronger mode.
    Converts,
    /// It waits further ahead.
    Waits,
}

/// Whether a waiter ahead must be served first. It must when the two conflict, unless it waits for
/// a mode that the later one holds already: then being passed costs it nothing.
fn stands_in_the_way(ahead: &QueueEntry, owner: OwnerId, target: Mode, held: Mode) -> bool {
    debug_assert!(ahead.target != Mode::NL && target != Mode::NL, "who queues wants something");
    ahead.pending.ask.owner != owner
        && target.conflicts(ahead.target)
        && !ahead.target.conflicts(held)
}
