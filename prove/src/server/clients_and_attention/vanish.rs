//! Clients that go away without a word, clients that never say one, and clients that guess: what
//! they had goes soon, and nobody else waits for them.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part};
use crate::ground::program::{PASSWORD, ServerProcess, of_process};
use crate::ground::scene::encrypted;
use checks::Outcome;
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

const MS_MAX: f64 = 1000.0;
const CONNECTS: usize = 1000;
/// Memory that a connection may leave, in tables that grow and what the allocator keeps.
const LEFT_BYTES_MAX: f64 = 1024.0;
/// Threads by which the pool may have grown.
const POOLED: u64 = 4;
/// Of the door.
const LOGIN_SECONDS: f64 = 15.0;
const SLOW_OF_EACH: usize = 12;
const GUESSES: u32 = 6;
/// The fourth failure and the next two make the account wait: 0.1, 0.2, 0.4 s.
const GUESSES_SECONDS_MIN: f64 = 0.3;
const SCHEMA: [&str; 3] = [
    "CREATE DATABASE Gone; ALTER DATABASE Gone SET RECOVERY SIMPLE",
    "USE Gone; CREATE TABLE dbo.n (id int NOT NULL PRIMARY KEY, v int NOT NULL); \
     INSERT dbo.n SELECT number, 0 FROM master..spt_values WHERE type = 'P' AND number < 1000",
    "CREATE TABLE dbo.copied (a int NOT NULL, b int NOT NULL, c int NOT NULL); \
     CREATE TABLE dbo.own (id int NOT NULL PRIMARY KEY, v int NOT NULL); \
     INSERT dbo.own VALUES (1, 0), (2, 0)",
];

/// How a client goes.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Reset,
    HalfClose,
    Close,
}

const EXITS: [Exit; 3] = [Exit::Reset, Exit::HalfClose, Exit::Close];

const SITUATIONS: [(&str, &str); 7] = [
    ("idle in a transaction", ""),
    ("lock wait", "UPDATE dbo.own SET v = 3 WHERE id = 1"),
    ("WAITFOR", "WAITFOR DELAY '00:01:00'"),
    (
        "sort",
        "SELECT a.id FROM dbo.n a, dbo.n b, dbo.n c ORDER BY (a.id * 7 + b.id * 11 + c.id) % 1009",
    ),
    ("send nobody reads", "SELECT a.id, b.id, c.id FROM dbo.n a, dbo.n b, dbo.n c"),
    ("loop", "DECLARE @i bigint = 0; WHILE 1 = 1 SET @i += 1"),
    (
        "insert",
        "INSERT dbo.copied WITH (TABLOCKX) SELECT a.id, b.id, c.id FROM dbo.n a, dbo.n b, dbo.n c",
    ),
];

pub(crate) fn measure(server: &mut ServerProcess) -> Part {
    let mut witness = server.client()?;
    for text in SCHEMA {
        asked(&mut witness, text)?;
    }
    let mut figures = Vec::new();
    for (name, text) in SITUATIONS {
        figures.push(vanished(server.port()?, &mut witness, name, text)?);
    }
    figures.push(churn(server)?);
    figures.push(slow_logins(server)?);
    figures.push(guesses(server)?);
    asked(&mut witness, "SELECT 1")?;
    Ok(figures)
}

fn leave(client: Client, exit: Exit) -> Outcome<Option<std::net::TcpStream>> {
    let socket = client.into_socket();
    match exit {
        Exit::Close => Ok(None),
        Exit::HalfClose => {
            socket.shutdown(Shutdown::Write).map_err(|e| format!("half-close: {e}"))?;
            // The other half stays open, and nobody reads it.
            Ok(Some(socket))
        }
        Exit::Reset => {
            let at_once = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&socket, at_once)
                .map_err(|e| format!("linger: {e}"))?;
            Ok(None)
        }
    }
}

