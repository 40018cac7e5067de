//! The order of system calls of a real server: whether each acknowledgement of a full commit
//! follows the sync that covers its log.
//!
//! The server runs under strace while sessions commit side by side, each transaction with a
//! marker in its row and in its answer. The bytes of the log's writes say which block holds the
//! commit record of which marker's transaction; the bytes of the sockets' writes say when the
//! client was told.
//!
//! Invariants
//!  1. A call's place is the line of its entry and that of its exit; strace writes them in an
//!     order that keeps causes before effects.
//!  2. A sync covers what had been written when it began, from its end on.
//!  3. A check that finds nothing wrong must find it in a trace without syncs, and in one whose
//!     answers come when the sync begins.

use crate::ground::client::{Answer, Client};
use crate::ground::program::{Ground, ServerProcess};
use checks::{Outcome, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SESSIONS: i64 = 8;
const COMMITS: i64 = 60;
pub(crate) const ACKNOWLEDGED_MIN: u64 = 400;
/// Little-endian, its upper five bytes are found nowhere by chance.
const MARKER: i64 = 0x6B_A7_C3_91_D5_00_00_00;
const MARKER_TAIL: [u8; 5] = [0xD5, 0x91, 0xC3, 0xA7, 0x6B];
const CALLS: &str = "trace=write,writev,sendto,sendmsg,pwrite64,pwritev,pwritev2,fsync,fdatasync";
const TRACE_SECONDS_MAX: u64 = 30;

// Of a log block and a record (crates/wal: block.rs, record.rs).
const BLOCK_MAGIC: [u8; 4] = 0x3142_4C47_u32.to_le_bytes();
const BLOCK_HEADER_BYTES: usize = 32;
const SECTOR_BYTES: usize = 512;
const RECORD_HEADER_BYTES: usize = 16;
const KIND_COMMIT: u8 = 3;

/// What a call was.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    LogWrite(Vec<u8>),
    /// A write that is durable when it returns, and covers no other.
    LogDurable(Vec<u8>),
    LogSync,
    Answer(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Event {
    entry: usize,
    exit: usize,
    call: Call,
}

/// What the trace shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) acknowledged: u64,
    /// Acknowledgements that no sync of their commit record precedes.
    pub(crate) early: u64,
    /// Syncs that acknowledgements waited for.
    pub(crate) syncs: u64,
}

/// How logs are written, one after the other.
pub(crate) const WAYS: [&str; 2] = ["direct", "cached"];

/// What `cargo xtask trace` can be told.
#[derive(clap::Args)]
pub struct Options {
    /// A binary to trace instead of this checkout's debug build
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// By itself, on the debug build; true where nobody was told early.
///
/// # Errors
/// The server or strace cannot be run, or the trace cannot be read.
pub fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let ground = Ground::new(workspace, options.binary.clone());
    let binary = ground.binary_of("debug")?;
    let mut holds = true;
    for way in WAYS {
        let (found, doctored) = drive(&ground, &binary, way)?;
        println!("{way}: {}", found.told(&doctored));
        holds &= found.holds(&doctored);
    }
    Ok(holds)
}

/// The same; where strace is absent a notice, except under CI, where nothing may be skipped.
///
/// # Errors
/// As those of [`run`].
pub fn short(workspace: &Workspace) -> Outcome<bool> {
    if !is_there() && std::env::var_os("CI").is_none() {
        println!("strace is absent: the order of system calls is not looked at");
        return Ok(true);
    }
    run(workspace, &Options { binary: None })
}

fn is_there() -> bool {
    let asked = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

impl Verdict {
    /// In one line.
    pub(crate) fn told(&self, doctored: &[Verdict; 2]) -> String {
        let Verdict { acknowledged, early, syncs } = self;
        let seen = doctored.iter().filter(|v| v.early == *acknowledged).count();
        format!(
            "{acknowledged} acknowledgements, {early} before the sync of their log, {syncs} syncs \
             of theirs; {seen} of 2 doctored traces are seen through"
        )
    }

    /// Nobody was told early, and it would have been seen.
    pub(crate) fn holds(&self, doctored: &[Verdict; 2]) -> bool {
        let seen = doctored.iter().all(|v| v.early == self.acknowledged);
        self.acknowledged >= ACKNOWLEDGED_MIN && self.early == 0 && seen
    }
}

/// Drives a server under strace and judges its calls; then the same trace, made wrong twice.
pub(crate) fn drive(
    ground: &Ground<'_>,
    binary: &Path,
    way: &str,
) -> Outcome<(Verdict, [Verdict; 2])> {
    if !is_there() {
        return Err("strace is not there to look at system calls".to_owned());
    }
    let folder = ground.folder("path.3-trace")?;
    let trace = folder.join("calls");
    let mut strace = Command::new("strace");
    // As a grandchild, so that the child is the server itself.
    strace.args(["-D", "-f", "-q", "-y", "-xx", "-s", "65536", "-e", CALLS, "-o"]).arg(&trace);
    let options = ["--log-writes", way];
    let mut server = ServerProcess::start_under(strace, binary, &folder.join("data"), &options)?;
    let acknowledged = commit_side_by_side(&mut server)?;
    server.stop()?;
    let text = finished(&trace)?;
    let events = events(&text, "Traced_log.ldf");
    let verdict = judge(&events)?;
    if verdict.acknowledged != acknowledged {
        return Err(format!("{acknowledged} answers came, {verdict:?} in the trace"));
    }
    let doctored = [judge(&without_syncs(&events))?, judge(&hasty(&events)?)?];
    fs::remove_dir_all(&folder).map_err(|e| format!("remove {}: {e}", folder.display()))?;
    Ok((verdict, doctored))
}

fn commit_side_by_side(server: &mut ServerProcess) -> Outcome<u64> {
    let mut first = server.client()?;
    for text in ["CREATE DATABASE Traced", "USE Traced", "CREATE TABLE dbo.T (id bigint NOT NULL)"]
    {
        told(&mut first, text)?;
    }
    let mut clients = Vec::new();
    for _ in 0..SESSIONS {
        let mut client = server.client()?;
        told(&mut client, "USE Traced")?;
        clients.push(client);
    }
    let session = |number: i64, mut client: Client| -> Outcome<u64> {
        for n in 0..COMMITS {
            let marker = MARKER + number * COMMITS + n;
            let insert = format!("INSERT dbo.T (id) VALUES ({marker})");
            let commit = match n % 2 {
                0 => insert,
                _ => format!("BEGIN TRANSACTION; {insert}; COMMIT TRANSACTION"),
            };
            // The answer that a commit ends is told by whoever has written the log.
            let tells = format!("SELECT CAST({marker} AS bigint)");
            let text = match n / 2 % 2 {
                0 => format!("SET NOCOUNT ON; {commit}; {tells}"),
                _ => format!("SET NOCOUNT ON; {tells}; {commit}"),
            };
            let rows = told(&mut client, &text)?.rows;
            if rows != [[marker]] {
                return Err(format!("{text}: {rows:?}"));
            }
        }
        Ok(COMMITS.unsigned_abs())
    };
    thread::scope(|scope| {
        let tasks: Vec<_> = (0..SESSIONS)
            .zip(clients)
            .map(|(number, client)| scope.spawn(move || session(number, client)))
            .collect();
        let mut acknowledged = 0;
        for task in tasks {
            acknowledged += task.join().map_err(|_| "a session of ours panics".to_owned())??;
        }
        Ok(acknowledged)
    })
}

fn told(client: &mut crate::ground::client::Client, text: &str) -> Outcome<Answer> {
    let answer = client.batch(text).map_err(|e| format!("{text}: {e}"))?;
    match answer.errors.first() {
        Some(error) => Err(format!("{text}: {error}")),
        None => Ok(answer),
    }
}

/// The trace, when strace has written its last line.
fn finished(trace: &Path) -> Outcome<String> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(TRACE_SECONDS_MAX) {
        let text = fs::read_to_string(trace).map_err(|e| format!("read the trace: {e}"))?;
        if text.lines().last().is_some_and(|line| line.contains("+++ exited with")) {
            return Ok(text);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err("strace does not end its trace".to_owned())
}

/// `\x2f\x64` and plain characters, as bytes.
fn bytes_of(text: &str) -> Vec<u8> {
    let mut pieces = text.split("\\x");
    let mut bytes: Vec<u8> = pieces.next().unwrap_or_default().bytes().collect();
    for piece in pieces {
        let (hex, plain) = piece.split_at_checked(2).unwrap_or((piece, ""));
        bytes.extend(u8::from_str_radix(hex, 16));
        bytes.extend(plain.bytes());
    }
    bytes
}

/// The call that a line's text after the process id begins, if it is one of ours.
fn call(text: &str, log: &str) -> Option<Call> {
    let (name, arguments) = text.split_once('(')?;
    let (_, rest) = arguments.split_once('<')?;
    let (target, rest) = rest.split_once('>')?;
    let target = String::from_utf8(bytes_of(target)).ok()?;
    // Of a gathered write every part is quoted.
    let data = || rest.split('"').skip(1).step_by(2).flat_map(bytes_of).collect();
    let durable = rest.contains("RWF_DSYNC");
    match name {
        "fsync" | "fdatasync" if target.ends_with(log) => Some(Call::LogSync),
        "pwritev2" if durable && target.ends_with(log) => Some(Call::LogDurable(data())),
        name if name.starts_with("pwrite") && target.ends_with(log) => Some(Call::LogWrite(data())),
        "write" | "writev" | "sendto" | "sendmsg" if target.starts_with("socket:") => {
            Some(Call::Answer(data()))
        }
        _ => None,
    }
}

/// The calls of a trace that succeeded, in the order of their entries.
fn events(text: &str, log: &str) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut unfinished: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if rest.starts_with("<... ") {
            if let Some(event) = unfinished.remove(process).and_then(|e| events.get_mut(e)) {
                event.exit = if rest.contains(") = -1 ") { usize::MAX } else { at };
            }
            continue;
        }
        let Some(call) = call(rest, log) else { continue };
        let ends = !rest.ends_with("<unfinished ...>");
        if !ends {
            unfinished.insert(process, events.len());
        }
        let failed = rest.contains(") = -1 ");
        let exit = if ends && !failed { at } else { usize::MAX };
        events.push(Event { entry: at, exit, call });
    }
    events
}

/// Markers within bytes, each once.
fn markers(bytes: &[u8]) -> BTreeSet<i64> {
    let marker = |window: &[u8]| {
        let eight: [u8; 8] = window.try_into().ok()?;
        (eight[3..] == MARKER_TAIL).then(|| i64::from_le_bytes(eight))
    };
    bytes.windows(8).filter_map(marker).collect()
}

/// The log blocks that were written behind each other.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let units = rest.get(12..14).map_or(0, |b| usize::from(u16::from_le_bytes([b[0], b[1]])));
        let bytes = (units * SECTOR_BYTES).clamp(1, rest.len().max(1));
        let block = rest.get(..bytes)?;
        rest = &rest[bytes..];
        Some(block)
    })
}

