//! Turns of threads that compute, rest, sleep, and of one that never looks up.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use os::clock::monotonic_ns;
use os::task::{JoinHandle, spawn};
use os::turn;
use os::wait::{CancelReason, WaitKind, Waiter, Wake, timed};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;

const LIMIT: usize = 2;

/// A thread that waits for a turn and then runs `body` with it.
fn request<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let all = may_run_on();
    spawn("request", move || {
        let (given, gives) = channel();
        let start: turn::Start = Arc::new(move || given.send(()).is_ok());
        if !turn::ask(|| start) {
            gives.recv().unwrap();
        }
        turn::adopt();
        let result = body();
        turn::release();
        assert_eq!(may_run_on(), all, "who has no turn runs anywhere");
        result
    })
}

fn compute(us: u64) {
    let until = monotonic_ns() + us * 1_000;
    while monotonic_ns() < until {
        std::hint::spin_loop();
    }
}

/// A request that computes until it is stopped, and looks.
fn busy(stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let stop = Arc::clone(stop);
    request(move || {
        while !stop.load(SeqCst) {
            compute(10);
            turn::look(false);
        }
    })
}

/// One test, since all threads of the process share the turns.
#[test]
fn as_many_compute_as_may_and_nobody_is_forgotten() {
    turn::limit(LIMIT);
    only_so_many_compute();
    a_signal_gives_a_turn_and_a_deadline_asks_for_one();
    ones_that_never_look_stop_nobody();
    ones_that_look_let_others_go_first();
    a_new_request_comes_between_those_that_yield();
    a_new_request_goes_before_those_that_have_used_a_quantum_up();
    who_goes_aside_leaves_its_turn();
    turn::limit(os::task::processors());
    who_is_given_a_turn_is_on_its_processor();
    who_was_moved_goes_home();
}

/// How many processors this thread may run on.
fn may_run_on() -> u32 {
    sched_getaffinity(None).unwrap().count()
}

/// Three threads for each processor: those that are handed a turn are bound to one; who is done is
/// not, nor is a thread that is started meanwhile.
fn who_is_given_a_turn_is_on_its_processor() {
    let all = may_run_on();
    if all == 1 {
        return;
    }
    let bound = Arc::new(AtomicUsize::new(0));
    let busy = || {
        let bound = Arc::clone(&bound);
        spawn("thread", move || {
            let busy = request(move || {
                let until = monotonic_ns() + 30_000_000;
                while monotonic_ns() < until {
                    compute(100);
                    turn::look(false);
                    bound.fetch_add(usize::from(may_run_on() == 1), SeqCst);
                }
                spawn("started", may_run_on).join().unwrap()
            });
            busy.join().unwrap()
        })
    };
    let threads: Vec<_> = (0..3 * os::task::processors()).map(|_| busy()).collect();
    threads.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), all, "started by a bound one"));
    let quota = os::task::processors() < all as usize;
    assert_eq!(bound.load(SeqCst) > 0, !quota, "given a turn on one processor");
}

/// Threads that compute for long, and are bound no more, are moved to another processor, as the
/// system does: a look has them go on where they were.
fn who_was_moved_goes_home() {
    let all = sched_getaffinity(None).unwrap();
    if all.count() == 1 || os::task::processors() < all.count() as usize {
        return;
    }
    let (tries, home) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let busy = || {
        let (tries, home) = (Arc::clone(&tries), Arc::clone(&home));
        request(move || {
            let until = monotonic_ns() + 200_000_000;
            let mut on = None;
            while monotonic_ns() < until {
                // Where it is bound its turn is.
                on = if may_run_on() == 1 { Some(sched_getcpu()) } else { on };
                compute(1_100);
                turn::look(false);
                let Some(here) = on.filter(|on| may_run_on() > 1 && *on == sched_getcpu()) else {
                    continue;
                };
                let elsewhere = (0..CpuSet::MAX_CPU).find(|n| *n != here && all.is_set(*n));
                let mut one = CpuSet::new();
                one.set(elsewhere.unwrap());
                sched_setaffinity(None, &one).unwrap();
                sched_setaffinity(None, &all).unwrap();
                compute(10);
                turn::look(false);
                tries.fetch_add(1, SeqCst);
                let came = sched_getcpu() == here;
                home.fetch_add(usize::from(came), SeqCst);
                on = on.filter(|_| came);
            }
        })
    };
    let threads: Vec<_> = (0..3 * os::task::processors()).map(|_| busy()).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    // A few find their turn over instead.
    let (tries, home) = (tries.load(SeqCst), home.load(SeqCst));
    assert!(tries > 0 && 3 * home >= 2 * tries, "{home} of {tries} went on where their turn is");
}

