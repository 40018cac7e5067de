//! W2: inserts of one row into a table with five secondary indexes, a transaction each. Durable, by
//! 1, 8 and 32 sessions of the compiled client, whose prepared statements carry the values; and
//! with delayed durability by a procedure's loop, which makes them in the server. Engines take
//! turns, so that a disturbance of the machine meets all.
//!
//! A run counts where the disk was quiet before and behind it and, if it should be durable, where
//! it had no more commits to a sync of the log than sessions: with more it did not wait for the
//! disk at each.

use crate::disk::{QUIET_US_MAX, sync_us};
use crate::engine::{Durability, Engine, SERVERS, Start};
use crate::figure::{Figure, Outcome, median};
use crate::load::{InsertSession, inserts};
use crate::persons::{INSERT, Persons};
use std::path::Path;

const SESSIONS: [usize; 3] = [1, 8, 32];
/// Against the better peer's rows a second, by sessions; one alone waits for the disk.
const TIMES_MIN: f64 = 1.3;
/// How often a run is tried until the disk is quiet.
const ATTEMPTS: usize = 5;
const WARM_UP_SECONDS: u64 = 1;
/// Rows of a loop's first attempt.
const LOOP_ROWS: u64 = 5_000;

/// What of it is to be run.
pub(crate) struct Choice {
    pub(crate) seconds: u64,
    pub(crate) repetitions: usize,
    pub(crate) engine: Option<String>,
    pub(crate) only: String,
}

/// How rows are asked for.
#[derive(Clone, Copy)]
enum Way {
    /// Clients, so many sessions.
    Clients(usize),
    /// A procedure's loop.
    Loop,
}

/// What a run showed.
#[derive(Clone, Copy)]
struct Run {
    rows_s: f64,
    cpu_us: f64,
    log_bytes: f64,
    commits_a_sync: f64,
}

/// The medians of an engine's runs that count, and how many they were.
#[derive(Clone, Copy)]
struct Medians {
    of: usize,
    run: Run,
}

struct Case {
    durability: Durability,
    way: Way,
    /// By engine, in the order of [`SERVERS`].
    engines: [Option<Medians>; SERVERS.len()],
}

impl Case {
    fn title(&self) -> String {
        let way = match self.way {
            Way::Clients(sessions) => format!("clients, {sessions}"),
            Way::Loop => "a loop in the server".to_owned(),
        };
        format!("{}, {way}", self.durability.name())
    }

    fn all() -> Vec<Case> {
        let clients = SESSIONS.map(|sessions| (Durability::Full, Way::Clients(sessions)));
        let all = clients.into_iter().chain([(Durability::Delayed, Way::Loop)]);
        all.map(|(durability, way)| Case { durability, way, engines: [None; _] }).collect()
    }
}

pub(crate) fn run(binary: &Path, folder: &Path, choice: &Choice) -> Outcome<Vec<Figure>> {
    let mut cases = Case::all();
    cases.retain(|case| case.title().starts_with(&choice.only));
    for group in cases.chunk_by_mut(|a, b| a.durability == b.durability) {
        let durability = group[0].durability;
        let mut engines = start(binary, folder, durability, choice)?;
        measure(group, &mut engines, folder, choice)?;
    }
    Ok(judge(&cases, choice.repetitions))
}

/// The engines that take part, their tables filled.
fn start(
    binary: &Path,
    folder: &Path,
    durability: Durability,
    choice: &Choice,
) -> Outcome<Vec<Option<Box<dyn Engine>>>> {
    let mut engines = Vec::new();
    for (name, start) in SERVERS {
        let chosen = choice.engine.as_deref().is_none_or(|one| one.eq_ignore_ascii_case(name));
        let folder = folder.join(name);
        let of = Start { binary, folder: &folder, durability, memory_mb: None };
        let mut engine = if chosen { start(&of)? } else { None };
        match &mut engine {
            Some(engine) => {
                engine.run(&engine.script("w2")?)?;
                inserts(&mut sessions(&**engine, 1)?, WARM_UP_SECONDS)?;
            }
            None => println!("{name}: does not take part"),
        }
        engines.push(engine);
    }
    Ok(engines)
}

/// Sessions that have prepared the statement.
fn sessions(engine: &dyn Engine, count: usize) -> Outcome<Vec<InsertSession>> {
    let one = |number: usize| {
        let mut session = engine.connect()?;
        session.prepare(&INSERT)?;
        Ok(InsertSession { session, persons: Persons::new(number as u64) })
    };
    (0..count).map(one).collect()
}

fn measure(
    cases: &mut [Case],
    engines: &mut [Option<Box<dyn Engine>>],
    folder: &Path,
    choice: &Choice,
) -> Outcome<()> {
    let mut runs = vec![vec![Vec::new(); engines.len()]; cases.len()];
    for _ in 0..choice.repetitions {
        for (case, runs) in cases.iter().zip(&mut runs) {
            for (engine, runs) in engines.iter_mut().zip(runs) {
                let Some(engine) = engine else { continue };
                runs.extend(counted(case, &mut **engine, folder, choice.seconds)?);
            }
        }
    }
    for (case, runs) in cases.iter_mut().zip(runs) {
        let title = case.title();
        for ((slot, runs), (name, _)) in case.engines.iter_mut().zip(&runs).zip(SERVERS) {
            *slot = middle(runs);
            let Some(Medians { run, .. }) = slot else { continue };
            let all: Vec<String> = runs.iter().map(|run| format!("{:.0}", run.rows_s)).collect();
            println!(
                "W2 {title}: {name} {} rows a second; {:.1} us of CPU, {:.0} log bytes a row, \
                 {:.2} commits a sync",
                all.join(" "),
                run.cpu_us,
                run.log_bytes,
                run.commits_a_sync
            );
        }
    }
    Ok(())
}

