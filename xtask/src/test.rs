//! `test`: the one command that says whether the tree is sound. `.ci/run` calls nothing else.
//!
//! Every step runs, also after one that failed, so that one run tells all; then a summary.

use crate::clients;
use crate::deny;
use checks::{Outcome, Workspace, layers, process, tidy};
use std::time::{Duration, Instant};

/// What `cargo xtask test` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the client drivers of tests/clients
    #[arg(long, conflicts_with = "no_clients")]
    clients: bool,
    /// Everything but the client drivers
    #[arg(long)]
    no_clients: bool,
    /// Drive the clients against the release build
    #[arg(long)]
    release: bool,
}

type Step<'a> = (&'static str, Box<dyn Fn() -> Outcome<bool> + 'a>);

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    if !options.clients {
        steps.extend(own_steps(workspace));
    }
    if !options.no_clients {
        steps.push(("clients", Box::new(|| clients::run(workspace, options.release))));
    }
    let mut finished = Vec::new();
    for (name, step) in steps {
        println!("\n== {name}");
        let start = Instant::now();
        let passed = step().unwrap_or_else(|trouble| {
            println!("{name}: {trouble}");
            false
        });
        let took = start.elapsed();
        println!("== {name}: {} in {:.1} s", verdict(passed), took.as_secs_f64());
        finished.push((name, passed, took));
    }
    summarize(&finished);
    Ok(finished.iter().all(|(_, passed, _)| *passed))
}

fn own_steps(workspace: &Workspace) -> Vec<Step<'_>> {
    let cargo = move |arguments: &'static [&'static str]| {
        Box::new(move || process::succeeds(process::cargo(workspace, arguments)))
    };
    vec![
        ("format", cargo(&["fmt", "--all", "--check"])),
        ("layers", Box::new(|| layers::run(workspace, &layers::Options::default()))),
        ("tidy", Box::new(|| tidy::run(workspace, &tidy::Options::default()))),
        (
            "lints",
            cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
        ),
        ("tests", cargo(&["test", "--workspace", "--locked"])),
        ("deny", Box::new(|| deny::run(workspace))),
        ("kills", Box::new(|| prove::kills::short(workspace))),
        ("trace", Box::new(|| prove::trace::short(workspace))),
    ]
}

fn verdict(passed: bool) -> &'static str {
    if passed { "passed" } else { "FAILED" }
}

fn summarize(finished: &[(&str, bool, Duration)]) {
    println!("\n== summary");
    for (name, passed, took) in finished {
        println!("{name:<8} {} in {:.1} s", verdict(*passed), took.as_secs_f64());
    }
}
