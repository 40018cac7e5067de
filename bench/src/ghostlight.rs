//! Ghostlight, as `serve` starts it for anybody.

use crate::bulk_load::BulkLoad;
use crate::connection::{Connection, Insert};
use crate::engine::{Durability, Engine, HeldSession, Start, script};
use crate::figure::Outcome;
use crate::load;
use crate::process::{Server, empty};
use crate::wire::Session;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;
use tds::{ProcId, Procedure, RpcParameter, Token};
use types::{SqlType, Value};

const PASSWORD: &str = "Bench-engine-1";

/// A running server and a session of it.
pub(crate) struct Ghostlight {
    server: Server,
    binary: PathBuf,
    folder: PathBuf,
    memory_mb: Option<u32>,
    port: u16,
    session: Session,
}

pub(crate) fn start(start: &Start<'_>) -> Outcome<Option<Box<dyn Engine>>> {
    start_server(start).map(|server| Some(Box::new(server) as Box<dyn Engine>))
}

pub(crate) fn start_server(start: &Start<'_>) -> Outcome<Ghostlight> {
    let folder = empty(start.folder, None)?;
    let mut server = serve(start.binary, &folder, 0, start.memory_mb)?;
    let port = server.ready(|server| told_port(&server.said()))?;
    let mut session = login(port, "master")?;
    let durability = match start.durability {
        Durability::Full => "DISABLED",
        Durability::Delayed => "FORCED",
    };
    for sql in [
        "CREATE DATABASE bench",
        "ALTER DATABASE bench SET RECOVERY SIMPLE",
        &format!("ALTER DATABASE bench SET DELAYED_DURABILITY = {durability}"),
        "USE bench",
    ] {
        session.batch(sql).map_err(|e| format!("{sql}: {e}"))?;
    }
    let (binary, memory_mb) = (start.binary.to_owned(), start.memory_mb);
    Ok(Ghostlight { server, binary, folder, memory_mb, port, session })
}

/// The port that the system gave it, in what it says once it listens.
fn told_port(said: &str) -> Outcome<u16> {
    let line = said.lines().find_map(|line| line.strip_prefix("Ghostlight listens on "));
    let address = line.and_then(|line| line.strip_suffix('.')?.parse::<SocketAddr>().ok());
    address.map(|address| address.port()).ok_or_else(|| "it does not listen".to_owned())
}

/// Starts it on a port, 0 for a free one.
fn serve(binary: &Path, folder: &Path, port: u16, memory_mb: Option<u32>) -> Outcome<Server> {
    let mut command = Command::new(binary);
    command.arg("serve").arg("--data").arg(folder.join("data"));
    command.args(["--listen", &format!("127.0.0.1:{port}")]);
    if let Some(mb) = memory_mb {
        command.args(["--max-memory", &format!("{mb}MB")]);
    }
    command.env("GHOSTLIGHT_SA_PASSWORD", PASSWORD);
    Server::start(command, folder)
}

fn login(port: u16, database: &str) -> Outcome<Session> {
    Session::login(port, PASSWORD, database).map_err(|e| format!("log in: {e}"))
}

impl Ghostlight {
    /// The memory that the server has in use, in KB.
    pub(crate) fn resident_kb(&self) -> u64 {
        self.server.resident_kb()
    }

    /// Another session in the database.
    pub(crate) fn login(&self) -> Outcome<Session> {
        login(self.port, "bench")
    }

    /// Rows of values as text.
    pub(crate) fn texts(&mut self, sql: &str) -> Outcome<Vec<Vec<String>>> {
        let rows = self.session.rows(sql).map_err(|e| e.to_string())?;
        Ok(rows.iter().map(|row| row.iter().map(Value::to_string).collect()).collect())
    }

    /// Begins to fill a table, by bulk loads of so many rows each.
    pub(crate) fn bulk_load<'s>(
        &'s mut self,
        table: &str,
        columns: &'s [(&'static str, SqlType)],
        rows: usize,
    ) -> BulkLoad<'s> {
        BulkLoad::new(&mut self.session, table, columns, rows)
    }

    fn sessions(&self, count: usize) -> Outcome<Vec<Session>> {
        (0..count).map(|_| login(self.port, "bench")).collect()
    }
}

