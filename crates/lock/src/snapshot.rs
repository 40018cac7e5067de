//! What the views show: locks that are held or waited for, and who blocks whom.
//!
//! Each partition is consistent, the whole is not. No partition is latched while memory is
//! allocated: the space for its rows is allocated first, by the partition's count.

use crate::head::{Blocker, Duration, NONE};
use crate::mode::Mode;
use crate::owner::{Owner, OwnerId};
use crate::resource::{Kind, Resource};
use crate::shard::Shard;
use crate::table::Table;
use crate::ticket::{LockRequest, State};
use base::{DatabaseId, SessionId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// request_status of sys.dm_tran_locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LockStatus {
    /// Held.
    Grant,
    /// Held in one mode, and waiting for a stronger one.
    Convert,
    /// Waiting.
    Wait,
}

impl LockStatus {
    /// The name that sys.dm_tran_locks shows.
    pub const fn name(self) -> &'static str {
        match self {
            LockStatus::Grant => "GRANT",
            LockStatus::Convert => "CONVERT",
            LockStatus::Wait => "WAIT",
        }
    }
}

/// One row of sys.dm_tran_locks. A conversion is a row beside that of what is held already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockRow {
    /// What.
    pub resource: Resource,
    /// How: held, or wanted.
    pub mode: Mode,
    /// Held or waited for.
    pub status: LockStatus,
    /// By whom.
    pub owner: OwnerId,
    /// Its session.
    pub session: SessionId,
    /// For how long.
    pub duration: Duration,
    /// request_reference_count: short references, and one for a long lock.
    pub references: u32,
    /// When the wait began, monotonic; 0 for what is held.
    pub since_ns: u64,
    /// The row behind a transaction that is waited for.
    pub behind: Option<Resource>,
}

/// A request that waits, with the first in its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitRow {
    /// Who waits.
    pub owner: OwnerId,
    /// Its session.
    pub session: SessionId,
    /// What for.
    pub resource: Resource,
    /// In which mode.
    pub mode: Mode,
    /// Since when, monotonic.
    pub since_ns: u64,
    /// The row behind a transaction that is waited for.
    pub behind: Option<Resource>,
    /// The first in its way: blocking_session_id.
    pub blocker: Option<Blocker>,
}

fn waiting_row(pending: &LockRequest, converts: bool) -> LockRow {
    let ask = &pending.ask;
    debug_assert_ne!(pending.state(), State::Granted, "who is granted has left the queue");
    debug_assert_ne!(pending.state(), State::Victim, "a victim has left the queue");
    LockRow {
        resource: ask.resource,
        mode: ask.mode,
        status: if converts { LockStatus::Convert } else { LockStatus::Wait },
        owner: ask.owner,
        session: ask.session,
        duration: ask.duration,
        references: 0,
        since_ns: pending.since_ns,
        behind: pending.behind.map(|b| b.row),
    }
}

/// Appends a partition's rows while there is room.
fn append(shard: &Shard, rows: &mut Vec<LockRow>) {
    let room = rows.capacity();
    let mut push = |row: LockRow| {
        if rows.len() < room {
            rows.push(row);
        }
    };
    for head in &shard.heads {
        debug_assert!(!head.is_idle(), "an idle head is forgotten");
        for h in head.holders(&shard.pools) {
            debug_assert!(h.refs > 0 || h.long, "who holds has a reason");
            push(LockRow {
                resource: head.resource,
                mode: h.mode,
                status: LockStatus::Grant,
                owner: h.owner,
                session: h.session,
                duration: if h.long { Duration::Long } else { Duration::Short },
                references: h.refs + u32::from(h.long),
                since_ns: 0,
                behind: None,
            });
        }
        for w in shard.pools.waiting(head.queue) {
            push(waiting_row(&w.pending, w.converts));
        }
    }
    debug_assert_eq!(rows.capacity(), room, "no memory is allocated under a latch");
}

