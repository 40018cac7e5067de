//! A table as a queue (proof versions.3): eight sessions put rows in, eight take them out, a
//! transaction each, while a SNAPSHOT transaction that read the queue stays open. Is its last tenth
//! as fast as its first, and is each row delivered once?
//!
//! Rows come in procedures of [`BATCH`] transactions, their output to the client as it comes.
//! Producers wait where the queue is long, so that both sides work to the end.

use crate::engine::{Durability, Engine as _, Start};
use crate::figure::{Figure, Outcome};
use crate::ghostlight::{Ghostlight, start_server};
use crate::wire::Session;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};
use types::Value;

const PRODUCERS: i64 = 8;
const CONSUMERS: usize = 8;
/// Transactions of a call.
const BATCH: i64 = 100;
/// Rows that wait in the queue, at most (and what is on its way).
const LENGTH_MAX: i64 = 4_000;
/// Rows that are there when the snapshot begins.
const BEFORE: i64 = 1_000;
const THROUGHPUT_MIN: f64 = 0.9;
const SILENCE_MAX: Duration = Duration::from_secs(30);
const SUMS: &str = "select count_big(*), sum(cast(n as bigint)), sum(id) from queue";

/// What all threads share.
struct Queue {
    rows: i64,
    put: AtomicI64,
    taken: AtomicI64,
    /// How often each row was delivered, by producer and number.
    delivered: Vec<AtomicU8>,
    failed: AtomicBool,
}

/// When a tenth of the rows had been taken out, and the CPU seconds till then.
#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    cpu: f64,
}

pub(crate) fn run(binary: &Path, folder: &Path, rows: i64) -> Outcome<Vec<Figure>> {
    let durability = Durability::Delayed;
    let folder = folder.join("queue");
    let start = Start { binary, folder: &folder, durability, memory_mb: None };
    let mut server = start_server(&start)?;
    server.run(&server.script("queue")?)?;
    server.run("ALTER DATABASE bench SET READ_COMMITTED_SNAPSHOT ON")?;
    server.run("ALTER DATABASE bench SET ALLOW_SNAPSHOT_ISOLATION ON")?;
    alone(&server, rows / 20)?;
    let each = rows / PRODUCERS;
    let queue = Queue::new(each);
    let mut first = server.login()?;
    produce(&mut first, 0, (0, BEFORE), &queue)?;
    let mut reader = server.login()?;
    let begin = format!("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION; {SUMS}");
    let read = reader.batch(&begin).map_err(|e| format!("the snapshot: {e}"))?;
    let marks = work(&server, &queue, (BEFORE, each))?;
    let again = reader.batch(SUMS).map_err(|e| format!("the snapshot: {e}"))?;
    let left = server.number("select count_big(*) from queue with (readcommittedlock)")?;
    Ok(judge(&queue, &marks, (&read, &again), left))
}

/// The same before anybody has a snapshot, to be told.
fn alone(server: &Ghostlight, rows: i64) -> Outcome<()> {
    let each = rows / PRODUCERS;
    let queue = Queue::new(each);
    let marks = work(server, &queue, (0, each))?;
    if let [first, .., last] = marks.as_slice() {
        let seconds = last.at.duration_since(first.at).as_secs_f64();
        let (rows, cpu) = (queue.rows as f64, last.cpu - first.cpu);
        println!(
            "queue: {:.0} rows a second without a snapshot, {:.0} of CPU",
            rows / seconds,
            rows / cpu
        );
    }
    Ok(())
}

/// All sessions to the end, the first producer's first rows being there; a mark at the start and
/// after each tenth.
fn work(server: &Ghostlight, queue: &Queue, (before, each): (i64, i64)) -> Outcome<Vec<Mark>> {
    let producers = (0..PRODUCERS).map(|_| server.login()).collect::<Outcome<Vec<_>>>()?;
    let consumers = (0..CONSUMERS).map(|_| server.login()).collect::<Outcome<Vec<_>>>()?;
    thread::scope(|scope| {
        let mut tasks = Vec::new();
        for (number, mut session) in (0..).zip(producers) {
            let from = if number == 0 { before } else { 0 };
            tasks.push(
                scope.spawn(move || {
                    queue.noting(produce(&mut session, number, (from, each), queue))
                }),
            );
        }
        for mut session in consumers {
            tasks.push(scope.spawn(move || queue.noting(consume(&mut session, queue, each))));
        }
        let marks = watch(server, queue);
        for task in tasks {
            task.join().map_err(|_| "a session panicked".to_owned())??;
        }
        marks
    })
}