/// Until the transaction of a client that went is rolled back, its lock and its session gone.
fn vanished(port: u16, witness: &mut Client, name: &str, text: &str) -> Outcome<Figure> {
    let mut worst_ms = 0.0_f64;
    for (i, exit) in EXITS.into_iter().enumerate() {
        let mut holder = encrypted(port)?;
        asked(&mut holder, "USE Gone; BEGIN TRAN; UPDATE dbo.own SET v = 1 WHERE id = 1")?;
        let mut client = match i % 2 {
            0 => Client::login(port, "sa", PASSWORD).map_err(|e| format!("login: {e}"))?,
            _ => encrypted(port)?,
        };
        asked(&mut client, "USE Gone; BEGIN TRAN; UPDATE dbo.own SET v = 2 WHERE id = 2")?;
        if !text.is_empty() {
            client.send_batch(text).map_err(|e| format!("{text}: {e}"))?;
        }
        thread::sleep(Duration::from_millis(300));
        let went = Instant::now();
        let half = leave(client, exit)?;
        let seen = "SELECT v, (SELECT COUNT(*) FROM dbo.copied), \
                    (SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'prove') \
                    FROM dbo.own WHERE id = 2";
        // The first two wait for its locks; itself and the holder are the sessions that stay.
        while asked(witness, seen)?.rows != [[0, 0, 2]] {
            if went.elapsed() > Duration::from_secs(20) {
                return Err(format!("{name}: a client that went ({exit:?}) is still there"));
            }
            thread::sleep(Duration::from_millis(1));
        }
        worst_ms = worst_ms.max(went.elapsed().as_secs_f64() * 1e3);
        drop(half);
        asked(&mut holder, "ROLLBACK")?;
        drop(holder);
        alone(witness)?;
    }
    Ok(Figure {
        what: format!("client gone: {name}, its locks and session"),
        figure: format!("worst of {}: {worst_ms:.1} ms", EXITS.len()),
        limit: format!("{MS_MAX} ms"),
        pass: worst_ms <= MS_MAX,
    })
}

/// Waits until there is no other session.
fn alone(witness: &mut Client) -> Outcome<()> {
    let others = "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'prove'";
    let from = Instant::now();
    while asked(witness, others)?.rows != [[1]] {
        if from.elapsed() > Duration::from_secs(20) {
            return Err("a session does not end".to_owned());
        }
    }
    Ok(())
}

/// What a server holds.
struct HeldResources {
    descriptors: usize,
    threads: u64,
    kb: u64,
}

fn held(server: &ServerProcess) -> Outcome<HeldResources> {
    let unseen = || "the server's process cannot be looked at".to_owned();
    let folder = format!("/proc/{}/fd", server.id());
    let descriptors = std::fs::read_dir(folder).map_err(|_| unseen())?.count();
    let threads = of_process(server.id(), "status", "Threads:").ok_or_else(unseen)?;
    let kb = of_process(server.id(), "status", "VmRSS:").ok_or_else(unseen)?;
    Ok(HeldResources { descriptors, threads, kb })
}

/// One of the ways to come and go.
fn come_and_go(port: u16, n: usize) -> Outcome<()> {
    let lost = |e: std::io::Error| format!("connection {n}: {e}");
    match n % 5 {
        0 => drop(Client::connect(port).map_err(lost)?),
        1 => {
            let mut client = Client::connect(port).map_err(lost)?;
            client.send_raw(&[0x12, 1, 0, 200]).map_err(lost)?;
            leave(client, Exit::Reset)?;
        }
        2 => {
            let mut client = encrypted(port)?;
            client.prepare_and_run("SELECT @p", 1).map_err(lost)?;
            leave(client, Exit::Close)?;
        }
        3 => {
            let mut client = Client::login(port, "sa", PASSWORD).map_err(lost)?;
            asked(&mut client, "USE Gone; CREATE TABLE #t (i int); INSERT #t VALUES (1)")?;
            leave(client, Exit::Reset)?;
        }
        _ => {
            let mut client = encrypted(port)?;
            let flood = "SELECT a.id, b.id FROM Gone.dbo.n a, Gone.dbo.n b";
            client.send_batch(flood).map_err(lost)?;
            leave(client, Exit::Reset)?;
        }
    }
    Ok(())
}

