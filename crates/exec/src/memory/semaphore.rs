//! The resource semaphores: how much query memory each statement gets, and the queue for it.
//!
//! A statement that sorts or hashes does not begin without the memory that it requires: it gets
//! that memory or waits in a queue (wait type RESOURCE_SEMAPHORE), first come, first served. While
//! it runs, its grant grows as long as there is room and no statement waits; otherwise its
//! operators spill.
//!
//! ```text
//!                      ┌──────────── target ────────────────────────────┐
//! regular (0)          │ granted: required + grown │ free │ for the next  │
//! small (1)            │ granted                   │ free                 │
//! ```
//! Small grants have a semaphore of their own. So a user who queries views to learn why everything
//! waits does not wait in the same queue.
//!
//! Invariants
//!  1. The grants of a semaphore never exceed its target, and all of them are reserved with
//!     `os::memory`.
//!  2. The queue is first come, first served: no statement overtakes a waiting one, and no grant
//!     grows while one waits. Forced grants are the exception.
//!  3. A session that holds a grant never waits for another: it would wait for itself. Its request
//!     is forced: it gets at once what is free of what it requires, or nothing.
//!  4. A session that waits here while a grantee waits for its locks is forced, too, after a second
//!     ([`ResourceSemaphores::relieve`]). So no cycle of waits through a semaphore lasts.
//!  5. A [`MemoryGrant`] that is dropped leaves no trace, granted or queued: errors and panics give
//!     everything back.
//!
//! A statement with a forced grant of nothing still runs: each operator has its 16 KB, whatever was
//! granted.

use base::{SessionId, SqlError, SqlResult, messages};
use os::clock::{self, monotonic_ns};
use os::memory::{Clerk, Memory, Reservation};
use os::sync::Mutex;
use os::values::ValueMemory;
use os::wait::{WaitKind, Waiter, Wake};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use work::Work;

/// Least growth of a grant, and the most that it grows by at once without need.
const STEP_BYTES_MIN: usize = 64 * 1024;
const STEP_BYTES_MAX: usize = 1024 * 1024;
/// What an operator requires: enough not to spill rows a few at a time.
pub(crate) const OPERATOR_BYTES: usize = 512 * 1024;
/// Grants do not grow into this part of a target: it is kept for statements that come later.
const KEPT_PART: usize = 8;
/// A session that holds locks for which a grantee waits, waits here no longer than this.
const RELIEF_NS: u64 = 1_000_000_000;

/// How long a statement waits for memory when `query wait (s)` is -1. SQL Server takes 25 times the
/// estimated cost then, which nothing here knows in seconds.
const QUERY_WAIT_MS: u64 = 1_200_000;

/// How query memory is shared out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workspace {
    /// What all regular grants have together.
    pub regular_bytes: usize,
    /// What all small ones have together.
    pub small_bytes: usize,
    /// The largest grant of a statement.
    pub query_bytes_max: usize,
    /// The largest small grant.
    pub small_query_bytes_max: usize,
    /// How long a statement waits before it gives up with error 8645.
    pub timeout_ms: u64,
}

impl Workspace {
    /// The shares under a limit of all memory. Three eighths of it are for queries; the buffer pool
    /// has half, and an eighth is for the rest. Of the queries' share, an eighth is for small
    /// grants. A statement gets a quarter of the regular part, as in SQL Server. Where that is less
    /// than 128 MB, it gets up to a quarter of the limit: at a limit of 128 MB it sorts with 32 MB.
    pub fn of_limit(limit_bytes: usize) -> Workspace {
        const MB: usize = 1024 * 1024;
        let all = limit_bytes / 8 * 3;
        let small_bytes = (all / 8).min(64 * MB);
        let regular_bytes = all - small_bytes;
        Workspace {
            regular_bytes,
            small_bytes,
            query_bytes_max: (regular_bytes / 4).max((limit_bytes / 4).min(128 * MB)),
            // SQL Server calls a grant small below 5 MB.
            small_query_bytes_max: (small_bytes / 2).min(4 * MB),
            timeout_ms: QUERY_WAIT_MS,
        }
    }
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Regular,
    Small,
}

/// What a statement asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    /// The statement does not begin with less.
    pub(crate) required_bytes: usize,
    /// Its grant does not grow beyond this.
    pub(crate) bytes_max: usize,
    /// The same if it had no hint.
    pub(crate) ideal_bytes: usize,
    /// Workers that share it; 1 where the statement runs alone.
    pub(crate) degree: usize,
}

