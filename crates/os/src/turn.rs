//! Turns to compute: of the threads that run requests, only about as many compute at a time as
//! there are processors, each on one of its own. SQL Server's schedulers do this; what gives its
//! turn up there yields.
//!
//! A thread that the kernel takes off its processor while it holds a row's lock makes everybody who
//! wants that row wait, each with two switches of threads. Here a request runs until it waits or
//! ends. Who ends a wait does not wake the thread, but has it woken when there is a turn for it:
//! a thread that is woken goes on at once, on the processor of the one that gave its turn up. Left
//! to itself the system would have two of them on one processor while another is idle.
//!
//! ```text
//! ask, adopt ──> computes ──> release       a request begins and ends
//!                 │  ^ │  ^
//!                 │  │ │  └─ rest           a lock, a grant, time: until there is a turn again,
//!                 │  └─┘                    before others, since it may hold locks
//!                 └─ aside                  the disk, the log, a mutex that is held for long: back
//!                                           at once, beyond the limit if need be
//! look: between statements, one that others wait for lets them go first, and so does one beyond
//!       the limit; one whose quantum is not used up is the next after them: what it works with is
//!       still in its processor's cache. Then come requests that have not begun, and then those
//!       that have used a quantum up: a short request does not wait for all that compute for long
//! ```
//!
//! Invariants
//!  1. Whoever may hold a latch or a mutex does not wait for a turn: who waits for a turn keeps
//!     others waiting by locks at most, and who waits for a lock has no turn.
//!  2. No turn is free while somebody wants one: giving one back and asking for one are under the
//!     same mutex. `start` is called without it.
//!  3. When no turn has changed hands for the longest quantum while one is wanted, one more is
//!     given: a thread that never looks, or blocks where nobody counts it, delays others and stops
//!     nobody.
//!  4. Threads that never took a turn are not counted, nor are simulated ones.
//!  5. A thread with a turn is bound to the turn's processor, or to none: where a turn is beyond
//!     the number, or was given up for a system call, or was free, or lasts longer than
//!     [`BOUND_NS`] while others want one, the system puts its thread. A look that finds it where
//!     another turn's is moves it to its own, and binds it there if it has not been long. One that
//!     rests may still be bound to the one before. A processor is at most one turn's. Who goes to
//!     sleep leaves the one where he is, unless that is another turn's: the system may have moved
//!     either.
//!  6. Who came back beyond the limit gives his turn up at a look after [`BEYOND_NS`] of it, unless
//!     he may hold locks: else those who came back at once from one wait, like that for a longer
//!     log, would go on side by side, and queue up at each latch.
//!  7. Where the process may use less of its processors' time than all of it (a quota), nobody is
//!     bound: others with such a quota would be bound to the same ones.
//!
//! Cost: an uncontended mutex for each taking and giving back, a clock reading for each taking, a
//! system call where a turn is handed to a thread that is not bound to its processor, and where a
//! bound one is done or goes aside; of `look`, two relaxed loads while nobody wants a turn, else a
//! clock reading in [`QUICK_LOOKS`] where statements are short, and
//! two system calls and a move where the thread is elsewhere than on its turn's processor.

use crate::clock::monotonic_ns;
use crate::processor::{self, Bound};
use crate::sync::Padded;
use crate::wait::{WaitKind, record_signal};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A turn that requests want which have not begun, or are under way and may hold locks, is given up
/// after this, where its own holds none: SQL Server's quantum.
const QUANTUM_NS: u64 = 4_000_000;
/// So many times as long where all who want it have used a quantum up, and wait for each other: who
/// goes on after others finds little of what he works with in the processor's cache. Where 32
/// sessions insert, that costs 0.1 to 0.2 ms.
const AMONG_LONG: u64 = 4;
/// So many times as long where it may hold locks: they should rather be given back first.
const WITH_LOCKS: u64 = 2;
/// Who computes longer than this while others want a turn is bound no more: where the system takes
/// him off his processor for another thread while one is idle, he goes on there, perhaps with a
/// latch that others want.
const BOUND_NS: u64 = 1_000_000;
/// A turn beyond the limit is given up after this, where its request holds no locks: what answers
/// sooner is better let go on.
const BEYOND_NS: u64 = 500_000;
/// So often the monitor looks while anybody computes.
const LOOK_NS: u64 = 4_000_000;
/// So often somebody goes first who would not be the next, of those who have not begun and of those
/// who have used a quantum up by turns.
const AGING: u64 = 16;
/// After so many looks at nothing the monitor sleeps until it is needed.
const IDLE_LOOKS: u32 = 250;