/// Kind, transaction and bytes of each record of a block; nothing where it is none.
fn records(block: &[u8]) -> Vec<(u8, u32, &[u8])> {
    let mut found = Vec::new();
    if !block.starts_with(&BLOCK_MAGIC) || block.len() < BLOCK_HEADER_BYTES {
        return found;
    }
    let used = u32::from_le_bytes([block[16], block[17], block[18], block[19]]) as usize;
    let mut rest = block.get(BLOCK_HEADER_BYTES..used).unwrap_or_default();
    while let Some(header) = rest.get(..RECORD_HEADER_BYTES) {
        let length = usize::from(u16::from_le_bytes([header[0], header[1]]));
        let Some(record) = rest.get(..length).filter(|r| r.len() >= RECORD_HEADER_BYTES) else {
            break;
        };
        let transaction = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        found.push((header[2], transaction, record));
        rest = &rest[length..];
    }
    found
}

/// The write of each marker's commit record.
fn committed(events: &[Event]) -> BTreeMap<i64, &Event> {
    let mut transactions: BTreeMap<i64, u32> = BTreeMap::new();
    let mut commits: BTreeMap<u32, &Event> = BTreeMap::new();
    for event in events {
        let (Call::LogWrite(bytes) | Call::LogDurable(bytes)) = &event.call else { continue };
        for (kind, transaction, record) in blocks(bytes).flat_map(records) {
            if kind == KIND_COMMIT {
                commits.entry(transaction).or_insert(event);
            }
            transactions.extend(markers(record).into_iter().map(|marker| (marker, transaction)));
        }
    }
    let write = |(marker, of): (i64, u32)| Some((marker, *commits.get(&of)?));
    transactions.into_iter().filter_map(write).collect()
}

