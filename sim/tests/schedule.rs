//! The scheduler: one seed is one run, no wake-up is lost, a halted machine ends.
#![allow(clippy::disallowed_methods, reason = "tests measure from outside")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use os::sync::{Condvar, Mutex, RwLock};
use os::wait::{CancelReason, WaitKind, Waiter, Wake};
use os::{clock, entropy, park, stop, task};
use sim::{Options, Run, RunEnd, Simulation};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// A latch of one word, as the buffer pool has them.
#[derive(Default)]
struct Latch(AtomicU32);

impl Latch {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0) as usize
    }
    fn take(&self) {
        os::sched::switch_point();
        while self.0.compare_exchange(0, 1, Relaxed, Relaxed).is_err() {
            park::wait(self.key(), || self.0.load(Relaxed) == 1);
        }
    }
    fn give(&self) {
        self.0.store(0, Relaxed);
        park::wake_one(self.key());
    }
}

#[derive(Default)]
struct SharedState {
    queue: Mutex<Vec<u64>>,
    changed: Condvar,
    table: RwLock<u64>,
    latch: Latch,
    counted: AtomicU64,
    waiters: [Waiter; 4],
}

fn produce(s: &SharedState, rounds: u64) {
    for i in 0..rounds {
        s.latch.take();
        let before = s.counted.load(Relaxed);
        os::sched::switch_point();
        s.counted.store(before + 1, Relaxed);
        s.latch.give();
        *s.table.write() += 1;
        s.queue.lock().push(i);
        if i % 3 == 0 { s.changed.notify_all() } else { s.changed.notify_one() }
    }
}

fn consume(s: &SharedState, rounds: u64) {
    for i in 0..rounds {
        let mut q = s.queue.lock();
        while q.pop().is_none() {
            if i % 2 == 0 {
                s.changed.wait(&mut q);
            } else {
                s.changed.wait_until(&mut q, Some(clock::monotonic_ns() + 5_000));
            }
        }
        drop(q);
        assert!(*s.table.read() > 0);
    }
}

/// Two tasks that signal each other in turn.
fn ping(s: &SharedState, mine: usize, theirs: usize, rounds: u64, first: bool) {
    for _ in 0..rounds {
        if first {
            s.waiters[theirs].signal();
        }
        assert_eq!(s.waiters[mine].wait(WaitKind::WaitFor, None), Wake::Signalled);
        if !first {
            s.waiters[theirs].signal();
        }
    }
}

fn everything(rounds: u64) -> u64 {
    let s = Arc::new(SharedState::default());
    let mut tasks = Vec::new();
    for i in 0..8 {
        let s = Arc::clone(&s);
        tasks.push(task::spawn(&format!("t{i}"), move || match i {
            0 | 1 => produce(&s, rounds),
            2 | 3 => consume(&s, rounds),
            4 => ping(&s, 0, 1, rounds, true),
            5 => ping(&s, 1, 0, rounds, false),
            6 => ping(&s, 2, 3, rounds, true),
            _ => ping(&s, 3, 2, rounds, false),
        }));
    }
    for t in tasks {
        t.join().unwrap();
    }
    assert_eq!(s.counted.load(Relaxed), 2 * rounds, "the latch excludes");
    let mut bytes = [0; 5];
    entropy::fill(&mut bytes);
    u64::from(bytes[0])
}

fn fingerprint(run: &Run<u64>) -> (u64, u64, u64, u64) {
    let RunEnd::Done(random) = run.ended else { panic!("the run ends: {:?}", run.ended) };
    (run.trace_hash, run.calls, run.now_ns, random)
}

#[test]
fn no_wake_up_is_lost_under_many_seeds_and_each_seed_is_one_run() {
    let mut hashes = std::collections::BTreeSet::new();
    for seed in 0..150 {
        let first = fingerprint(&Simulation::run(seed, Options::default(), |_| everything(12)));
        let second = fingerprint(&Simulation::run(seed, Options::default(), |_| everything(12)));
        assert_eq!(first, second, "seed {seed}");
        hashes.insert(first.0);
    }
    assert_eq!(hashes.len(), 150, "seeds differ");
}

#[test]
fn a_deadlock_names_who_waits() {
    let options = Options { switch_one_in: Some(1), ..Options::default() };
    let run = Simulation::try_run(5, options, |_| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(()), Latch::default()));
        let theirs = Arc::clone(&locks);
        let t = task::spawn("abba", move || {
            let _b = theirs.1.lock();
            task::sleep_ns(1_000_000);
            let _a = theirs.0.lock();
        });
        let _a = locks.0.lock();
        task::sleep_ns(1_000_000);
        let _b = locks.1.lock();
        t.join().unwrap();
    });
    let RunEnd::Failed(text) = run.ended else { panic!("it deadlocks") };
    assert!(text.contains("deadlock"), "{text}");
    assert!(text.contains("abba (task 1) waits on 0x") && text.contains("root (task 0) waits"));
}

