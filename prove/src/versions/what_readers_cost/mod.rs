//! versions.2, what readers cost writers: a loop of short transactions under locking and with row
//! versions, alone and beside transactions that stay open; one row, and 1,000 rows of an index and
//! of a heap changed by eight sessions. And the one row beside the peers.
//!
//! Each run is ten batches a session, so that the server's CPU time is read between them: what a
//! run costs, and its last tenth against its first. Settings take turns. A first round, which does
//! not count, looks at the leaf level all the time; the others between tenths.

mod contest;

use crate::ground::bench;
use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, failed, median};
use crate::ground::program::{Ground, ServerProcess};
use checks::Outcome;
use contest::{Run, Scene};

const REPETITIONS: usize = 5;
/// The last tenth's CPU time may be that much of the first's.
const TENTH_MAX: f64 = 1.1;

/// Who is there beside the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Company {
    Nobody,
    /// A READ COMMITTED transaction that has read another table.
    Idle,
    /// A SNAPSHOT transaction that has read the table before.
    Snapshot,
    /// As many, each from a moment of its own during the loop.
    Snapshots(usize),
}

/// A database's options, and who is beside the loop.
pub(crate) struct Setting {
    name: &'static str,
    pub(crate) database: &'static str,
    versions: &'static [&'static str],
    pub(crate) beside: Company,
}

const RCSI: &str = "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON";
const SI: &str = "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON";
const SETTINGS: [Setting; 6] = [
    Setting { name: "locking", database: "Locking", versions: &[], beside: Company::Nobody },
    Setting { name: "RCSI", database: "Alone", versions: &[RCSI], beside: Company::Nobody },
    Setting {
        name: "RCSI beside an idle transaction",
        database: "BesideIdle",
        versions: &[RCSI],
        beside: Company::Idle,
    },
    Setting {
        name: "RCSI beside a snapshot",
        database: "BesideOne",
        versions: &[RCSI, SI],
        beside: Company::Snapshot,
    },
    Setting {
        name: "RCSI beside 100 snapshots",
        database: "BesideMany",
        versions: &[RCSI, SI],
        beside: Company::Snapshots(100),
    },
    Setting {
        name: "SI on, used by nobody",
        database: "Unused",
        versions: &[SI],
        beside: Company::Nobody,
    },
];

/// A table, and the transactions that change it.
pub(crate) struct Workload {
    name: &'static str,
    /// Makes the table anew.
    pub(crate) table: &'static [&'static str],
    pub(crate) object: &'static str,
    pub(crate) sessions: usize,
    /// Of a session in a tenth.
    pub(crate) transactions: usize,
    /// A session's batch of one tenth.
    pub(crate) batch: fn(usize, usize) -> String,
    /// What a snapshot reads.
    pub(crate) query: &'static str,
    /// The most leaf pages, where it is not twice the most of locking.
    pages_max: Option<i64>,
}

const THOUSAND: &str = "INSERT dbo.Thousand (id, v) SELECT value, 0 FROM GENERATE_SERIES(1, 1000)";
const SUMS: &str = "SELECT COUNT(*), SUM(CAST(v AS bigint)), SUM(CAST(v AS bigint) * id) \
    FROM dbo.Thousand; SELECT COUNT(*), SUM(CAST(v AS bigint)) FROM dbo.Thousand \
    WITH (INDEX (ByV)) WHERE v >= 0";
const WORKLOADS: [Workload; 3] = [
    Workload {
        name: "one row",
        table: &[
            "DROP TABLE IF EXISTS dbo.Counter",
            "CREATE TABLE dbo.Counter (id integer PRIMARY KEY CLUSTERED); \
             INSERT dbo.Counter (id) VALUES (0)",
            "CHECKPOINT",
        ],
        object: "dbo.Counter",
        sessions: 1,
        transactions: 12_345,
        batch: next_keys,
        query: "SELECT id FROM dbo.Counter; SELECT COUNT(*), MAX(id) FROM dbo.Counter WHERE id >= 0",
        pages_max: Some(2),
    },
    Workload {
        name: "1,000 rows, eight sessions",
        table: &[
            "DROP TABLE IF EXISTS dbo.Thousand",
            "CREATE TABLE dbo.Thousand (id int NOT NULL PRIMARY KEY CLUSTERED, v int NOT NULL)",
            THOUSAND,
            "CREATE INDEX ByV ON dbo.Thousand (v)",
            "CHECKPOINT",
        ],
        object: "dbo.Thousand",
        sessions: 8,
        transactions: 1_543,
        batch: any_rows,
        query: SUMS,
        pages_max: None,
    },
    Workload {
        name: "a heap of 1,000 rows, eight sessions",
        table: &[
            "DROP TABLE IF EXISTS dbo.Thousand",
            "CREATE TABLE dbo.Thousand (id int NOT NULL, v int NOT NULL)",
            THOUSAND,
            "CREATE UNIQUE INDEX ById ON dbo.Thousand (id); CREATE INDEX ByV ON dbo.Thousand (v)",
            "CHECKPOINT",
        ],
        object: "dbo.Thousand",
        sessions: 8,
        transactions: 1_543,
        batch: any_rows,
        query: SUMS,
        pages_max: None,
    },
];

