//! Sessions of one server, and what they do in the proofs of row versions: scripts, numbers asked
//! for, and snapshots that must read the same at their end as at their beginning.

use crate::ground::client::{Answer, Client, asked};
use crate::ground::program::{Ground, PASSWORD, ServerProcess};
use checks::Outcome;
use std::fs;
use std::time::Duration;
use tds::Encryption;

/// The longest batch: 123,456 transactions under the dearest rule, on a busy machine.
const BATCH: Duration = Duration::from_secs(1_200);

/// A session that waits long for its batches.
///
/// # Errors
/// The server does not listen, lets nobody in, or has no such database.
pub fn session(server: &ServerProcess, database: &str) -> Outcome<Client> {
    let client =
        Client::login(server.port()?, "sa", PASSWORD).map_err(|e| format!("login: {e}"))?;
    let mut client = client.with_patience(BATCH).map_err(|e| format!("wait long: {e}"))?;
    asked(&mut client, &format!("USE {database}"))?;
    Ok(client)
}

/// A session with encryption.
pub(crate) fn encrypted(port: u16) -> Outcome<Client> {
    Client::login_with(Encryption::On, port, "sa", PASSWORD).map_err(|e| format!("login: {e}"))
}

/// Runs the batches of a script below tests/proofs; the answer of the last.
pub(crate) fn script(ground: &Ground<'_>, client: &mut Client, name: &str) -> Outcome<Answer> {
    batches(client, &text(ground, name)?)
}

/// A script below tests/proofs.
pub(crate) fn text(ground: &Ground<'_>, name: &str) -> Outcome<String> {
    let path = ground.script(name);
    fs::read_to_string(&path).map_err(|e| format!("read {}: {e}", path.display()))
}

/// Runs the batches of a text; the answer of the last.
pub(crate) fn batches(client: &mut Client, text: &str) -> Outcome<Answer> {
    let mut answer = Answer::default();
    let mut batch = String::new();
    for line in text.lines().chain(["GO"]) {
        if line.trim() != "GO" {
            batch = batch + line + "\n";
        } else if !batch.trim().is_empty() {
            answer = asked(client, &std::mem::take(&mut batch))?;
        }
    }
    Ok(answer)
}

/// The single number of a query.
pub(crate) fn number(client: &mut Client, query: &str) -> Outcome<i64> {
    let answer = asked(client, query)?;
    match answer.rows.as_slice() {
        [row] if row.len() == 1 => Ok(row[0]),
        rows => Err(format!("{query}: {} rows instead of one number", rows.len())),
    }
}

/// A SNAPSHOT transaction that is open, and what it has read.
pub(crate) struct Snapshot {
    client: Client,
    query: String,
    read: Vec<Vec<i64>>,
}

impl Snapshot {
    /// Begins a transaction, whose moment comes with [`Snapshot::look`].
    pub(crate) fn begin(mut client: Client, query: &str) -> Outcome<Snapshot> {
        asked(&mut client, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION")?;
        Ok(Snapshot { client, query: query.to_owned(), read: Vec::new() })
    }

    /// The first reading.
    pub(crate) fn look(&mut self) -> Outcome<()> {
        self.read = asked(&mut self.client, &self.query)?.rows;
        match self.read.is_empty() {
            true => Err(format!("{}: a snapshot finds nothing", self.query)),
            false => Ok(()),
        }
    }

    /// Ends the transaction: whether it read the same once more, and its session.
    pub(crate) fn end(mut self) -> Outcome<(bool, Client)> {
        let again = asked(&mut self.client, &self.query)?.rows;
        asked(&mut self.client, "COMMIT TRANSACTION")?;
        Ok((again == self.read, self.client))
    }
}
