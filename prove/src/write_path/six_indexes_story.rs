//! log.1, the story of the write path: rows in the order of one index and in no order of five
//! others, one a transaction; what they wait for, what they write, and what fill factors change.
//! Told through go-sqlcmd; a second session keeps the log open while its records are counted.

use crate::ground::client::asked;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, PASSWORD, ServerProcess, finish};
use crate::ground::scene::session;
use checks::Outcome;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const AT_MOST: Duration = Duration::from_secs(600);
const ROWS: i64 = 100_000;
const INDEXES: i64 = 5;
/// Flushes of 10,000 transactions: one each, and some of the log writer's own.
const WRITES: std::ops::RangeInclusive<i64> = 10_000..=10_300;
/// In hundredths of a percent.
const FRAGMENTED_MIN: i64 = 9_000;
const IN_ORDER_MAX: i64 = 100;
const SPLITS_LEFT_MAX: f64 = 0.05;

/// A row of a script's answer, without its name.
type Row = Vec<String>;

struct Story<'a> {
    ground: &'a Ground<'a>,
    work: &'a Path,
    server: ServerProcess,
}

impl Story<'_> {
    /// The rows of that name that a script gives through go-sqlcmd.
    fn tell(&self, script: &str, name: &str) -> Outcome<Vec<Row>> {
        let output = self.output(script)?;
        let rows = output.lines().filter_map(|line| {
            let mut cells = line.split('|').map(|cell| cell.trim().to_owned());
            (cells.next().as_deref() == Some(name)).then(|| cells.collect())
        });
        Ok(rows.collect())
    }

    fn output(&self, script: &str) -> Outcome<String> {
        let sqlcmd = self.ground.workspace.target().join("clients/go-sqlcmd/sqlcmd");
        if !sqlcmd.is_file() {
            return Err("go-sqlcmd is not built; `cargo xtask test --clients` does".into());
        }
        let mut command = Command::new(sqlcmd);
        command.args(["-S", &format!("tcp:127.0.0.1,{}", self.server.port()?), "-U", "sa", "-C"]);
        command.args(["-W", "-b", "-h", "-1", "-s", "|"]).env("SQLCMDPASSWORD", PASSWORD);
        command.arg("-i").arg(self.ground.script(script));
        let finished = finish(command, &self.work.join("sqlcmd.log"), AT_MOST)?;
        if finished.succeeded { Ok(finished.output) } else { Err(finished.output) }
    }

    /// What the log has of 100,000 rows, while another session's transaction is open.
    fn records(&self) -> Outcome<Records> {
        let mut blocker = session(&self.server, "WritePath")?;
        asked(&mut blocker, "BEGIN TRANSACTION; EXEC dbo.AddPersons 1")?;
        let output = self.output("write_path/3_records.sql")?;
        drop(blocker);
        Records::of(&output)
    }
}

/// What `3_records.sql` says.
struct Records {
    clustered: i64,
    entries: i64,
    splits: i64,
    bytes: Vec<i64>,
}

impl Records {
    fn of(output: &str) -> Outcome<Records> {
        let numbers = |name: &str| -> Vec<Vec<i64>> {
            let rows = output.lines().filter_map(|line| line.strip_prefix(&format!("{name}|")));
            let cells = |row: &str| row.split('|').filter_map(|c| c.trim().parse().ok()).collect();
            rows.map(cells).collect()
        };
        let of = |indexes: i64| {
            let rows = numbers("records");
            rows.iter().find(|row| row.first() == Some(&indexes)).map_or(0, |row| row[1])
        };
        let one = |name: &str| numbers(name).into_iter().next().unwrap_or_default();
        let splits = one("splits").first().copied();
        Ok(Records {
            clustered: of(1),
            entries: of(INDEXES),
            splits: splits.ok_or_else(|| format!("no splits are told: {output}"))?,
            bytes: one("all"),
        })
    }
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.1")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    drop(server.client()?);
    let story = Story { ground, work: &work, server };
    story.output("write_path/0_setup.sql")?;
    let mut figures = vec![waits(&story)?, writes(&story)?];
    let before = story.records()?;
    figures.extend(counted(&before));
    figures.extend(orders(&story)?);
    story.output("write_path/5_rebuild.sql")?;
    let after = story.records()?;
    let left = after.splits as f64 / before.splits.max(1) as f64;
    figures.push(Figure {
        what: "splits after a rebuild with FILLFACTOR = 40, against before".to_owned(),
        figure: format!("{left:.3} ({}, {})", after.splits, before.splits),
        limit: format!("{SPLITS_LEFT_MAX}"),
        pass: before.splits > 0 && left <= SPLITS_LEFT_MAX,
    });
    story.server.stop()?;
    Ok(figures)
}

