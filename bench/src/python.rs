//! Engines that are libraries, driven from Python: SQLite (its standard library has it) and
//! DuckDB where it is installed. Their CPU time includes Python's loop.

use crate::figure::Outcome;
use crate::process::{empty, output};
use std::path::Path;
use std::process::Command;

/// A library.
pub(crate) struct Library {
    pub(crate) name: &'static str,
    module: &'static str,
    program: &'static str,
    /// Its transactions cost much more: so many times fewer are run.
    pub(crate) fewer: u64,
}

pub(crate) const LIBRARIES: [Library; 2] = [
    Library {
        name: "SQLite",
        module: "sqlite3",
        program: include_str!("../sql/w1.sqlite.py"),
        fewer: 1,
    },
    Library {
        name: "DuckDB",
        module: "duckdb",
        program: include_str!("../sql/w1.duckdb.py"),
        fewer: 10,
    },
];

impl Library {
    /// Microseconds of CPU a transaction of W1; `None` where it is not installed.
    pub(crate) fn w1(&self, folder: &Path, transactions: u64) -> Outcome<Option<f64>> {
        let mut probe = python();
        probe.args(["-c", &format!("import {}", self.module)]);
        if output(probe).is_err() {
            return Ok(None);
        }
        let folder = empty(folder, None)?;
        let transactions = transactions / self.fewer;
        let mut command = python();
        command.args(["-c", self.program]).arg(folder.join("bench.db"));
        command.arg(transactions.to_string());
        let said = output(command)?;
        let seconds: f64 = said.trim().parse().map_err(|_| format!("{}: {said}", self.name))?;
        Ok(Some(seconds * 1e6 / transactions as f64))
    }
}

/// The interpreter: BENCH_PYTHON names one that has more engines than the system's.
fn python() -> Command {
    Command::new(std::env::var_os("BENCH_PYTHON").unwrap_or_else(|| "python3".into()))
}
