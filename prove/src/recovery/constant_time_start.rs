//! recovery.2, the users' headline: an UPDATE of every row, killed before its commit, at several
//! sizes and with logs of several sizes. Measured are the times from the start of the process to a
//! first answer and to a change of those very rows, and the phases that the error log tells.
//!
//! A kill comes at a drawn moment of the update, under the default rules of checkpoints. The page
//! cache is warm, or dropped. The same with readers of versions, during the rollback, during the
//! cleaning, and twice in a row. Beside it stand the same without accelerated recovery, and the
//! peers.

use crate::ground::bench;
use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, measures, median};
use crate::ground::ledger::Random;
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, session};
use crate::recovery::big_table::{self, DATABASE, Options, UPDATE};
use crate::recovery::kills;
use crate::recovery::phases::Phases;
use checks::Outcome;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const SIZES: [i64; 3] = [1_000_000, 5_000_000, 20_000_000];
/// Rows of the table whose updates fill the logs.
const ROWS: i64 = 5_000_000;
/// Megabytes of log; the last one only where the disk has room for it.
const LOGS_MB: [i64; 3] = [4_608, 9_216, 21_504];
const REPETITIONS: usize = 3;
const UNDO_MS_MAX: f64 = 50.0;
const ANALYSIS_AND_REDO_MS_MAX: f64 = 1_000.0;
/// Between the largest and the smallest size.
const SPREAD_MS_MAX: f64 = 100.0;
/// Analysis and redo, and what a process needs to come up.
const ANSWER_MS_MAX: f64 = 1_500.0;
/// Free room that the largest log asks for, beside its own size.
const SPARE_MB: u64 = 20_480;

/// What a start after a kill took.
#[derive(Clone, Copy)]
struct Start {
    answer_ms: f64,
    write_ms: f64,
    phases: Option<Phases>,
    /// Log of the transaction that was killed.
    log_mb: i64,
}

/// A server on a folder, and how it is killed.
struct Scene<'a> {
    ground: &'a Ground<'a>,
    data: PathBuf,
    server: Option<ServerProcess>,
    random: Random,
    rows: i64,
    /// The sum of what is committed.
    sum: i64,
    /// What the update of every row takes.
    whole: Duration,
}

/// When the kill comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    /// During the update.
    Update,
    /// Right behind the order to roll back.
    Rollback,
    /// While the cleaner reverts rows.
    Cleaner,
    /// During the update, and again in the start that follows.
    Twice,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(
        ground,
        &[("sizes", sizes), ("logs", logs), ("variants", variants), ("off", off), ("peers", peers)],
    ))
}

/// The page cache warm and dropped, at each size.
fn sizes(ground: &Ground<'_>) -> Part {
    let mut figures = Vec::new();
    for dropped in [false, true] {
        let mut middles = Vec::new();
        for rows in SIZES {
            let mut scene = Scene::make(ground, rows, Options::ACCELERATED)?;
            let mut starts = Vec::new();
            for _ in 0..REPETITIONS {
                starts.push(scene.killed(Moment::Update, dropped, 1)?);
            }
            scene.end()?;
            let cache = if dropped { "dropped" } else { "warm" };
            let what = format!("{} rows, page cache {cache}", scene.rows);
            let middle = middle(&starts);
            figures.extend(judge(&what, &starts, !dropped));
            middles.push(middle);
        }
        if !dropped {
            figures.push(spread("first answer", &middles, |start| start.answer_ms));
            figures.push(spread("a change of those rows", &middles, |start| start.write_ms));
        }
    }
    Ok(figures)
}

/// The same update again and again in one transaction, until its log is so large.
fn logs(ground: &Ground<'_>) -> Part {
    let mut figures = Vec::new();
    let mut middles = Vec::new();
    let mut scene = Scene::make(ground, ROWS, Options::ACCELERATED)?;
    for log_mb in LOGS_MB {
        let wanted = ground.scaled(log_mb).max(1);
        let last = log_mb == LOGS_MB[2];
        if last && free_mb(ground)? < wanted.unsigned_abs() + SPARE_MB {
            println!("        no room on the disk for {wanted} MB of log");
            continue;
        }
        let mut starts = Vec::new();
        for _ in 0..if last { 1 } else { REPETITIONS } {
            starts.push(scene.killed(Moment::Update, false, wanted)?);
        }
        let least = starts.iter().map(|start| start.log_mb).min().unwrap_or_default();
        let what = format!("a transaction of {least} MB of log at least");
        figures.extend(judge(&what, &starts, true));
        middles.push(middle(&starts));
    }
    figures.push(spread("first answer, by log", &middles, |start| start.answer_ms));
    scene.end()?;
    Ok(figures)
}