fn waits(story: &Story<'_>) -> Outcome<Figure> {
    let rows = story.tell("write_path/1_waits.sql", "waits")?;
    let first = rows.first().map(|row| row.join(", ")).unwrap_or_default();
    Ok(Figure {
        what: "100,000 full commits: what they waited for most, times, share, ms each".to_owned(),
        pass: first.starts_with("WRITELOG,"),
        figure: first,
        limit: "WRITELOG".to_owned(),
    })
}

fn writes(story: &Story<'_>) -> Outcome<Figure> {
    let rows = story.tell("write_path/2_files.sql", "files")?;
    let writes = rows.first().and_then(|row| row.first()).and_then(|n| n.parse::<i64>().ok());
    let writes = writes.ok_or("no writes are told")?;
    Ok(Figure {
        what: "writes of the log for 10,000 full commits of one session".to_owned(),
        figure: writes.to_string(),
        limit: format!("{} to {}", WRITES.start(), WRITES.end()),
        pass: WRITES.contains(&writes),
    })
}

fn counted(told: &Records) -> Vec<Figure> {
    let entries = ROWS * INDEXES;
    let exactly = |what: &str, n: i64, wanted: i64| Figure {
        what: what.to_owned(),
        figure: n.to_string(),
        limit: wanted.to_string(),
        pass: n == wanted,
    };
    let bytes: Vec<String> = told.bytes.iter().map(i64::to_string).collect();
    vec![
        exactly("LOP_INSERT_ROWS in LCX_CLUSTERED", told.clustered, ROWS),
        exactly("LOP_INSERT_ROWS of one entry in LCX_INDEX_LEAF", told.entries, entries),
        Figure {
            what: "bytes of records, of the records in blocks, of blocks".to_owned(),
            figure: bytes.join(", "),
            limit: "the first two equal".to_owned(),
            pass: told.bytes.len() == 3 && told.bytes[0] == told.bytes[1],
        },
    ]
}

/// Whether the indexes are in the order of their keys: the clustered one is, the others are not.
fn orders(story: &Story<'_>) -> Outcome<Vec<Figure>> {
    let rows = story.tell("write_path/4_fragmentation.sql", "order")?;
    let mut figures = Vec::new();
    for row in &rows {
        let cells: Vec<i64> = row.iter().filter_map(|cell| cell.parse().ok()).collect();
        let [index, fragmented, ..] = cells[..] else { return Err(format!("a row {row:?}")) };
        let clustered = index == 1;
        let limit = if clustered { IN_ORDER_MAX } else { FRAGMENTED_MIN };
        figures.push(Figure {
            what: format!("fragmentation of index {index}, percent"),
            figure: format!("{:.2}", fragmented as f64 / 100.0),
            limit: format!("{} {}", if clustered { "at most" } else { "above" }, limit / 100),
            pass: if clustered { fragmented <= limit } else { fragmented > limit },
        });
    }
    match rows.len() as i64 == 1 + INDEXES {
        true => Ok(figures),
        false => Err(format!("{} indexes are told", rows.len())),
    }
}