fn only_so_many_compute() {
    let (now, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let requests = (0..16).map(|_| {
        let (now, over) = (Arc::clone(&now), Arc::clone(&over));
        request(move || {
            for _ in 0..50 {
                let many = now.fetch_add(1, SeqCst) + 1 > LIMIT;
                over.fetch_add(usize::from(many), SeqCst);
                compute(20);
                now.fetch_sub(1, SeqCst);
                let until = monotonic_ns() + 50_000;
                assert_eq!(Waiter::new().wait(WaitKind::WaitFor, Some(until)), Wake::TimedOut);
            }
        })
    });
    requests.collect::<Vec<_>>().into_iter().for_each(|r| r.join().unwrap());
    // Where the machine keeps threads from their processors, the monitor gives a turn more.
    assert!(over.load(SeqCst) < 80, "{over:?} of 800 times more than {LIMIT} computed");
}

/// Pairs pass a signal to and fro, some of them beside a deadline, and end by a cancellation.
fn a_signal_gives_a_turn_and_a_deadline_asks_for_one() {
    let pairs = (0..6).map(|pair| {
        let (ping, pong) = (Arc::new(Waiter::new()), Arc::new(Waiter::new()));
        let (theirs, ours) = (Arc::clone(&ping), Arc::clone(&pong));
        let answers = request(move || {
            for _ in 0..300 {
                assert_eq!(theirs.wait(WaitKind::LckX, None), Wake::Signalled);
                ours.signal();
            }
            theirs.wait(WaitKind::LckX, None)
        });
        let asks = request(move || {
            for turn in 0..300 {
                ping.signal();
                let until = monotonic_ns() + 1_000 * (turn % 3);
                let deadline = (pair % 2 == 0).then_some(until);
                while pong.wait(WaitKind::LckX, deadline) == Wake::TimedOut {
                    os::task::sleep_ns(1_000);
                }
            }
            ping.cancel(CancelReason::Kill);
        });
        (answers, asks)
    });
    for (answers, asks) in pairs.collect::<Vec<_>>() {
        asks.join().unwrap();
        assert_eq!(answers.join().unwrap(), Wake::Cancelled(CancelReason::Kill));
    }
}

fn ones_that_never_look_stop_nobody() {
    let stop = Arc::new(AtomicBool::new(false));
    let deaf = || {
        let stop = Arc::clone(&stop);
        request(move || while !stop.load(SeqCst) {})
    };
    let deaf: Vec<_> = (0..LIMIT).map(|_| deaf()).collect();
    let others: Vec<_> = (0..3).map(|_| request(|| compute(10))).collect();
    others.into_iter().for_each(|r| r.join().unwrap());
    stop.store(true, SeqCst);
    deaf.into_iter().for_each(|r| r.join().unwrap());
}

fn ones_that_look_let_others_go_first() {
    let yields = || os::wait::totals()[WaitKind::SosSchedulerYield as usize].count;
    let before = yields();
    let stop = Arc::new(AtomicBool::new(false));
    // More than the monitor may have given turns beyond the limit.
    let busy: Vec<_> = (0..4 * LIMIT).map(|_| busy(&stop)).collect();
    while yields() < before + 10 {
        os::task::sleep_ns(1_000_000);
    }
    stop.store(true, SeqCst);
    busy.into_iter().for_each(|r| r.join().unwrap());
}

/// Sessions that wait for each other and yield to those they woke keep nobody out.
fn a_new_request_comes_between_those_that_yield() {
    let stop = Arc::new(AtomicBool::new(false));
    let rallies = (0..2 * LIMIT).map(|_| {
        let (ping, pong) = (Arc::new(Waiter::new()), Arc::new(Waiter::new()));
        let side = |mine: Arc<Waiter>, other: Arc<Waiter>| {
            let stop = Arc::clone(&stop);
            request(move || {
                while !stop.load(SeqCst) {
                    other.signal();
                    compute(50);
                    turn::look(false);
                    let until = monotonic_ns() + 1_000_000;
                    mine.wait(WaitKind::LckX, Some(until));
                }
            })
        };
        (side(Arc::clone(&ping), Arc::clone(&pong)), side(pong, ping))
    });
    let rallies: Vec<_> = rallies.collect();
    (0..50).for_each(|_| request(|| compute(10)).join().unwrap());
    stop.store(true, SeqCst);
    for (one, other) in rallies {
        one.join().unwrap();
        other.join().unwrap();
    }
}

/// It waits for one of those that compute, not for all that wait.
fn a_new_request_goes_before_those_that_have_used_a_quantum_up() {
    let yields = || os::wait::totals()[WaitKind::SosSchedulerYield as usize].count;
    let stop = Arc::new(AtomicBool::new(false));
    let many = 16 * LIMIT;
    let busy: Vec<_> = (0..many).map(|_| busy(&stop)).collect();
    let all_have = yields() + 2 * many as u64;
    while yields() < all_have {
        os::task::sleep_ns(1_000_000);
    }
    let mut gone_before: Vec<u64> = (0..9)
        .map(|_| {
            let before = yields();
            request(move || yields() - before).join().unwrap()
        })
        .collect();
    stop.store(true, SeqCst);
    busy.into_iter().for_each(|r| r.join().unwrap());
    gone_before.sort_unstable();
    let few = many as u64 / 4;
    assert!(gone_before[4] <= few, "{gone_before:?} of {many} went before it");
}

/// All turns are with threads that wait for the disk; another computes meanwhile.
fn who_goes_aside_leaves_its_turn() {
    let (computed, seen) = channel();
    let (written, gate) = channel::<()>();
    let gate = Arc::new(os::sync::Mutex::new(gate));
    let aside = || {
        let gate = Arc::clone(&gate);
        request(move || timed(WaitKind::WriteLog, || gate.lock().recv().unwrap()))
    };
    let aside: Vec<_> = (0..LIMIT).map(|_| aside()).collect();
    let other = request(move || computed.send(()).unwrap());
    seen.recv().unwrap();
    (0..LIMIT).for_each(|_| written.send(()).unwrap());
    aside.into_iter().for_each(|r| r.join().unwrap());
    other.join().unwrap();
}
