//! The harness, on a journal of a hundred lines: the right one passes, each fault is caught.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use os::disk::{Disk as _, File, OpenMode};
use os::sync::Mutex;
use os::{stop, task};
use sim::harness::{Plan, crash_runs, try_crash_runs};
use sim::{Disk, DiskOptions};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "db";
const PATH: &str = "db/journal";
const RECORD: usize = 1024;

/// A fault to plant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    NoSync,
    NoSyncOfName,
    AckBeforeSync,
    NoChecksum,
    RecoveryKeepsTail,
}

/// What the workload was promised.
#[derive(Default)]
struct Oracle {
    begun: Mutex<BTreeSet<u64>>,
    acknowledged: Mutex<BTreeSet<u64>>,
}

struct Journal {
    file: Arc<dyn File>,
    end: Mutex<u64>,
    fault: Fault,
}

fn must<T>(result: std::io::Result<T>) -> T {
    result.unwrap_or_else(|e| stop::process(&e.to_string()))
}

fn sum(record: &[u8]) -> u64 {
    record[8..].iter().fold(17, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn record(at: u64, value: u64) -> Vec<u8> {
    let mut r = vec![value as u8; RECORD];
    r[8..16].copy_from_slice(&at.to_le_bytes());
    r[RECORD - 8..].copy_from_slice(&value.to_le_bytes());
    let s = sum(&r);
    r[..8].copy_from_slice(&s.to_le_bytes());
    r
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

impl Journal {
    fn create(disk: &Disk, fault: Fault) -> Journal {
        must(disk.create_dir(Path::new(DIR)));
        let file = must(disk.open(Path::new(PATH), OpenMode { create: true, direct: false }));
        if fault != Fault::NoSyncOfName {
            must(disk.sync_dir(Path::new(DIR)));
        }
        Journal { file, end: Mutex::new(0), fault }
    }

    /// Finds the valid prefix and cuts off what lies behind it.
    fn recover(disk: &Disk, fault: Fault) -> Option<(Journal, Vec<u64>)> {
        let file = match disk.open(Path::new(PATH), OpenMode { create: false, direct: false }) {
            Err(e) if e.kind() == ErrorKind::NotFound => return None,
            other => must(other),
        };
        let (mut values, mut end) = (Vec::new(), 0);
        let mut r = vec![0; RECORD];
        while file.read_at(&mut r, end).is_ok() {
            let valid = sum(&r) == number(&r[..8]) || fault == Fault::NoChecksum;
            if !valid || number(&r[8..16]) != end {
                break;
            }
            values.push(number(&r[RECORD - 8..]));
            end += RECORD as u64;
        }
        if fault != Fault::RecoveryKeepsTail {
            must(file.set_len(end));
            must(file.sync());
        }
        Some((Journal { file, end: Mutex::new(end), fault }, values))
    }

    /// Appends durably; false when there is no room.
    fn append(&self, value: u64, acknowledge: impl Fn()) -> bool {
        let mut end = self.end.lock();
        match self.file.write_at(&record(*end, value), *end) {
            Ok(()) => *end += RECORD as u64,
            Err(e) if e.kind() == ErrorKind::StorageFull => return false,
            Err(e) => stop::process(&e.to_string()),
        }
        drop(end);
        if self.fault == Fault::AckBeforeSync {
            acknowledge();
        }
        if self.fault != Fault::NoSync {
            must(self.file.sync());
        }
        acknowledge();
        true
    }
}

fn workload(disk: &Disk, promised: &Arc<Oracle>, fault: Fault) {
    let journal = Arc::new(Journal::create(disk, fault));
    let tasks: Vec<_> = (0..4_u64)
        .map(|t| {
            let (journal, promised) = (Arc::clone(&journal), Arc::clone(promised));
            task::spawn(&format!("session{t}"), move || {
                for i in 0..5 {
                    let value = t * 100 + i + 1;
                    promised.begun.lock().insert(value);
                    journal.append(value, || {
                        promised.acknowledged.lock().insert(value);
                    });
                }
            })
        })
        .collect();
    for t in tasks {
        t.join().unwrap();
    }
}

fn verify(disk: &Disk, promised: &Oracle, fault: Fault) {
    let acknowledged = promised.acknowledged.lock().clone();
    let Some((journal, values)) = Journal::recover(disk, fault) else {
        assert!(acknowledged.is_empty(), "the journal is gone");
        return;
    };
    let values: BTreeSet<u64> = values.into_iter().filter(|&v| v < 1000).collect();
    let lost: Vec<_> = acknowledged.difference(&values).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let begun = promised.begun.lock().clone();
    let unknown: Vec<_> = values.difference(&begun).collect();
    assert!(unknown.is_empty(), "nobody wrote {unknown:?}");
    // It can be written again; what stood behind the end must not come back.
    let before = *journal.end.lock();
    journal.append(1000, || ());
    let (_, again) = Journal::recover(disk, fault).expect("it was there");
    assert!(again.len() as u64 <= before / RECORD as u64 + 1, "old records came back");
}

fn plan() -> Plan {
    Plan { seeds: 0..25, cases: 20, ..Plan::default() }
}

fn run(plan: &Plan, fault: Fault) -> Result<sim::harness::Counts, String> {
    try_crash_runs(
        plan,
        |disk, _seed, promised: Arc<Oracle>| workload(&disk, &promised, fault),
        |disk, promised| verify(&disk, &promised, fault),
    )
}

#[test]
fn a_journal_that_keeps_the_rules_survives_nested_crashes() {
    let disk =
        DiskOptions { refuse_space_one_in: 20, fail_sync_one_in: 60, ..DiskOptions::default() };
    let plan = Plan { disk, ..plan() };
    let count = || {
        crash_runs(
            &plan,
            |disk, _seed, promised: Arc<Oracle>| workload(&disk, &promised, Fault::None),
            |disk, promised| verify(&disk, &promised, Fault::None),
        )
    };
    let counts = count();
    println!("{counts:?}");
    assert!(counts.crash_points() > 500 && counts.kills > 10, "{counts:?}");
    assert!(counts.crashes[1] > 100 && counts.crashes[2] > 30, "{counts:?}");
    assert!(counts.stops > 0 && counts.refusals > 0, "{counts:?}");
    assert_eq!(count(), counts, "the plan reproduces");
}

#[test]
fn each_planted_fault_is_caught_and_its_line_reproduces() {
    for (fault, message) in [
        (Fault::NoSync, "acknowledged and lost"),
        (Fault::NoSyncOfName, "the journal is gone"),
        (Fault::AckBeforeSync, "acknowledged and lost"),
        (Fault::NoChecksum, "nobody wrote"),
        (Fault::RecoveryKeepsTail, "old records came back"),
    ] {
        let one = Plan { threads: 1, ..plan() };
        let text = run(&one, fault).expect_err("the fault is caught");
        assert!(text.starts_with("seed=") && text.contains(message), "{text}");
        assert!(text.contains("crash_op=") && text.contains("last events:\n"), "{text}");
        assert_eq!(run(&one, fault).expect_err("again"), text, "the failure reproduces");
    }
}
