//! Turns (CPU slots, run permits): of the threads that run requests, only about as many compute at
//! a time as there are processors, each on a processor of its own. SQL Server's schedulers do the
//! same; where a thread gives up its turn here, a thread yields its scheduler there.
//!
//! Why. The kernel may take a thread off its processor while the thread holds a row lock. Then
//! every thread that wants that row waits, and each wait costs two thread switches. Here a request
//! keeps its turn until it waits, ends, or has used up its quantum while others want a turn. A
//! thread that ends another thread's wait does not wake it at once: the sleeping thread is woken
//! when there is a turn for it. It then goes on at once, on the processor of the thread that gave
//! up its turn. Left to itself, the kernel would often put two of these threads on one processor
//! while another processor is idle.
//!
//! ```text
//! ask, adopt ──> computes ──> release       a request begins and ends
//!                 │  ^ │  ^
//!                 │  │ │  └─ rest           waits for a lock, a grant, time: sleeps until
//!                 │  └─┘                    it gets a turn, before others: it may hold locks
//!                 └─ aside                  waits for the disk, the log, a mutex held for long:
//!                                           gets a turn back at once, even beyond the limit
//! ```
//! `look` is called between statements. A thread gives up its turn there in three cases: others
//! want a turn and its quantum is used up; threads whose wait has ended want a turn and it holds no
//! locks itself; more threads compute than the limit allows. Turns are then given in this order:
//!
//!  1. threads whose wait has ended (*woken*); they may hold locks
//!  2. threads that gave up a turn with a part of their quantum left (*paused*): their data is
//!     still in their processor's cache
//!  3. requests that have not begun (*new*)
//!  4. threads that have used up a quantum (*yielded*), so that a short request does not wait for
//!     long computations
//!
//! Invariants
//!  1. A thread that may hold a latch or a mutex does not wait for a turn. So a thread that waits
//!     for a turn delays others at most by its locks, and a thread that waits for a lock has no
//!     turn.
//!  2. No turn is free while a thread or request wants one: returning a turn and asking for one
//!     happen under the same mutex. `start` is called without it.
//!  3. When a turn is wanted and no turn has changed hands for the longest quantum, the monitor
//!     gives one more. So a thread that never looks, or blocks in a wait that is not counted,
//!     delays others but stops nobody.
//!  4. Threads that never took a turn are not counted, nor are simulated threads.
//!  5. A processor belongs to at most one turn. A thread with a turn is bound (pinned) to the
//!     turn's processor, or to none. It is not pinned when its turn is beyond the limit, was free
//!     when the thread took it, was given up for a system call, or has lasted longer than
//!     [`BOUND_NS`] while others wanted one; then the kernel chooses its processor. When `look`
//!     finds a thread on the processor of another turn, it moves the thread to its own processor;
//!     the thread stays pinned there only while its turn is short. A thread that rests may still be
//!     pinned to its former processor. When a thread goes to sleep, the next thread gets the
//!     processor on which the first one ran, unless that belongs to another turn: the kernel may
//!     have moved either thread.
//!  6. A thread that came back beyond the limit gives up its turn at a look after [`BEYOND_NS`],
//!     unless its request may hold locks. Otherwise all threads that came back at once from one
//!     wait, such as that for a longer log, would go on side by side and queue at each latch.
//!  7. When the process has a quota (it may use less than all the time of its processors), no
//!     thread is pinned: other processes with such a quota would be pinned to the same processors.
//!
//! Cost: an uncontended mutex each time a turn is taken or returned, and a clock reading each time
//! one is taken. A system call when a turn passes to a thread that is not pinned to its processor,
//! and when a pinned thread ends or goes aside. A `look` costs two relaxed loads while no one wants
//! a turn; else a clock reading, or where statements are short one in [`QUICK_LOOKS`], and two
//! system calls and a move when the thread is not on its turn's processor.

