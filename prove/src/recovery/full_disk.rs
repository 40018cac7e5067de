//! A file system that is full, a real one: an ext4 image of its own, mounted, or a tmpfs where the
//! machine knows no loop devices. Six sessions write while another program takes all that is left
//! of it, and gives it back; the server is killed in between, and starts again where there is no
//! room.
//!
//! ```text
//!   odd rounds    work | full | room again: nobody is refused any more | kill, start, look
//!   even rounds   work | full | kill, start and look while it is full  | room
//! ```
//! Four of them keep a ledger; one only adds rows, by hundreds; in every second pair of rounds one
//! adds rows and never commits, so that the log cannot be used again.
//!
//! Invariants
//!  1. A refusal is one of those that a SQL Server gives for want of room, and takes back all of
//!     its transaction: the ledgers are without it.
//!  2. The server goes on; one that ends by itself fails.
//!  3. When there has been room again for a moment, no statement is refused.

use crate::ground::client::{Client, asked};
use crate::ground::ledger::{Ledger, Random};
use crate::ground::program::{ServerProcess, empty};
use crate::ground::scene::number;
use crate::recovery::kills::{self, SESSIONS};
use checks::{Outcome, process};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

const IMAGE_MB: u64 = 128;
/// No room in a data file, none for what it is to grow by, a log that is full.
const REFUSALS: [&str; 3] = ["1105", "5149", "9002"];
const HUNDRED: i64 = 100;
const SCHEMA: [&str; 4] = [
    "ALTER DATABASE Kills MODIFY FILE (NAME = Kills, FILEGROWTH = 1MB)",
    "ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, FILEGROWTH = 1MB, MAXSIZE = 24MB)",
    "CREATE TABLE dbo.Added (id int IDENTITY NOT NULL, filler char(2000) NOT NULL)",
    "CREATE TABLE dbo.Open1 (id int IDENTITY NOT NULL PRIMARY KEY, filler char(2000) NOT NULL)",
];
const ACCELERATE: &str = "ALTER DATABASE Kills SET ACCELERATED_DATABASE_RECOVERY = ON";
/// Between rounds: the log is to be refused room by the disk, not by its MAXSIZE.
const SHORT_LOG: &str = "DBCC SHRINKFILE (Kills_log, 2) WITH NO_INFOMSGS";
const TRUNCATE: &str = "TRUNCATE TABLE dbo.Added";
/// How long the sessions work in each phase.
const PHASE: Duration = Duration::from_millis(700);
/// After the other program has given its room back, until nothing may be refused: a log that was
/// refused to grow ahead asks again after a second.
const SETTLE: Duration = Duration::from_millis(1_500);

/// What goes on: room, none, and none that is needed.
const ROOM: u8 = 0;
const FULL: u8 = 1;
const FREED: u8 = 2;
const AGAIN: u8 = 3;
const ENDED: u8 = 4;

/// What a proof is told.
#[derive(Default, Debug)]
pub(crate) struct ProofReport {
    /// What was mounted.
    pub(crate) place: String,
    pub(crate) rounds: u32,
    /// Starts while there was no room.
    pub(crate) full_starts: u32,
    pub(crate) acknowledged: u64,
    /// Statements that were answered after there was room again.
    pub(crate) again: u64,
    /// Refusals by their number.
    pub(crate) refusals: BTreeMap<String, u64>,
}

impl std::fmt::Display for ProofReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ProofReport { place, rounds, full_starts, acknowledged, again, refusals } = self;
        let refused = refusals.iter().map(|(number, n)| format!("{number} {n} times"));
        let refused = refused.collect::<Vec<_>>().join(", ");
        write!(
            f,
            "{place}: {rounds} rounds, {full_starts} starts on the full disk, {acknowledged} \
             batches acknowledged, {again} of them after there was room again; refused: {refused}"
        )
    }
}

/// A mounted file system; unmounted when dropped.
struct Mount {
    at: PathBuf,
    kind: &'static str,
}

fn quietly(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    process::succeeds(command).unwrap_or(false)
}

impl Mount {
    fn make(folder: &Path) -> Outcome<Mount> {
        let (image, at) = (folder.join("image"), folder.join("data"));
        empty(&at)?;
        let file = File::create(&image).and_then(|file| file.set_len(IMAGE_MB << 20));
        file.map_err(|e| format!("create {}: {e}", image.display()))?;
        let (i, a) = (image.display().to_string(), at.display().to_string());
        if quietly("mkfs.ext4", &["-q", "-F", "-m", "0", &i])
            && quietly("mount", &["-o", "loop", &i, &a])
        {
            let mount = Mount { at, kind: "ext4" };
            fs::remove_dir(mount.at.join("lost+found")).map_err(|e| format!("lost+found: {e}"))?;
            return Ok(mount);
        }
        let size = format!("size={IMAGE_MB}m");
        match quietly("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", &a]) {
            true => Ok(Mount { at, kind: "tmpfs" }),
            false => Err("no file system can be mounted here: it asks for root".to_owned()),
        }
    }

    /// Another program's file.
    fn others(&self) -> PathBuf {
        self.at.join("another")
    }

    /// Takes all that is left.
    fn fill(&self) -> Outcome<()> {
        let file = OpenOptions::new().append(true).create(true).open(self.others());
        let mut file = file.map_err(|e| format!("another program's file: {e}"))?;
        for piece in [1 << 20, 64 << 10, 4 << 10] {
            // The error is that there is no more.
            while file.write_all(&vec![7; piece]).is_ok() {}
        }
        // What the file system promised is to be there, or to be refused, now.
        let _ = file.sync_all();
        Ok(())
    }

    fn free(&self) -> Outcome<()> {
        fs::remove_file(self.others()).map_err(|e| format!("another program's file: {e}"))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Left behind, it would be in the way of the next proof, which says so.
        let _ = quietly("umount", &[&self.at.display().to_string()]);
    }
}

