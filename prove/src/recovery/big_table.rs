//! The users' large table, `dbo.bigTransactionHistory` of `AdventureWorks_dbi`: made by the script
//! in `demos/`, changed and summed by the proofs of accelerated recovery.

use crate::ground::client::{Client, asked};
use crate::ground::program::Ground;
use crate::ground::scene::{batches, number};
use checks::Outcome;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const DATABASE: &str = "AdventureWorks_dbi";
pub(crate) const TABLE: &str = "dbo.bigTransactionHistory";
/// What the users do to it.
pub(crate) const UPDATE: &str = "UPDATE dbo.bigTransactionHistory SET Quantity = Quantity + 1";
/// Rows of it, from the first to the last, that another session changes.
const SOME: i64 = 100;
/// The number of rows, as the script has it.
const ROWS_OF_SCRIPT: &str = "@rows integer = 5000000";
const QUIET_SECONDS_MAX: u64 = 300;

/// Makes the table with so many rows.
pub(crate) fn make(ground: &Ground<'_>, client: &mut Client, rows: i64) -> Outcome<()> {
    let path = ground.workspace.root.join("demos/big-transaction-history.sql");
    let text = fs::read_to_string(&path).map_err(|e| format!("read {}: {e}", path.display()))?;
    let scaled = text.replace(ROWS_OF_SCRIPT, &format!("@rows integer = {rows}"));
    if !text.contains(ROWS_OF_SCRIPT) {
        return Err(format!("{} has another number of rows", path.display()));
    }
    batches(client, &scaled)?;
    let there = number(client, &format!("SELECT COUNT_BIG(*) FROM {TABLE}"))?;
    if there == rows { Ok(()) } else { Err(format!("{there} rows instead of {rows}")) }
}

/// What reads rows as of a moment, beside accelerated recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub(crate) accelerated: bool,
    pub(crate) rcsi: bool,
    pub(crate) snapshot: bool,
}

impl Options {
    pub(crate) const OFF: Options = Options { accelerated: false, rcsi: false, snapshot: false };
    pub(crate) const RCSI: Options = Options { rcsi: true, ..Options::OFF };
    pub(crate) const ACCELERATED: Options = Options { accelerated: true, ..Options::OFF };
    pub(crate) const BOTH: Options = Options { accelerated: true, ..Options::RCSI };
    pub(crate) const ALL: Options = Options { snapshot: true, ..Options::BOTH };

    pub(crate) fn name(self) -> &'static str {
        match (self.accelerated, self.rcsi || self.snapshot) {
            (false, false) => "off",
            (false, true) => "RCSI",
            (true, false) => "accelerated",
            (true, true) if self.snapshot => "accelerated, RCSI and SNAPSHOT",
            (true, true) => "accelerated and RCSI",
        }
    }

    /// Sets them; nobody but `client` is in the database.
    pub(crate) fn set(self, client: &mut Client, database: &str) -> Outcome<()> {
        let word = |on: bool| if on { "ON" } else { "OFF" };
        for option in [
            format!("ACCELERATED_DATABASE_RECOVERY = {}", word(self.accelerated)),
            format!("READ_COMMITTED_SNAPSHOT {}", word(self.rcsi)),
            format!("ALLOW_SNAPSHOT_ISOLATION {}", word(self.snapshot)),
        ] {
            asked(client, &format!("ALTER DATABASE {database} SET {option}"))?;
        }
        Ok(())
    }
}

/// The sum by the clustered index and the one by the other: equal, or an index is wrong.
pub(crate) fn sum(client: &mut Client) -> Outcome<i64> {
    let of = |index: u8| {
        format!("SELECT SUM(CAST(Quantity AS bigint)) FROM {TABLE} WITH (INDEX ({index}))")
    };
    let (clustered, other) = (number(client, &of(1))?, number(client, &of(2))?);
    match clustered == other {
        true => Ok(clustered),
        false => Err(format!("a sum of {clustered} by one index, {other} by the other")),
    }
}

/// The same, compared with what was there before.
pub(crate) fn is_as_before(client: &mut Client, before: i64) -> Outcome<()> {
    match sum(client)? {
        now if now == before => Ok(()),
        now => Err(format!("a sum of {now} where {before} was")),
    }
}

/// A change of some of the rows that leaves them as they are.
pub(crate) fn touch_some(rows: i64) -> String {
    let some = (1..=SOME).map(|n| (n * rows / SOME).max(1).to_string());
    let some = some.collect::<Vec<_>>().join(", ");
    format!("UPDATE {TABLE} SET Quantity = Quantity WHERE TransactionID IN ({some})")
}

/// Waits until no transaction is in the map; how long.
pub(crate) fn until_map_is_empty(client: &mut Client, database: &str) -> Outcome<Duration> {
    let aborted = format!(
        "SELECT current_aborted_transaction_count \
         FROM sys.dm_tran_persistent_version_store_stats WHERE database_id = DB_ID(N'{database}')"
    );
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(QUIET_SECONDS_MAX) {
        if number(client, &aborted)? == 0 {
            return Ok(began.elapsed());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(format!("the map is not empty after {QUIET_SECONDS_MAX} s"))
}

/// What the database's own store has, in KB.
pub(crate) fn store_kb(client: &mut Client, database: &str) -> Outcome<i64> {
    let size = "SELECT persistent_version_store_size_kb \
                FROM sys.dm_tran_persistent_version_store_stats WHERE database_id = DB_ID";
    number(client, &format!("{size}(N'{database}')"))
}
