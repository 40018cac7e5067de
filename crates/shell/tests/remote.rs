//! The shell's binary against a server that is a script: what it sends, how it is encrypted,
//! what it prints, how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod responder;

use responder::{Answers, Responder, Security};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn shell(server: &Responder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghostlight"));
    command.args(["sql", "-S", &format!("127.0.0.1,{}", server.port()), "-U", "sa"]);
    command.args(arguments).stdin(Stdio::null()).env_remove("SQLCMDPASSWORD");
    // The server's certificate is its own.
    if !arguments.iter().any(|a| ["-C", "-J", "-Ns"].contains(a)) {
        command.arg("-C");
    }
    command
}

fn run(server: &Responder, arguments: &[&str]) -> Output {
    shell(server, arguments).output().unwrap()
}

/// A server's certificate as a file, until this is dropped.
struct Pin(PathBuf);

impl Pin {
    fn of(server: &Responder) -> Pin {
        let name = format!("ghostlight-pin-{}-{}.pem", std::process::id(), server.port());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, server.certificate()).unwrap();
        Pin(file)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        // A file of the temporary folder that stays there does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_query_is_answered_however_the_connection_is_protected() {
    let expected = "n          \n-----------\n          0\n          1\n\n(2 rows affected)\n";
    let cases: [(Security, &[&str]); 7] = [
        (Security::Plain, &["-No"]),
        (Security::Offered, &["-No"]),
        (Security::Offered, &[]),
        (Security::Offered, &["-Nm"]),
        (Security::Offered, &["-N", "mandatory", "-C"]),
        (Security::Required, &["-No"]),
        (Security::Strict, &["-Ns"]),
    ];
    for (security, arguments) in cases {
        let server = Responder::start(security, Answers::default());
        let pin = Pin::of(&server);
        let mut all = [&["-P", "secret", "-Q", "rows 2"], arguments].concat();
        if security == Security::Strict {
            all.extend(["-J", pin.path()]);
        }
        let output = run(&server, &all);
        assert_eq!(text(&output.stderr), "", "{security:?} {arguments:?}");
        assert_eq!(text(&output.stdout), expected, "{security:?} {arguments:?}");
        assert_eq!(output.status.code(), Some(0));
        let seen = server.stop();
        assert_eq!(seen.batches, ["rows 2"]);
        assert_eq!(seen.logins, [("sa".to_owned(), "secret".to_owned())]);
        let login_only = security == Security::Offered && arguments == ["-No"];
        assert_eq!(seen.plain_after_login, login_only || security == Security::Plain);
    }
}

#[test]
fn encryption_that_was_demanded_is_not_given_up() {
    for arguments in [&["-Nm"][..], &["-J", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]] {
        let server = Responder::start(Security::Plain, Answers::default());
        let output = run(&server, &[&["-P", "secret", "-Q", "rows 1"], arguments].concat());
        assert_eq!(
            text(&output.stderr),
            "Sqlcmd: Error: the server does not support encryption: -N o goes without.\n"
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(server.stop().logins.is_empty(), "no password was sent");
    }
}

#[test]
fn a_pinned_certificate_must_be_the_servers() {
    let server = Responder::start(Security::Offered, Answers::default());
    let pin = Pin::of(&server);
    let output = run(&server, &["-Psecret", "-J", pin.path(), "-h-1", "-W", "-Q", "rows 1"]);
    assert_eq!(text(&output.stdout), "0\n\n(1 rows affected)\n");
    let other = Responder::start(Security::Offered, Answers::default());
    let output = run(&other, &["-Psecret", "-J", pin.path(), "-Q", "rows 1"]);
    assert!(text(&output.stderr).contains("not the one of -J"), "{}", text(&output.stderr));
    assert!(other.stop().logins.is_empty());
}

/// Nobody gets a password whose certificate nobody trusts.
#[test]
fn a_certificate_that_nobody_signed_is_not_trusted() {
    let server = Responder::start(Security::Offered, Answers::default());
    let place = format!("localhost,{}", server.port());
    let output = Command::new(env!("CARGO_BIN_EXE_ghostlight"))
        .args(["sql", "-S", &place, "-U", "sa", "-Psecret", "-Q", "rows 1"])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("not trusted") && said.contains("-C trusts it"), "{said}");
    assert!(said.contains("-J FILE trusts the one in FILE"), "{said}");
    assert!(server.stop().logins.is_empty());
    let strict = Responder::start(Security::Strict, Answers::default());
    let output = run(&strict, &["-Psecret", "-Ns", "-C", "-Q", "rows 1"]);
    assert!(text(&output.stderr).contains("strict encryption always verifies"));
}