use crate::clock::monotonic_ns;
use crate::processor::{self, Bound};
use crate::sync::PaddedCell;
use crate::wait::{WaitKind, record_signal};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// SQL Server's quantum. After this a thread that holds no locks gives up its turn, if the turn is
/// wanted by requests that have not begun, or by threads under way that may hold locks.
const QUANTUM_NS: u64 = 4_000_000;
/// The quantum is this many times as long when all threads that want a turn have used up a quantum
/// and only wait for each other. Each exchange costs the data in the processor's cache: 0.1 to 0.2
/// ms with 32 sessions that insert.
const AMONG_LONG: u64 = 4;
/// The quantum is this many times as long for a thread that may hold locks: it should rather
/// release them first.
const WITH_LOCKS: u64 = 2;
/// A thread that has computed longer than this while others want a turn is no longer pinned. If the
/// kernel takes it off its processor for another thread, it can then continue on an idle processor;
/// it may hold a latch that others want.
const BOUND_NS: u64 = 1_000_000;
/// A thread beyond the limit gives up its turn after this, if its request holds no locks. A request
/// that is done sooner had better go on.
const BEYOND_NS: u64 = 500_000;
/// The interval of the monitor's looks while any thread computes.
const LOOK_NS: u64 = 4_000_000;
/// Every so many turns, one goes to a request or thread that would not be next: by turns to the
/// first new request and the first yielded thread.
const AGING: u64 = 16;
/// After so many looks without any change the monitor sleeps until it is needed.
const IDLE_LOOKS: u32 = 250;

/// When looks follow each other within [`QUICK_NS`], one of so many reads the clock.
const QUICK_LOOKS: u32 = 15;
const QUICK_NS: u64 = 2_000;

/// Starts a request. It is called with a turn for it; when it returns false, the turn is given
/// back.
pub type Start = Arc<dyn Fn() -> bool + Send + Sync>;

/// Observes a thread that computes for others. Threads that may hold latches call it, so it waits
/// for nothing but short mutexes of its own.
pub trait Watch: Send + Sync {
    /// The watched thread gives up its turn to wait. `long`: for other threads, or for a time; else
    /// for something that mostly takes less than a millisecond.
    fn waits(&self, long: bool);

    /// The watched thread goes on.
    fn goes_on(&self);

    /// Called about every [`LOOK_NS`] while any thread computes.
    fn looks(&self);
}

enum TurnRequest {
    Thread(Arc<Seat>),
    Start(Start),
}

/// What a thread has while it computes.
#[derive(Clone, Copy)]
struct Turn {
    since_ns: u64,
    on: Processor,
}

/// The number of the processor that belongs to a turn, if one does.
type Processor = Option<usize>;

/// A thread's looks while others want a turn. Separate cells, as each look changes them.
struct Looks {
    /// So many further looks need not read the clock.
    spared: Cell<u32>,
    /// How many looks were spared at the last clock reading.
    of: Cell<u32>,
    /// The last clock reading.
    at_ns: Cell<u64>,
}

/// The place where a thread waits for a turn.
struct Seat {
    given: Mutex<Option<Turn>>,
    came: Condvar,
    bound: Bound,
}

struct State {
    limit: usize,
    /// Processors that belong to no turn.
    free: Vec<usize>,
    computing: usize,
    /// Threads whose wait has ended and that want a turn. They were under way, and may hold locks.
    woken: VecDeque<Arc<Seat>>,
    /// Threads that let others go first, with a part of their quantum left.
    paused: VecDeque<Arc<Seat>>,
    /// Requests that have not begun.
    new: VecDeque<Start>,
    /// Threads that have used up a quantum.
    yielded: VecDeque<Arc<Seat>>,
    /// Turns that went to a thread or request that had waited.
    handed: u64,
    /// Changes whenever a turn is taken or given back.
    moves: u64,
    monitor: Monitor,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Monitor {
    None,
    Looks,
    Sleeps,
}

static STATE: Mutex<State> = Mutex::new(State {
    limit: usize::MAX,
    free: Vec::new(),
    computing: 0,
    woken: VecDeque::new(),
    paused: VecDeque::new(),
    new: VecDeque::new(),
    yielded: VecDeque::new(),
    handed: 0,
    moves: 0,
    monitor: Monitor::None,
});
static MONITOR_WANTED: Condvar = Condvar::new();
/// What each look reads of the state without its mutex.
struct TurnSummary {
    /// How many threads and requests want a turn, and how many of these go before new requests.
    wanting: AtomicUsize,
    under_way: AtomicUsize,
    woken: AtomicUsize,
    /// How many requests that have not begun want one.
    new: AtomicUsize,
    /// Whether more compute than the limit says.
    beyond: AtomicBool,
}

static SHOWN: PaddedCell<TurnSummary> = PaddedCell(TurnSummary {
    wanting: AtomicUsize::new(0),
    under_way: AtomicUsize::new(0),
    woken: AtomicUsize::new(0),
    new: AtomicUsize::new(0),
    beyond: AtomicBool::new(false),
});

/// Whom the monitor calls.
static LOOKING: Mutex<Vec<Weak<dyn Watch>>> = Mutex::new(Vec::new());

thread_local! {
    static WATCH: OnceCell<Arc<dyn Watch>> = const { OnceCell::new() };
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
    static LOOKS: Looks =
        const { Looks { spared: Cell::new(0), of: Cell::new(0), at_ns: Cell::new(0) } };
}

impl Looks {
    /// Whether this look reads the clock.
    fn is_due(&self) -> bool {
        let spared = self.spared.get();
        self.spared.set(spared.saturating_sub(1));
        spared == 0
    }

