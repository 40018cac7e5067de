//! Accelerated recovery on and off in one build, the two servers side by side and in turns: CPU of
//! the workloads of `versus`, and the throughput of durable clients of W9.

use crate::engine::{Durability, Engine as _, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight::{self, Ghostlight};
use crate::versus::{WORKLOADS, Workload};
use std::path::Path;

/// Workloads, by the begin of their names, and the most CPU against off.
const CPU_TIMES_MAX: [(&str, f64); 3] = [("w1", 1.2), ("w2", 1.2), ("w9", 1.2)];
const SESSIONS: [usize; 2] = [8, 32];
/// Of transactions a second, against off.
const THROUGHPUT_MIN: f64 = 0.95;
const ACCELERATE: &str = "alter database current set accelerated_database_recovery = on";

pub(crate) fn run(
    binary: &Path,
    folder: &Path,
    seconds: u64,
    repetitions: usize,
) -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, times) in CPU_TIMES_MAX {
        for workload in WORKLOADS.iter().filter(|workload| workload.name.starts_with(name)) {
            let servers = pair(binary, folder, Durability::Delayed)?;
            let ratio = workload.ratio(servers, ["on", "off"], repetitions)?;
            figures.push(Figure {
                what: format!("{}: CPU with accelerated recovery against off", workload.name),
                figure: format!("{ratio:.2} x"),
                limit: format!("{times} x"),
                pass: ratio <= times,
            });
        }
    }
    let mut servers = pair(binary, folder, Durability::Full)?;
    let w9 = WORKLOADS.iter().find(|workload| workload.name.starts_with("w9"));
    let w9: &Workload = w9.ok_or("there is no w9")?;
    servers.iter_mut().try_for_each(|server| (w9.prepare)(server))?;
    for sessions in SESSIONS {
        figures.push(durable(&mut servers, sessions, seconds, repetitions)?);
    }
    Ok(figures)
}

/// A server with accelerated recovery, and one without.
fn pair(binary: &Path, folder: &Path, durability: Durability) -> Outcome<[Ghostlight; 2]> {
    let start = |name: &str| {
        let folder = folder.join(name);
        ghostlight::start_server(&Start { binary, folder: &folder, durability, memory_mb: None })
    };
    let (mut on, off) = (start("on")?, start("off")?);
    on.run(ACCELERATE)?;
    Ok([on, off])
}

/// Transactions a second of durable clients; the median of the ratios of the pairs.
fn durable(
    servers: &mut [Ghostlight; 2],
    sessions: usize,
    seconds: u64,
    repetitions: usize,
) -> Outcome<Figure> {
    let mut rates = [Vec::new(), Vec::new()];
    for repetition in 0..repetitions {
        for which in [repetition % 2, 1 - repetition % 2] {
            rates[which].push(servers[which].call_together(sessions, seconds)?);
        }
    }
    for (name, rates) in ["on", "off"].iter().zip(&rates) {
        let told: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        println!("w9, durable, {sessions} clients: {name} {}", told.join(" "));
    }
    let [on, off] = &rates;
    let ratio = median(on.iter().zip(off).map(|(on, off)| on / off).collect());
    Ok(Figure {
        what: format!("w9, durable, {sessions} clients: throughput against off"),
        figure: format!("{ratio:.3}"),
        limit: format!("at least {THROUGHPUT_MIN}"),
        pass: ratio >= THROUGHPUT_MIN,
    })
}
