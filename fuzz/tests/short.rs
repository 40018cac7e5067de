//! The short form: every target over its seeds and some thousand mutations of them.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail")]

use fuzz::{Dice, TARGETS, Target, mutate};
use std::time::{Duration, Instant};

/// No input may take longer, also in a slow build on a busy machine.
const INPUT_MAX: Duration = Duration::from_secs(20);

/// What an input of a target costs says how many there can be in a few seconds.
fn rounds(target: &Target) -> usize {
    match target.name {
        "page" => 4_000,
        "database" => 100,
        _ => 2_000,
    }
}

fn try_all(name: &str) {
    let target = fuzz::target(name).unwrap();
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{name} has valid inputs");
    let mut longest = Duration::ZERO;
    let mut run = |input: &[u8]| {
        let begun = Instant::now();
        (target.run)(input);
        longest = longest.max(begun.elapsed());
    };
    for seed in &seeds {
        run(seed);
    }
    let mut dice = Dice::new(7);
    for _ in 0..rounds(target) {
        let mut input = seeds[dice.roll(seeds.len())].clone();
        let other = &seeds[dice.roll(seeds.len())];
        mutate(&mut input, other, target.bytes_max, &mut dice);
        run(&input);
    }
    assert!(longest < INPUT_MAX, "{name}: an input took {longest:?}");
}

/// Every target is tried below, so none can be forgotten.
#[test]
fn every_target_has_its_test() {
    let tried: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(
        tried,
        ["tds_login", "tds_request", "tvp", "tsql", "xml", "page", "log", "redo", "database"]
    );
}

#[test]
fn any_stream_before_login_is_answered_or_refused() {
    try_all("tds_login");
}

#[test]
fn any_stream_after_login_is_answered_or_refused() {
    try_all("tds_request");
}

#[test]
fn any_table_of_a_call_is_taken_or_refused() {
    try_all("tvp");
}

#[test]
fn any_text_ends_in_a_tree_or_errors() {
    try_all("tsql");
}

#[test]
fn any_xml_is_a_value_or_refused_and_any_xquery_ends() {
    try_all("xml");
}

#[test]
fn any_page_is_read_or_refused() {
    try_all("page");
}

#[test]
fn any_log_opens_or_says_why_not() {
    try_all("log");
}

#[test]
fn any_log_record_is_applied_or_refused() {
    try_all("redo");
}

#[test]
fn any_files_of_a_database_open_or_are_refused() {
    try_all("database");
}

/// Inputs that longer runs have found, each with what it did then.
const FOUND: &[(&str, &[u8])] = &[
    // A key with too few columns in a log record: recovery's undo took it for a whole one.
    (
        "database",
        &[
            0x00, 0x70, 0x01, 0x3b, 0x00, 0x02, 0x73, 0x00, 0x00, 0x70, 0x01, 0x06, 0x3b, 0x00,
            0x02, 0x73, 0x00, 0x00, 0x70,
        ],
    ),
];

#[test]
fn what_was_found_stays_cured() {
    for (name, input) in FOUND {
        (fuzz::target(name).unwrap().run)(input);
    }
}
