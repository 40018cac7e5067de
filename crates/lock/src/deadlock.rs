//! The deadlock search: it finds owners that wait for each other in a cycle.
//!
//! A step copies each queue with its waiters' blockers, partition by partition, and searches the
//! copy for a cycle. The copy is not of one instant. So a cycle counts only after all its
//! partitions are latched and every edge is found again: a waiter neither takes nor releases locks,
//! so edges that exist at once form a real deadlock.
//!
//! Invariants
//!  1. A deadlock gets exactly one victim, and none that is rolling back.
//!  2. The witness has seen the deadlock before its victim is woken.
//!  3. Partitions are latched in ascending order. The witness is called without a latch.

use crate::head::Blocker;
use crate::mode::Mode;
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::table::Table;
use crate::ticket::{LockRequest, State};
use base::SessionId;
use os::sync::RwLock;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The interval of searches with fewer than two waiters.
const IDLE_MS: u64 = 5_000;
/// The interval with two or more.
const WAITING_MS: u64 = 1_000;
/// The interval right after a deadlock.
const EAGER_MS: u64 = 100;
/// After a deadlock this many waits each start a search at once.
const EAGER_WAITS: u32 = 4;

/// A waiter in a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockMember {
    /// The owner that waits.
    pub owner: OwnerId,
    /// Its session.
    pub session: SessionId,
    /// SET DEADLOCK_PRIORITY.
    pub priority: i8,
    /// The log it has used.
    pub log_bytes: u64,
    /// What it waits for.
    pub resource: Resource,
    /// The row behind a transaction that it waits for.
    pub behind: Option<Resource>,
    /// That resource's number in the table. Two resources that exist at once have different
    /// numbers.
    pub resource_hash: u64,
    /// All modes together in which the resource is held.
    pub granted: Mode,
    /// The mode in which this waiter holds it already (then its request is a conversion); NL for
    /// none.
    pub held: Mode,
    /// What it asked for.
    pub mode: Mode,
    /// The wait's number: no other of this instance has it.
    pub number: u64,
    /// Whether the request came from a task that reads for the owner beside others, not from the
    /// owner's own task.
    pub by_helper: bool,
    /// When it began to wait, monotonic.
    pub since_ns: u64,
    /// All holders and waiters that it waits for.
    pub blockers: Vec<Blocker>,
}

/// A cycle of waiters, each waiting for the next, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// Which member gets error 1205.
    pub victim: usize,
    /// The circle.
    pub members: Vec<DeadlockMember>,
}

/// Records deadlocks. Implemented above, where statements and names are known.
pub trait DeadlockWitness: Send + Sync {
    /// Called before the victim is woken, without any latch held.
    fn saw(&self, deadlock: &Deadlock);
}

/// What a step did, and when the next is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Deadlocks found.
    pub found: u32,
    /// When to come again, unless signalled before.
    pub next_in_ms: u64,
}

type Wakeup = Arc<dyn Fn() + Send + Sync>;

/// When to search.
#[derive(Default)]
pub(crate) struct Search {
    /// Tickets whose waits have not ended.
    waiting: AtomicU64,
    /// Whether the next step is due soon, so that a wait need not call for it.
    alert: AtomicBool,
    eager: AtomicU32,
    wakeup: RwLock<Option<Wakeup>>,
}

impl Search {
    pub(crate) fn queued(&self) {
        self.waiting.fetch_add(1, Relaxed);
    }

    pub(crate) fn left(&self) {
        let before = self.waiting.fetch_sub(1, Relaxed);
        assert!(before > 0, "who leaves was queued");
    }

    /// A wait begins: it may have closed a cycle.
    pub(crate) fn waits(&self) {
        let take = |n: u32| n.checked_sub(1);
        let eager = self.eager.fetch_update(Relaxed, Relaxed, take).is_ok();
        let enough = self.waiting.load(Relaxed) >= 2;
        if eager || (enough && !self.alert.swap(true, Relaxed)) {
            let wakeup = self.wakeup.read().clone();
            if let Some(wakeup) = wakeup {
                wakeup();
            }
        }
    }
}

/// A waiter in the copy.
struct Node {
    pending: Arc<LockRequest>,
    blockers: Vec<Blocker>,
}

impl Table {
    /// Sets the callback that calls the worker of [`Table::deadlock_step`] before its time.
    pub fn on_deadlock_search_wanted(&self, wakeup: impl Fn() + Send + Sync + 'static) {
        *self.search.wakeup.write() = Some(Arc::new(wakeup));
        debug_assert!(self.search.wakeup.read().is_some());
    }

