//! A row is one row at each moment, whoever clears away behind it: schedules of readers and of
//! those who change it, shuffled by a seed. A mover takes it from key to key and settles what he
//! leaves, in a heap from RID to RID; changers go over its value in turn, also under optimized
//! locking, where who comes next waits for nobody who has just committed; or over its value, beside
//! readers of several moments, so that versions go from the middle of what others go along.

use super::{Draw, IndexKind, Rows, World, rows_of, seeds};
use access::{Field, Isolation, LockPlan, RowKey, ScanRange, StoredHobt};
use base::SessionId;
use sim::{Options, RunEnd, Simulation};
use std::sync::Arc;
use txn::Mutation;
use work::{CommitMode, STATEMENT_VERSIONS, Snapshot, Work};

const READERS: i16 = 3;
const LOOKS: usize = 12;
const STEPS: usize = 60;
const MOMENTS_MAX: usize = 4;
const MOVES: i32 = 40;
const CHANGERS: i16 = 2;
const SWEEPS: usize = 30;
const CHANGES: u8 = 20;

/// Who changes the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Changer {
    Mover(IndexKind),
    Changers {
        optimized: bool,
    },
    /// Changers, beside readers who keep several moments.
    BesideMany,
}

const MOVER: Changer = Changer::Mover(IndexKind::Clustered);
const HEAP_MOVER: Changer = Changer::Mover(IndexKind::Heap);

