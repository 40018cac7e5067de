//! Attentions: from sending one to the DONE that acknowledges it, in every situation in which a
//! request may be, at drawn moments. The session must be usable afterwards, and its transaction
//! as it was.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part};
use crate::ground::ledger::Random;
use crate::ground::program::{PASSWORD, ServerProcess};
use crate::ground::scene::encrypted;
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

const REPETITIONS: usize = 6;
/// An attention that came after the end measures nothing, and is sent again.
const TRIES: usize = 18;
const MS_MAX: f64 = 100.0;
/// dbo.wide is larger than the little memory is; what is read or built of it takes seconds.
const SCHEMA: [&str; 6] = [
    "CREATE DATABASE Cut",
    "USE Cut; CREATE TABLE dbo.n (id int NOT NULL PRIMARY KEY, v int NOT NULL); \
     INSERT dbo.n SELECT number, number * 7919 % 1009 FROM master..spt_values \
     WHERE type = 'P' AND number < 1000",
    "CREATE TABLE dbo.m (id int NOT NULL, v int NOT NULL, filler char(40) NOT NULL); \
     INSERT dbo.m WITH (TABLOCK) SELECT a.id * 1000 + b.id, a.v * 1013 + b.v, 'x' FROM dbo.n a, dbo.n b \
     WHERE a.id < 500",
    "CREATE TABLE dbo.wide (id int NOT NULL, v int NOT NULL, w int NOT NULL, filler char(180) NOT NULL); \
     INSERT dbo.wide WITH (TABLOCK) SELECT a.id * 1000 + b.id, a.v * 1013 + b.v, b.v * 1013 + a.v, 'x' \
     FROM dbo.n a, dbo.n b",
    "CREATE TABLE dbo.own (id int NOT NULL PRIMARY KEY, v int NOT NULL); \
     INSERT dbo.own SELECT id, 0 FROM dbo.n",
    "CREATE TABLE dbo.copied (id int NOT NULL, v int NOT NULL, \
     CONSTRAINT PK_copied PRIMARY KEY (v, id))",
];
/// 10 million rows in an order that they have not.
const SORT: &str = "SELECT a.id, b.id, (a.v * 1009 + b.v * 31) % 1000003 AS k \
                    FROM dbo.n a, dbo.m b WHERE b.id < 10000 ORDER BY k, b.id, a.id";

/// When the attention is sent.
#[derive(Clone, Copy)]
enum Moment {
    /// So many milliseconds after the request at most.
    Within(u64),
    /// In this part, in hundredths, of the time that the first row takes.
    OfFirstRow(u64, u64),
    /// When the first rows have come.
    AfterFirstRow,
    /// When the server has stopped sending, since nobody reads.
    WhenFull,
}

impl Moment {
    /// The same in a statement that had ended after so long.
    fn sooner(self, ended: Duration) -> Moment {
        match self {
            Moment::Within(ms) => Moment::Within(ms.min(ended.as_millis() as u64 * 9 / 10).max(1)),
            other => other,
        }
    }
}

struct Situation {
    name: &'static str,
    text: &'static str,
    moment: Moment,
    /// What is undone before the answer is measured apart.
    undoes: bool,
}

const fn at(name: &'static str, text: &'static str, moment: Moment) -> Situation {
    Situation { name, text, moment, undoes: false }
}

const fn undoing(name: &'static str, text: &'static str, moment: Moment) -> Situation {
    Situation { name, text, moment, undoes: true }
}

const FLOOD: &str = "SELECT a.id, b.id, b.filler FROM dbo.n a, dbo.m b";

