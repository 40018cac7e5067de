//! What goes away by itself behind an aborted transaction, in quiet and beside eight writers of the
//! same table, and the users' cleaning of a store of 8 GB beside an update of every row.

use super::{DATABASE, server};
use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{Snapshot, number, session};
use crate::recovery::big_table::{store_kb, until_map_is_empty};
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

const ROWS: i64 = 5_000_000;
const QUIET_SECONDS_MAX: u64 = 30;
const LOADED_SECONDS_MAX: u64 = 180;
const LOOKS: Duration = Duration::from_millis(50);
const WRITERS: usize = 8;
const LOAD_SECONDS: u64 = 20;
/// Throughput beside the cleaning, against that without.
const THROUGHPUT_MIN: f64 = 0.85;
/// Of the users' cleaning.
const STORE_MB: i64 = 8_192;
const WIDE_BYTES: i64 = 1_600;
const CLEANED_SECONDS_MAX: f64 = 60.0;
/// An update beside the cleaning, against one alone.
const BESIDE_TIMES_MAX: f64 = 1.15;
const VERSIONS: &str = "SELECT SUM(version_record_count) FROM \
    sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'dbo.T'), NULL, NULL, 'DETAILED')";
/// Waits for locks, of all sessions.
const LOCK_WAITS: &str = "SELECT ISNULL(SUM(waiting_tasks_count), 0) FROM sys.dm_os_wait_stats \
    WHERE wait_type LIKE 'LCK[_]%'";

/// A table of that many rows, with an index.
fn fill(client: &mut Client, rows: i64, filler: i64) -> Outcome<()> {
    let wide = format!("w char({filler}) NOT NULL DEFAULT 'w'");
    for text in [
        format!("CREATE TABLE dbo.T (id int PRIMARY KEY, v int NOT NULL, {wide}, INDEX ByV (v))"),
        format!(
            "DECLARE @n int = 0; WHILE @n < {rows} BEGIN INSERT dbo.T (id, v) SELECT value, \
             value % 1000 FROM GENERATE_SERIES(@n + 1, IIF({rows} < @n + 500000, {rows}, \
             @n + 500000)); SET @n += 500000 END"
        ),
        "CHECKPOINT".to_owned(),
    ] {
        asked(client, &text)?;
    }
    Ok(())
}

/// Changes every row, and rolls back.
fn abort(client: &mut Client) -> Outcome<()> {
    asked(client, "BEGIN TRANSACTION; UPDATE dbo.T SET v += 1000")?;
    asked(client, "ROLLBACK TRANSACTION").map(drop)
}

/// Seconds until the store is no larger than that.
fn until_store_is(client: &mut Client, kb: i64, at_most: u64) -> Outcome<f64> {
    let began = Instant::now();
    loop {
        let now = store_kb(client, DATABASE)?;
        if now <= kb {
            return Ok(began.elapsed().as_secs_f64());
        }
        if began.elapsed() > Duration::from_secs(at_most) {
            return Err(format!("the store has {now} KB after {at_most} s, {kb} KB before"));
        }
        thread::sleep(LOOKS);
    }
}

fn within(what: String, seconds: Outcome<f64>, limit: f64) -> Figure {
    let pass = seconds.as_ref().is_ok_and(|seconds| *seconds <= limit);
    let figure = seconds.map_or_else(|why| why, |seconds| format!("{seconds:.2} s"));
    Figure { what, figure, limit: format!("{limit:.0} s"), pass }
}

/// In quiet: the map, the store, the rows.
pub(super) fn aborted(ground: &Ground<'_>) -> Part {
    let (server, mut client) = server(ground)?;
    let rows = ground.scaled(ROWS).max(20_000);
    fill(&mut client, rows, 10)?;
    // One abort that does not count: pages that the store keeps for its next writers.
    abort(&mut client)?;
    until_map_is_empty(&mut client, DATABASE)?;
    asked(&mut client, "EXEC sp_persistent_version_cleanup")?;
    let first = store_kb(&mut client, DATABASE)?;
    abort(&mut client)?;
    let began = Instant::now();
    let map = until_map_is_empty(&mut client, DATABASE)?;
    let store = until_store_is(&mut client, first, QUIET_SECONDS_MAX);
    let store = store.map(|_| began.elapsed().as_secs_f64());
    let versions = number(&mut client, VERSIONS)?;
    let limit = QUIET_SECONDS_MAX as f64;
    let of = |what: &str| format!("an aborted transaction of {rows} rows, {what}");
    let figures = vec![
        within(of("until the map is empty"), Ok(map.as_secs_f64()), limit),
        within(of(&format!("until the store has {first} KB again")), store, limit),
        Figure {
            what: of("versions that physical stats tell"),
            figure: versions.to_string(),
            limit: "0".to_owned(),
            pass: versions == 0,
        },
    ];
    drop(client);
    server.stop()?;
    Ok(figures)
}

/// So many seconds of changes of any rows; how many.
fn load(server: &ServerProcess, rows: i64, seconds: u64) -> Outcome<i64> {
    let mut client = session(server, DATABASE)?;
    number(
        &mut client,
        &format!(
            "SET NOCOUNT ON; DECLARE @n bigint = 0, @id int, @end datetime2 = DATEADD(second, \
             {seconds}, SYSDATETIME()); WHILE SYSDATETIME() < @end BEGIN \
             SET @id = 1 + ABS(CHECKSUM(NEWID())) % {rows}; UPDATE dbo.T SET v += 1 \
             WHERE id = @id; SET @n += 1 END; SELECT @n"
        ),
    )
}

