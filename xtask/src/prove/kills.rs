//! SIGKILLs of a real server on a real disk: four sessions insert, update in place and by key,
//! delete, roll back and commit; at a random moment the process is killed, some times again
//! while it recovers. Then every acknowledged commit is there, no transaction is there in part,
//! and DBCC CHECKDB finds nothing.

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
    /// A binary to kill instead of this checkout's debug build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// What was run.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    pub(crate) kills: u32,
    /// Those while the server started.
    pub(crate) nested: u32,
    pub(crate) verified: u32,
    pub(crate) acknowledged: u64,
}

/// The short form, and the long one by hand.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let ground = Ground::new(workspace, options.binary.clone());
    let binary = ground.binary_of("debug")?;
    let data = ground.folder("kills")?.join("data");
    let counts = drive(&binary, &data, options.kills, options.seed.unwrap_or_else(any_seed))?;
    println!("{counts}");
    Ok(true)
}

/// The short form on the debug build.
pub(crate) fn short(workspace: &Workspace) -> Outcome<bool> {
    run(workspace, &Options { kills: 20, seed: None, binary: None })
}

/// A seed that the clock decides.
pub(crate) fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::from(now.subsec_nanos())
}

/// Runs this many kills on an empty folder.
pub(crate) fn drive(binary: &Path, data: &Path, kills: u32, seed: u64) -> Outcome<Counts> {
    let mut random = Random(seed);
    let mut ledgers: Vec<Ledger> = (0..SESSIONS).map(|_| Ledger::default()).collect();
    let mut counts = Counts::default();
    let mut server = Serving::start(binary, data)?;
    create(&mut server)?;
    while counts.kills < kills {
        counts.acknowledged += work_until_killed(server, &mut ledgers, &mut random)?;
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
        let Counts { kills, nested, verified, acknowledged } = self;
        write!(
            f,
            "{kills} kills, {nested} of them in a start, {verified} verifications, \
             {acknowledged} acknowledged batches"
        )
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

/// Sessions at work until the kill; how many transactions were acknowledged.
fn work_until_killed(
    mut server: Serving,
    ledgers: &mut [Ledger],
    random: &mut Random,
) -> Outcome<u64> {
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
        thread::sleep(pause);
        server.kill()?;
        let mut acknowledged = 0;
        for task in tasks {
            acknowledged += task.join().map_err(|_| "a session of ours panics".to_owned())??;
        }
        Ok(acknowledged)
    })
}

/// One session until its connection breaks; how many transactions were acknowledged.
fn work(
    number: usize,
    ledger: &mut Ledger,
    mut client: super::client::Client,
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
