//! W3: an update of every row of a table. Killed when it is done and not committed: how long after
//! its next start an engine gives a first answer (a query of another table in the same database),
//! and full use (an update of [`SOME`] of those rows). And the same update rolled back by its
//! session.
//!
//! Each engine is stopped and started before, so that all come from a checkpoint of their own, and
//! has read the table. The files stay in the system's cache when a process is killed: nobody
//! reads from the disk.

use crate::connection::Connection;
use crate::engine::{Durability, Engine, SERVERS, Start};
use crate::figure::{Figure, Outcome, median};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Rows of the update that shows full use, from the first to the last.
const SOME: u64 = 100;
const ANSWER_SECONDS_MAX: u64 = 300;
const ACCELERATE: &str = "alter database current set accelerated_database_recovery = on";
const UPDATE: &str = "update history set quantity = quantity + 1";
const SUM: &str = "select sum(cast(quantity as {bigint})) from history";

/// What of it is to be run.
pub(crate) struct Choice {
    pub(crate) rows: u64,
    pub(crate) repetitions: usize,
    pub(crate) engine: Option<String>,
    /// Ghostlight's database has accelerated recovery.
    pub(crate) accelerated: bool,
}

/// Seconds.
#[derive(Clone, Copy)]
struct Times {
    update: f64,
    first_answer: f64,
    full_use: f64,
    rollback: f64,
}

pub(crate) fn run(binary: &Path, folder: &Path, choice: &Choice) -> Outcome<Vec<Figure>> {
    println!("W3: an update of {} rows, killed before its commit, and rolled back", choice.rows);
    let mut engines = vec![Vec::new(); SERVERS.len()];
    for _ in 0..choice.repetitions {
        for ((name, start), runs) in SERVERS.iter().zip(&mut engines) {
            if choice.engine.as_deref().is_some_and(|one| !one.eq_ignore_ascii_case(name)) {
                continue;
            }
            let durability = Durability::Full;
            let of = Start { binary, folder, durability, memory_mb: None };
            match start(&of)? {
                Some(mut engine) => runs.push(once(&mut *engine, choice)?),
                None => println!("  {name}: not installed"),
            }
        }
    }
    let of = |runs: &Vec<Times>, time: fn(&Times) -> f64| median(runs.iter().map(time).collect());
    let middle = |runs: &Vec<Times>| {
        (!runs.is_empty()).then(|| Times {
            update: of(runs, |t| t.update),
            first_answer: of(runs, |t| t.first_answer),
            full_use: of(runs, |t| t.full_use),
            rollback: of(runs, |t| t.rollback),
        })
    };
    Ok(judge(&engines.iter().map(middle).collect::<Vec<_>>(), choice.rows))
}

fn once(engine: &mut dyn Engine, choice: &Choice) -> Outcome<Times> {
    let rows = choice.rows;
    engine.run(&engine.script("w3")?.replace("{n}", &rows.to_string()))?;
    if choice.accelerated && engine.name() == "Ghostlight" {
        engine.run(ACCELERATE)?;
    }
    engine.stop()?;
    engine.launch()?;
    let mut session = answering(Instant::now(), || engine.connect())?;
    let before = sum(engine, &mut *session)?;
    let update = updated(&mut *session)?;
    engine.kill()?;
    drop(session);
    let start = Instant::now();
    engine.launch()?;
    let mut session = answering(start, || {
        let mut session = engine.connect()?;
        match session.run("select v from other where id = 1")?[..] {
            [42] => Ok(session),
            _ => Err("the other table's row is not there".to_owned()),
        }
    })?;
    let first_answer = start.elapsed().as_secs_f64();
    let some = (1..=SOME).map(|n| (n * rows / SOME).to_string()).collect::<Vec<_>>().join(", ");
    let some = format!("update history set product_id = 0 where transaction_id in ({some})");
    answering(start, || session.run(&some))?;
    let full_use = start.elapsed().as_secs_f64();
    is_as_before(sum(engine, &mut *session)?, before, engine)?;
    updated(&mut *session)?;
    let start = Instant::now();
    session.run("rollback")?;
    let rollback = start.elapsed().as_secs_f64();
    is_as_before(sum(engine, &mut *session)?, before, engine)?;
    println!(
        "  {}: update {update:.2} s, first answer {first_answer:.2} s, full use {full_use:.2} s, \
         rollback {rollback:.3} s",
        engine.name()
    );
    Ok(Times { update, first_answer, full_use, rollback })
}

/// Updates all rows and leaves that open; seconds.
fn updated(session: &mut dyn Connection) -> Outcome<f64> {
    session.run("begin transaction").or_else(|_| session.run("start transaction"))?;
    let start = Instant::now();
    session.run(UPDATE)?;
    Ok(start.elapsed().as_secs_f64())
}

fn sum(engine: &dyn Engine, session: &mut dyn Connection) -> Outcome<i64> {
    let bigint = if engine.name() == "MariaDB" { "signed" } else { "bigint" };
    let answer = session.run(&SUM.replace("{bigint}", bigint))?;
    answer.first().copied().ok_or_else(|| "no sum".to_owned())
}

fn is_as_before(sum: i64, before: i64, engine: &dyn Engine) -> Outcome<()> {
    match sum == before {
        true => Ok(()),
        false => Err(format!("{}: a sum of {sum} where {before} was", engine.name())),
    }
}

/// Tries until it is answered.
fn answering<T>(since: Instant, mut attempt: impl FnMut() -> Outcome<T>) -> Outcome<T> {
    loop {
        match attempt() {
            Ok(answer) => return Ok(answer),
            Err(e) if since.elapsed() > Duration::from_secs(ANSWER_SECONDS_MAX) => return Err(e),
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn judge(engines: &[Option<Times>], rows: u64) -> Vec<Figure> {
    let peers = [(1, "PostgreSQL"), (2, "MariaDB")];
    vec![
        against("a first answer after the kill", engines, &peers, rows, |t| t.first_answer),
        against("full use after the kill", engines, &peers, rows, |t| t.full_use),
        against("rollback", engines, &peers[1..], rows, |t| t.rollback),
    ]
}

/// Against the better of some peers.
fn against(
    what: &str,
    engines: &[Option<Times>],
    peers: &[(usize, &str)],
    rows: u64,
    time: fn(&Times) -> f64,
) -> Figure {
    let of = |at: usize| engines.get(at)?.as_ref().map(time);
    let theirs = peers.iter().filter_map(|(at, name)| Some((of(*at)?, *name)));
    let best = theirs.clone().min_by(|a, b| a.0.total_cmp(&b.0));
    let (limit, pass) = match (of(0), best) {
        (Some(ours), Some((best, name))) if theirs.count() == peers.len() => {
            (format!("{best:.2} s, {name}'s"), ours <= best)
        }
        _ => ("a peer is not installed".to_owned(), false),
    };
    Figure {
        what: format!("{what}, an update of {rows} rows"),
        figure: format!("{:.2} s", of(0).unwrap_or(f64::NAN)),
        limit,
        pass,
    }
}
