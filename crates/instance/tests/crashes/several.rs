//! Transactions over several databases: whatever crash comes, each is there in all of them or in
//! none, and those that were answered are there. One database has delayed durability forced, logs
//! are short, and checkpoints come in between.

use crate::heard::Response;
use crate::simulated::{Random, login};
use crate::verify::wants_space;
use crate::{ATTEMPTS, insist, options, verify};
use instance::{Instance, InstanceOptions};
use os::sync::Mutex;
use session::Session;
use sim::DiskOptions;
use sim::harness::{Counts, Plan, try_crash_runs};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(feature = "mutations")]
use txn::Mutation;

const NAMES: [&str; 3] = ["a", "b", "c"];
const SESSIONS: i64 = 4;
const TRANSACTIONS: i64 = 12;

/// What was promised: by number the databases of a transaction, and whether it was answered.
#[derive(Default)]
struct Ledger {
    made: AtomicBool,
    asked: Mutex<BTreeMap<i64, (u64, bool)>>,
}

fn small(seed: u64) -> InstanceOptions {
    let mut options = options(seed);
    options.sizing.log.initial_bytes = 512 << 10;
    options
}

fn open(disk: &Arc<sim::Disk>, seed: u64) -> Arc<Instance> {
    let all =
        |instance: &Instance| NAMES.iter().all(|name| instance.database_by_name(name).is_some());
    let mut instance = verify::open(disk, small(seed), false);
    for _ in 0..ATTEMPTS {
        if all(&instance) {
            break;
        }
        instance.stop().expect("what is open is closed");
        instance = verify::open(disk, small(seed), false);
    }
    instance
}

fn make(instance: &Instance, ledger: &Ledger) {
    let mut session = instance.connect(login("")).unwrap();
    for name in NAMES {
        insist(&mut session, &format!("CREATE DATABASE {name}"));
        let table = "(id int NOT NULL PRIMARY KEY, filler char(400) NOT NULL)";
        insist(&mut session, &format!("CREATE TABLE {name}.dbo.S {table}"));
    }
    insist(&mut session, "ALTER DATABASE b SET DELAYED_DURABILITY = FORCED");
    ledger.made.store(true, Relaxed);
}

fn transaction(session: &mut Session, ledger: &Ledger, r: &mut Random, id: i64) {
    let mask = 1 + r.below(7);
    let mut text = "SET XACT_ABORT ON; BEGIN TRANSACTION".to_owned();
    let first = r.below(3) as usize;
    for (i, name) in (0..3).map(|n| (first + n) % 3).map(|i| (i, NAMES[i])) {
        if mask >> i & 1 == 1 {
            text += &format!("; INSERT {name}.dbo.S VALUES ({id}, '{name}')");
        }
    }
    if r.below(4) == 0 {
        text += "; CREATE TABLE #t (i int); INSERT #t VALUES (1); DROP TABLE #t";
    }
    let commits = r.below(8) > 0;
    text += if commits { "; COMMIT" } else { "; ROLLBACK" };
    if commits {
        ledger.asked.lock().insert(id, (mask, false));
    }
    let answer = Response::ask(session, &text);
    match answer.error() {
        None if commits => drop(ledger.asked.lock().insert(id, (mask, true))),
        None => {}
        Some(e) => {
            assert!(wants_space(e), "{text}: {e:?}");
            Response::ask(session, "IF @@TRANCOUNT > 0 ROLLBACK");
            ledger.asked.lock().remove(&id);
        }
    }
}

fn work(instance: &Arc<Instance>, ledger: &Ledger, number: i64, seed: u64) {
    let mut r = Random(seed ^ (number as u64) << 32);
    let mut session = instance.connect(login("")).expect("a session");
    for t in 1..=TRANSACTIONS {
        transaction(&mut session, ledger, &mut r, number * 1000 + t);
        if r.below(3) == 0 {
            let name = NAMES[r.below(3) as usize];
            Response::ask(&mut session, &format!("USE {name}; CHECKPOINT"));
        }
    }
}

fn workload(disk: Arc<sim::Disk>, seed: u64, ledger: Arc<Ledger>, plant: fn(&Instance)) {
    let instance = verify::open(&disk, small(seed), false);
    make(&instance, &ledger);
    plant(&instance);
    let session = |number: i64| {
        let (instance, ledger) = (Arc::clone(&instance), Arc::clone(&ledger));
        os::task::spawn(&format!("session {number}"), move || {
            work(&instance, &ledger, number, seed);
        })
    };
    let tasks: Vec<_> = (1..=SESSIONS).map(session).collect();
    for task in tasks {
        if let Err(panic) = task.join() {
            std::panic::resume_unwind(panic);
        }
    }
    look(&instance, &ledger);
    let _ = instance.stop();
}

fn look(instance: &Instance, ledger: &Ledger) {
    let mut session = instance.connect(login("")).expect("a session");
    let mut found: BTreeMap<i64, u64> = BTreeMap::new();
    for (i, name) in NAMES.iter().enumerate() {
        let text = format!("SELECT id FROM {name}.dbo.S");
        for id in Response::numbers(&mut session, &text).into_iter().flatten() {
            *found.entry(id).or_default() |= 1 << i;
        }
    }
    let asked = ledger.asked.lock();
    for (id, mask) in &found {
        let promised = asked.get(id).unwrap_or_else(|| panic!("{id} never asked to commit")).0;
        assert_eq!(promised, *mask, "transaction {id} is there in part");
    }
    for (id, (mask, answered)) in asked.iter() {
        // What is in b alone is delayed.
        let durable = *answered && *mask != 2;
        assert!(!durable || found.contains_key(id), "{id} was answered and is lost: {mask:b}");
    }
}

fn run(seeds: Range<u64>, plant: fn(&Instance)) -> Result<Counts, String> {
    let plan = Plan {
        seeds,
        cases: 10,
        depth: 3,
        disk: DiskOptions { refuse_space_one_in: 40, ..DiskOptions::default() },
        ..Plan::default()
    };
    let verify = |disk, ledger: Arc<Ledger>| {
        if ledger.made.load(Relaxed) {
            let instance = open(&disk, 1);
            look(&instance, &ledger);
            instance.stop().expect("a recovered instance stops");
        }
    };
    try_crash_runs(&plan, |d, seed, l| workload(d, seed, l, plant), verify)
}

#[test]
fn a_transaction_over_several_databases_is_there_in_all_or_in_none() {
    let cases = if std::env::var_os("GHOSTLIGHT_LONG").is_some() { 1000 } else { 30 };
    let counts = run(0..cases / 10, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    println!("{} crash points, {counts:?}", counts.crash_points());
}

#[cfg(feature = "mutations")]
#[test]
fn who_does_not_prepare_and_who_keeps_no_decision_is_caught() {
    let plants: [(&str, fn(&Instance)); 2] = [
        ("unprepared", |i| i.plant(Mutation::Unprepared)),
        ("unkept", |i| i.plant(Mutation::DecisionUnkept)),
    ];
    for (name, plant) in plants {
        let caught = (0..20).find_map(|seed| Some((seed, run(seed..seed + 1, plant).err()?)));
        let (seed, text) = caught.unwrap_or_else(|| panic!("{name} is not caught"));
        println!("{name}, seed {seed}: {}", text.lines().next().unwrap_or_default());
    }
}
