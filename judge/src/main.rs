//! `judge`: trials of random statements from the command line.

#![allow(clippy::disallowed_methods, reason = "a program beside the engine")]

use clap::Parser;
use judge::second;
use judge::trial::{self, Report};
use std::process::ExitCode;

/// The binary's, as the engine runs within it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Random statements, answered by every plan and by a second engine.
#[derive(Parser)]
struct Options {
    /// The first trial's seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many trials; each has its own data set
    #[arg(long, default_value_t = 10)]
    trials: u64,
    /// Statements of a trial
    #[arg(long, default_value_t = 1000)]
    statements: u64,
    /// One statement of one trial, printed in every form that is asked
    #[arg(long, conflicts_with_all = ["trials", "second"])]
    number: Option<u64>,
    /// Stop after so many findings
    #[arg(long, default_value_t = 20)]
    findings: usize,
    /// Compare with PostgreSQL, where psql finds it by PGHOST, PGPORT and PGUSER
    #[arg(long)]
    second: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut all = Report::default();
    let trials = if options.number.is_some() { 1 } else { options.trials };
    for n in 0..trials {
        let seed = options.seed + n;
        let ran = match (options.number, options.second) {
            (Some(number), _) => trial::run_one(seed, number),
            (None, false) => trial::run(seed, options.statements),
            (None, true) => second::compare(seed, options.statements),
        };
        match ran {
            Ok(report) => {
                report.findings.iter().for_each(show);
                all.add(report);
                eprintln!("trial {seed}: {} findings so far", all.findings.len());
            }
            Err(what) => {
                println!("trial {seed}: {what}");
                return ExitCode::FAILURE;
            }
        }
        if all.findings.len() >= options.findings {
            break;
        }
    }
    for (what, n) in &all.refused {
        println!("refused {n} times: {what}");
    }
    println!(
        "statements {} runs {} answered {} with rows {} too long {} partitions {} \
         changes {} refused {} findings {}",
        all.statements,
        all.runs,
        all.answered,
        all.with_rows,
        all.too_long,
        all.partitions,
        all.changes,
        all.refused.values().sum::<u64>(),
        all.findings.len()
    );
    if all.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(f: &trial::Finding) {
    println!("FINDING seed {} number {}", f.seed, f.number);
    println!("  {}\n  expected {}\n  came     {}", f.statement, f.expected, f.came);
}
