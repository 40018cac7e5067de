//! house.2, what the new order costs: the build to ship beside the one before, by CPU, and what the
//! first build takes on a machine that has built nothing.

use crate::ground::bench;
use crate::ground::figure::{Figure, failed};
use crate::ground::program::{Ground, empty};
use crate::house::BEGAN;
use checks::{Outcome, process};
use nix::sys::resource::{UsageWho, getrusage};
use std::time::Instant;

/// On two quiet cores.
const FIRST_BUILD_SECONDS_MAX: f64 = 240.0;
/// CPU of the first build before the issue.
const CPU_MINUTES_BEFORE: f64 = 13.5;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut figures = match &ground.before {
        Some(before) => {
            let before = before.to_string_lossy();
            bench::figures_or_why(ground, &["versus", "--before", &before])
        }
        None => {
            let why = format!("no --before: the ghostlight of {BEGAN}, built to ship");
            vec![failed("cost against the build before", why)]
        }
    };
    figures.push(first_build(ground)?);
    Ok(figures)
}

/// A build of the program in an empty folder. The crates of others are there already.
fn first_build(ground: &Ground<'_>) -> Outcome<Figure> {
    let folder = ground.workspace.target().join("proofs").join("first-build");
    empty(&folder)?;
    let mut command = process::cargo(ground.workspace, &["build", "--release", "--quiet"]);
    command.args(["--locked", "--package", "shell"]).env("CARGO_TARGET_DIR", &folder);
    let (before, began) = (children_seconds()?, Instant::now());
    if !process::succeeds(command)? {
        return Err("the program does not build".to_owned());
    }
    let (took, cpu) = (began.elapsed().as_secs_f64(), children_seconds()? - before);
    empty(&folder)?;
    Ok(Figure {
        what: "first build, cargo build --release".to_owned(),
        figure: format!("{took:.0} s, {:.1} minutes of CPU", cpu / 60.0),
        limit: format!(
            "{FIRST_BUILD_SECONDS_MAX} s on two quiet cores; before: {CPU_MINUTES_BEFORE} minutes of CPU"
        ),
        pass: took <= FIRST_BUILD_SECONDS_MAX && cpu < CPU_MINUTES_BEFORE * 60.0,
    })
}

/// CPU of the children that have ended, and of theirs.
fn children_seconds() -> Outcome<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("getrusage: {e}"))?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
