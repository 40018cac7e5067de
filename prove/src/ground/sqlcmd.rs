//! go-sqlcmd, the client of users' scripts: a script that runs to its end, and a session that stays
//! open between scripts, as a query window does.
//!
//! Invariants
//!  1. A script is run as its file has it. What a proof puts between two scripts of a session is a
//!     line that the server prints back: it tells where an answer ends.
//!  2. A session ends with its process, and its transaction with it.

use crate::ground::program::{Ground, PASSWORD, ServerProcess, finish};
use checks::Outcome;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

const AT_MOST: Duration = Duration::from_secs(1_200);
/// Begins the line that the server prints behind a script.
const END: &str = "proof: end of script";

/// The program, the server that it asks, and the database that it asks first.
pub(crate) struct Sqlcmd {
    program: PathBuf,
    port: u16,
    database: String,
    /// Where its output is kept.
    log: PathBuf,
}

impl Sqlcmd {
    /// # Errors
    /// go-sqlcmd is not built, or the server does not listen.
    pub(crate) fn new(
        ground: &Ground<'_>,
        server: &ServerProcess,
        database: &str,
        log: &Path,
    ) -> Outcome<Sqlcmd> {
        let program = ground.workspace.target().join("clients/go-sqlcmd/sqlcmd");
        if !program.is_file() {
            return Err("go-sqlcmd is not built; `cargo xtask test --clients` does".into());
        }
        let (database, log) = (database.to_owned(), log.to_owned());
        Ok(Sqlcmd { program, port: server.port()?, database, log })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-S", &format!("tcp:127.0.0.1,{}", self.port), "-U", "sa", "-C"]);
        command.args(["-d", &self.database, "-W", "-h", "-1", "-s", "|"]);
        command.env("SQLCMDPASSWORD", PASSWORD);
        command
    }

    /// Runs a script in a session of its own.
    ///
    /// # Errors
    /// It fails, or an error of the server is in what it says.
    pub(crate) fn run(&self, script: &Path) -> Outcome<String> {
        let mut command = self.command();
        command.arg("-b").arg("-i").arg(script);
        let finished = finish(command, &self.log, AT_MOST)?;
        if finished.succeeded {
            Ok(finished.output)
        } else {
            Err(format!("{}: {}", script.display(), finished.output.trim()))
        }
    }

    /// A session that stays.
    ///
    /// # Errors
    /// It cannot be started, or the server does not let it in.
    pub(crate) fn session(&self) -> Outcome<SqlcmdSession> {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|e| format!("start sqlcmd: {e}"))?;
        let input = child.stdin.take().ok_or("sqlcmd has no input")?;
        let output = child.stdout.take().ok_or("sqlcmd has no output")?;
        let (said, lines) = channel();
        thread::spawn(move || {
            // Whoever no longer listens needs no more lines.
            let all = BufReader::new(output).lines().map_while(Result::ok);
            all.map(|line| said.send(line)).all(|sent| sent.is_ok())
        });
        let mut session = SqlcmdSession { child, input, lines, scripts: 0 };
        session.text("")?;
        Ok(session)
    }
}

/// An open session.
pub(crate) struct SqlcmdSession {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    scripts: u32,
}

impl SqlcmdSession {
    /// Runs a script to its end.
    ///
    /// # Errors
    /// The session ends, or an error of the server is in what it says.
    pub(crate) fn script(&mut self, script: &Path) -> Outcome<String> {
        let text = fs::read_to_string(script).map_err(|e| format!("{}: {e}", script.display()))?;
        self.text(&text).map_err(|why| format!("{}: {why}", script.display()))
    }

    /// Sends a script, and does not wait for its answer.
    pub(crate) fn send(&mut self, text: &str) -> Outcome<()> {
        self.scripts += 1;
        let text = format!("{}\nGO\nPRINT '{END} {}'\nGO\n", text.trim_end(), self.scripts);
        let sent = self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush());
        sent.map_err(|e| format!("ask sqlcmd: {e}"))
    }

    /// What the script that was sent last has said.
    pub(crate) fn answer(&mut self) -> Outcome<String> {
        let (began, mut said) = (Instant::now(), String::new());
        let end = format!("{END} {}", self.scripts);
        loop {
            let left = AT_MOST.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.trim_end().ends_with(&end) => break,
                Ok(line) => said = said + line.trim_end() + "\n",
                Err(RecvTimeoutError::Timeout) => return Err(format!("no end; it says: {said}")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("sqlcmd ended; it says: {said}"));
                }
            }
        }
        match said.lines().find(|line| line.starts_with("Msg ")) {
            Some(_) => Err(said.trim().to_owned()),
            None => Ok(said),
        }
    }

    /// The same of a text.
    pub(crate) fn text(&mut self, text: &str) -> Outcome<String> {
        self.send(text)?;
        self.answer()
    }
}

impl Drop for SqlcmdSession {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