/// Changes a second by all writers.
fn loaded(server: &ServerProcess, rows: i64, seconds: u64) -> Outcome<f64> {
    thread::scope(|scope| {
        let one = |_| scope.spawn(|| load(server, rows, seconds));
        let all: Vec<_> = (0..WRITERS).map(one).collect();
        let panicked = |_| "a writer of ours panics".to_owned();
        let done = all.into_iter().map(|one| one.join().map_err(panicked)?);
        let done: Vec<i64> = done.collect::<Outcome<_>>()?;
        Ok(done.iter().sum::<i64>() as f64 / seconds as f64)
    })
}

/// Beside eight writers of the same table.
pub(super) fn under_load(ground: &Ground<'_>) -> Part {
    let (server, mut client) = server(ground)?;
    let rows = ground.scaled(ROWS).max(20_000);
    fill(&mut client, rows, 10)?;
    let alone = loaded(&server, rows, LOAD_SECONDS)?;
    abort(&mut client)?;
    let began = Instant::now();
    let (mut beside, mut rounds, seconds) = (0.0, 0.0, 2);
    let aborted = format!(
        "SELECT current_aborted_transaction_count \
         FROM sys.dm_tran_persistent_version_store_stats WHERE database_id = DB_ID('{DATABASE}')"
    );
    while rounds < 1.0 || number(&mut client, &aborted)? > 0 {
        beside += loaded(&server, rows, seconds)?;
        rounds += 1.0;
        if began.elapsed() > Duration::from_secs(2 * LOADED_SECONDS_MAX) {
            break;
        }
    }
    let took = began.elapsed().as_secs_f64();
    let left = number(&mut client, &aborted)?;
    let times = beside / rounds / alone;
    let gone = if left == 0 { Ok(took) } else { Err(format!("{left} are in the map")) };
    let figures = vec![
        within(
            format!("{rows} aborted rows under {WRITERS} writers, until the map is empty"),
            gone,
            LOADED_SECONDS_MAX as f64,
        ),
        Figure {
            what: format!("their throughput meanwhile, of {alone:.0} changes a second before"),
            figure: format!("{times:.2}"),
            limit: format!("at least {THROUGHPUT_MIN}"),
            pass: times >= THROUGHPUT_MIN,
        },
    ];
    drop(client);
    server.stop()?;
    Ok(figures)
}

/// Changes every row to something new; seconds.
fn update(client: &mut Client) -> Outcome<f64> {
    let began = Instant::now();
    asked(client, "UPDATE dbo.T SET w = CONVERT(char(36), NEWID())")?;
    Ok(began.elapsed().as_secs_f64())
}

/// A store that an old snapshot has filled; the snapshot ends, and somebody asks for the cleaning.
pub(super) fn users_cleaning(ground: &Ground<'_>) -> Part {
    let (server, mut client) = server(ground)?;
    let megabytes = ground.scaled(STORE_MB).max(16);
    let rows = (megabytes << 20) / WIDE_BYTES;
    fill(&mut client, rows, WIDE_BYTES)?;
    update(&mut client)?;
    asked(&mut client, "EXEC sp_persistent_version_cleanup; CHECKPOINT")?;
    let alone = update(&mut client)?;
    asked(&mut client, "EXEC sp_persistent_version_cleanup; CHECKPOINT")?;
    let first = store_kb(&mut client, DATABASE)?;
    let mut held = Snapshot::begin(session(&server, DATABASE)?, "SELECT MIN(id) FROM dbo.T")?;
    held.look()?;
    update(&mut client)?;
    let full = store_kb(&mut client, DATABASE)? >> 10;
    let waits = number(&mut client, LOCK_WAITS)?;
    held.end()?;
    let (cleaned, beside) = thread::scope(|scope| {
        let cleaning = scope.spawn(|| {
            let mut cleaner = session(&server, DATABASE)?;
            let began = Instant::now();
            asked(&mut cleaner, "EXEC sp_persistent_version_cleanup")?;
            Ok::<f64, String>(began.elapsed().as_secs_f64())
        });
        let beside = update(&mut client);
        (cleaning.join(), beside)
    });
    let cleaned = cleaned.map_err(|_| "a cleaner of ours panics".to_owned())?;
    let beside = beside?;
    let waited = number(&mut client, LOCK_WAITS)? - waits;
    let back = until_store_is(&mut client, first.max(1 << 10), QUIET_SECONDS_MAX);
    drop(client);
    server.stop()?;
    let times = beside / alone;
    Ok(vec![
        within(format!("the cleaning of a store of {full} MB"), cleaned, CLEANED_SECONDS_MAX),
        Figure {
            what: format!("an update of all {rows} rows beside it, {alone:.2} s alone"),
            figure: format!("{beside:.2} s, {times:.2} x"),
            limit: format!("{BESIDE_TIMES_MAX} x"),
            pass: times <= BESIDE_TIMES_MAX,
        },
        Figure {
            what: "waits for locks meanwhile".to_owned(),
            figure: waited.to_string(),
            limit: "0".to_owned(),
            pass: waited == 0,
        },
        within("then until the store is back".to_owned(), back, QUIET_SECONDS_MAX as f64),
    ])
}