#[test]
fn a_refused_login_tells_why() {
    let server = Responder::start(Security::Offered, Answers::default());
    let output = run(&server, &["-P", "wrong", "-Q", "rows 1"]);
    assert_eq!(text(&output.stderr), "Sqlcmd: Error: Login failed for user 'sa'.\n");
    assert_eq!((text(&output.stdout), output.status.code()), ("", Some(1)));
    let output = run(&server, &["-Q", "rows 1"]);
    assert!(text(&output.stderr).contains("no password"));
    let output = shell(&server, &["-Q", "rows 1"]).env("SQLCMDPASSWORD", "secret").output();
    assert_eq!(output.unwrap().status.code(), Some(0));
}

#[test]
fn errors_carry_the_servers_name_and_set_the_exit_code() {
    let server = Responder::start(Security::Offered, Answers::default());
    let script = "error 16\nGO\nmessage\nGO\nrows 1\nGO\n";
    let mut child = shell(&server, &["-Psecret", "-h-1", "-V", "16"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        text(&output.stdout),
        "Msg 50000, Level 16, State 1, Server RESPONDER, Line 1\nwrong\n\
         told\n          0\n\n(1 rows affected)\n"
    );
    assert_eq!(output.status.code(), Some(16));
    let output = run(&server, &["-Psecret", "-b", "-Q", "error 16"]);
    assert_eq!(output.status.code(), Some(1));
}

/// The transaction that is open goes with every request, until it is not.
#[test]
fn requests_tell_the_open_transaction() {
    let server = Responder::start(Security::Offered, Answers::default());
    let mut child =
        shell(&server, &["-Psecret"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"begin\ngo\nrows 1\ngo\ncommit\ngo\nrows 1\ngo\n")
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(server.stop().transactions, [0, 77, 77, 0]);
}

/// A large result comes in many packets and goes out row by row.
#[test]
fn a_large_result_is_streamed() {
    for security in [Security::Plain, Security::Strict] {
        let server = Responder::start(security, Answers::default());
        let pin = Pin::of(&server);
        let how: &[&str] =
            if security == Security::Strict { &["-Ns", "-J", pin.path()] } else { &["-No"] };
        let rest = ["-Psecret", "-W", "-h-1", "-a512", "-Q", "rows 50000"];
        let output = run(&server, &[how, &rest].concat());
        let lines: Vec<&str> = text(&output.stdout).lines().collect();
        assert_eq!((lines.len(), lines[49_999]), (50_002, "49999"));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_statement_quietly() {
    let server = Responder::start(Security::Offered, Answers::default());
    let mut child = shell(&server, &["-Psecret", "-Q", "rows for ever"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
    assert_eq!(server.stop().attentions, 1);
}

#[test]
fn ctrl_c_cancels_the_statement_and_ends_the_script() {
    for security in [Security::Offered, Security::Required] {
        let server = Responder::start(security, Answers::default());
        let mut child = shell(&server, &["-Psecret"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"wait\ngo\nrows 1\ngo\n").unwrap();
        server.await_batch();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(text(&output.stderr).contains("user pressed CTRL+C"));
        assert_eq!((text(&output.stdout), output.status.code()), ("", Some(130)));
        let seen = server.stop();
        assert_eq!((seen.attentions, seen.batches), (1, vec!["wait".to_owned()]));
    }
}

#[test]
fn a_server_that_goes_away_or_talks_nonsense_is_an_error() {
    let answers = Answers { nonsense: true };
    let server = Responder::start(Security::Plain, answers);
    let output = run(&server, &["-Psecret", "-No", "-Q", "rows 1"]);
    assert!(text(&output.stderr).contains("not understood"), "{}", text(&output.stderr));
    let server = Responder::start(Security::Plain, Answers::default());
    let output = run(&server, &["-Psecret", "-No", "-Q", "vanish"]);
    assert!(text(&output.stderr).contains("broken"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    let port = server.port();
    drop(server.stop());
    let nobody = Command::new(env!("CARGO_BIN_EXE_ghostlight"))
        .args(["sql", "-S", &format!("127.0.0.1,{port}"), "-Usa", "-Px", "-Q", "rows 1"])
        .output()
        .unwrap();
    assert!(text(&nobody.stderr).starts_with("Sqlcmd: Error: no connection to 127.0.0.1,"));
    assert_eq!(nobody.status.code(), Some(1));
}
