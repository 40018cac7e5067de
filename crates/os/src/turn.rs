//! Turns to compute: of the threads that run requests, only about as many compute at a time as
//! there are processors. SQL Server's schedulers do this; what gives its turn up there yields.
//!
//! A thread that the kernel takes off its processor while it holds a row's lock makes everybody who
//! wants that row wait, each with two switches of threads. Here a request runs until it waits or
//! ends. Who ends a wait does not wake the thread, but has it woken when there is a turn for it:
//! a thread that is woken goes on at once.
//!
//! ```text
//! ask, adopt ──> computes ──> release       a request begins and ends
//!                 │  ^ │  ^
//!                 │  │ │  └─ rest           a lock, a grant, time: until there is a turn again,
//!                 │  └─┘                    before others, since it may hold locks
//!                 └─ aside                  the disk, the log, a mutex that is held for long: back
//!                                           at once, beyond the limit if need be
//! look: between statements, one that others wait for goes behind them
//! ```
//!
//! Invariants
//!  1. Whoever may hold a latch or a mutex does not wait for a turn: who waits for a turn keeps
//!     others waiting by locks at most, and who waits for a lock has no turn.
//!  2. No turn is free while somebody wants one: giving one back and asking for one are under the
//!     same mutex. `start` is called without it.
//!  3. When no turn has changed hands for [`PATIENCE_NS`] while one is wanted, one more is given: a
//!     thread that never looks, or blocks where nobody counts it, delays others and stops nobody.
//!  4. Threads that never took a turn are not counted, nor are simulated ones.
//!
//! Cost: an uncontended mutex for each taking and giving back, a clock reading for each taking; of
//! `look`, one relaxed load while nobody wants a turn.

use crate::clock::monotonic_ns;
use crate::wait::{WaitKind, record_signal};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// A turn that others want is given up after this, where its request holds no locks.
const QUANTUM_NS: u64 = 2_000_000;
/// The same where it may hold some: they should rather be given back first.
const LONG_QUANTUM_NS: u64 = 4_000_000;
/// How long a turn is waited for when none changes hands.
const PATIENCE_NS: u64 = 4_000_000;
/// So often who came later goes before who was woken.
const AGING: u64 = 16;
/// After so many looks at nothing the monitor sleeps until it is needed.
const IDLE_LOOKS: u32 = 250;

/// Called with a turn for it; false gives the turn back.
pub type Start = Arc<dyn Fn() -> bool + Send + Sync>;

enum Wanting {
    Thread(Arc<Seat>),
    Start(Start),
}

/// Where a thread waits for a turn.
#[derive(Default)]
struct Seat {
    given: Mutex<bool>,
    came: Condvar,
}

struct State {
    limit: usize,
    computing: usize,
    /// Of those that want a turn, the ones that were under way, and may hold locks.
    woken: VecDeque<Arc<Seat>>,
    later: VecDeque<Wanting>,
    /// Threads among `later`.
    yielded: usize,
    /// Turns that somebody had waited for.
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
    computing: 0,
    woken: VecDeque::new(),
    later: VecDeque::new(),
    yielded: 0,
    handed: 0,
    moves: 0,
    monitor: Monitor::None,
});
static MONITOR_WANTED: Condvar = Condvar::new();
/// How many want a turn, and how many of these are threads under way.
static WANTING: AtomicUsize = AtomicUsize::new(0);
static WANTING_THREADS: AtomicUsize = AtomicUsize::new(0);
static WOKEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread has a turn, and since when.
    static SINCE_NS: Cell<Option<u64>> = const { Cell::new(None) };
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
}

impl State {
    fn is_wanted(&self) -> bool {
        !self.woken.is_empty() || !self.later.is_empty()
    }

    fn is_free(&self) -> bool {
        self.computing < self.limit && !self.is_wanted()
    }

    fn begin(&mut self) {
        self.computing += 1;
        self.moves += 1;
        if self.monitor == Monitor::Sleeps {
            self.monitor = Monitor::Looks;
            MONITOR_WANTED.notify_one();
        }
    }