/// A statement with its request, in a queue or with a grant.
struct Asker {
    ticket: u64,
    session: SessionId,
    waiter: Arc<Waiter>,
    request: Request,
    asked_at: i64,
    asked_ns: u64,
    timeout_ms: u64,
    /// From here on changed under the mutex only.
    granted: AtomicBool,
    granted_at: AtomicI64,
    granted_bytes: AtomicUsize,
    /// Only the run writes it.
    used_bytes: AtomicUsize,
    used_bytes_max: AtomicUsize,
}

/// The two semaphores of an instance.
pub struct ResourceSemaphores {
    workspace: Workspace,
    /// The account of large values, which no grant covers.
    values: Arc<ValueMemory>,
    /// `query wait (s)`: as [`Workspace::timeout_ms`], which it was in the beginning.
    timeout_ms: AtomicU64,
    /// `min memory per query (KB)`
    query_bytes_min: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    /// All grants together, on the account of the clerk.
    reservation: Reservation,
    semaphores: [Semaphore; 2],
    tickets: u64,
}

#[derive(Default)]
struct Semaphore {
    target_bytes: usize,
    granted_bytes: usize,
    /// By ticket.
    grantees: BTreeMap<u64, Arc<Asker>>,
    queue: VecDeque<Arc<Asker>>,
    timeouts: u64,
    forced: u64,
}

impl Semaphore {
    fn of(target_bytes: usize) -> Semaphore {
        Semaphore { target_bytes, ..Semaphore::default() }
    }
}

impl State {
    fn of(&mut self, kind: Kind) -> &mut Semaphore {
        &mut self.semaphores[kind as usize]
    }

    fn is_grantee(&self, session: SessionId) -> bool {
        let grantees = self.semaphores.iter().flat_map(|s| s.grantees.values());
        grantees.into_iter().any(|a| a.session == session)
    }

    /// The sessions for whose locks grantees wait, directly or through others.
    fn waited_for(&self, waits: &BTreeMap<SessionId, SessionId>) -> BTreeSet<SessionId> {
        let mut found = BTreeSet::new();
        for grantee in self.semaphores.iter().flat_map(|s| s.grantees.values()) {
            let mut at = grantee.session;
            while let Some(&next) = waits.get(&at).filter(|next| found.insert(**next)) {
                at = next;
            }
        }
        found
    }

    /// Memory within the target and the limit of all memory (invariant 1).
    fn take(&mut self, kind: Kind, bytes: usize, target_bytes: usize) -> bool {
        let granted = self.of(kind).granted_bytes;
        let fits = granted.checked_add(bytes).is_some_and(|n| n <= target_bytes);
        let taken = fits && self.reservation.grow(bytes).is_ok();
        if taken {
            self.of(kind).granted_bytes += bytes;
        }
        taken
    }

    /// Grants what a statement requires, if no statement waits.
    fn take_first(&mut self, request: Request) -> bool {
        let semaphore = self.of(request.kind);
        let (first, target_bytes) = (semaphore.queue.is_empty(), semaphore.target_bytes);
        first && self.take(request.kind, request.required_bytes, target_bytes)
    }

    fn grant(&mut self, asker: &Arc<Asker>, bytes: usize) {
        asker.granted_bytes.store(bytes, Relaxed);
        asker.granted_at.store(clock::now().0, Relaxed);
        asker.granted.store(true, Relaxed);
        let semaphore = self.of(asker.request.kind);
        semaphore.grantees.insert(asker.ticket, Arc::clone(asker));
        assert!(semaphore.granted_bytes <= semaphore.target_bytes, "invariant 1");
    }

    /// Grants at once what is free of what a statement requires.
    fn force(&mut self, asker: &Arc<Asker>) {
        let Request { kind, required_bytes, .. } = asker.request;
        let target_bytes = self.of(kind).target_bytes;
        let taken = self.take(kind, required_bytes, target_bytes);
        self.of(kind).forced += 1;
        self.grant(asker, if taken { required_bytes } else { 0 });
    }

    /// Grants to those who have waited longest, as far as memory goes. If no statement holds a
    /// grant and there still is not enough, other consumers have the rest of the limit: then the
    /// first one is forced.
    fn admit(&mut self, kind: Kind) {
        let target_bytes = self.of(kind).target_bytes;
        while let Some(first) = self.of(kind).queue.front().map(Arc::clone) {
            let bytes = first.request.required_bytes;
            if self.take(kind, bytes, target_bytes) {
                self.grant(&first, bytes);
            } else if self.of(kind).granted_bytes == 0 {
                self.force(&first);
            } else {
                return;
            }
            self.of(kind).queue.pop_front();
            first.waiter.signal();
        }
    }

