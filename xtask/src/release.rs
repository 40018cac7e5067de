//! `release`: the binary to ship, built twice: the first build counts what runs while it is
//! trained, the second is laid out by that.
//!
//! A row's way through the engine is longer than a processor's cache of code. The profile tells the
//! compiler what runs together and what hardly ever does. It is made anew each time: a profile of
//! other code guides nothing.

use crate::process;
use crate::prove::{lines::Tools, program};
use crate::workspace::{Outcome, Workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What it is trained by, in this order.
const TRAINING: [&str; 3] = [
    "tests/proofs/write_path/0_setup.sql",
    "xtask/training/1_rows.sql",
    "xtask/training/2_reads.sql",
];

pub(crate) fn run(workspace: &Workspace) -> Outcome<bool> {
    let tools = Tools::find()?;
    let folder = workspace.target().join("guided");
    let profiles = folder.join("profiles");
    program::empty(&profiles)?;
    println!("1. a build that counts");
    let counting = format!("-Cprofile-generate={}", profiles.display());
    let binary = build(workspace, &counting, &folder.join("counting"))?;
    println!("2. training");
    let data = folder.join("data");
    program::empty(&data)?;
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
    let mut command = process::cargo(workspace, &["build", "--quiet", "--locked", "--release"]);
    command.args(["--bin", "ghostlight", "--target-dir"]).arg(target).env("RUSTFLAGS", flags);
    if !process::succeeds(command)? {
        return Err(format!("the binary does not build with {flags}"));
    }
    Ok(target.join("release").join("ghostlight"))
}

/// Runs the scripts: by a server and a client of it, for the way of requests over the wire; the
/// server's counts are written when it stops.
fn train(workspace: &Workspace, binary: &Path, data: &Path) -> Outcome<()> {
    let mut server = program::Serving::start(binary, &data.join("served"))?;
    drop(server.client()?);
    let mut client = Command::new(binary);
    client.args(["sql", "-b", "-U", "sa", "-P", program::PASSWORD]);
    client.arg("-S").arg(format!("127.0.0.1,{}", server.port));
    client.args(TRAINING.map(|script| workspace.root.join(script)));
    client.stdout(std::process::Stdio::null());
    if !process::succeeds(client)? {
        return Err("the training does not run".to_owned());
    }
    server.stop().map(drop)
}
