//! Slice (a): random page groups survive every crash, crashes during recovery included.
//!
//! `GHOSTLIGHT_CRASH_SEEDS=0..100` runs that many seeds (some 25 crash points each).
#![allow(clippy::unwrap_used, clippy::disallowed_types, reason = "a test may fail; see Oracle")]

mod db;
mod handler;
mod model;
mod work;

use crate::db::Fault;
use crate::model::Oracle;
use crate::work::Work;
use sim::DiskOptions;
use sim::harness::{Counts, Plan, try_crash_runs};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What the disk has room for: not for both files at their largest.
pub(crate) const CAPACITY_BYTES: u64 = 9 << 19;

struct Session<'a> {
    disk: &'a sim::Disk,
    oracle: &'a Arc<Oracle>,
    fault: Fault,
    /// Whether another program fills the disk meanwhile.
    shared: bool,
}

impl Session<'_> {
    fn run(&self, tasks: u64, steps: u64) {
        let Session { disk, oracle, fault, shared } = *self;
        let work = Work::new(db::open(disk, oracle, fault), oracle, shared.then(|| disk.clone()));
        work.finish_recovery();
        work.run(tasks, steps);
    }
}

fn workload(disk: &sim::Disk, oracle: &Arc<Oracle>, fault: Fault) {
    if db::create(disk, fault) {
        oracle.set_created();
        for _ in 0..6 {
            disk.refuse_space_at(disk.operations() + os::entropy::random_u64() % 600);
        }
        if os::entropy::random_u64().is_multiple_of(4) {
            // The process stops itself over it, and what was not synced is anything.
            disk.fail_sync_at(disk.operations() + os::entropy::random_u64() % 400);
        }
        let session = Session { disk, oracle, fault, shared: fault.is_none() };
        session.run(4, 60);
        // The process ends without a checkpoint, another begins on what is there.
        session.run(4, 30);
    }
}

fn verify(disk: &sim::Disk, oracle: &Arc<Oracle>, fault: Fault) {
    if oracle.created() {
        // A crash in a full disk leaves it full.
        let full = disk.used_bytes() >= disk.capacity_bytes();
        work::COVERED.started_full.fetch_add(u64::from(full), Relaxed);
        Session { disk, oracle, fault, shared: false }.run(3, 4);
    }
}

fn run(seeds: Range<u64>, cases: u64, fault: Fault) -> Result<Counts, String> {
    let disk = DiskOptions { capacity_bytes: CAPACITY_BYTES, ..DiskOptions::default() };
    let plan = Plan { seeds, cases, depth: 3, disk, ..Plan::default() };
    try_crash_runs(
        &plan,
        |disk, _seed, oracle: Arc<Oracle>| workload(&disk, &oracle, fault),
        |disk, oracle| verify(&disk, &oracle, fault),
    )
}

fn seeds() -> Range<u64> {
    let text = std::env::var("GHOSTLIGHT_CRASH_SEEDS").unwrap_or_else(|_| "0..24".to_owned());
    let (from, to) = text.split_once("..").expect("a range of seeds");
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn random_page_groups_survive_nested_crashes() {
    let seeds = seeds();
    let n = seeds.end - seeds.start;
    let counts = run(seeds, 25, None).unwrap_or_else(|e| panic!("{e}"));
    println!("{} crash points, {counts:?}", counts.crash_points());
    println!("{:?}", work::COVERED);
    if std::env::var(sim::harness::REPLAY).is_err() {
        assert!(counts.crash_points() >= n * 20 && counts.crashes[2] > 0, "{counts:?}");
        let half = work::COVERED.half_grown.load(Relaxed);
        assert!(half > n, "{half} crashes while the log grew");
        let both = work::COVERED.both_refused.load(Relaxed);
        assert!(both > n / 2, "{both} times both files could not grow");
        let full = work::COVERED.started_full.load(Relaxed);
        assert!(full > n, "{full} starts on a full disk");
    }
}

/// Each planted fault is caught, and within this many crash points; log.5 reads these lines.
#[cfg(feature = "mutations")]
#[test]
fn each_mutation_is_caught_within_500_crash_points() {
    let of_pages = ["doublewrite", "write-ahead", "group-end"];
    let of_log = ["log-sync", "group-tail", "early-reuse", "reserve"];
    for fault in of_pages.into_iter().chain(of_log) {
        let began = os::clock::monotonic_ns();
        let caught = (0..20).find_map(|seed| {
            let failed = run(seed..seed + 1, 12, Some(fault)).err();
            failed.map(|text| (seed, text.lines().next().unwrap_or_default().to_owned()))
        });
        let seconds = (os::clock::monotonic_ns() - began) as f64 / 1e9;
        let (seed, line) = caught.unwrap_or_else(|| panic!("{fault} is not caught"));
        // A seed has 12 cases of at most 3 crash points.
        assert!(seed < 13, "{fault} is caught too late, with {seed}");
        println!("\nmutation {fault}: {seconds:.1} s, random page groups: {line}");
    }
}
