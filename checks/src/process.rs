//! Running other programs: cargo, and the tools of the client tests.

use crate::workspace::{Outcome, Workspace};
use std::env;
use std::process::{Command, Stdio};

/// A cargo command at the workspace's root, as if called from a shell.
///
/// `cargo run` hands its own package's variables down; with those, build scripts that watch
/// them would run again each time, so they are taken out.
pub fn cargo(workspace: &Workspace, arguments: &[&str]) -> Command {
    let program = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root).stdin(Stdio::null());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let inherited = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
        if inherited.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs to the end with the terminal's output; true where it succeeded.
///
/// # Errors
/// It cannot be started.
pub fn succeeds(mut command: Command) -> Outcome<bool> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|e| format!("start {program}: {e}"))?;
    Ok(status.success())
}

/// Whether CI runs us: then nothing may be skipped.
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}
