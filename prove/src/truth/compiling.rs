//! 3.2, compiling ends: statements that would stand for millions of parts are refused in time and
//! within memory, what nests is compiled in time that grows with its depth, and an attention or
//! KILL ends a compilation.

use crate::ground::client::Client;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, PASSWORD, ServerProcess, of_process};
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

/// To the error that refuses it.
const REFUSED_SECONDS_MAX: f64 = 5.0;
/// What the server may take beside for that.
const MORE_KB_MAX: u64 = 1 << 20;
/// A statement of 30 levels.
const NESTED_SECONDS_MAX: f64 = 2.0;
/// From an attention or KILL to its effect.
const END_SECONDS_MAX: f64 = 0.5;
const DEPTH: usize = 30;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let binary = ground.binary()?;
    let folder = ground.folder("truth.3.2.compiling")?;
    let mut server = ServerProcess::start(&binary, &folder.join("data"))?;
    let mut client = server.client()?;
    told(&mut client, "CREATE TABLE p (a int, b int, c varchar(20)); INSERT p VALUES (1, 2, 'x')")?;
    let before = peak_kb(&server);
    let mut figures = Vec::new();
    for (name, text) in bombs() {
        figures.push(refused(&mut client, name, &text)?);
    }
    let more = peak_kb(&server).saturating_sub(before);
    figures.push(Figure {
        what: "memory for what was refused".to_owned(),
        figure: format!("{} MB", more >> 10),
        limit: format!("{} MB", MORE_KB_MAX >> 10),
        pass: more <= MORE_KB_MAX,
    });
    for (name, nest) in NESTS {
        figures.push(nested(&mut client, name, *nest)?);
    }
    doubled_views(&mut client)?;
    for (what, text) in [("compilation", long_to_compile()), ("definition", long_to_define())] {
        figures.push(ended_by_attention(&mut client, what, &text)?);
        figures.push(ended_by_kill(&mut server, what, &text)?);
    }
    server.stop()?;
    Ok(figures)
}

fn peak_kb(server: &ServerProcess) -> u64 {
    of_process(server.id(), "status", "VmHWM:").unwrap_or(0)
}

/// A batch with the numbers of its errors.
fn told(client: &mut Client, text: &str) -> Outcome<Vec<i32>> {
    let answer = client.batch(text).map_err(|e| format!("{}: {e}", start_of(text)))?;
    let number = |e: &String| e.split(':').next().and_then(|n| n.parse().ok());
    Ok(answer.errors.iter().filter_map(number).collect())
}

fn start_of(text: &str) -> String {
    text.chars().take(80).collect()
}

/// `with c0 as (…), c1 as (… c0 … c0 …) …`, so many of them.
fn doubled(first: &str, next: impl Fn(usize) -> String, last: usize) -> String {
    let later: String = (1..=last).map(|n| format!(", c{n} AS ({})", next(n - 1))).collect();
    format!("WITH c0 AS ({first}){later} SELECT count(*) FROM c{last}")
}

fn bombs() -> Vec<(&'static str, String)> {
    let crossed = |n| format!("SELECT a.x FROM c{n} a CROSS JOIN c{n} b");
    let united = |n| format!("SELECT x FROM c{n} UNION ALL SELECT x + 1 FROM c{n}");
    let asked =
        |n| format!("SELECT a.x FROM c{n} a WHERE EXISTS (SELECT 1 FROM c{n} b WHERE b.x = a.x)");
    vec![
        ("2^24 references, crossed", doubled("SELECT 1 x", crossed, 24)),
        ("2^24 references to a table, united", doubled("SELECT a x FROM p", united, 24)),
        ("2^24 references in EXISTS", doubled("SELECT a x FROM p", asked, 24)),
    ]
}

fn refused(client: &mut Client, name: &str, text: &str) -> Outcome<Figure> {
    let start = Instant::now();
    let errors = told(client, text)?;
    let seconds = start.elapsed().as_secs_f64();
    let right = matches!(errors.as_slice(), [8623 | 701]);
    Ok(Figure {
        what: name.to_owned(),
        figure: format!("{errors:?} after {seconds:.2} s"),
        limit: format!("8623 or 701 within {REFUSED_SECONDS_MAX} s"),
        pass: right && seconds <= REFUSED_SECONDS_MAX,
    })
}