const SITUATIONS: [Situation; 23] = [
    at("lock wait (X)", "UPDATE dbo.n SET v += 0 WHERE id = 1", Moment::Within(100)),
    at("lock wait (S)", "SELECT COUNT(*) FROM dbo.n WITH (READCOMMITTEDLOCK)", Moment::Within(100)),
    at("sort, input", SORT, Moment::OfFirstRow(0, 80)),
    at("sort, about its merge", SORT, Moment::OfFirstRow(80, 105)),
    at("sort, output", SORT, Moment::AfterFirstRow),
    at("send nobody reads", FLOOD, Moment::WhenFull),
    at(
        "hash aggregate",
        "SELECT k, COUNT(*) FROM (SELECT a.id * 10000 + b.id AS k FROM dbo.n a, dbo.m b \
         WHERE b.id < 10000) x GROUP BY k",
        Moment::Within(1500),
    ),
    at(
        "hash join",
        "SELECT COUNT(*) FROM (SELECT a.id * 10000 + b.id AS k FROM dbo.n a, dbo.m b \
         WHERE b.id < 10000) x JOIN (SELECT a.id * 10000 + b.id AS k FROM dbo.n a, dbo.m b \
         WHERE b.id < 10000) y ON x.k = y.k",
        Moment::Within(1500),
    ),
    at(
        "hash join of texts",
        "SELECT COUNT(*) FROM (SELECT CONVERT(varchar(40), a.id * 10000 + b.id) + REPLICATE('x', 20) AS t \
         FROM dbo.n a, dbo.m b WHERE b.id < 10000) x \
         JOIN (SELECT CONVERT(varchar(40), a.id * 10000 + b.id) + REPLICATE('x', 20) AS t \
         FROM dbo.n a, dbo.m b WHERE b.id < 10000) y ON x.t = y.t",
        Moment::Within(3000),
    ),
    at(
        "PERCENTILE_CONT",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a.id * 10000 + b.id) OVER () \
         FROM dbo.n a, dbo.m b WHERE b.id < 10000",
        Moment::Within(2500),
    ),
    at(
        "scan without output",
        "SELECT a.id FROM dbo.n a, dbo.m b WHERE a.v + b.v < 0",
        Moment::Within(500),
    ),
    at("WAITFOR", "WAITFOR DELAY '00:01:00'", Moment::Within(100)),
    at("WHILE", "DECLARE @i bigint = 0; WHILE 1 = 1 SET @i += 1", Moment::Within(200)),
    at(
        "WHILE of transactions",
        "WHILE 1 = 1 UPDATE dbo.own SET v += 1 WHERE id = 7",
        Moment::Within(300),
    ),
    at(
        "ROW_NUMBER",
        "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY b.v % 1009, a.id) AS r \
         FROM dbo.n a, dbo.m b WHERE b.id < 10000) x",
        Moment::Within(2500),
    ),
    at(
        "physical stats",
        "SELECT * FROM sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL, 'DETAILED') a, \
         dbo.n b, dbo.n c",
        Moment::Within(200),
    ),
    at("CHECKDB", "DBCC CHECKDB", Moment::Within(600)),
    at("CHECKTABLE", "DBCC CHECKTABLE ('dbo.wide')", Moment::Within(400)),
    undoing("CREATE INDEX", "CREATE INDEX IX_wide ON dbo.wide (v, id)", Moment::Within(300)),
    undoing(
        "CREATE INDEX, wide",
        "CREATE INDEX IX_wide ON dbo.wide (v, id) INCLUDE (w, filler)",
        Moment::Within(4000),
    ),
    undoing(
        "INSERT SELECT",
        "INSERT dbo.copied WITH (TABLOCKX) SELECT id, v FROM dbo.m",
        Moment::Within(700),
    ),
    undoing("UPDATE", "UPDATE dbo.m WITH (TABLOCKX) SET v += 1", Moment::Within(600)),
    undoing("DELETE", "DELETE dbo.m WITH (TABLOCKX)", Moment::Within(200)),
];

/// Times of one situation.
#[derive(Default)]
struct Times {
    worst_ms: f64,
    /// The worst of the answer's time in the time that the statement had run.
    worst_share: f64,
    count: usize,
}

/// Every situation, plain and encrypted in turn.
pub(crate) fn measure(server: &mut ServerProcess, how: &str) -> Part {
    let mut first = server.client()?;
    for text in SCHEMA {
        asked(&mut first, text)?;
    }
    let mut blocker = server.client()?;
    asked(&mut blocker, "USE Cut; BEGIN TRAN; UPDATE dbo.n SET v += 0 WHERE id = 1")?;
    let mut random = Random(5);
    let mut first_row = None;
    let mut figures = Vec::new();
    for (i, situation) in SITUATIONS.iter().enumerate() {
        if i == 2 {
            // The lock has served.
            asked(&mut blocker, "ROLLBACK")?;
        }
        let took = repeat(server.port()?, situation, &mut random, &mut first_row);
        figures.push(judge(situation, how, took));
    }
    figures.push(behind_the_reader(server.port()?, &mut first)?);
    Ok(figures)
}

fn judge(situation: &Situation, how: &str, took: Outcome<Times>) -> Figure {
    let what = format!("attention, {how}: {}", situation.name);
    let limit = if situation.undoes { "twice the time it had run" } else { "100 ms" }.to_owned();
    match took {
        Err(why) => Figure { what, figure: why, limit, pass: false },
        Ok(Times { worst_ms, worst_share, count }) if situation.undoes => Figure {
            what: format!("{what}, undone before the answer"),
            figure: format!("worst of {count}: {worst_ms:.0} ms, {worst_share:.2} of the time run"),
            limit,
            pass: worst_ms <= MS_MAX || worst_share <= 2.0,
        },
        Ok(Times { worst_ms, count, .. }) => Figure {
            what,
            figure: format!("worst of {count}: {worst_ms:.1} ms"),
            limit,
            pass: worst_ms <= MS_MAX,
        },
    }
}