    /// Forgets a statement (invariant 5).
    fn leave(&mut self, asker: &Asker) {
        let semaphore = self.of(asker.request.kind);
        if semaphore.grantees.remove(&asker.ticket).is_some() {
            let bytes = asker.granted_bytes.load(Relaxed);
            semaphore.granted_bytes -= bytes;
            self.reservation.shrink(bytes);
        } else {
            semaphore.queue.retain(|a| a.ticket != asker.ticket);
        }
        // The first in the other queue may have waited for what all memory together lacked.
        self.admit(Kind::Regular);
        self.admit(Kind::Small);
    }
}

impl ResourceSemaphores {
    /// Semaphores that take from this authority on this clerk's account.
    pub fn new(memory: &Arc<Memory>, clerk: &Arc<Clerk>, workspace: Workspace) -> Self {
        let reservation = memory.reserve(clerk, 0).expect("nothing always fits");
        let semaphores = [workspace.regular_bytes, workspace.small_bytes].map(Semaphore::of);
        let state = Mutex::new(State { reservation, semaphores, tickets: 0 });
        let timeout_ms = AtomicU64::new(workspace.timeout_ms);
        let query_bytes_min = AtomicUsize::new(0);
        let values = Arc::new(ValueMemory::new(memory));
        ResourceSemaphores { workspace, values, timeout_ms, query_bytes_min, state }
    }

    /// `query wait (s)`, where -1 leaves it to us, and `min memory per query (KB)`.
    pub fn configure(&self, query_wait_s: i32, query_min_kb: i32) {
        let wait_ms = u64::try_from(query_wait_s).map_or(self.workspace.timeout_ms, |s| s * 1_000);
        self.timeout_ms.store(wait_ms, Relaxed);
        self.query_bytes_min.store(query_min_kb.unsigned_abs() as usize * 1024, Relaxed);
    }

    /// The account of large values, for the threads of a request.
    pub fn values(&self) -> &Arc<ValueMemory> {
        &self.values
    }

    /// How the memory is shared out.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Waits for what a statement requires. The caller holds no latch.
    ///
    /// # Errors
    /// 8645 when it waited too long; the cancellation of the request.
    pub(crate) fn ask(&self, work: &Work, request: Request) -> SqlResult<MemoryGrant<'_>> {
        let least = self.query_bytes_min.load(Relaxed).min(request.bytes_max);
        let request = Request { required_bytes: request.required_bytes.max(least), ..request };
        let asker = {
            let mut state = self.state.lock();
            let asker = self.asker(&mut state, work, request);
            if state.is_grantee(asker.session) {
                state.force(&asker);
            } else if !state.take_first(request) {
                state.of(request.kind).queue.push_back(Arc::clone(&asker));
                state.admit(request.kind);
            } else {
                state.grant(&asker, request.required_bytes);
            }
            asker
        };
        // Made after the state is unlocked: dropping it takes the state's mutex.
        let grant = MemoryGrant { semaphores: self, asker };
        if grant.is_granted() { Ok(grant) } else { self.wait(grant) }
    }

    /// A grant that begins with nothing and does not wait: for a statement that may not need any.
    pub(crate) fn begin_empty(&self, work: &Work, request: Request) -> MemoryGrant<'_> {
        let asker = {
            let mut state = self.state.lock();
            let asker = self.asker(&mut state, work, Request { required_bytes: 0, ..request });
            state.grant(&asker, 0);
            asker
        };
        MemoryGrant { semaphores: self, asker }
    }

    /// Memory of an index build that sorts with so many workers, or alone: waits for what their
    /// sorts require, then takes more up to `bytes_max` for each where there is room.
    ///
    /// # Errors
    /// 8645 when it waited too long; the cancellation of the request.
    pub fn ask_for_build(
        &self,
        work: &Work,
        bytes_max: usize,
        degree: usize,
    ) -> SqlResult<BuildGrant<'_>> {
        let ideal_bytes = bytes_max.saturating_mul(degree).min(self.workspace.query_bytes_max);
        let request = Request {
            kind: Kind::Regular,
            required_bytes: (OPERATOR_BYTES * degree).min(ideal_bytes),
            bytes_max: ideal_bytes,
            ideal_bytes,
            degree,
        };
        let grant = self.ask(work, request)?;
        let mut wanted = ideal_bytes;
        while wanted > grant.bytes() && grant.grow_to(wanted) < wanted {
            wanted /= 2;
        }
        Ok(BuildGrant(grant))
    }

    fn wait<'s>(&'s self, grant: MemoryGrant<'s>) -> SqlResult<MemoryGrant<'s>> {
        let waiter = Arc::clone(&grant.asker.waiter);
        let deadline = grant.asker.asked_ns.saturating_add(grant.asker.timeout_ms * 1_000_000);
        loop {
            let wake = waiter.wait(WaitKind::ResourceSemaphore, Some(deadline));
            let mut state = self.state.lock();
            let error = match wake {
                Wake::Signalled if grant.is_granted() => return Ok(grant),
                // The signal was meant for an earlier wait.
                Wake::Signalled => continue,
                Wake::TimedOut if grant.is_granted() => {
                    waiter.clear_signal();
                    return Ok(grant);
                }
                Wake::TimedOut => {
                    state.of(grant.asker.request.kind).timeouts += 1;
                    SqlError::new(messages::QUERY_MEMORY_TIMEOUT, &[&"default", &POOL_ID])
                }
                Wake::Cancelled(why) => why.into(),
            };
            drop(state);
            drop(grant);
            // It may have been granted before it left the queue.
            waiter.clear_signal();
            return Err(error);
        }
    }

    /// Ends cycles of waits (invariant 4). `waits` returns the sessions that wait for a lock, each
    /// with the one it waits for. It is called only when a session has waited here for a while.
    pub fn relieve(&self, waits: impl FnOnce() -> Vec<(SessionId, SessionId)>) {
        let now = monotonic_ns();
        let long = |a: &Asker| now.saturating_sub(a.asked_ns) >= RELIEF_NS;
        let any = |state: &State| state.semaphores.iter().any(|s| s.queue.iter().any(|a| long(a)));
        if !any(&self.state.lock()) {
            return;
        }
        let waits: BTreeMap<SessionId, SessionId> = waits().into_iter().collect();
        let mut state = self.state.lock();
        let waited_for = state.waited_for(&waits);
        for kind in [Kind::Regular, Kind::Small] {
            let queue = std::mem::take(&mut state.of(kind).queue);
            for asker in queue {
                if long(&asker) && waited_for.contains(&asker.session) {
                    state.force(&asker);
                    asker.waiter.signal();
                } else {
                    state.of(kind).queue.push_back(asker);
                }
            }
            state.admit(kind);
        }
    }
}

