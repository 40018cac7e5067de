//! SIGKILLs of a real server on a real disk: four sessions insert, update in place and by key,
//! delete, roll back and commit; at a random moment the process is killed, some times again
//! while it recovers. Then every acknowledged commit is there, no transaction is there in part,
//! and DBCC CHECKDB finds nothing. The same where rows have versions, or have them by turns: then
//! one more session reads as of one moment until the kill.

use super::client::Client;
use super::crowd::asked;
use super::ledger::{Ledger, Random, Rows, filler_length};
use super::program::{Ground, Serving};
use crate::workspace::{Outcome, Workspace};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last of them commits with delayed durability.
const SESSIONS: usize = 4;
const SCHEMA: [&str; 4] = [
    "CREATE DATABASE Kills",
    "ALTER DATABASE Kills SET DELAYED_DURABILITY = ALLOWED",
    "USE Kills",
    "CREATE TABLE dbo.T (session int NOT NULL, id int NOT NULL, v bigint NOT NULL, \
     filler varchar(2600) NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (session, id)); \
     CREATE NONCLUSTERED INDEX IX_T ON dbo.T (v) INCLUDE (filler)",
];
const CLEAN: &str = "found 0 allocation errors and 0 consistency errors in database 'Kills'";

/// What `cargo xtask kills` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How often
    #[arg(default_value_t = 20)]
    kills: u32,
    /// Decides moments and transactions; else the clock does
    #[arg(long)]
    seed: Option<u64>,
    /// Whether rows have versions
    #[arg(long, value_enum, default_value_t = Versions::Off)]
    versions: Versions,
    /// A binary to kill instead of this checkout's debug build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Whether rows have versions, under READ_COMMITTED_SNAPSHOT and for SNAPSHOT transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Versions {
    /// They have none.
    Off,
    /// They have from the beginning on.
    On,
    /// Each option is set anew after each recovery, by chance.
    Switched,
}

/// What was run.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    pub(crate) kills: u32,
    /// Those while the server started.
    pub(crate) nested: u32,
    pub(crate) verified: u32,
    pub(crate) acknowledged: u64,
    /// Readings of a SNAPSHOT transaction that were as its first.
    pub(crate) reread: u64,
}

/// The short form, and the long one by hand.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let ground = Ground::new(workspace, options.binary.clone());
    let binary = ground.binary_of("debug")?;
    let data = ground.folder("kills")?.join("data");
    let seed = options.seed.unwrap_or_else(any_seed);
    let counts = drive(&binary, &data, options.kills, seed, options.versions)?;
    println!("{counts}");
    Ok(true)
}

/// The short form on the debug build.
pub(crate) fn short(workspace: &Workspace) -> Outcome<bool> {
    let versions = Versions::Off;
    run(workspace, &Options { kills: 20, seed: None, versions, binary: None })
}

/// A seed that the clock decides.
pub(crate) fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::from(now.subsec_nanos())
}

/// Runs this many kills on an empty folder.
pub(crate) fn drive(
    binary: &Path,
    data: &Path,
    kills: u32,
    seed: u64,
    versions: Versions,
) -> Outcome<Counts> {
    let mut random = Random(seed);
    let mut ledgers: Vec<Ledger> = (0..SESSIONS).map(|_| Ledger::default()).collect();
    let mut counts = Counts::default();
    let mut server = Serving::start(binary, data)?;
    create(&mut server)?;
    while counts.kills < kills {
        let reader = set_versions(&mut server, versions, &mut random)?;
        let done = work_until_killed(server, &mut ledgers, &mut random, reader)?;
        counts.acknowledged += done.0;
        counts.reread += done.1;
        counts.kills += 1;
        while counts.kills < kills && random.below(4) == 0 {
            let starting = Serving::start(binary, data)?;
            thread::sleep(Duration::from_millis(random.below(40)));
            starting.kill()?;
            counts.kills += 1;
            counts.nested += 1;
        }
        server = Serving::start(binary, data)?;
        let verified = verify(&mut server, &mut ledgers);
        verified.map_err(|why| format!("after {} kills of seed {seed}: {why}", counts.kills))?;
        counts.verified += 1;
    }
    server.stop()?;
    Ok(counts)
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { kills, nested, verified, acknowledged, reread } = self;
        write!(
            f,
            "{kills} kills, {nested} of them in a start, {verified} verifications, \
             {acknowledged} acknowledged batches"
        )?;
        match reread {
            0 => Ok(()),
            _ => write!(f, ", {reread} readings as of a moment"),
        }
    }
}

fn create(server: &mut Serving) -> Outcome<()> {
    let mut client = server.client()?;
    for text in SCHEMA {
        let answer = client.batch(text).map_err(|e| format!("{text}: {e}"))?;
        if let Some(error) = answer.errors.first() {
            return Err(format!("{text}: {error}"));
        }
    }
    Ok(())
}