    /// Finds every deadlock there is and ends each by one victim.
    pub fn deadlock_step(&self, witness: &dyn DeadlockWitness) -> Progress {
        self.search.alert.store(false, Relaxed);
        let nodes = self.waiters();
        let mut graph = Graph::new(&nodes);
        let mut found = 0;
        let mut doubtful = false;
        while let Some(circle) = graph.circle() {
            assert!(!circle.is_empty(), "a circle has members");
            let Some(victim) = choose(&nodes, &circle) else {
                // All members are rolling back. Nothing that we may do ends it.
                graph.forget(circle[0]);
                continue;
            };
            graph.forget(circle[victim]);
            match self.condemn(&nodes, &circle, victim) {
                None => doubtful = true,
                Some(deadlock) => {
                    witness.saw(&deadlock);
                    self.execute(&nodes[circle[victim]].pending);
                    found += 1;
                }
            }
        }
        assert!(found as usize <= nodes.len(), "a waiter is a victim once");
        let next_in_ms = if found > 0 {
            self.search.eager.store(EAGER_WAITS, Relaxed);
            EAGER_MS
        } else if doubtful {
            EAGER_MS
        } else if nodes.len() >= 2 {
            WAITING_MS
        } else {
            IDLE_MS
        };
        self.search.alert.store(nodes.len() >= 2, Relaxed);
        Progress { found, next_in_ms }
    }

    /// Every waiter with its blockers. Each partition is consistent, the whole is not.
    fn waiters(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for no in 0..self.shard_count() {
            let shard = self.shard_at(no);
            for resource in shard.pools.waited_for() {
                let head = shard.head(&resource, self.hash(&resource));
                let head = head.expect("what is waited for has a head");
                for w in shard.pools.waiting(head.queue) {
                    let pending = Arc::clone(&w.pending);
                    let blockers = head.blockers(&shard.pools, &pending).unwrap_or_default();
                    nodes.push(Node { pending, blockers });
                }
            }
        }
        nodes.sort_by_key(|n| n.pending.number);
        debug_assert!(nodes.is_sorted_by(|a, b| a.pending.number < b.pending.number));
        nodes
    }

    /// Latches all partitions of a cycle, checks that every edge still exists, and condemns the
    /// victim.
    fn condemn(&self, nodes: &[Node], circle: &[usize], victim: usize) -> Option<Deadlock> {
        let mut numbers: Vec<usize> =
            circle.iter().map(|&n| self.shard_no(nodes[n].pending.hash)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let shards: Vec<_> = numbers.iter().map(|&no| (no, self.shard_at(no))).collect();
        let mut members = Vec::with_capacity(circle.len());
        for (i, &n) in circle.iter().enumerate() {
            let pending = &nodes[n].pending;
            let next = &nodes[circle[(i + 1) % circle.len()]].pending.ask;
            let no = self.shard_no(pending.hash);
            let (_, shard) = shards.iter().find(|s| s.0 == no)?;
            let head = shard.head(&pending.ask.resource, pending.hash)?;
            let blockers = head.blockers(&shard.pools, pending)?;
            if pending.state() != State::Queued
                || !blockers.iter().any(|b| same_party(b, next.owner, next.session))
            {
                return None;
            }
            let held = head.held_mode(&shard.pools, pending.ask.owner);
            let granted = head.granted_mode(&shard.pools);
            members.push(member(pending, (granted, held), blockers));
        }
        assert_eq!(members.len(), circle.len(), "every edge was seen");
        let chosen = &nodes[circle[victim]].pending;
        if chosen.owner.is_rolling_back() {
            return None;
        }
        assert_eq!(members[victim].owner, chosen.ask.owner, "the victim is one of them");
        assert!(!shards.is_empty(), "the victim's partition is latched");
        chosen.condemn();
        Some(Deadlock { victim, members })
    }

    /// Takes a condemned request out of its queue and wakes its waiter, unless it has left by
    /// itself.
    fn execute(&self, pending: &Arc<LockRequest>) {
        let mut shard = self.shard_of(pending.hash);
        assert_eq!(pending.state(), State::Condemned, "a condemned request is not granted");
        if shard.dequeue(pending, self.budget()) {
            pending.kill();
        }
        let kind = pending.ask.resource.kind();
        self.tally.kinds[kind as usize].deadlocks.fetch_add(1, Relaxed);
    }
}

fn member(
    pending: &LockRequest,
    (granted, held): (Mode, Mode),
    blockers: Vec<Blocker>,
) -> DeadlockMember {
    assert!(!blockers.is_empty(), "who waits, waits for somebody");
    debug_assert!(!held.covers(pending.ask.mode), "who waits lacks something");
    DeadlockMember {
        owner: pending.ask.owner,
        session: pending.ask.session,
        priority: pending.owner.priority(),
        log_bytes: pending.owner.log_bytes(),
        resource: pending.ask.resource,
        behind: pending.behind.map(|b| b.row),
        resource_hash: pending.hash,
        granted,
        held,
        mode: pending.ask.mode,
        number: pending.number,
        by_helper: pending.owner.is_helper(),
        since_ns: pending.since_ns,
        blockers,
    }
}

impl Deadlock {
    /// Which member someone in the way is, if any: by its owner, else by its session.
    pub fn member_of(&self, blocker: &Blocker) -> Option<&DeadlockMember> {
        let by_owner = self.members.iter().find(|m| m.owner == blocker.owner);
        let of_session = |m: &&DeadlockMember| same_party(blocker, m.owner, m.session);
        by_owner.or_else(|| self.members.iter().find(of_session))
    }
}

/// Whether a blocker stays as long as that waiter waits: its owner, or another of its session.
fn same_party(blocker: &Blocker, owner: OwnerId, session: SessionId) -> bool {
    blocker.owner == owner || (session.0 > 0 && blocker.session == session)
}

/// Chooses the victim: lowest priority, then least log, then youngest; never one that is rolling
/// back.
fn choose(nodes: &[Node], circle: &[usize]) -> Option<usize> {
    assert!(circle.iter().all(|&n| n < nodes.len()), "a circle is of waiters");
    let cost = |&i: &usize| {
        let p = &nodes[circle[i]].pending;
        let age = (Reverse(p.ask.owner.number()), Reverse(p.number));
        (p.owner.priority(), p.owner.log_bytes(), age)
    };
    let eligible = (0..circle.len()).filter(|&i| !nodes[circle[i]].pending.owner.is_rolling_back());
    let chosen = eligible.min_by_key(cost);
    assert!(chosen.is_none_or(|i| i < circle.len()), "a victim is of the circle");
    chosen
}

/// The wait-for graph, by index.
struct Graph {
    edges: Vec<Vec<usize>>,
    forgotten: Vec<bool>,
}

impl Graph {
    fn new(nodes: &[Node]) -> Self {
        let mut by_owner: BTreeMap<OwnerId, Vec<usize>> = BTreeMap::new();
        let mut by_session: BTreeMap<SessionId, Vec<usize>> = BTreeMap::new();
        for (i, n) in nodes.iter().enumerate() {
            by_owner.entry(n.pending.ask.owner).or_default().push(i);
            if n.pending.ask.session.0 > 0 {
                by_session.entry(n.pending.ask.session).or_default().push(i);
            }
        }
        let none = Vec::new();
        let edges = nodes.iter().map(|n| {
            let of = |b: &Blocker| {
                let owners = by_owner.get(&b.owner).unwrap_or(&none).iter();
                let sessions = by_session.get(&b.session).unwrap_or(&none).iter();
                owners.chain(sessions).copied().collect::<Vec<_>>()
            };
            let mut to: Vec<usize> = n.blockers.iter().flat_map(of).collect();
            to.sort_unstable();
            to.dedup();
            to
        });
        let edges: Vec<Vec<usize>> = edges.collect();
        assert!(edges.iter().flatten().all(|&to| to < nodes.len()));
        let forgotten = vec![false; nodes.len()];
        Graph { edges, forgotten }
    }