/// The pool of all queries: there is no resource governor.
const POOL_ID: u32 = 2;

/// A statement's grant, or its place in the queue; given back when dropped.
pub(crate) struct MemoryGrant<'s> {
    semaphores: &'s ResourceSemaphores,
    asker: Arc<Asker>,
}

impl MemoryGrant<'_> {
    fn is_granted(&self) -> bool {
        self.asker.granted.load(Relaxed)
    }

    /// What is granted by now.
    pub(crate) fn bytes(&self) -> usize {
        self.asker.granted_bytes.load(Relaxed)
    }

    /// The most it may become.
    pub(crate) fn bytes_max(&self) -> usize {
        self.asker.request.bytes_max
    }

    /// Tries to grow to `wanted` bytes: a step more if there is room, no more while others wait.
    /// Returns what is granted then.
    pub(crate) fn grow_to(&self, wanted: usize) -> usize {
        let Request { kind, bytes_max, .. } = self.asker.request;
        let held = self.bytes();
        let more = wanted.saturating_sub(held);
        if wanted > bytes_max || more == 0 {
            return held;
        }
        let mut state = self.semaphores.state.lock();
        let semaphore = state.of(kind);
        let grown_max = semaphore.target_bytes - semaphore.target_bytes / KEPT_PART;
        if !semaphore.queue.is_empty() {
            return held;
        }
        let step = (held / 4).clamp(STEP_BYTES_MIN, STEP_BYTES_MAX);
        for more in [more.max(step).min(bytes_max - held), more] {
            if state.take(kind, more, grown_max) {
                self.asker.granted_bytes.store(held + more, Relaxed);
                return held + more;
            }
        }
        held
    }

    /// As the view shows it.
    pub(crate) fn row(&self) -> GrantRow {
        self.asker.row(None)
    }

    /// Notes for the views what the statement uses; that may be more than is granted.
    #[inline]
    pub(crate) fn note_used(&self, bytes: usize) {
        self.asker.used_bytes.store(bytes, Relaxed);
        if bytes > self.asker.used_bytes_max.load(Relaxed) {
            self.asker.used_bytes_max.store(bytes, Relaxed);
        }
    }
}

impl Drop for MemoryGrant<'_> {
    fn drop(&mut self) {
        self.semaphores.state.lock().leave(&self.asker);
    }
}

/// Memory of an index build, given back when dropped.
pub struct BuildGrant<'s>(MemoryGrant<'s>);

