//! SIGKILLs of a real server on a real disk: four sessions insert, update in place and by key,
//! delete, roll back and commit; at a random moment the process is killed, some times again
//! while it recovers. Then every acknowledged commit is there, no transaction is there in part,
//! and DBCC CHECKDB finds nothing. The same where rows have versions, or have them by turns: then
//! one more session reads as of one moment until the kill. And the same beside a fifth session,
//! which makes the log grow, wrap and shrink, and indexes anew (`activities.rs`).

use crate::ground::client::{Client, asked};
use crate::ground::ledger::{Ledger, Random, Rows, filler_length};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::session;
use crate::recovery::activities::{
    self, ACTIVITIES, ActivityKills, DEADLOCK, FifthSession, STILL_ROWS, STILL_SUM,
};
use crate::recovery::full_disk;
use crate::recovery::large_changes::{self, LargeChanges};
use checks::{Outcome, Workspace};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last of them commits with delayed durability.
pub(crate) const SESSIONS: usize = 4;
const SCHEMA: [&str; 4] = [
    "CREATE DATABASE Kills",
    "ALTER DATABASE Kills SET DELAYED_DURABILITY = ALLOWED",
    "USE Kills",
    "CREATE TABLE dbo.T (session int NOT NULL, id int NOT NULL, v bigint NOT NULL, \
     filler varchar(2600) NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (session, id)); \
     CREATE NONCLUSTERED INDEX IX_T ON dbo.T (v) INCLUDE (filler)",
];
/// The log's file below the data folder.
const LOG: &str = "Kills_log.ldf";
/// The longest until a kill.
const PAUSE_MS: u64 = 150;
/// The same beside transactions that change many rows.
const LARGE_PAUSE_MS: u64 = 900;
const CLEAN: &str = "found 0 allocation errors and 0 consistency errors in database 'Kills'";

/// What `cargo xtask kills` can be told.
#[derive(clap::Args)]
pub struct Options {
    /// How often
    #[arg(default_value_t = 20)]
    kills: u32,
    /// Decides moments and transactions; else the clock does
    #[arg(long)]
    seed: Option<u64>,
    /// Whether rows have versions
    #[arg(long, value_enum, default_value_t = Versions::Off)]
    versions: Versions,
    /// A fifth session grows, wraps and shrinks the log and makes indexes, by turns
    #[arg(long)]
    activities: bool,
    /// Instead so many rounds on a file system of its own, which is full now and then
    #[arg(long)]
    full_disk: bool,
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
    /// Versions are there, and accelerated recovery is on; one more session changes many rows.
    Accelerated,
    /// The same, and each option is set anew after each recovery, by chance.
    AcceleratedSwitched,
}

impl Versions {
    /// Whether a session changes many rows in transactions of its own.
    fn has_large_changes(self) -> bool {
        matches!(self, Versions::Accelerated | Versions::AcceleratedSwitched)
    }
}

/// What is to be run.
pub(crate) struct Course<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) data: &'a Path,
    pub(crate) kills: u32,
    pub(crate) seed: u64,
    pub(crate) versions: Versions,
    /// Whether a fifth session goes through the activities.
    pub(crate) activities: bool,
}

/// What was run.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    pub(crate) kills: u32,
    /// Those while the server started.
    pub(crate) nested: u32,
    pub(crate) verified: u32,
    pub(crate) acknowledged: u64,
    /// Transactions that were told of a deadlock or a full log, and rolled back.
    pub(crate) refused: u64,
    /// Readings of a SNAPSHOT transaction that were as its first.
    pub(crate) reread: u64,
    /// Transactions of many rows that were rolled back.
    pub(crate) rolled_back: u64,
    /// Of the fifth session.
    pub(crate) activities: Vec<ActivityKills>,
}

impl Options {
    /// Whether the database on the full file system has accelerated recovery.
    fn accelerated_disk(&self) -> bool {
        self.versions.has_large_changes()
    }
}

/// The short form, and the long one by hand.
///
/// # Errors
/// Something is lost or unsound, or the server cannot be run.
pub fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let ground = Ground::new(workspace, options.binary.clone());
    let binary = ground.binary_of("debug")?;
    let folder = ground.folder("kills")?;
    let data = folder.join("data");
    let seed = options.seed.unwrap_or_else(any_seed);
    if options.full_disk {
        println!(
            "{}",
            full_disk::drive(&binary, &folder, options.kills, seed, options.accelerated_disk())?
        );
        return Ok(true);
    }
    let course = Course {
        binary: &binary,
        data: &data,
        kills: options.kills,
        seed,
        versions: options.versions,
        activities: options.activities,
    };
    let counts = drive(&course)?;
    println!("{counts}");
    for told in &counts.activities {
        println!("  {told}");
    }
    Ok(true)
}

/// The short form on the debug build.
///
/// # Errors
/// As those of [`run`].
pub fn short(workspace: &Workspace) -> Outcome<bool> {
    let versions = Versions::Off;
    let (activities, full_disk) = (false, false);
    let options = Options { kills: 20, seed: None, versions, activities, full_disk, binary: None };
    run(workspace, &options)
}