/// Of so many looks that follow each other within [`QUICK_NS`] each, one reads the clock.
const QUICK_LOOKS: u32 = 15;
const QUICK_NS: u64 = 2_000;

/// Called with a turn for it; false gives the turn back.
pub type Start = Arc<dyn Fn() -> bool + Send + Sync>;

/// Who has something done by whatever threads compute, and must know when they do not. Called by
/// threads that may hold latches: it waits for nothing but short mutexes of its own.
pub trait Watch: Send + Sync {
    /// The thread that is watched gives its turn up to wait: `long` for others, or a time, else
    /// for what mostly takes less than a millisecond.
    fn waits(&self, long: bool);

    /// It goes on.
    fn goes_on(&self);

    /// While anybody computes, about every [`LOOK_NS`].
    fn looks(&self);
}

enum Wanting {
    Thread(Arc<Seat>),
    Start(Start),
}

/// What a thread has while it computes.
#[derive(Clone, Copy)]
struct Turn {
    since_ns: u64,
    on: Processor,
}

/// The number of a turn's own one, if it has any.
type Processor = Option<usize>;

/// A thread's looks while others want a turn. Cells of their own: each look counts.
struct Looks {
    /// So many more need not read the clock.
    spared: Cell<u32>,
    /// So many were spared when one has read it last.
    of: Cell<u32>,
    /// When one has read it last.
    at_ns: Cell<u64>,
}

/// Where a thread waits for a turn.
struct Seat {
    given: Mutex<Option<Turn>>,
    came: Condvar,
    bound: Bound,
}

struct State {
    limit: usize,
    /// Processors that are no turn's.
    free: Vec<usize>,
    computing: usize,
    /// Of those that want a turn, the ones that were under way, and may hold locks.
    woken: VecDeque<Arc<Seat>>,
    /// Those who let these go first, with a part of their quantum left.
    paused: VecDeque<Arc<Seat>>,
    /// Requests that have not begun.
    new: VecDeque<Start>,
    /// Those that have used a quantum up.
    yielded: VecDeque<Arc<Seat>>,
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
/// What of the state is read without its mutex, by each look.
struct Shown {
    /// How many want a turn, and how many of these go before requests that have not begun.
    wanting: AtomicUsize,
    under_way: AtomicUsize,
    woken: AtomicUsize,
    /// How many requests that have not begun want one.
    new: AtomicUsize,
    /// Whether more compute than the limit says.
    beyond: AtomicBool,
}

static SHOWN: Padded<Shown> = Padded(Shown {
    wanting: AtomicUsize::new(0),
    under_way: AtomicUsize::new(0),
    woken: AtomicUsize::new(0),
    new: AtomicUsize::new(0),
    beyond: AtomicBool::new(false),
});

/// Who is called every now and then.
static LOOKING: Mutex<Vec<Weak<dyn Watch>>> = Mutex::new(Vec::new());

thread_local! {
    static WATCH: OnceCell<Arc<dyn Watch>> = const { OnceCell::new() };
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
    static LOOKS: Looks =
        const { Looks { spared: Cell::new(0), of: Cell::new(0), at_ns: Cell::new(0) } };
}

impl Looks {
    /// Whether this one reads the clock.
    fn is_due(&self) -> bool {
        let spared = self.spared.get();
        self.spared.set(spared.saturating_sub(1));
        spared == 0
    }

    /// One has read the clock. What statements took so far is what the next ones are thought to
    /// take: about twice as many looks are spared as before.
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

    /// A processor for a turn: the preferred one if that is free, else the one freed last.
    fn processor(&mut self, preferred: Processor) -> Processor {
        let at = preferred.and_then(|p| self.free.iter().position(|free| *free == p));
        let last = || self.free.len().checked_sub(1);
        at.or_else(last).map(|at| self.free.swap_remove(at))
    }