type Nest = fn(usize) -> String;

const NESTS: &[(&str, Nest)] = &[
    ("EXISTS", |n| conditions(n, exists)),
    ("NOT EXISTS", |n| conditions(n, |k| format!("NOT {}", exists(k)))),
    ("EXISTS without ties", |n| {
        format!("{}SELECT 1{}", "SELECT a FROM p q WHERE EXISTS (".repeat(n), ")".repeat(n))
    }),
    ("IN", |n| conditions(n, |k| format!("p{}.a IN (SELECT p{k}.a FROM p p{k} WHERE ", k - 1))),
    ("NOT IN", |n| {
        conditions(n, |k| format!("p{}.a NOT IN (SELECT p{k}.a FROM p p{k} WHERE ", k - 1))
    }),
    ("scalar subqueries", |n| {
        conditions(n, |k| {
            format!("p{0}.a = (SELECT max(p{k}.a) FROM p p{k} WHERE p{k}.b = p{0}.b AND ", k - 1)
        })
    }),
    ("two EXISTS a level", |n| {
        let level = |inner: String, k: usize| {
            format!(
                "EXISTS (SELECT 1 FROM p p{k} WHERE p{k}.a = p{0}.a AND {inner}) AND \
                 EXISTS (SELECT 1 FROM p q{k} WHERE q{k}.a = p{0}.b)",
                k - 1
            )
        };
        let all = (1..=n).rev().fold("1 = 1".to_owned(), level);
        format!("SELECT count(*) FROM p p0 WHERE {all}")
    }),
    ("derived tables, joined", |n| {
        let all = (0..n).fold("p".to_owned(), |inner, k| {
            format!("(SELECT x{k}.a, y{k}.b FROM {inner} AS x{k} JOIN p y{k} ON x{k}.a = y{k}.a)")
        });
        format!("SELECT count(*) FROM {all} AS z")
    }),
    ("CASE", |n| {
        let all = (0..n)
            .fold("a".to_owned(), |inner, k| format!("CASE {inner} WHEN {k} THEN 1 ELSE {k} END"));
        format!("SELECT max({all}) FROM p")
    }),
    ("NULLIF, COALESCE, IIF", |n| {
        let all = (0..n).fold("a".to_owned(), |inner, k| match k % 3 {
            0 => format!("NULLIF({inner}, {k})"),
            1 => format!("COALESCE({inner}, {k}, b)"),
            _ => format!("IIF({inner} = {k}, {k}, b)"),
        });
        format!("SELECT max({all}) FROM p")
    }),
    ("functions", |n| {
        let all = (0..n).fold("c".to_owned(), |inner, k| format!("replace({inner}, '{k}', 'y')"));
        format!("SELECT max({all}) FROM p")
    }),
    ("AND in OR in AND", |n| {
        let all = (0..n)
            .fold("a = 1".to_owned(), |inner, k| format!("(({inner}) AND b = {k} OR a = {k})"));
        format!("SELECT count(*) FROM p WHERE {all}")
    }),
    ("an AND of ORs", |n| {
        let one = |k| format!("(a = {k} OR b = {} OR (a < {k} AND b > {k}))", k + 1);
        let all: Vec<String> = (0..n).map(one).collect();
        format!("SELECT count(*) FROM p WHERE {}", all.join(" AND "))
    }),
    ("windows in derived tables", |n| {
        let all = (0..n).fold("p".to_owned(), |inner, k| {
            let number = "row_number() OVER (PARTITION BY a ORDER BY b) r";
            format!("(SELECT a, b, {number} FROM {inner} AS d{k})")
        });
        format!("SELECT count(*) FROM {all} AS z WHERE a = 3")
    }),
    ("joins with all pairs of conditions", |n| {
        let tables: Vec<String> = (0..n).map(|k| format!("p p{k}")).collect();
        let pairs: Vec<String> =
            (0..n).flat_map(|k| (0..k).map(move |j| format!("p{k}.a = p{j}.a"))).collect();
        format!("SELECT count(*) FROM {} WHERE {}", tables.join(", "), pairs.join(" AND "))
    }),
];

/// A level, open.
fn exists(k: usize) -> String {
    format!("EXISTS (SELECT 1 FROM p p{k} WHERE p{k}.a = p{}.a AND ", k - 1)
}