#[test]
fn time_passes_only_when_all_wait_and_deadlines_come_in_order() {
    let run = Simulation::run(1, Options::default(), |_| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = [300_u64, 100, 200]
            .into_iter()
            .map(|s| {
                let log = Arc::clone(&log);
                task::spawn("sleeper", move || {
                    task::sleep_ns(s * 1_000_000_000);
                    log.lock().push(s);
                })
            })
            .collect();
        for t in tasks {
            t.join().unwrap();
        }
        let w = Waiter::new();
        let at = clock::monotonic_ns() + 1_000;
        assert_eq!(w.wait(WaitKind::WaitFor, Some(at)), Wake::TimedOut);
        w.cancel(CancelReason::Kill);
        assert_eq!(w.wait(WaitKind::WaitFor, None), Wake::Cancelled(CancelReason::Kill));
        let log = log.lock();
        log.clone()
    });
    assert_eq!(run.ended, RunEnd::Done(vec![100, 200, 300]));
    assert!((300_000_000_000..301_000_000_000).contains(&run.now_ns));
}

/// Locks and joins while it unwinds, as an engine's owner of a background task does.
struct Owner {
    shared: Arc<SharedState>,
    worker: Option<task::JoinHandle<()>>,
    alive: Arc<AtomicU64>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.queue.lock().push(u64::MAX);
        self.shared.changed.notify_all();
        *self.shared.table.write() += 1;
        // Its end, however it came, must reach who waits for it.
        let _ = self.worker.take().unwrap().join();
        self.alive.fetch_sub(1, Relaxed);
    }
}

fn hold_locks_and_wait(alive: &Arc<AtomicU64>, made: &Arc<AtomicU64>) {
    let shared = Arc::new(SharedState::default());
    for i in 0..3 {
        let (theirs, alive, made) = (Arc::clone(&shared), Arc::clone(alive), Arc::clone(made));
        let worker_of = Arc::clone(&shared);
        let worker = task::spawn(&format!("worker{i}"), move || {
            let mut q = worker_of.queue.lock();
            while !q.contains(&u64::MAX) {
                worker_of.changed.wait(&mut q);
            }
        });
        task::spawn(&format!("owner{i}"), move || {
            alive.fetch_add(1, Relaxed);
            made.fetch_add(1, Relaxed);
            let owner = Owner { shared: theirs, worker: Some(worker), alive };
            let _held = owner.shared.table.write();
            task::sleep_ns(u64::MAX / 4);
        });
    }
    // Until the crash comes.
    for _ in 0..200 {
        os::sched::switch_point();
    }
}

#[test]
fn a_crash_unwinds_every_task_with_its_locks_held() {
    let made = Arc::new(AtomicU64::new(0));
    for seed in 0..100 {
        let alive = Arc::new(AtomicU64::new(0));
        let run = Simulation::run(seed, Options::default(), |sim| {
            let _guard = Mutex::new(0_u8);
            hold_locks_and_wait(&alive, &made);
            if true {
                sim.crash();
            }
        });
        assert_eq!(run.ended, RunEnd::Crashed, "seed {seed}");
        assert_eq!(alive.load(Relaxed), 0, "every destructor ran, and came to its end");
    }
    assert!(made.load(Relaxed) > 200);
}

#[test]
fn a_process_that_stops_itself_ends_every_task_even_where_panics_are_caught() {
    let run = Simulation::run(7, Options::default(), |_| {
        let (alive, made) = (Arc::default(), Arc::default());
        hold_locks_and_wait(&alive, &made);
        let writer = task::spawn("log writer", || stop::process("the log could not be synced"));
        let _ = writer.join();
        panic!("nobody gets here");
    });
    assert_eq!(run.ended, RunEnd::<()>::Stopped("the log could not be synced".to_owned()));
}

#[test]
fn a_panic_of_any_task_fails_the_run_with_its_place_and_the_last_events() {
    let run = Simulation::try_run(3, Options::default(), |sim| {
        sim.note("arithmetic comes");
        let t = task::spawn("broken", || assert_eq!(1 + 1, 3, "arithmetic"));
        let _ = t.join();
    });
    let RunEnd::Failed(text) = run.ended else { panic!("it fails") };
    assert!(text.contains("tests/schedule.rs") && text.contains("arithmetic"), "{text}");
    assert!(text.contains("starts broken") && text.contains("arithmetic comes"), "{text}");
    let tolerant = Options { panics_fail: false, ..Options::default() };
    let run = Simulation::run(3, tolerant, |_| task::spawn("b", || panic!("no")).join().is_err());
    assert_eq!(run.ended, RunEnd::Done(true));
}

#[test]
fn a_run_without_end_is_found() {
    let options = Options { calls_max: 10_000, ..Options::default() };
    let run = Simulation::try_run(3, options, |_| {
        loop {
            os::sched::switch_point();
        }
    });
    let RunEnd::Failed::<()>(text) = run.ended else { panic!("it fails") };
    assert!(text.contains("no end after"), "{text}");
}
