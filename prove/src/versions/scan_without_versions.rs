//! versions.7, what tags cost who meets none: a scan of 10 million rows that were written without
//! versions, under RCSI, beside the scan of the database while it is a locking one and beside
//! NOLOCK.
//!
//! The three do nearly the same, so the measuring must be finer than what it is to tell apart. All
//! read the same pages: RCSI is turned on and off between scans, as the same rows elsewhere in
//! memory differ by a percent. A round goes there and back, so that each scan comes as early as it
//! comes late: who comes behind the change of an option, or while the machine slows down, pays for
//! it. Scans are compared within a round, to two digits.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, session};
use checks::Outcome;

const ROWS: i64 = 10_000_000;
const ROUNDS: usize = 15;
/// A round: each scan twice.
const ROUND: [Scan; 6] = {
    use Scan::{Locking, NoLock, Versioned};
    [Locking, Versioned, NoLock, NoLock, Versioned, Locking]
};
const LOCKING_MAX: f64 = 1.0;
const NOLOCK_MAX: f64 = 1.15;
const CREATE: &str = "CREATE TABLE dbo.Plain (id int NOT NULL PRIMARY KEY CLUSTERED, \
    v int NOT NULL, filler char(8) NOT NULL)";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("versions.7")?;
    let data = work.join("data");
    let rows = ground.scaled(ROWS);
    let mut server =
        ServerProcess::start_with(&ground.binary()?, &data, &["--max-memory", "2048MB"])?;
    asked(&mut server.client()?, "CREATE DATABASE Scanned")?;
    let mut client = session(&server, "Scanned")?;
    load(&mut client, rows)?;
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let mut costs = [0.0; 3];
        for scan in ROUND {
            costs[scan as usize] += scan.cost(&server, &mut client, rows)?;
        }
        // The first round brings pages into memory.
        if round > 0 {
            rounds.push(costs);
        }
    }
    drop(client);
    server.stop()?;
    // Gigabytes need not stay; what cannot be removed is emptied next time.
    let _ = std::fs::remove_dir_all(&data);
    Ok(vec![
        judge(ground, rows, "a locking database's", (&rounds, Scan::Locking), LOCKING_MAX),
        judge(ground, rows, "NOLOCK's", (&rounds, Scan::NoLock), NOLOCK_MAX),
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

/// How the rows are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scan {
    /// Under READ COMMITTED while RCSI is off.
    Locking,
    /// The same while it is on.
    Versioned,
    /// With NOLOCK, while it is on.
    NoLock,
}

impl Scan {
    /// The server's CPU seconds of a scan, whose answer is looked at.
    fn cost(self, server: &ServerProcess, client: &mut Client, rows: i64) -> Outcome<f64> {
        let versions = if self == Scan::Locking { "OFF" } else { "ON" };
        let turn = format!("ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT {versions}");
        asked(client, &turn)?;
        let hint = if self == Scan::NoLock { " WITH (NOLOCK)" } else { "" };
        let query =
            format!("SELECT COUNT_BIG(*) FROM dbo.Plain{hint} WHERE v >= 0 OPTION (MAXDOP 1)");
        let before = server.cpu()?;
        let counted = number(client, &query)?;
        let took = server.cpu()? - before;
        match counted == rows {
            true => Ok(took.as_secs_f64()),
            false => Err(format!("{query}: {counted} of {rows} rows")),
        }
    }
}

/// The scan under RCSI against another of the same round.
fn judge(
    ground: &Ground<'_>,
    rows: i64,
    whose: &str,
    (rounds, other): (&[[f64; 3]], Scan),
    at_most: f64,
) -> Figure {
    let middle = |of: &dyn Fn(&[f64; 3]) -> f64| median(rounds.iter().map(of).collect());
    let (own, other) = (Scan::Versioned as usize, other as usize);
    let ratio = middle(&|round| round[own] / round[other]);
    let once = |scan: usize| middle(&|round| round[scan] / 2.0);
    let (cost, base) = (once(own), once(other));
    Figure {
        what: format!("scan of {rows} rows under RCSI against {whose}, median of {ROUNDS}"),
        figure: format!("{ratio:.3} ({:.1} ms, {:.1} ms)", cost * 1e3, base * 1e3),
        limit: format!("{at_most} x the CPU{}", ground.of_the_whole()),
        pass: (ratio * 100.0).round() <= (at_most * 100.0).round() && ground.is_whole(),
    }
}
