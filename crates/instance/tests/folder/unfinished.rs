//! CREATE and DROP DATABASE that a crash ends at each of their operations: afterwards the database
//! is whole or gone, its name can be had, and the others are there.

use super::Server;
use sim::{Disk, DiskOptions, Options, Simulation};
use std::path::Path;
use std::sync::Arc;

const DATA: &str = "/data";
/// Of a database's making every so many operations; its writes are many and alike.
const STEP: u64 = 23;

fn disk() -> Disk {
    Disk::new(DiskOptions { latency: false, ..DiskOptions::default() })
}

fn open(disk: &Disk) -> Server {
    Server::on(Arc::new(disk.clone()), Path::new(DATA)).unwrap()
}

/// A database `old` with a row, stopped.
fn prepared() -> Disk {
    let disk = disk();
    let run = Simulation::run(1, Options::default(), |_| {
        let disk = disk.clone();
        let mut server = open(&disk);
        server.must("create database old");
        server.must("create table old.dbo.t (n int); insert old.dbo.t values (7)");
        server.stop();
    });
    assert!(matches!(run.ended, sim::RunEnd::Done(())));
    disk.after_stop(1)
}

/// Runs a batch that is cut at an operation; how many there were.
fn cut(disk: &Disk, batch: &'static str, at: u64, seed: u64) -> u64 {
    let cut = disk.clone();
    let run = Simulation::run(seed, Options::default(), move |_| {
        let mut server = open(&cut);
        let from = cut.operations();
        if at > 0 {
            cut.crash_at(from + at);
        }
        server.must(batch);
        let operations = cut.operations() - from;
        cut.crash_at(0);
        server.stop();
        operations
    });
    match run.ended {
        sim::RunEnd::Done(operations) => operations,
        _ => at,
    }
}

/// The next start: the old database is there, `name` is whole or can be made.
fn sound(disk: &Disk, name: &'static str, seed: u64) {
    let disk = disk.clone();
    let run = Simulation::run(seed, Options::default(), move |_| {
        let mut server = open(&disk);
        let known =
            server.row(&format!("select count(*) from sys.databases where name = '{name}'"));
        if known == "0" {
            server.must(&format!("create database {name}"));
        }
        assert_eq!(
            server.row(&format!("select state from sys.databases where name = '{name}'")),
            "0"
        );
        server.must(&format!("create table {name}.dbo.u (n int); drop database {name}"));
        server.must("create database old2");
        server.stop();
    });
    assert!(matches!(run.ended, sim::RunEnd::Done(())), "seed {seed}");
}

fn each_operation(batch: &'static str, name: &'static str, step: u64) {
    let before = prepared();
    let operations = cut(&before.after_stop(2), batch, 0, 2);
    assert!(operations > 20, "{operations}");
    for at in (1..=operations).step_by(step as usize) {
        let disk = before.after_stop(at);
        cut(&disk, batch, at, at + 7);
        sound(&disk.after_crash(at), name, at + 11);
    }
}

#[test]
fn a_database_that_is_being_made_is_whole_or_gone() {
    each_operation("create database new", "new", STEP);
}

#[test]
fn a_database_that_is_being_dropped_is_whole_or_gone() {
    each_operation("drop database old", "old", 3);
}
