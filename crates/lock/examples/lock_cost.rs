//! What a lock costs: prints nanoseconds per operation. Run with `--release`.

use base::{DatabaseId, HobtId, ObjectId, SessionId};
use lock::{Duration, Mode, Options, Owner, OwnerId, OwnerKind, Resource, Table};
use os::wait::Waiter;
use std::sync::Arc;

const ROUNDS: u64 = 2_000_000;

fn owner(n: u64) -> Arc<Owner> {
    let id = OwnerId::new(OwnerKind::Transaction, n);
    Owner::new(id, SessionId(51), Arc::new(Waiter::new()))
}

fn measure(name: &str, per_round: u64, mut round: impl FnMut(u64)) {
    let mut best = f64::MAX;
    for _ in 0..3 {
        let from = os::clock::monotonic_ns();
        (0..ROUNDS / per_round).for_each(&mut round);
        let ns = os::clock::monotonic_ns() - from;
        best = best.min(ns as f64 / (ROUNDS / per_round * per_round) as f64);
    }
    println!("{best:8.1} ns  {name}");
}

fn main() {
    let t = Table::new(&Options::default());
    let (db, hobt) = (DatabaseId(5), HobtId(7));
    let o = owner(1);
    let lock = |r, m, d| {
        let got = t.try_lock(&o, r, m, d, None).expect("there is memory");
        assert!(!matches!(got, lock::Outcome::Wait(_)));
    };
    measure("lock and release, short, one key after another", 1, |n| {
        let key = Resource::key(db, hobt, n);
        lock(key, Mode::S, Duration::Short);
        t.release(&o, key);
    });
    measure("test of RangeI-N on a free key", 1, |n| {
        lock(Resource::key(db, hobt, n), Mode::RangeIN, Duration::Instant);
    });
    measure("lock long, release all, 4 a transaction", 4, |n| {
        lock(Resource::object(db, ObjectId(1)), Mode::IX, Duration::Long);
        lock(Resource::page(db, hobt, base::PageId::new(1, 9)), Mode::IX, Duration::Long);
        lock(Resource::key(db, hobt, n * 2), Mode::X, Duration::Long);
        lock(Resource::key(db, hobt, n * 2 + 1), Mode::X, Duration::Long);
        t.release_all(&o);
    });
    measure("lock long, release all, 1,000 a transaction", 1_000, |n| {
        for i in 0..1_000 {
            lock(Resource::key(db, hobt, n * 1_000 + i), Mode::X, Duration::Long);
        }
        t.release_all(&o);
    });
    let shared = Resource::object(db, ObjectId(2));
    let others: Vec<_> = (2..66).map(owner).collect();
    for other in &others {
        t.try_lock(other, shared, Mode::IX, Duration::Long, None).expect("there is memory");
    }
    measure("lock and release IX beside 64 others", 1, |_| {
        lock(shared, Mode::IX, Duration::Short);
        t.release(&o, shared);
    });
    others.iter().for_each(|other| t.release_all(other));
}
