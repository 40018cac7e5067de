//! 500 clients that are logged in and idle, 64 beside them that work: what an idle one costs, that
//! nothing fails, and that the idle ones still answer.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part};
use crate::ground::program::{PASSWORD, ServerProcess, of_process};
use crate::ground::scene::encrypted;
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

const IDLE: usize = 500;
const ACTIVE: usize = 64;
const KB_MAX: f64 = 64.0;
const WORK: Duration = Duration::from_secs(5);
/// Until what a login leaves behind is given back.
const SETTLE: Duration = Duration::from_millis(500);
/// Rows that all active sessions update.
const SHARED_ROWS: i64 = 32;
const PREPARED: &str = "SELECT @p + 1";
const SCHEMA: [&str; 4] = [
    "CREATE DATABASE Crowd",
    "USE Crowd; CREATE TABLE dbo.Own (session int NOT NULL, id int NOT NULL, v bigint NOT NULL, \
     filler varchar(400) NOT NULL, CONSTRAINT PK_Own PRIMARY KEY (session, id))",
    "CREATE INDEX IX_Own ON dbo.Own (session, v)",
    "CREATE TABLE dbo.Shared (id int NOT NULL PRIMARY KEY, v bigint NOT NULL); \
     INSERT dbo.Shared SELECT TOP (32) number, 0 FROM master..spt_values \
     WHERE type = 'P' ORDER BY number",
];

pub(crate) fn measure(server: &mut ServerProcess) -> Part {
    let mut first = server.client()?;
    for text in SCHEMA {
        asked(&mut first, text)?;
    }
    // What one costs once, whoever comes first, is no client's.
    drop(idle_client(server.port()?)?);
    thread::sleep(SETTLE);
    let before = resident_kb(server)?;
    let mut idle = (0..IDLE).map(|_| idle_client(server.port()?)).collect::<Outcome<Vec<_>>>()?;
    thread::sleep(SETTLE);
    let each = (resident_kb(server)? - before) / IDLE as f64;
    let (batches, failures) = work(server.port()?);
    let silent = answer_again(&mut idle);
    let total = asked(&mut first, "SELECT SUM(v) FROM dbo.Shared")?.rows;
    let lost = total.first().and_then(|row| row.first()).map(|n| batches.updates - *n);
    let told = lost.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    Ok(vec![
        Figure {
            what: format!("resident memory of a client, {IDLE} idle and encrypted"),
            figure: format!("{each:.1} KB"),
            limit: format!("{KB_MAX} KB"),
            pass: each <= KB_MAX,
        },
        Figure {
            what: format!("{ACTIVE} active clients beside them, {} s", WORK.as_secs()),
            figure: format!(
                "{} transactions, {} failures{}, {told} shared updates lost",
                batches.transactions,
                failures.len(),
                failures.first().map(|f| format!(" (first: {f})")).unwrap_or_default(),
            ),
            limit: "no failure".to_owned(),
            pass: failures.is_empty() && batches.transactions > 0 && lost == Some(0),
        },
        Figure {
            what: "idle clients that do not answer afterwards".to_owned(),
            figure: format!("{silent} of {IDLE}"),
            limit: "0".to_owned(),
            pass: silent == 0,
        },
    ])
}

/// Encrypted, one prepared statement run; and its handle.
fn idle_client(port: u16) -> Outcome<(Client, i32)> {
    let mut client = encrypted(port)?;
    let answer = client.prepare_and_run(PREPARED, 7).map_err(|e| format!("prepare: {e}"))?;
    let handle = answer.outputs.first().and_then(|n| i32::try_from(*n).ok());
    match handle {
        Some(handle) if answer.rows == [[8]] => Ok((client, handle)),
        _ => Err(format!("a prepared statement answers {:?}, {:?}", answer.rows, answer.errors)),
    }
}

/// How many of the idle clients are not what they were.
fn answer_again(idle: &mut [(Client, i32)]) -> usize {
    let fails = |(i, (client, handle)): (usize, &mut (Client, i32))| {
        let p = i32::try_from(i).unwrap_or(0);
        let answer = client.run_prepared(*handle, p);
        usize::from(!answer.is_ok_and(|answer| answer.rows == [[i64::from(p) + 1]]))
    };
    idle.iter_mut().enumerate().map(fails).sum()
}

/// What active sessions did.
#[derive(Default)]
struct CrowdWork {
    transactions: u64,
    /// Of shared rows, committed.
    updates: i64,
}

/// The active sessions, every other one encrypted, until the time is over.
fn work(port: u16) -> (CrowdWork, Vec<String>) {
    let until = Instant::now() + WORK;
    let mut all = CrowdWork::default();
    let mut failures = Vec::new();
    thread::scope(|scope| {
        let one = |session: usize| scope.spawn(move || active(port, session, until));
        let running: Vec<_> = (0..ACTIVE).map(one).collect();
        for thread in running {
            match thread.join() {
                Ok(Ok(done)) => {
                    all.transactions += done.transactions;
                    all.updates += done.updates;
                }
                Ok(Err(why)) => failures.push(why),
                Err(_) => failures.push("a client panicked".to_owned()),
            }
        }
    });
    (all, failures)
}

/// One active session: inserts, updates, reads and deletes of its own rows, in transactions that
/// commit or roll back, and updates of shared rows. It knows what it must find.
fn active(port: u16, session: usize, until: Instant) -> Outcome<CrowdWork> {
    let mut client = match session % 2 {
        0 => encrypted(port)?,
        _ => Client::login(port, "sa", PASSWORD).map_err(|e| format!("login: {e}"))?,
    };
    asked(&mut client, "USE Crowd")?;
    let mut done = CrowdWork::default();
    let (mut rows, mut round) = (0_i64, 0_i64);
    while Instant::now() < until {
        let id = round;
        asked(&mut client, "BEGIN TRANSACTION")?;
        asked(
            &mut client,
            &format!("INSERT dbo.Own VALUES ({session}, {id}, {id}, REPLICATE('x', {id} % 400))"),
        )?;
        asked(
            &mut client,
            &format!("UPDATE dbo.Own SET v += 1 WHERE session = {session} AND id >= {id} - 3"),
        )?;
        let end = if round % 5 == 4 { "ROLLBACK" } else { "COMMIT" };
        asked(&mut client, end)?;
        rows += i64::from(end == "COMMIT");
        if round % 7 == 6 {
            let delete = format!(
                "DELETE TOP (1) dbo.Own WHERE session = {session}; SELECT COUNT(*) FROM dbo.Own \
                 WHERE session = {session}"
            );
            rows -= 1;
            let found = asked(&mut client, &delete)?.rows;
            if found != [[rows]] {
                return Err(format!("session {session} has {rows} rows and finds {found:?}"));
            }
        }
        let shared = (round * 5 + session as i64) % SHARED_ROWS;
        asked(&mut client, &format!("UPDATE dbo.Shared SET v += 1 WHERE id = {shared}"))?;
        done.updates += 1;
        done.transactions += 2;
        round += 1;
    }
    Ok(done)
}

fn resident_kb(server: &ServerProcess) -> Outcome<f64> {
    let kb = of_process(server.id(), "status", "VmRSS:");
    kb.map(|kb| kb as f64).ok_or_else(|| "the server's memory cannot be read".to_owned())
}