impl Engine for Ghostlight {
    fn name(&self) -> &'static str {
        "Ghostlight"
    }

    fn run(&mut self, sql: &str) -> Outcome<()> {
        for batch in sql.split("\nGO\n").filter(|batch| !batch.trim().is_empty()) {
            self.session.batch(batch).map_err(|e| format!("{batch}: {e}"))?;
        }
        Ok(())
    }

    fn run_together(&mut self, sql: &[String]) -> Outcome<f64> {
        let mut sessions = self.sessions(sql.len())?;
        let start = Instant::now();
        thread::scope(|scope| {
            let run = |(session, sql): (&mut Session, &String)| session.batch(sql).map(drop);
            let runs: Vec<_> =
                sessions.iter_mut().zip(sql).map(|one| scope.spawn(move || run(one))).collect();
            runs.into_iter().try_for_each(|run| {
                let ended = run.join().map_err(|_| "a session panicked".to_owned())?;
                ended.map_err(|e| format!("a session: {e}"))
            })
        })?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn call_together(&mut self, sessions: usize, seconds: u64) -> Outcome<f64> {
        let mut sessions = self.sessions(sessions)?;
        load::calls(&mut sessions, "tpcb", seconds).map_err(|e| format!("calls: {e}"))
    }

    fn hold(&mut self, sql: &str) -> Outcome<HeldSession> {
        let mut session = login(self.port, "bench")?;
        session.batch(sql).map_err(|e| format!("{sql}: {e}"))?;
        Ok(HeldSession::Session(session))
    }

    fn number(&mut self, sql: &str) -> Outcome<i64> {
        let rows = self.session.batch(sql).map_err(|e| format!("{sql}: {e}"))?;
        rows.first().copied().ok_or_else(|| format!("{sql}: no number"))
    }

    fn syncs(&mut self) -> Outcome<u64> {
        let sql = "SELECT num_of_writes FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)";
        self.number(sql).map(i64::unsigned_abs)
    }

    fn log_bytes(&mut self) -> Outcome<u64> {
        let sql = "SELECT num_of_bytes_written FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)";
        self.number(sql).map(i64::unsigned_abs)
    }

    fn connect(&self) -> Outcome<Box<dyn Connection>> {
        Ok(Box::new(Client { session: self.login()?, statement: 0 }))
    }

    fn stop(&mut self) -> Outcome<()> {
        self.server.stop()
    }

    fn kill(&mut self) -> Outcome<()> {
        self.server.kill()
    }

    fn launch(&mut self) -> Outcome<()> {
        self.server = serve(&self.binary, &self.folder, self.port, self.memory_mb)?;
        Ok(())
    }

    fn read(&mut self, sql: &str) -> Outcome<()> {
        self.session.discard(sql).map_err(|e| format!("{sql}: {e}"))
    }

    fn cpu_seconds(&self) -> f64 {
        self.server.cpu_seconds()
    }

    fn peak_kb(&self) -> u64 {
        self.server.peak_kb()
    }

    fn script(&self, name: &str) -> Outcome<String> {
        script("ghostlight", name)
    }
}

/// A session of the compiled client: batches, and sp_prepare once, then an sp_execute for each row.
struct Client {
    session: Session,
    /// The handle of what is prepared.
    statement: i32,
}

impl Connection for Client {
    fn run(&mut self, sql: &str) -> Outcome<Vec<i64>> {
        self.session.batch(sql).map_err(|e| format!("{sql}: {e}"))
    }

    fn prepare(&mut self, insert: &Insert) -> Outcome<()> {
        let declared: Vec<String> =
            insert.columns.iter().map(|(name, of)| format!("@{name} {of}")).collect();
        let text = insert.text(|n| format!("@{}", insert.columns[n - 1].0));
        let nvarchar =
            |s: &str| RpcParameter::input("", SqlType::nvarchar(4000), Value::nvarchar(s));
        let handle =
            RpcParameter { output: true, ..RpcParameter::input("", SqlType::Int, Value::Null) };
        let parameters = vec![handle, nvarchar(&declared.join(", ")), nvarchar(&text)];
        let tokens = self.session.call(Procedure::Id(ProcId::Prepare), parameters)?;
        let handle = tokens.iter().find_map(|token| match token {
            Token::ReturnValue(v) => v.value.as_i64(),
            _ => None,
        });
        self.statement = handle.ok_or("sp_prepare gives no handle")? as i32;
        Ok(())
    }

    fn ask(&mut self, row: &[Value]) -> Outcome<()> {
        let handle = RpcParameter::input("", SqlType::Int, Value::Int(self.statement));
        let parameters = row.iter().map(|value| {
            let of = match value {
                Value::Bit(_) => SqlType::Bit,
                Value::Date(_) => SqlType::Date,
                _ => SqlType::varchar(48),
            };
            RpcParameter::input("", of, value.clone())
        });
        let parameters = std::iter::once(handle).chain(parameters).collect();
        self.session.ask(Procedure::Id(ProcId::Execute), parameters)
    }

    fn answered(&mut self) -> Outcome<bool> {
        let Some(message) = self.session.arrived().map_err(|e| e.to_string())? else {
            return Ok(false);
        };
        for token in self.session.read(&message).map_err(|e| e.to_string())? {
            if let Token::Error(e) = token {
                return Err(format!("{}: {}", e.number, e.text));
            }
        }
        Ok(true)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.session.socket.as_fd()
    }
}
