//! Golden scripts: batches behind `>`, then what a client gets. `GOLDEN_BLESS=1` writes them anew.

mod fake;
mod transcript;

use fake::Fake;
use session::{Connection, Login, Request, Session};
use transcript::Transcript;

fn login() -> Login {
    Login { user: "sa".to_owned(), database: "fake".to_owned(), ..Login::default() }
}

/// Runs a script in one session; the script with what it gives now. One of streams shows each
/// DONE.
fn run(script: &str, shows_all: bool) -> String {
    let host = Fake::new();
    let mut session = Session::new(host, login()).expect("the database is there");
    let mut now = String::new();
    let mut batch: Vec<&str> = Vec::new();
    for line in script.lines().chain([""]) {
        if let Some(text) = line.strip_prefix('>') {
            batch.push(text.strip_prefix(' ').unwrap_or(text));
            now.push_str(line);
            now.push('\n');
            continue;
        }
        if !batch.is_empty() {
            let mut transcript = Transcript { shows_all, ..Transcript::default() };
            let goes_on = session.run(Request::Batch(batch.join("\n")), &mut transcript);
            assert!(transcript.ended, "a response ends");
            let nothing = transcript.text.is_empty();
            now.push_str(if nothing { "ok\n" } else { &transcript.text });
            if !goes_on {
                now.push_str("connection closed\n");
            }
            batch.clear();
        }
        if line.starts_with('#') {
            now.push('\n');
            now.push_str(line);
            now.push('\n');
        }
    }
    now.trim_start().to_owned()
}

fn golden(name: &str, script: &str) {
    let now = run(script, name == "streams");
    if std::env::var_os("GOLDEN_BLESS").is_some() {
        let path = format!("{}/tests/scripts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, &now).expect("the script is writable");
        return;
    }
    for (n, (is, was)) in now.lines().zip(script.lines()).enumerate() {
        assert_eq!(is, was, "{name}.txt line {}\n{now}", n + 1);
    }
    assert_eq!(now.lines().count(), script.lines().count(), "{now}");
}

macro_rules! scripts {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            golden(stringify!($name), include_str!(concat!("scripts/", stringify!($name), ".txt")));
        }
    )*};
}

scripts!(control, errors, transactions, procedures, settings, tables, streams);
