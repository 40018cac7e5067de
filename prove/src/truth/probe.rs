//! 3.5, a probe beside heavy sessions: a session that asks for little all the time, and how long it
//! waits at worst while others do what costs most.

use crate::ground::client::Client;
use crate::ground::figure::{Figure, failed};
use crate::ground::program::{Ground, PASSWORD, ServerProcess};
use checks::Outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const WORST_MS_MAX: u128 = 1000;
const PROBED: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(20);
/// A login beside all that may take as long.
const PATIENCE: Duration = Duration::from_secs(60);
const TEXT_BYTES: usize = 60 << 20;

/// Sessions that all do the same over and over.
struct Load {
    name: &'static str,
    sessions: usize,
    text: fn() -> String,
    /// They read no answer.
    deaf: bool,
}

const LOADS: &[Load] = &[
    Load { name: "eight batches of 60 MB, statements", sessions: 8, text: statements, deaf: false },
    Load { name: "eight batches of 60 MB, a list", sessions: 8, text: a_list, deaf: false },
    Load { name: "eight batches of 60 MB, a comment", sessions: 8, text: a_comment, deaf: false },
    Load { name: "eight that make long values", sessions: 8, text: long_values, deaf: false },
    Load { name: "eight that search long values", sessions: 8, text: a_search, deaf: false },
    Load { name: "eight compile bombs of joins", sessions: 8, text: joins, deaf: false },
    Load { name: "eight compile bombs of EXISTS", sessions: 8, text: exists, deaf: false },
    Load { name: "forty that never read, rows", sessions: 40, text: rows, deaf: true },
    Load { name: "forty that never read, values", sessions: 40, text: values, deaf: true },
];

fn statements() -> String {
    "select 1 as a;".repeat(TEXT_BYTES / 14)
}

fn a_list() -> String {
    format!("select 1 where 1 in (2{})", ",3".repeat(TEXT_BYTES / 2))
}

fn a_comment() -> String {
    format!("select 1 /*{}*/", "x".repeat(TEXT_BYTES))
}

fn long_values() -> String {
    "declare @x varchar(max) = replicate(cast('x' as varchar(max)), 100000000);
     select len(replace(@x, 'x', 'yy')), len(reverse(upper(@x))), datalength(compress(@x)),
            hashbytes('SHA2_512', @x)"
        .to_owned()
}

fn a_search() -> String {
    "declare @x varchar(max) = replicate(cast('a' as varchar(max)), 20000000);
     select patindex('%a%a%a_b%', @x), charindex(replicate('a', 4000) + 'b', @x)"
        .to_owned()
}

fn joins() -> String {
    let next = |n: i32| format!(", c{n} as (select a.x from c{0} a cross join c{0} b)", n - 1);
    let rest: String = (1..=24).map(next).collect();
    format!("with c0 as (select 1 x){rest} select top 1 x from c24")
}

fn exists() -> String {
    let open = "exists (select 1 from sys.objects o where o.object_id > 0 and ";
    format!("select 1 where {}1 = 1{}", open.repeat(16), ")".repeat(16))
}

fn rows() -> String {
    "select a.name, b.name, replicate('x', 4000)
     from sys.all_columns a cross join sys.all_columns b"
        .to_owned()
}

fn values() -> String {
    "select replicate(cast('x' as varchar(max)), 20000000) from generate_series(1, 1000)".to_owned()
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("truth.3.5.probe")?;
    let binary = ground.binary()?;
    let mut figures = Vec::new();
    for (at, load) in LOADS.iter().enumerate() {
        let data = work.join(format!("data{at}"));
        let mut server = ServerProcess::start_with(&binary, &data, &["--max-memory", "4GB"])?;
        figures.push(beside(load, &mut server).unwrap_or_else(|why| failed(load.name, why)));
        // Its sessions may be at it still.
        server.kill()?;
        // What cannot be removed is emptied next time.
        let _ = std::fs::remove_dir_all(data);
    }
    Ok(figures)
}

/// The probe's worst answer beside a load.
fn beside(load: &'static Load, server: &mut ServerProcess) -> Outcome<Figure> {
    let mut probe = server.client()?;
    let made = "create table probe (id int identity primary key, n int)";
    probe.batch(made).map_err(|e| format!("make the probe's table: {e}"))?;
    let (port, text, over) =
        (server.port()?, Arc::new((load.text)()), Arc::new(AtomicBool::new(false)));
    let start = |_| {
        let (text, over) = (Arc::clone(&text), Arc::clone(&over));
        thread::spawn(move || press(load, port, &text, &over))
    };
    let sessions: Vec<_> = (0..load.sessions).map(start).collect();
    let worst = probed(&mut probe);
    over.store(true, Relaxed);
    // A client that waits for an answer does so until the server has ended.
    drop(sessions);
    let (worst, answers) = worst?;
    Ok(Figure {
        what: load.name.to_owned(),
        figure: format!("{} ms at worst, {answers} answers", worst.as_millis()),
        limit: format!("{WORST_MS_MAX} ms"),
        pass: worst.as_millis() <= WORST_MS_MAX && answers > 10,
    })
}

/// Asks for a while: the longest wait, and how many answers came.
fn probed(probe: &mut Client) -> Outcome<(Duration, u32)> {
    let (from, mut worst, mut answers) = (Instant::now(), Duration::ZERO, 0);
    while from.elapsed() < PROBED {
        let asked = Instant::now();
        let text = "select count(*) from probe where id < 10";
        let answer = probe.batch(text).map_err(|e| format!("the probe has no answer: {e}"))?;
        if let Some(error) = answer.errors.first() {
            return Err(format!("the probe is told {error}"));
        }
        worst = worst.max(asked.elapsed());
        answers += 1;
        thread::sleep(PAUSE);
    }
    Ok((worst, answers))
}

/// One session of a load, until it is over or the server has gone.
fn press(load: &Load, port: u16, text: &str, over: &AtomicBool) {
    let login = Client::login(port, "sa", PASSWORD);
    let Ok(mut client) = login.and_then(|client| client.with_patience(PATIENCE)) else { return };
    while !over.load(Relaxed) {
        let asked = client.send_batch(text);
        if load.deaf {
            // It is asked once, and its answer stays where it is.
            while !over.load(Relaxed) && asked.is_ok() {
                thread::sleep(PAUSE);
            }
            return;
        }
        // Errors of the statement, like 701, are as good an answer as any.
        if asked.is_err() || client.forget_answer().is_err() {
            return;
        }
    }
}
