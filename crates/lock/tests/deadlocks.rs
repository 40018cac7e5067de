//! Deadlocks: one victim each, the right one, seen by the witness before it is woken.

mod scenes;

use lock::{Deadlock, DeadlockWitness, Duration, LockError, Mode, Owner, Progress, Table, Ticket};
use lock::{OwnerId, OwnerKind, Place, Timeout};
use os::sync::Mutex;
use scenes::{ask, ask_for, end, granted, key, owner, table, take};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

#[derive(Default)]
struct DeadlockLog(Mutex<Vec<Deadlock>>);

impl DeadlockWitness for DeadlockLog {
    fn saw(&self, deadlock: &Deadlock) {
        self.0.lock().push(deadlock.clone());
    }
}

/// One step; its victims' owners.
fn victims(t: &Arc<Table>) -> (Progress, Vec<u64>) {
    let seen = DeadlockLog::default();
    let progress = t.deadlock_step(&seen);
    let seen = seen.0.into_inner();
    let victims = seen.iter().map(|d| d.members[d.victim].owner.number());
    (progress, victims.collect())
}

fn is_victim(t: &Arc<Table>, o: &Owner, ticket: Ticket) -> bool {
    let got = t.wait(ticket, Timeout::INFINITE, None);
    got == Err(LockError::DeadlockVictim { session: o.session() })
}

/// Each holds its own key and asks for the next one's.
fn circle(t: &Arc<Table>, owners: &[Arc<Owner>]) -> Vec<Ticket> {
    let n = owners.len();
    for (i, o) in owners.iter().enumerate() {
        take(t, o, key(i as u64), Mode::X);
    }
    let next = |i: usize| key(((i + 1) % n) as u64);
    owners.iter().enumerate().map(|(i, o)| ask(t, o, next(i), Mode::X)).collect()
}

#[test]
fn two_who_wait_for_each_other_lose_the_younger_and_the_elder_goes_on() {
    let t = table();
    let owners = [1, 2].map(owner);
    let mut tickets = circle(&t, &owners);
    let (progress, found) = victims(&t);
    assert_eq!((progress, found), (Progress { found: 1, next_in_ms: 100 }, vec![2]));
    assert!(is_victim(&t, &owners[1], tickets.pop().unwrap()));
    t.release_all(&owners[1]);
    assert!(granted(&t, tickets.pop().unwrap()));
    t.release_all(&owners[0]);
    assert_eq!(victims(&t).0, Progress { found: 0, next_in_ms: 5_000 });
    assert_eq!((t.entry_count(), t.counters().deadlocks), (0, 1));
}

#[test]
fn three_in_a_circle_lose_the_one_with_least_log() {
    let t = table();
    let owners = [1, 2, 3].map(owner);
    owners[0].add_log_bytes(500);
    owners[1].add_log_bytes(10);
    owners[2].add_log_bytes(70);
    let mut tickets = circle(&t, &owners);
    assert_eq!(victims(&t).1, [2]);
    assert!(is_victim(&t, &owners[1], tickets.remove(1)));
    t.release_all(&owners[1]);
    assert!(granted(&t, tickets.remove(0)));
    t.release_all(&owners[0]);
    assert!(granted(&t, tickets.remove(0)));
    t.release_all(&owners[2]);
}

#[test]
fn priority_comes_before_log_and_one_that_rolls_back_is_spared() {
    let t = table();
    let owners = [1, 2, 3].map(owner);
    owners[0].set_priority(-5);
    owners[0].add_log_bytes(1_000_000);
    owners[2].set_priority(-10);
    owners[2].set_rolling_back(true);
    let mut tickets = circle(&t, &owners);
    assert_eq!(victims(&t).1, [1]);
    assert!(is_victim(&t, &owners[0], tickets.remove(0)));
    drop(tickets);
    owners.iter().for_each(|o| t.release_all(o));
}

