//! recovery.4, what accelerated recovery costs who changes rows: CPU of the server and bytes of
//! log, with it, without it, with READ_COMMITTED_SNAPSHOT and with both. The users' updates of
//! every row, once and four times in one transaction; single-row inserts into a table with six
//! indexes; the hot row. Settings take turns, each in a database of its own. `bench` has the rest:
//! on and off side by side, w1, w2 and w9.

use crate::ground::bench;
use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, measures, median};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{batches, number, session, text};
use crate::recovery::big_table::Options;
use checks::Outcome;

const ROWS: i64 = 5_000_000;
/// Rows of the table with six indexes, and changes of the hot row.
const INSERTS: i64 = 100_000;
const REPETITIONS: usize = 3;
const SETTINGS: [Options; 4] = [Options::OFF, Options::RCSI, Options::ACCELERATED, Options::BOTH];
const OFF: usize = 0;
const RCSI: usize = 1;
const ACCELERATED: usize = 2;

/// What is done, once a repetition, in each setting.
struct Work {
    name: &'static str,
    /// What it is done to.
    prepare: fn(&Ground<'_>, &mut Client) -> Outcome<()>,
    run: fn(&Ground<'_>, &mut Client) -> Outcome<()>,
    limits: &'static [Limit],
}

/// At most so many times what another setting costs.
struct Limit {
    of: usize,
    against: usize,
    what: Costs,
    times: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Costs {
    Cpu,
    Log,
}

const fn limit(what: Costs, against: usize, times: f64) -> Limit {
    Limit { of: ACCELERATED, against, what, times }
}

const WORKS: [Work; 4] = [
    Work {
        name: "once",
        prepare: fill,
        run: |_, client| change(client, 1),
        limits: &[limit(Costs::Cpu, OFF, 1.2), limit(Costs::Log, OFF, 1.4)],
    },
    Work {
        name: "four times",
        prepare: fill,
        run: |_, client| change(client, 4),
        limits: &[limit(Costs::Cpu, RCSI, 1.0)],
    },
    Work {
        name: "six indexes",
        prepare: six_indexes,
        run: |ground, client| {
            let rows = ground.scaled(INSERTS).max(1_000);
            asked(client, &format!("EXEC dbo.AddPersons {rows}")).map(drop)
        },
        limits: &[
            limit(Costs::Cpu, RCSI, 1.05),
            limit(Costs::Log, RCSI, 1.05),
            limit(Costs::Cpu, OFF, 1.2),
        ],
    },
    Work {
        name: "hot row",
        prepare: |ground, client| batches(client, &text(ground, "one_row/2_table.sql")?).map(drop),
        run: |ground, client| {
            asked(client, "UPDATE dbo.Counter SET id = 0")?;
            batches(client, &text(ground, "one_row/3_loop.sql")?).map(drop)
        },
        limits: &[limit(Costs::Cpu, OFF, 1.2)],
    },
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(
        ground,
        &[
            ("once", |ground| work(ground, &WORKS[0])),
            ("four times", |ground| work(ground, &WORKS[1])),
            ("six indexes", |ground| work(ground, &WORKS[2])),
            ("hot row", |ground| work(ground, &WORKS[3])),
            ("bench", |ground| bench::figures(ground, &["accelerated"])),
        ],
    ))
}

/// The users' table: its rows are written under the setting, so that a page has room for their
/// tags.
fn fill(ground: &Ground<'_>, client: &mut Client) -> Outcome<()> {
    let rows = ground.scaled(ROWS).max(20_000);
    let script = ground.workspace.root.join("demos/big-transaction-history.sql");
    let script = std::fs::read_to_string(&script).map_err(|e| format!("read the demo: {e}"))?;
    // The first batch makes the database, which is here another one.
    let (_, rest) = script.split_once("\nGO\n").ok_or("the demo has one batch")?;
    let rest = rest.replace("USE AdventureWorks_dbi;", "");
    batches(client, &rest.replace("@rows integer = 5000000", &format!("@rows integer = {rows}")))?;
    let there = number(client, "SELECT COUNT_BIG(*) FROM dbo.bigTransactionHistory")?;
    if there == rows { Ok(()) } else { Err(format!("{there} rows instead of {rows}")) }
}

fn six_indexes(ground: &Ground<'_>, client: &mut Client) -> Outcome<()> {
    let script = text(ground, "write_path/0_setup.sql")?;
    let (_, rest) = script.split_once("USE WritePath;").ok_or("the script has no USE")?;
    batches(client, rest).map(drop)
}

/// Changes every row so often in one transaction.
fn change(client: &mut Client, times: usize) -> Outcome<()> {
    asked(client, "BEGIN TRANSACTION")?;
    for _ in 0..times {
        asked(client, crate::recovery::big_table::UPDATE)?;
    }
    asked(client, "COMMIT TRANSACTION").map(drop)
}

/// CPU seconds and bytes of log of a repetition.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    log: f64,
}

/// All settings in turns. A first repetition, which compiles and grows files, does not count.
fn work(ground: &Ground<'_>, work: &Work) -> Part {
    let data = ground.folder("recovery.4")?.join("data");
    let mut server = ServerProcess::start(&ground.binary()?, &data)?;
    let mut first = server.client()?;
    let mut clients = Vec::new();
    for (n, options) in SETTINGS.iter().enumerate() {
        asked(&mut first, &format!("CREATE DATABASE Cost{n}"))?;
        asked(&mut first, &format!("ALTER DATABASE Cost{n} SET RECOVERY SIMPLE"))?;
        asked(&mut first, &format!("ALTER DATABASE Cost{n} SET DELAYED_DURABILITY = FORCED"))?;
        options.set(&mut first, &format!("Cost{n}"))?;
        let mut client = session(&server, &format!("Cost{n}"))?;
        (work.prepare)(ground, &mut client)?;
        clients.push(client);
    }
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); SETTINGS.len()];
    for repetition in 0..=REPETITIONS {
        for (n, client) in clients.iter_mut().enumerate() {
            let cost = once(&server, ground, work, client)?;
            if repetition > 0 {
                costs[n].push(cost);
            }
        }
    }
    drop((clients, first));
    server.stop()?;
    Ok(judge(work, &costs))
}