impl BuildGrant<'_> {
    /// Its bytes; 0 when it was forced and nothing was free.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Tells how much of it the build uses now, for the views.
    pub fn note_used(&self, bytes: usize) {
        self.0.note_used(bytes);
    }
}

/// A statement that was granted memory or waits for it, as sys.dm_exec_query_memory_grants shows
/// it. Times are wall times in nanoseconds.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "fields are named as the columns of the view")]
pub struct GrantRow {
    pub session_id: SessionId,
    pub request_time: i64,
    pub grant_time: Option<i64>,
    pub requested_bytes: usize,
    pub granted_bytes: Option<usize>,
    pub required_bytes: usize,
    pub used_bytes: usize,
    pub max_used_bytes: usize,
    pub ideal_bytes: usize,
    pub resource_semaphore_id: i16,
    pub is_small: bool,
    pub degree: usize,
    pub timeout_s: u64,
    /// Set while it waits.
    pub wait: Option<GrantWait>,
}

/// The place of a statement in its queue.
#[derive(Clone, Copy, Debug)]
pub struct GrantWait {
    /// How many are before it.
    pub order: usize,
    /// Since it asked.
    pub waited_ns: u64,
}

/// A semaphore as sys.dm_exec_query_resource_semaphores shows it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "fields are named as the columns of the view")]
pub struct SemaphoreRow {
    pub resource_semaphore_id: i16,
    pub target_bytes: usize,
    pub available_bytes: usize,
    pub granted_bytes: usize,
    pub used_bytes: usize,
    pub grantee_count: usize,
    pub waiter_count: usize,
    pub timeout_error_count: u64,
    pub forced_grant_count: u64,
}

impl Asker {
    fn row(&self, wait: Option<GrantWait>) -> GrantRow {
        let granted = wait.is_none();
        GrantRow {
            session_id: self.session,
            request_time: self.asked_at,
            grant_time: granted.then(|| self.granted_at.load(Relaxed)),
            requested_bytes: self.request.bytes_max,
            granted_bytes: granted.then(|| self.granted_bytes.load(Relaxed)),
            required_bytes: self.request.required_bytes,
            used_bytes: self.used_bytes.load(Relaxed),
            max_used_bytes: self.used_bytes_max.load(Relaxed),
            ideal_bytes: self.request.ideal_bytes,
            resource_semaphore_id: self.request.kind as i16,
            is_small: self.request.kind == Kind::Small,
            degree: self.request.degree,
            timeout_s: self.timeout_ms / 1_000,
            wait,
        }
    }
}

impl ResourceSemaphores {
    /// All statements with a grant, in the order of their requests; then the waiting ones, in their
    /// order.
    pub fn grants(&self) -> Vec<GrantRow> {
        let now = monotonic_ns();
        let state = self.state.lock();
        let mut rows = Vec::new();
        for semaphore in &state.semaphores {
            rows.extend(semaphore.grantees.values().map(|a| a.row(None)));
            rows.extend(semaphore.queue.iter().enumerate().map(|(order, a)| {
                let waited_ns = now.saturating_sub(a.asked_ns);
                a.row(Some(GrantWait { order, waited_ns }))
            }));
        }
        rows
    }

    /// Both semaphores.
    pub fn semaphores(&self) -> Vec<SemaphoreRow> {
        let state = self.state.lock();
        let row = |(id, s): (i16, &Semaphore)| SemaphoreRow {
            resource_semaphore_id: id,
            target_bytes: s.target_bytes,
            available_bytes: s.target_bytes - s.granted_bytes,
            granted_bytes: s.granted_bytes,
            used_bytes: s.grantees.values().map(|a| a.used_bytes.load(Relaxed)).sum(),
            grantee_count: s.grantees.len(),
            waiter_count: s.queue.len(),
            timeout_error_count: s.timeouts,
            forced_grant_count: s.forced,
        };
        (0..).zip(&state.semaphores).map(row).collect()
    }
}

impl ResourceSemaphores {
    /// A request with the next ticket.
    fn asker(&self, state: &mut State, work: &Work, request: Request) -> Arc<Asker> {
        state.tickets += 1;
        Arc::new(Asker {
            ticket: state.tickets,
            session: work.session(),
            waiter: Arc::clone(work.owner().waiter()),
            request,
            asked_at: clock::now().0,
            asked_ns: monotonic_ns(),
            timeout_ms: self.timeout_ms.load(Relaxed),
            granted: AtomicBool::new(false),
            granted_at: AtomicI64::new(0),
            granted_bytes: AtomicUsize::new(0),
            used_bytes: AtomicUsize::new(0),
            used_bytes_max: AtomicUsize::new(0),
        })
    }
}

#[cfg(test)]
mod tests;
