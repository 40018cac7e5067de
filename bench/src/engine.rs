//! `Engine`: a database server that can be started, driven and stopped.

use crate::connection::Connection;
use crate::figure::Outcome;
use crate::wire::Session;
use std::path::Path;
use std::process::Child;

/// Whether a commit waits for the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Durability {
    /// It does.
    Full,
    /// It does not: DELAYED_DURABILITY, synchronous_commit off, flush_log_at_trx_commit 0.
    Delayed,
}

impl Durability {
    pub(crate) const BOTH: [Durability; 2] = [Durability::Full, Durability::Delayed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Durability::Full => "durable",
            Durability::Delayed => "delayed",
        }
    }
}

/// A running server with an empty database of its own. Dropped, it is killed.
pub(crate) trait Engine {
    /// As the tables call it.
    fn name(&self) -> &'static str;

    /// Runs statements, one session, to the end.
    fn run(&mut self, sql: &str) -> Outcome<()>;

    /// Runs each text in a session of its own, all at once; seconds from start to last end.
    fn run_together(&mut self, sql: &[String]) -> Outcome<f64>;

    /// Clients that each call the procedure `tpcb` again and again, one call a transaction:
    /// transactions a second.
    fn call_together(&mut self, sessions: usize, seconds: u64) -> Outcome<f64>;

    /// Runs statements in a session of its own, which stays until what comes back is dropped.
    fn hold(&mut self, sql: &str) -> Outcome<HeldSession>;

    /// A single whole number.
    fn number(&mut self, sql: &str) -> Outcome<i64>;

    /// Syncs of its log so far.
    fn syncs(&mut self) -> Outcome<u64>;

    /// Bytes that its log has taken so far.
    fn log_bytes(&mut self) -> Outcome<u64>;

    /// A session of the compiled client.
    fn connect(&self) -> Outcome<Box<dyn Connection>>;

    /// Ends it as an operator would, and waits for that.
    fn stop(&mut self) -> Outcome<()>;

    /// SIGKILL to all of it, and the wait until nothing is left.
    fn kill(&mut self) -> Outcome<()>;

    /// Starts it again on its files, and does not wait: only `connect` tells when it answers.
    fn launch(&mut self) -> Outcome<()>;

    /// Runs a query to its end and forgets its rows.
    fn read(&mut self, sql: &str) -> Outcome<()>;

    /// CPU seconds of all its processes so far.
    fn cpu_seconds(&self) -> f64;

    /// The most memory its process has had, in KB.
    fn peak_kb(&self) -> u64;

    /// The dialect's script of that name, from sql/.
    fn script(&self, name: &str) -> Outcome<String>;
}

/// A session, ours or a client's.
pub(crate) enum HeldSession {
    /// It ends with its connection.
    Session(#[expect(dead_code, reason = "it is held, nothing is asked of it")] Session),
    /// It ends with its process.
    Client(Child),
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        if let HeldSession::Client(child) = self {
            // It may have ended by itself; then there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How an engine is started.
pub(crate) struct Start<'a> {
    /// The ghostlight binary; peers find their own.
    pub(crate) binary: &'a Path,
    /// Where its files go; emptied.
    pub(crate) folder: &'a Path,
    pub(crate) durability: Durability,
    /// Memory for pages and queries together; `None` for plenty.
    pub(crate) memory_mb: Option<u32>,
}

/// Starts an engine: `None` where it is not installed.
pub(crate) type Starter = fn(&Start<'_>) -> Outcome<Option<Box<dyn Engine>>>;

/// Ghostlight first, then the servers it is compared with.
pub(crate) const SERVERS: [(&str, Starter); 3] = [
    ("Ghostlight", crate::ghostlight::start),
    ("PostgreSQL", crate::postgresql::start),
    ("MariaDB", crate::mariadb::start),
];

/// A script of sql/.
pub(crate) fn script(dialect: &str, name: &str) -> Outcome<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let path = folder.join(format!("{name}.{dialect}.sql"));
    std::fs::read_to_string(&path).map_err(|e| format!("read {}: {e}", path.display()))
}