/// A seed that the clock decides.
pub(crate) fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::from(now.subsec_nanos())
}

/// Runs a course on an empty folder.
pub(crate) fn drive(course: &Course<'_>) -> Outcome<Counts> {
    let &Course { binary, data, kills, seed, versions, .. } = course;
    let log = data.join(LOG);
    let mut random = Random(seed);
    let mut ledgers: Vec<Ledger> = (0..SESSIONS).map(|_| Ledger::default()).collect();
    let mut counts = Counts::default();
    let mut server = ServerProcess::start(binary, data)?;
    create(&mut server, if course.activities { &activities::SCHEMA } else { &[] })?;
    if course.activities {
        counts.activities = activities::try_all(&mut server, &log)?;
    }
    let mut large = LargeChanges::default();
    if versions.has_large_changes() {
        large_changes::create(&mut server)?;
    }
    while counts.kills < kills {
        let at = turn(&counts);
        let fifth =
            at.map(|at| FifthSession::begin(&mut server, &ACTIVITIES[at], &log)).transpose()?;
        let reader = set_versions(&mut server, versions, &mut random)?;
        let usual_ms = if versions.has_large_changes() { LARGE_PAUSE_MS } else { PAUSE_MS };
        let pause_ms = at.map_or(usual_ms, |at| ACTIVITIES[at].pause_ms);
        let pause = Duration::from_millis(1 + random.below(pause_ms));
        let refusals = at.map_or(&[DEADLOCK][..], |at| ACTIVITIES[at].refusals);
        let large_session =
            versions.has_large_changes().then(|| session(&server, "Kills")).transpose()?;
        let large_session = large_session.map(|client| (large, client));
        let beside = SideSessions { reader, fifth, large: large_session, refusals };
        let done = work_until_killed(server, &mut ledgers, &mut random, beside, pause);
        let done = done.map_err(|why| format!("kill {} of seed {seed}: {why}", counts.kills))?;
        counts.acknowledged += done.acknowledged;
        counts.refused += done.refused;
        counts.reread += done.reread;
        large = done.large;
        counts.kills += 1;
        while counts.kills < kills && random.below(4) == 0 {
            let starting = ServerProcess::start(binary, data)?;
            thread::sleep(Duration::from_millis(random.below(40)));
            starting.kill()?;
            counts.kills += 1;
            counts.nested += 1;
        }
        server = ServerProcess::start(binary, data)?;
        if let (Some(at), Some(left)) = (at, &done.left) {
            let met = ACTIVITIES[at].met(left, &mut server.client()?)?;
            let told = &mut counts.activities[at];
            told.kills += 1;
            told.within += u32::from(met);
            told.answered += left.answered;
        }
        let verified = verify(&mut server, &mut ledgers, course.activities);
        verified.map_err(|why| {
            let beside = at.map_or("", |at| ACTIVITIES[at].name);
            format!("after {} kills of seed {seed} {beside}: {why}", counts.kills)
        })?;
        if versions.has_large_changes() {
            let settled = large.settle(&mut server);
            settled.map_err(|why| format!("after {} kills of seed {seed}: {why}", counts.kills))?;
        }
        counts.verified += 1;
    }
    counts.rolled_back = large.rolled_back;
    server.stop()?;
    Ok(counts)
}

/// The activity that had the fewest kills within, of those that the server knows.
fn turn(counts: &Counts) -> Option<usize> {
    let known = counts.activities.iter().enumerate().filter(|(_, told)| told.refused.is_none());
    known.min_by_key(|(at, told)| (told.kills, *at)).map(|(at, _)| at)
}

impl std::fmt::Display for ActivityKills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ActivityKills { name, kills, within, answered, refused } = self;
        match refused {
            Some(error) => write!(f, "{name}: refused, {error}"),
            None => {
                write!(f, "{name}: {within} of {kills} kills within, {answered} times done before")
            }
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { kills, nested, verified, acknowledged, refused, reread, rolled_back, .. } =
            self;
        write!(
            f,
            "{kills} kills, {nested} of them in a start, {verified} verifications, \
             {acknowledged} acknowledged batches"
        )?;
        if *refused > 0 {
            write!(f, ", {refused} refused for a deadlock or a full log")?;
        }
        if *rolled_back > 0 {
            write!(f, ", {rolled_back} transactions of many rows rolled back")?;
        }
        match reread {
            0 => Ok(()),
            _ => write!(f, ", {reread} readings as of a moment"),
        }
    }
}

/// Makes the database of the ledgers, and what else is asked for in it.
pub(crate) fn create(server: &mut ServerProcess, more: &[&str]) -> Outcome<()> {
    let mut client = server.client()?;
    for text in SCHEMA.iter().chain(more) {
        asked(&mut client, text)?;
    }
    Ok(())
}