    /// Whose turn it is next, counted.
    fn next(&mut self) -> Option<Wanting> {
        self.handed = self.handed.wrapping_add(1);
        let next = self.aged().or_else(|| self.first())?;
        self.show();
        self.begin();
        Some(next)
    }

    fn first(&mut self) -> Option<Wanting> {
        let under_way = self.woken.pop_front().or_else(|| self.paused.pop_front());
        let first = under_way.map(Wanting::Thread);
        first.or_else(|| self.first_new()).or_else(|| self.first_yielded())
    }

    /// One who would not be the first, if it is time for that.
    fn aged(&mut self) -> Option<Wanting> {
        match self.handed % (2 * AGING) {
            0 => self.first_new(),
            AGING => self.first_yielded(),
            _ => None,
        }
    }

    fn first_new(&mut self) -> Option<Wanting> {
        self.new.pop_front().map(Wanting::Start)
    }

    fn first_yielded(&mut self) -> Option<Wanting> {
        self.yielded.pop_front().map(Wanting::Thread)
    }

    /// Of those that want a turn, the threads under way.
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

/// What becomes of the processor of one who gives his turn up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// He sleeps at once: who has the turn next is bound to the one where he is, if it is free.
    Sleeps,
    /// He may need it for a system call: the system finds one for the next.
    Works,
}

impl Turn {
    /// Its thread goes to sleep at once.
    fn sleeps(self) -> Then {
        if self.on.is_some() { Then::Sleeps } else { Then::Works }
    }

