//! The list of proofs, and how one is chosen, run and judged.
//!
//! A proof has the name of the module that holds it, and as its alias the number of the line that
//! asks for it: "path.5" is line 5 of the issue "path". [`PROOFS`] is the only list of them.

use crate::ground::figure::{Figure, Measure};
use crate::ground::program::{FUZZ_SECONDS, Ground};
use crate::house::{checks_in_time, cost_kept, counts, first_questions};
use crate::queries::{
    analytic_queries, answers_of_postgresql, changes_and_lookups, estimates_and_orders,
    one_answer_by_every_plan, parsing_and_kept_plans, rules_that_surprise, sets_beyond_memory,
};
use crate::recovery::{
    big_table_story, constant_time_rollback, constant_time_start, cost_of_former_rows,
    crashes_of_accelerated_databases, crashes_of_log_shapes, crashes_with_versions, durability,
    killed_update, store_stays_small, store_without_room,
};
use crate::server::{clients_and_attention, fuzzing, start_up, table_beyond_memory};
use crate::versions::{
    ghosts_under_each_rule, isolation_anomalies, nothing_grows, queue_table, scan_without_versions,
    snapshots_read_their_moment, what_readers_cost,
};
use crate::write_path::{
    cost_of_a_row, cost_of_a_transaction, fill_factors, log_as_a_table, one_end_of_an_index,
    one_row_story, six_indexes_story, transactions_beside_peers,
};
use crate::{rules_of_the_source, truth};
use checks::{Outcome, Workspace};
use std::path::PathBuf;

/// What `cargo xtask prove` can be told.
#[derive(clap::Args)]
pub struct Options {
    /// The proof by its name or alias, e.g. path.10, or an issue for all of its proofs, e.g. path;
    /// without one, all proofs are listed
    name: Option<String>,
    /// A binary to prove instead of building this checkout's
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// How long each fuzz target of path.7 runs; the proof asks for 600
    #[arg(long, value_name = "SECONDS", default_value_t = FUZZ_SECONDS)]
    fuzz_seconds: u64,
    /// The part of the rows, transactions and kills of log.5, log.6, versions.3, 4 and 7 and of
    /// recovery to run; below 1 none passes
    #[arg(long, value_name = "PART", default_value_t = 1.0)]
    scale: f64,
    /// Only parts of a proof of recovery whose name begins so; then it does not pass
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// An earlier binary that house.2 compares with
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
}

/// One line of the list.
struct Proof {
    /// The module that holds it.
    name: &'static str,
    /// ISSUE.NUMBER.
    alias: &'static str,
    proves: &'static str,
    run: Measure,
}

const fn proof(
    name: &'static str,
    alias: &'static str,
    proves: &'static str,
    run: Measure,
) -> Proof {
    Proof { name, alias, proves, run }
}

