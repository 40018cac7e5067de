//! truth.1.2: a log that is damaged is told apart from one that a kill has torn, end to end.
//!
//! 300 commits, SIGKILL, one byte of the log flipped, and the next start: the database is
//! suspect, its files stay as they are, an emergency shows rows before the damage, takes none.

use crate::ground::client::{Client, asked};
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess, empty};
use checks::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

const ROWS: usize = 300;
/// A log is told to be durable to its end when nobody has logged for two turns of its writer.
const IDLE: Duration = Duration::from_millis(1500);
const DATA: &str = "d.mdf";
const LOG: &str = "d_log.ldf";
/// Where the first virtual log file of a log begins, and its two pointers.
const FIRST_VLF: usize = 8192;
const POINTERS: std::ops::Range<usize> = 512..1536;

struct Scene {
    binary: PathBuf,
    data: PathBuf,
}

/// What is seen behind a damage.
struct Observation {
    state: String,
    /// Whether neither file was written by the start.
    untouched: bool,
    /// Rows in an emergency, where there was one.
    rows: Option<i64>,
    refused: bool,
    told: bool,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let scene = Scene { binary: ground.binary()?, data: ground.folder("truth.1.2")?.join("data") };
    Ok(vec![
        flipped_record(&scene, 100)?,
        flipped_record(&scene, 7)?,
        flipped_last(&scene)?,
        flipped_header(&scene, "the header of a virtual log file", |log| log[FIRST_VLF + 9] ^= 1)?,
        flipped_header(&scene, "both checkpoint pointers", |log| {
            log[POINTERS].iter_mut().for_each(|b| *b ^= 0x11);
        })?,
        killed(&scene)?,
    ])
}

fn marker(row: usize) -> String {
    format!("marker of row {row:04}.")
}

impl Scene {
    fn path(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// A folder whose server was killed behind so many commits, each of one row.
    fn left(&self, idle: bool) -> Outcome<()> {
        empty(&self.data)?;
        let mut server = ServerProcess::start(&self.binary, &self.data)?;
        let mut client = server.client()?;
        asked(&mut client, "CREATE DATABASE d")?;
        asked(&mut client, "CREATE TABLE d.dbo.t (id int PRIMARY KEY, what varchar(40))")?;
        for row in 1..=ROWS {
            asked(&mut client, &format!("INSERT d.dbo.t VALUES ({row}, '{}')", marker(row)))?;
        }
        if idle {
            sleep(IDLE);
        }
        server.kill()
    }

    fn bytes(&self) -> Outcome<[Vec<u8>; 2]> {
        let read = |name| fs::read(self.path(name)).map_err(|e| format!("read {name}: {e}"));
        Ok([read(DATA)?, read(LOG)?])
    }

    fn change_log(&self, change: impl FnOnce(&mut Vec<u8>)) -> Outcome<()> {
        let [_, mut log] = self.bytes()?;
        change(&mut log);
        fs::write(self.path(LOG), log).map_err(|e| format!("damage the log: {e}"))
    }

    /// The next start, and what it makes of the database.
    fn seen(&self) -> Outcome<Observation> {
        let before = self.bytes()?;
        let mut server = ServerProcess::start(&self.binary, &self.data)?;
        let mut client = server.client()?;
        let state = one_text(&mut client, "SELECT state_desc FROM sys.databases WHERE name = 'd'")?;
        let untouched = before == self.bytes()?;
        let (mut rows, mut refused) = (None, true);
        if state != "ONLINE" {
            let denied = client.batch("USE d").map_err(|e| e.to_string())?;
            refused = !denied.errors.is_empty();
            asked(&mut client, "ALTER DATABASE d SET EMERGENCY")?;
            let counted =
                client.batch("SELECT count(*) FROM d.dbo.t").map_err(|e| e.to_string())?;
            rows = counted.rows.first().and_then(|row| row.first()).copied();
            let text = "INSERT d.dbo.t VALUES (9999, 'new')";
            let answer = client.batch(text).map_err(|e| e.to_string())?;
            refused &= !answer.errors.is_empty() && before == self.bytes()?;
        }
        server.stop()?;
        let refused = refused && (state == "ONLINE" || before == self.bytes()?);
        let log = fs::read_to_string(self.path("ERRORLOG")).unwrap_or_default();
        let log = if log.is_empty() { error_log(&self.data) } else { log };
        let told = log.contains("3414") && log.contains("damaged");
        Ok(Observation { state, untouched, rows, refused, told })
    }
}

/// All that error logs of a data folder say.
fn error_log(data: &Path) -> String {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("errorlog")
    };
    let entries = fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(named).filter_map(|path| fs::read_to_string(path).ok()).collect()
}

