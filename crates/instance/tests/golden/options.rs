//! `docs/options.md`: each batch of its tables is run, and must be answered as the page says.

use crate::sessions::Sessions;
use std::path::Path;

/// What the batches of the page find.
const SETUP: [&str; 3] = [
    "create database other",
    "create table t (id int identity primary key, a int, b int);
     create index ia on t (a); create index ib on t (b)",
    "exec sp_configure 'show advanced options', 1; reconfigure",
];

/// The batch of a line of a table and what is said of it.
fn said(line: &str) -> Option<(&str, &str)> {
    let (batch, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((batch, rest.split(" |").next()?.trim()))
}

/// What an answer shows.
fn shown(answer: &str) -> &'static str {
    let errors = answer.lines().filter(|l| l.starts_with("Msg "));
    let numbers = ["Msg 40510,", "Msg 40514,", "Msg 40517,"];
    let refused = |l: &str| numbers.iter().any(|n| l.starts_with(n));
    match errors.map(refused).reduce(|all, one| all || one) {
        None => "taken",
        Some(true) => "refused",
        Some(false) => "an error",
    }
}

#[test]
fn every_option_is_as_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    let page = std::fs::read_to_string(page).expect("the page of options");
    let sessions = Sessions::open();
    for batch in SETUP {
        assert_eq!(shown(&sessions.alone(batch)), "taken", "{batch}");
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for (batch, claim) in page.lines().filter_map(said) {
        count += 1;
        // What is made by one line is not in the way of the next.
        let undone = format!("begin tran; exec('{}'); if @@trancount > 0 rollback", doubled(batch));
        let alone = ["ALTER DATABASE", "SET ", "EXEC sp_"];
        let text = match alone.iter().any(|a| batch.starts_with(a)) {
            true => batch,
            false => &undone,
        };
        let answer = sessions.alone(text);
        let expected = match claim {
            "works" | "no effect" => "taken",
            "refused" => "refused",
            other => panic!("'{other}' is no word of the page: {batch}"),
        };
        if shown(&answer) != expected {
            wrong.push(format!("{batch}\n  said: {claim}\n{answer}"));
        }
    }
    assert!(count > 150, "the page has its tables: {count}");
    assert!(wrong.is_empty(), "{} lines are untrue\n{}", wrong.len(), wrong.join("\n"));
}

fn doubled(text: &str) -> String {
    text.replace('\'', "''")
}

/// Words that every other batch has.
const COMMON: [&str; 25] = [
    "SELECT", "FROM", "CREATE", "INDEX", "ALTER", "DATABASE", "TABLE", "WITH", "OPTION", "EXEC",
    "WHERE", "JOIN", "UNION", "GROUP", "ORDER", "BEGIN", "RETURN", "DROP", "PRIMARY", "COUNT",
    "DECLARE", "OTHER", "DBCC", "UNIQUE", "",
];

/// What a batch is about: its words in capitals but the common ones; of a batch that has no others
/// the longest.
fn subject(batch: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let all = batch.split(|c| !is_word(c)).filter(|w| w.len() >= 4);
    let capitals = |w: &str| !w.contains(|c: char| c.is_ascii_lowercase());
    let all: Vec<&str> = all.filter(|w| capitals(w) || w.contains('_')).collect();
    let is_common = |w: &str| COMMON.iter().any(|c| c.eq_ignore_ascii_case(w));
    let own: Vec<&str> = all.iter().copied().filter(|w| !is_common(w)).collect();
    let longest = all.iter().copied().max_by_key(|w| w.len());
    let chosen = if own.is_empty() { longest.into_iter().collect() } else { own };
    chosen.into_iter().map(str::to_lowercase).collect()
}

/// Each line that works names the script that sees its effect, and that script speaks of it.
#[test]
fn every_option_that_works_is_seen() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/options.md")).expect("the page of options");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (batch, _) in page.lines().filter_map(said).filter(|(_, claim)| *claim == "works") {
        count += 1;
        let line = page.lines().find(|l| l.starts_with(&format!("| `{batch}` |")));
        let cell = line.and_then(|l| l.trim_end_matches('|').rsplit('|').next());
        let script = cell.unwrap_or_default().trim();
        let path = match script.ends_with(".rs") {
            true => root.join(script),
            false => root.join("tests/golden").join(format!("{script}.golden")),
        };
        let Ok(text) = std::fs::read_to_string(&path) else {
            wrong.push(format!("{batch}: no script '{script}'"));
            continue;
        };
        let text = text.to_lowercase();
        let missing: Vec<String> =
            subject(batch).into_iter().filter(|word| !text.contains(word)).collect();
        if !missing.is_empty() {
            wrong.push(format!("{batch}: '{script}' says nothing of {}", missing.join(", ")));
        }
    }
    assert!(count > 100, "the page has lines that work: {count}");
    assert!(wrong.is_empty(), "{} options are not seen\n{}", wrong.len(), wrong.join("\n"));
}

/// Its figures differ from run to run, so no script can tell them.
#[test]
fn statistics_time_is_told() {
    let sessions = Sessions::open();
    let told = sessions.alone("SET STATISTICS TIME ON; select 1");
    assert!(told.contains("Execution Times:"), "{told}");
    let silent = sessions.alone("select 1");
    assert!(!silent.contains("Execution Times:"), "{silent}");
}
