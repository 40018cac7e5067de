//! DBCC CHECKDB itself: damages planted in a database, a drawn number of every kind, are each
//! reported with object and page; nothing is reported of databases that have none, after a crash
//! neither; and whatever is damaged, queries and changes are answered, by rows or by an error.
//!
//! `GHOSTLIGHT_DAMAGES=300` says how many, `GHOSTLIGHT_DAMAGE_SEED` where they begin,
//! `GHOSTLIGHT_DAMAGE_KIND` which kind alone.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[path = "../heard/mod.rs"]
mod heard;
mod image;
mod plant;
mod populate;
mod server;

use heard::Response;
use image::{Image, Unit, Units, unit_of_bigint};
use plant::{KINDS, Kind, PlantedDamage};
use server::{DATABASE, Server};
use sim::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use types::Value;

/// How long one damaged database may keep anybody busy.
const PATIENCE: Duration = Duration::from_secs(120);
const DAMAGES: u64 = 60;

/// Panics of any thread, with their places.
static PANICS: AtomicU32 = AtomicU32::new(0);

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("ghostlight-damage-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn data_file(dir: &Path) -> PathBuf {
    dir.join(format!("{DATABASE}.mdf"))
}

fn log_file(dir: &Path) -> PathBuf {
    dir.join(format!("{DATABASE}_log.ldf"))
}

fn units_of(server: &mut Server) -> Units {
    let text = "select p.object_id, o.name, p.index_id, i.name, a.allocation_unit_id \
                from sys.partitions p join sys.objects o on o.object_id = p.object_id \
                join sys.indexes i on i.object_id = p.object_id and i.index_id = p.index_id \
                join sys.allocation_units a on a.container_id = p.partition_id \
                where o.type = 'U'";
    let mut units = Units::new();
    for row in server.must(DATABASE, text).rows {
        let cells: Vec<String> = row.iter().map(Value::to_string).collect();
        let unit = Unit {
            object: cells[0].parse().unwrap(),
            table: cells[1].clone(),
            index: cells[2].parse().unwrap(),
            index_name: cells[3].clone(),
            large: false,
        };
        units.insert(unit_of_bigint(cells[4].parse().unwrap()), unit);
    }
    // The view does not show the unit of values off the rows; it is made right after the rows'.
    let rows = units.iter().find(|(_, u)| u.table == "Documents" && u.index == 1);
    let (&unit, of_rows) = rows.unwrap();
    let large = Unit { large: true, ..of_rows.clone() };
    assert!(units.insert(unit + 1, large).is_none(), "numbers are given in order");
    units
}

/// A sound database: its files, its units, its answers.
struct Sound {
    data: Image,
    log: Vec<u8>,
    units: Units,
    answers: Vec<Vec<Vec<Value>>>,
}

fn clean(server: &mut Server, when: &str) {
    let answer = server.ask(DATABASE, "dbcc checkdb with no_infomsgs");
    let messages: Vec<&str> = answer.messages.iter().map(base::SqlError::text).collect();
    assert!(messages.is_empty(), "{when}, nothing is damaged: {messages:#?}");
}

fn make(dir: &Path, seed: u64) -> Sound {
    let mut server = Server::open(dir);
    populate::populate(&mut server, seed);
    clean(&mut server, "new");
    let units = units_of(&mut server);
    let answers =
        populate::QUESTIONS.iter().map(|q| server.must(DATABASE, q).rows).collect::<Vec<_>>();
    assert!(answers.iter().all(|rows| !rows.is_empty()));
    server.stop().unwrap();
    let mut data = Image { bytes: std::fs::read(data_file(dir)).unwrap() };
    // The doublewrite area would heal what is damaged.
    data.bytes[16 * 8192..48 * 8192].fill(0);
    Sound { data, log: std::fs::read(log_file(dir)).unwrap(), units, answers }
}

fn restore(dir: &Path, sound: &Sound, data: &Image) {
    std::fs::write(data_file(dir), &data.bytes).unwrap();
    std::fs::write(log_file(dir), &sound.log).unwrap();
}

/// Whether the check named object and page.
fn reported(planted: &PlantedDamage, answer: &Response) -> bool {
    let object = planted.object;
    let names_object = |text: &str| {
        text.contains(&format!("bject ID {object},"))
            || text.contains(&format!("(ID {object})"))
            || text.contains(&format!("object ID {object})"))
    };
    let names_page =
        |text: &str| planted.pages.iter().any(|page| text.contains(&format!("(1:{page})")));
    answer.errors().any(|e| names_page(e.text()))
        && (object == 0 || answer.messages.iter().any(|e| names_object(e.text())))
}

/// What became of one damaged database.
struct Outcome {
    reported: bool,
    said: Vec<String>,
    wrong_rows: Option<String>,
}

fn try_one(
    dir: PathBuf,
    kind: &'static Kind,
    planted: PlantedDamage,
    answers: Vec<Vec<Vec<Value>>>,
) -> Outcome {
    let mut server = Server::open(&dir);
    let checked = server.ask(DATABASE, "dbcc checkdb with no_infomsgs");
    let said = checked.messages.iter().map(|m| format!("{}: {}", m.number(), m.text())).collect();
    let mut wrong_rows = None;
    for (question, expected) in populate::QUESTIONS.iter().zip(&answers) {
        let answer = server.ask(DATABASE, question);
        let failed = answer.error().is_some();
        if kind.read_notices && !failed && answer.rows != *expected {
            wrong_rows = Some((*question).to_owned());
        }
    }
    for change in populate::CHANGES {
        server.ask(DATABASE, change);
    }
    server.ask(DATABASE, "dbcc checktable ('dbo.Ordered')");
    server.ask(DATABASE, "dbcc checkdb");
    // What is damaged may hinder it.
    let _ = server.stop();
    Outcome { reported: reported(&planted, &checked), said, wrong_rows }
}