#[test]
fn two_readers_who_both_want_to_write_get_exactly_one_victim() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    take(&t, &a, key(1), Mode::S);
    take(&t, &b, key(1), Mode::S);
    let first = ask(&t, &a, key(1), Mode::X);
    let second = ask(&t, &b, key(1), Mode::X);
    let seen = DeadlockLog::default();
    assert_eq!(t.deadlock_step(&seen).found, 1);
    let seen = seen.0.into_inner();
    assert!(seen[0].members.iter().all(|m| m.held == Mode::S && m.mode == Mode::X));
    assert!(seen[0].members.iter().all(|m| m.blockers.iter().any(|b| b.place == Place::Holds)));
    assert!(seen[0].members.iter().all(|m| m.granted == Mode::S && !m.by_helper));
    assert_eq!(seen[0].members[0].resource_hash, seen[0].members[1].resource_hash);
    assert_ne!(seen[0].members[0].number, seen[0].members[1].number);
    assert_eq!(victims(&t).1, [0_u64; 0]);
    assert!(is_victim(&t, &b, second));
    t.release_all(&b);
    assert!(granted(&t, first));
    t.release_all(&a);
}

#[test]
fn one_who_converts_further_ahead_is_told_with_what_it_asks_for() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(1), Mode::IS);
    take(&t, &b, key(1), Mode::IS);
    take(&t, &c, key(1), Mode::IX);
    take(&t, &b, key(2), Mode::X);
    let ahead = ask(&t, &a, key(1), Mode::S);
    let behind = ask(&t, &b, key(1), Mode::IX);
    let closing = ask(&t, &c, key(2), Mode::X);
    let seen = DeadlockLog::default();
    assert_eq!(t.deadlock_step(&seen).found, 1);
    let seen = seen.0.into_inner();
    let of_b = seen[0].members.iter().find(|m| m.owner == b.id()).unwrap();
    let told: Vec<_> = of_b.blockers.iter().map(|b| (b.owner, b.asked, b.place)).collect();
    assert_eq!(told, [(a.id(), Mode::S, Place::Converts)]);
    assert_eq!((of_b.granted, of_b.held, of_b.mode), (Mode::IX, Mode::IS, Mode::IX));
    assert!(is_victim(&t, &c, closing));
    t.release_all(&c);
    assert!(granted(&t, ahead));
    t.release_all(&a);
    assert!(granted(&t, behind));
    t.release_all(&b);
}

#[test]
fn the_order_of_a_queue_can_close_a_circle() {
    // `c` would be compatible with `a`, but must not pass `b`, who waits for `a`, who waits
    // for `c`'s other key.
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(1), Mode::S);
    take(&t, &c, key(2), Mode::X);
    let writer = ask(&t, &b, key(1), Mode::X);
    let reader = ask(&t, &c, key(1), Mode::S);
    let closing = ask(&t, &a, key(2), Mode::S);
    let seen = DeadlockLog::default();
    t.deadlock_step(&seen);
    let seen = seen.0.into_inner();
    let of = |o: &Arc<Owner>| seen[0].members.iter().find(|m| m.owner == o.id()).unwrap();
    assert_eq!(seen[0].members[seen[0].victim].owner, c.id());
    let [ahead] = of(&c).blockers[..] else { panic!("only the writer is in its way") };
    assert_eq!((ahead.asked, ahead.place, of(&c).granted), (Mode::X, Place::Waits, Mode::S));
    assert_eq!(seen[0].member_of(&ahead).unwrap().owner, b.id());
    assert_eq!(seen[0].member_of(&of(&a).blockers[0]).unwrap().owner, c.id());
    assert!(is_victim(&t, &c, reader));
    t.release_all(&c);
    assert!(granted(&t, closing));
    t.release_all(&a);
    assert!(granted(&t, writer));
    t.release_all(&b);
}

