//! Queues, conversions, waits that end: by a grant, by time, by cancellation, by a drop.

mod scenes;

use lock::{Duration, EscalationCounter, LockError, LockStatus, Mode, Options, Outcome, Table};
use lock::{Kind, KindCounters, Resource, Timeout};
use os::wait::CancelReason;
use scenes::{DB, HOBT, ask, ask_for, end, granted, key, object, owner, table, take};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

#[test]
fn first_come_first_served_and_readers_do_not_starve_a_writer() {
    let t = table();
    let [a, b, c, d] = [1, 2, 3, 4].map(owner);
    take(&t, &a, object(1), Mode::S);
    let write = ask(&t, &b, object(1), Mode::X);
    let read = ask(&t, &c, object(1), Mode::S);
    take(&t, &d, object(1), Mode::SchS);
    t.release_all(&a);
    assert!(!granted(&t, read));
    assert!(granted(&t, write));
    assert_eq!(t.held_mode(&b, object(1)), Mode::X);
    end(&t, &[&b, &c, &d]);
    assert_eq!(t.entry_count(), 0);
}

#[test]
fn one_who_holds_converts_before_those_who_only_wait() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(1), Mode::S);
    take(&t, &b, key(1), Mode::S);
    let newcomer = ask(&t, &c, key(1), Mode::X);
    // Passing the newcomer costs it nothing: it waits for `a` as it is.
    take(&t, &a, key(1), Mode::U);
    let upgrade = ask(&t, &a, key(1), Mode::X);
    let rows = t.held_and_waiting(10);
    let shown: Vec<_> = rows.iter().map(|r| (r.mode.name(), r.status.name())).collect();
    assert_eq!(shown, [("U", "GRANT"), ("S", "GRANT"), ("X", "CONVERT"), ("X", "WAIT")]);
    t.release_all(&b);
    assert!(granted(&t, upgrade));
    assert_eq!(t.held_mode(&a, key(1)), Mode::X);
    t.release_all(&a);
    assert!(granted(&t, newcomer));
    t.release_all(&c);
}

#[test]
fn a_short_lock_goes_when_all_its_references_went_and_a_long_one_stays() {
    let t = table();
    let a = owner(1);
    for _ in 0..2 {
        t.try_lock(&a, key(1), Mode::S, Duration::Short, None).unwrap();
    }
    assert!(!t.release(&a, key(1)));
    assert!(t.release(&a, key(1)));
    assert_eq!((t.held_mode(&a, key(1)), a.held_count()), (Mode::NL, 0));

    t.try_lock(&a, key(1), Mode::U, Duration::Short, None).unwrap();
    take(&t, &a, key(1), Mode::X);
    assert!(!t.release(&a, key(1)));
    t.release_short(&a);
    assert_eq!((t.held_mode(&a, key(1)), a.held_count()), (Mode::X, 1));
    t.release_all(&a);
    a.renew(lock::OwnerId::new(lock::OwnerKind::Transaction, 99));
    assert_eq!(t.entry_count(), 0);
}

#[test]
fn a_test_is_granted_when_it_could_be_held_and_leaves_nothing() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    take(&t, &a, key(1), Mode::RangeSS);
    let test = ask_for(&t, &b, key(1), Mode::RangeIN, Duration::Instant);
    t.release_all(&a);
    assert!(granted(&t, test));
    assert_eq!((t.entry_count(), b.held_count()), (0, 0));
}

