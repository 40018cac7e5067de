//! versions.7, what tags cost who meets none: a scan of 10 million rows that were written without
//! versions, under RCSI, beside the scan of a locking database and beside NOLOCK. Scans take turns,
//! and are compared within a turn, to two digits: the same work twice differs by half a percent.

use super::Figure;
use super::client::Client;
use super::crowd::asked;
use super::path_2::median;
use super::program::{Ground, Serving};
use super::scene::{number, session};
use crate::workspace::Outcome;

const ROWS: i64 = 10_000_000;
const REPETITIONS: usize = 9;
const LOCKING_MAX: f64 = 1.0;
const NOLOCK_MAX: f64 = 1.15;
const CREATE: &str = "CREATE TABLE dbo.Plain (id int NOT NULL PRIMARY KEY CLUSTERED, \
    v int NOT NULL, filler char(8) NOT NULL)";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("versions.7")?;
    let data = work.join("data");
    let rows = ground.scaled(ROWS);
    let mut server = Serving::start_with(&ground.binary()?, &data, &["--max-memory", "2048MB"])?;
    let mut first = server.client()?;
    for database in ["Locking", "Versioned"] {
        asked(&mut first, &format!("CREATE DATABASE {database}"))?;
        load(&mut session(&server, database)?, rows)?;
    }
    asked(&mut first, "ALTER DATABASE Versioned SET READ_COMMITTED_SNAPSHOT ON")?;
    let mut locking = session(&server, "Locking")?;
    let mut versioned = session(&server, "Versioned")?;
    let mut rounds = Vec::new();
    for round in 0..=REPETITIONS {
        let turns = [
            scan(&server, &mut locking, "", rows)?,
            scan(&server, &mut versioned, "", rows)?,
            scan(&server, &mut versioned, " WITH (NOLOCK)", rows)?,
        ];
        // The first round brings pages into memory.
        if round > 0 {
            rounds.push(turns);
        }
    }
    drop((first, locking, versioned));
    server.stop()?;
    // Gigabytes need not stay; what cannot be removed is emptied next time.
    let _ = std::fs::remove_dir_all(&data);
    Ok(vec![
        judge(ground, rows, "a locking database's", (&rounds, 0), LOCKING_MAX),
        judge(ground, rows, "NOLOCK's", (&rounds, 2), NOLOCK_MAX),
    ])
}

/// Rows that nobody versions.
fn load(client: &mut Client, rows: i64) -> Outcome<()> {
    asked(client, "ALTER DATABASE CURRENT SET RECOVERY SIMPLE")?;
    asked(client, "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED")?;
    asked(client, CREATE)?;
    let mut from = 1;
    while from <= rows {
        let to = rows.min(from + 999_999);
        asked(
            client,
            &format!(
                "INSERT dbo.Plain (id, v, filler) SELECT value, value % 1000, 'filler' \
                 FROM GENERATE_SERIES({from}, {to})"
            ),
        )?;
        from = to + 1;
    }
    asked(client, "CHECKPOINT")?;
    let tagged = "SELECT COUNT(*) FROM sys.dm_db_index_physical_stats(DB_ID(), \
        OBJECT_ID(N'dbo.Plain'), 1, NULL, 'DETAILED') WHERE index_level = 0 \
        AND avg_record_size_in_bytes > 23";
    match number(client, tagged)? {
        0 => Ok(()),
        _ => Err("rows have tags before versioning is on".to_owned()),
    }
}

/// The server's CPU seconds of a scan, whose answer is looked at.
fn scan(server: &Serving, client: &mut Client, hint: &str, rows: i64) -> Outcome<f64> {
    let before = server.cpu()?;
    let query = format!("SELECT COUNT_BIG(*) FROM dbo.Plain{hint} WHERE v >= 0 OPTION (MAXDOP 1)");
    let counted = number(client, &query)?;
    let took = server.cpu()? - before;
    match counted == rows {
        true => Ok(took.as_secs_f64()),
        false => Err(format!("{query}: {counted} of {rows} rows")),
    }
}

/// The scan under RCSI, the second of each round, against another of the same round.
fn judge(
    ground: &Ground<'_>,
    rows: i64,
    whose: &str,
    (rounds, other): (&[[f64; 3]], usize),
    at_most: f64,
) -> Figure {
    let middle = |of: &dyn Fn(&[f64; 3]) -> f64| median(rounds.iter().map(of).collect());
    let ratio = middle(&|round| round[1] / round[other]);
    let (cost, base) = (middle(&|round| round[1]), middle(&|round| round[other]));
    Figure {
        what: format!("scan of {rows} rows under RCSI against {whose}, median of {REPETITIONS}"),
        figure: format!("{ratio:.3} ({:.1} ms, {:.1} ms)", cost * 1e3, base * 1e3),
        limit: format!("{at_most} x the CPU{}", ground.of_the_whole()),
        pass: (ratio * 100.0).round() <= (at_most * 100.0).round() && ground.is_whole(),
    }
}