    /// A look has read the clock. The next statements are expected to take as long as the last
    /// ones: while these were short, about twice as many looks are spared as before.
    fn note(&self, now: u64) {
        let of = self.of.get();
        let quick = now - self.at_ns.replace(now) < u64::from(of + 1) * QUICK_NS;
        let of = if quick { (2 * of + 1).min(QUICK_LOOKS - 1) } else { 0 };
        self.of.set(of);
        self.spared.set(of);
    }
}

impl State {
    fn is_wanted(&self) -> bool {
        self.wanting_threads() + self.new.len() > 0
    }

    fn is_free(&self) -> bool {
        self.computing < self.limit && !self.is_wanted()
    }

    fn begin(&mut self) {
        self.computing += 1;
        self.moves += 1;
        if self.is_beyond() {
            SHOWN.beyond.store(true, Relaxed);
        }
        if self.monitor == Monitor::Sleeps {
            self.monitor = Monitor::Looks;
            MONITOR_WANTED.notify_one();
        }
    }

    fn end(&mut self, on: Processor) {
        assert!(self.computing > 0, "whoever gives a turn back has one");
        debug_assert!(on.is_none_or(|on| !self.free.contains(&on)), "rule 5: it was one turn's");
        self.computing -= 1;
        self.moves += 1;
        self.free.extend(on);
        if SHOWN.beyond.load(Relaxed) && !self.is_beyond() {
            SHOWN.beyond.store(false, Relaxed);
        }
    }

    fn is_beyond(&self) -> bool {
        self.computing > self.limit
    }

    /// A processor for a turn: the preferred one if that is free, else the one that was freed last.
    fn processor(&mut self, preferred: Processor) -> Processor {
        let at = preferred.and_then(|p| self.free.iter().position(|free| *free == p));
        let last = || self.free.len().checked_sub(1);
        at.or_else(last).map(|at| self.free.swap_remove(at))
    }

    /// Takes the next thread or request, and counts its turn.
    fn next(&mut self) -> Option<TurnRequest> {
        self.handed = self.handed.wrapping_add(1);
        let next = self.aged().or_else(|| self.first())?;
        self.show();
        self.begin();
        Some(next)
    }

    fn first(&mut self) -> Option<TurnRequest> {
        let under_way = self.woken.pop_front().or_else(|| self.paused.pop_front());
        let first = under_way.map(TurnRequest::Thread);
        first.or_else(|| self.first_new()).or_else(|| self.first_yielded())
    }

    /// A new request or yielded thread out of order, when it is time for that.
    fn aged(&mut self) -> Option<TurnRequest> {
        match self.handed % (2 * AGING) {
            0 => self.first_new(),
            AGING => self.first_yielded(),
            _ => None,
        }
    }

    fn first_new(&mut self) -> Option<TurnRequest> {
        self.new.pop_front().map(TurnRequest::Start)
    }

    fn first_yielded(&mut self) -> Option<TurnRequest> {
        self.yielded.pop_front().map(TurnRequest::Thread)
    }

    /// The threads under way that want a turn.
    fn wanting_threads(&self) -> usize {
        self.woken.len() + self.paused.len() + self.yielded.len()
    }

    fn show(&self) {
        SHOWN.wanting.store(self.wanting_threads() + self.new.len(), Relaxed);
        SHOWN.woken.store(self.woken.len(), Relaxed);
        SHOWN.under_way.store(self.woken.len() + self.paused.len(), Relaxed);
        SHOWN.new.store(self.new.len(), Relaxed);
    }
}

/// What a thread does after it gave up its turn; this decides about its processor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextActivity {
    /// The thread sleeps at once: the next thread is pinned to the processor where the first one
    /// is, if that is free.
    Sleeps,
    /// The thread may need the processor for a system call: the kernel chooses one for the next
    /// thread.
    Works,
}

impl Turn {
    /// The thread of this turn goes to sleep at once.
    fn sleeps(self) -> NextActivity {
        if self.on.is_some() { NextActivity::Sleeps } else { NextActivity::Works }
    }