fn once(
    server: &ServerProcess,
    ground: &Ground<'_>,
    work: &Work,
    client: &mut Client,
) -> Outcome<Cost> {
    // Nothing of the one before is left to be cleaned meanwhile.
    asked(client, "EXEC sp_persistent_version_cleanup; CHECKPOINT")?;
    let (log, cpu) = (flushed(client)?, server.cpu()?);
    (work.run)(ground, client)?;
    let cpu = (server.cpu()? - cpu).as_secs_f64();
    asked(client, "EXEC sp_flush_log")?;
    Ok(Cost { cpu, log: (flushed(client)? - log) as f64 })
}

fn flushed(client: &mut Client) -> Outcome<i64> {
    number(client, "SELECT num_of_bytes_written FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)")
}

fn middle(costs: &[Cost]) -> Cost {
    let of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect());
    Cost { cpu: of(|cost| cost.cpu), log: of(|cost| cost.log) }
}

fn judge(work: &Work, costs: &[Vec<Cost>]) -> Vec<Figure> {
    let middles: Vec<Cost> = costs.iter().map(|costs| middle(costs)).collect();
    for (options, Cost { cpu, log }) in SETTINGS.iter().zip(&middles) {
        let megabytes = log / f64::from(1 << 20);
        println!(
            "        {}, {}: {cpu:.3} s of CPU, {megabytes:.1} MB of log",
            work.name,
            options.name()
        );
    }
    let figure = |limit: &Limit| {
        let part = |cost: &Cost| if limit.what == Costs::Cpu { cost.cpu } else { cost.log };
        let times = part(&middles[limit.of]) / part(&middles[limit.against]);
        let (of, against) = (SETTINGS[limit.of].name(), SETTINGS[limit.against].name());
        let what = if limit.what == Costs::Cpu { "CPU" } else { "log" };
        Figure {
            what: format!("{}: {what}, {of} against {against}", work.name),
            figure: format!("{times:.2} x"),
            limit: format!("{} x", limit.times),
            pass: times.is_finite() && times > 0.0 && times <= limit.times,
        }
    };
    work.limits.iter().map(figure).collect()
}
