//! 3.6: what strangers can do before they are anybody, and whom a client trusts. And of 2.3: a
//! client that wants several sessions on one connection.

use crate::ground::client::Client;
use crate::ground::figure::{Figure, failed};
use crate::ground::program::{Ground, PASSWORD, ServerProcess, of_process};
use checks::Outcome;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const GUESSES: usize = 48;
const SILENT: usize = 600;
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const ELSEWHERE_MS_MAX: u128 = 1_000;
const CROWD_MS_MAX: u128 = 5_000;
const CROWD_KB_MAX: u64 = 64 << 10;
const LINES_MAX: usize = 20;

fn figure(what: &str, figure: String, limit: &str, pass: bool) -> Figure {
    Figure { what: what.to_owned(), figure, limit: limit.to_owned(), pass }
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("truth.3.6-programs")?;
    let binary = ground.binary()?;
    let data = work.join("data");
    let mut server = ServerProcess::start(&binary, &data)?;
    drop(server.client()?);
    let mut figures = vec![forged(&server, &data)?, private(&data)?];
    figures.extend(verified(&binary, &server, &data)?);
    // Last: from here on this address is slow.
    figures.extend(guessed(&server, &data)?);
    figures.extend(crowded(&server)?);
    server.stop()?;
    figures.extend(own(&binary, &work, &data)?);
    Ok(figures)
}

fn log_of(data: &Path) -> Outcome<String> {
    fs::read_to_string(data.join("errorlog")).map_err(|e| format!("read the error log: {e}"))
}

/// A name with all that could make a line of its own, or hide one.
fn forged(server: &ServerProcess, data: &Path) -> Outcome<Figure> {
    let what = "a name with line ends, escapes and NUL is one line";
    let name = "sa\r\n2026-01-01 00:00:00.00 Server      forged\u{2028}2026\u{85}\u{1b}[2J\0";
    if Client::login(server.port()?, name, "x").is_ok() {
        return Ok(failed(what, "it came in".to_owned()));
    }
    let log = log_of(data)?;
    let holding: Vec<&str> = log.lines().filter(|line| line.contains("forged")).collect();
    let clean = |line: &str| !line.chars().any(|c| c.is_control() || c == '\u{2028}');
    let pass = matches!(holding[..], [line] if clean(line) && line.contains("client 127.0.0.1"));
    let wide = holding.iter().map(|line| line.escape_debug().to_string()).collect::<Vec<_>>();
    Ok(figure(what, wide.join(" / "), "one line, of the client's address", pass))
}

/// A guesser at `sa` is slow and leaves few lines; its owner comes in from elsewhere.
fn guessed(server: &ServerProcess, data: &Path) -> Outcome<Vec<Figure>> {
    let before = log_of(data)?.lines().count();
    let port = server.port()?;
    let guess =
        move || (0..GUESSES / 8).filter(|_| Client::login(port, "sa", "x").is_err()).count();
    let guessing: Vec<_> = (0..8).map(|_| std::thread::spawn(guess)).collect();
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    let owner = Client::login_from(ELSEWHERE, port, "sa", PASSWORD);
    let ms = start.elapsed().as_millis();
    let told = match &owner {
        Ok(_) => format!("{ms} ms"),
        Err(e) => format!("{e}"),
    };
    let refused: usize = guessing.into_iter().filter_map(|g| g.join().ok()).sum();
    let lines = log_of(data)?.lines().count() - before;
    Ok(vec![
        figure(
            "the owner of sa comes in from another address while somebody guesses",
            told,
            "1,000 ms",
            owner.is_ok() && ms <= ELSEWHERE_MS_MAX,
        ),
        figure(
            "lines of the error log about guesses",
            format!("{lines} of {refused}"),
            "20, all refused",
            lines <= LINES_MAX && refused == GUESSES,
        ),
    ])
}

/// Clients that connect and hardly say a word.
fn crowded(server: &ServerProcess) -> Outcome<Vec<Figure>> {
    let before = of_process(server.id(), "status", "VmRSS:").unwrap_or(0);
    let mut crowd = Vec::new();
    let start = Instant::now();
    let owner = std::thread::spawn({
        let port = server.port()?;
        move || {
            std::thread::sleep(Duration::from_millis(300));
            let start = Instant::now();
            let owner = Client::login_from(ELSEWHERE, port, "sa", PASSWORD);
            (owner.map(drop), start.elapsed().as_millis())
        }
    });
    for _ in 0..SILENT {
        let Ok(mut silent) = Client::connect(server.port()?) else { break };
        // One that gave way already cannot be written to.
        let _ = silent.send_raw(&[0x12]);
        crowd.push(silent);
    }
    let (owner, ms) = owner.join().map_err(|_| "the owner's login panicked".to_owned())?;
    let grown = of_process(server.id(), "status", "VmRSS:").unwrap_or(0).saturating_sub(before);
    let held = crowd.len();
    drop(crowd);
    let took = start.elapsed().as_secs();
    Ok(vec![
        figure(
            "a login beside 600 connections that say one byte",
            match &owner {
                Ok(()) => format!("{ms} ms, {held} connections, {took} s"),
                Err(e) => e.to_string(),
            },
            "5,000 ms",
            owner.is_ok() && ms <= CROWD_MS_MAX && held == SILENT,
        ),
        figure("memory of theirs", format!("{grown} KB"), "64 MB", grown <= CROWD_KB_MAX),
    ])
}

