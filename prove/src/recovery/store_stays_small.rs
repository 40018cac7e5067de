//! recovery.5, nothing grows: neither log nor store nor memory, beside a transaction and a snapshot
//! that stay open; nor the log by one long transaction. What an aborted transaction left is gone
//! soon, in quiet and under load, and the users' cleaning of a large store is in nobody's way.

mod cleaning;

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, measures};
use crate::ground::program::{Ground, ServerProcess, of_process};
use crate::ground::scene::{Snapshot, number, session};
use crate::recovery::big_table::store_kb;
use crate::versions::nothing_grows::flat;
use checks::Outcome;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const SHORT: i64 = 100_000_000;
/// Sessions that share the short transactions, each with a row of its own.
const WRITERS: i64 = 2;
/// Of a batch.
const TURNS: i64 = 50_000;
/// Noise of the server's allocator; a list of the transactions would take 800 MB.
const MEMORY_KB_MAX: i64 = 16 << 10;
/// Pages of the store that writers fill, one each, and those that they take next.
const STORE_KB_MAX: i64 = 1 << 10;
const LOG_LIMIT_MB: i64 = 1_024;
const WRITTEN_MB: i64 = 10_240;
/// A log is no smaller.
const LOG_LIMIT_MB_MIN: i64 = 64;
const DATABASE: &str = "Small";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(
        ground,
        &[
            ("short ones", beside_short_ones),
            ("long one", long_one),
            ("aborted", cleaning::aborted),
            ("under load", cleaning::under_load),
            ("cleanup", cleaning::users_cleaning),
        ],
    ))
}

/// A server with an accelerated database, and a session in it.
fn server(ground: &Ground<'_>) -> Outcome<(ServerProcess, Client)> {
    let data = ground.folder("recovery.5")?.join("data");
    let mut server = ServerProcess::start(&ground.binary()?, &data)?;
    let mut client = server.client()?;
    for text in [
        "CREATE DATABASE Small",
        "ALTER DATABASE Small SET RECOVERY SIMPLE",
        "ALTER DATABASE Small SET DELAYED_DURABILITY = FORCED",
        "ALTER DATABASE Small SET ACCELERATED_DATABASE_RECOVERY = ON",
        "ALTER DATABASE Small SET ALLOW_SNAPSHOT_ISOLATION ON",
        "USE Small",
    ] {
        asked(&mut client, text)?;
    }
    Ok((server, client))
}

/// What may grow, in KB, looked at again and again.
#[derive(Default)]
struct Sizes {
    memory: Vec<i64>,
    store: Vec<i64>,
    log: Vec<i64>,
    data: Vec<i64>,
}

impl Sizes {
    fn look(&mut self, server: &ServerProcess, client: &mut Client) -> Outcome<()> {
        let memory = of_process(server.id(), "status", "VmRSS:").unwrap_or(0);
        self.memory.push(memory.cast_signed());
        self.store.push(store_kb(client, DATABASE)?);
        self.data.push(file_kb(client, 1)?);
        self.log.push(file_kb(client, 2)?);
        Ok(())
    }
}

/// What a file of the database has.
fn file_kb(client: &mut Client, file: u8) -> Outcome<i64> {
    let size = "SELECT CAST(size AS bigint) * 8 FROM Small.sys.database_files WHERE file_id =";
    number(client, &format!("{size} {file}"))
}

