//! versions.4, nothing grows: a hot row changed in place beside ten snapshots that end and are
//! replaced at random, and a snapshot that is held open during 100 million short transactions.
//!
//! The row's chain is counted twice: after each of two million changes by a test of `database`,
//! which sees the store from within, and by sys.dm_tran_version_store beside a server's writer.
//! The commit table has no clerk: what it takes shows in the server's resident memory, where
//! eight bytes a transaction would be 800 MB.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, failed};
use crate::ground::ledger::Random;
use crate::ground::program::{Ground, ServerProcess, of_process};
use crate::ground::scene::{Snapshot, number, session};
use crate::ground::test_runs::test;
use crate::recovery::kills;
use checks::Outcome;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::thread;

const CHANGES: i64 = 2_000_000;
const SNAPSHOTS: usize = 10;
const CHAIN_MAX: i64 = 12;
const SHORT: i64 = 100_000_000;
/// Sessions that share the short transactions, each with a row of its own.
const WRITERS: i64 = 2;
/// Of a batch.
const TURNS: i64 = 50_000;
/// What the server's memory may grow by, from a tenth of the transactions to all: noise of its
/// allocator, a hundredth of what the table would take if it forgot nothing.
const GROWTH_KB_MAX: u64 = 8 << 10;
const READ: &str = "SELECT id, v FROM dbo.Hot";
const CHAIN: &str = "SELECT COUNT(*) FROM sys.dm_tran_version_store WHERE database_id = DB_ID()";
/// What tempdb's files take on the disk.
const TEMPDB: &str = "SELECT SUM(size_on_disk_bytes) / 1024 FROM \
    sys.dm_io_virtual_file_stats(DB_ID(N'tempdb'), NULL)";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("versions.4")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    let mut first = server.client()?;
    for text in [
        "CREATE DATABASE Hot",
        "ALTER DATABASE Hot SET DELAYED_DURABILITY = FORCED",
        "ALTER DATABASE Hot SET READ_COMMITTED_SNAPSHOT ON",
        "ALTER DATABASE Hot SET ALLOW_SNAPSHOT_ISOLATION ON",
        "USE Hot; CREATE TABLE dbo.Hot (id int PRIMARY KEY, v bigint NOT NULL); \
         INSERT dbo.Hot VALUES (1, 0); \
         CREATE TABLE dbo.Hot2 (id int PRIMARY KEY, v bigint NOT NULL); \
         INSERT dbo.Hot2 VALUES (1, 0)",
    ] {
        asked(&mut first, text)?;
    }
    drop(first);
    let mut figures = vec![within(ground)];
    figures.extend(beside_ten(ground, &server)?);
    figures.extend(beside_one(ground, &server)?);
    server.stop()?;
    Ok(figures)
}

/// The chain after each change, by the store's own counts.
fn within(ground: &Ground<'_>) -> Figure {
    let changes = ground.scaled(CHANGES);
    let what = format!("versions of a row after each of {changes} changes (database), at most");
    let name = "a_row_has_no_more_versions_than_snapshots_read";
    let arguments = ["--package", "database", "--test", "versions", name];
    match test(ground, &arguments, ("GHOSTLIGHT_UPDATES", &changes.to_string())) {
        Ok(output) => {
            let line = output.lines().find_map(|line| line.split_once(" versions at most"));
            let most = line.and_then(|(before, _)| before.rsplit(' ').next()?.parse().ok());
            at_most(ground, what, most, CHAIN_MAX)
        }
        Err(why) => failed(&what, why),
    }
}

fn at_most(ground: &Ground<'_>, what: String, most: Option<i64>, limit: i64) -> Figure {
    Figure {
        what,
        figure: most.map_or("not measured".to_owned(), |n| n.to_string()),
        limit: format!("{limit}{}", ground.of_the_whole()),
        pass: most.is_some_and(|n| n > 0 && n <= limit) && ground.is_whole(),
    }
}

/// What somebody saw who looked again and again.
#[derive(Default)]
struct WatchResult {
    looks: u64,
    chain: i64,
    tempdb_kb: Vec<i64>,
}

/// A writer, ten snapshots, and somebody who counts.
fn beside_ten(ground: &Ground<'_>, server: &ServerProcess) -> Outcome<Vec<Figure>> {
    let changes = ground.scaled(CHANGES);
    let done = AtomicBool::new(false);
    let (mut writer, reader) = (session(server, "Hot")?, session(server, "Hot")?);
    let (wrote, read, seen) = thread::scope(|scope| {
        let replacing = scope.spawn(|| replace(server, &done));
        let counting = scope.spawn(|| count(reader, &done));
        let wrote = write(&mut writer, "dbo.Hot", changes, &AtomicI64::new(0));
        done.store(true, Relaxed);
        (wrote, replacing.join(), counting.join())
    });
    wrote?;
    let panicked = |_| "a session of ours panics".to_owned();
    let (ended, exact) = read.map_err(panicked)??;
    let mut figures = vec![Figure {
        what: format!("snapshots that ended and were replaced during {changes} changes of a row"),
        figure: format!("{exact} of {ended} read the same at their end"),
        limit: "all".to_owned(),
        pass: exact == ended && ended > 100,
    }];
    let what = "versions of the row beside ten snapshots, at most".to_owned();
    match seen.map_err(panicked)? {
        Ok(seen) => {
            let looks = format!("{what}, {} looks", seen.looks);
            figures.push(at_most(ground, looks, Some(seen.chain), CHAIN_MAX));
            figures.push(flat(ground, "tempdb's files", &seen.tempdb_kb, 0));
        }
        Err(why) => figures.push(failed(&what, format!("not measured: {why}"))),
    }
    Ok(figures)
}

