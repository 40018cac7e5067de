//! log.2, what a row costs the log: CPU and bytes of 100,000 delayed commits of one row into a
//! table with six indexes, and how much later than its write and sync a full commit is told. And
//! the same rows by clients, fully durable, beside the peers (W2).

use crate::ground::bench;
use crate::ground::client::asked;
use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, script, session};
use checks::Outcome;
use std::time::Instant;

const ROWS: i64 = 100_000;
const FULL_ROWS: i64 = 20_000;
const REPETITIONS: usize = 5;
const CPU_US_MAX: f64 = 12.0;
const BYTES_MAX: f64 = 500.0;
/// What elapses beside write and sync.
const BESIDE_US_MAX: f64 = 20.0;
const FLUSHED: &str = "SELECT cntr_value FROM sys.dm_os_performance_counters \
    WHERE counter_name = 'Log Bytes Flushed/sec' AND instance_name = 'WritePath'";
/// What writes and syncs of the log file took, in microseconds: waits of one session for its own.
const WAITED: &str = "SELECT waiting_tasks_count, CAST(wait_time_ms AS bigint) * 1000 \
    FROM sys.dm_os_wait_stats WHERE wait_type = 'WRITELOG'";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.2")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    drop(server.client()?);
    let mut client = session(&server, "master")?;
    let (mut costs, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        asked(&mut client, "USE master; DROP DATABASE IF EXISTS WritePath")?;
        script(ground, &mut client, "write_path/0_setup.sql")?;
        asked(&mut client, "ALTER DATABASE WritePath SET DELAYED_DURABILITY = FORCED")?;
        asked(&mut client, "USE WritePath; EXEC sp_flush_log")?;
        let (cpu, flushed) = (server.cpu()?, number(&mut client, FLUSHED)?);
        asked(&mut client, &format!("EXEC dbo.AddPersons {ROWS}"))?;
        costs.push((server.cpu()? - cpu).as_secs_f64() * 1e6 / ROWS as f64);
        asked(&mut client, "EXEC sp_flush_log")?;
        bytes.push((number(&mut client, FLUSHED)? - flushed) as f64 / ROWS as f64);
    }
    asked(&mut client, "ALTER DATABASE WritePath SET DELAYED_DURABILITY = DISABLED")?;
    let mut beside = Vec::new();
    for _ in 0..REPETITIONS {
        asked(&mut client, "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR) WITH NO_INFOMSGS")?;
        let began = Instant::now();
        asked(&mut client, &format!("EXEC dbo.AddPersons {FULL_ROWS}"))?;
        let took = began.elapsed().as_secs_f64() * 1e6;
        let waited = asked(&mut client, WAITED)?;
        let waited = waited.rows.first().and_then(|row| row.get(1)).copied().unwrap_or_default();
        beside.push((took - waited as f64) / FULL_ROWS as f64);
    }
    drop(client);
    server.stop()?;
    let rows = "a delayed commit of one row and its six entries";
    let mut figures = vec![
        limited(format!("CPU of {rows}"), median(costs), "us", CPU_US_MAX),
        limited(
            format!("log bytes of {rows}, headers and padding too"),
            median(bytes),
            "bytes",
            BYTES_MAX,
        ),
        limited(
            "a full commit's time beside its waits for the log".to_owned(),
            median(beside),
            "us",
            BESIDE_US_MAX,
        ),
    ];
    figures.extend(bench::figures_or_why(ground, &["w2"]));
    Ok(figures)
}

fn limited(what: String, figure: f64, unit: &str, at_most: f64) -> Figure {
    Figure {
        what: format!("{what}, median of {REPETITIONS}"),
        figure: format!("{figure:.2} {unit}"),
        limit: format!("{at_most} {unit}"),
        pass: figure > 0.0 && figure <= at_most,
    }
}