/// Every proof that an issue asks for.
const PROOFS: &[Proof] = &[
    proof(
        "one_row_story",
        "path.1",
        "the one-row story through go-sqlcmd and the shell: one page, one row, no ghosts",
        one_row_story::run,
    ),
    proof(
        "cost_of_a_transaction",
        "path.2",
        "CPU per transaction of the one-row loop, and its last tenth against its first",
        cost_of_a_transaction::run,
    ),
    proof(
        "durability",
        "path.3",
        "durability under simulated and real crashes; planted damage; mutations",
        durability::run,
    ),
    proof(
        "table_beyond_memory",
        "path.4",
        "a table of 1 GB under 128 MB of memory",
        table_beyond_memory::run,
    ),
    proof(
        "clients_and_attention",
        "path.5",
        "500 clients: memory of each, and attention in time",
        clients_and_attention::run,
    ),
    proof(
        "isolation_anomalies",
        "path.6",
        "isolation by anomalies; deadlocks",
        isolation_anomalies::run,
    ),
    proof("fuzzing", "path.7", "fuzzing without panic, hang or leak", fuzzing::run),
    proof("start_up", "path.8", "start-up times and the size of the binary", start_up::run),
    proof(
        "transactions_beside_peers",
        "path.9",
        "durable and delayed transactions beside the peers",
        transactions_beside_peers::run,
    ),
    proof(
        "rules_of_the_source",
        "path.10",
        "the house: layers, tidy, sizes, assertions, READMEs",
        rules_of_the_source::run,
    ),
    proof(
        "sets_beyond_memory",
        "query.1",
        "joins, sorts and distinct values beyond 128 MB, beside PostgreSQL",
        sets_beyond_memory::run,
    ),
    proof(
        "changes_and_lookups",
        "query.2",
        "rows met once and found quickly",
        changes_and_lookups::run,
    ),
    proof(
        "analytic_queries",
        "query.3",
        "seven queries over tables like TPC-H's, beside PostgreSQL",
        analytic_queries::run,
    ),
    proof(
        "one_answer_by_every_plan",
        "query.4",
        "random queries: one answer by every plan",
        one_answer_by_every_plan::run,
    ),
    proof(
        "answers_of_postgresql",
        "query.5",
        "random queries: PostgreSQL's answers",
        answers_of_postgresql::run,
    ),
    proof(
        "estimates_and_orders",
        "query.6",
        "estimates, chosen plans beside forced orders, time to choose",
        estimates_and_orders::run,
    ),
    proof(
        "rules_that_surprise",
        "query.7",
        "the rules that surprise, each from its source",
        rules_that_surprise::run,
    ),
    proof(
        "parsing_and_kept_plans",
        "query.8",
        "the parser's speed; the memory of kept plans",
        parsing_and_kept_plans::run,
    ),
    proof(
        "ghosts_under_each_rule",
        "versions.1",
        "the one-row story under each rule of cleanup",
        ghosts_under_each_rule::run,
    ),
    proof(
        "what_readers_cost",
        "versions.2",
        "what readers cost writers, alone and beside open snapshots",
        what_readers_cost::run,
    ),
    proof("queue_table", "versions.3", "a queue table beside an open snapshot", queue_table::run),
    proof(
        "nothing_grows",
        "versions.4",
        "chains, tempdb and the commit table do not grow",
        nothing_grows::run,
    ),
    proof(
        "snapshots_read_their_moment",
        "versions.5",
        "every snapshot reads its moment, in random histories",
        snapshots_read_their_moment::run,
    ),
    proof(
        "crashes_with_versions",
        "versions.6",
        "crashes with versioning on, off and switched",
        crashes_with_versions::run,
    ),
    proof(
        "scan_without_versions",
        "versions.7",
        "what versioning costs a scan of rows without versions",
        scan_without_versions::run,
    ),
    proof(
        "six_indexes_story",
        "log.1",
        "what transactions of one row wait for, write, and leave behind",
        six_indexes_story::run,
    ),
    proof(
        "cost_of_a_row",
        "log.2",
        "what a row costs the log, and the log a row",
        cost_of_a_row::run,
    ),
    proof(
        "one_end_of_an_index",
        "log.3",
        "many sessions at one end of one index",
        one_end_of_an_index::run,
    ),
    proof(
        "fill_factors",
        "log.4",
        "fill factors: full, with room, and as AUTO chooses",
        fill_factors::run,
    ),
    proof(
        "crashes_of_log_shapes",
        "log.5",
        "crashes while log and indexes change their shape, and on a full disk",
        crashes_of_log_shapes::run,
    ),
    proof(
        "killed_update",
        "log.6",
        "a killed update of five million rows, and its rollback, beside the peers",
        killed_update::run,
    ),
    proof("log_as_a_table", "log.7", "fn_dblog over a million records", log_as_a_table::run),
    proof(
        "big_table_story",
        "recovery.1",
        "the users' scripts of accelerated recovery through go-sqlcmd",
        big_table_story::run,
    ),
    proof(
        "constant_time_start",
        "recovery.2",
        "a killed update of every row: a start in constant time, whatever its size",
        constant_time_start::run,
    ),
    proof(
        "constant_time_rollback",
        "recovery.3",
        "ROLLBACK, KILL, cancellations, lost connections, savepoints: done within 100 ms",
        constant_time_rollback::run,
    ),
    proof(
        "cost_of_former_rows",
        "recovery.4",
        "CPU and log of changes with accelerated recovery, RCSI, both and neither",
        cost_of_former_rows::run,
    ),
    proof(
        "store_stays_small",
        "recovery.5",
        "nothing grows beside open transactions, and what was aborted is gone soon",
        store_stays_small::run,
    ),
    proof(
        "crashes_of_accelerated_databases",
        "recovery.6",
        "crashes, models and mutations of accelerated recovery",
        crashes_of_accelerated_databases::run,
    ),
    proof(
        "store_without_room",
        "recovery.7",
        "a full disk and a limited store: errors for writers, nothing wrong, all goes on",
        store_without_room::run,
    ),
    proof("data_lost_or_wrong", "truth.1", "data that could be lost or wrong", truth::first),
    proof(
        "errors_unseen_or_untrue",
        "truth.2",
        "errors that clients never saw, or should not have",
        truth::second,
    ),
    proof(
        "stays_up_within_memory",
        "truth.3",
        "a server that stays up and within its memory",
        truth::third,
    ),
    proof(
        "edges_of_the_language",
        "truth.4",
        "edges of the language that stopped scripts",
        truth::fourth,
    ),
    proof("counts", "house.1", "counts of the tree, before and after", counts::run),
    proof(
        "cost_kept",
        "house.2",
        "what the new order costs: the build to ship beside the one before; the first build",
        cost_kept::run,
    ),
    proof(
        "checks_in_time",
        "house.3",
        "golden files as they were, all checks green in time",
        checks_in_time::run,
    ),
    proof(
        "first_questions",
        "house.4",
        "five first questions, each answered within three clicks",
        first_questions::run,
    ),
];