fn variants(ground: &Ground<'_>) -> Part {
    let mut figures = Vec::new();
    for (options, moment, what) in [
        (Options::ALL, Moment::Update, "with RCSI and SNAPSHOT"),
        (Options::ACCELERATED, Moment::Rollback, "killed during the rollback"),
        (Options::ACCELERATED, Moment::Cleaner, "killed during the cleaning"),
        (Options::ACCELERATED, Moment::Twice, "killed twice in a row"),
        (Options::ALL, Moment::Twice, "killed twice in a row, with RCSI and SNAPSHOT"),
    ] {
        let mut scene = Scene::make(ground, ROWS, options)?;
        let mut starts = Vec::new();
        for _ in 0..REPETITIONS {
            starts.push(scene.killed(moment, false, 1)?);
        }
        figures.extend(judge(&format!("{} rows, {what}", scene.rows), &starts, true));
        scene.end()?;
    }
    Ok(figures)
}

/// Without accelerated recovery: told, and judged by nothing but its end.
fn off(ground: &Ground<'_>) -> Part {
    let mut scene = Scene::make(ground, ROWS, Options::OFF)?;
    let start = scene.killed(Moment::Update, false, 1)?;
    scene.end()?;
    let what = format!("{} rows, accelerated recovery off", scene.rows);
    Ok(vec![Figure {
        what,
        figure: told(&start),
        limit: "none: to compare".to_owned(),
        pass: true,
    }])
}

fn peers(ground: &Ground<'_>) -> Part {
    let rows = ground.scaled(ROWS).max(1).to_string();
    bench::figures(ground, &["w3", "--accelerated", "--rows", &rows])
}

/// Free room where proofs run.
fn free_mb(ground: &Ground<'_>) -> Outcome<u64> {
    let target = ground.workspace.target();
    let stat = nix::sys::statvfs::statvfs(&target).map_err(|e| format!("free room: {e}"))?;
    Ok((stat.blocks_available() * stat.fragment_size()) >> 20)
}

/// Writes what is dirty and lets the system forget what it has read.
fn drop_page_cache() -> Outcome<()> {
    nix::unistd::sync();
    fs::write("/proc/sys/vm/drop_caches", "1").map_err(|e| format!("drop the page cache: {e}"))
}

fn middle(starts: &[Start]) -> Start {
    let of = |ms: fn(&Start) -> f64| median(starts.iter().map(ms).collect());
    Start {
        answer_ms: of(|start| start.answer_ms),
        write_ms: of(|start| start.write_ms),
        phases: None,
        log_mb: 0,
    }
}

fn told(start: &Start) -> String {
    let phases = start.phases.map_or("no phases told".to_owned(), |phases| phases.to_string());
    let Start { answer_ms, write_ms, log_mb, .. } = start;
    format!(
        "first answer {answer_ms:.0} ms, a change {write_ms:.0} ms; {phases}; {log_mb} MB of log"
    )
}

/// Each repetition is printed; the worst is judged.
fn judge(what: &str, starts: &[Start], timed: bool) -> Vec<Figure> {
    for start in starts {
        println!("        {what}: {}", told(start));
    }
    let worst = |ms: fn(&Phases) -> f64| {
        let all = starts.iter().map(|start| start.phases.as_ref().map(ms));
        all.collect::<Option<Vec<f64>>>().and_then(|all| all.into_iter().max_by(f64::total_cmp))
    };
    let of = |name: &str, ms: Option<f64>, limit: f64| Figure {
        what: format!("{what}: {name}"),
        figure: ms.map_or("not told".to_owned(), |ms| format!("{ms} ms")),
        limit: format!("{limit} ms"),
        pass: ms.is_some_and(|ms| ms <= limit),
    };
    let both = worst(|phases| phases.analysis_and_redo_ms);
    let mut figures = vec![
        of("undo", worst(|phases| phases.undo_ms), UNDO_MS_MAX),
        of("analysis and redo", both, ANALYSIS_AND_REDO_MS_MAX),
    ];
    if timed {
        let middle = middle(starts);
        for (name, ms) in [("first answer", middle.answer_ms), ("a change", middle.write_ms)] {
            figures.push(Figure {
                what: format!("{what}: from exec to {name}, median of {}", starts.len()),
                figure: format!("{ms:.0} ms"),
                limit: format!("{ANSWER_MS_MAX:.0} ms"),
                pass: ms <= ANSWER_MS_MAX,
            });
        }
    }
    figures
}

fn spread(what: &str, middles: &[Start], ms: fn(&Start) -> f64) -> Figure {
    let all: Vec<f64> = middles.iter().map(ms).collect();
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let told: Vec<String> = all.iter().map(|ms| format!("{ms:.0}")).collect();
    Figure {
        what: format!("{what}, largest minus smallest of {} ms", told.join(", ")),
        figure: format!("{:.0} ms", most - least),
        limit: format!("{SPREAD_MS_MAX:.0} ms"),
        pass: all.len() > 1 && most - least <= SPREAD_MS_MAX,
    }
}