fn one_text(client: &mut Client, text: &str) -> Outcome<String> {
    let answer = asked(client, text)?;
    let found = answer.texts.first().and_then(|row| row.first());
    Ok(found.map_or_else(String::new, |text| text.trim().to_owned()))
}

impl Observation {
    fn figure(self, what: String, rows: std::ops::RangeInclusive<i64>) -> Figure {
        let Observation { state, untouched, rows: found, refused, told } = &self;
        let shown = found.is_some_and(|n| rows.contains(&n));
        Figure {
            what,
            figure: format!(
                "{state}, files untouched: {untouched}, told: {told}, in an emergency {} rows, \
                 writes refused: {refused}",
                found.map_or_else(|| "no".to_owned(), |n| n.to_string()),
            ),
            limit: format!("SUSPECT, untouched, told, {} to {} rows", rows.start(), rows.end()),
            pass: state == "SUSPECT" && *untouched && *told && *refused && shown,
        }
    }
}

fn place_of(log: &[u8], text: &str) -> Outcome<usize> {
    let found = log.windows(text.len()).position(|bytes| bytes == text.as_bytes());
    found.ok_or_else(|| format!("the log has no \"{text}\""))
}

fn flipped_record(scene: &Scene, row: usize) -> Outcome<Figure> {
    scene.left(false)?;
    let at = place_of(&scene.bytes()?[1], &marker(row))?;
    scene.change_log(|log| log[at + 3] ^= 0x20)?;
    let before = row as i64 - 1;
    let what = format!("a flipped byte in the record of row {row} of {ROWS}");
    Ok(scene.seen()?.figure(what, before..=before))
}

/// Nothing was logged behind it; the log was idle.
fn flipped_last(scene: &Scene) -> Outcome<Figure> {
    scene.left(true)?;
    let at = place_of(&scene.bytes()?[1], &marker(ROWS))?;
    scene.change_log(|log| log[at + 3] ^= 0x20)?;
    let before = ROWS as i64 - 1;
    Ok(scene.seen()?.figure("a flipped byte in the last record".to_owned(), before..=before))
}

fn flipped_header(scene: &Scene, what: &str, change: fn(&mut Vec<u8>)) -> Outcome<Figure> {
    scene.left(false)?;
    scene.change_log(change)?;
    let all = ROWS as i64;
    Ok(scene.seen()?.figure(format!("damage of {what}"), all..=all))
}

/// Without damage, SIGKILL alone: never suspect, nothing lost.
fn killed(scene: &Scene) -> Outcome<Figure> {
    scene.left(false)?;
    let mut server = ServerProcess::start(&scene.binary, &scene.data)?;
    let mut client = server.client()?;
    let answer = asked(&mut client, "SELECT count(*) FROM d.dbo.t")?;
    let rows = answer.rows.first().and_then(|row| row.first()).copied().unwrap_or(0);
    server.stop()?;
    Ok(Figure {
        what: "SIGKILL alone".to_owned(),
        figure: format!("{rows} rows"),
        limit: format!("{ROWS}"),
        pass: rows == ROWS as i64,
    })
}
