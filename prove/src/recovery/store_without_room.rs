//! recovery.7, accelerated recovery where there is no room: on a full file system, and in a data
//! file that may not grow. Who changes rows is refused with SQL Server's error; nobody else is; no
//! row is wrong; and all goes on when there is room.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, measures};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{Snapshot, number, session};
use crate::recovery::{full_disk, kills};
use checks::Outcome;

const ROUNDS: i64 = 24;
/// Refusals for want of room that the rounds must show.
const WANTED: [&str; 2] = ["1105", "9002"];
/// The file's limit, and what it may have later.
const LIMIT_MB: i64 = 256;
const MORE_MB: i64 = 1_024;
/// What no room for a former row is.
const NO_ROOM: [&str; 1] = ["1105"];
const SUM: &str = "SELECT COUNT_BIG(*), SUM(CAST(v AS bigint)) FROM dbo.T";
const V_SUM: &str = "SELECT SUM(CAST(v AS bigint)) FROM dbo.T";
const CLEAN: &str = "found 0 allocation errors and 0 consistency errors in database 'Limited'";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(ground, &[("full disk", on_a_full_disk), ("maxsize", within_a_limit)]))
}

fn on_a_full_disk(ground: &Ground<'_>) -> Part {
    let rounds = u32::try_from(ground.scaled(ROUNDS).max(2)).unwrap_or(u32::MAX);
    let folder = ground.folder("recovery.7-full")?;
    let seen = full_disk::drive(&ground.binary()?, &folder, rounds, kills::any_seed(), true)?;
    let refused = |number: &str| seen.refusals.get(number).is_some_and(|n| *n > 0);
    let pass = WANTED.iter().all(|number| refused(number))
        && seen.full_starts * 2 >= seen.rounds - 1
        && seen.again > 0;
    let limit = format!(
        "{rounds} rounds: {} and nothing else, all of it rolled back, the server goes on, starts \
         in the full state, and refuses nothing when there is room",
        WANTED.join(", ")
    );
    let what = "a real disk that is full".to_owned();
    Ok(vec![Figure { what, figure: seen.to_string(), limit, pass }])
}

/// A store that a snapshot keeps full.
fn within_a_limit(ground: &Ground<'_>) -> Part {
    let data = ground.folder("recovery.7")?.join("data");
    let mut server = ServerProcess::start(&ground.binary()?, &data)?;
    let limit = ground.scaled(LIMIT_MB).max(16);
    let rows = limit * 800;
    let mut client = server.client()?;
    make(&mut client, limit, rows)?;
    let before = asked(&mut client, SUM)?.rows;
    let mut held = Snapshot::begin(session(&server, "Limited")?, SUM)?;
    held.look()?;
    let (refused, changed) = until_refused(&mut client)?;
    let pass = NO_ROOM.iter().any(|number| refused.starts_with(number));
    let what =
        format!("who changes all {rows} rows of {limit} MB again and again beside a snapshot");
    let mut figures = vec![Figure { what, figure: refused, limit: NO_ROOM.join(", "), pass }];
    let mut other = session(&server, "Limited")?;
    let (own, others) = (number(&mut client, V_SUM)?, number(&mut other, V_SUM)?);
    let of_before = before.first().and_then(|row| row.get(1)).copied().unwrap_or_default();
    figures.push(holds(
        "the sum by who was refused, and by another",
        &format!("{own}, {others}"),
        &format!("{0}, {0}", of_before + changed * rows),
    ));
    let added = asked(&mut client, "INSERT dbo.Other VALUES (2, 2); SELECT v FROM dbo.Other");
    figures.push(holds(
        "an insert into another table, which keeps no former row",
        &added.map_or_else(|why| why, |answer| format!("{:?}", answer.rows)),
        "[[1], [2]]",
    ));
    let (same, reader) = held.end()?;
    figures.push(holds("the snapshot reads its moment", &same.to_string(), "true"));
    drop(reader);
    figures.extend(goes_on(&mut client, rows)?);
    server.stop()?;
    Ok(figures)
}

fn make(client: &mut Client, limit: i64, rows: i64) -> Outcome<()> {
    for text in [
        "CREATE DATABASE Limited".to_owned(),
        format!(
            "ALTER DATABASE Limited MODIFY FILE (NAME = Limited, FILEGROWTH = 1MB, \
             MAXSIZE = {limit}MB)"
        ),
        "ALTER DATABASE Limited SET ACCELERATED_DATABASE_RECOVERY = ON".to_owned(),
        "ALTER DATABASE Limited SET ALLOW_SNAPSHOT_ISOLATION ON".to_owned(),
        "USE Limited".to_owned(),
        "CREATE TABLE dbo.T (id int PRIMARY KEY, v int NOT NULL, w char(400) NOT NULL)".to_owned(),
        "CREATE TABLE dbo.Other (id int PRIMARY KEY, v int NOT NULL)".to_owned(),
        "INSERT dbo.Other VALUES (1, 1)".to_owned(),
        format!("INSERT dbo.T SELECT value, 0, 'w' FROM GENERATE_SERIES(1, {rows})"),
    ] {
        asked(client, &text)?;
    }
    Ok(())
}

/// Changes all rows until that is refused: the error, and the changes that were not.
fn until_refused(client: &mut Client) -> Outcome<(String, i64)> {
    for changed in 0..100 {
        let text = format!("UPDATE dbo.T SET v += 1, w = 'change {changed}'");
        let answer = client.batch(&text).map_err(|e| format!("{text}: {e}"))?;
        if let Some(error) = answer.errors.first() {
            return Ok((error.clone(), changed));
        }
    }
    Err("nothing was refused: the snapshot keeps no former rows".to_owned())
}

/// With more room: a change of all rows, one that is rolled back, a cleaning, CHECKDB.
fn goes_on(client: &mut Client, rows: i64) -> Part {
    let more =
        format!("ALTER DATABASE Limited MODIFY FILE (NAME = Limited, MAXSIZE = {MORE_MB}MB)");
    asked(client, &more)?;
    let before = number(client, V_SUM)?;
    asked(client, "UPDATE dbo.T SET v += 1")?;
    asked(client, "BEGIN TRANSACTION; UPDATE dbo.T SET v += 1; ROLLBACK TRANSACTION")?;
    asked(client, "EXEC sp_persistent_version_cleanup")?;
    let after = number(client, V_SUM)?;
    let check = asked(client, "DBCC CHECKDB")?;
    let clean = check.messages.iter().any(|text| text.contains(CLEAN));
    Ok(vec![
        holds("with room: a change of all rows", &(after - before).to_string(), &rows.to_string()),
        holds("CHECKDB finds nothing", &clean.to_string(), "true"),
    ])
}

fn holds(what: &str, figure: &str, limit: &str) -> Figure {
    let (what, pass) = (what.to_owned(), figure == limit);
    Figure { what, figure: figure.to_owned(), limit: limit.to_owned(), pass }
}