    fn used_ns(self) -> u64 {
        monotonic_ns() - self.since_ns
    }
}

/// Gives free turns to those who want one.
fn hand_on(mut state: MutexGuard<'static, State>, mut then: NextActivity) {
    while state.computing < state.limit {
        let Some(next) = state.next() else { return };
        state = started(state, next, then);
        // The first one got the processor.
        then = NextActivity::Works;
    }
}

/// Starts or wakes one that has a turn, which is counted already.
fn started(
    mut state: MutexGuard<'static, State>,
    next: TurnRequest,
    then: NextActivity,
) -> MutexGuard<'static, State> {
    let goes = match next {
        TurnRequest::Thread(seat) => {
            let on = match then {
                // If another turn's thread is there by chance, the kernel moves it.
                NextActivity::Sleeps => state.processor(Some(processor::here())),
                NextActivity::Works => state.processor(None),
            };
            drop(state);
            seat.bound.bind(on.filter(|_| then == NextActivity::Sleeps));
            seat.give(on);
            true
        }
        TurnRequest::Start(start) => {
            drop(state);
            start()
        }
    };
    let mut state = STATE.lock();
    if !goes {
        state.end(None);
    }
    state
}

/// Sets how many threads may compute at a time.
pub fn limit(turns: usize) {
    let processors = processor::numbers();
    let mut state = STATE.lock();
    state.limit = turns.max(1);
    if state.computing == 0 {
        state.free = if processors.len() > state.limit { Vec::new() } else { processors };
    }
    if state.monitor == Monitor::None {
        state.monitor = Monitor::Looks;
        crate::task::spawn("scheduler monitor", monitor);
    }
    hand_on(state, NextActivity::Works);
}

/// Asks for a turn for a new request. True when a turn is free: the caller [`adopt`]s it or gives
/// it back. Else `start` is called when there is a turn, by whatever thread gives it.
pub fn ask(start: impl FnOnce() -> Start) -> bool {
    let mut state = STATE.lock();
    if state.is_free() {
        state.begin();
        return true;
    }
    state.new.push_back(start());
    state.show();
    false
}

/// Gives back a turn that no thread has adopted.
pub fn give_back() {
    ended(None, NextActivity::Works);
}

/// Gives up a turn and its processor for others.
fn ended(on: Processor, then: NextActivity) {
    let mut state = STATE.lock();
    state.end(on);
    hand_on(state, then);
}

/// This thread computes with a turn that was asked for.
pub fn adopt() {
    let (here, since_ns) = (processor::here(), monotonic_ns());
    let on = STATE.lock().processor(Some(here));
    let had = TURN.replace(Some(Turn { since_ns, on }));
    assert!(had.is_none(), "a thread has one turn");
}

/// Waits for a turn: this thread begins to compute for a request for which other threads compute,
/// too.
pub fn enter() {
    let resting = Rest { seat: seat(), used_ns: 0 };
    resting.give_up();
}

/// This thread's work is done: others may have its turn.
pub fn release() {
    let turn = TURN.take().expect("whoever gives a turn back has one");
    ended(turn.on, NextActivity::Works);
    // When it is woken again, it need not run there.
    stay_on(None);
}

/// From now on `watch` is told when this thread waits.
pub fn watched_by(watch: Arc<dyn Watch>) {
    let first = WATCH.with(|place| place.set(watch).is_ok());
    assert!(first, "a thread is watched by one");
}

/// From now on the monitor calls `watch` while any thread computes.
pub fn look_by(watch: Weak<dyn Watch>) {
    let mut looking = LOOKING.lock();
    looking.retain(|one| one.strong_count() > 0);
    looking.push(watch);
}

/// This thread has given up its turn. Its watch is told so, and again when this is dropped.
struct TurnPause;

impl TurnPause {
    fn begins(long: bool) -> TurnPause {
        tell(|watch| watch.waits(long));
        TurnPause
    }
}

impl Drop for TurnPause {
    fn drop(&mut self) {
        tell(|watch| watch.goes_on());
    }
}

fn tell(what: impl Fn(&dyn Watch)) {
    // A thread that ends has no watch any more.
    let _ended = WATCH.try_with(|watch| watch.get().map(|watch| what(&**watch)));
}