fn private(data: &Path) -> Outcome<Figure> {
    let mode = |name: &str| {
        let file = fs::metadata(data.join(name)).map_err(|e| format!("look at {name}: {e}"))?;
        Ok::<u32, String>(file.permissions().mode() & 0o777)
    };
    let (pem, logins) = (mode("server.pem")?, mode("logins")?);
    let told = format!("{pem:o}, {logins:o}");
    let pass = pem == 0o600 && logins == 0o600;
    Ok(figure("modes of server.pem and logins", told, "600", pass))
}

fn shell(binary: &Path, host: &str, port: u16, options: &[&str], roots: &Path) -> Outcome<Output> {
    let mut command = Command::new(binary);
    command.args(["sql", "-S", &format!("{host},{port}"), "-U", "sa", "-P", PASSWORD]);
    command.args(["-l", "10", "-h", "-1", "-W", "-Q", "set nocount on; select 42"]).args(options);
    command.env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
    command.output().map_err(|e| format!("run the shell: {e}"))
}

/// Whom the shell trusts.
fn verified(binary: &Path, server: &ServerProcess, data: &Path) -> Outcome<Vec<Figure>> {
    let pem = data.join("server.pem");
    let nobody = data.join("no-such-file.pem");
    let pin = pem.display().to_string();
    let cases: [(&str, &[&str], &Path, Option<&str>); 8] = [
        ("localhost", &[], &nobody, Some("-C trusts it")),
        ("localhost", &["-C"], &nobody, None),
        ("127.0.0.1", &["-J", &pin], &nobody, None),
        ("localhost", &["-Ns", "-J", &pin], &nobody, None),
        ("localhost", &[], &pem, None),
        ("127.0.0.1", &["-Ns"], &pem, None),
        ("127.0.0.2", &[], &pem, Some("not for the name")),
        ("127.0.0.1", &["-No"], &nobody, None),
    ];
    let mut right = 0;
    let mut wrong = String::new();
    for (host, options, roots, complaint) in cases {
        let output = shell(binary, host, server.port()?, options, roots)?;
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let as_wanted = match complaint {
            None => output.status.success() && out.trim() == "42",
            // Of an address that nobody listens at, the connection already fails.
            Some(_) if host == "127.0.0.2" && err.contains("no connection") => true,
            Some(why) => !output.status.success() && err.contains(why),
        };
        if as_wanted {
            right += 1;
        } else if wrong.is_empty() {
            wrong = format!("; {host} {options:?}: {out}{err}");
        }
    }
    let told = format!("{right} of {}{wrong}", cases.len());
    Ok(vec![figure("whom the shell trusts", told, "all", right == cases.len())])
}

/// A certificate of one's own.
fn own(binary: &Path, work: &Path, made: &Path) -> Outcome<Vec<Figure>> {
    let pem = fs::read_to_string(made.join("server.pem")).map_err(|e| format!("read: {e}"))?;
    let at = pem.find("-----BEGIN PRIVATE").ok_or("no key in server.pem")?;
    let write = |name: &str, text: &str| {
        let file = work.join(name);
        fs::write(&file, text).map_err(|e| format!("write {name}: {e}"))?;
        Ok::<String, String>(file.display().to_string())
    };
    let (cert, key) = (write("cert.pem", &pem[..at])?, write("key.pem", &pem[at..])?);
    let options = ["--tls-cert", &cert, "--tls-key", &key];
    let mut server = ServerProcess::start_with(binary, &work.join("own"), &options)?;
    drop(server.client()?);
    let output = shell(binary, "localhost", server.port()?, &[], Path::new(&cert))?;
    server.stop()?;
    let kept = !work.join("own/server.pem").exists();
    let shown = output.status.success() && kept;
    let mut figures = vec![figure(
        "--tls-cert and --tls-key are what clients are shown",
        String::from_utf8_lossy(&output.stderr).into_owned(),
        "trusted, none made beside them",
        shown,
    )];
    let encrypted = write("encrypted.pem", &pem[at..].replace("PRIVATE", "ENCRYPTED PRIVATE"))?;
    let missing = work.join("missing.pem").display().to_string();
    let cases = [
        (&cert, &encrypted, "the key is encrypted"),
        (&cert, &cert, "there is no private key"),
        (&key, &key, "there is no certificate"),
        (&missing, &key, "missing.pem"),
    ];
    let mut right = 0;
    for (cert, key, why) in cases {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key]);
        let output = command.arg("--data").arg(work.join("refused")).output();
        let output = output.map_err(|e| format!("run the server: {e}"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        right += usize::from(output.status.code() == Some(1) && said.contains(why));
    }
    let told = format!("{right} of {}", cases.len());
    figures.push(figure("wrong files are told", told, "all", right == cases.len()));
    Ok(figures)
}

/// 2.3: the Session Multiplex Protocol, spoken to a server that has none.
pub(crate) fn multiplexing(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let data = ground.folder("truth.2.3-mars")?.join("data");
    let mut server = ServerProcess::start(&ground.binary()?, &data)?;
    let mut client = server.client()?;
    let start = Instant::now();
    let told = |e: std::io::Error| format!("multiplex: {e}");
    client.send_raw(&[0x53, 1, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]).map_err(told)?;
    let (errors, closed) = client.last_words().map_err(told)?;
    let ms = start.elapsed().as_millis();
    server.stop()?;
    let named = errors.iter().any(|e| e.contains("multiple active result sets (MARS)"));
    Ok(vec![figure(
        "a client that multiplexes all the same is told and parted from",
        format!("{errors:?}, closed: {closed}, {ms} ms"),
        "an error that names MARS, closed",
        named && closed,
    )])
}
