//! log.3, many sessions at one end of one index: rows with an ascending key by 2 sessions and by
//! 32, what latches cost them, and how long an append holds the log's.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, script, session};
use checks::Outcome;
use std::thread;
use std::time::Instant;

const FEW: usize = 2;
const MANY: usize = 32;
/// Rows of one run, of all its sessions.
const ROWS: i64 = 640_000;
/// The few and the many begin by turns: the machine's speed drifts, and the table grows. A turn's
/// ratio varies by a fifth, the median of so many by a twentieth.
const REPETITIONS: usize = 31;
const SHARE_MAX: f64 = 0.10;
const HOLD_NS_MAX: f64 = 1_000.0;
/// How long the class was waited for that was waited for longest, in milliseconds.
const LATCHES: &str = "SELECT TOP 1 wait_time_ms FROM sys.dm_os_latch_stats \
    ORDER BY wait_time_ms DESC";
const HELD: &str = "SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters \
    WHERE counter_name = 'Log Latch Hold Time (ns)' AND instance_name = 'OneEnd'";
const TIMED: &str = "SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters \
    WHERE counter_name = 'Log Latch Hold Time Base' AND instance_name = 'OneEnd'";
const CLEAR: &str = "DBCC SQLPERF('sys.dm_os_latch_stats', CLEAR) WITH NO_INFOMSGS";

/// What one run of many sessions showed.
struct RunFigures {
    rows_a_second: f64,
    /// The server's processor time for each, in microseconds.
    cpu_us: f64,
    /// Of the processors' time, waited for the worst class of latches.
    share: f64,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.3")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    drop(server.client()?);
    script(ground, &mut session(&server, "master")?, "write_path/6_one_end.sql")?;
    let mut client = session(&server, "OneEnd")?;
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    let rows = ground.scaled(ROWS);
    // The log grows to what it needs.
    insert(&server, FEW, rows)?;
    let (held, timed) = (number(&mut client, HELD)?, number(&mut client, TIMED)?);
    for turn in 0..REPETITIONS {
        let mut measured = |sessions| measure(&server, &mut client, sessions, rows);
        let (few, many) = if turn % 2 == 0 {
            let few = measured(FEW)?;
            (few, measured(MANY)?)
        } else {
            let many = measured(MANY)?;
            (measured(FEW)?, many)
        };
        ratios.push(many.rows_a_second / few.rows_a_second);
        shares.push(many.share);
        println!(
            "  {FEW} sessions {:.0} rows a second, {:.2} us of CPU each, {MANY} sessions {:.0}, \
             {:.2}; latches {:.3} of the time",
            few.rows_a_second, few.cpu_us, many.rows_a_second, many.cpu_us, many.share
        );
    }
    let holds = (number(&mut client, TIMED)? - timed).max(1);
    let hold = (number(&mut client, HELD)? - held) as f64 / holds as f64;
    drop(client);
    server.stop()?;
    let (ratio, share) = (median(ratios), median(shares));
    Ok(vec![
        Figure {
            what: format!(
                "{MANY} sessions against {FEW}, rows a second, each run after a checkpoint"
            ),
            figure: format!("{ratio:.2}"),
            limit: "at least 1".to_owned(),
            pass: ratio >= 1.0,
        },
        Figure {
            what: format!("{MANY} sessions, the latch class waited for longest, of worker time"),
            figure: format!("{:.1} %", share * 100.0),
            limit: format!("{:.0} %", SHARE_MAX * 100.0),
            pass: share <= SHARE_MAX,
        },
        Figure {
            what: format!("a hold of the log's latch, mean of {holds}"),
            figure: format!("{hold:.0} ns"),
            limit: format!("under {HOLD_NS_MAX:.0} ns"),
            pass: hold > 0.0 && hold < HOLD_NS_MAX,
        },
    ])
}

fn measure(
    server: &ServerProcess,
    client: &mut Client,
    sessions: usize,
    rows: i64,
) -> Outcome<RunFigures> {
    // Else the checkpoints of several runs fall into every other one of them.
    asked(client, "CHECKPOINT")?;
    asked(client, CLEAR)?;
    let (took, cpu) = insert(server, sessions, rows)?;
    let waited = number(client, LATCHES)? as f64 / 1e3;
    let (rows_a_second, cpu_us) = (rows as f64 / took, cpu * 1e6 / rows as f64);
    Ok(RunFigures { rows_a_second, cpu_us, share: waited / cpu })
}

/// All sessions at once, each its share: how long it took, and the server's processor time, in
/// seconds.
fn insert(server: &ServerProcess, sessions: usize, rows: i64) -> Outcome<(f64, f64)> {
    let clients = (0..sessions).map(|_| session(server, "OneEnd")).collect::<Outcome<Vec<_>>>()?;
    let text = format!("EXEC dbo.AddAtEnd {}", rows / sessions as i64);
    let (cpu, began) = (server.cpu()?, Instant::now());
    thread::scope(|scope| {
        let add = |mut client: Client| {
            let text = text.as_str();
            scope.spawn(move || asked(&mut client, text).map(drop))
        };
        let running: Vec<_> = clients.into_iter().map(add).collect();
        running.into_iter().try_for_each(|one| one.join().map_err(|_| "a session panicked")?)
    })?;
    Ok((began.elapsed().as_secs_f64(), (server.cpu()? - cpu).as_secs_f64()))
}
