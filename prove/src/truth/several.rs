//! truth.1.14: transactions over several databases through kills of the process, and a database
//! whose deciding one is gone.

use crate::ground::client::{Client, asked};
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess, empty};
use checks::Outcome;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

const NAMES: [&str; 3] = ["a", "b", "c"];
const CLIENTS: i64 = 4;
const KILLS: i64 = 12;
/// A kill right behind an answer finds the other log without its end, most of the time.
const ATTEMPTS: i64 = 20;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let (binary, folder) = (ground.binary()?, ground.folder("truth.1.14")?);
    let data = folder.join("data");
    Ok(vec![killed(&binary, &data)?, in_doubt(&binary, &data)?])
}

fn made(server: &mut ServerProcess) -> Outcome<Client> {
    let mut client = server.client()?;
    for name in NAMES {
        asked(&mut client, &format!("CREATE DATABASE {name}"))?;
        asked(&mut client, &format!("CREATE TABLE {name}.dbo.t (id int NOT NULL PRIMARY KEY)"))?;
    }
    Ok(client)
}

/// Inserts a row into all databases at a time, until the server is gone: the last one answered.
fn insert_until_killed(mut client: Client, first: i64) -> i64 {
    let mut answered = first;
    loop {
        let id = answered + 1;
        let turn = id as usize;
        let into = (0..3).map(|i| NAMES[(turn + i) % 3]);
        let inserts: String =
            into.map(|name| format!("INSERT {name}.dbo.t VALUES ({id}); ")).collect();
        let text = format!("SET XACT_ABORT ON; BEGIN TRAN; {inserts}COMMIT");
        match client.batch(&text) {
            Ok(answer) if answer.errors.is_empty() => answered = id,
            _ => return answered,
        }
    }
}

fn killed(binary: &Path, data: &Path) -> Outcome<Figure> {
    empty(data)?;
    let mut server = ServerProcess::start(binary, data)?;
    made(&mut server)?;
    let (mut acknowledged, mut lost, mut parts) = (BTreeSet::new(), 0, 0);
    for kill in 0..KILLS {
        let firsts = (0..CLIENTS).map(|n| (kill * CLIENTS + n) * 1_000_000);
        let clients =
            firsts.map(|first| Ok((server.client()?, first))).collect::<Outcome<Vec<_>>>()?;
        let tasks: Vec<_> = clients
            .into_iter()
            .map(|(client, first)| {
                thread::spawn(move || (first, insert_until_killed(client, first)))
            })
            .collect();
        thread::sleep(Duration::from_millis(150 + (kill as u64 * 97) % 400));
        server.kill()?;
        for task in tasks {
            let (first, last) = task.join().map_err(|_| "a client panicked")?;
            acknowledged.extend(first + 1..=last);
        }
        server = ServerProcess::start(binary, data)?;
        let mut client = server.client()?;
        let found = NAMES
            .iter()
            .map(|name| ids(&mut client, name))
            .collect::<Outcome<Vec<BTreeSet<i64>>>>()?;
        lost += acknowledged.iter().filter(|id| !found[0].contains(id)).count();
        parts += found.iter().filter(|ids| **ids != found[0]).count();
    }
    server.stop()?;
    Ok(Figure {
        what: format!("{CLIENTS} clients, {KILLS} kills"),
        figure: format!(
            "{} transactions over 3 databases, {lost} lost, {parts} databases with others",
            acknowledged.len()
        ),
        limit: "0, 0".to_owned(),
        pass: lost == 0 && parts == 0 && !acknowledged.is_empty(),
    })
}

fn ids(client: &mut Client, name: &str) -> Outcome<BTreeSet<i64>> {
    let rows = asked(client, &format!("SELECT id FROM {name}.dbo.t"))?.rows;
    Ok(rows.into_iter().flatten().collect())
}

/// The files of the deciding database are gone when the process starts again: the other one is
/// SUSPECT (3431) until 'in-doubt xact resolution' says what to presume.
fn in_doubt(binary: &Path, data: &Path) -> Outcome<Figure> {
    let (mut suspect, mut attempt) = (false, 0);
    let mut told = String::new();
    while !suspect && attempt < ATTEMPTS {
        attempt += 1;
        empty(data)?;
        let mut server = ServerProcess::start(binary, data)?;
        let mut client = made(&mut server)?;
        asked(
            &mut client,
            "BEGIN TRAN; INSERT b.dbo.t VALUES (1); INSERT a.dbo.t VALUES (1); COMMIT",
        )?;
        server.kill()?;
        for file in ["a.mdf", "a_log.ldf"] {
            let path = data.join(file);
            fs::remove_file(&path).map_err(|e| format!("remove {}: {e}", path.display()))?;
        }
        let mut server = ServerProcess::start(binary, data)?;
        let mut client = server.client()?;
        let state = "SELECT state_desc FROM sys.databases WHERE name = 'b'";
        let found = asked(&mut client, state)?.texts;
        suspect = found.first().is_some_and(|row| row[0] == "SUSPECT");
        if suspect {
            let log = fs::read_to_string(data.join("errorlog")).unwrap_or_default();
            let number = if log.contains("Error: 3431") { "3431" } else { "no 3431" };
            told = format!("SUSPECT with {number}; {}", resolved(&mut client)?);
        }
        server.kill()?;
    }
    Ok(Figure {
        what: format!("without the deciding database, attempt {attempt}"),
        figure: told.clone(),
        limit: "SUSPECT with 3431; then ONLINE with 1 row".to_owned(),
        pass: told == "SUSPECT with 3431; then ONLINE with 1 row",
    })
}

fn resolved(client: &mut Client) -> Outcome<String> {
    for text in [
        "EXEC sp_configure 'show advanced options', 1; RECONFIGURE",
        "EXEC sp_configure 'in-doubt xact resolution', 1; RECONFIGURE",
        "ALTER DATABASE b SET ONLINE",
    ] {
        asked(client, text)?;
    }
    let rows = asked(client, "SELECT COUNT(*) FROM b.dbo.t")?.rows;
    Ok(format!("then ONLINE with {} row", rows[0][0]))
}
