//! `bench`: Ghostlight and its peers on the same workloads, one after the other in one run.
//!
//! Every engine that is installed takes part; one that is absent is named as absent. What is
//! measured stands in README.md; the scripts are in sql/. `cargo xtask prove` runs them.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "bench is a tool beside the engine: no simulator schedules it or tears its files"
)]

mod accelerated;
mod bulk_load;
mod connection;
mod disk;
mod engine;
mod figure;
mod ghostlight;
mod held;
mod load;
mod lookups;
mod mariadb;
mod mariadb_wire;
mod pair;
mod persons;
mod plans;
mod postgresql;
mod postgresql_wire;
mod process;
mod python;
mod queue;
mod sets;
mod tpch;
mod versus;
mod w1;
mod w2;
mod w3;
mod w8;
mod w9;
mod wire;

use clap::{Parser, Subcommand};
use engine::{Durability, Start};
use figure::Figure;
use std::path::PathBuf;
use std::process::ExitCode;

/// The binary's, so that the parser allocates here as it does there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "bench", about = "Ghostlight and its peers on the same workloads")]
struct Line {
    /// The ghostlight binary
    #[arg(long, default_value = "target/ship/ghostlight")]
    binary: PathBuf,
    /// Where databases are made; emptied
    #[arg(long, default_value = "target/bench")]
    folder: PathBuf,
    #[command(subcommand)]
    choice: Choice,
}

#[derive(Subcommand)]
enum Choice {
    /// One row, its key updated 123,456 times: CPU of a transaction
    W1 {
        #[arg(long, default_value_t = 123_456)]
        transactions: u64,
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// The same beside an open snapshot: how much dearer it becomes
    Held {
        #[arg(long, default_value_t = 123_450)]
        transactions: u64,
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Single-row inserts into a table with five secondary indexes, durable, by a compiled client
    W2 {
        /// Of each run
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
        /// This engine alone
        #[arg(long)]
        engine: Option<String>,
        /// Only cases whose line begins so, as in "durable, clients, 8"
        #[arg(long, default_value = "")]
        only: String,
    },
    /// An update of every row: killed before its commit, and rolled back
    W3 {
        #[arg(long, default_value_t = 5_000_000)]
        rows: u64,
        #[arg(long, default_value_t = 1)]
        repetitions: usize,
        /// This engine alone
        #[arg(long)]
        engine: Option<String>,
        /// With accelerated recovery in Ghostlight's database
        #[arg(long)]
        accelerated: bool,
    },
    /// Seven queries over tables like TPC-H's, beside PostgreSQL
    W8 {
        /// 1 is 6 million line items
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
        /// One query alone, as in "q13"
        #[arg(long)]
        only: Option<String>,
    },
    /// TPC-B-like: 1, 8 and 32 sessions, durable and delayed, loops in the server and clients
    W9 {
        /// Of each case
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
        /// This engine alone
        #[arg(long)]
        engine: Option<String>,
        /// Only cases whose line begins so, as in "delayed, clients, 8"
        #[arg(long, default_value = "")]
        only: String,
    },
    /// A join, sorts and a count of distinct values beyond the memory that there is
    Sets {
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Point lookups in 10 million rows
    Lookups {
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Runs a command beside PostgreSQL, which its clients find by PGHOST and the like
    Beside {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
    /// The parser's speed, and the memory of 10,000 kept plans
    Plans {
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// A table as a queue, eight producers and eight consumers, beside an open snapshot
    Queue {
        #[arg(long, default_value_t = 1_000_000)]
        rows: i64,
    },
    /// This build and an earlier one in turns, by CPU: w1, w2, w8, w9
    Versus {
        /// The earlier ghostlight binary
        #[arg(long)]
        before: PathBuf,
        #[arg(long, default_value_t = 7)]
        repetitions: usize,
        /// Only workloads whose name begins so, as in "w9"
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Accelerated recovery on and off in turns, by CPU: w1, w2, w9; by throughput: durable w9
    Accelerated {
        /// Of each run of durable clients
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
    },
    /// Two sessions that update different tables in memory, against one
    Pair {
        #[arg(long, default_value_t = 500_000)]
        updates: u64,
        #[arg(long, default_value_t = 7)]
        repetitions: usize,
    },
}

fn main() -> ExitCode {
    let line = Line::parse();
    let (binary, folder) = (&line.binary, &line.folder);
    let outcome = match line.choice {
        Choice::W1 { transactions, repetitions } => {
            w1::run(binary, folder, transactions, repetitions)
        }
        Choice::Held { transactions, repetitions } => {
            held::run(binary, folder, transactions, repetitions)
        }
        Choice::W2 { seconds, repetitions, engine, only } => {
            let choice = w2::Choice { seconds, repetitions, engine, only };
            w2::run(binary, folder, &choice)
        }
        Choice::W3 { rows, repetitions, engine, accelerated } => {
            w3::run(binary, folder, &w3::Choice { rows, repetitions, engine, accelerated })
        }
        Choice::W8 { scale, repetitions, only } => {
            w8::run(binary, folder, &w8::Choice { scale, repetitions, only })
        }
        Choice::W9 { seconds, repetitions, engine, only } => {
            let choice = w9::Choice { engine, only };
            w9::run(binary, folder, (seconds, repetitions), &choice)
        }
        Choice::Sets { repetitions } => sets::run(binary, folder, repetitions),
        Choice::Lookups { repetitions } => lookups::run(binary, folder, repetitions),
        Choice::Beside { command } => {
            let durability = Durability::Delayed;
            let start = Start { binary, folder, durability, memory_mb: None };
            postgresql::beside(&start, &command).map(|()| Vec::new())
        }
        Choice::Plans { repetitions } => plans::run(binary, folder, repetitions),
        Choice::Queue { rows } => queue::run(binary, folder, rows),
        Choice::Versus { before, repetitions, only } => {
            let builds = versus::Builds { now: binary, before: &before };
            versus::run(&builds, folder, repetitions, &only)
        }
        Choice::Accelerated { seconds, repetitions } => {
            accelerated::run(binary, folder, seconds, repetitions)
        }
        Choice::Pair { updates, repetitions } => pair::run(binary, folder, updates, repetitions),
    };
    match outcome {
        Ok(figures) => {
            figures.iter().for_each(Figure::print);
            ExitCode::SUCCESS
        }
        Err(trouble) => {
            eprintln!("bench: {trouble}");
            ExitCode::FAILURE
        }
    }
}
