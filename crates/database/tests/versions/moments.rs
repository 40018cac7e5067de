//! A row that moves from key to key is one row at each moment, whoever clears away behind it:
//! schedules of a mover, who settles what he leaves, and of readers, shuffled by a seed.

use super::{IndexKind, World, rows_of, seeds};
use access::{Field, Isolation, LockPlan, RowKey, ScanRange, TableSink, TableSource};
use base::SessionId;
use rowstore::RowHobt;
use sim::{Ended, Options, Simulation};
use std::sync::Arc;
use txn::Mutation;
use work::{CommitMode, STATEMENT_VERSIONS, Work};

const READERS: i16 = 3;
const LOOKS: usize = 12;
const MOVES: i32 = 40;

fn run(seed: u64, fault: Option<Mutation>) -> Result<(), String> {
    let run = Simulation::try_run(seed, Options::default(), |_| {
        let world = World::new(IndexKind::Clustered, seed);
        world.plant(fault);
        world.db.home().set_versioning(STATEMENT_VERSIONS);
        let (engine, hobt) = (&world.env.engine, &world.hobt);
        let plan = LockPlan::change(Isolation::ReadCommitted);
        let mut work = Work::new(engine, SessionId(51), Arc::default());
        work.begin(true, "");
        hobt.insert(&mut work, &row(&0_i32.to_le_bytes()), &plan).unwrap();
        work.commit(CommitMode::Delayed).unwrap();
        let reader = |n: i16| {
            let (engine, hobt) = (Arc::clone(engine), Arc::clone(hobt));
            let id = SessionId(60 + n);
            os::task::spawn(&format!("reader {n}"), move || {
                let mut work = Work::new(&engine, id, Arc::default());
                (0..LOOKS).for_each(|_| look(&hobt, &mut work));
            })
        };
        let mut tasks: Vec<_> = (0..READERS).map(reader).collect();
        let hobt = Arc::clone(hobt);
        tasks.push(os::task::spawn("mover", move || {
            (0..MOVES).for_each(|key| step(&hobt, &mut work, key));
        }));
        for task in tasks {
            if let Err(panic) = task.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    match run.ended {
        Ended::Done(()) => Ok(()),
        Ended::Failed(text) | Ended::Stopped(text) => Err(format!("seed {seed}: {text}")),
        Ended::Crashed => Err(format!("seed {seed}: crashed")),
    }
}

fn row(key: &[u8; 4]) -> [Field<'_>; 2] {
    [Field::Inline(key), Field::Inline(&[7; 10])]
}

fn step(hobt: &RowHobt, work: &mut Work, key: i32) {
    let (from, to) = (key.to_le_bytes(), (key + 1).to_le_bytes());
    let found = RowKey { fields: &row(&from)[..1], hint: None };
    work.begin(true, "");
    hobt.update(work, found, &row(&to), &LockPlan::change(Isolation::ReadCommitted)).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
}

/// Whoever has a moment finds the row, and finds it again.
fn look(hobt: &RowHobt, work: &mut Work) {
    let snapshot = work.statement_snapshot();
    let at = Some(snapshot.at());
    let plan = LockPlan { as_of: at, ..LockPlan::read(Isolation::ReadCommitted) };
    let mut read = || {
        let mut cursor = hobt.scan(work, &ScanRange::default(), &plan).unwrap();
        let found = rows_of(&mut *cursor, work).unwrap();
        drop(cursor);
        work.locks().release_short(work.owner());
        found
    };
    let first = read();
    assert_eq!(first.len(), 1, "one row as of {:?}, not {first:?}", snapshot.at());
    assert_eq!(read(), first, "the same as of {:?}", snapshot.at());
}

#[test]
fn a_row_that_moves_is_one_at_each_moment() {
    for seed in 0..seeds() * 10 {
        run(seed, None).unwrap_or_else(|text| panic!("{text}"));
    }
}

/// A moment that is read before it is registered misses rows that went in between.
#[cfg(feature = "mutations")]
#[test]
fn a_point_that_is_read_early_is_caught() {
    super::caught(Mutation::EarlyPoint, "a row that moves", || {
        (0..2_000).for_each(|seed| {
            run(seed, Some(Mutation::EarlyPoint)).unwrap_or_else(|text| panic!("{text}"));
        });
    });
}
