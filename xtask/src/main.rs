//! The menu of the workspace: `cargo xtask` prints it, each line is one file here.
//!
//! Checks of the source live in `checks`, proofs in `prove`; `.ci/run` and the README only call
//! this crate. It runs outside the engine, so the engine's bans on files, clocks and threads
//! do not hold here.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "xtask is a tool beside the engine: no simulator schedules it or tears its files"
)]

mod clients;
mod deny;
mod golden;
mod release;
mod test;

use checks::{Workspace, layers, messages, tidy};
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The menu of the Ghostlight workspace")]
struct Line {
    #[command(subcommand)]
    choice: Option<Choice>,
}

#[derive(Subcommand)]
enum Choice {
    /// Compare the crates' dependencies with layers.toml; count circles of files in each, and files
    /// that name each physical operator
    Layers(layers::Options),
    /// Check the rules of style that a machine can read
    Tidy(tidy::Options),
    /// Check licences, sources and advisories of the crates of others
    Deny,
    /// Check the message table: one number, one constant, sorted
    Messages,
    /// Run everything: format, layers, tidy, lints, tests, client drivers
    Test(test::Options),
    /// Run the golden scripts of the whole engine: `golden [--bless] [filter]`
    Golden(golden::Options),
    /// Run a proof, e.g. `prove path.10`, or all of one issue: `prove path`; alone, list them
    Prove(prove::Options),
    /// Kill a real server again and again; verify what it recovers
    Kills(prove::kills::Options),
    /// Build the binary to ship, guided by a profile: target/guided/ship/ghostlight
    Release,
    /// Look at a real server's system calls: nobody is told of a commit before its sync
    Trace(prove::trace::Options),
}

fn main() -> ExitCode {
    let Some(choice) = Line::parse().choice else {
        menu();
        return ExitCode::SUCCESS;
    };
    let outcome = Workspace::open().and_then(|workspace| match choice {
        Choice::Layers(options) => layers::run(&workspace, &options),
        Choice::Tidy(options) => tidy::run(&workspace, &options),
        Choice::Deny => deny::run(&workspace),
        Choice::Messages => messages::run(&workspace),
        Choice::Test(options) => test::run(&workspace, &options),
        Choice::Golden(options) => golden::run(&workspace, &options),
        Choice::Prove(options) => prove::run(&workspace, &options),
        Choice::Kills(options) => prove::kills::run(&workspace, &options),
        Choice::Release => release::run(&workspace),
        Choice::Trace(options) => prove::trace::run(&workspace, &options),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// One line for each command, from the same words that `--help` shows.
fn menu() {
    println!("cargo xtask COMMAND");
    for command in Line::command().get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        println!("  {:<10} {about}", command.get_name());
    }
}