impl Table {
    /// Every lock that is held or waited for, at most `limit`, in the order of resources.
    pub fn held_and_waiting(&self, limit: usize) -> Vec<LockRow> {
        let mut rows: Vec<LockRow> = Vec::new();
        for no in 0..self.shard_count() {
            let left = limit - rows.len();
            if left == 0 {
                break;
            }
            let count = self.shard_at(no).entries() as usize;
            rows.reserve_exact((count + 16).min(left));
            append(&self.shard_at(no), &mut rows);
            rows.truncate(limit);
        }
        rows.sort_by_key(|r| (r.resource, r.status, r.since_ns, r.owner));
        assert!(rows.len() <= limit);
        rows
    }

    /// Who holds one resource, by session, in no order.
    pub fn holders_of(&self, resource: Resource) -> Vec<(OwnerId, SessionId)> {
        let hash = self.hash(&resource);
        let shard = self.shard_of(hash);
        let head = shard.head(&resource, hash);
        let holders = head.into_iter().flat_map(|head| head.holders(&shard.pools));
        holders.map(|h| (h.owner, h.session)).collect()
    }

    /// The owners that hold any resource of one kind in a database, by session, in order. It looks
    /// at every lock, so it is for rare uses.
    pub fn holders_in(&self, database: DatabaseId, kind: Kind) -> BTreeSet<(OwnerId, SessionId)> {
        let mut found = BTreeSet::new();
        for no in 0..self.shard_count() {
            let shard = self.shard_at(no);
            for head in &shard.heads {
                if head.resource.kind() == kind && head.resource.database_id() == database {
                    found.extend(head.holders(&shard.pools).iter().map(|h| (h.owner, h.session)));
                }
            }
        }
        found
    }

    /// Every request that waits, in the order of requests.
    pub fn waits(&self) -> Vec<WaitRow> {
        let mut waiting: Vec<Arc<LockRequest>> = Vec::new();
        for no in 0..self.shard_count() {
            let shard = self.shard_at(no);
            for resource in shard.pools.waited_for() {
                let head = shard.head(&resource, self.hash(&resource));
                let head = head.expect("what is waited for has a head");
                let queue = shard.pools.waiting(head.queue);
                debug_assert!(!queue.is_empty(), "an empty queue is closed");
                waiting.extend(queue.iter().map(|w| Arc::clone(&w.pending)));
            }
        }
        waiting.sort_by_key(|p| p.number);
        debug_assert!(waiting.is_sorted_by(|a, b| a.number < b.number), "a number is given once");
        waiting.iter().map(|p| self.wait_row(p)).collect()
    }

    fn wait_row(&self, pending: &Arc<LockRequest>) -> WaitRow {
        let ask = &pending.ask;
        let blockers = {
            let shard = self.shard_of(pending.hash);
            let head = shard.head(&ask.resource, pending.hash);
            head.and_then(|h| h.blockers(&shard.pools, pending)).unwrap_or_default()
        };
        debug_assert!(blockers.iter().all(|b| b.owner != ask.owner), "nobody blocks himself");
        WaitRow {
            owner: ask.owner,
            session: ask.session,
            resource: ask.resource,
            mode: ask.mode,
            since_ns: pending.since_ns,
            behind: pending.behind.map(|b| b.row),
            blocker: blockers.first().copied(),
        }
    }

    /// Who blocks an owner: blocking_session_id of sys.dm_exec_requests.
    pub fn blocker_of(&self, owner: &Owner) -> Option<Blocker> {
        let id = owner.id();
        let wait = self.waits().into_iter().find(|w| w.owner == id)?;
        assert_eq!(wait.session, owner.session(), "an owner waits in its session");
        wait.blocker
    }

    /// Checks every invariant of the table's structure; for tests and simulations.
    ///
    /// # Panics
    /// When one is broken.
    pub fn verify(&self) {
        for no in 0..self.shard_count() {
            let shard = self.shard_at(no);
            let mut entries = 0;
            let open = shard.heads.iter().filter(|h| h.queue != NONE).count();
            assert_eq!(open, shard.pools.waited_for().count(), "a queue in use is a head's");
            for head in &shard.heads {
                entries += head.verify(&shard.pools);
                assert_eq!(self.shard_no(self.hash(&head.resource)), no, "a head is in its place");
            }
            assert_eq!(entries, shard.entries(), "entries are counted");
        }
    }
}
