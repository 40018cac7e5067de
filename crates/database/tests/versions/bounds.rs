//! Who deletes many rows does not keep others waiting for his ghosts: the first go under his locks,
//! the rest when he has given them back. What others hold then he leaves to the cleaner.

use super::{IndexKind, World, rows_of, seeds};
use access::{Field, Isolation, KeyBound, LockPlan, RowKey, ScanMode, ScanRange, StoredHobt};
use base::SessionId;
use os::wait::Waiter;
use sim::{Options, RunEnd, Simulation};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use work::{CommitMode, Engine, GhostRule, STATEMENT_VERSIONS, Work};

/// What goes under locks.
const FIRST: u64 = 1_000;

/// The ghosts of rows and of their large values.
fn ghosts(engine: &Engine, hobt: &dyn StoredHobt) -> u64 {
    let of = |hobt: &dyn StoredHobt| {
        let levels = hobt.physical_stats(ScanMode::Detailed, engine, &Waiter::new()).unwrap();
        let leaf = levels[0].contents.as_ref().unwrap();
        leaf.ghosts + leaf.version_ghosts
    };
    of(hobt) + hobt.large().map_or(0, |large| of(&*large))
}

/// Puts so many rows of so many bytes, and says by what each is named.
fn fill(world: &mut World, rows: u64, bytes: usize) -> Vec<Vec<u8>> {
    let (work, plan) = (&mut world.sessions[0].work, LockPlan::change(Isolation::ReadCommitted));
    let value = vec![7; bytes];
    work.begin(true, "");
    let mut put = |key: u64| {
        let key = (key as i32).to_le_bytes();
        let row = [Field::Inline(&key), Field::Inline(&value)];
        let put = world.hobt.insert(work, &row, &plan).unwrap();
        put.rid.map_or(key.to_vec(), |rid| rid.to_vec())
    };
    let names = (0..rows).map(&mut put).collect();
    work.commit(CommitMode::Delayed).unwrap();
    names
}

fn delete(hobt: &dyn StoredHobt, work: &mut Work, names: &[Vec<u8>]) {
    let plan = LockPlan::change(Isolation::ReadCommitted);
    for name in names {
        let fields = [Field::Inline(name)];
        hobt.delete(work, RowKey { fields: &fields, hint: None }, &plan).unwrap();
    }
}

/// Deletes all, and says how many ghosts there were when the locks were about to go.
fn delete_all(world: &mut World, names: &[Vec<u8>]) -> u64 {
    let work = &mut world.sessions[0].work;
    work.begin(true, "");
    delete(&*world.hobt, work, names);
    let (engine, hobt) = (Arc::clone(&world.env.engine), Arc::clone(&world.hobt));
    let left = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&left);
    work.after_commit(move || told.store(ghosts(&engine, &*hobt), Relaxed), || {});
    work.commit(CommitMode::Delayed).unwrap();
    left.load(Relaxed)
}

/// More rows than are locked one by one, and fewer; with versions and without.
#[test]
fn most_ghosts_of_a_long_delete_go_without_its_locks() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        for (rows, versions) in [(1_500, 0), (1_500, STATEMENT_VERSIONS), (7_000, 0)] {
            let mut world = World::new(kind, 7);
            world.db.home().set_versioning(versions);
            let names = fill(&mut world, rows, 20);
            let left = delete_all(&mut world, &names);
            assert_eq!(left, rows - FIRST, "{kind:?} {rows} {versions}");
            assert_eq!(ghosts(&world.env.engine, &*world.hobt), 0, "{kind:?} {rows} {versions}");
            assert_eq!(world.db.home().ghosts().count(), 0, "nothing is left to the cleaner");
            world.finish();
        }
    }
}

/// Pieces of large values are locked by nobody, so they go by their keys.
#[test]
fn pieces_of_large_values_go_without_locks() {
    for versions in [0, STATEMENT_VERSIONS] {
        let mut world = World::new(IndexKind::Clustered, 7);
        world.db.home().set_versioning(versions);
        let names = fill(&mut world, 300, 40_000);
        // Somebody else writes the table: its cleaner would have to wait.
        let plan = LockPlan::change(Isolation::ReadCommitted);
        let row = [Field::Inline(&[0xFF, 0, 1, 0]), Field::Inline(&[1])];
        world.sessions[1].work.begin(true, "");
        world.hobt.insert(&mut world.sessions[1].work, &row, &plan).unwrap();
        let left = delete_all(&mut world, &names);
        assert_eq!(left, 300 + 5 * 300 - FIRST, "a row and its pieces");
        assert_eq!(ghosts(&world.env.engine, &*world.hobt), 0);
        world.sessions[1].work.roll_back().unwrap();
        world.finish();
    }
}