#[test]
fn two_deadlocks_get_two_victims_in_one_step_and_plain_waiters_none() {
    let t = table();
    let first = [1, 2].map(owner);
    let mut tickets = circle(&t, &first);
    let second = [3, 4].map(owner);
    take(&t, &second[0], key(10), Mode::X);
    take(&t, &second[1], key(11), Mode::X);
    tickets.push(ask(&t, &second[0], key(11), Mode::S));
    tickets.push(ask(&t, &second[1], key(10), Mode::S));
    let bystander = owner(9);
    tickets.push(ask(&t, &bystander, key(10), Mode::X));
    let (progress, mut found) = victims(&t);
    found.sort_unstable();
    assert_eq!((progress.found, found), (2, vec![2, 4]));
    assert_eq!(victims(&t).0, Progress { found: 0, next_in_ms: 1_000 });
    drop(tickets);
    first.iter().chain(&second).for_each(|o| t.release_all(o));
    assert_eq!(t.entry_count(), 0);
}

#[test]
fn locks_of_one_session_by_two_owners_are_seen_as_one_party() {
    let t = table();
    let tran = owner(1);
    let session_owner = lock::Owner::new(
        OwnerId::new(OwnerKind::Session, 51),
        tran.session(),
        Arc::clone(tran.waiter()),
    );
    let other = owner(2);
    take(&t, &session_owner, key(1), Mode::X);
    take(&t, &other, key(2), Mode::X);
    let mine = ask(&t, &tran, key(2), Mode::X);
    let theirs = ask(&t, &other, key(1), Mode::X);
    assert_eq!(victims(&t).1, [2]);
    drop((mine, theirs));
    end(&t, &[&session_owner, &other, &tran]);
}

#[test]
fn a_range_deadlock_two_serializable_inserters_into_one_gap() {
    let t = table();
    let [a, b] = [1, 2].map(owner);
    take(&t, &a, key(9), Mode::RangeSS);
    take(&t, &b, key(9), Mode::RangeSS);
    let first = ask_for(&t, &a, key(9), Mode::RangeIN, Duration::Instant);
    let second = ask_for(&t, &b, key(9), Mode::RangeIN, Duration::Instant);
    assert_eq!(victims(&t).1, [2]);
    assert!(is_victim(&t, &b, second));
    t.release_all(&b);
    assert!(granted(&t, first));
    // The new key 8 splits the gap that `a` protects: it gets RangeX-X, so nobody enters.
    take(&t, &a, key(8), Mode::RangeXX);
    drop(ask_for(&t, &b, key(8), Mode::RangeIN, Duration::Instant));
    t.release_all(&a);
}

#[test]
fn a_phantom_waits_and_so_does_a_delete_but_a_reader_does_not() {
    let t = table();
    let [a, b, c] = [1, 2, 3].map(owner);
    take(&t, &a, key(9), Mode::RangeSS);
    take(&t, &c, key(9), Mode::S);
    take(&t, &c, key(9), Mode::RangeSS);
    drop(ask_for(&t, &b, key(9), Mode::RangeIN, Duration::Instant));
    drop(ask(&t, &b, key(9), Mode::X));
    end(&t, &[&a, &c]);
    take(&t, &b, key(9), Mode::X);
    // A neighbour's X does not protect the gap below it.
    let free = t.try_lock(&a, key(9), Mode::RangeIN, Duration::Instant, None).unwrap();
    assert!(matches!(free, lock::Outcome::Granted { .. }));
    t.release_all(&b);
}

#[test]
fn a_search_is_called_for_when_a_second_waiter_comes_and_the_victim_wakes() {
    let t = table();
    let owners = [1, 2].map(owner);
    let calls = Arc::new(os::wait::Waiter::new());
    let theirs = Arc::clone(&calls);
    t.on_deadlock_search_wanted(move || theirs.signal());
    take(&t, &owners[0], key(0), Mode::X);
    take(&t, &owners[1], key(1), Mode::X);
    let spawn = |i: usize| {
        let (t, me) = (Arc::clone(&t), Arc::clone(&owners[i]));
        os::task::spawn("session", move || {
            let other = key(1 - i as u64);
            let got = t.lock(&me, other, Mode::X, Duration::Long, Timeout::INFINITE, None);
            t.release_all(&me);
            got.is_ok()
        })
    };
    let sessions = [spawn(0), spawn(1)];
    let woken = calls.wait(os::wait::WaitKind::RequestForDeadlockSearch, None);
    assert_eq!(woken, os::wait::Wake::Signalled);
    assert_eq!(victims(&t).1, [2]);
    let survived = sessions.map(|s| s.join().unwrap());
    assert_eq!(survived, [true, false]);
    assert_eq!(t.entry_count(), 0);
}

