//! Tests of the semaphores alone, with tasks of the simulator: every interleaving has its seed.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use os::entropy::random_u64;
use os::task;
use os::wait::CancelReason;
use sim::{Options, Simulation};

const KB: usize = 1024;

struct Scene {
    memory: Arc<Memory>,
    semaphores: ResourceSemaphores,
    engine: Arc<work::Engine>,
}

impl Scene {
    /// 1,000 KB for regular grants, 200 KB for small ones, under a limit for all of them.
    fn new(limit_kb: usize, timeout_ms: u64) -> Arc<Scene> {
        let memory = Memory::new(limit_kb * KB);
        let clerk = memory.clerk("MEMORYCLERK_SQLQERESERVATIONS");
        let workspace = Workspace {
            regular_bytes: 1000 * KB,
            small_bytes: 200 * KB,
            query_bytes_max: 800 * KB,
            small_query_bytes_max: 100 * KB,
            timeout_ms,
        };
        let engine = Arc::new(work::Engine::new(lock::Table::new(&lock::Options::default())));
        let semaphores = ResourceSemaphores::new(&memory, &clerk, workspace);
        Arc::new(Scene { memory, semaphores, engine })
    }

    fn session(&self, id: i16) -> Work {
        Work::new(&self.engine, SessionId(id), Arc::default())
    }

    /// What no moment may contradict.
    fn check(&self) {
        for row in self.semaphores.semaphores() {
            assert!(row.granted_bytes <= row.target_bytes, "invariant 1: {row:?}");
            assert_eq!(row.available_bytes + row.granted_bytes, row.target_bytes);
        }
        assert!(self.memory.reserved_bytes() <= self.memory.limit_bytes());
    }

    fn check_idle(&self) {
        for row in self.semaphores.semaphores() {
            let left = (row.granted_bytes, row.grantee_count, row.waiter_count);
            assert_eq!(left, (0, 0, 0), "invariant 5");
        }
        assert_eq!(self.memory.reserved_bytes(), 0);
    }

    fn wait_for_queue(&self, waiters: usize) {
        while self.semaphores.semaphores()[0].waiter_count != waiters {
            task::sleep_ns(10_000);
        }
    }
}

fn wants(required_kb: usize) -> Request {
    Request {
        kind: Kind::Regular,
        required_bytes: required_kb * KB,
        bytes_max: 800 * KB,
        ideal_bytes: 800 * KB,
        degree: 1,
    }
}

fn simulate(seeds: u64, body: impl Fn() + Sync) {
    for seed in 0..seeds {
        Simulation::run(seed, Options::default(), |_| body());
    }
}

fn below(n: u64) -> u64 {
    random_u64() % n
}

/// A session that asks, grows, holds and gives back, and now and then is cancelled meanwhile.
fn live(scene: &Scene, id: i16) {
    let work = scene.session(id);
    for _ in 0..12 {
        let kind = if below(4) == 0 { Kind::Small } else { Kind::Regular };
        let bytes_max = if kind == Kind::Small { 100 * KB } else { 800 * KB };
        let required_bytes = below(bytes_max as u64 + 1) as usize;
        let request =
            Request { kind, required_bytes, bytes_max, ideal_bytes: bytes_max, degree: 1 };
        let waiter = Arc::clone(work.owner().waiter());
        let after_ns = below(400_000);
        let canceller = (below(3) == 0).then(|| {
            task::spawn("canceller", move || {
                task::sleep_ns(after_ns);
                waiter.cancel(CancelReason::Attention);
            })
        });
        if let Ok(grant) = scene.semaphores.ask(&work, request) {
            let first = grant.bytes();
            assert!(first == required_bytes || first == 0, "what is required, or forced");
            for _ in 0..below(4) {
                let wanted = below(bytes_max as u64 * 2) as usize;
                let now = grant.grow_to(wanted);
                assert!(now >= first && now <= bytes_max.max(first));
                scene.check();
                task::sleep_ns(below(100_000));
            }
        }
        scene.check();
        if let Some(canceller) = canceller {
            canceller.join().unwrap();
        }
        work.owner().waiter().reset();
    }
}

