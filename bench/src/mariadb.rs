//! MariaDB (InnoDB), driven by its own clients.

use crate::connection::Connection;
use crate::engine::{Durability, Engine, HeldSession, Start, script};
use crate::figure::Outcome;
use crate::mariadb_wire::MariaDbSession;
use crate::postgresql::write;
use crate::process::{Server, as_user, empty, find, free_port, hold, output, together};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const USER: &str = "mysql";
const SETTINGS: [&str; 9] = [
    "--innodb-buffer-pool-size=4G",
    "--innodb-log-file-size=4G",
    "--innodb-log-buffer-size=64M",
    "--innodb-doublewrite=1",
    "--innodb-flush-method=O_DIRECT",
    "--skip-log-bin",
    "--max-connections=200",
    "--transaction-isolation=READ-COMMITTED",
    "--bind-address=127.0.0.1",
];

struct MariaDb {
    server: Server,
    mariadbd: PathBuf,
    folder: PathBuf,
    socket: PathBuf,
    port: u16,
    durability: Durability,
}

pub(crate) fn start(start: &Start<'_>) -> Outcome<Option<Box<dyn Engine>>> {
    let (Some(install), Some(mariadbd), true) = (
        find("mariadb-install-db", &["/usr/bin"]),
        find("mariadbd", &["/usr/sbin"]),
        find("mariadb-slap", &[]).is_some(),
    ) else {
        return Ok(None);
    };
    let folder = empty(start.folder, Some(USER))?;
    let socket = folder.join("s.sock");
    let mut command = Command::new(install);
    command.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
    command.arg(datadir(&folder)).arg(format!("--user={USER}"));
    command.arg("--innodb-log-file-size=4G");
    output(command)?;
    let (port, durability) = (free_port()?, start.durability);
    let mut server = serve(&mariadbd, &folder, port, durability)?;
    server.ready(|_| output(client(&socket, "mysql", "select 1")))?;
    output(client(&socket, "mysql", "create database if not exists test"))?;
    Ok(Some(Box::new(MariaDb { server, mariadbd, folder, socket, port, durability })))
}

fn serve(mariadbd: &Path, folder: &Path, port: u16, durability: Durability) -> Outcome<Server> {
    let flush = match durability {
        Durability::Full => 1,
        Durability::Delayed => 0,
    };
    let socket = folder.join("s.sock");
    let mut command = as_user(mariadbd, USER);
    command.arg("--no-defaults").arg(datadir(folder));
    command.arg(format!("--socket={}", socket.display())).arg(format!("--port={port}"));
    command.arg(format!("--pid-file={}", folder.join("pid").display()));
    command.arg(format!("--tmpdir={}", folder.display())).args(SETTINGS);
    command.arg(format!("--innodb-flush-log-at-trx-commit={flush}"));
    Server::start(command, folder)
}

fn datadir(folder: &Path) -> String {
    format!("--datadir={}", folder.join("data").display())
}

fn client(socket: &Path, database: &str, sql: &str) -> Command {
    let mut command = Command::new("mariadb");
    command.arg("--no-defaults").arg(format!("--socket={}", socket.display()));
    command.args(["-uroot", "-N", "-B", database, "-e", sql]);
    command
}

impl MariaDb {
    fn status(&self, name: &str) -> Outcome<u64> {
        let sql = format!("show global status like '{name}'");
        let said = output(client(&self.socket, "test", &sql))?;
        let number = said.split_whitespace().nth(1).and_then(|n| n.parse().ok());
        number.ok_or_else(|| format!("{sql}: {said}"))
    }
}

impl Engine for MariaDb {
    fn name(&self) -> &'static str {
        "MariaDB"
    }

    fn run(&mut self, sql: &str) -> Outcome<()> {
        let file = self.folder.join("script.sql");
        write(&file, sql)?;
        output(client(&self.socket, "test", &format!("source {}", file.display()))).map(drop)
    }

    fn run_together(&mut self, sql: &[String]) -> Outcome<f64> {
        together(sql.iter().map(|sql| client(&self.socket, "test", sql)))
    }

    /// mariadb-slap runs a number of queries, not a time: more and more until one run lasts.
    fn call_together(&mut self, sessions: usize, seconds: u64) -> Outcome<f64> {
        let mut queries = sessions * 400;
        loop {
            let mut command = Command::new("mariadb-slap");
            command.arg("--no-defaults").arg(format!("--socket={}", self.socket.display()));
            command.args(["-uroot", "--create-schema=test", "--no-drop", "--query=call tpcb()"]);
            command.arg(format!("--concurrency={sessions}"));
            command.arg(format!("--number-of-queries={queries}")).stderr(Stdio::null());
            let start = Instant::now();
            let said = output(command)?;
            let took = "Average number of seconds to run all queries: ";
            let line = said.lines().find_map(|line| line.trim().strip_prefix(took));
            let took: Option<f64> = line.and_then(|l| l.split(' ').next()?.parse().ok());
            let took = took.ok_or_else(|| format!("mariadb-slap says no time: {said}"))?;
            if start.elapsed().as_secs_f64() >= seconds as f64 * 0.7 {
                return Ok(queries as f64 / took);
            }
            queries = (queries as f64 * (seconds as f64 / took.max(0.05)).clamp(1.5, 8.0)) as usize;
        }
    }

    fn hold(&mut self, sql: &str) -> Outcome<HeldSession> {
        let mut command = Command::new("mariadb");
        command.arg("--no-defaults").arg(format!("--socket={}", self.socket.display()));
        command.args(["-uroot", "-N", "-B", "--unbuffered", "test"]);
        hold(command, &format!("{sql}select 'held';\n")).map(HeldSession::Client)
    }

    fn number(&mut self, sql: &str) -> Outcome<i64> {
        let said = output(client(&self.socket, "test", sql))?;
        said.trim().parse().map_err(|_| format!("{sql}: {said}"))
    }

    fn syncs(&mut self) -> Outcome<u64> {
        // Of all its files; while no checkpoint runs they are the log's.
        self.status("Innodb_data_fsyncs")
    }

    fn log_bytes(&mut self) -> Outcome<u64> {
        self.status("Innodb_lsn_current")
    }

    fn connect(&self) -> Outcome<Box<dyn Connection>> {
        Ok(Box::new(MariaDbSession::login(self.port, "root", "test")?))
    }

    fn stop(&mut self) -> Outcome<()> {
        self.server.stop()
    }

    fn kill(&mut self) -> Outcome<()> {
        self.server.kill()
    }

    fn launch(&mut self) -> Outcome<()> {
        self.server = serve(&self.mariadbd, &self.folder, self.port, self.durability)?;
        Ok(())
    }

    fn read(&mut self, sql: &str) -> Outcome<()> {
        output(client(&self.socket, "test", sql)).map(drop)
    }

    fn cpu_seconds(&self) -> f64 {
        self.server.cpu_seconds()
    }

    fn peak_kb(&self) -> u64 {
        self.server.peak_kb()
    }

    fn script(&self, name: &str) -> Outcome<String> {
        script("mariadb", name)
    }
}