/// The row gets a new key each time.
fn next_keys(_: usize, tenth: usize) -> String {
    let (from, to) = (tenth * 12_345, (tenth + 1) * 12_345);
    format!(
        "SET NOCOUNT, XACT_ABORT ON; DECLARE @n int = {from}; WHILE @n < {to} BEGIN \
         BEGIN TRANSACTION; UPDATE TOP (1) dbo.Counter WITH (TABLOCKX) SET @n = id = @n + 1; \
         COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON); END"
    )
}

/// A row that looks random gets another value in the column of the secondary index.
fn any_rows(session: usize, tenth: usize) -> String {
    let seed = (session * 7_919 + tenth * 104_729) % 65_536;
    format!(
        "SET NOCOUNT, XACT_ABORT ON; DECLARE @n int = 0, @x int = {seed}; WHILE @n < 1543 BEGIN \
         SET @x = (@x * 1105 + 12345) % 65536; BEGIN TRANSACTION; \
         UPDATE dbo.Thousand SET v = v + 1 WHERE id = @x / 64 % 1000 + 1; \
         COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON); SET @n += 1; END"
    )
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("versions.2")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    let mut client = server.client()?;
    for setting in &SETTINGS {
        create(&mut client, setting)?;
    }
    let mut figures = Vec::new();
    for workload in &WORKLOADS {
        match contest(&server, workload) {
            Ok(runs) => figures.extend(judge(workload, &runs)),
            Err(why) => figures.push(failed(workload.name, why)),
        }
    }
    drop(client);
    server.stop()?;
    figures.extend(bench::figures_or_why(ground, &["held"]));
    Ok(figures)
}

fn create(client: &mut Client, setting: &Setting) -> Outcome<()> {
    let database = setting.database;
    asked(client, &format!("CREATE DATABASE {database}"))?;
    asked(client, &format!("USE {database}"))?;
    asked(client, "ALTER DATABASE CURRENT SET RECOVERY SIMPLE")?;
    asked(client, "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED")?;
    for option in setting.versions {
        asked(client, option)?;
    }
    asked(client, "CREATE TABLE dbo.Elsewhere (id int)")?;
    asked(client, "USE master")?;
    Ok(())
}

/// All settings in turns: the runs of each, the first of which does not count.
fn contest(server: &ServerProcess, workload: &Workload) -> Outcome<Vec<Vec<Run>>> {
    let mut runs: Vec<Vec<Run>> = SETTINGS.iter().map(|_| Vec::new()).collect();
    for round in 0..=REPETITIONS {
        for (setting, runs) in SETTINGS.iter().zip(&mut runs) {
            let watched = round == 0;
            let pace = runs.last().map(|run: &Run| run.wall / 120);
            let scene = Scene { server, setting, workload, watched, pace };
            runs.push(scene.run().map_err(|why| format!("{}: {why}", setting.name))?);
        }
    }
    Ok(runs)
}

fn judge(workload: &Workload, runs: &[Vec<Run>]) -> Vec<Figure> {
    let transactions = (workload.sessions * workload.transactions * 10) as f64;
    let cost = |runs: &[Run]| {
        let all = runs.iter().skip(1).map(|run| run.tenths.iter().sum::<f64>());
        median(all.collect()) * 1e6 / transactions
    };
    let pages = |runs: &[Run]| runs.iter().map(|run| run.pages).max().unwrap_or(i64::MAX);
    let Some(locking) = runs.first() else { return Vec::new() };
    let base = cost(locking);
    let pages_max = workload.pages_max.unwrap_or(2 * pages(locking));
    let mut figures = Vec::new();
    for (setting, runs) in SETTINGS.iter().zip(runs) {
        let what = format!("{}, {}", workload.name, setting.name);
        figures.push(costs(&what, setting, base, cost(runs)));
        figures.push(tenths(&what, runs));
        let most = pages(runs);
        figures.push(Figure {
            what: format!("{what}: leaf pages at most"),
            figure: most.to_string(),
            limit: pages_max.to_string(),
            pass: most <= pages_max,
        });
        if matches!(setting.beside, Company::Snapshot | Company::Snapshots(_)) {
            let (ended, exact) =
                runs.iter().fold((0, 0), |sum, run| (sum.0 + run.ended, sum.1 + run.exact));
            figures.push(Figure {
                what: format!("{what}: snapshots that still read what they read"),
                figure: format!("{exact} of {ended}"),
                limit: "all".to_owned(),
                pass: exact == ended && ended > 0,
            });
        }
    }
    figures
}

fn costs(what: &str, setting: &Setting, base: f64, cost: f64) -> Figure {
    let (times, more) = match setting.beside {
        Company::Nobody | Company::Idle => (1.15, 0.6),
        Company::Snapshot | Company::Snapshots(_) => (1.3, 1.0),
    };
    let limit = (base * times).max(base + more);
    Figure {
        what: format!("{what}: CPU of a transaction, median of {REPETITIONS}"),
        figure: format!("{cost:.2} us, {:.2} x locking", cost / base),
        limit: format!("{limit:.2} us: {times} x or + {more} us"),
        pass: cost > 0.0 && cost <= limit,
    }
}

fn tenths(what: &str, runs: &[Run]) -> Figure {
    let of = |n: usize| median(runs.iter().skip(1).map(|run| run.tenths[n]).collect());
    let (first, last) = (of(0), of(9));
    Figure {
        what: format!("{what}: last tenth against first, CPU, medians"),
        figure: format!("{:.2} ({:.1} ms, {:.1} ms)", last / first, last * 1e3, first * 1e3),
        limit: format!("{TENTH_MAX:.2}"),
        pass: last <= first * TENTH_MAX,
    }
}