    fn used_ns(self) -> u64 {
        monotonic_ns() - self.since_ns
    }
}

/// Gives what is free to those who want it.
fn hand_on(mut state: MutexGuard<'static, State>, mut then: Then) {
    while state.computing < state.limit {
        let Some(next) = state.next() else { return };
        state = started(state, next, then);
        // His processor is the first one's.
        then = Then::Works;
    }
}

/// Has somebody go on with a turn that is counted for it already.
fn started(
    mut state: MutexGuard<'static, State>,
    next: Wanting,
    then: Then,
) -> MutexGuard<'static, State> {
    let goes = match next {
        Wanting::Thread(seat) => {
            let on = match then {
                // Where another turn's thread is there instead, the system moves that one.
                Then::Sleeps => state.processor(Some(processor::here())),
                Then::Works => state.processor(None),
            };
            drop(state);
            seat.bound.bind(on.filter(|_| then == Then::Sleeps));
            seat.give(on);
            true
        }
        Wanting::Start(start) => {
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

/// From now on at most so many compute at a time.
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
    hand_on(state, Then::Works);
}

/// Asks for a turn: true when it is there at once (to be [`adopt`]ed or given back), else `start`
/// is called when there is one, from whatever thread gives it.
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
    ended(None, Then::Works);
}

/// Others may have a turn that has ended, and its processor.
fn ended(on: Processor, then: Then) {
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

/// This thread begins to compute for a request that others compute for, too: waits for a turn.
pub fn enter() {
    let resting = Resting { seat: seat(), used_ns: 0 };
    resting.give_up();
}

/// This thread is done: others may have its turn.
pub fn release() {
    let turn = TURN.take().expect("whoever gives a turn back has one");
    ended(turn.on, Then::Works);
    // Whatever it is woken for next, it need not be there.
    stay_on(None);
}

/// From now on somebody is told when this thread waits.
pub fn watched_by(watch: Arc<dyn Watch>) {
    let first = WATCH.with(|place| place.set(watch).is_ok());
    assert!(first, "a thread is watched by one");
}

/// From now on somebody is called every now and then while anybody computes.
pub fn look_by(watch: Weak<dyn Watch>) {
    let mut looking = LOOKING.lock();
    looking.retain(|one| one.strong_count() > 0);
    looking.push(watch);
}

/// This thread has given its turn up: whoever watches it is told, and again when this is dropped.
struct Waiting;

impl Waiting {
    fn begins(long: bool) -> Waiting {
        tell(|watch| watch.waits(long));
        Waiting
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        tell(|watch| watch.goes_on());
    }
}

fn tell(what: impl Fn(&dyn Watch)) {
    // A thread that ends is watched by nobody any more.
    let _ended = WATCH.try_with(|watch| watch.get().map(|watch| what(&**watch)));
}

/// Goes on with this thread's turn for another request; false when others are to have it.
pub fn renew() -> bool {
    let now = monotonic_ns();
    let turn = TURN.get().expect("whoever renews a turn has one");
    let wanted = SHOWN.wanting.load(Relaxed) > 0;
    if wanted && now - turn.since_ns > quantum() || SHOWN.under_way.load(Relaxed) > 0 {
        return false;
    }
    // While others want it, the requests that follow each other have one quantum.
    let since_ns = if wanted { turn.since_ns } else { now };
    TURN.set(Some(Turn { since_ns, ..turn }));
    true
}

/// A thread without its turn, which is given one by whoever ends its wait.
#[derive(Clone)]
pub(crate) struct Resting {
    seat: Arc<Seat>,
    /// What it has used of its quantum.
    used_ns: u64,
}

/// Where this thread would wait for what ends its rest; none when it has no turn.
pub(crate) fn resting() -> Option<Resting> {
    let resting = |turn: Turn| Resting { seat: seat(), used_ns: turn.used_ns().min(quantum()) };
    TURN.get().map(resting)
}

impl Resting {
    /// Gives the turn up and waits until [`Resting::end`] has given another, or the time has come:
    /// then it is false and the thread has none. The caller holds no latch and no mutex.
    pub(crate) fn rest(&self, deadline_ns: Option<u64>) -> bool {
        let turn = TURN.take().expect("who rests had a turn");
        let _waiting = Waiting::begins(true);
        ended(turn.on, turn.sleeps());
        self.seat.wait_until(self.used_ns, deadline_ns)
    }

    /// Its end was on its way when the time had come.
    pub(crate) fn wait(&self) {
        self.seat.wait_until(self.used_ns, None);
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

/// Gives the turn up for what a thread may wait for while it holds latches, and takes it back at
/// once.
pub fn aside<R>(blocking: impl FnOnce() -> R) -> R {
    let Some(turn) = TURN.take() else { return blocking() };
    let used_ns = turn.used_ns();
    let _waiting = Waiting::begins(false);
    ended(turn.on, Then::Works);
    // It comes back wherever there is room.
    stay_on(None);
    let _back = Back { used_ns };
    blocking()
}

struct Back {
    used_ns: u64,
}

impl Drop for Back {
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

/// Between two statements: gives the turn up when others want it and this thread has had it for a
/// while. `holds_locks`: it would keep others waiting for these, too.
#[inline]
pub fn look(holds_locks: bool) {
    let beyond = SHOWN.beyond.load(Relaxed) && !holds_locks;
    if beyond || SHOWN.wanting.load(Relaxed) > 0 {
        look_at_those(beyond, holds_locks);
    }
}

/// At those who want a turn, or are beyond the limit.
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
    // What is left of its quantum stays its own.
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
        // From here on it has none: whoever is started here may have to wait for a mutex.
        TURN.set(None);
        hand_on(state, turn.sleeps());
        seat.wait_until(used_ns.unwrap_or(0), None);
        record_signal(WaitKind::SosSchedulerYield, now);
    } else {
        TURN.set(Some(Turn { since_ns: now, ..turn }));
    }
}

/// A thread that is bound to another processor than that of its turn is bound to none.
fn stay_on(on: Processor) {
    SEAT.with(|seat| {
        if let Some(seat) = seat.get() {
            seat.bound.stay(on);
        }
    });
}

/// This thread is elsewhere than on its turn's processor: the system woke it there, say. Where no
/// other turn's thread is, it stays; else it goes to its own, as the system would leave the two
/// behind each other for ten milliseconds though one processor is idle.
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

/// Whether this thread is bound to a processor.
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

    /// Waits until this thread has been given a turn; false when the time has come before. Of its
    /// quantum so much is used already.
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
            state = started(state, next, Then::Works);
        }
        seen = state.moves;
        // Whoever it was for may not have needed it, and others gave back meanwhile.
        hand_on(state, Then::Works);
    }
}
