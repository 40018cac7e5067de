//! truth.1.9: SIGTERM beside what takes long: it ends soon, nothing panics, and the next start is
//! short and has what was committed.

use crate::ground::client::{Client, asked};
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess, empty};
use checks::Outcome;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const ROWS: i64 = 1_000_000;
const STOPS_WITHIN: Duration = Duration::from_secs(5);
const STARTS_WITHIN: Duration = Duration::from_secs(5);
/// How long what is beside it goes on before the stop.
const BEFORE: Duration = Duration::from_millis(700);

/// What goes on beside a stop: what is done first, what is sent then, and who is killed.
struct StopCase {
    what: &'static str,
    first: &'static [&'static str],
    sent: &'static str,
    kills: bool,
    signals: usize,
}

const UPDATED: &[&str] = &["BEGIN TRAN", "UPDATE d.dbo.t SET a = a + 1"];

const BESIDE: [StopCase; 8] = [
    StopCase { what: "ROLLBACK", first: UPDATED, sent: "ROLLBACK", kills: false, signals: 1 },
    StopCase {
        what: "a session that was killed",
        first: UPDATED,
        sent: "",
        kills: true,
        signals: 1,
    },
    StopCase {
        what: "ROLLBACK, two signals",
        first: UPDATED,
        sent: "ROLLBACK",
        kills: false,
        signals: 2,
    },
    StopCase {
        what: "UPDATE",
        first: &[],
        sent: "UPDATE d.dbo.t SET a = a + 1",
        kills: false,
        signals: 1,
    },
    StopCase {
        what: "an idle transaction",
        first: UPDATED,
        sent: "WAITFOR DELAY '00:01'",
        kills: false,
        signals: 1,
    },
    StopCase {
        what: "CREATE INDEX",
        first: &[],
        sent: "CREATE INDEX i ON d.dbo.t (a, id)",
        kills: false,
        signals: 1,
    },
    StopCase {
        what: "CHECKPOINT",
        first: &["UPDATE d.dbo.t SET a = a"],
        sent: "USE d; CHECKPOINT",
        kills: false,
        signals: 1,
    },
    StopCase {
        what: "ghost cleaning",
        first: &["DELETE d.dbo.t WHERE id % 4 = 0"],
        sent: "WAITFOR DELAY '00:01'",
        kills: false,
        signals: 1,
    },
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let (binary, folder) = (ground.binary()?, ground.folder("truth.1.9")?);
    let data = folder.join("data");
    BESIDE.iter().map(|beside| stopped(&binary, &data, beside, ground.scaled(ROWS))).collect()
}

fn filled(server: &mut ServerProcess, rows: i64) -> Outcome<()> {
    let mut client = server.client()?;
    asked(&mut client, "CREATE DATABASE d")?;
    asked(
        &mut client,
        "CREATE TABLE d.dbo.t (id int PRIMARY KEY, a int NOT NULL, f char(20) NOT NULL)",
    )?;
    let text = format!(
        "INSERT d.dbo.t SELECT value * 2, 1, 'f' FROM GENERATE_SERIES(1, {rows}); CHECKPOINT"
    );
    asked(&mut client, &text).map(drop)
}

fn stopped(binary: &Path, data: &Path, beside: &StopCase, rows: i64) -> Outcome<Figure> {
    empty(data)?;
    let mut server = ServerProcess::start(binary, data)?;
    filled(&mut server, rows)?;
    let mut busy = server.client()?;
    let session = asked(&mut busy, "SELECT @@SPID")?.rows[0][0];
    for text in beside.first {
        asked(&mut busy, text)?;
    }
    let mut other = server.client()?;
    let before = if beside.first == UPDATED { rows } else { sum(&mut other)? };
    if beside.kills {
        asked(&mut other, &format!("KILL {session}"))?;
    } else {
        busy.send_batch(beside.sent).map_err(|e| format!("{}: {e}", beside.what))?;
    }
    sleep(BEFORE);
    for _ in 1..beside.signals {
        signal(&server)?;
    }
    let from = Instant::now();
    server.stop()?;
    let took = from.elapsed();
    let said = fs::read_to_string(data.with_extension("log")).unwrap_or_default();
    let mut server = ServerProcess::start(binary, data)?;
    let from = Instant::now();
    let mut client = server.client()?;
    let started = from.elapsed();
    let found = sum(&mut client)?;
    server.kill()?;
    let panics = said.matches("panicked").count();
    // What was sent may have been done.
    let right = found == before || (beside.first.is_empty() && found == before + rows);
    Ok(Figure {
        what: format!("SIGTERM beside {}", beside.what),
        figure: format!(
            "ended in {:.1} s, {panics} panics, the next start in {:.1} s, {found} of {before}",
            took.as_secs_f64(),
            started.as_secs_f64()
        ),
        limit: format!("{} s, 0, {} s", STOPS_WITHIN.as_secs(), STARTS_WITHIN.as_secs()),
        pass: took < STOPS_WITHIN && panics == 0 && started < STARTS_WITHIN && right,
    })
}

fn sum(client: &mut Client) -> Outcome<i64> {
    let answer = asked(client, "SELECT sum(cast(a as bigint)) FROM d.dbo.t")?;
    Ok(answer.rows.first().and_then(|row| row.first()).copied().unwrap_or(0))
}

fn signal(server: &ServerProcess) -> Outcome<()> {
    let mut kill = std::process::Command::new("kill");
    kill.arg("-TERM").arg(server.id().to_string());
    checks::process::succeeds(kill).map(drop)
}