fn repeat(
    port: u16,
    situation: &Situation,
    random: &mut Random,
    first_row: &mut Option<Duration>,
) -> Outcome<Times> {
    let mut times = Times::default();
    let mut moment = situation.moment;
    for i in 0..TRIES {
        let mut client = match i % 2 {
            0 => Client::login(port, "sa", PASSWORD).map_err(|e| format!("login: {e}"))?,
            _ => encrypted(port)?,
        };
        asked(&mut client, "USE Cut; BEGIN TRAN; UPDATE dbo.own SET v = 5 WHERE id = 5")?;
        let cut = |e: std::io::Error| format!("{}: {e}", situation.text);
        let start = Instant::now();
        client.send_batch(situation.text).map_err(cut)?;
        await_moment(&client, moment, random, first_row, start).map_err(cut)?;
        let ran = start.elapsed();
        let sent = Instant::now();
        client.attention().map_err(cut)?;
        if !client.acknowledged().map_err(cut)? {
            moment = moment.sooner(ran);
            continue;
        }
        let took = sent.elapsed();
        let ms = took.as_secs_f64() * 1e3;
        if ms > times.worst_ms {
            times.worst_ms = ms;
            times.worst_share = took.as_secs_f64() / ran.as_secs_f64();
        }
        times.count += 1;
        goes_on(&mut client)?;
        if times.count == REPETITIONS {
            return Ok(times);
        }
    }
    Err(format!("{} of {TRIES} attentions came before the end", times.count))
}

/// The transaction is open with what it had done, nothing of the statement stayed.
fn goes_on(client: &mut Client) -> Outcome<()> {
    let text = "SELECT @@TRANCOUNT, (SELECT v FROM dbo.own WHERE id = 5), \
                (SELECT COUNT(*) FROM dbo.copied)";
    let found = asked(client, text)?.rows;
    if found != [[1, 5, 0]] {
        return Err(format!("after an attention the transaction finds {found:?}"));
    }
    asked(client, "ROLLBACK").map(|_| ())
}

fn await_moment(
    client: &Client,
    moment: Moment,
    random: &mut Random,
    first_row: &mut Option<Duration>,
    start: Instant,
) -> std::io::Result<()> {
    let pause = |us: u64| thread::sleep(Duration::from_micros(us));
    match (moment, *first_row) {
        (Moment::Within(ms), _) => pause(1000 + random.below(ms * 1000)),
        (Moment::OfFirstRow(from, to), Some(whole)) => {
            let hundredths = from + random.below(to - from + 1);
            pause(whole.as_micros() as u64 * hundredths / 100);
        }
        (Moment::OfFirstRow(..), None) => {
            client.answer_begins()?;
            *first_row = Some(start.elapsed());
        }
        (Moment::AfterFirstRow, _) => {
            client.answer_begins()?;
            pause(random.below(20_000));
        }
        (Moment::WhenFull, _) => {
            client.answer_begins()?;
            pause(300_000 + random.below(100_000));
        }
    }
    Ok(())
}

/// The request of a client that goes on not reading ends all the same: seen from beside it.
fn behind_the_reader(port: u16, beside: &mut Client) -> Outcome<Figure> {
    let running = "SELECT COUNT(*) FROM sys.dm_exec_requests r JOIN sys.dm_exec_sessions s \
                   ON s.session_id = r.session_id WHERE s.program_name = 'prove' \
                   AND r.session_id <> @@SPID";
    let mut worst_ms = 0.0_f64;
    for i in 0..REPETITIONS {
        let lost = |e: std::io::Error| format!("{FLOOD}: {e}");
        let mut client = match i % 2 {
            0 => Client::login(port, "sa", PASSWORD).map_err(lost)?,
            _ => encrypted(port)?,
        };
        asked(&mut client, "USE Cut")?;
        client.send_batch(FLOOD).map_err(lost)?;
        client.answer_begins().map_err(lost)?;
        thread::sleep(Duration::from_millis(400));
        if asked(beside, running)?.rows != [[1]] {
            return Err("the flood does not run".to_owned());
        }
        let sent = Instant::now();
        client.attention().map_err(lost)?;
        while asked(beside, running)?.rows != [[0]] {
            if sent.elapsed() > Duration::from_secs(10) {
                return Err("a request goes on for a client that does not read".to_owned());
            }
        }
        worst_ms = worst_ms.max(sent.elapsed().as_secs_f64() * 1e3);
        client.acknowledged().map_err(lost)?;
    }
    Ok(Figure {
        what: "attention: end of a request whose client never reads, seen from beside".to_owned(),
        figure: format!("worst of {REPETITIONS}: {worst_ms:.1} ms"),
        limit: "100 ms".to_owned(),
        pass: worst_ms <= MS_MAX,
    })
}