/// A table to which rows are added by hundreds, and what may be found in it.
#[derive(Default)]
struct GrowingTable {
    acknowledged: i64,
    /// One more may be there: it was asked for and not answered.
    asked: bool,
}

/// What the sessions of a round did.
#[derive(Default)]
struct RoundResult {
    acknowledged: u64,
    again: u64,
    refusals: BTreeMap<String, u64>,
}

impl RoundResult {
    /// Counts an answer; an error where it must not be one.
    fn count(&mut self, phase: u8, text: &str, error: Option<&String>) -> Outcome<()> {
        let Some(error) = error else {
            self.acknowledged += 1;
            self.again += u64::from(phase == AGAIN);
            return Ok(());
        };
        let number = error.split(':').next().unwrap_or_default();
        if !REFUSALS.contains(&number) {
            return Err(format!("{text}: {error}"));
        }
        if phase == AGAIN {
            return Err(format!("there is room again, and {text}: {error}"));
        }
        *self.refusals.entry(number.to_owned()).or_default() += 1;
        Ok(())
    }

    fn add(&mut self, other: RoundResult) {
        self.acknowledged += other.acknowledged;
        self.again += other.again;
        for (number, n) in other.refusals {
            *self.refusals.entry(number).or_default() += n;
        }
    }
}

/// Rounds on a file system of its own, of a database with or without accelerated recovery.
pub(crate) fn drive(
    binary: &Path,
    folder: &Path,
    rounds: u32,
    seed: u64,
    accelerated: bool,
) -> Outcome<ProofReport> {
    let mount = Mount::make(folder)?;
    let mut seen =
        ProofReport { place: format!("{} of {IMAGE_MB} MB", mount.kind), ..ProofReport::default() };
    let mut random = Random(seed);
    let mut ledgers: Vec<Ledger> = (0..SESSIONS).map(|_| Ledger::default()).collect();
    let mut added = GrowingTable::default();
    let mut server = ServerProcess::start(binary, &mount.at)?;
    let option = if accelerated { &[ACCELERATE][..] } else { &[] };
    kills::create(&mut server, &[&SCHEMA[..], option].concat())?;
    for round in 1..=rounds {
        let told = |why| format!("round {round} of seed {seed}: {why}");
        let stays_full = round % 2 == 0;
        let course = Course { mount: &mount, stays_full, holds_log: round % 4 >= 2 };
        let done = course.run(server, &mut ledgers, &mut added, &mut random).map_err(told)?;
        seen.rounds += 1;
        seen.acknowledged += done.acknowledged;
        seen.again += done.again;
        for (number, n) in done.refusals {
            *seen.refusals.entry(number).or_default() += n;
        }
        server = ServerProcess::start(binary, &mount.at)?;
        verify(&mut server, &mut ledgers, &mut added).map_err(told)?;
        if stays_full {
            seen.full_starts += 1;
            mount.free()?;
        }
        asked(&mut server.client()?, &format!("USE Kills; {TRUNCATE}; {SHORT_LOG}"))
            .map_err(told)?;
        added = GrowingTable::default();
    }
    server.stop()?;
    Ok(seen)
}

/// One round.
struct Course<'a> {
    mount: &'a Mount,
    /// Whether the kill comes while there is no room.
    stays_full: bool,
    /// Whether a transaction stays open in it, so that the log is full before the data file.
    holds_log: bool,
}