#[test]
fn lock_timeout_ends_the_wait_and_leaves_the_queue() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    let before = lock::thread_requests();
    take(&t, &a, key(1), Mode::S);
    let err = t.lock(&b, key(1), Mode::X, Duration::Long, Timeout::from_setting(5), None);
    assert!(matches!(err, Err(LockError::TimedOut { waited_ms }) if waited_ms >= 5), "{err:?}");
    assert_eq!(base::SqlError::from(err.unwrap_err()).number(), 1222);
    let at_once = t.lock(&b, key(1), Mode::X, Duration::Long, Timeout::from_setting(0), None);
    assert!(at_once.is_err());
    assert_eq!(t.try_lock_now(&b, key(1), Mode::X, Duration::Long, None), Ok(None));
    take(&t, &c, key(1), Mode::S);
    assert_eq!((t.counters().timeouts, t.counters().waits), (2, 2));
    let kinds = t.kind_counters();
    let (_, keys) = kinds.iter().find(|(kind, _)| *kind == Kind::Key).unwrap();
    // Granted, timed out, refused, refused again, granted.
    assert_eq!((keys.requests, keys.waits, keys.ended), (5, 1, 1));
    assert_eq!(lock::thread_requests() - before, 5, "all by this thread");
    assert_eq!((keys.timeouts, keys.refused_at_once, keys.deadlocks), (1, 1, 0));
    assert!(keys.waited_ns >= 5_000_000);
    assert!(kinds.iter().all(|(kind, of)| *kind == Kind::Key || *of == KindCounters::default()));
    end(&t, &[&a, &b, &c]);
}

#[test]
fn a_cancelled_request_leaves_the_queue_and_lets_the_next_one_pass() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(1), Mode::S);
    let (theirs, who) = (Arc::clone(&t), Arc::clone(&b));
    let waiter = os::task::spawn("writer", move || {
        theirs.lock(&who, key(1), Mode::X, Duration::Long, Timeout::INFINITE, None)
    });
    while t.waits().is_empty() {
        os::task::sleep_ns(100_000);
    }
    assert_eq!(t.blocker_of(&b).map(|b| b.session), Some(a.session()));
    let reader = ask(&t, &c, key(1), Mode::S);
    b.waiter().cancel(CancelReason::Attention);
    assert_eq!(waiter.join().unwrap(), Err(LockError::Cancelled(CancelReason::Attention)));
    assert!(granted(&t, reader));
    end(&t, &[&a, &b, &c]);
}

#[test]
fn a_dropped_ticket_leaves_the_queue_and_gives_a_grant_back() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(1), Mode::X);
    drop(ask(&t, &b, key(1), Mode::X));
    assert!(!t.has_other(&a, key(1)));
    let late = ask(&t, &b, key(1), Mode::X);
    let next = ask(&t, &c, key(1), Mode::X);
    t.release_all(&a);
    assert_eq!(t.held_mode(&b, key(1)), Mode::X);
    drop(late);
    assert!(granted(&t, next));
    assert_eq!((t.held_mode(&b, key(1)), b.held_count()), (Mode::NL, 0));
    t.release_all(&c);
    // Its waiter has no stale signal: a wait of another kind is not ended by it.
    let woken = b.waiter().wait(os::wait::WaitKind::WaitFor, Some(1));
    assert_eq!(woken, os::wait::Wake::TimedOut);
}

#[test]
fn a_grant_that_came_before_the_wait_leaves_no_signal_behind() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    for timeout in [Timeout::NO_WAIT, Timeout::INFINITE] {
        take(&t, &a, key(1), Mode::X);
        let ticket = ask(&t, &b, key(1), Mode::X);
        t.release_all(&a);
        assert!(t.wait(ticket, timeout, None).is_ok());
        t.release_all(&b);
        let woken = b.waiter().wait(os::wait::WaitKind::WaitFor, Some(1));
        assert_eq!(woken, os::wait::Wake::TimedOut);
    }
}

#[test]
fn a_dropped_conversion_leaves_what_was_held_before() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    take(&t, &b, key(1), Mode::S);
    t.try_lock(&a, key(1), Mode::S, Duration::Short, None).unwrap();
    let long = ask(&t, &a, key(1), Mode::X);
    t.release_all(&b);
    t.release(&a, key(1));
    drop(long);
    assert_eq!((t.entry_count(), a.held_count()), (0, 0));

    take(&t, &b, key(1), Mode::S);
    t.try_lock(&a, key(1), Mode::S, Duration::Short, None).unwrap();
    let short = ask_for(&t, &a, key(1), Mode::X, Duration::Short);
    t.release_all(&b);
    drop(short);
    assert_eq!(a.held_count(), 1);
    t.release_all(&a);
    assert_eq!(t.entry_count(), 0);
}

