//! The shell against the server of this project, whose engine is a test's: both ends of the
//! protocol are ours, so that they agree is worth a look.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use base::{SessionId, SqlError, SqlResult, messages};
use os::wait::{WaitKind, Waiter};
use server::{Certificate, Engine, Options, Place, Server};
use session::{
    Command as Statement, Completion, Connection, DoneScope, EnvironmentChange, Login, Request,
    ResultColumn, ResultSink,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use types::{Collation, SqlType, Value};

struct Fake;

impl Engine for Fake {
    fn authenticate(&self, user: &str, password: &str) -> SqlResult<()> {
        match (user, password) {
            ("sa", "secret") => Ok(()),
            _ => Err(SqlError::raw(18456, 14, 1, format!("Login failed for user '{user}'."))),
        }
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        Ok(Box::new(FakeSession { waiter: Arc::new(Waiter::new()), login }))
    }

    fn server_name(&self) -> &str {
        "REAL"
    }

    fn log(&self, _line: &str) {}
}

struct FakeSession {
    waiter: Arc<Waiter>,
    login: Login,
}

impl FakeSession {
    fn rows(&self, count: i32, sink: &mut dyn ResultSink) -> u64 {
        let column = |name: &str, sql_type| ResultColumn {
            name: name.to_owned(),
            sql_type,
            collation: Collation::default(),
            nullable: true,
            identity: false,
            computed: true,
            untyped: false,
        };
        let columns = [column("n", SqlType::Int), column("who", SqlType::SYSNAME)];
        let _ = sink.columns(&columns);
        let who = Value::nvarchar(&self.login.application);
        let sent = (0..count).take_while(|n| sink.row(&[Value::Int(*n), who.clone()]).is_ok());
        sent.count() as u64
    }
}

impl Connection for FakeSession {
    fn session_id(&self) -> SessionId {
        SessionId(51)
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        let Request::Batch(text) = request else { panic!("the shell sends batches") };
        let mut rows = None;
        match text.as_str() {
            "wait" => {
                self.waiter.wait(WaitKind::WaitFor, None);
            }
            "fail" => sink.message(&SqlError::new(messages::DIVIDE_BY_ZERO, &[]).at_line(2)),
            count => rows = Some(self.rows(count.parse().unwrap(), sink)),
        }
        sink.done(Completion {
            scope: DoneScope::Statement,
            command: Statement::Select,
            rows,
            more: false,
            error: text == "fail",
            in_transaction: false,
        });
        true
    }

    fn load(&mut self, _: &mut dyn session::BulkRows, _: &mut dyn ResultSink) -> bool {
        true
    }

    fn reset(&mut self, _keep_transaction: bool, _sink: &mut dyn ResultSink) {}

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(&self.waiter)
    }

    fn greet(&mut self, sink: &mut dyn ResultSink) {
        let (new, old) = ("master".to_owned(), "master".to_owned());
        sink.environment(&EnvironmentChange::Database { new, old });
        // By it the shell learns the server's name.
        let text = "Changed database context to 'master'.".to_owned();
        sink.message(&SqlError::raw(5701, 0, 2, text));
    }
}

/// The certificate of all servers of this test.
fn pem() -> &'static str {
    static PEM: OnceLock<String> = OnceLock::new();
    PEM.get_or_init(|| Certificate::self_signed_pem(&["localhost".to_owned()]).unwrap())
}

/// The same as a file.
fn pin() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let file = std::env::temp_dir().join(format!("ghostlight-own-{}.pem", std::process::id()));
        std::fs::write(&file, pem()).unwrap();
        file
    })
}

fn start() -> Server {
    let pem = pem();
    let certificate = Certificate::from_pem(pem.as_bytes()).unwrap();
    let place = Place::take("127.0.0.1:0".parse().unwrap()).unwrap();
    Server::start(Arc::new(Fake), place, Options::default(), certificate).unwrap()
}

fn shell(server: &Server, arguments: &[&str]) -> Command {
    let place = format!("127.0.0.1,{}", server.address().port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghostlight"));
    command.args(["sql", "-S", &place, "-U", "sa", "-P", "secret"]).args(arguments);
    let strict = arguments.contains(&"-Ns");
    if strict {
        command.arg("-J").arg(pin())
    } else {
        command.arg("-C")
    };
    command
}

#[test]
fn results_and_errors_arrive_however_the_connection_is_protected() {
    let server = start();
    for protection in ["-No", "-Nm", "-Ns"] {
        let rest = ["-W", "-h-1", "-b", "-Q", "30000\ngo\nfail\ngo\n1"];
        let output = shell(&server, &[protection]).args(rest).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 30_004, "{protection} {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(lines[29_999], "29999 SQLCMD");
        assert_eq!(lines[30_001], "(30000 rows affected)");
        assert_eq!(lines[30_002], "Msg 8134, Level 16, State 1, Server REAL, Line 2");
        assert_eq!(output.status.code(), Some(1));
    }
    let output = shell(&server, &["-Q", "1"]).args(["-l", "5"]).output().unwrap();
    assert!(output.status.success());
}

#[test]
fn an_attention_ends_a_wait_and_a_flood() {
    let server = start();
    for (batch, protection) in [("wait", "-No"), ("wait", "-Nm"), ("2000000000", "-No")] {
        let child = shell(&server, &[protection, "-Q", batch])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Long enough for the login; an earlier Ctrl-C ends the script as well.
        os::task::sleep_ns(400_000_000);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{batch} {protection}");
    }
    assert!(server.stop(Duration::from_secs(5)));
}

/// A server's own certificate is trusted where the machine trusts it, for its names alone.
#[test]
fn a_certificate_is_verified_as_the_machine_says() {
    let server = start();
    let port = server.address().port();
    let connect = |host: &str, trusted: bool| {
        let place = format!("{host},{port}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ghostlight"));
        command.args(["sql", "-S", &place, "-U", "sa", "-P", "secret", "-l", "5", "-Q", "1"]);
        if trusted {
            command.env("SSL_CERT_FILE", pin()).env_remove("SSL_CERT_DIR");
        }
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(connect("localhost", true), (true, String::new()));
    for (host, trusted, why) in [
        ("127.0.0.1", true, "not for the name that was given with -S"),
        ("localhost", false, "not trusted"),
    ] {
        let (let_in, said) = connect(host, trusted);
        assert!(!let_in && said.contains(why) && said.contains("-C trusts it"), "{said}");
    }
}