    /// Removes a waiter that no longer blocks any other.
    fn forget(&mut self, node: usize) {
        assert!(!self.forgotten[node], "a waiter is forgotten once");
        self.forgotten[node] = true;
    }

    /// The first cycle, found depth first without recursion.
    fn circle(&self) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Done,
        }
        assert_eq!(self.edges.len(), self.forgotten.len(), "each waiter has its edges");
        let mut marks = vec![Mark::New; self.edges.len()];
        for start in 0..self.edges.len() {
            if marks[start] != Mark::New || self.forgotten[start] {
                continue;
            }
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            marks[start] = Mark::OnPath;
            while let Some((node, next)) = path.last_mut() {
                let Some(&to) = self.edges[*node].get(*next) else {
                    marks[*node] = Mark::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match marks[to] {
                    Mark::New if !self.forgotten[to] => {
                        marks[to] = Mark::OnPath;
                        path.push((to, 0));
                    }
                    Mark::OnPath => {
                        let from = path.iter().position(|p| p.0 == to);
                        let from = from.expect("what is marked so is on the path");
                        let circle: Vec<usize> = path[from..].iter().map(|p| p.0).collect();
                        assert!(
                            circle.iter().all(|&n| !self.forgotten[n]),
                            "who is forgotten is passed"
                        );
                        let mut steps = circle.windows(2);
                        debug_assert!(
                            steps.all(|s| self.edges[s[0]].contains(&s[1])),
                            "each waits"
                        );
                        return Some(circle);
                    }
                    Mark::New | Mark::Done => {}
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> Graph {
        let edges: Vec<Vec<usize>> = edges.iter().map(|e| e.to_vec()).collect();
        let forgotten = vec![false; edges.len()];
        Graph { edges, forgotten }
    }

    #[test]
    fn circles_are_found_one_after_another_and_trees_have_none() {
        assert_eq!(graph(&[&[1, 2], &[3], &[3], &[]]).circle(), None);
        let mut g = graph(&[&[1], &[2], &[0, 3], &[4], &[3], &[5]]);
        assert_eq!(g.circle(), Some(vec![0, 1, 2]));
        g.forget(2);
        assert_eq!(g.circle(), Some(vec![3, 4]));
        g.forget(4);
        assert_eq!(g.circle(), Some(vec![5]));
        g.forget(5);
        assert_eq!(g.circle(), None);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<Vec<usize>> = (0..200_000).map(|n| vec![(n + 1) % 200_000]).collect();
        let forgotten = vec![false; edges.len()];
        assert_eq!(Graph { edges, forgotten }.circle().map(|c| c.len()), Some(200_000));
    }
}