fn churn(server: &ServerProcess) -> Outcome<Figure> {
    let settle = || thread::sleep(Duration::from_secs(1));
    (0..CONNECTS).try_for_each(|n| come_and_go(server.port()?, n))?;
    settle();
    let before = held(server)?;
    (0..CONNECTS).try_for_each(|n| come_and_go(server.port()?, n))?;
    settle();
    let after = held(server)?;
    let bytes = (after.kb as f64 - before.kb as f64) * 1024.0 / CONNECTS as f64;
    Ok(Figure {
        what: format!("{CONNECTS} connections that come and go, five ways"),
        figure: format!(
            "descriptors {} to {}, threads {} to {}, {bytes:.0} bytes each",
            before.descriptors, after.descriptors, before.threads, after.threads
        ),
        limit: format!("none left, {POOLED} threads of the pool; {LEFT_BYTES_MAX} bytes"),
        pass: after.descriptors <= before.descriptors
            && after.threads <= before.threads + POOLED
            && bytes <= LEFT_BYTES_MAX,
    })
}

/// Logins that never come to an end are ended, and hold nobody up.
fn slow_logins(server: &mut ServerProcess) -> Outcome<Figure> {
    let port = server.port()?;
    let mut slow = Vec::new();
    for n in 0..SLOW_OF_EACH * 3 {
        let mut client = Client::connect(port).map_err(|e| format!("slow login {n}: {e}"))?;
        // Nothing; half a header; a header of a message that trickles.
        let start: &[u8] = [&[][..], &[0x12, 1, 0], &[0x12, 1, 0, 200, 0, 0, 1, 0]][n % 3];
        client.send_raw(start).map_err(|e| format!("slow login {n}: {e}"))?;
        slow.push(thread::spawn(move || {
            if n % 3 == 2 {
                client.trickle_until_closed(Duration::from_millis(250), Duration::from_secs(40))
            } else {
                client.until_closed(Duration::from_secs(40))
            }
        }));
    }
    let from = Instant::now();
    drop(encrypted(port)?);
    let beside_ms = from.elapsed().as_secs_f64() * 1e3;
    let mut seconds = Vec::new();
    for thread in slow {
        let ended = thread.join().map_err(|_| "a slow client panicked".to_owned())?;
        seconds.push(ended.map_err(|e| format!("a slow login: {e}"))?.as_secs_f64());
    }
    let (least, most) = (
        seconds.iter().copied().fold(f64::MAX, f64::min),
        seconds.iter().copied().fold(0.0, f64::max),
    );
    Ok(Figure {
        what: format!("{} slow logins ended after; a login beside them", seconds.len()),
        figure: format!("{least:.1} to {most:.1} s; {beside_ms:.0} ms"),
        limit: format!("{LOGIN_SECONDS} s and 2 more; {MS_MAX} ms"),
        pass: least >= LOGIN_SECONDS - 1.0 && most <= LOGIN_SECONDS + 3.0 && beside_ms <= MS_MAX,
    })
}

/// Wrong passwords of one account are spaced out; another's answer does not wait for them.
fn guesses(server: &mut ServerProcess) -> Outcome<Figure> {
    let port = server.port()?;
    let wrong = move |user: &str| {
        let from = Instant::now();
        let refused = match Client::login(port, user, "wrong") {
            Err(e) => e.to_string().contains("18456"),
            Ok(_) => false,
        };
        (from.elapsed(), refused)
    };
    let from = Instant::now();
    let guessing = thread::spawn(move || (0..GUESSES).all(|_| wrong("sa").1));
    let mut beside_ms = 0.0_f64;
    let mut refused = true;
    for n in 0..10 {
        let (took, rightly) = wrong(&format!("other{n}"));
        beside_ms = beside_ms.max(took.as_secs_f64() * 1e3);
        refused &= rightly;
        thread::sleep(Duration::from_millis(50));
    }
    refused &= guessing.join().map_err(|_| "a guesser panicked".to_owned())?;
    let seconds = from.elapsed().as_secs_f64();
    // The right one comes through when its turn has come.
    drop(encrypted(port)?);
    Ok(Figure {
        what: format!("{GUESSES} wrong passwords of one account; another's beside them"),
        figure: format!("{seconds:.2} s; {beside_ms:.0} ms; all refused with 18456: {refused}"),
        limit: format!("at least {GUESSES_SECONDS_MIN} s; 100 ms"),
        pass: seconds >= GUESSES_SECONDS_MIN && beside_ms <= 100.0 && refused,
    })
}
