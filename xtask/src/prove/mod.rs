//! `prove NAME.N`: the numbered lines of "What it must show", each run and judged.
//!
//! A proof measures; it prints each figure beside its limit and says pass or fail. A figure that
//! nothing measures fails: an unproven line is never a pass. One proof, one file.

mod activities;
mod attention;
mod bench;
mod client;
mod contest;
pub(crate) mod crowd;
mod ctrl_c;
mod full_disk;
pub(crate) mod kills;
mod ledger;
pub(crate) mod lines;
mod log_1;
mod log_2;
mod log_3;
mod log_4;
mod log_5;
mod log_6;
mod log_7;
mod path_1;
mod path_10;
mod path_2;
mod path_3;
mod path_4;
mod path_5;
mod path_6;
mod path_7;
mod path_8;
mod path_9;
pub(crate) mod program;
mod query_1;
mod query_2;
mod query_3;
mod query_4;
mod query_5;
mod query_6;
mod query_7;
mod query_8;
pub(crate) mod scene;
mod tls;
pub(crate) mod trace;
mod truth;
mod vanish;
mod versions_1;
mod versions_2;
mod versions_3;
mod versions_4;
mod versions_5;
mod versions_6;
mod versions_7;

use crate::workspace::{Outcome, Workspace};
use program::Ground;
use std::path::PathBuf;

/// What `cargo xtask prove` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The proof, e.g. path.10, or an issue for all of its proofs, e.g. path
    name: String,
    /// A release binary to prove instead of building this checkout's
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// How long each fuzz target of path.7 runs; the proof asks for 600
    #[arg(long, value_name = "SECONDS", default_value_t = program::FUZZ_SECONDS)]
    fuzz_seconds: u64,
    /// The part of the rows, transactions and kills of log.5, log.6, versions.3, 4 and 7 to run;
    /// below 1 none passes
    #[arg(long, value_name = "PART", default_value_t = 1.0)]
    scale: f64,
}

/// One measured line of a proof.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) figure: String,
    pub(crate) limit: String,
    pub(crate) pass: bool,
}

