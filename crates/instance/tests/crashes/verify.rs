//! What a reopened instance says, in T-SQL, against what was promised.

use crate::driver::place_of;
use crate::heard::Response;
use crate::oracle::{Existence, Oracle, Place, Rows};
use crate::simulated::{check, login, whole};
use crate::story::PASSING_ROWS;
use crate::{ATTEMPTS, DATA, SCHEMA, options};
use base::SqlError;
use instance::{Instance, InstanceOptions};
use session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use types::Value;

/// Whether it says that there was no space.
pub(crate) fn wants_space(error: &SqlError) -> bool {
    [1105, 5123, 5149, 9002].contains(&error.number()) || error.text().contains("no storage space")
}

/// Opens the folder; again where the disk refused space. `made`: the database is in it.
pub(crate) fn open(disk: &Arc<sim::Disk>, options: InstanceOptions, made: bool) -> Arc<Instance> {
    for _ in 0..ATTEMPTS {
        let disk = Arc::clone(disk) as Arc<dyn os::disk::Disk>;
        match Instance::open(disk, Path::new(DATA), options.clone()) {
            Ok(instance) => {
                if !made || instance.database_by_name("crash").is_some() {
                    return instance;
                }
                instance.stop().expect("what is open is closed");
            }
            Err(e) => assert!(wants_space(&e), "{e:?}"),
        }
    }
    let how = os::disk::OpenMode { create: false, direct: false };
    let path = Path::new(DATA).join("errorlog");
    let file = os::disk::Disk::open(&**disk, &path, how).expect("the error log");
    let log = disk.bytes_at(&path, 0, file.len().expect("its length") as usize);
    panic!("database crash stays closed: {}", String::from_utf8_lossy(&log));
}

pub(crate) fn reopened(disk: Arc<sim::Disk>, p: &Oracle) {
    let schema = p.schema.load(Relaxed) as usize;
    let instance = open(&disk, options(1), schema > 0);
    databases(&instance, p);
    if schema == SCHEMA.len() {
        look(&instance, p);
    } else if schema > 0 {
        check(&mut instance.connect(login("crash")).expect("a session"), "crash");
        half_made(&instance, schema);
    }
    instance.stop().expect("a recovered instance stops");
}

/// What was said to be made is there.
fn half_made(instance: &Instance, schema: usize) {
    let mut session = instance.connect(login("crash")).expect("a session");
    for (at, table) in [(2, "L"), (3, "N"), (5, "T"), (7, "H"), (8, "U")] {
        if schema > at {
            Response::numbers(&mut session, &format!("SELECT COUNT(*) FROM dbo.{table}"));
        }
    }
}

fn databases(instance: &Instance, p: &Oracle) {
    for (name, existence) in p.databases.lock().iter() {
        let there = instance.database_by_name(name).is_some();
        let may = match existence {
            Existence::There => there,
            Existence::Gone => !there,
            Existence::Either => true,
        };
        assert!(may, "database {name} is there: {there}, was promised {existence:?}");
        if there {
            check(&mut instance.connect(login(name)).expect("a session"), name);
        }
    }
}

/// Everything that is in the database, against itself and against what was promised.
pub(crate) fn look(instance: &Instance, p: &Oracle) {
    let mut session = instance.connect(login("crash")).expect("a session");
    check(&mut session, "crash");
    let mut found = Rows::new();
    for table in ["T", "H", "U"] {
        rows(&mut session, table, &mut found);
    }
    versions(&mut session);
    files(&mut session, p);
    passing(&mut session, &mut found);
    indexes(&mut session, &mut found);
    p.compare(&ledger(&mut session), &found);
    still_works(&mut session);
}

fn rows(session: &mut Session, table: &str, found: &mut Rows) {
    let place = place_of(table);
    let text = format!("SELECT k, v, n, filler FROM dbo.{table}");
    let answer = Response::ask(session, &text);
    assert!(answer.error().is_none(), "{text}: {:?}", answer.messages);
    let mut by_value = Vec::new();
    for row in &answer.rows {
        let [key, v, n, Value::Char(filler)] = row.as_slice() else { panic!("{text}: {row:?}") };
        let (key, v, n) = (whole(key), whole(v), whole(n));
        let letter = b'A' + (v % 26) as u8;
        let whole = filler.len() as i64 == n && filler.iter().all(|b| *b == letter);
        assert!(whole, "{table}: the filler of {key} belongs to another value");
        let key = if place == Place::Log { v / 26 } else { key };
        let again = found.insert((place, key), v / 26);
        assert!(again.is_none(), "{table}: {key} is there twice");
        by_value.push(v);
    }
    if place == Place::Tree {
        by_value.sort_unstable();
        let text = "SELECT v FROM dbo.T WITH (INDEX(IX_T)) WHERE v >= 0 ORDER BY v";
        let index: Vec<i64> = Response::numbers(session, text).into_iter().flatten().collect();
        assert_eq!(index, by_value, "the index on v is the table");
    }
}