fn run(who: Changer, seed: u64, fault: Option<Mutation>) -> Result<(), String> {
    let run = Simulation::try_run(seed, Options::default(), |_| {
        let kind = if who == HEAP_MOVER { IndexKind::Heap } else { IndexKind::Clustered };
        let world = World::new(kind, seed);
        world.plant(fault);
        world.db.home().set_versioning(STATEMENT_VERSIONS);
        world.db.home().set_optimized_locking(who == Changer::Changers { optimized: true });
        let plan = LockPlan::change(Isolation::ReadCommitted);
        let mut work = Work::new(&world.env.engine, SessionId(51), Arc::default());
        work.begin(true, "");
        let first = world.hobt.insert(&mut work, &row(&0_i32.to_le_bytes()), &plan).unwrap().rid;
        work.commit(CommitMode::Delayed).unwrap();
        let spawn = |n: i16, act: fn(&dyn StoredHobt, &mut Work, Draw)| {
            let (engine, hobt) = (Arc::clone(&world.env.engine), Arc::clone(&world.hobt));
            os::task::spawn(&format!("session {n}"), move || {
                let draw = Draw(seed ^ (n as u64) << 32);
                act(&*hobt, &mut Work::new(&engine, SessionId(n), Arc::default()), draw);
            })
        };
        let reads = if who == Changer::BesideMany { look_back } else { look_often };
        let mut tasks: Vec<_> = (0..READERS).map(|n| spawn(60 + n, reads)).collect();
        match who {
            Changer::Mover(IndexKind::Heap) => {
                let (engine, hobt) = (Arc::clone(&world.env.engine), Arc::clone(&world.hobt));
                let mut rid = first.unwrap();
                tasks.push(os::task::spawn("mover", move || {
                    let mut work = Work::new(&engine, SessionId(52), Arc::default());
                    (0..MOVES).for_each(|_| rid = replace(&*hobt, &mut work, rid));
                }));
            }
            Changer::Mover(_) => tasks.push(spawn(52, move_on)),
            Changer::Changers { .. } | Changer::BesideMany => {
                tasks.extend((0..CHANGERS).map(|n| spawn(70 + n, change_often)));
            }
        }
        let (engine, home) = (Arc::clone(&world.env.engine), Arc::clone(world.db.home()));
        tasks.push(os::task::spawn("sweeper", move || {
            (0..SWEEPS).for_each(|_| home.graveyards().sweep(&engine));
        }));
        for task in tasks {
            if let Err(panic) = task.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    match run.ended {
        RunEnd::Done(()) => Ok(()),
        RunEnd::Failed(text) | RunEnd::Stopped(text) => {
            Err(format!("{who:?}, seed {seed}: {text}"))
        }
        RunEnd::Crashed => Err(format!("{who:?}, seed {seed}: crashed")),
    }
}

fn row(key: &[u8; 4]) -> [Field<'_>; 2] {
    [Field::Inline(key), Field::Inline(&[7; 10])]
}

fn step(hobt: &dyn StoredHobt, work: &mut Work, key: i32) {
    let (from, to) = (key.to_le_bytes(), (key + 1).to_le_bytes());
    let found = RowKey { fields: &row(&from)[..1], hint: None };
    work.begin(true, "");
    hobt.update(work, found, &row(&to), &LockPlan::change(Isolation::ReadCommitted)).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
}

/// The row of a RID goes, and comes anew.
fn replace(hobt: &dyn StoredHobt, work: &mut Work, rid: [u8; 8]) -> [u8; 8] {
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let name = [Field::Inline(&rid)];
    work.begin(true, "");
    hobt.delete(work, RowKey { fields: &name, hint: None }, &plan).unwrap();
    let put = hobt.insert(work, &row(&0_i32.to_le_bytes()), &plan).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
    put.rid.unwrap()
}

fn change(hobt: &dyn StoredHobt, work: &mut Work, n: u8) {
    let (key, value) = (0_i32.to_le_bytes(), [n; 10]);
    let new = [Field::Inline(&key), Field::Inline(&value)];
    let found = RowKey { fields: &new[..1], hint: None };
    work.begin(true, "");
    hobt.update(work, found, &new, &LockPlan::change(Isolation::ReadCommitted)).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
}

fn move_on(hobt: &dyn StoredHobt, work: &mut Work, _draw: Draw) {
    (0..MOVES).for_each(|key| step(hobt, work, key));
}

fn change_often(hobt: &dyn StoredHobt, work: &mut Work, _draw: Draw) {
    (0..CHANGES).for_each(|n| change(hobt, work, n));
}

/// The row as of a moment.
fn read(hobt: &dyn StoredHobt, work: &mut Work, snapshot: &Snapshot) -> Rows {
    let at = Some(snapshot.at());
    let plan = LockPlan { as_of: at, ..LockPlan::read(Isolation::ReadCommitted) };
    let mut cursor = hobt.scan(work, &ScanRange::default(), &plan).unwrap();
    let found = rows_of(&mut *cursor, work).unwrap();
    drop(cursor);
    work.locks().release_short(work.owner());
    assert_eq!(found.len(), 1, "one row as of {:?}, not {found:?}", snapshot.at());
    found
}

/// Whoever has a moment finds the row, and finds it again.
fn look_often(hobt: &dyn StoredHobt, work: &mut Work, _draw: Draw) {
    for _ in 0..LOOKS {
        let snapshot = work.statement_snapshot();
        let first = read(hobt, work, &snapshot);
        assert_eq!(read(hobt, work, &snapshot), first, "the same as of {:?}", snapshot.at());
    }
}

/// The same with several moments, which end in any order.
fn look_back(hobt: &dyn StoredHobt, work: &mut Work, mut draw: Draw) {
    let mut moments: Vec<(Snapshot, Rows)> = Vec::new();
    for _ in 0..STEPS {
        match draw.below(4) {
            0 if moments.len() < MOMENTS_MAX => {
                let snapshot = work.statement_snapshot();
                let rows = read(hobt, work, &snapshot);
                moments.push((snapshot, rows));
            }
            1 if !moments.is_empty() => {
                let ended = draw.below(moments.len());
                moments.swap_remove(ended);
            }
            _ if !moments.is_empty() => {
                let (snapshot, rows) = &moments[draw.below(moments.len())];
                assert_eq!(read(hobt, work, snapshot), *rows, "as of {:?}", snapshot.at());
            }
            _ => {}
        }
    }
}

fn each(who: Changer, seeds: u64, fault: Option<Mutation>) {
    (0..seeds).for_each(|seed| run(who, seed, fault).unwrap_or_else(|text| panic!("{text}")));
}

#[test]
fn a_row_that_moves_is_one_at_each_moment() {
    each(MOVER, seeds() * 10, None);
    each(HEAP_MOVER, seeds() * 10, None);
}

#[test]
fn a_row_that_others_change_is_one_at_each_moment() {
    each(Changer::Changers { optimized: false }, seeds() * 10, None);
    each(Changer::Changers { optimized: true }, seeds() * 10, None);
    each(Changer::BesideMany, seeds() * 10, None);
}

/// A moment that is read before it is registered misses rows that went in between.
#[cfg(feature = "mutations")]
#[test]
fn a_point_that_is_read_early_is_caught() {
    let fault = Mutation::EarlyPoint;
    super::faults::caught(fault, "a row that moves", || each(MOVER, 2_000, Some(fault)));
}

/// A reader who looks at the leaf and then into the graveyard finds a row in neither.
#[cfg(feature = "mutations")]
#[test]
fn a_ghost_that_is_buried_late_is_caught() {
    let fault = Mutation::BuriedLate;
    super::faults::caught(fault, "a row that moves", || each(MOVER, 2_000, Some(fault)));
}

/// A row that gets the RID of one that a moment still sees hides it.
#[cfg(feature = "mutations")]
#[test]
fn a_rid_that_is_given_anew_is_caught() {
    let fault = Mutation::RidReused;
    super::faults::caught(fault, "a row that moves", || each(HEAP_MOVER, 2_000, Some(fault)));
}

/// Whoever comes behind a commit that the clock does not have yet frees what a moment before it
/// still sees.
#[cfg(feature = "mutations")]
#[test]
fn a_commit_that_is_told_before_the_clock_has_it_is_caught() {
    let (fault, who) = (Mutation::ClockUnasked, Changer::Changers { optimized: true });
    super::faults::caught(fault, "a row that others change", || each(who, 20_000, Some(fault)));
}

/// Whoever is on a chain when what was dropped from it is freed finds nothing there, or another's.
#[cfg(feature = "mutations")]
#[test]
fn a_version_that_is_freed_late_is_caught() {
    let (fault, who) = (Mutation::FreedLate, Changer::BesideMany);
    super::faults::caught(fault, "a row that others change", || each(who, 20_000, Some(fault)));
}
