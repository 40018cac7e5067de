//! The client tests: real drivers, each against a server of its own.
//!
//! `tests/clients/clients.toml` lists them; a client's sources lie in `tests/clients/FOLDER`.
//! They are copied to `target/clients/NAME`, where its packages and build output stay too, and
//! all its commands run there. Setup is repeated only when sources or commands change.
//!
//! ```toml
//! [[client]]
//! name = "go-mssqldb"
//! folder = "go"                                    # of tests/clients
//! toolchain = ["go", "version"]                    # absent: skipped, under CI a failure
//! setup = [["go", "build", "-o", "client", "."]]   # {work} stands for the client's folder
//! run = ["./client"]
//! [client.env]                                     # optional
//! GOFLAGS = "-mod=readonly"
//! ```
//!
//! A client finds the server by GHOSTLIGHT_HOST, GHOSTLIGHT_PORT, GHOSTLIGHT_USER and
//! GHOSTLIGHT_PASSWORD, its certificate by GHOSTLIGHT_CERTIFICATE. It passes when it exits with
//! 0 and the last line it prints is `N operations, N passed, 0 failed`, with N above 0.

mod closing;
mod setup;

use checks::{Outcome, Workspace, process};
use prove::{Ground, PASSWORD, ServerProcess, empty};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const TABLE: &str = "tests/clients/clients.toml";
const CLIENT_SECONDS_MAX: u64 = 600;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    client: Vec<Client>,
}

/// One client: how to know that its tools are here, how to build it, how to run it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    name: String,
    folder: String,
    toolchain: Vec<String>,
    setup: Vec<Vec<String>>,
    run: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// How a client's turn ended.
enum Turn {
    Passed(String),
    Skipped(String),
    Failed(String),
}

pub(crate) fn run(workspace: &Workspace, release: bool) -> Outcome<bool> {
    let table = read_table(workspace)?;
    if table.client.is_empty() {
        println!("no client tests: {TABLE} lists none");
        return Ok(!process::in_ci());
    }
    let binary =
        Ground::new(workspace, None).binary_of(if release { "release" } else { "debug" })?;
    let mut failures = 0;
    for client in &table.client {
        let turn = take_turn(workspace, client, &binary).unwrap_or_else(Turn::Failed);
        match turn {
            Turn::Passed(closing) => println!("{}: {closing}", client.name),
            Turn::Skipped(why) => println!("{}: skipped, {why}", client.name),
            Turn::Failed(why) => {
                println!("{}: FAILED, {why}", client.name);
                failures += 1;
            }
        }
    }
    println!("{} clients, {failures} failed", table.client.len());
    Ok(failures == 0)
}

fn read_table(workspace: &Workspace) -> Outcome<Table> {
    if !workspace.holds(TABLE) {
        return Ok(Table::default());
    }
    let text = workspace.read(TABLE)?;
    toml::from_str(&text).map_err(|e| format!("{TABLE}: {e}"))
}

fn take_turn(workspace: &Workspace, client: &Client, binary: &Path) -> Outcome<Turn> {
    if !has_toolchain(client) {
        let missing = format!("{} is not on this machine", client.toolchain.join(" "));
        let turn = if process::in_ci() { Turn::Failed(missing) } else { Turn::Skipped(missing) };
        return Ok(turn);
    }
    let work = workspace.target().join("clients").join(&client.name);
    setup::prepare(workspace, client, &work)?;
    let data = work.join("server-data");
    empty(&data)?;
    let mut server = ServerProcess::start(binary, &data)?;
    drop(server.client()?);
    let log = work.join("run.log");
    let finished = drive(client, &server, &work, &log);
    let stopped = server.stop();
    let output = fs::read_to_string(&log).unwrap_or_default();
    let judged = finished.and_then(|succeeded| closing::judge(&output, succeeded));
    if judged.is_err() {
        println!("{output}");
    }
    match (judged, stopped) {
        (Ok(closing), Ok(())) => Ok(Turn::Passed(closing)),
        (Err(why), _) | (Ok(_), Err(why)) => Ok(Turn::Failed(why)),
    }
}

fn has_toolchain(client: &Client) -> bool {
    let Some((program, arguments)) = client.toolchain.split_first() else { return true };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs the client to its end; true where it exited with 0.
fn drive(client: &Client, server: &ServerProcess, work: &Path, log: &PathBuf) -> Outcome<bool> {
    let output = File::create(log).map_err(|e| format!("create {}: {e}", log.display()))?;
    let errors = output.try_clone().map_err(|e| format!("share {}: {e}", log.display()))?;
    let mut command = setup::command(client, &client.run, work)?;
    command
        .env("GHOSTLIGHT_HOST", "127.0.0.1")
        .env("GHOSTLIGHT_PORT", server.port()?.to_string())
        .env("GHOSTLIGHT_USER", "sa")
        .env("GHOSTLIGHT_PASSWORD", PASSWORD)
        .env("GHOSTLIGHT_CERTIFICATE", work.join("server-data/server.pem"))
        .stdout(output)
        .stderr(errors);
    let child = command.spawn().map_err(|e| format!("start {}: {e}", client.run.join(" ")))?;
    wait(child, Duration::from_secs(CLIENT_SECONDS_MAX))
}

/// Waits for a child's end, and ends it when it takes too long; true where it exited with 0.
fn wait(mut child: Child, at_most: Duration) -> Outcome<bool> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| format!("wait: {e}"))? {
            return Ok(status.success());
        }
        if start.elapsed() > at_most {
            child.kill().and_then(|()| child.wait()).map_err(|e| format!("end it: {e}"))?;
            return Err(format!("no end after {} s", at_most.as_secs()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
