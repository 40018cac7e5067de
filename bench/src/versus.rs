//! Two builds of Ghostlight on the same work, in turns: whether the later one costs more. Measured
//! is the CPU time of the server, since what the disk does has no part in it.
//!
//! Both servers stand side by side and take turns, so that a disturbance of the machine meets both;
//! a figure is the median of the ratios of the pairs.

use crate::engine::{Durability, Engine, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight::{self, Ghostlight};
use crate::{w1, w8};
use std::path::Path;

/// More than this of the earlier build's cost is a regression.
const RATIO_MAX: f64 = 1.02;
const W1_TRANSACTIONS: u64 = 123_456;
const W2_ROWS: u64 = 60_000;
const W9_TRANSACTIONS: u64 = 20_000;
const W9_SESSIONS: usize = 8;
/// 1.2 million line items.
const W8_SCALE: f64 = 0.2;

/// The builds that are compared.
pub(crate) struct Builds<'a> {
    pub(crate) now: &'a Path,
    pub(crate) before: &'a Path,
}

/// What is done to a server before it is measured, and what is measured.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&mut Ghostlight) -> Outcome<()>,
    run: fn(&mut Ghostlight) -> Outcome<()>,
}

pub(crate) const WORKLOADS: [Workload; 5] = [
    Workload {
        name: "w1, the hot row found by a scan",
        prepare: |server| server.run(&counted_script(server, "w1_scan")?),
        run: hot_row,
    },
    Workload {
        name: "w1, the hot row found by its key",
        prepare: |server| server.run(&counted_script(server, "w1_seek")?),
        run: hot_row,
    },
    Workload {
        name: "w2, inserts of one row with five indexes",
        prepare: |server| server.run(&server.script("w2")?),
        run: |server| server.run(&format!("exec add_persons {W2_ROWS}")),
    },
    Workload {
        name: "w8, seven queries, one thread",
        prepare: |server| w8::load(server, W8_SCALE),
        run: w8::ask_all,
    },
    Workload {
        name: "w9, eight loops of TPC-B-like transactions",
        prepare: |server| server.run(&server.script("w9")?),
        run: |server| {
            let each = format!("exec tpcb_loop {W9_TRANSACTIONS}");
            server.run_together(&vec![each; W9_SESSIONS]).map(drop)
        },
    },
];

/// The loop looks for keys from 0 on, so the row goes back there first.
fn hot_row(server: &mut Ghostlight) -> Outcome<()> {
    server.run("update test set id = 0")?;
    server.run(w1::engine_loop("Ghostlight"))
}

fn counted_script(server: &Ghostlight, name: &str) -> Outcome<String> {
    Ok(server.script(name)?.replace("{n}", &W1_TRANSACTIONS.to_string()))
}

pub(crate) fn run(
    builds: &Builds<'_>,
    folder: &Path,
    repetitions: usize,
    only: &str,
) -> Outcome<Vec<Figure>> {
    let chosen = WORKLOADS.iter().filter(|workload| workload.name.starts_with(only));
    chosen.map(|workload| compare(workload, builds, folder, repetitions)).collect()
}

fn compare(
    workload: &Workload,
    builds: &Builds<'_>,
    folder: &Path,
    repetitions: usize,
) -> Outcome<Figure> {
    let start = |binary, name: &str| {
        let (folder, durability) = (folder.join(name), Durability::Delayed);
        ghostlight::start_server(&Start { binary, folder: &folder, durability, memory_mb: None })
    };
    let servers = [start(builds.now, "now")?, start(builds.before, "before")?];
    let ratio = workload.ratio(servers, ["now", "before"], repetitions)?;
    Ok(Figure {
        what: format!("{}: CPU against the build before, median of {repetitions}", workload.name),
        figure: format!("{ratio:.3}"),
        limit: format!("at most {RATIO_MAX}"),
        pass: ratio <= RATIO_MAX,
    })
}

impl Workload {
    /// The CPU of the first server against that of the second, which take turns; the median of the
    /// ratios of the pairs. Each run is printed.
    pub(crate) fn ratio(
        &self,
        mut servers: [Ghostlight; 2],
        names: [&str; 2],
        repetitions: usize,
    ) -> Outcome<f64> {
        for server in &mut servers {
            (self.prepare)(server)?;
            // What is compiled and read the first time is no part of the cost.
            (self.run)(server)?;
        }
        let mut ratios = Vec::new();
        let mut costs = [Vec::new(), Vec::new()];
        for repetition in 0..repetitions {
            // The two servers take the first place in turns: what the first run does to the
            // machine meets both.
            for which in [repetition % 2, 1 - repetition % 2] {
                let server = &mut servers[which];
                let before = server.cpu_seconds();
                (self.run)(server)?;
                costs[which].push(server.cpu_seconds() - before);
            }
            ratios.push(costs[0][repetition] / costs[1][repetition].max(1e-6));
        }
        for (name, costs) in names.iter().zip(&costs) {
            let told: Vec<String> = costs.iter().map(|cost| format!("{:.0}", cost * 1e3)).collect();
            println!("{}: {name} {} ms", self.name, told.join(" "));
        }
        Ok(median(ratios))
    }
}