/// Runs the proofs that the options name; true where all passed. Without a name it lists them.
///
/// # Errors
/// There is no proof of that name.
pub fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let Some(name) = &options.name else {
        list();
        return Ok(true);
    };
    let chosen = select(name)?;
    let mut ground = Ground::new(workspace, options.binary.clone());
    ground.fuzz_seconds = options.fuzz_seconds;
    ground.scale = options.scale;
    ground.only.clone_from(&options.only);
    ground.before.clone_from(&options.before);
    if let Ok(load) = std::fs::read_to_string("/proc/loadavg") {
        let now = load.split(' ').next().unwrap_or_default();
        println!("load average {now}; what is measured in time asks for a quiet machine");
    }
    let mut passed = 0;
    for proof in &chosen {
        println!("{}  {}: {}", proof.alias, proof.name, proof.proves);
        if prove(&ground, proof) {
            passed += 1;
        }
    }
    println!("{} proofs, {passed} passed, {} failed", chosen.len(), chosen.len() - passed);
    Ok(passed == chosen.len())
}

/// One line for each proof.
fn list() {
    for Proof { name, alias, proves, .. } in PROOFS {
        println!("{alias:<11} {name:<28} {proves}");
    }
}

impl Proof {
    fn issue(&self) -> &'static str {
        self.alias.split_once('.').map_or(self.alias, |(issue, _)| issue)
    }
}

fn select(name: &str) -> Outcome<Vec<&'static Proof>> {
    let matches = |proof: &&Proof| [proof.name, proof.alias, proof.issue()].contains(&name);
    let chosen: Vec<&Proof> = PROOFS.iter().filter(matches).collect();
    if chosen.is_empty() {
        let known: Vec<&str> = PROOFS.iter().map(|proof| proof.alias).collect();
        return Err(format!("there is no proof {name}; there are {}", known.join(", ")));
    }
    Ok(chosen)
}

/// Runs one proof and prints it; true where every figure passed and there was one.
fn prove(ground: &Ground<'_>, proof: &Proof) -> bool {
    match (proof.run)(ground) {
        Ok(figures) => {
            for Figure { what, figure, limit, pass } in &figures {
                let verdict = if *pass { "pass" } else { "FAIL" };
                println!("  {verdict}  {what}: {figure} (limit: {limit})");
            }
            !figures.is_empty() && figures.iter().all(|figure| figure.pass)
        }
        Err(trouble) => {
            println!("  FAIL  {trouble}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A name selects one proof or an issue's; an unknown one is an error, never an empty pass.
    #[test]
    fn selection() {
        let aliases = |name: &str| {
            select(name).map(|found| found.iter().map(|proof| proof.alias).collect::<Vec<_>>())
        };
        assert_eq!(aliases("path.1"), Ok(vec!["path.1"]));
        assert_eq!(aliases("path.10"), Ok(vec!["path.10"]));
        assert_eq!(aliases("clients_and_attention"), Ok(vec!["path.5"]));
        assert_eq!(aliases("path").map(|found| found.len()), Ok(10));
        assert!(aliases("path.11").is_err());
        assert!(aliases("").is_err());
    }

    /// No name or alias stands for two proofs, and none is also an issue's.
    #[test]
    fn names_are_unique() {
        let issues: BTreeSet<&str> = PROOFS.iter().map(Proof::issue).collect();
        let names = PROOFS.iter().flat_map(|proof| [proof.name, proof.alias]);
        let unique: BTreeSet<&str> = names.chain(issues.iter().copied()).collect();
        assert_eq!(unique.len(), 2 * PROOFS.len() + issues.len());
    }
}