/// A run that counts; `None` where none did.
fn counted(
    case: &Case,
    engine: &mut dyn Engine,
    folder: &Path,
    seconds: u64,
) -> Outcome<Option<Run>> {
    let durable = case.durability == Durability::Full;
    for _ in 0..ATTEMPTS {
        let before = sync_us(folder)?;
        let run = once(case, engine, seconds)?;
        let sync = before.max(sync_us(folder)?);
        let name = engine.name();
        if durable && sync > QUIET_US_MAX {
            println!("  {name}: {:.0} rows a second at {sync:.0} us a sync: not quiet", run.rows_s);
            continue;
        }
        let sessions = if let Way::Clients(sessions) = case.way { sessions } else { 1 };
        if durable && run.commits_a_sync > sessions as f64 * 1.05 {
            let Run { rows_s, commits_a_sync, .. } = run;
            println!("  {name}: {rows_s:.0} at {commits_a_sync:.1} commits a sync: not durable");
            return Ok(None);
        }
        return Ok(Some(run));
    }
    Ok(None)
}

fn once(case: &Case, engine: &mut dyn Engine, seconds: u64) -> Outcome<Run> {
    let mut rows = LOOP_ROWS;
    loop {
        let mut sessions = match case.way {
            Way::Clients(sessions) => self::sessions(engine, sessions)?,
            Way::Loop => vec![],
        };
        let (syncs, bytes, cpu) = (engine.syncs()?, engine.log_bytes()?, engine.cpu_seconds());
        let (done, took) = match case.way {
            Way::Clients(_) => inserts(&mut sessions, seconds)?,
            Way::Loop => (rows, engine.run_together(&[looped(engine, rows)])?),
        };
        let cpu = engine.cpu_seconds() - cpu;
        let (bytes, syncs) = (engine.log_bytes()? - bytes, engine.syncs()? - syncs);
        if matches!(case.way, Way::Loop) && took < seconds as f64 * 0.7 {
            rows = (rows as f64 * (seconds as f64 / took.max(0.01)).clamp(1.5, 10.0)) as u64;
            continue;
        }
        let done = done as f64;
        return Ok(Run {
            rows_s: done / took,
            cpu_us: cpu * 1e6 / done,
            log_bytes: bytes as f64 / done,
            commits_a_sync: done / syncs.max(1) as f64,
        });
    }
}

fn looped(engine: &dyn Engine, rows: u64) -> String {
    match engine.name() {
        "Ghostlight" => format!("exec add_persons {rows}"),
        _ => format!("call add_persons({rows})"),
    }
}

fn middle(runs: &[Run]) -> Option<Medians> {
    let of = |figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
    (!runs.is_empty()).then(|| Medians {
        of: runs.len(),
        run: Run {
            rows_s: of(|run| run.rows_s),
            cpu_us: of(|run| run.cpu_us),
            log_bytes: of(|run| run.log_bytes),
            commits_a_sync: of(|run| run.commits_a_sync),
        },
    })
}

fn judge(cases: &[Case], repetitions: usize) -> Vec<Figure> {
    let clients = |sessions: usize| {
        cases.iter().find(|case| matches!(case.way, Way::Clients(n) if n == sessions))
    };
    let mut figures = Vec::new();
    for sessions in [8, 32] {
        figures.extend(clients(sessions).map(|case| against_peers(case, sessions, repetitions)));
    }
    let shared: Vec<f64> = SESSIONS
        .iter()
        .filter_map(|sessions| Some(clients(*sessions)?.engines[0]?.run.commits_a_sync))
        .collect();
    if !figures.is_empty() {
        let told: Vec<String> = shared.iter().map(|n| format!("{n:.2}")).collect();
        figures.push(Figure {
            what: "commits a sync with 1, 8 and 32 sessions".to_owned(),
            figure: told.join(", "),
            limit: "growing".to_owned(),
            pass: shared.len() == SESSIONS.len() && shared.is_sorted_by(|a, b| a < b),
        });
    }
    figures
}

fn against_peers(case: &Case, sessions: usize, repetitions: usize) -> Figure {
    let peers = case.engines.iter().zip(SERVERS).skip(1);
    let best = peers.filter_map(|(middle, (name, _))| Some((middle.as_ref()?.run.rows_s, name)));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    let ours = case.engines[0].filter(|middle| middle.of == repetitions);
    let ours = ours.map(|middle| middle.run.rows_s);
    let (limit, pass) = match (ours, best) {
        (Some(ours), Some((rate, name))) => (
            format!("{TIMES_MIN} x {rate:.0}, {name}'s; it is {:.2} x", ours / rate),
            ours >= rate * TIMES_MIN,
        ),
        (Some(_), None) => ("no peer has runs that count".to_owned(), false),
        (None, _) => (format!("{repetitions} quiet runs"), false),
    };
    Figure {
        what: format!("durable inserts of one row, {sessions} clients, rows a second"),
        figure: format!("{:.0}", ours.unwrap_or(f64::NAN)),
        limit,
        pass,
    }
}