/// Runs a proof's scenario and tells what came out.
type Measure = fn(&Ground<'_>) -> Outcome<Vec<Figure>>;

struct Proof {
    issue: &'static str,
    number: u32,
    title: &'static str,
    run: Measure,
}

const fn built(number: u32, title: &'static str, run: Measure) -> Proof {
    Proof { issue: "path", number, title, run }
}

const fn query(number: u32, title: &'static str, run: Measure) -> Proof {
    Proof { issue: "query", number, title, run }
}

const fn versions(number: u32, title: &'static str, run: Measure) -> Proof {
    Proof { issue: "versions", number, title, run }
}

const fn log(number: u32, title: &'static str, run: Measure) -> Proof {
    Proof { issue: "log", number, title, run }
}

const fn truth(number: u32, title: &'static str, run: Measure) -> Proof {
    Proof { issue: "truth", number, title, run }
}

/// Every proof that an issue asks for.
const PROOFS: &[Proof] = &[
    built(
        1,
        "the one-row story through go-sqlcmd and the shell: one page, one row, no ghosts",
        path_1::run,
    ),
    built(
        2,
        "CPU per transaction of the one-row loop, and its last tenth against its first",
        path_2::run,
    ),
    built(3, "durability under simulated and real crashes; planted damage; mutations", path_3::run),
    built(4, "a table of 1 GB under 128 MB of memory", path_4::run),
    built(5, "500 clients: memory of each, and attention in time", path_5::run),
    built(6, "isolation by anomalies; deadlocks", path_6::run),
    built(7, "fuzzing without panic, hang or leak", path_7::run),
    built(8, "start-up times and the size of the binary", path_8::run),
    built(9, "durable and delayed transactions beside the peers", path_9::run),
    built(10, "the house: layers, tidy, sizes, assertions, READMEs", path_10::run),
    query(1, "joins, sorts and distinct values beyond 128 MB, beside PostgreSQL", query_1::run),
    query(2, "rows met once and found quickly", query_2::run),
    query(3, "seven queries over tables like TPC-H's, beside PostgreSQL", query_3::run),
    query(4, "random queries: one answer by every plan", query_4::run),
    query(5, "random queries: PostgreSQL's answers", query_5::run),
    query(6, "estimates, chosen plans beside forced orders, time to choose", query_6::run),
    query(7, "the rules that surprise, each from its source", query_7::run),
    query(8, "the parser's speed; the memory of kept plans", query_8::run),
    versions(1, "the one-row story under each rule of cleanup", versions_1::run),
    versions(2, "what readers cost writers, alone and beside open snapshots", versions_2::run),
    versions(3, "a queue table beside an open snapshot", versions_3::run),
    versions(4, "chains, tempdb and the commit table do not grow", versions_4::run),
    versions(5, "every snapshot reads its moment, in random histories", versions_5::run),
    versions(6, "crashes with versioning on, off and switched", versions_6::run),
    versions(7, "what versioning costs a scan of rows without versions", versions_7::run),
    log(1, "what transactions of one row wait for, write, and leave behind", log_1::run),
    log(2, "what a row costs the log, and the log a row", log_2::run),
    log(3, "many sessions at one end of one index", log_3::run),
    log(4, "fill factors: full, with room, and as AUTO chooses", log_4::run),
    log(5, "crashes while log and indexes change their shape, and on a full disk", log_5::run),
    log(6, "a killed update of five million rows, and its rollback, beside the peers", log_6::run),
    log(7, "fn_dblog over a million records", log_7::run),
    truth(1, "data that could be lost or wrong", truth::first),
    truth(2, "errors that clients never saw, or should not have", truth::second),
    truth(3, "a server that stays up and within its memory", truth::third),
    truth(4, "edges of the language that stopped scripts", truth::fourth),
];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let chosen = select(&options.name)?;
    let mut ground = Ground::new(workspace, options.binary.clone());
    ground.fuzz_seconds = options.fuzz_seconds;
    ground.scale = options.scale;
    if let Ok(load) = std::fs::read_to_string("/proc/loadavg") {
        let now = load.split(' ').next().unwrap_or_default();
        println!("load average {now}; what is measured in time asks for a quiet machine");
    }
    let mut passed = 0;
    for proof in &chosen {
        println!("{}.{}  {}", proof.issue, proof.number, proof.title);
        if prove(&ground, proof) {
            passed += 1;
        }
    }
    println!("{} proofs, {passed} passed, {} failed", chosen.len(), chosen.len() - passed);
    Ok(passed == chosen.len())
}

fn select(name: &str) -> Outcome<Vec<&'static Proof>> {
    let matches =
        |proof: &&Proof| name == proof.issue || name == format!("{}.{}", proof.issue, proof.number);
    let chosen: Vec<&Proof> = PROOFS.iter().filter(matches).collect();
    if chosen.is_empty() {
        let known: Vec<String> =
            PROOFS.iter().map(|proof| format!("{}.{}", proof.issue, proof.number)).collect();
        return Err(format!("there is no proof {name}; there are {}", known.join(", ")));
    }
    Ok(chosen)
}

/// Runs one proof and prints it; true where every figure passed and there was one.
fn prove(ground: &Ground<'_>, proof: &Proof) -> bool {
    match (proof.run)(ground) {
        Ok(figures) => {
            for Figure { what, figure, limit, pass } in &figures {
                let verdict = if *pass { "pass" } else { "FAIL" };
                println!("  {verdict}  {what}: {figure} (limit: {limit})");
            }
            !figures.is_empty() && figures.iter().all(|figure| figure.pass)
        }
        Err(trouble) => {
            println!("  FAIL  {trouble}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name selects one proof or an issue's; an unknown one is an error, never an empty pass.
    #[test]
    fn selection() {
        let numbers = |name: &str| {
            select(name).map(|found| found.iter().map(|proof| proof.number).collect::<Vec<_>>())
        };
        assert_eq!(numbers("path.1"), Ok(vec![1]));
        assert_eq!(numbers("path.10"), Ok(vec![10]));
        assert_eq!(numbers("path"), Ok((1..=10).collect()));
        assert!(numbers("path.11").is_err());
        assert!(numbers("").is_err());
    }
}