/// Sets the options; a session that may read as of a moment, where they let it.
fn set_versions(
    server: &mut Serving,
    versions: Versions,
    random: &mut Random,
) -> Outcome<Option<Client>> {
    let mut draw = || match versions {
        Versions::Off => false,
        Versions::On => true,
        Versions::Switched => random.below(2) == 0,
    };
    let (rcsi, si) = (draw(), draw());
    let mut client = server.client()?;
    let word = |on: bool| if on { "ON" } else { "OFF" };
    for text in [
        format!("ALTER DATABASE Kills SET READ_COMMITTED_SNAPSHOT {}", word(rcsi)),
        format!("ALTER DATABASE Kills SET ALLOW_SNAPSHOT_ISOLATION {}", word(si)),
        "USE Kills".to_owned(),
    ] {
        asked(&mut client, &text)?;
    }
    Ok(si.then_some(client))
}

/// Reads as of one moment until the connection breaks; how often it read the same once more.
fn read_again(mut client: Client) -> Outcome<u64> {
    let begin = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION";
    let query = "SELECT COUNT(*), SUM(v), SUM(session * 1000 + id) FROM dbo.T; \
        SELECT COUNT(*), SUM(v) FROM dbo.T WITH (INDEX (IX_T)) WHERE v >= 0";
    let (mut first, mut reread) = (None, 0);
    let mut text = begin;
    while let Ok(answer) = client.batch(text) {
        if let Some(error) = answer.errors.first() {
            return Err(format!("{text}: {error}"));
        }
        if text == query {
            match &first {
                None => first = Some(answer.rows),
                Some(first) if *first == answer.rows => reread += 1,
                Some(first) => return Err(format!("{first:?} is {:?} now", answer.rows)),
            }
        }
        text = query;
    }
    Ok(reread)
}

/// Sessions at work until the kill; how many transactions were acknowledged, and how often a
/// reader read the same once more.
fn work_until_killed(
    mut server: Serving,
    ledgers: &mut [Ledger],
    random: &mut Random,
    reader: Option<Client>,
) -> Outcome<(u64, u64)> {
    let mut sessions = Vec::new();
    for _ in 0..ledgers.len() {
        sessions.push(server.client()?);
    }
    let pause = Duration::from_millis(1 + random.below(150));
    thread::scope(|scope| {
        let mut tasks = Vec::new();
        for (number, (ledger, client)) in ledgers.iter_mut().zip(sessions).enumerate() {
            let random = Random(random.below(u64::from(u32::MAX)));
            tasks.push(scope.spawn(move || work(number, ledger, client, random)));
        }
        let reader = reader.map(|client| scope.spawn(move || read_again(client)));
        thread::sleep(pause);
        server.kill()?;
        let mut acknowledged = 0;
        for task in tasks {
            acknowledged += task.join().map_err(|_| "a session of ours panics".to_owned())??;
        }
        let reread = reader.map_or(Ok(Ok(0)), |task| task.join());
        Ok((acknowledged, reread.map_err(|_| "a reader of ours panics".to_owned())??))
    })
}

/// One session until its connection breaks; how many transactions were acknowledged.
fn work(
    number: usize,
    ledger: &mut Ledger,
    mut client: Client,
    mut random: Random,
) -> Outcome<u64> {
    let delayed = number + 1 == SESSIONS;
    let mut acknowledged = 0;
    let mut text = "USE Kills".to_owned();
    // An error of the connection is the kill.
    while let Ok(answer) = client.batch(&text) {
        if let Some(error) = answer.errors.first() {
            return Err(format!("{text}: {error}"));
        }
        if !delayed {
            ledger.acknowledge();
        }
        acknowledged += 1;
        text = if random.below(200) == 0 {
            "CHECKPOINT".to_owned()
        } else {
            ledger.draw(number, delayed, &mut random)
        };
    }
    Ok(acknowledged)
}

fn verify(server: &mut Serving, ledgers: &mut [Ledger]) -> Outcome<()> {
    let mut client = server.client()?;
    let mut ask = |text: &str| {
        let answer = client.batch(text).map_err(|e| format!("{text}: {e}"))?;
        match answer.errors.first() {
            Some(error) => Err(format!("{text}: {error}")),
            None => Ok(answer),
        }
    };
    ask("USE Kills")?;
    let check = ask("DBCC CHECKDB")?;
    if !check.messages.iter().any(|text| text.contains(CLEAN)) {
        return Err(format!("DBCC CHECKDB: {:?}", check.messages));
    }
    let mut found: Vec<Rows> = vec![Rows::new(); ledgers.len()];
    for row in ask("SELECT session, id, v, LEN(filler) FROM dbo.T")?.rows {
        let &[session, key, value, length] = row.as_slice() else {
            return Err(format!("a row without its four numbers: {row:?}"));
        };
        let rows = usize::try_from(session).ok().and_then(|number| found.get_mut(number));
        let rows = rows.ok_or_else(|| format!("a row of no session: {row:?}"))?;
        if length != filler_length(value) || rows.insert(key, value).is_some() {
            return Err(format!("a row that nobody wrote so: {row:?}"));
        }
    }
    for (number, (ledger, rows)) in ledgers.iter_mut().zip(&found).enumerate() {
        ledger.settle(rows).map_err(|why| format!("session {number}: {why}"))?;
    }
    Ok(())
}
