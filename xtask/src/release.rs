//! `release`: the binary to ship, built twice: the first build counts what runs while it is
//! trained, the second is laid out by that.
//!
//! A row's way through the engine is longer than a processor's cache of code. The profile tells the
//! compiler what runs together and what hardly ever does. It is made anew each time: a profile of
//! other code guides nothing.

use checks::{Outcome, Workspace, process};
use prove::{PASSWORD, ServerProcess, Tools, asked, empty, session};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// What it is trained by, in this order.
const TRAINING: [&str; 3] = [
    "tests/proofs/write_path/0_setup.sql",
    "xtask/training/1_rows.sql",
    "xtask/training/2_reads.sql",
];

/// Then so many clients, each with so many requests that commit a row.
const CLIENTS: usize = 8;
const REQUESTS: usize = 2_000;
/// And so many that compute at a time, by turns, each for so many rows.
const COMPUTING: usize = 24;
const ROWS: usize = 1_500;

pub(crate) fn run(workspace: &Workspace) -> Outcome<bool> {
    let tools = Tools::find()?;
    let folder = workspace.target().join("guided");
    let profiles = folder.join("profiles");
    empty(&profiles)?;
    println!("1. a build that counts");
    let counting = format!("-Cprofile-generate={}", profiles.display());
    let binary = build(workspace, &counting, &folder.join("counting"))?;
    println!("2. training");
    let data = folder.join("data");
    empty(&data)?;
    train(workspace, &binary, &data)?;
    let profile = folder.join("ghostlight.profdata");
    tools.merge(&[profiles], &profile)?;
    println!("3. the build that is guided by it");
    let guided = format!("-Cprofile-use={}", profile.display());
    let binary = build(workspace, &guided, &folder)?;
    println!("{}", binary.display());
    Ok(true)
}

fn build(workspace: &Workspace, flags: &str, target: &Path) -> Outcome<PathBuf> {
    let mut command =
        process::cargo(workspace, &["build", "--quiet", "--locked", "--profile", "ship"]);
    command.args(["--bin", "ghostlight", "--target-dir"]).arg(target).env("RUSTFLAGS", flags);
    if !process::succeeds(command)? {
        return Err(format!("the binary does not build with {flags}"));
    }
    Ok(target.join("ship").join("ghostlight"))
}

/// Runs the scripts: by a server and a client of it, for the way of requests over the wire; the
/// server's counts are written when it stops.
fn train(workspace: &Workspace, binary: &Path, data: &Path) -> Outcome<()> {
    let mut server = ServerProcess::start(binary, &data.join("served"))?;
    drop(server.client()?);
    let mut client = Command::new(binary);
    client.args(["sql", "-b", "-C", "-U", "sa", "-P", PASSWORD]);
    client.arg("-S").arg(format!("127.0.0.1,{}", server.port()?));
    client.args(TRAINING.map(|script| workspace.root.join(script)));
    client.stdout(std::process::Stdio::null());
    if !process::succeeds(client)? {
        return Err("the training does not run".to_owned());
    }
    let request = "EXEC dbo.AddPersons 1";
    side_by_side(&server, CLIENTS, &[request; REQUESTS])?;
    let delayed = "ALTER DATABASE WritePath SET DELAYED_DURABILITY = FORCED";
    asked(&mut session(&server, "WritePath")?, delayed)?;
    side_by_side(&server, COMPUTING, &[&format!("EXEC dbo.AddPersons {ROWS}")])?;
    server.stop().map(drop)
}

fn side_by_side(server: &ServerProcess, clients: usize, requests: &[&str]) -> Outcome<()> {
    let client = || {
        let mut client = session(server, "WritePath")?;
        requests.iter().try_for_each(|text| asked(&mut client, text).map(drop))
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients.into_iter().try_for_each(|one| one.join().map_err(|_| "a client panicked")?)
    })
}