/// No rowversion was given twice, and none is ahead of the count.
fn versions(session: &mut Session) {
    let text = "SELECT COUNT(*) - COUNT(DISTINCT version), \
                CASE WHEN MAX(version) > @@DBTS THEN 1 ELSE 0 END FROM dbo.U";
    assert_eq!(Response::numbers(session, text), [[0, 0]], "rowversions of U");
}

/// How files grow and how far is of one change, which is none before the last that was answered.
fn files(session: &mut Session, p: &Oracle) {
    let (asked, answered) = *p.files.lock();
    for database in ["crash", "tempdb"] {
        let text =
            format!("SELECT growth, max_size FROM {database}.sys.database_files WHERE file_id = 1");
        let found = Response::numbers(session, &text)[0].clone();
        let of = |n: i64| if n == 0 { vec![8, -1] } else { vec![8 * n, (1 << 17) + 8 * n] };
        let known = (answered..=asked).any(|n| found == of(n));
        assert!(known, "{database}: {found:?}, {answered} was answered, {asked} asked for");
    }
}

fn names(session: &mut Session, text: &str) -> Vec<(String, String)> {
    let word = |value: &Value| value.to_string();
    let answer = Response::ask(session, text);
    assert!(answer.error().is_none(), "{text}: {:?}", answer.messages);
    answer.rows.iter().map(|row| (word(&row[0]), word(&row[1]))).collect()
}

/// Tables that come and go are whole: no rows, or all of one transaction.
fn passing(session: &mut Session, found: &mut Rows) {
    let tables = names(session, "SELECT name, type FROM sys.tables");
    for (name, _) in tables {
        let Some(number) = name.strip_prefix('P').and_then(|n| n.parse().ok()) else { continue };
        let text = format!("SELECT v / 26, k, n, DATALENGTH(filler) FROM dbo.{name}");
        let rows = Response::numbers(session, &text);
        let value = rows.first().map_or(0, |row| row[0]);
        let keys: BTreeSet<i64> = rows.iter().map(|row| row[1]).collect();
        let whole = rows.is_empty() || keys == (0..PASSING_ROWS).collect();
        assert!(whole && rows.len() == keys.len(), "{name} has the rows {keys:?}");
        assert!(rows.iter().all(|r| r[0] == value && r[2] == r[3]), "{name} is of one transaction");
        found.insert((Place::Table, number), value);
    }
}

/// Indexes that come and go have what their tables have.
fn indexes(session: &mut Session, found: &mut Rows) {
    let text = "SELECT i.name, t.name + ISNULL('|WHERE ' + i.filter_definition, '|') \
                FROM sys.indexes AS i INNER JOIN sys.tables AS t \
                ON t.object_id = i.object_id WHERE i.index_id > 1";
    for (name, table) in names(session, text) {
        let number = name.strip_prefix("IX_").and_then(|n| n.parse().ok());
        let (table, filter) = table.split_once('|').expect("a table and a filter");
        let text = format!(
            "SELECT COUNT(*), (SELECT COUNT(*) FROM dbo.{table} WITH (INDEX({name})) {filter}) \
             FROM dbo.{table} WITH (INDEX(0)) {filter}"
        );
        let counts = Response::numbers(session, &text);
        assert_eq!(counts[0][0], counts[0][1], "rows of {table} in {name}");
        if let Some(number) = number {
            found.insert((Place::Index, number), number);
        }
    }
}

/// The ledger; its tickets are those that were given, none twice and none left out.
fn ledger(session: &mut Session) -> BTreeMap<i64, Option<i64>> {
    let ids = Response::numbers(session, "SELECT id, ISNULL(ticket, 0) FROM dbo.L");
    let last = Response::numbers(session, "SELECT n FROM dbo.N")[0][0];
    let mut tickets: Vec<i64> = ids.iter().map(|row| row[1]).filter(|t| *t > 0).collect();
    tickets.sort_unstable();
    assert_eq!(tickets, (1..=last).collect::<Vec<_>>(), "tickets up to the last given are there");
    ids.into_iter().map(|row| (row[0], (row[1] > 0).then_some(row[1]))).collect()
}

/// It takes new work, also after what it lost.
fn still_works(session: &mut Session) {
    let text = "BEGIN TRANSACTION; INSERT dbo.H (k, v, n, filler) VALUES (9999, 26, 1, 'A'); \
                UPDATE dbo.T SET v = v; DELETE dbo.U; ROLLBACK TRANSACTION";
    let answer = Response::ask(session, text);
    assert!(answer.error().is_none_or(wants_space), "{:?}", answer.messages);
    if answer.error().is_some() {
        Response::ask(session, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
    }
}