#[test]
fn never_more_is_given_than_there_is_and_all_of_it_comes_back() {
    // There is as much as both targets together; then others have most of it.
    for limit_kb in [1200, 300] {
        simulate(40, || {
            let scene = Scene::new(limit_kb, 1);
            let lives = (1..=6).map(|id| {
                let scene = Arc::clone(&scene);
                task::spawn("session", move || live(&scene, id))
            });
            lives.collect::<Vec<_>>().into_iter().for_each(|t| t.join().unwrap());
            scene.check_idle();
        });
    }
}

#[test]
fn who_comes_first_is_granted_first_and_nobody_grows_meanwhile() {
    simulate(40, || {
        let scene = Scene::new(2000, 60_000);
        let holder = scene.session(50);
        let held = scene.semaphores.ask(&holder, wants(600)).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        // The last ones would fit at once.
        for (id, kb) in [(1, 700), (2, 600), (3, 10), (4, 800), (5, 10)] {
            let (scene, order) = (Arc::clone(&scene), Arc::clone(&order));
            let before = tasks.len();
            let theirs = Arc::clone(&scene);
            tasks.push(task::spawn("asker", move || {
                let work = theirs.session(id);
                let grant = theirs.semaphores.ask(&work, wants(kb)).unwrap();
                order.lock().push(theirs.semaphores.state.lock().of(Kind::Regular).queue.len());
                assert_eq!(grant.bytes(), kb * KB);
                task::sleep_ns(1_000_000);
            }));
            scene.wait_for_queue(before + 1);
        }
        assert_eq!(held.grow_to(601 * KB), 600 * KB, "others wait");
        drop(held);
        tasks.into_iter().for_each(|t| t.join().unwrap());
        // 1; then 2 and 3 together; then 4 and 5.
        let order = std::mem::take(&mut *order.lock());
        assert_eq!(order.first(), Some(&4), "the first is alone");
        assert!(order.windows(2).all(|two| two[0] >= two[1]), "{order:?}");
        scene.check_idle();
    });
}

#[test]
fn who_is_cancelled_or_has_waited_too_long_leaves_no_trace() {
    simulate(40, || {
        let scene = Scene::new(2000, 5);
        let (one, two) = (scene.session(1), scene.session(2));
        let held = scene.semaphores.ask(&one, wants(800)).unwrap();
        let from = monotonic_ns();
        let e = scene.semaphores.ask(&two, wants(800)).err().unwrap();
        assert_eq!(e.number(), 8645);
        assert!(monotonic_ns() - from >= 5_000_000);
        let waiter = Arc::clone(two.owner().waiter());
        let kill = task::spawn("kill", move || {
            task::sleep_ns(1_000_000);
            waiter.cancel(CancelReason::Kill);
        });
        let e = scene.semaphores.ask(&two, wants(800)).err().unwrap();
        assert_eq!(e.number(), messages::SESSION_KILLED.number);
        assert!(monotonic_ns() - from < 105_000_000, "within 100 ms");
        kill.join().unwrap();
        let row = scene.semaphores.semaphores()[0];
        assert_eq!((row.waiter_count, row.grantee_count), (0, 1));
        assert_eq!(row.timeout_error_count, 1);
        // Nothing of it stays in the way of growing.
        assert_eq!(held.grow_to(800 * KB), 800 * KB);
        drop(held);
        scene.check_idle();
    });
}

#[test]
fn a_session_that_holds_a_grant_gets_another_at_once() {
    simulate(10, || {
        let scene = Scene::new(2000, 60_000);
        let (one, two) = (scene.session(1), scene.session(2));
        let outer = scene.semaphores.ask(&one, wants(800)).unwrap();
        let theirs = Arc::clone(&scene);
        let waits = task::spawn("waits", move || {
            drop(theirs.semaphores.ask(&two, wants(800)).unwrap());
        });
        scene.wait_for_queue(1);
        let fits = scene.semaphores.ask(&one, wants(200)).unwrap();
        let not = scene.semaphores.ask(&one, wants(200)).unwrap();
        assert_eq!((fits.bytes(), not.bytes()), (200 * KB, 0));
        assert_eq!(scene.semaphores.semaphores()[0].forced_grant_count, 2);
        drop((not, fits, outer));
        waits.join().unwrap();
        scene.check_idle();
    });
}