/// Keeps this thread's turn for its next request. False when others are to have it.
pub fn renew() -> bool {
    let now = monotonic_ns();
    let turn = TURN.get().expect("whoever renews a turn has one");
    let wanted = SHOWN.wanting.load(Relaxed) > 0;
    if wanted && now - turn.since_ns > quantum() || SHOWN.under_way.load(Relaxed) > 0 {
        return false;
    }
    // While others want a turn, requests that follow each other share one quantum.
    let since_ns = if wanted { turn.since_ns } else { now };
    TURN.set(Some(Turn { since_ns, ..turn }));
    true
}

/// A thread without a turn. The thread that ends its wait gives it one.
#[derive(Clone)]
pub(crate) struct Rest {
    seat: Arc<Seat>,
    /// What it has used of its quantum.
    used_ns: u64,
}

/// A rest for this thread; none when it has no turn.
pub(crate) fn resting() -> Option<Rest> {
    let resting = |turn: Turn| Rest { seat: seat(), used_ns: turn.used_ns().min(quantum()) };
    TURN.get().map(resting)
}

impl Rest {
    /// Gives up the turn and waits until [`Rest::end`] has given another. At the deadline it
    /// returns false, and the thread has no turn. The caller holds no latch and no mutex.
    pub(crate) fn rest(&self, deadline_ns: Option<u64>) -> bool {
        let turn = TURN.take().expect("who rests had a turn");
        let _waiting = TurnPause::begins(true);
        ended(turn.on, turn.sleeps());
        self.seat.wait_until(self.used_ns, deadline_ns)
    }

    /// Waits for a turn that is on its way though the deadline has passed.
    pub(crate) fn wait(&self) {
        self.seat.wait_until(self.used_ns, None);
    }

    /// Asks for a turn itself, since no other thread will end this rest.
    pub(crate) fn give_up(&self) {
        self.clone().end();
        self.wait();
    }

    /// The thread may go on: it is woken when there is a turn for it.
    pub(crate) fn end(self) {
        let mut state = STATE.lock();
        if state.is_free() {
            state.begin();
            let on = state.processor(self.seat.bound.to());
            drop(state);
            self.seat.bound.stay(on);
            self.seat.give(on);
        } else {
            state.woken.push_back(self.seat);
            state.show();
        }
    }
}

/// Gives up the turn while the thread blocks in something that it may wait for with latches held.
/// Takes a turn back at once afterwards.
pub fn aside<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(turn) = TURN.take() else { return blocking() };
    let used_ns = turn.used_ns();
    let _waiting = TurnPause::begins(false);
    ended(turn.on, NextActivity::Works);
    // It comes back on whatever processor has room.
    stay_on(None);
    let _back = TurnReturn { used_ns };
    blocking()
}

struct TurnReturn {
    used_ns: u64,
}

impl Drop for TurnReturn {
    fn drop(&mut self) {
        let here = processor::here();
        let on = {
            let mut state = STATE.lock();
            state.begin();
            state.processor(Some(here))
        };
        TURN.set(Some(Turn { since_ns: monotonic_ns() - self.used_ns, on }));
    }
}

/// Called between two statements: gives up the turn when others want one and this thread has had it
/// for a while. `holds_locks`: other threads may wait for locks of this one, so it keeps its turn
/// longer.
#[inline]
pub fn look(holds_locks: bool) {
    let beyond = SHOWN.beyond.load(Relaxed) && !holds_locks;
    if beyond || SHOWN.wanting.load(Relaxed) > 0 {
        look_at_those(beyond, holds_locks);
    }
}

/// The slow part: others want a turn, or too many threads compute.
fn look_at_those(beyond: bool, holds_locks: bool) {
    let gives_way = SHOWN.woken.load(Relaxed) > 0 && !holds_locks;
    if !gives_way && !LOOKS.with(Looks::is_due) {
        return;
    }
    look_closely(match holds_locks {
        true => quantum() * WITH_LOCKS,
        false if gives_way => 0,
        false if beyond => BEYOND_NS,
        false => quantum(),
    });
}

/// How long a turn lasts while others want it, without locks.
fn quantum() -> u64 {
    let soon = SHOWN.new.load(Relaxed) > 0 || SHOWN.under_way.load(Relaxed) > 0;
    if soon { QUANTUM_NS } else { QUANTUM_NS * AMONG_LONG }
}