/// What made a write durable: itself, or the first sync that began after it.
fn covering<'e>(events: &'e [Event], write: &'e Event) -> Option<&'e Event> {
    if matches!(write.call, Call::LogDurable(_)) {
        return Some(write).filter(|write| write.exit != usize::MAX);
    }
    let syncs = events.iter().filter(|e| e.call == Call::LogSync && e.exit != usize::MAX);
    syncs.filter(|e| e.entry > write.exit).min_by_key(|e| e.exit)
}

fn judge(events: &[Event]) -> Outcome<Verdict> {
    let committed = committed(events);
    let mut verdict = Verdict::default();
    let mut syncs = BTreeSet::new();
    for event in events {
        let Call::Answer(bytes) = &event.call else { continue };
        for marker in markers(bytes) {
            let written = committed.get(&marker);
            let written = written.ok_or_else(|| format!("no log of the commit {marker:x}"))?;
            verdict.acknowledged += 1;
            match covering(events, written) {
                Some(sync) if sync.exit < event.entry => {
                    syncs.insert(sync.entry);
                }
                _ => verdict.early += 1,
            }
        }
    }
    verdict.syncs = syncs.len() as u64;
    Ok(verdict)
}

fn without_syncs(events: &[Event]) -> Vec<Event> {
    let mut events: Vec<_> = events.iter().filter(|e| e.call != Call::LogSync).cloned().collect();
    for event in &mut events {
        if let Call::LogDurable(bytes) = &mut event.call {
            event.call = Call::LogWrite(std::mem::take(bytes));
        }
    }
    events
}