    fn end(&mut self) {
        assert!(self.computing > 0, "whoever gives a turn back has one");
        self.computing -= 1;
        self.moves += 1;
    }

    /// Whose turn it is next, counted.
    fn next(&mut self) -> Option<Wanting> {
        self.handed = self.handed.wrapping_add(1);
        let ages = self.handed.is_multiple_of(AGING) && !self.later.is_empty();
        let woken = if ages { None } else { self.woken.pop_front() };
        let next = match woken {
            Some(seat) => Wanting::Thread(seat),
            None => {
                let next = self.later.pop_front()?;
                self.yielded -= usize::from(matches!(next, Wanting::Thread(_)));
                next
            }
        };
        self.show();
        self.begin();
        Some(next)
    }

    fn show(&self) {
        WANTING.store(self.woken.len() + self.later.len(), Relaxed);
        WOKEN.store(self.woken.len(), Relaxed);
        WANTING_THREADS.store(self.woken.len() + self.yielded, Relaxed);
    }
}

/// Gives what is free to those who want it.
fn hand_on(mut state: MutexGuard<'static, State>) {
    while state.computing < state.limit {
        let Some(next) = state.next() else { return };
        state = started(state, next);
    }
}

/// Has somebody go on with a turn that is counted for it already.
fn started(state: MutexGuard<'static, State>, next: Wanting) -> MutexGuard<'static, State> {
    drop(state);
    let goes = match next {
        Wanting::Thread(seat) => {
            seat.give();
            true
        }
        Wanting::Start(start) => start(),
    };
    let mut state = STATE.lock();
    if !goes {
        state.end();
    }
    state
}

/// From now on at most so many compute at a time.
pub fn limit(turns: usize) {
    let mut state = STATE.lock();
    state.limit = turns.max(1);
    if state.monitor == Monitor::None {
        state.monitor = Monitor::Looks;
        crate::task::spawn("scheduler monitor", monitor);
    }
    hand_on(state);
}

/// Asks for a turn: true when it is there at once (to be [`adopt`]ed or given back), else `start`
/// is called when there is one, from whatever thread gives it.
pub fn ask(start: impl FnOnce() -> Start) -> bool {
    let mut state = STATE.lock();
    if state.is_free() {
        state.begin();
        return true;
    }
    state.later.push_back(Wanting::Start(start()));
    state.show();
    false
}

/// Gives back a turn that no thread has adopted.
pub fn give_back() {
    let mut state = STATE.lock();
    state.end();
    hand_on(state);
}

/// This thread computes with a turn that was asked for.
pub fn adopt() {
    let had = SINCE_NS.replace(Some(monotonic_ns()));
    assert!(had.is_none(), "a thread has one turn");
}

/// This thread is done: others may have its turn.
pub fn release() {
    let had = SINCE_NS.take();
    assert!(had.is_some(), "whoever gives a turn back has one");
    give_back();
}

/// Goes on with this thread's turn for another request; false when others are to have it.
pub fn renew() -> bool {
    let now = monotonic_ns();
    let since = SINCE_NS.get().expect("whoever renews a turn has one");
    let wanted = WANTING.load(Relaxed) > 0 && now - since > QUANTUM_NS;
    if wanted || WANTING_THREADS.load(Relaxed) > 0 {
        return false;
    }
    SINCE_NS.set(Some(now));
    true
}

/// A thread without its turn, which is given one by whoever ends its wait.
#[derive(Clone)]
pub(crate) struct Resting(Arc<Seat>);

/// Where this thread would wait for what ends its rest; none when it has no turn.
pub(crate) fn resting() -> Option<Resting> {
    SINCE_NS.get().map(|_| Resting(seat()))
}

impl Resting {
    /// Gives the turn up and waits until [`Resting::end`] has given another, or the time has come:
    /// then it is false and the thread has none. The caller holds no latch and no mutex.
    pub(crate) fn rest(&self, deadline_ns: Option<u64>) -> bool {
        SINCE_NS.set(None);
        give_back();
        let given = self.0.wait_until(deadline_ns);
        if given {
            SINCE_NS.set(Some(monotonic_ns()));
        }
        given
    }

    /// Its end was on its way when the time had come.
    pub(crate) fn wait(&self) {
        self.0.wait_until(None);
        SINCE_NS.set(Some(monotonic_ns()));
    }

    /// Nobody will end it: this thread asks for a turn itself.
    pub(crate) fn give_up(&self) {
        self.clone().end();
        self.wait();
    }

    /// The thread is to go on: it is woken when there is a turn for it.
    pub(crate) fn end(self) {
        let mut state = STATE.lock();
        if state.is_free() {
            state.begin();
            drop(state);
            self.0.give();
        } else {
            state.woken.push_back(self.0);
            state.show();
        }
    }
}

/// Gives the turn up for what a thread may wait for while it holds latches, and takes it back at
/// once.
pub(crate) fn aside<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(since_ns) = SINCE_NS.take() else { return blocking() };
    give_back();
    let _back = Back { since_ns };
    blocking()
}

