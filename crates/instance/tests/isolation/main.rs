//! Isolation as clients see it: sessions of every level read and change tables by all their
//! indexes, on a simulated machine that draws who goes on next, while one more switches options
//! of versions and locks. Every answer is held against a reference of versions.
//!
//! `GHOSTLIGHT_SEEDS=N` runs N seeds; `GHOSTLIGHT_SIM="seed=S case=0"` one of them.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![allow(clippy::disallowed_types, reason = "what is told outside of simulations")]

mod book;
mod driver;
#[path = "../heard/mod.rs"]
mod heard;
mod judge;
#[path = "../simulated/mod.rs"]
mod simulated;
mod story;
mod switch;
mod verify;

use book::{Book, Fate, Level, NOBODY};
use driver::Driver;
use heard::Response;
use instance::{Instance, InstanceOptions};
use session::Session;
use sim::Options;
use sim::harness::{Plan, try_crash_runs};
use simulated::{Random, login};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use story::Table;
use switch::Switcher;

const DATABASE: &str = "isolation";
/// Where `GHOSTLIGHT_SEEDS` says nothing.
const SEEDS: u64 = 60;
const SESSIONS: i64 = 7;
const TRANSACTIONS: i64 = 12;
/// Of the scheduler, ten times what a history needs: behind that all wait for each other.
const CALLS_MAX: u64 = 20_000_000;

/// Options that some seeds begin with: none, or one to all of these.
const AT_FIRST: [&str; 3] =
    ["ALLOW_SNAPSHOT_ISOLATION ON", "READ_COMMITTED_SNAPSHOT ON", "OPTIMIZED_LOCKING = ON"];

fn options() -> InstanceOptions {
    let mut options = InstanceOptions { max_memory_bytes: 12 << 20, ..InstanceOptions::default() };
    options.sizing.data_pages = 256;
    options
}

fn open(disk: Arc<sim::Disk>) -> Arc<Instance> {
    Instance::open(disk as Arc<dyn os::disk::Disk>, Path::new("/data"), options()).unwrap()
}

fn done(session: &mut Session, text: &str) {
    let heard = Response::ask(session, text);
    assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
}

/// Makes the database and puts what nobody's transaction has written.
fn make(instance: &Instance, seed: u64, tables: &[Table], book: &Book) {
    done(&mut instance.connect(login("")).unwrap(), &format!("CREATE DATABASE {DATABASE}"));
    let mut session = instance.connect(login(DATABASE)).unwrap();
    done(&mut session, "CREATE TABLE dbo.L (id bigint NOT NULL PRIMARY KEY)");
    done(&mut session, "INSERT dbo.L (id) VALUES (0)");
    done(&mut session, story::COUNTER_TABLES[(seed % 2) as usize]);
    for id in 1..=story::COUNTERS {
        done(&mut session, &format!("INSERT dbo.C (id, n, pad) VALUES ({id}, 0, '')"));
    }
    let mut page = book.open();
    page.tables = tables.to_vec();
    page.begin(NOBODY, Level::Committed, true);
    page.ask(NOBODY);
    let mut r = Random(seed);
    for table in tables {
        table.create().iter().for_each(|text| done(&mut session, text));
        for k in (0..story::KEYS).filter(|_| r.below(3) > 0).collect::<Vec<_>>() {
            let row = story::row(k, NOBODY, &mut r);
            page.touch(NOBODY, (table.at, k), false, NOBODY);
            page.note(NOBODY, (table.at, k), None, Some(row));
            let t = table.name;
            let text =
                format!("INSERT dbo.{t} (k, u, v, n, filler) VALUES {}", story::values(k, &row));
            done(&mut session, &text);
        }
    }
    page.end(NOBODY, Fate::Committed);
}

fn workload(disk: Arc<sim::Disk>, seed: u64, book: &Arc<Book>) {
    let instance = open(disk);
    let tables = story::tables(seed);
    make(&instance, seed, &tables, book);
    let mut session = instance.connect(login("")).unwrap();
    for option in &AT_FIRST[..(seed / 3 % 4) as usize] {
        done(&mut session, &format!("ALTER DATABASE {DATABASE} SET {option}"));
    }
    drop(session);
    let spawn = |number: i64| {
        let driver = Driver::new(&instance, book, seed, number, &tables);
        os::task::spawn(&format!("session {number}"), move || driver.run(TRANSACTIONS))
    };
    let tasks: Vec<_> = (1..=SESSIONS).map(spawn).collect();
    let (inside, its) = (Arc::clone(&instance), Arc::clone(book));
    let switcher = Switcher { instance: inside, book: its, r: Random(seed + 77) };
    let switcher = os::task::spawn("switcher", move || switcher.run());
    for task in tasks.into_iter().chain([switcher]) {
        if let Err(panic) = task.join() {
            std::panic::resume_unwind(panic);
        }
    }
    judge::judge(&mut book.open());
    // Also a running instance is sound.
    verify::look(&instance, &tables, book);
    instance.stop().unwrap();
}

fn seeds() -> u64 {
    std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS)
}

#[test]
fn every_read_is_of_its_level() {
    // The history says more than the scheduler's events.
    let options = Options { trace_keep: 1, calls_max: CALLS_MAX, ..Options::default() };
    let plan = Plan { seeds: 0..seeds(), cases: 0, depth: 1, options, ..Plan::default() };
    let told = std::sync::Mutex::new(BTreeMap::<&str, u64>::new());
    let verify = |disk: Arc<sim::Disk>, book: Arc<Book>| {
        let instance = open(disk);
        let tables = book.open().tables.clone();
        verify::look(&instance, &tables, &book);
        instance.stop().unwrap();
        let mut told = told.lock().unwrap();
        book.open().counts.iter().for_each(|(what, n)| *told.entry(what).or_default() += n);
    };
    let books = std::sync::Mutex::new(Vec::<Arc<Book>>::new());
    let work = |disk, seed, book: Arc<Book>| {
        books.lock().unwrap().push(Arc::clone(&book));
        workload(disk, seed, &book);
        books.lock().unwrap().retain(|b| !Arc::ptr_eq(b, &book));
    };
    let counts = try_crash_runs(&plan, work, verify).unwrap_or_else(|e| {
        // What was still going on when the run failed.
        let histories: Vec<String> = books.lock().unwrap().iter().map(|b| b.history()).collect();
        panic!("{}\n{e}", histories.join("\n\n"))
    });
    println!("{:?}", told.lock().unwrap());
    println!("{} histories, each read as its level has it", counts.workloads);
}