/// The same, and an end to it.
fn in_time(dir: &Path, kind: &'static Kind, planted: &PlantedDamage, sound: &Sound) -> Outcome {
    let (give, take) = channel();
    let (dir, of, answers) = (dir.to_owned(), planted.clone(), sound.answers.clone());
    let task = os::task::spawn("damaged", move || {
        let _ = give.send(try_one(dir, kind, of, answers));
    });
    match take.recv_timeout(PATIENCE) {
        Ok(outcome) => {
            task.join().unwrap();
            outcome
        }
        Err(e) => panic!("{}: {}: no end ({e})", kind.name, planted.what),
    }
}

fn draw(sound: &Sound, kind: &Kind, r: &mut Random) -> (Image, PlantedDamage) {
    for _ in 0..1000 {
        let mut data = sound.data.clone();
        if let Some(planted) = (kind.plant)(&mut data, &sound.units, r) {
            assert!(data.bytes != sound.data.bytes, "{}: something changed", kind.name);
            return (data, planted);
        }
    }
    panic!("{}: nothing to damage", kind.name);
}

#[derive(Default)]
struct Counts {
    planted: u32,
    silent: Vec<String>,
    panics: Vec<String>,
    wrong_rows: Vec<String>,
}

#[test]
fn every_planted_damage_is_reported() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(panic);
    }));
    let (damages, seed) =
        (number("GHOSTLIGHT_DAMAGES", DAMAGES), number("GHOSTLIGHT_DAMAGE_SEED", 1));
    let only = std::env::var("GHOSTLIGHT_DAMAGE_KIND").unwrap_or_default();
    let folder = Folder::new("planted");
    let sound = make(&folder.0, seed);
    let kinds: Vec<&'static Kind> = KINDS.iter().filter(|k| k.name.contains(&only)).collect();
    let mut by_kind: BTreeMap<usize, Counts> = BTreeMap::new();
    for n in 0..damages {
        let place = n as usize % kinds.len();
        let (kind, mut r) = (kinds[place], Random::new(seed * 1_000_003 + n));
        let (data, planted) = draw(&sound, kind, &mut r);
        restore(&folder.0, &sound, &data);
        let panics = PANICS.load(Ordering::Relaxed);
        let outcome = in_time(&folder.0, kind, &planted, &sound);
        let counts = by_kind.entry(place).or_default();
        counts.planted += 1;
        let case = format!("damage {n}, {}: {} {:?}", kind.name, planted.what, planted.pages);
        if !outcome.reported {
            counts.silent.push(format!("{case}\n  {:#?}", outcome.said));
        }
        if PANICS.load(Ordering::Relaxed) > panics {
            counts.panics.push(case.clone());
        }
        counts.wrong_rows.extend(outcome.wrong_rows.map(|q| format!("{case}: {q}")));
    }
    let mut bad = Vec::new();
    for (place, counts) in by_kind {
        let Counts { planted, silent, panics, wrong_rows } = counts;
        let (s, p, w) = (silent.len(), panics.len(), wrong_rows.len());
        println!("{planted} planted, {s} silent, {p} panics, {w} wrong: {}", kinds[place].name);
        bad.extend(silent.into_iter().map(|t| format!("not reported: {t}")));
        bad.extend(panics.into_iter().map(|t| format!("panicked: {t}")));
        bad.extend(wrong_rows.into_iter().map(|t| format!("returned damaged rows: {t}")));
    }
    println!("{} damages planted, {} not as they must", damages, bad.len());
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Databases without damage: populated, restarted, killed in the middle of a transaction.
#[test]
fn nothing_is_reported_of_sound_databases() {
    let rounds = number("GHOSTLIGHT_DAMAGES", DAMAGES).div_ceil(30);
    for seed in 0..rounds {
        let folder = Folder::new(&format!("sound-{seed}"));
        let mut server = Server::open(&folder.0.join("0"));
        populate::populate(&mut server, 100 + seed);
        clean(&mut server, "populated");
        server.must(DATABASE, populate::UNCOMMITTED);
        clean(&mut server, "within its own transaction");
        // What a killed process leaves: the files as they are now.
        let killed = folder.0.join("1");
        std::fs::create_dir_all(&killed).unwrap();
        for file in std::fs::read_dir(folder.0.join("0")).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), killed.join(file.file_name())).unwrap();
        }
        let mut recovered = Server::open(&killed);
        clean(&mut recovered, "recovered");
        for change in populate::CHANGES {
            recovered.must(DATABASE, change);
        }
        clean(&mut recovered, "changed");
        recovered.stop().unwrap();
        let mut again = Server::open(&killed);
        clean(&mut again, "restarted");
        again.stop().unwrap();
        server.ask(DATABASE, "rollback");
        clean(&mut server, "rolled back");
        server.stop().unwrap();
    }
    println!("{rounds} sound databases, no false report");
}