struct Back {
    since_ns: u64,
}

impl Drop for Back {
    fn drop(&mut self) {
        STATE.lock().begin();
        SINCE_NS.set(Some(self.since_ns));
    }
}

/// Between two statements: gives the turn up when others want it and this thread has had it for a
/// while. `holds_locks`: it would keep others waiting for these, too.
#[inline]
pub fn look(holds_locks: bool) {
    if WANTING.load(Relaxed) > 0 {
        let woken = WOKEN.load(Relaxed) > 0;
        look_closely(match holds_locks {
            true => LONG_QUANTUM_NS,
            false if woken => 0,
            false => QUANTUM_NS,
        });
    }
}

#[cold]
fn look_closely(quantum_ns: u64) {
    let Some(since_ns) = SINCE_NS.get() else { return };
    let now = monotonic_ns();
    if now - since_ns < quantum_ns {
        return;
    }
    let mut state = STATE.lock();
    if state.is_wanted() {
        let seat = seat();
        state.later.push_back(Wanting::Thread(Arc::clone(&seat)));
        state.yielded += 1;
        state.end();
        state.show();
        // From here on it has none: whoever is started here may have to wait for a mutex.
        SINCE_NS.set(None);
        hand_on(state);
        seat.wait_until(None);
        record_signal(WaitKind::SosSchedulerYield, now);
    }
    SINCE_NS.set(Some(monotonic_ns()));
}

fn seat() -> Arc<Seat> {
    SEAT.with(|seat| Arc::clone(seat.get_or_init(Arc::default)))
}

impl Seat {
    fn give(&self) {
        let mut given = self.given.lock();
        assert!(!*given, "a thread is given one turn");
        *given = true;
        drop(given);
        self.came.notify_one();
    }

    fn wait_until(&self, deadline_ns: Option<u64>) -> bool {
        let mut given = self.given.lock();
        while !*given {
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
        std::mem::take(&mut *given)
    }
}

/// Invariant 3, for as long as the process lives.
fn monitor() {
    let (mut seen, mut idle) = (u64::MAX, 0);
    loop {
        crate::task::sleep_ns(PATIENCE_NS);
        let mut state = STATE.lock();
        idle = if state.moves == seen && !state.is_wanted() { idle + 1 } else { 0 };
        if idle > IDLE_LOOKS && state.computing == 0 {
            state.monitor = Monitor::Sleeps;
            while state.monitor == Monitor::Sleeps {
                MONITOR_WANTED.wait(&mut state);
            }
            idle = 0;
        }
        if state.moves == seen
            && let Some(next) = state.next()
        {
            state = started(state, next);
        }
        seen = state.moves;
        // Whoever it was for may not have needed it, and others gave back meanwhile.
        hand_on(state);
    }
}
