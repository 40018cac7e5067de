//! `golden`: the scripts of `tests/golden` against the whole engine.

use checks::{Outcome, Workspace, process};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write what the engine says now into the scripts, and show the difference
    #[arg(long)]
    bless: bool,
    /// Only scripts whose path contains this, e.g. `isolation/phantom`
    filter: Option<String>,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let arguments = ["test", "--package", "instance", "--test", "golden", "--", "--nocapture"];
    let mut command = process::cargo(workspace, &arguments);
    if let Some(filter) = &options.filter {
        command.env("GHOSTLIGHT_GOLDEN", filter);
    }
    if options.bless {
        command.env("GHOSTLIGHT_BLESS", "1");
    }
    process::succeeds(command)
}