impl Scene<'_> {
    /// A server, its table, and what an update of it takes.
    fn make<'a>(ground: &'a Ground<'a>, rows: i64, options: Options) -> Outcome<Scene<'a>> {
        let data = ground.folder("recovery.2")?.join("data");
        let rows = ground.scaled(rows).max(1_000);
        let mut server = ServerProcess::start(&ground.binary()?, &data)?;
        let mut client = server.client()?;
        big_table::make(ground, &mut client, rows)?;
        asked(&mut client, "USE master")?;
        options.set(&mut client, DATABASE)?;
        drop(client);
        let mut client = session(&server, DATABASE)?;
        let sum = big_table::sum(&mut client)? + rows;
        let began = Instant::now();
        asked(&mut client, UPDATE)?;
        let (whole, random) = (began.elapsed(), Random(kills::any_seed()));
        Ok(Scene { ground, data, server: Some(server), random, rows, sum, whole })
    }

    fn server(&self) -> Outcome<&ServerProcess> {
        self.server.as_ref().ok_or_else(|| "there is no server".to_owned())
    }

    fn end(&mut self) -> Outcome<()> {
        self.server.take().map_or(Ok(()), ServerProcess::stop)
    }

    fn start(&mut self) -> Outcome<()> {
        self.server = Some(ServerProcess::start(&self.ground.binary()?, &self.data)?);
        Ok(())
    }

    fn kill(&mut self) -> Outcome<()> {
        self.server.take().map_or(Ok(()), ServerProcess::kill)
    }

    /// A part of a time, drawn.
    fn drawn(&mut self, time: Duration) -> Duration {
        time.mul_f64(self.random.below(1_000) as f64 / 1_000.0)
    }

    /// One kill at a moment, when the transaction has at least so much log, and what the start
    /// behind it takes. What was committed is there, by each index, and the map is empty at the
    /// end.
    fn killed(&mut self, moment: Moment, dropped: bool, log_mb: i64) -> Outcome<Start> {
        let log_mb = self.change_until(moment, log_mb)?;
        self.kill()?;
        if dropped {
            drop_page_cache()?;
        }
        if moment == Moment::Twice {
            self.start()?;
            let pause = self.drawn(Duration::from_millis(600));
            thread::sleep(pause);
            self.kill()?;
        }
        self.start()?;
        let start = self.answered(log_mb)?;
        let mut client = session(self.server()?, DATABASE)?;
        big_table::is_as_before(&mut client, self.sum)?;
        big_table::until_map_is_empty(&mut client, DATABASE)?;
        big_table::is_as_before(&mut client, self.sum)?;
        Ok(start)
    }

    /// Changes every row until the moment of the kill; megabytes of log of the transaction.
    fn change_until(&mut self, moment: Moment, log_mb: i64) -> Outcome<i64> {
        let mut client = session(self.server()?, DATABASE)?;
        let mut watcher = session(self.server()?, DATABASE)?;
        asked(&mut client, "BEGIN TRANSACTION")?;
        let mut used = 0;
        while moment != Moment::Rollback && moment != Moment::Cleaner && used + 1 < log_mb {
            asked(&mut client, UPDATE)?;
            used = log_used_mb(&mut watcher)?;
        }
        client.send_batch(UPDATE).map_err(|e| format!("{UPDATE}: {e}"))?;
        if matches!(moment, Moment::Update | Moment::Twice) {
            // Early, late, or behind its end.
            let pause = self.drawn(self.whole.mul_f64(1.2));
            thread::sleep(pause);
            return log_used_mb(&mut watcher);
        }
        client.forget_answer().map_err(|e| format!("{UPDATE}: {e}"))?;
        used = log_used_mb(&mut watcher)?;
        match moment {
            Moment::Cleaner => {
                asked(&mut client, "ROLLBACK TRANSACTION")?;
                let pause = self.drawn(Duration::from_secs(2));
                thread::sleep(pause);
            }
            _ => {
                let sent = client.send_batch("ROLLBACK TRANSACTION");
                sent.map_err(|e| format!("ROLLBACK: {e}"))?;
                let pause = self.drawn(Duration::from_millis(3));
                thread::sleep(pause);
            }
        }
        Ok(used)
    }

    /// The first answer, a change of rows of the table, and what the error log says.
    fn answered(&mut self, log_mb: i64) -> Outcome<Start> {
        let change = big_table::touch_some(self.rows);
        let server = self.server.as_mut().ok_or("there is no server")?;
        let mut client = server.client()?;
        asked(&mut client, &format!("USE {DATABASE}"))?;
        number(&mut client, "SELECT COUNT_BIG(*) FROM sys.tables")?;
        let answer = server.started.elapsed();
        asked(&mut client, &change)?;
        let write = server.started.elapsed();
        let phases = Phases::read(&mut client, DATABASE).ok();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        Ok(Start { answer_ms: ms(answer), write_ms: ms(write), phases, log_mb })
    }
}

/// Log of the open transaction.
fn log_used_mb(watcher: &mut Client) -> Outcome<i64> {
    number(
        watcher,
        "SELECT ISNULL(SUM(database_transaction_log_bytes_used), 0) / 1048576 \
         FROM sys.dm_tran_database_transactions WHERE database_id = DB_ID()",
    )
}