/// A transaction that has changed a row, and a snapshot, both open all the time.
fn beside_short_ones(ground: &Ground<'_>) -> Part {
    let (server, mut client) = server(ground)?;
    for n in 0..=WRITERS {
        let table = format!("CREATE TABLE dbo.Hot{n} (id int PRIMARY KEY, v bigint NOT NULL)");
        asked(&mut client, &table)?;
        asked(&mut client, &format!("INSERT dbo.Hot{n} VALUES (1, 0)"))?;
    }
    let mut open = session(&server, DATABASE)?;
    asked(&mut open, "BEGIN TRANSACTION; UPDATE dbo.Hot2 SET v = -1")?;
    let read = "SELECT v, id FROM dbo.Hot0 UNION ALL SELECT v, id FROM dbo.Hot1";
    let mut held = Snapshot::begin(session(&server, DATABASE)?, read)?;
    held.look()?;
    let each = ground.scaled(SHORT) / WRITERS;
    let done = AtomicI64::new(0);
    let cpu = server.cpu()?;
    let sizes = thread::scope(|scope| {
        let (server, done) = (&server, &done);
        let write = |n| scope.spawn(move || write(&mut session(server, DATABASE)?, n, each, done));
        let writers: Vec<_> = (0..WRITERS).map(write).collect();
        let mut sizes = Sizes::default();
        while !writers.iter().all(|writer| writer.is_finished()) {
            thread::sleep(Duration::from_millis(20));
            if done.load(Relaxed) * 100 >= each * WRITERS * sizes.log.len() as i64 {
                sizes.look(server, &mut client)?;
            }
        }
        for writer in writers {
            writer.join().map_err(|_| "a writer of ours panics".to_owned())??;
        }
        Ok::<Sizes, String>(sizes)
    })?;
    let cpu = (server.cpu()? - cpu).as_secs_f64() * 1e6 / (each * WRITERS) as f64;
    let (exact, _) = held.end()?;
    asked(&mut open, "ROLLBACK TRANSACTION")?;
    let lost = 2 * each
        - number(&mut client, "SELECT v FROM dbo.Hot0")?
        - number(&mut client, "SELECT v FROM dbo.Hot1")?;
    let back = number(&mut client, "SELECT v FROM dbo.Hot2")? == 0;
    drop((client, open));
    server.stop()?;
    let what = format!(
        "{} short transactions beside an open one and a snapshot, {cpu:.2} us of CPU each",
        each * WRITERS
    );
    Ok(vec![
        Figure {
            what,
            figure: format!("{lost} lost, the snapshot read the same: {exact}, taken back: {back}"),
            limit: "0 lost, true, true".to_owned(),
            pass: lost == 0 && exact && back,
        },
        flat(ground, "the server's resident memory", &sizes.memory, MEMORY_KB_MAX),
        flat(ground, "the store", &sizes.store, STORE_KB_MAX),
        flat(ground, "the log's file", &sizes.log, 0),
        flat(ground, "the data file", &sizes.data, STORE_KB_MAX),
    ])
}

/// Changes the row of a table so often, a transaction each.
fn write(client: &mut Client, table: i64, count: i64, done: &AtomicI64) -> Outcome<()> {
    let mut left = count;
    while left > 0 {
        let turns = left.min(TURNS);
        let batch = format!(
            "SET NOCOUNT ON; DECLARE @n int = 0; WHILE @n < {turns} BEGIN \
             UPDATE dbo.Hot{table} SET v += 1 WHERE id = 1; SET @n += 1; END"
        );
        asked(client, &batch)?;
        left -= turns;
        done.fetch_add(turns, Relaxed);
    }
    Ok(())
}

/// A transaction that writes ten times as much as its log may have, and commits.
fn long_one(ground: &Ground<'_>) -> Part {
    let (server, mut client) = server(ground)?;
    let limit = ground.scaled(LOG_LIMIT_MB).max(LOG_LIMIT_MB_MIN);
    let wanted = limit * WRITTEN_MB / LOG_LIMIT_MB;
    let rows = wanted * 8;
    for text in [
        format!(
            "ALTER DATABASE Small MODIFY FILE (NAME = Small_log, FILEGROWTH = 8MB, \
             MAXSIZE = {limit}MB)"
        ),
        "CREATE TABLE dbo.Wide (id int PRIMARY KEY, v int NOT NULL, w char(1000) NOT NULL)".into(),
        format!(
            "DECLARE @n int = 0; WHILE @n < {rows} BEGIN INSERT dbo.Wide SELECT value, 0, 'wide' \
             FROM GENERATE_SERIES(@n + 1, @n + 1000); CHECKPOINT; SET @n += 1000 END"
        ),
    ] {
        asked(&mut client, &text)?;
    }
    let rows = number(&mut client, "SELECT COUNT_BIG(*) FROM dbo.Wide")?;
    asked(&mut client, "BEGIN TRANSACTION")?;
    let (mut updates, mut written) = (0, 0);
    while written < wanted {
        updates += 1;
        asked(&mut client, &format!("UPDATE dbo.Wide SET v += 1, w = 'update {updates}'"))?;
        written = number(
            &mut client,
            "SELECT SUM(database_transaction_log_bytes_used) / 1048576 \
             FROM sys.dm_tran_database_transactions WHERE database_id = DB_ID()",
        )?;
    }
    asked(&mut client, "COMMIT TRANSACTION")?;
    let log = file_kb(&mut client, 2)? >> 10;
    let right =
        number(&mut client, &format!("SELECT COUNT_BIG(*) FROM dbo.Wide WHERE v = {updates}"))?;
    drop(client);
    server.stop()?;
    Ok(vec![Figure {
        what: format!(
            "one transaction that wrote {written} MB of log, and what its log's file has"
        ),
        figure: format!("{log} MB, {right} of {rows} rows committed"),
        limit: format!("{limit} MB, all"),
        pass: log <= limit && right == rows && written >= wanted,
    }])
}
