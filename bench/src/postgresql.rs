//! PostgreSQL, driven by psql and pgbench.

use crate::connection::Connection;
use crate::engine::{Durability, Engine, HeldSession, Start, script};
use crate::figure::Outcome;
use crate::postgresql_wire::PostgreSqlSession;
use crate::process::{Server, as_user, empty, find, free_port, hold, output, together};
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use types::Value;

const USER: &str = "postgres";
const DATABASE: &str = "postgres";
const SETTINGS: &str = "listen_addresses='127.0.0.1'\nmax_wal_size='16GB'\n\
    checkpoint_timeout='30min'\nwal_buffers='64MB'\nmax_connections=200\njit=off\n";
/// Pages get the one half of little memory, queries the other.
const PLENTY: (u32, u32) = (4096, 64);

/// A running server.
pub(crate) struct PostgreSql {
    server: Server,
    postgres: PathBuf,
    folder: PathBuf,
    port: u16,
}

pub(crate) fn start(start: &Start<'_>) -> Outcome<Option<Box<dyn Engine>>> {
    let started = start_server(start)?;
    Ok(started.map(|server| Box::new(server) as Box<dyn Engine>))
}

/// Runs a command while a server is there, its clients told by PGHOST and the like where; what the
/// command says goes where ours does.
pub(crate) fn beside(start: &Start<'_>, command: &[String]) -> Outcome<()> {
    let Some(own) = start_server(start)? else {
        return Err("PostgreSQL is not installed".to_owned());
    };
    let [program, arguments @ ..] = command else { return Err("no command".to_owned()) };
    let status = Command::new(program)
        .args(arguments)
        .env("PGHOST", "127.0.0.1")
        .env("PGPORT", own.port.to_string())
        .env("PGUSER", USER)
        .env("PGDATABASE", DATABASE)
        .status()
        .map_err(|e| format!("start {program}: {e}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {status}")),
    }
}

pub(crate) fn start_server(start: &Start<'_>) -> Outcome<Option<PostgreSql>> {
    let beside = folders();
    let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
    let (Some(initdb), Some(postgres), true) = (
        find("initdb", &beside),
        find("postgres", &beside),
        find("pgbench", &[]).is_some() && find("psql", &[]).is_some(),
    ) else {
        return Ok(None);
    };
    let folder = empty(start.folder, Some(USER))?;
    let data = folder.join("data");
    let mut command = as_user(&initdb, USER);
    command.arg("-D").arg(&data).args(["-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
    command.args(["-U", USER]);
    output(command)?;
    let port = free_port()?;
    let commit = match start.durability {
        Durability::Full => "on",
        Durability::Delayed => "off",
    };
    let (pages, queries) = start.memory_mb.map_or(PLENTY, |mb| (mb / 2, mb / 2));
    let own = format!(
        "{SETTINGS}shared_buffers='{pages}MB'\nwork_mem='{queries}MB'\nport={port}\n\
         synchronous_commit={commit}\nunix_socket_directories='{}'\n",
        folder.display()
    );
    fs::write(data.join("postgresql.auto.conf"), own)
        .map_err(|e| format!("write settings: {e}"))?;
    let mut server = serve(&postgres, &folder)?;
    server.ready(|_| output(psql(port, "select 1")))?;
    Ok(Some(PostgreSql { server, postgres, folder, port }))
}

fn serve(postgres: &Path, folder: &Path) -> Outcome<Server> {
    let mut command = as_user(postgres, USER);
    command.arg("-D").arg(folder.join("data"));
    Server::start(command, folder)
}

/// Where Debian's packages put the programs, newest version first.
fn folders() -> Vec<String> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<String> =
        versions.map(|v| v.path().join("bin").display().to_string()).collect();
    folders.sort();
    folders.reverse();
    folders
}

fn psql(port: u16, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", USER, "-d", DATABASE]);
    command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
    command
}

impl Engine for PostgreSql {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn run(&mut self, sql: &str) -> Outcome<()> {
        let file = self.folder.join("script.sql");
        write(&file, sql)?;
        let mut command = psql(self.port, "select 1");
        command.arg("-f").arg(&file);
        output(command).map(drop)
    }

    fn run_together(&mut self, sql: &[String]) -> Outcome<f64> {
        together(sql.iter().map(|sql| psql(self.port, sql)))
    }

    fn call_together(&mut self, sessions: usize, seconds: u64) -> Outcome<f64> {
        let file = self.folder.join("call.sql");
        write(&file, "call tpcb();\n")?;
        let mut command = Command::new("pgbench");
        command.args(["-n", "-M", "prepared", "-j", "1", "-c", &sessions.to_string()]);
        command.args(["-T", &seconds.to_string(), "-f"]).arg(&file);
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER, DATABASE]);
        let said = output(command)?;
        let line = said.lines().find(|line| line.starts_with("tps = "));
        let tps = line.and_then(|line| line.split(' ').nth(2)?.parse().ok());
        tps.ok_or_else(|| format!("pgbench says no tps: {said}"))
    }

    fn hold(&mut self, sql: &str) -> Outcome<HeldSession> {
        let mut command = psql(self.port, "select 1");
        command.args(["-f", "-"]);
        hold(command, &format!("{sql}select 'held';\n")).map(HeldSession::Client)
    }

    fn number(&mut self, sql: &str) -> Outcome<i64> {
        let said = output(psql(self.port, sql))?;
        said.trim().parse().map_err(|_| format!("{sql}: {said}"))
    }

    fn syncs(&mut self) -> Outcome<u64> {
        self.number("select pg_stat_force_next_flush(); select wal_sync from pg_stat_wal")
            .map(i64::unsigned_abs)
    }

    fn log_bytes(&mut self) -> Outcome<u64> {
        let sql = "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint";
        self.number(sql).map(i64::unsigned_abs)
    }

    fn connect(&self) -> Outcome<Box<dyn Connection>> {
        Ok(Box::new(PostgreSqlSession::login(self.port, USER, DATABASE)?))
    }

    fn stop(&mut self) -> Outcome<()> {
        self.server.stop()
    }

    fn kill(&mut self) -> Outcome<()> {
        self.server.kill()
    }

    fn launch(&mut self) -> Outcome<()> {
        self.server = serve(&self.postgres, &self.folder)?;
        Ok(())
    }

    fn read(&mut self, sql: &str) -> Outcome<()> {
        let mut command = psql(self.port, sql);
        command.args(["-o", "/dev/null"]);
        output(command).map(drop)
    }

    fn cpu_seconds(&self) -> f64 {
        self.server.cpu_seconds()
    }

    fn peak_kb(&self) -> u64 {
        self.server.peak_kb()
    }

    fn script(&self, name: &str) -> Outcome<String> {
        script("postgresql", name)
    }
}