/// What is taken back leaves no ghost that anybody would settle; what is deleted behind it goes.
#[test]
fn ghosts_that_are_taken_back_are_no_ghosts() {
    let mut world = World::new(IndexKind::Clustered, 7);
    let names = fill(&mut world, 3_000, 20);
    let work = &mut world.sessions[0].work;
    work.begin(true, "");
    let mark = work.mark();
    delete(&*world.hobt, work, &names);
    work.roll_back_to(&mark).unwrap();
    delete(&*world.hobt, work, &names[..1_200]);
    work.roll_back().unwrap();
    assert_eq!(ghosts(&world.env.engine, &*world.hobt), 0);
    assert_eq!(delete_all(&mut world, &names[..1_800]), 1_800 - FIRST);
    assert_eq!(delete_all(&mut world, &names[1_800..]), 1_200 - FIRST);
    assert_eq!(ghosts(&world.env.engine, &*world.hobt), 0);
    world.finish();
}

/// Under SQL Server's rules nobody clears away but the cleaner.
#[test]
fn what_a_rule_leaves_to_the_cleaner_stays() {
    let mut world = World::new(IndexKind::Clustered, 7);
    world.db.home().set_versioning(STATEMENT_VERSIONS);
    world.db.home().set_ghost_rule(GhostRule::Statement);
    let names = fill(&mut world, 1_500, 20);
    assert_eq!(delete_all(&mut world, &names), 1_500);
    assert_eq!(ghosts(&world.env.engine, &*world.hobt), 1_500);
    assert!(world.db.home().ghosts().count() > 0, "their pages are noted");
    world.db.home().set_ghost_rule(GhostRule::Interval);
    world.clean();
    world.finish();
}

/// Whoever waits for a deleted row may go on, and hold its gap, while ghosts are there yet; whether
/// he has met any.
fn wait_for_delete(seed: u64) -> bool {
    let run = Simulation::try_run(seed, Options::default(), |_| {
        let mut world = World::new(IndexKind::Clustered, seed);
        world.env.engine.settle_under_locks(8);
        let names = fill(&mut world, 60, 400);
        let work = &mut world.sessions[0].work;
        work.begin(true, "");
        delete(&*world.hobt, work, &names);
        let (engine, hobt) = (Arc::clone(&world.env.engine), Arc::clone(&world.hobt));
        let waits = os::task::spawn("session 70", move || {
            let mut work = Work::new(&engine, SessionId(70), Arc::default());
            work.begin(true, "");
            let (low, high) = (20_i32.to_le_bytes(), 45_i32.to_le_bytes());
            let ends = [[Field::Inline(&low)], [Field::Inline(&high)]];
            let bound = |n: usize| Some(KeyBound { fields: &ends[n], inclusive: true });
            let range = ScanRange { lower: bound(0), upper: bound(1), backward: false };
            let plan = LockPlan::read(Isolation::Serializable);
            let mut cursor = hobt.scan(&mut work, &range, &plan).unwrap();
            assert!(rows_of(&mut *cursor, &mut work).unwrap().is_empty(), "all are deleted");
            drop(cursor);
            let met = ghosts(&engine, &*hobt);
            // What it holds stays: its gaps have their anchors.
            os::sched::switch_point();
            work.commit(CommitMode::Delayed).unwrap();
            met
        });
        os::sched::switch_point();
        world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
        let met = waits.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert!(met <= 60 - 8, "the first have gone");
        world.finish();
        met > 0
    });
    match run.ended {
        RunEnd::Done(met) => met,
        ended => panic!("seed {seed}: {ended:?}"),
    }
}

#[test]
fn who_waits_for_a_long_delete_does_not_wait_for_its_ghosts() {
    let count = 5 * seeds();
    let met = (0..count).filter(|seed| wait_for_delete(*seed)).count();
    println!("{met} of {count} went on before the ghosts had gone");
    assert!(met > 0, "nobody went on before the ghosts had gone");
}
