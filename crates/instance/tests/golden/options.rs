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
