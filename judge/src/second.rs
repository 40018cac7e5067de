//! The second judge: PostgreSQL's answers to the same queries, in both engines' words.
//!
//! A data set is put into both, its queries are run by one psql, and the rows are compared as text.

use crate::answer::Answer;
use crate::engine::Engine;
use crate::generate::{Features, Generator};
use crate::spell::{Dialect, Speller};
use crate::tables::DataSet;
use crate::trial::{Finding, Report};
use crate::variant::KEYED;
use sim::Random;
use std::process::{Command, Stdio};

/// Between the answers of a script.
const MARK: &str = "=== ";

/// What psql says to a script, errors among the rows; PGHOST and its like tell it where to.
fn ask(script: &str) -> Result<String, String> {
    let file = std::env::temp_dir().join(format!("judge-{}.sql", std::process::id()));
    std::fs::write(&file, script).map_err(|e| format!("write a script: {e}"))?;
    let mut command = Command::new("sh");
    // One stream: an error stands where its rows would.
    command.args(["-c", "exec psql \"$@\" 2>&1", "psql"]);
    command.args(["-X", "-q", "-A", "-t", "-F", "|", "-P", "null=NULL", "-f"]).arg(&file);
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("start psql: {e}"))?;
    let _ = std::fs::remove_file(&file);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compares so many queries over one data set.
///
/// # Errors
/// An engine does not run, or refuses the data set.
pub fn compare(seed: u64, queries: u64) -> Result<Report, String> {
    let mut random = Random::new(seed);
    let data = DataSet::random(&mut random, false, true);
    let mut engine = Engine::start()?;
    engine.must(&format!("create schema {KEYED}"))?;
    for statement in data.script(KEYED, true) {
        engine.must(&statement)?;
    }
    let mut script = format!("drop schema if exists {KEYED} cascade;\ncreate schema {KEYED};\n");
    for statement in data.script(KEYED, false) {
        script += &format!("{statement};\n");
    }
    let mut asked = Vec::new();
    for number in 0..queries {
        let mut own = Random::new(seed ^ (number + 1).wrapping_mul(0x9e37_79b9));
        let query = Generator::new(&mut own, &data, Features { common: true }).query();
        let said = Speller { dialect: Dialect::PostgreSql, schema: KEYED }.query(&query);
        script += &format!("\\echo '{MARK}'\n{said};\n");
        asked.push((number, query, said));
    }
    let said = ask(&script)?;
    let mark = format!("{MARK}\n");
    let mut answers = said.split(&mark);
    let loaded = answers.next().unwrap_or_default();
    if loaded.contains("ERROR") {
        return Err(loaded.to_owned());
    }
    let mut report = Report::default();
    for ((number, query, theirs), answer) in asked.iter().zip(answers) {
        report.statements += 1;
        report.runs += 1;
        let ours = Speller { dialect: Dialect::Transact, schema: KEYED }.query(query);
        let own = engine.ask(&ours);
        weigh(&mut report, (seed, *number), (&ours, &own), (theirs, answer));
    }
    Ok(report)
}

fn weigh(
    report: &mut Report,
    (seed, number): (u64, u64),
    (ours, own): (&str, &Answer),
    (theirs, answer): (&str, &str),
) {
    if let Answer::Refused(what) = own {
        *report.refused.entry(what.clone()).or_insert(0) += 1;
        return;
    }
    if let Some(error) = answer.lines().find(|l| l.contains("ERROR:")) {
        let what = error.split_once("ERROR:").map_or(error, |(_, rest)| rest);
        *report.refused.entry(format!("PostgreSQL:{what}")).or_insert(0) += 1;
        return;
    }
    let mut rows: Vec<String> = answer.lines().map(str::to_owned).collect();
    rows.sort_unstable();
    let expected = Answer::Rows(rows);
    if let Answer::Rows(rows) = own {
        report.answered += 1;
        report.with_rows += u64::from(!rows.is_empty());
    }
    if !expected.agrees(own) {
        let statement = format!("{ours}\n  {theirs}");
        let (expected, came) = (expected.shown(), own.shown());
        report.findings.push(Finding { seed, number, statement, expected, came });
    }
}
