//! A session that changes all rows of a table again and again, in transactions that versions undo:
//! most of them are rolled back, some at a savepoint. After a kill each index has all rows in one
//! state, that of the last transaction that was acknowledged, or of the one that was on its way.

use crate::ground::client::{Client, asked};
use crate::ground::program::ServerProcess;
use checks::Outcome;

/// More than are undone from the log, with the records of two indexes.
const ROWS: i64 = 8_000;
const SUMS: &str = "SELECT COUNT(*), MIN(v), MAX(v) FROM Kills.dbo.Large WITH (INDEX (1)); \
    SELECT COUNT(*), MIN(v), MAX(v) FROM Kills.dbo.Large WITH (INDEX (ByV))";
/// One turn in four commits.
const TURNS: [&str; 4] = [
    "BEGIN TRANSACTION; UPDATE dbo.Large SET v += 1000000; ROLLBACK TRANSACTION",
    "BEGIN TRANSACTION; SAVE TRANSACTION s; DELETE dbo.Large; ROLLBACK TRANSACTION s; \
     UPDATE dbo.Large SET v += 1; COMMIT TRANSACTION",
    "BEGIN TRANSACTION; UPDATE dbo.Large SET id = -id; DELETE dbo.Large WHERE id % 2 = 0; \
     ROLLBACK TRANSACTION",
    "BEGIN TRANSACTION; INSERT dbo.Large (id, v) SELECT id + 100000, -1 FROM dbo.Large; \
     ROLLBACK TRANSACTION",
];
const COMMITS: usize = 1;

/// What has been acknowledged.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LargeChanges {
    value: i64,
    /// One more may be there: it was asked for and not answered.
    on_its_way: bool,
    /// Transactions that were rolled back.
    pub(crate) rolled_back: u64,
}

/// Makes the table.
pub(crate) fn create(server: &mut ServerProcess) -> Outcome<()> {
    let mut client = server.client()?;
    for text in [
        "USE Kills".to_owned(),
        "CREATE TABLE dbo.Large (id int NOT NULL PRIMARY KEY, v int NOT NULL, INDEX ByV (v))"
            .into(),
        format!("INSERT dbo.Large SELECT value, 0 FROM GENERATE_SERIES(1, {ROWS})"),
    ] {
        asked(&mut client, &text)?;
    }
    Ok(())
}

impl LargeChanges {
    /// At it until the connection breaks.
    pub(crate) fn work(mut self, mut client: Client) -> Outcome<LargeChanges> {
        for (turn, text) in TURNS.iter().enumerate().cycle() {
            self.on_its_way = turn == COMMITS;
            // An error of the connection is the kill.
            let Ok(answer) = client.batch(text) else { return Ok(self) };
            if let Some(error) = answer.errors.first() {
                return Err(format!("{text}: {error}"));
            }
            self.value += i64::from(self.on_its_way);
            self.rolled_back += u64::from(!self.on_its_way);
        }
        Ok(self)
    }

    /// Looks at what is there after a kill; the next begins with that.
    pub(crate) fn settle(&mut self, server: &mut ServerProcess) -> Outcome<()> {
        let found = asked(&mut server.client()?, SUMS)?.rows;
        let is = |value: i64| found.iter().all(|row| row[..] == [ROWS, value, value]);
        let more = i64::from(self.on_its_way && is(self.value + 1));
        if found.len() != 2 || more == 0 && !is(self.value) {
            return Err(format!("{} is acknowledged, and {found:?} is there", self.value));
        }
        (self.value, self.on_its_way) = (self.value + more, false);
        Ok(())
    }
}