/// Transactions that take keys in any order, some giving up early, beside a search that never
/// rests: all get through, and nothing stays behind.
#[test]
fn tasks_that_deadlock_all_the_time_all_get_through() {
    let t = table();
    let stop = Arc::new(AtomicBool::new(false));
    let (theirs, stopped) = (Arc::clone(&t), Arc::clone(&stop));
    let search = os::task::spawn("deadlock monitor", move || {
        let seen = DeadlockLog::default();
        while !stopped.load(SeqCst) {
            theirs.deadlock_step(&seen);
            theirs.held_and_waiting(100);
            os::task::sleep_ns(50_000);
        }
        seen.0.into_inner().len() as u64
    });
    let session = |n: u64| {
        let t = Arc::clone(&t);
        os::task::spawn("session", move || {
            let mut random = n * 0x9E37_79B9 + 12_345;
            let mut below = move |n: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % n
            };
            let me = owner(n);
            let mut victims = 0;
            for i in 0..250_u64 {
                me.renew(OwnerId::new(OwnerKind::Transaction, n * 1_000 + i));
                for _ in 0..3 {
                    let mode = [Mode::S, Mode::U, Mode::X, Mode::RangeSS][below(4) as usize];
                    let patience = match below(8) {
                        0 => Timeout::NO_WAIT,
                        1 => Timeout::from_setting(1),
                        _ => Timeout::INFINITE,
                    };
                    match t.lock(&me, key(below(4)), mode, Duration::Long, patience, None) {
                        Ok(_) => os::task::sleep_ns(1_000),
                        Err(LockError::TimedOut { .. }) => {}
                        Err(LockError::DeadlockVictim { .. }) => {
                            victims += 1;
                            break;
                        }
                        Err(e) => panic!("{e:?}"),
                    }
                }
                t.release_all(&me);
            }
            victims
        })
    };
    let sessions: Vec<_> = (1..=4).map(session).collect();
    let victims: u64 = sessions.into_iter().map(|s| s.join().unwrap()).sum();
    stop.store(true, SeqCst);
    let seen = search.join().unwrap();
    t.verify();
    assert!(victims > 0 && victims == seen, "{victims} victims, {seen} seen");
    assert_eq!((t.entry_count(), t.counters().deadlocks), (0, victims));
}

/// A witness in whose presence the other one gives up and lets everything go.
struct YieldingWitness(Arc<Table>, Arc<Owner>, Mutex<Option<Ticket>>);

impl DeadlockWitness for YieldingWitness {
    fn saw(&self, _: &Deadlock) {
        drop(self.2.lock().take());
        self.0.release_all(&self.1);
    }
}

#[test]
fn once_chosen_a_victim_stays_one_even_if_its_lock_comes_free() {
    let t = table();
    let owners = [1, 2].map(owner);
    let mut tickets = circle(&t, &owners);
    let second = tickets.pop().unwrap();
    let witness =
        YieldingWitness(Arc::clone(&t), Arc::clone(&owners[0]), Mutex::new(tickets.pop()));
    assert_eq!(t.deadlock_step(&witness).found, 1);
    assert!(is_victim(&t, &owners[1], second));
    assert_eq!(t.held_mode(&owners[1], key(0)), Mode::NL);
    t.release_all(&owners[1]);
    assert_eq!(t.entry_count(), 0);
}
