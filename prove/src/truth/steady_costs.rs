//! 3.3 and 3.4, costs that do not grow with what is there: each is told as a ratio to what a plain
//! statement of the same kind takes, or to what it took when there was less.

use crate::ground::client::{Client, asked};
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess};
use checks::Outcome;
use std::ops::Range;
use std::time::Instant;

const TABLES: usize = 3000;
/// Tables of which the mean is taken.
const WINDOW: usize = 400;
const VARIABLES: usize = 5000;
const VARIABLES_SECONDS_MAX: f64 = 1.0;
/// Microseconds of a call of a function that has a table variable.
const CALL_US_MAX: f64 = 1000.0;

/// Lists of constants, of 20 and of 20,000.
pub(crate) fn lists(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let (server, mut client) = filled(ground, "truth.3.3.lists")?;
    let mut figures = Vec::new();
    for not in ["", "NOT "] {
        for column in ["v", "v + 0", "s"] {
            let counted = |n: usize| {
                let constant = |k: usize| match column {
                    "s" => format!("'x{}'", k * 7),
                    _ => (k * 7).to_string(),
                };
                let list: Vec<String> = (0..n).map(constant).collect();
                format!("SELECT count(*) FROM big WHERE {column} {not}IN ({})", list.join(", "))
            };
            let few = seconds(&mut client, &counted(20))?;
            let many = seconds(&mut client, &counted(20_000))?;
            let what = format!("{column} {not}IN of 20,000 constants over 300,000 rows");
            figures.push(ratio(&what, many, few, 10.0));
        }
    }
    server.stop()?;
    Ok(figures)
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let (server, mut client) = filled(ground, "truth.3.4.costs")?;
    let mut figures = vec![temporary_tables(&server, &mut client)?, variables(&mut client)?];
    figures.push(calls(&mut client)?);
    figures.extend(twice_as_much(&mut client)?);
    figures.push(compared(
        &mut client,
        "sought by RAND() against by a constant",
        "SELECT count(*) FROM big WHERE id = 1 + CAST(RAND() * 200000 AS int)",
        "SELECT count(*) FROM big WHERE id = 4711",
        20.0,
    )?);
    figures.push(compared(
        &mut client,
        "EXISTS beside OR against EXISTS alone",
        "SELECT count(*) FROM big b WHERE b.v = 1 \
         OR EXISTS (SELECT 1 FROM other o WHERE o.k = b.id)",
        "SELECT count(*) FROM big b WHERE EXISTS (SELECT 1 FROM other o WHERE o.k = b.id)",
        6.0,
    )?);
    server.stop()?;
    Ok(figures)
}

/// A server with a table of 300,000 rows and another one, indexed.
fn filled(ground: &Ground<'_>, name: &str) -> Outcome<(ServerProcess, Client)> {
    let folder = ground.folder(name)?;
    let mut server = ServerProcess::start(&ground.binary()?, &folder.join("data"))?;
    let mut client = server.client()?;
    for text in [
        "CREATE TABLE big (id int NOT NULL PRIMARY KEY, v int NOT NULL, s varchar(20) NOT NULL); \
         INSERT big SELECT value, value * 11 % 100003, concat('x', value) \
         FROM generate_series(1, 300000)",
        "CREATE TABLE other (id int NOT NULL PRIMARY KEY, k int NOT NULL, INDEX ik (k)); \
         INSERT other SELECT value, value * 3 FROM generate_series(1, 100000)",
        "CREATE FUNCTION dbo.listed (@n int) RETURNS int AS BEGIN \
         DECLARE @t table (a int); INSERT @t VALUES (@n); RETURN (SELECT max(a) FROM @t) END",
    ] {
        asked(&mut client, text)?;
    }
    Ok((server, client))
}

/// The best of three, the first of which has compiled it.
fn seconds(client: &mut Client, text: &str) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        asked(client, text)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn ratio(what: &str, own: f64, than: f64, most: f64) -> Figure {
    let times = own / than.max(1e-6);
    Figure {
        what: what.to_owned(),
        figure: format!("{:.2} ms against {:.2} ms, {times:.1} times", own * 1e3, than * 1e3),
        limit: format!("{most} times"),
        pass: times <= most,
    }
}

fn compared(client: &mut Client, what: &str, own: &str, than: &str, most: f64) -> Outcome<Figure> {
    let (own, than) = (seconds(client, own)?, seconds(client, than)?);
    Ok(ratio(what, own, than, most))
}