/// Looks at the clocks as often as a tenth of the rows has been taken out.
fn watch(server: &Ghostlight, queue: &Queue) -> Outcome<Vec<Mark>> {
    let now = || Mark { at: Instant::now(), cpu: server.cpu_seconds() };
    let mut marks = vec![now()];
    let (mut last, mut moved) = (0, Instant::now());
    while marks.len() <= 10 && !queue.failed.load(Relaxed) {
        let taken = queue.taken.load(Relaxed);
        if taken >= queue.rows / 10 * marks.len() as i64 {
            marks.push(now());
        } else if taken != last {
            (last, moved) = (taken, Instant::now());
        } else if moved.elapsed() > SILENCE_MAX {
            queue.failed.store(true, Relaxed);
            return Err(format!("nothing is delivered any more after {taken} rows"));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(marks)
}

impl Queue {
    /// Nothing was put yet; each producer will put so many.
    fn new(each: i64) -> Queue {
        Queue {
            rows: each * PRODUCERS,
            put: AtomicI64::new(0),
            taken: AtomicI64::new(0),
            delivered: (0..each * PRODUCERS).map(|_| AtomicU8::new(0)).collect(),
            failed: AtomicBool::new(false),
        }
    }

    /// Who fails ends all.
    fn noting<T>(&self, outcome: Outcome<T>) -> Outcome<T> {
        if outcome.is_err() {
            self.failed.store(true, Relaxed);
        }
        outcome
    }

    fn goes_on(&self) -> bool {
        self.taken.load(Relaxed) < self.rows && !self.failed.load(Relaxed)
    }
}

/// Puts the rows of one producer from a number to another.
fn produce(
    session: &mut Session,
    producer: i64,
    (from, to): (i64, i64),
    queue: &Queue,
) -> Outcome<()> {
    let mut n = from;
    while n < to && !queue.failed.load(Relaxed) {
        if queue.put.load(Relaxed) - queue.taken.load(Relaxed) > LENGTH_MAX {
            thread::sleep(Duration::from_micros(500));
            continue;
        }
        let count = BATCH.min(to - n);
        let call = format!("EXEC produce {producer}, {n}, {count}");
        session.batch(&call).map_err(|e| format!("{call}: {e}"))?;
        queue.put.fetch_add(count, Relaxed);
        n += count;
    }
    Ok(())
}

/// Takes rows out until all are.
fn consume(session: &mut Session, queue: &Queue, each: i64) -> Outcome<()> {
    let call = format!("EXEC consume {BATCH}");
    while queue.goes_on() {
        let rows = session.rows(&call).map_err(|e| format!("{call}: {e}"))?;
        for row in &rows {
            let number = |at: usize| row.get(at).and_then(Value::as_i64);
            let (Some(producer), Some(n)) = (number(1), number(2)) else {
                return Err(format!("a row without its numbers: {row:?}"));
            };
            let place = usize::try_from(producer * each + n).ok();
            let count = place.and_then(|place| queue.delivered.get(place));
            count.ok_or_else(|| format!("a row that nobody put: {row:?}"))?.fetch_add(1, Relaxed);
        }
        queue.taken.fetch_add(rows.len() as i64, Relaxed);
        if rows.is_empty() {
            thread::sleep(Duration::from_micros(500));
        }
    }
    Ok(())
}

fn judge(queue: &Queue, marks: &[Mark], read: (&[i64], &[i64]), left: i64) -> Vec<Figure> {
    let times = |n: u8| queue.delivered.iter().filter(|d| d.load(Relaxed) == n).count();
    let (lost, once) = (times(0), times(1));
    let mut figures = vec![
        Figure {
            what: format!("{} rows by {PRODUCERS} producers to {CONSUMERS} consumers", queue.rows),
            figure: format!(
                "{once} delivered once, {lost} lost, {} more than once, {left} left",
                queue.delivered.len() - once - lost
            ),
            limit: "all once".to_owned(),
            pass: once == queue.delivered.len() && left == 0,
        },
        Figure {
            what: "the open snapshot's count and sums of the queue, at its end".to_owned(),
            figure: format!("{:?}", read.1),
            limit: format!("{:?}", read.0),
            pass: read.0 == read.1 && read.0.first() == Some(&BEFORE),
        },
    ];
    let tenth = |n: usize| {
        let (from, to) = (marks.get(n)?, marks.get(n + 1)?);
        Some((to.at.duration_since(from.at).as_secs_f64(), to.cpu - from.cpu))
    };
    for n in 0..10 {
        if let Some((seconds, cpu)) = tenth(n) {
            println!("queue: tenth {}: {seconds:.2} s, {cpu:.2} s of CPU", n + 1);
        }
    }
    let rows = queue.rows as f64 / 10.0;
    let rates = tenth(0).zip(tenth(9)).map(|(first, last)| (rows / first.0, rows / last.0));
    let (first, last) = rates.unwrap_or((f64::NAN, f64::NAN));
    figures.push(Figure {
        what: "the queue's last tenth against its first, rows a second".to_owned(),
        figure: format!("{:.2} ({last:.0}, {first:.0})", last / first),
        limit: format!("at least {THROUGHPUT_MIN}"),
        pass: last >= first * THROUGHPUT_MIN,
    });
    figures
}
