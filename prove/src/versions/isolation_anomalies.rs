//! path.6, isolation by anomalies: the golden scripts of several sessions in tests/golden.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use checks::{Outcome, process};
use std::collections::BTreeMap;
use std::process::Stdio;

const FOLDER: &str = "tests/golden";
/// The topic that the anomalies are told in.
const ANOMALIES: &str = "isolation";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let topics = topics(ground)?;
    let told = topics.get(ANOMALIES).copied().unwrap_or(0);
    let all: usize = topics.values().sum();
    let (differ, ended_well) = if all == 0 { (None, false) } else { compare(ground)? };
    let counts: Vec<String> = topics.iter().map(|(topic, n)| format!("{topic} {n}")).collect();
    let verdict = match (ended_well, differ) {
        (true, _) => "all passed".to_owned(),
        (false, Some(n)) => format!("{} passed, {n} differ", all.saturating_sub(n)),
        (false, None) => "not run to their end".to_owned(),
    };
    Ok(vec![
        Figure {
            what: "golden scripts".to_owned(),
            figure: format!("{all} ({}): {verdict}", counts.join(", ")),
            limit: "all pass".to_owned(),
            pass: all > 0 && ended_well,
        },
        Figure {
            what: format!("those of {FOLDER}/{ANOMALIES}"),
            figure: told.to_string(),
            limit: "at least 1".to_owned(),
            pass: told > 0 && ended_well,
        },
    ])
}

/// How many scripts each topic has.
fn topics(ground: &Ground<'_>) -> Outcome<BTreeMap<String, usize>> {
    let mut topics = BTreeMap::new();
    for path in ground.workspace.files(".golden")? {
        let inner = path.strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix('/'));
        if let Some((topic, _)) = inner.and_then(|rest| rest.split_once('/')) {
            *topics.entry(topic.to_owned()).or_insert(0) += 1;
        }
    }
    Ok(topics)
}

/// Runs them all: how many differ where the test says so, and whether it passed.
fn compare(ground: &Ground<'_>) -> Outcome<(Option<usize>, bool)> {
    let arguments = ["test", "--release", "--locked", "--package", "instance", "--test", "golden"];
    let mut command = process::cargo(ground.workspace, &arguments);
    let finished =
        command.stderr(Stdio::piped()).output().map_err(|e| format!("start cargo: {e}"))?;
    let output = String::from_utf8_lossy(&finished.stdout);
    let differ = output.lines().find_map(|line| {
        line.strip_suffix(" scripts differ").and_then(|text| text.rsplit(' ').next()?.parse().ok())
    });
    Ok((differ, finished.status.success()))
}