/// Each answer at the moment when the sync that it must wait for begins.
fn hasty(events: &[Event]) -> Outcome<Vec<Event>> {
    let committed = committed(events);
    let mut hasty = events.to_vec();
    for event in &mut hasty {
        let Call::Answer(bytes) = &event.call else { continue };
        let Some(marker) = markers(bytes).into_iter().next() else { continue };
        let written = committed.get(&marker);
        let written = written.ok_or_else(|| format!("no log of the commit {marker:x}"))?;
        event.entry = covering(events, written).map_or(event.entry, |sync| sync.entry);
    }
    Ok(hasty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("\\x{b:02x}")).collect()
    }

    /// A block of one row and its commit record.
    fn block(marker: i64, transaction: u32) -> String {
        let mut block = vec![0; BLOCK_HEADER_BYTES];
        block[..4].copy_from_slice(&BLOCK_MAGIC);
        for (kind, payload) in [(0x40, &marker.to_le_bytes()[..]), (KIND_COMMIT, &[0; 8])] {
            let mut record = vec![0; RECORD_HEADER_BYTES];
            record[0] = (RECORD_HEADER_BYTES + payload.len()) as u8;
            record[2] = kind;
            record[4..8].copy_from_slice(&transaction.to_le_bytes());
            record.extend_from_slice(payload);
            block.extend(record);
        }
        let used = block.len() as u32;
        block[12..14].copy_from_slice(&1_u16.to_le_bytes());
        block[16..20].copy_from_slice(&used.to_le_bytes());
        block.resize(SECTOR_BYTES, 0);
        hex(&block)
    }

    fn judged(lines: &[&str]) -> Outcome<Verdict> {
        judge(&events(&lines.join("\n"), "x_log.ldf"))
    }

    /// Two commits in one sync: told after it, told while it runs, told without one.
    #[test]
    fn acknowledgements_follow_their_sync() {
        let log = hex(b"/d/x_log.ldf");
        let write = |n: u32| {
            format!(
                "10  pwrite64(7<{log}>, \"{}\", 512, 8192) = 512",
                block(MARKER + i64::from(n), n)
            )
        };
        let answer = |n: i64| {
            let socket = hex(b"socket:[5]");
            let data = hex(&(MARKER + n).to_le_bytes());
            format!("11  sendto(9<{socket}>, \"\\x04{data}\", 9, MSG_NOSIGNAL, NULL, 0) = 9")
        };
        let (one, two, first, second) = (write(1), write(2), answer(1), answer(2));
        let begins = format!("10  fdatasync(7<{log}> <unfinished ...>");
        let (ends, fails) =
            ("10  <... fdatasync resumed>) = 0", "10  <... fdatasync resumed>) = -1 EIO");
        let good = judged(&[&one, &two, &begins, ends, &first, &second]).unwrap();
        assert_eq!(good, Verdict { acknowledged: 2, early: 0, syncs: 1 });
        let early = |lines: &[&str]| judged(lines).unwrap().early;
        assert_eq!(early(&[&one, &two, &begins, &first, ends, &second]), 1, "while it runs");
        assert_eq!(early(&[&one, &begins, &two, ends, &first, &second]), 1, "2 is not covered");
        assert_eq!(early(&[&begins, ends, &one, &first]), 1, "the sync was before");
        assert_eq!(early(&[&one, &begins, fails, &first]), 1, "the sync failed");
        assert_eq!(early(&[&one, &first]), 1);
        assert!(judged(&[&one, &begins, ends, &second]).is_err(), "nothing of 2 is in the log");
        let parts = [1, 2].map(|n| format!("{{iov_base=\"{}\"}}", block(MARKER + n, n as u32)));
        let durable = format!("10  pwritev2(7<{log}>, [{}], 2, 8192, RWF_DSYNC", parts.join(", "));
        let (begins, at_once) =
            (format!("{durable} <unfinished ...>"), format!("{durable}) = 1024"));
        let ends = "10  <... pwritev2 resumed>) = 1024";
        assert_eq!(early(&[&at_once, &first, &second]), 0);
        assert_eq!(early(&[&begins, &first, ends, &second]), 1, "while it is written");
        let other = format!("10  pwritev2(7<{log}>, [{}], 1, 9216, RWF_DSYNC) = 512", parts[1]);
        assert_eq!(early(&[&one, &other, &first]), 1, "it covers itself alone");
    }

    /// The two ways in which a trace is made wrong are seen.
    #[test]
    fn doctored_traces_fail() {
        let at = |line, call| Event { entry: line, exit: line + 1, call };
        let marker = MARKER + 3;
        let events = [
            at(0, Call::LogWrite(bytes_of(&block(marker, 9)))),
            at(2, Call::LogSync),
            at(4, Call::Answer(marker.to_le_bytes().to_vec())),
        ];
        assert_eq!(judge(&events).unwrap().early, 0);
        assert_eq!(judge(&without_syncs(&events)).unwrap().early, 1);
        assert_eq!(judge(&hasty(&events).unwrap()).unwrap().early, 1);
    }
}