#[test]
fn a_full_table_says_1204_and_serves_again_after_a_release() {
    let t = Table::new(&Options { locks_max: 100, ..Options::default() });
    let a = owner(1);
    let mut taken = 0;
    let err = loop {
        match t.try_lock(&a, key(taken), Mode::X, Duration::Long, None) {
            Ok(_) => taken += 1,
            Err(e) => break e,
        }
    };
    assert!(taken <= 100 && err == LockError::OutOfLockMemory, "{taken} {err:?}");
    assert_eq!(base::SqlError::from(err).number(), 1204);
    t.release_all(&a);
    take(&t, &a, key(7), Mode::X);
    t.release_all(&a);
    t.verify();
}

#[test]
fn escalation_is_advised_tried_and_fails_silently() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    let mut counter = EscalationCounter::new();
    let mut advised = Vec::new();
    take(&t, &a, object(1), Mode::IX);
    take(&t, &b, object(1), Mode::IS);
    let other_hobt = Resource::key(DB, base::HobtId(8), 1);
    take(&t, &a, other_hobt, Mode::X);
    for n in 1..=6_250 {
        let got = t.try_lock(&a, key(n), Mode::X, Duration::Long, Some(&mut counter)).unwrap();
        if let Outcome::Granted { escalate: true } = got {
            advised.push(n);
            let done = t.escalate(&a, object(1), Mode::X, &[HOBT]);
            assert_eq!(done, n == 6_250);
            t.release_all(&b);
        }
    }
    assert_eq!(advised, [5_000, 6_250]);
    assert_eq!((t.held_mode(&a, object(1)), a.held_count()), (Mode::X, 2));
    assert_eq!(t.held_mode(&a, key(3)), Mode::NL);
    assert!(t.release(&a, key(3)), "releasing what escalation took is no error");
    t.release_all(&a);
    assert_eq!((t.entry_count(), t.counters().escalations), (0, 1));
}

#[test]
fn a_short_lock_that_becomes_long_counts_once() {
    let t = table();
    let a = owner(1);
    let mut counter = EscalationCounter::new();
    let mut lock = |mode, duration| {
        t.try_lock(&a, key(1), mode, duration, Some(&mut counter)).unwrap();
        counter.taken()
    };
    assert_eq!(lock(Mode::U, Duration::Short), 0);
    assert_eq!(lock(Mode::X, Duration::Long), 1);
    assert_eq!(lock(Mode::X, Duration::Long), 1);
    t.release_all(&a);
}

/// Real tasks, real waits: counters beside each resource prove that what conflicts is never
/// held together, and that nobody waits for ever.
#[test]
fn many_tasks_exclude_each_other_and_all_get_through() {
    let t = table();
    let shadows: Arc<Vec<AtomicI64>> = Arc::new((0..2).map(|_| AtomicI64::new(0)).collect());
    let done = Arc::new(AtomicU64::new(0));
    let worker = |n: u64| {
        let (t, shadows, done) = (Arc::clone(&t), Arc::clone(&shadows), Arc::clone(&done));
        os::task::spawn("worker", move || {
            let me = owner(n + 1);
            for i in 0..2_000_u64 {
                let which = (i * 7 + n) % 2;
                let write = (i + n).is_multiple_of(3);
                let mode = if write { Mode::X } else { Mode::S };
                let duration = if i % 2 == 0 { Duration::Short } else { Duration::Long };
                t.lock(&me, key(which), mode, duration, Timeout::INFINITE, None).unwrap();
                let (weight, shadow) = (if write { 1_000 } else { 1 }, &shadows[which as usize]);
                let now = shadow.fetch_add(weight, SeqCst) + weight;
                assert!(if write { now == 1_000 } else { now < 1_000 }, "{now}");
                if i % 64 == 0 {
                    os::task::sleep_ns(1_000);
                }
                shadow.fetch_sub(weight, SeqCst);
                match duration {
                    Duration::Short => assert!(t.release(&me, key(which))),
                    Duration::Long | Duration::Instant => t.release_all(&me),
                }
                done.fetch_add(1, SeqCst);
            }
        })
    };
    let workers: Vec<_> = (0..4).map(worker).collect();
    for w in workers {
        w.join().unwrap();
    }
    t.verify();
    assert_eq!((done.load(SeqCst), t.entry_count()), (8_000, 0));
    assert!(t.held_and_waiting(10).iter().all(|r| r.status != LockStatus::Wait));
}