#[cold]
fn look_closely(quantum_ns: u64) {
    let Some(turn) = TURN.get() else { return };
    let now = monotonic_ns();
    LOOKS.with(|looks| looks.note(now));
    if now - turn.since_ns < quantum_ns {
        let for_long = now - turn.since_ns > BOUND_NS;
        if let Some(on) = turn.on.filter(|on| *on != processor::here()) {
            go_home(turn, on);
        }
        if for_long {
            stay_on(None);
        }
        return;
    }
    // It keeps the rest of its quantum for later.
    let used_ns = Some(now - turn.since_ns).filter(|used| *used < quantum());
    let mut state = STATE.lock();
    let beyond = quantum_ns == BEYOND_NS && state.is_beyond();
    if used_ns.is_some() && state.woken.is_empty() && !beyond {
        return;
    }
    if state.is_wanted() || beyond {
        let seat = seat();
        if used_ns.is_some() {
            state.paused.push_back(Arc::clone(&seat));
        } else {
            state.yielded.push_back(Arc::clone(&seat));
        }
        state.end(turn.on);
        state.show();
        // From here on this thread has no turn: a request that is started here may have to wait for
        // a mutex.
        TURN.set(None);
        hand_on(state, turn.sleeps());
        seat.wait_until(used_ns.unwrap_or(0), None);
        record_signal(WaitKind::SosSchedulerYield, now);
    } else {
        TURN.set(Some(Turn { since_ns: now, ..turn }));
    }
}

/// Unpins this thread, unless it is pinned to `on`.
fn stay_on(on: Processor) {
    SEAT.with(|seat| {
        if let Some(seat) = seat.get() {
            seat.bound.stay(on);
        }
    });
}

/// This thread is not on its turn's processor; the kernel may have woken it elsewhere. If no other
/// turn has the processor where it is, its turn takes that one. Else the thread moves to its own
/// processor, because the kernel would leave the two threads on one processor for ten milliseconds
/// while another one is idle.
fn go_home(turn: Turn, on: usize) {
    let here = processor::here();
    let mut state = STATE.lock();
    if let Some(at) = state.free.iter().position(|free| *free == here) {
        state.free[at] = on;
        TURN.set(Some(Turn { on: Some(here), ..turn }));
        return;
    }
    drop(state);
    seat().bound.bind(Some(on));
}

/// Whether this thread is pinned to a processor.
pub(crate) fn is_bound() -> bool {
    SEAT.with(|seat| seat.get().is_some_and(|seat| seat.bound.to().is_some()))
}

fn seat() -> Arc<Seat> {
    let new = || {
        let (given, came) = Default::default();
        Arc::new(Seat { given, came, bound: Bound::none() })
    };
    SEAT.with(|seat| Arc::clone(seat.get_or_init(new)))
}

impl Seat {
    fn give(&self, on: Processor) {
        let mut given = self.given.lock();
        assert!(given.is_none(), "a thread is given one turn");
        *given = Some(Turn { since_ns: 0, on });
        drop(given);
        self.came.notify_one();
    }

    /// Waits until this thread has been given a turn; false at the deadline. The thread has used
    /// `used_ns` of its quantum already.
    fn wait_until(&self, used_ns: u64, deadline_ns: Option<u64>) -> bool {
        let mut given = self.given.lock();
        while given.is_none() {
            let Some(deadline_ns) = deadline_ns else {
                self.came.wait(&mut given);
                continue;
            };
            let left = deadline_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                return false;
            }
            self.came.wait_for(&mut given, Duration::from_nanos(left));
        }
        let turn = given.take().map(|turn| Turn { since_ns: monotonic_ns() - used_ns, ..turn });
        TURN.set(turn);
        true
    }
}

/// Invariant 3, for as long as the process lives.
fn monitor() {
    let (mut seen, mut still_ns, mut idle) = (u64::MAX, 0, 0);
    loop {
        crate::task::sleep_ns(LOOK_NS);
        let looking = LOOKING.lock().clone();
        looking.iter().filter_map(Weak::upgrade).for_each(|watch| watch.looks());
        let mut state = STATE.lock();
        let (still, wanted) = (state.moves == seen, state.is_wanted());
        still_ns = if still && wanted { still_ns + LOOK_NS } else { 0 };
        idle = if still && !wanted { idle + 1 } else { 0 };
        if idle > IDLE_LOOKS && state.computing == 0 {
            state.monitor = Monitor::Sleeps;
            while state.monitor == Monitor::Sleeps {
                MONITOR_WANTED.wait(&mut state);
            }
            idle = 0;
        }
        if still_ns >= quantum() * WITH_LOCKS
            && let Some(next) = state.next()
        {
            still_ns = 0;
            state = started(state, next, NextActivity::Works);
        }
        seen = state.moves;
        // The thread that got the turn may not have needed it, and others returned theirs
        // meanwhile.
        hand_on(state, NextActivity::Works);
    }
}