/// COPY from the standard input of psql.
pub(crate) struct Copy {
    psql: Child,
    input: BufWriter<ChildStdin>,
    line: String,
}

impl PostgreSql {
    /// Rows of values as text.
    pub(crate) fn texts(&mut self, sql: &str) -> Outcome<Vec<Vec<String>>> {
        let said = output(psql(self.port, sql))?;
        let row = |line: &str| line.split('|').map(str::to_owned).collect();
        Ok(said.lines().map(row).collect())
    }

    /// Begins to fill a table.
    pub(crate) fn copy(&self, table: &str) -> Outcome<Copy> {
        let mut command = psql(self.port, &format!("copy {table} from stdin"));
        let mut psql =
            command.stdin(Stdio::piped()).spawn().map_err(|e| format!("start psql: {e}"))?;
        let input = psql.stdin.take().ok_or("psql has no input")?;
        Ok(Copy { psql, input: BufWriter::with_capacity(1 << 20, input), line: String::new() })
    }
}

impl Copy {
    /// Adds a row; its texts hold no tabs.
    pub(crate) fn push(&mut self, row: &[Value]) -> Outcome<()> {
        use std::fmt::Write as _;
        self.line.clear();
        for (n, value) in row.iter().enumerate() {
            let tab = if n > 0 { "\t" } else { "" };
            write!(self.line, "{tab}{value}").map_err(|e| e.to_string())?;
        }
        self.line.push('\n');
        self.input.write_all(self.line.as_bytes()).map_err(|e| format!("feed psql: {e}"))
    }

    pub(crate) fn finish(self) -> Outcome<()> {
        let Copy { mut psql, input, .. } = self;
        drop(input.into_inner().map_err(|e| format!("feed psql: {e}"))?);
        let status = psql.wait().map_err(|e| format!("wait for psql: {e}"))?;
        if status.success() { Ok(()) } else { Err(format!("COPY: {status}")) }
    }
}

pub(crate) fn write(file: &Path, text: &str) -> Outcome<()> {
    fs::write(file, text).map_err(|e| format!("write {}: {e}", file.display()))
}