/// Sets the options; a session that may read as of a moment, where they let it.
fn set_versions(
    server: &mut ServerProcess,
    versions: Versions,
    random: &mut Random,
) -> Outcome<Option<Client>> {
    let mut draw = || match versions {
        Versions::Off => false,
        Versions::On | Versions::Accelerated => true,
        Versions::Switched | Versions::AcceleratedSwitched => random.below(2) == 0,
    };
    let (rcsi, si) = (draw(), draw());
    let accelerated = versions.has_large_changes() && draw();
    let mut client = server.client()?;
    let word = |on: bool| if on { "ON" } else { "OFF" };
    for text in [
        format!("ALTER DATABASE Kills SET READ_COMMITTED_SNAPSHOT {}", word(rcsi)),
        format!("ALTER DATABASE Kills SET ALLOW_SNAPSHOT_ISOLATION {}", word(si)),
        format!("ALTER DATABASE Kills SET ACCELERATED_DATABASE_RECOVERY = {}", word(accelerated)),
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

/// Sessions beside those of the ledgers.
struct SideSessions {
    /// It reads as of one moment.
    reader: Option<Client>,
    fifth: Option<FifthSession>,
    /// It changes many rows, and goes on from there.
    large: Option<(LargeChanges, Client)>,
    /// What the ledgers' transactions may be refused with.
    refusals: &'static [&'static str],
}

/// What was done until a kill.
#[derive(Default)]
struct KillProgress {
    acknowledged: u64,
    refused: u64,
    /// How often a reader read the same once more.
    reread: u64,
    /// Where the kill found the fifth session.
    left: Option<activities::InterruptedActivity>,
    /// How far the changes of many rows have come.
    large: LargeChanges,
}

/// Sessions at work until the kill.
fn work_until_killed(
    mut server: ServerProcess,
    ledgers: &mut [Ledger],
    random: &mut Random,
    beside: SideSessions,
    pause: Duration,
) -> Outcome<KillProgress> {
    let mut sessions = Vec::new();
    for _ in 0..ledgers.len() {
        sessions.push(server.client()?);
    }
    let panicked = |_| "a session of ours panics".to_owned();
    thread::scope(|scope| {
        let mut tasks = Vec::new();
        for (number, (ledger, client)) in ledgers.iter_mut().zip(sessions).enumerate() {
            let random = Random(random.below(u64::from(u32::MAX)));
            let refusals = beside.refusals;
            tasks.push(scope.spawn(move || work(number, ledger, client, random, refusals)));
        }
        let reader = beside.reader.map(|client| scope.spawn(move || read_again(client)));
        let fifth = beside.fifth.map(|fifth| scope.spawn(move || fifth.work()));
        let large = beside.large.map(|(large, client)| scope.spawn(move || large.work(client)));
        thread::sleep(pause);
        server.kill()?;
        let mut done = KillProgress::default();
        for task in tasks {
            let (acknowledged, refused) = task.join().map_err(panicked)??;
            done.acknowledged += acknowledged;
            done.refused += refused;
        }
        if let Some(task) = reader {
            done.reread = task.join().map_err(panicked)??;
        }
        if let Some(task) = fifth {
            done.left = Some(task.join().map_err(panicked)??);
        }
        if let Some(task) = large {
            done.large = task.join().map_err(panicked)??;
        }
        Ok(done)
    })
}

/// One session until its connection breaks; how many transactions were acknowledged, and how many
/// were refused.
fn work(
    number: usize,
    ledger: &mut Ledger,
    mut client: Client,
    mut random: Random,
    refusals: &[&str],
) -> Outcome<(u64, u64)> {
    let delayed = number + 1 == SESSIONS;
    let (mut acknowledged, mut refused) = (0, 0);
    let mut text = "USE Kills".to_owned();
    // An error of the connection is the kill.
    while let Ok(answer) = client.batch(&text) {
        match answer.errors.first() {
            Some(error) if refusals.iter().any(|may| error.starts_with(may)) => {
                ledger.refused();
                refused += 1;
            }
            Some(error) => return Err(format!("{text}: {error}")),
            None => {
                ledger.answered(!delayed);
                acknowledged += 1;
            }
        }
        text = if random.below(200) == 0 {
            "CHECKPOINT".to_owned()
        } else {
            ledger.draw(number, delayed, &mut random)
        };
    }
    Ok((acknowledged, refused))
}

/// Every acknowledged commit is there and nothing else, and CHECKDB finds nothing.
pub(crate) fn verify(
    server: &mut ServerProcess,
    ledgers: &mut [Ledger],
    activities: bool,
) -> Outcome<()> {
    let mut client = server.client()?;
    let mut ask = |text: &str| asked(&mut client, text);
    ask("USE Kills")?;
    let check = ask("DBCC CHECKDB")?;
    if !check.messages.iter().any(|text| text.contains(CLEAN)) {
        return Err(format!("DBCC CHECKDB: {:?}", check.messages));
    }
    if activities {
        let found = ask(STILL_SUM)?.rows;
        if found.first().and_then(|row| row.first()) != Some(&STILL_ROWS) {
            return Err(format!("dbo.B, which nobody changes: {found:?}"));
        }
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
