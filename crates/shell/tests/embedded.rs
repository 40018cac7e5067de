//! The shell over an engine of this process: opened where it was asked, stopped at the end,
//! nothing left of a temporary folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use base::{SessionId, SqlError, SqlResult};
use os::sync::Mutex;
use os::wait::{WaitKind, Waiter, Wake};
use session::{Command, Completion, Connection, DoneScope, Login, Request, ResultSink};
use shell::{Engine, EngineOptions, Wiring};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What engines of this process have been through, one line each.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(text: String) {
    NOTES.lock().push(text);
}

struct Fake(PathBuf);

fn open(folder: &Path, wishes: EngineOptions) -> SqlResult<Box<dyn Engine>> {
    if folder.ends_with("damaged") {
        return Err(SqlError::raw(5172, 16, 1, "The header is invalid.".to_owned()));
    }
    assert!(folder.is_dir() || folder.ends_with("data"));
    note(format!("open {:?} {:?}", wishes.max_memory, wishes.trace_flags));
    Ok(Box::new(Fake(folder.to_owned())))
}

impl Engine for Fake {
    fn server_name(&self) -> String {
        "EMBEDDED".to_owned()
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        if login.database == "nowhere" {
            let text = "Cannot open database \"nowhere\".".to_owned();
            return Err(SqlError::raw(4060, 11, 1, text));
        }
        note(format!("connect {} {:?} {}", login.user, login.database, login.odbc_defaults));
        Ok(Box::new(FakeConnection(Arc::new(Waiter::new()))))
    }

    fn stop(self: Box<Self>) -> SqlResult<()> {
        note(format!("stop, folder there: {}", self.0.is_dir()));
        Ok(())
    }
}

struct FakeConnection(Arc<Waiter>);

impl Connection for FakeConnection {
    fn session_id(&self) -> SessionId {
        SessionId(51)
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        let Request::Batch(text) = request else { panic!("the shell sends batches") };
        note(format!("batch {text}"));
        if text == "wait" {
            assert!(matches!(self.0.wait(WaitKind::WaitFor, None), Wake::Cancelled(_)));
        }
        if text.starts_with("fatal") {
            sink.message(&SqlError::raw(824, 24, 2, "Damaged.".to_owned()).at_line(1));
        }
        let (scope, command) = (DoneScope::Statement, Command::Other);
        let (more, error, in_transaction) = (false, false, false);
        sink.done(Completion { scope, command, rows: Some(1), more, error, in_transaction });
        !text.starts_with("fatal")
    }

    fn load(&mut self, _: &mut dyn session::BulkRows, _: &mut dyn ResultSink) -> bool {
        true
    }

    fn reset(&mut self, _keep_transaction: bool, _sink: &mut dyn ResultSink) {}

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(&self.0)
    }

    fn greet(&mut self, _sink: &mut dyn ResultSink) {}
}

/// The exit code, what was printed, what the engine noted.
fn run(arguments: &[&str]) -> (i32, String, Vec<String>) {
    let out = std::env::temp_dir().join(format!("ghostlight-out-{}", std::process::id()));
    let before = ["ghostlight", "sql", "-o", out.to_str().unwrap()];
    let all = before.iter().chain(arguments).map(Into::into);
    let code = shell::run(all, Wiring { open, serve: |_| 7 });
    let text = std::fs::read_to_string(&out).unwrap();
    std::fs::remove_file(out).unwrap();
    (code, text, std::mem::take(&mut *NOTES.lock()))
}

/// One test, because engines note into one list.
#[test]
fn the_engine_lives_as_long_as_the_script() {
    let (code, text, notes) = run(&["-Q", "select 1"]);
    assert_eq!((code, text.as_str()), (0, "\n(1 rows affected)\n"));
    let expected =
        ["open None []", "connect sa \"\" true", "batch select 1", "stop, folder there: true"];
    assert_eq!(notes, expected);

    let wishes = ["--data", "data", "--max-memory", "1MB", "-T661", "-T", "7006", "-d", "m"];
    let (code, _, notes) = run(&[&wishes[..], &["-Q", "x"]].concat());
    assert_eq!((code, notes[0].as_str()), (0, "open Some(1048576) [661, 7006]"));
    assert_eq!(notes[1], "connect sa \"m\" true");

    // An error that closes the connection ends the script, and the engine is stopped.
    let (code, text, notes) = run(&["-Q", "fatal\ngo\nnever"]);
    let message = "Msg 824, Level 24, State 2, Server EMBEDDED, Line 1\nDamaged.\n";
    assert_eq!((code, text), (1, format!("{message}\n(1 rows affected)\n")));
    assert_eq!(notes.len(), 4);
    assert!(notes[3].starts_with("stop"));

    let (code, _, notes) = run(&["-d", "nowhere", "-Q", "x"]);
    assert_eq!((code, notes.len()), (1, 2));
    let (code, _, notes) = run(&["--data", "damaged", "-Q", "x"]);
    assert_eq!((code, notes.len()), (1, 0));
    assert_eq!(
        shell::run(["ghostlight", "serve"].map(Into::into), Wiring { open, serve: |_| 7 }),
        7
    );

    a_ctrl_c_ends_a_wait();
}

fn a_ctrl_c_ends_a_wait() {
    let pressing = os::task::spawn("person", || {
        while !NOTES.lock().iter().any(|n| n == "batch wait") {
            os::task::sleep_ns(1_000_000);
        }
        let pid = std::process::id().to_string();
        std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap()
    });
    let (code, _, notes) = run(&["-Q", "wait\ngo\nnever"]);
    assert!(pressing.join().unwrap().success());
    assert_eq!((code, notes.len()), (130, 4));
}