/// `SELECT … WHERE <condition (> <condition (> … 1 = 1))`
fn conditions(depth: usize, level: impl Fn(usize) -> String) -> String {
    let levels: String = (1..=depth).map(level).collect();
    format!("SELECT count(*) FROM p p0 WHERE {levels}1 = 1{}", ")".repeat(depth))
}

/// What a statement takes at half and at the whole of the depth.
fn nested(client: &mut Client, name: &str, nest: Nest) -> Outcome<Figure> {
    let mut seconds = [0.0; 2];
    for (taken, depth) in seconds.iter_mut().zip([DEPTH / 2, DEPTH]) {
        let start = Instant::now();
        let errors = told(client, &nest(depth))?;
        *taken = start.elapsed().as_secs_f64();
        if !errors.is_empty() {
            return Err(format!("{name}, {depth} levels: {errors:?}"));
        }
    }
    let [half, whole] = seconds;
    Ok(Figure {
        what: format!("{name}, {DEPTH} levels"),
        figure: format!("{whole:.3} s, half of them {half:.3} s"),
        limit: format!("{NESTED_SECONDS_MAX} s"),
        pass: whole <= NESTED_SECONDS_MAX,
    })
}

/// Hundreds of EXISTS side by side: to choose their plan takes a while.
fn long_to_compile() -> String {
    let one = |n| {
        let from = "FROM p q JOIN p r ON r.a = q.b";
        format!("EXISTS (SELECT 1 {from} WHERE q.a = p.a AND r.b <> {n})")
    };
    let all: Vec<String> = (0..1500).map(one).collect();
    format!("SELECT count(*) FROM p WHERE {}", all.join(" AND "))
}

const VIEWS: usize = 12;

/// Views each of which names the one before twice.
fn doubled_views(client: &mut Client) -> Outcome<()> {
    told(client, "CREATE VIEW d0 AS SELECT a FROM p")?;
    for n in 1..VIEWS {
        let before = n - 1;
        let text = format!(
            "CREATE VIEW d{n} AS SELECT x.a FROM d{before} x JOIN d{before} y ON x.a = y.a"
        );
        told(client, &text)?;
    }
    Ok(())
}

/// A view whose text stands for very many of them.
fn long_to_define() -> String {
    let names: Vec<String> = (0..60).map(|n| format!("d{} v{n}", VIEWS - 1)).collect();
    format!("CREATE VIEW long AS SELECT count(*) AS n FROM {}", names.join(", "))
}

fn ended(what: &str, seconds: f64, cut: bool) -> Figure {
    Figure {
        what: what.to_owned(),
        figure: format!("{seconds:.3} s{}", if cut { "" } else { ", after its end" }),
        limit: format!("{END_SECONDS_MAX} s, in its midst"),
        pass: cut && seconds <= END_SECONDS_MAX,
    }
}

fn ended_by_attention(client: &mut Client, what: &str, text: &str) -> Outcome<Figure> {
    let trouble = |e: std::io::Error| format!("attention: {e}");
    client.send_batch(text).map_err(trouble)?;
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    client.attention().map_err(trouble)?;
    let cut = client.acknowledged().map_err(trouble)?;
    let seconds = start.elapsed().as_secs_f64();
    told(client, "SELECT 1")?;
    Ok(ended(&format!("an attention ends a {what}"), seconds, cut))
}

fn ended_by_kill(server: &mut ServerProcess, what: &str, text: &str) -> Outcome<Figure> {
    let trouble = |e: std::io::Error| format!("KILL: {e}");
    let mut victim = Client::login(server.port()?, "sa", PASSWORD).map_err(trouble)?;
    let answer = victim.batch("SELECT @@spid").map_err(trouble)?;
    let id = answer.rows.first().and_then(|row| row.first()).copied().ok_or("no @@spid")?;
    victim.send_batch(text).map_err(trouble)?;
    thread::sleep(Duration::from_millis(100));
    let mut other = server.client()?;
    let start = Instant::now();
    told(&mut other, &format!("KILL {id}"))?;
    victim.until_closed(Duration::from_secs(60)).map_err(trouble)?;
    Ok(ended(&format!("KILL ends a {what}"), start.elapsed().as_secs_f64(), true))
}
