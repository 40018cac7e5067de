//! Makers: rows of several workers without a plan, their ends, errors, attentions and panics.

use crate::fake::Bench;
use base::{SessionId, SqlError, SqlResult, messages};
use exec::{MadeRows, Maker, MakerTask, Workers};
use os::wait::{CancelReason, WaitKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

const SESSION: SessionId = SessionId(51);

/// Enough that lanes fill up.
const ROWS: usize = 200_000;

/// Reads all rows of all makers, one maker after the other.
fn all(made: Vec<MadeRows<'_>>) -> SqlResult<Vec<Vec<Vec<u8>>>> {
    let mut found = Vec::new();
    for mut rows in made {
        let mut of_one = Vec::new();
        while rows.advance()? {
            of_one.push(rows.row().to_vec());
        }
        found.push(of_one);
    }
    Ok(found)
}

/// So many numbers, as text of growing length.
fn numbers(maker: &mut Maker<'_>, count: usize) -> SqlResult<()> {
    for n in 0..count {
        maker.check()?;
        maker.send(format!("{}:{n}", maker.number()).as_bytes())?;
    }
    Ok(())
}

fn make<R>(
    bench: &mut Bench,
    making: &MakerTask<'_>,
    read: impl FnOnce(Vec<MadeRows<'_>>) -> R,
) -> (R, Workers) {
    let workers = Workers::new(8, 4);
    let reserved = workers.reserve_makers(SESSION, 3).expect("all are free");
    assert_eq!((reserved.degree(), workers.crews().len()), (3, 1));
    let (result, _) = reserved.make(&mut bench.work, making, |_, made| read(made));
    drop(reserved);
    assert!(workers.crews().is_empty(), "threads are given back");
    (result, workers)
}

/// Each maker's rows come whole and in its order, also none, empty ones, and one that is larger
/// than a packet.
#[test]
fn rows_come_as_they_were_made() {
    let mut bench = Bench::default();
    let making = |maker: &mut Maker<'_>| match maker.number() {
        0 => numbers(maker, ROWS),
        1 => Ok(()),
        _ => {
            maker.send(&[])?;
            maker.send(&vec![7; 100_000])?;
            maker.send(b"last")
        }
    };
    let (found, _) = make(&mut bench, &making, all);
    let found = found.expect("nothing fails");
    assert_eq!(found[0].len(), ROWS);
    assert_eq!(found[0][ROWS - 1], format!("0:{}", ROWS - 1).as_bytes());
    assert!(found[1].is_empty());
    assert_eq!(found[2].iter().map(Vec::len).collect::<Vec<_>>(), [0, 100_000, 4]);
    assert_eq!(found[2][2], b"last");
}

/// The error of one ends the others, wherever they wait, and comes out of the reading once.
#[test]
fn an_error_of_one_is_the_error_of_all() {
    let mut bench = Bench::default();
    let full = || SqlError::new(messages::INTERNAL, &[&"full"]);
    let making = |maker: &mut Maker<'_>| match maker.number() {
        2 => Err(full()),
        _ => numbers(maker, usize::MAX),
    };
    let (found, _) = make(&mut bench, &making, all);
    assert_eq!(found.map_err(|e| e.to_string()), Err(full().to_string()));
}

/// A reader that stops early sends all makers home, those too that wait for room.
#[test]
fn who_reads_no_more_ends_the_makers() {
    let mut bench = Bench::default();
    let ended = AtomicUsize::new(0);
    let making = |maker: &mut Maker<'_>| {
        let made = numbers(maker, usize::MAX);
        ended.fetch_add(1, Relaxed);
        made
    };
    let (first, _) = make(&mut bench, &making, |mut made| {
        let more = made[1].advance();
        more.map(|more| (more, made[1].row().to_vec()))
    });
    assert_eq!(first.expect("one row was there"), (true, b"1:0".to_vec()));
    assert_eq!(ended.load(Relaxed), 3);
    // The next wait of the session is not ended by what was meant for this one.
    let timed_out = os::clock::monotonic_ns() + 1_000_000;
    let wake = bench.work.owner().waiter().wait(WaitKind::CxConsumer, Some(timed_out));
    assert!(matches!(wake, os::wait::Wake::TimedOut), "{wake:?}");
}

/// An attention reaches the reading thread while makers have nothing for it, and through it them.
#[test]
fn an_attention_ends_readers_and_makers() {
    let mut bench = Bench::default();
    let waiter = Arc::clone(bench.work.owner().waiter());
    let asked = AtomicBool::new(false);
    let making = |maker: &mut Maker<'_>| {
        if !asked.swap(true, Relaxed) {
            waiter.cancel(CancelReason::Attention);
        }
        loop {
            maker.check()?;
            os::task::sleep_ns(100_000);
        }
    };
    let (found, _) = make(&mut bench, &making, all);
    assert_eq!(found.map_err(|e| e.number()), Err(messages::ATTENTION.number));
}

/// A panic is that of the statement, when all have ended.
#[test]
fn a_panic_of_one_is_the_statements() {
    let mut bench = Bench::default();
    let making = |maker: &mut Maker<'_>| match maker.number() {
        0 => panic!("on purpose"),
        _ => numbers(maker, usize::MAX),
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| make(&mut bench, &making, all).0));
    let payload = outcome.expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
}