impl Course<'_> {
    fn run(
        &self,
        mut server: ServerProcess,
        ledgers: &mut [Ledger],
        added: &mut GrowingTable,
        random: &mut Random,
    ) -> Outcome<RoundResult> {
        let mut sessions = Vec::new();
        for _ in 0..ledgers.len() + 2 {
            sessions.push(server.client()?);
        }
        let phase = AtomicU8::new(ROOM);
        let mut done = RoundResult::default();
        thread::scope(|scope| {
            let mut tasks = Vec::new();
            let mut clients = sessions.into_iter();
            for (number, (ledger, client)) in ledgers.iter_mut().zip(&mut clients).enumerate() {
                let random = Random(random.below(u64::from(u32::MAX)));
                let phase = &phase;
                tasks.push(scope.spawn(move || keep(number, ledger, client, random, phase)));
            }
            let (adder, opener) = (clients.next(), clients.next().filter(|_| self.holds_log));
            let phase = &phase;
            tasks.extend(adder.map(|client| scope.spawn(move || add(added, client, phase))));
            tasks.extend(opener.map(|client| scope.spawn(move || leave_open(client, phase))));
            let lived = self.phases(server, phase);
            phase.store(ENDED, SeqCst);
            for task in tasks {
                done.add(task.join().map_err(|_| "a session of ours panics".to_owned())??);
            }
            lived
        })?;
        Ok(done)
    }

    /// Has the room come and go, and ends with a kill.
    fn phases(&self, server: ServerProcess, phase: &AtomicU8) -> Outcome<()> {
        thread::sleep(PHASE / 4);
        phase.store(FULL, SeqCst);
        // What others give back meanwhile is taken, too.
        for _ in 0..4 {
            self.mount.fill()?;
            thread::sleep(PHASE / 4);
        }
        if !self.stays_full {
            self.mount.free()?;
            phase.store(FREED, SeqCst);
            thread::sleep(SETTLE);
            phase.store(AGAIN, SeqCst);
            thread::sleep(PHASE);
        }
        server.kill()
    }
}

/// A session of a ledger until its connection breaks.
fn keep(
    number: usize,
    ledger: &mut Ledger,
    mut client: Client,
    mut random: Random,
    phase: &AtomicU8,
) -> Outcome<RoundResult> {
    let delayed = number + 1 == SESSIONS;
    let mut done = RoundResult::default();
    let mut text = "USE Kills".to_owned();
    let mut at = phase.load(SeqCst);
    while let Ok(answer) = client.batch(&text) {
        match answer.errors.first() {
            Some(_) => ledger.refused(),
            None => ledger.answered(!delayed),
        }
        done.count(at, &text, answer.errors.first())?;
        text = ledger.draw(number, delayed, &mut random);
        at = phase.load(SeqCst);
    }
    Ok(done)
}

/// Adds rows by hundreds. Where there is room again it begins anew, and takes its time, so that
/// the database does not take all of the disk itself.
fn add(added: &mut GrowingTable, mut client: Client, phase: &AtomicU8) -> Outcome<RoundResult> {
    let mut done = RoundResult::default();
    let insert = format!(
        "SET NOCOUNT ON; INSERT dbo.Added (filler) SELECT TOP ({HUNDRED}) 'x' \
         FROM master..spt_values"
    );
    let mut began_anew = false;
    let mut text = "USE Kills";
    loop {
        let at = phase.load(SeqCst);
        added.asked = text == insert;
        let Ok(answer) = client.batch(text) else { return Ok(done) };
        done.count(at, text, answer.errors.first())?;
        match text {
            _ if !answer.errors.is_empty() => {}
            TRUNCATE => (began_anew, added.acknowledged) = (true, 0),
            _ if added.asked => added.acknowledged += HUNDRED,
            _ => {}
        }
        added.asked = false;
        if at != FULL {
            thread::sleep(Duration::from_millis(30));
        }
        // The kill is far from where it begins anew: that is answered, or tried again.
        let anew = phase.load(SeqCst) == FREED && !began_anew;
        text = if anew { TRUNCATE } else { &insert };
    }
}

/// Adds rows and never commits, while there is no room; before and after it rolls back.
fn leave_open(mut client: Client, phase: &AtomicU8) -> Outcome<RoundResult> {
    let mut done = RoundResult::default();
    let mut ask = "USE Kills; SET XACT_ABORT ON";
    loop {
        let at = phase.load(SeqCst);
        let Ok(answer) = client.batch(ask) else { return Ok(done) };
        done.count(at, ask, answer.errors.first())?;
        ask = match phase.load(SeqCst) {
            FULL => {
                "IF @@TRANCOUNT = 0 BEGIN TRANSACTION; INSERT dbo.Open1 (filler) \
                 SELECT TOP (20) 'open' FROM master..spt_values"
            }
            _ => "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; WAITFOR DELAY '00:00:00.020'",
        };
    }
}

/// What is committed is there and nothing else, and CHECKDB finds nothing.
fn verify(
    server: &mut ServerProcess,
    ledgers: &mut [Ledger],
    added: &mut GrowingTable,
) -> Outcome<()> {
    kills::verify(server, ledgers, false)?;
    let mut client = server.client()?;
    let open = number(&mut client, "SELECT COUNT_BIG(*) FROM Kills.dbo.Open1")?;
    if open != 0 {
        return Err(format!("{open} rows that were never committed"));
    }
    let found = number(&mut client, "SELECT COUNT_BIG(*) FROM Kills.dbo.Added")?;
    let more = found - added.acknowledged;
    match more == 0 || added.asked && more == HUNDRED {
        true => Ok(()),
        false => Err(format!("{found} rows were added, and {} acknowledged", added.acknowledged)),
    }
}