/// The last of many temporary tables against the first, in CPU time of the server: how soon an
/// idle core wakes for a short statement differs by more than what is looked for.
fn temporary_tables(server: &ServerProcess, client: &mut Client) -> Outcome<Figure> {
    let mut create = |tables: Range<usize>| {
        let (count, before) = (tables.len(), server.cpu()?);
        for n in tables {
            asked(client, &format!("CREATE TABLE #t{n} (a int PRIMARY KEY, b varchar(20))"))?;
        }
        Ok::<f64, String>((server.cpu()? - before).as_secs_f64() / count as f64)
    };
    create(0..WINDOW)?;
    let first = create(WINDOW..2 * WINDOW)?;
    create(2 * WINDOW..TABLES - WINDOW)?;
    let last = create(TABLES - WINDOW..TABLES)?;
    Ok(ratio("CPU of CREATE TABLE #t with 3,000 of them there", last, first, 2.0))
}

fn variables(client: &mut Client) -> Outcome<Figure> {
    let declared: Vec<String> = (0..VARIABLES).map(|n| format!("@v{n} int = {n}")).collect();
    let text = format!("DECLARE {}; SELECT @v{}", declared.join(", "), VARIABLES - 1);
    let start = Instant::now();
    asked(client, &text)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Figure {
        what: format!("DECLARE of {VARIABLES} variables"),
        figure: format!("{seconds:.2} s"),
        limit: format!("{VARIABLES_SECONDS_MAX} s"),
        pass: seconds <= VARIABLES_SECONDS_MAX,
    })
}

/// A function with a table variable, called for each of 2,000 rows.
fn calls(client: &mut Client) -> Outcome<Figure> {
    let text = "SELECT sum(dbo.listed(id)) FROM big WHERE id <= 2000";
    let us = seconds(client, text)? * 1e6 / 2000.0;
    Ok(Figure {
        what: "a call of a function with a table variable".to_owned(),
        figure: format!("{us:.0} us"),
        limit: format!("{CALL_US_MAX} us"),
        pass: us <= CALL_US_MAX,
    })
}

/// What takes time by how much there is, and not by its square: twice as much against the half.
fn twice_as_much(client: &mut Client) -> Outcome<Vec<Figure>> {
    let appends = |n: usize, _: usize| {
        format!(
            "DECLARE @s nvarchar(max) = N'', @i int = 0; WHILE @i < {n} BEGIN \
             SET @s += N'0123456789012345678901234567890123456789'; SET @i += 1 END; SELECT len(@s)"
        )
    };
    let joined = |n: usize, _: usize| {
        format!(
            "DECLARE @s varchar(max) = ''; SELECT @s = @s + s + ', ' FROM big WHERE id <= {n}; \
             SELECT len(@s)"
        )
    };
    let unequal = |n: usize, turn: usize| {
        let conditions: Vec<String> = (0..n).map(|k| format!("v <> {}", k * 3 + turn)).collect();
        format!("SELECT count(*) FROM big WHERE id < 10 AND {}", conditions.join(" AND "))
    };
    let quoted = |n: usize, turn: usize| {
        let one = |k: usize| {
            let switch = if k.is_multiple_of(2) { "OFF" } else { "ON" };
            format!("SET QUOTED_IDENTIFIER {switch}; ")
        };
        let switches: String = (0..n).map(one).collect();
        format!("{switches} SELECT {turn} AS \"q\"")
    };
    type Text<'t> = &'t dyn Fn(usize, usize) -> String;
    let cases: [(&str, usize, Text<'_>); 4] = [
        ("SET @s += of a variable, 40,000 times against 20,000", 20_000, &appends),
        ("SELECT @s = @s + of 200,000 rows against 100,000", 100_000, &joined),
        ("v <> 1 AND v <> 2 …, 20,000 against 10,000", 10_000, &unequal),
        ("SET QUOTED_IDENTIFIER in one batch, 20,000 against 10,000", 10_000, &quoted),
    ];
    cases.into_iter().map(|(what, half, text)| doubled(client, what, half, text)).collect()
}

/// The best of seven turns, half and whole by turns: a short batch takes half as long again where
/// the machine is busy elsewhere. Each time another text, so that what compiling takes is in it.
fn doubled(
    client: &mut Client,
    what: &str,
    half: usize,
    text: &dyn Fn(usize, usize) -> String,
) -> Outcome<Figure> {
    let mut best = [f64::INFINITY; 2];
    for turn in 0..7 {
        for (best, n) in best.iter_mut().zip([half, 2 * half]) {
            let text = text(n, turn);
            let start = Instant::now();
            asked(client, &text)?;
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let [few, many] = best;
    Ok(ratio(what, many, few, 3.0))
}