#[test]
fn who_is_waited_for_by_a_grantee_is_forced_and_others_are_not() {
    simulate(10, || {
        let scene = Scene::new(2000, 60_000);
        let one = scene.session(1);
        let held = scene.semaphores.ask(&one, wants(800)).unwrap();
        let mut tasks = Vec::new();
        for id in [2, 3, 4] {
            let theirs = Arc::clone(&scene);
            tasks.push(task::spawn("waits", move || {
                let work = theirs.session(id);
                theirs.semaphores.ask(&work, wants(800)).unwrap().bytes()
            }));
            scene.wait_for_queue(tasks.len());
        }
        scene.semaphores.relieve(|| panic!("nobody has waited for long"));
        task::sleep_ns(2 * RELIEF_NS);
        // A grantee waits for 3 by way of 7; nobody who holds memory waits for 2.
        let waits = [(1, 7), (7, 3), (3, 7), (8, 2)].map(|(a, b)| (SessionId(a), SessionId(b)));
        scene.semaphores.relieve(|| waits.to_vec());
        scene.wait_for_queue(2);
        assert_eq!(scene.semaphores.semaphores()[0].forced_grant_count, 1);
        drop(held);
        let bytes: Vec<usize> = tasks.into_iter().map(|t| t.join().unwrap()).collect();
        assert_eq!(bytes, [800 * KB, 0, 800 * KB]);
        scene.check_idle();
    });
}

#[test]
fn where_others_have_all_memory_a_statement_runs_with_none() {
    let scene = Scene::new(1000, 60_000);
    let clerk = scene.memory.clerk("CACHESTORE_SQLCP");
    let others = scene.memory.reserve(&clerk, 990 * KB).unwrap();
    let work = scene.session(1);
    let grant = scene.semaphores.ask(&work, wants(100)).unwrap();
    assert_eq!((grant.bytes(), grant.grow_to(20 * KB)), (0, 0));
    drop(others);
    assert_eq!(grant.grow_to(20 * KB), 64 * KB, "a step");
    assert_eq!(grant.grow_to(801 * KB), 64 * KB, "not beyond its maximum");
    assert_eq!(grant.grow_to(750 * KB), 750 * KB);
    let more = scene.session(2);
    let second = scene.semaphores.ask(&more, wants(125)).unwrap();
    assert_eq!(second.bytes(), 125 * KB, "what is kept for those who come");
    assert_eq!(second.grow_to(126 * KB), 125 * KB, "none grows into it");
    drop((grant, second));
    scene.check_idle();
}

#[test]
fn the_shares_of_a_limit() {
    const MB: usize = 1024 * KB;
    let small = Workspace::of_limit(128 * MB);
    assert_eq!((small.regular_bytes, small.small_bytes), (42 * MB, 6 * MB));
    assert_eq!((small.query_bytes_max, small.small_query_bytes_max), (32 * MB, 3 * MB));
    let large = Workspace::of_limit(8192 * MB);
    assert_eq!((large.regular_bytes, large.small_bytes), (3008 * MB, 64 * MB));
    assert_eq!((large.query_bytes_max, large.small_query_bytes_max), (752 * MB, 4 * MB));
    for mb in [1, 16, 64, 96, 512, 1024, 65_536] {
        let w = Workspace::of_limit(mb * MB);
        assert!(w.query_bytes_max <= w.regular_bytes - w.regular_bytes / KEPT_PART, "{mb}");
        assert!(w.small_query_bytes_max < w.small_bytes, "{mb}");
        // The buffer pool has half.
        assert!(w.regular_bytes + w.small_bytes <= mb * MB / 8 * 3, "{mb}");
    }
}