/// Snapshots end and are replaced at random; how many have ended, how many read the same.
fn replace(server: &ServerProcess, done: &AtomicBool) -> Outcome<(u64, u64)> {
    let mut random = Random(kills::any_seed());
    let mut open = Vec::new();
    for _ in 0..SNAPSHOTS {
        open.push(begin(session(server, "Hot")?)?);
    }
    let (mut ended, mut exact) = (0, 0);
    while !done.load(Relaxed) {
        let at = random.below(SNAPSHOTS as u64) as usize;
        let (same, client) = open.swap_remove(at).end()?;
        ended += 1;
        exact += u64::from(same);
        open.push(begin(client)?);
    }
    Ok((ended, exact))
}

fn begin(client: Client) -> Outcome<Snapshot> {
    let mut snapshot = Snapshot::begin(client, READ)?;
    snapshot.look()?;
    Ok(snapshot)
}

fn count(mut client: Client, done: &AtomicBool) -> Outcome<WatchResult> {
    let mut seen = WatchResult::default();
    while !done.load(Relaxed) {
        seen.looks += 1;
        seen.chain = seen.chain.max(number(&mut client, CHAIN)?);
        seen.tempdb_kb.push(number(&mut client, TEMPDB)?);
    }
    Ok(seen)
}

/// Changes the row of a table so often, a transaction each.
fn write(client: &mut Client, table: &str, count: i64, done: &AtomicI64) -> Outcome<()> {
    let mut left = count;
    while left > 0 {
        let turns = left.min(TURNS);
        asked(
            client,
            &format!(
                "SET NOCOUNT ON; DECLARE @n int = 0; WHILE @n < {turns} BEGIN \
                 UPDATE {table} SET v += 1 WHERE id = 1; SET @n += 1; END"
            ),
        )?;
        left -= turns;
        done.fetch_add(turns, Relaxed);
    }
    Ok(())
}

/// Short transactions beside one snapshot, the server's memory looked at meanwhile.
fn beside_one(ground: &Ground<'_>, server: &ServerProcess) -> Outcome<Vec<Figure>> {
    let each = ground.scaled(SHORT) / WRITERS;
    let mut first = session(server, "Hot")?;
    let before = number(&mut first, "SELECT v FROM dbo.Hot")?;
    let held = begin(session(server, "Hot")?)?;
    let done = AtomicI64::new(0);
    let cpu = server.cpu()?;
    let (memory, tempdb) = thread::scope(|scope| {
        let writers: Vec<_> = ["dbo.Hot", "dbo.Hot2"]
            .map(|table| {
                let done = &done;
                scope.spawn(move || write(&mut session(server, "Hot")?, table, each, done))
            })
            .into();
        let seen = sample(server, &mut first, &done, each * WRITERS, || {
            writers.iter().all(|writer| writer.is_finished())
        });
        for writer in writers {
            writer.join().map_err(|_| "a writer of ours panics".to_owned())??;
        }
        seen
    })?;
    let cpu = (server.cpu()? - cpu).as_secs_f64() * 1e6 / (each * WRITERS) as f64;
    let (exact, _) = held.end()?;
    let after = number(&mut first, "SELECT v FROM dbo.Hot WITH (READCOMMITTEDLOCK)")?;
    let what = format!(
        "{} short transactions beside an open snapshot, {cpu:.2} us of CPU each",
        each * WRITERS
    );
    Ok(vec![
        Figure {
            what,
            figure: format!("{} lost, the snapshot reads the same: {exact}", before + each - after),
            limit: format!("0 lost, true{}", ground.of_the_whole()),
            pass: before + each == after && exact && ground.is_whole(),
        },
        flat(ground, "the server's resident memory meanwhile", &memory, GROWTH_KB_MAX as i64),
        flat(ground, "tempdb's files meanwhile", &tempdb, 0),
    ])
}

/// Resident memory and tempdb's files, in KB, at each hundredth of the transactions.
fn sample(
    server: &ServerProcess,
    client: &mut Client,
    done: &AtomicI64,
    all: i64,
    ended: impl Fn() -> bool,
) -> Outcome<(Vec<i64>, Vec<i64>)> {
    let (mut memory, mut tempdb) = (Vec::new(), Vec::new());
    while !ended() {
        thread::sleep(std::time::Duration::from_millis(20));
        if done.load(Relaxed) * 100 >= all * memory.len() as i64 {
            let kb = of_process(server.id(), "status", "VmRSS:").unwrap_or(0);
            memory.push(kb.cast_signed());
            tempdb.push(number(client, TEMPDB)?);
        }
    }
    Ok((memory, tempdb))
}

/// Passes where the most of the last half is not much above the most of the second tenth.
pub(crate) fn flat(ground: &Ground<'_>, what: &str, samples: &[i64], growth_max: i64) -> Figure {
    let most = |from: usize, to: usize| {
        let part = samples.get(samples.len() * from / 10..samples.len() * to / 10);
        part.and_then(|part| part.iter().max().copied())
    };
    let (early, late) = (most(1, 2), most(5, 10));
    let growth = early.zip(late).map(|(early, late)| late - early);
    let told = |kb: Option<i64>| kb.map_or("not measured".to_owned(), |kb| format!("{kb} KB"));
    Figure {
        what: format!("{what}, second tenth to second half, {} looks", samples.len()),
        figure: format!("{} to {}", told(early), told(late)),
        limit: format!("{growth_max} KB more{}", ground.of_the_whole()),
        pass: growth.is_some_and(|kb| kb <= growth_max) && ground.is_whole(),
    }
}
