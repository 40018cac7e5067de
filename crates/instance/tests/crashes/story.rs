//! What sessions do, drawn as T-SQL: steps of a transaction and statements by themselves, each
//! with what it makes of which keys.
//!
//! A value is `number * 26 + letter`; a row's filler is that letter `n` times, so that a value
//! that met another row's filler shows.

use crate::oracle::{Key, Oracle, Place};
use crate::simulated::Random;

/// Keys that all sessions share, in `dbo.T` and `dbo.H`.
const KEYS: u64 = 50;
/// Rows of a table that comes and goes.
pub(crate) const PASSING_ROWS: i64 = 30;

/// What a step makes of keys, when it does not fail.
pub(crate) enum Effect {
    Nothing,
    /// If exactly one row was changed.
    Row(Vec<(Key, Option<i64>)>),
    Done(Key, Option<i64>),
    /// Of each key that was listed.
    Listed(Place, Option<i64>),
    Clear(Place),
    /// Back to before this step.
    Undo(i64),
    Ask,
}

pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) effect: Effect,
}

fn step(text: String, effect: Effect) -> Step {
    Step { text, effect }
}

/// Columns v, n and filler of a new row, as an INSERT's values and as an UPDATE's assignments.
struct Row {
    v: i64,
    letter: char,
    n: u64,
}

impl Row {
    fn new(value: i64, n: u64, r: &mut Random) -> Row {
        let letter = r.below(26) as u8;
        Row { v: value * 26 + i64::from(letter), letter: char::from(b'A' + letter), n }
    }

    fn filler(&self) -> String {
        format!("REPLICATE(CAST('{}' AS varchar(max)), {})", self.letter, self.n)
    }

    fn values(&self) -> String {
        format!("{}, {}, {}", self.v, self.n, self.filler())
    }

    fn assignments(&self) -> String {
        format!("v = {}, n = {}, filler = {}", self.v, self.n, self.filler())
    }
}

/// Every fifth is too long for a page.
fn tree_length(r: &mut Random) -> u64 {
    if r.below(5) == 0 { 8_100 + r.below(16_000) } else { 1 + r.below(900) }
}

/// One statement of a transaction on the shared tables.
pub(crate) fn shared(value: i64, number: i64, r: &mut Random) -> Step {
    match r.below(20) {
        0..=9 => tree(value, r),
        10..=14 => heap(value, r),
        15..=17 => log_insert(value, r),
        18 => log_delete(number, r),
        _ => step("TRUNCATE TABLE dbo.U".to_owned(), Effect::Clear(Place::Log)),
    }
}

fn tree(value: i64, r: &mut Random) -> Step {
    let (k, to) = (r.below(KEYS) as i64, r.below(KEYS) as i64);
    let row = Row::new(value, tree_length(r), r);
    let put = |k| ((Place::Tree, k), Some(value));
    let in_place = format!("v = {} + v % 26", value * 26);
    match r.below(10) {
        0..=3 => step(
            format!("INSERT dbo.T (k, v, n, filler) VALUES ({k}, {})", row.values()),
            Effect::Row(vec![put(k)]),
        ),
        4 => step(
            format!("UPDATE dbo.T SET {} WHERE k = {k}", row.assignments()),
            Effect::Row(vec![put(k)]),
        ),
        5 | 6 => {
            step(format!("UPDATE dbo.T SET {in_place} WHERE k = {k}"), Effect::Row(vec![put(k)]))
        }
        7 | 8 if k != to => step(
            format!("UPDATE dbo.T SET k = {to}, {in_place} WHERE k = {k}"),
            Effect::Row(vec![((Place::Tree, k), None), put(to)]),
        ),
        _ => {
            step(format!("DELETE dbo.T WHERE k = {k}"), Effect::Row(vec![((Place::Tree, k), None)]))
        }
    }
}

fn heap(value: i64, r: &mut Random) -> Step {
    let (k, to) = (r.below(KEYS) as i64, r.below(KEYS) as i64);
    let row = Row::new(value, 1 + r.below(1900), r);
    let put = |k| ((Place::Heap, k), Some(value));
    match r.below(8) {
        0..=3 => step(
            format!("INSERT dbo.H (k, v, n, filler) VALUES ({k}, {})", row.values()),
            Effect::Row(vec![put(k)]),
        ),
        // It may grow out of its page.
        4 | 5 => step(
            format!("UPDATE dbo.H SET {} WHERE k = {k}", row.assignments()),
            Effect::Row(vec![put(k)]),
        ),
        6 if k != to => step(
            format!("UPDATE dbo.H SET k = {to}, {} WHERE k = {k}", row.assignments()),
            Effect::Row(vec![((Place::Heap, k), None), put(to)]),
        ),
        _ => {
            step(format!("DELETE dbo.H WHERE k = {k}"), Effect::Row(vec![((Place::Heap, k), None)]))
        }
    }
}

fn log_insert(value: i64, r: &mut Random) -> Step {
    let row = Row::new(value, 1 + r.below(880), r);
    let text = format!("INSERT dbo.U (k, v, n, filler) VALUES ({}, {})", r.below(5), row.values());
    step(text, Effect::Row(vec![((Place::Log, value), Some(value))]))
}

fn log_delete(number: i64, r: &mut Random) -> Step {
    let k = r.below(5);
    let text = format!(
        "SELECT {number}, v / 26 FROM dbo.U WITH (XLOCK, SERIALIZABLE) WHERE k = {k}; \
         IF @@ERROR = 0 DELETE dbo.U WHERE k = {k}"
    );
    step(text, Effect::Listed(Place::Log, None))
}

/// Steps through a temporary table, which may stay until the session ends.
pub(crate) fn temporary(id: i64, value: i64, number: i64, r: &mut Random) -> Vec<Step> {
    let first = r.below(KEYS - 10);
    let rows: Vec<String> = (0..1 + r.below(6))
        .map(|i| {
            format!("({}, REPLICATE(CAST('t' AS varchar(max)), {}))", first + i, r.below(9000))
        })
        .collect();
    let name = format!("#t{id}_{number}");
    let lists = format!(
        "UPDATE t SET v = {v} + t.v % 26 FROM dbo.T AS t INNER JOIN {name} AS x ON x.k = t.k; \
         SELECT {at}, k FROM dbo.T WHERE v >= {v} AND v < {v} + 26",
        v = value * 26,
        at = number + 2,
    );
    let make = format!("CREATE TABLE {name} (k int NOT NULL PRIMARY KEY, filler varchar(max))");
    let mut steps = vec![
        step(make, Effect::Nothing),
        step(format!("INSERT {name} (k, filler) VALUES {}", rows.join(", ")), Effect::Nothing),
        step(lists, Effect::Listed(Place::Tree, Some(value))),
    ];
    if r.below(3) > 0 {
        steps.push(step(format!("DROP TABLE {name}"), Effect::Nothing));
    }
    steps
}

fn passing_rows(table: &str, value: i64, r: &mut Random) -> String {
    let row = Row::new(value, 1 + r.below(300), r);
    let rows: Vec<String> = (0..PASSING_ROWS).map(|k| format!("({k}, {})", row.values())).collect();
    format!("INSERT dbo.{table} (k, v, n, filler) VALUES {}", rows.join(", "))
}

fn create(table: &str, r: &mut Random) -> String {
    let key = ["", " PRIMARY KEY NONCLUSTERED", " PRIMARY KEY"][r.below(3) as usize];
    format!(
        "CREATE TABLE dbo.{table} (k int NOT NULL{key}, v bigint NOT NULL, n int NOT NULL, \
         filler varchar(max) NOT NULL)"
    )
}

/// A column of a passing table gets another type: its rows are copied.
fn altered_column(table: &str) -> String {
    format!("ALTER TABLE dbo.{table} ALTER COLUMN n bigint NOT NULL")
}

/// Columns of a passing table come, some rows get them, and one of them goes again.
fn widened(table: &str) -> [String; 3] {
    [
        format!("ALTER TABLE dbo.{table} ADD late int NOT NULL DEFAULT 7, gone varchar(max) NULL"),
        format!(
            "UPDATE dbo.{table} SET late = k, \
             gone = REPLICATE(CAST('g' AS varchar(max)), 9000) WHERE k % 2 = 0"
        ),
        format!("ALTER TABLE dbo.{table} DROP COLUMN gone"),
    ]
}

/// A key of a passing table, a column that refers to it, and one that is computed from it.
fn refers(table: &str) -> String {
    format!(
        "ALTER TABLE dbo.{table} ADD CONSTRAINT UQ_{table} UNIQUE (k), \
         r int NULL CONSTRAINT FK_{table} REFERENCES dbo.{table} (k), twice AS k * 2 PERSISTED"
    )
}

/// An index of a shared table, or its end.
fn index(number: i64, gone: bool) -> Step {
    let (table, columns) = match number % 3 {
        0 => ("T", "n"),
        1 => ("H", "v) INCLUDE (n"),
        _ => ("U", "v"),
    };
    // Some have only rows of long fillers: rows come into them, leave them, and stay away.
    let filter = if number % 2 == 0 { " WHERE n >= 100 AND k <> 2" } else { "" };
    let key = (Place::Index, number);
    match gone {
        true => step(format!("DROP INDEX IX_{number} ON dbo.{table}"), Effect::Done(key, None)),
        false => step(
            format!("CREATE INDEX IX_{number} ON dbo.{table} ({columns}){filter}"),
            Effect::Done(key, Some(number)),
        ),
    }
}

/// Definitions of a session within a transaction; objects have numbers of its own.
pub(crate) fn define(p: &Oracle, id: i64, value: i64, own: i64, r: &mut Random) -> Vec<Step> {
    let (from, to) = (own * 1000, own * 1000 + 1000);
    let tables = p.own(Place::Table, from, to);
    let indexes = p.own(Place::Index, from, to);
    match (r.below(7), tables.first(), indexes.first()) {
        (0 | 1, Some(old), _) => {
            vec![step(format!("DROP TABLE dbo.P{old}"), Effect::Done((Place::Table, *old), None))]
        }
        (2, Some(old), _) => vec![step(
            format!("TRUNCATE TABLE dbo.P{old}"),
            Effect::Done((Place::Table, *old), Some(0)),
        )],
        (3, _, Some(old)) => vec![index(*old, true)],
        (3 | 4, ..) => vec![index(from + id % 1000, false)],
        (6, ..) => {
            let table = ["T", "H", "U"][r.below(3) as usize];
            vec![step(format!("ALTER INDEX ALL ON dbo.{table} REORGANIZE"), Effect::Nothing)]
        }
        _ => {
            let number = from + id % 1000;
            let (key, name) = ((Place::Table, number), format!("P{number}"));
            let mut steps = vec![step(create(&name, r), Effect::Done(key, Some(0)))];
            steps.push(step(passing_rows(&name, value, r), Effect::Done(key, Some(value))));
            match r.below(5) {
                0 => steps.push(step(altered_column(&name), Effect::Nothing)),
                1 => steps.push(step(refers(&name), Effect::Nothing)),
                2 => steps.extend(widened(&name).map(|text| step(text, Effect::Nothing))),
                _ => {}
            }
            if r.below(2) == 0 {
                let text = format!("CREATE INDEX IV ON dbo.{name} (v, k)");
                steps.push(step(text, Effect::Nothing));
            }
            steps
        }
    }
}

/// A statement by itself, on keys of its session: its text, what it makes of keys, its rows.
pub(crate) struct SoloStatement {
    pub(crate) text: String,
    pub(crate) changes: Vec<(Key, Option<i64>)>,
    /// Rows it must say it changed.
    pub(crate) rows: Option<u64>,
}

pub(crate) fn solo(p: &Oracle, id: i64, value: i64, own: i64, r: &mut Random) -> SoloStatement {
    if r.below(5) == 0 {
        return solo_definition(p, id, own, r);
    }
    let base = own * 1000;
    let (from, count) = (base + r.below(30) as i64, 1 + r.below(8) as i64);
    let to = from + count - 1;
    let there = p.own(Place::Tree, from, to + 1);
    let put = |k: i64| ((Place::Tree, k), Some(value));
    let none = |k: i64| ((Place::Tree, k), None);
    let found = Some(there.len() as u64);
    let range = format!("k BETWEEN {from} AND {to}");
    match r.below(6) {
        0..=2 => {
            let rows: Vec<String> = (from..=to)
                .map(|k| format!("({k}, {})", Row::new(value, tree_length(r), r).values()))
                .collect();
            let text = format!("INSERT dbo.T (k, v, n, filler) VALUES {}", rows.join(", "));
            SoloStatement {
                text,
                changes: (from..=to).map(put).collect(),
                rows: Some(count as u64),
            }
        }
        3 => {
            let row = Row::new(value, tree_length(r), r);
            let text = format!("UPDATE dbo.T SET {} WHERE {range}", row.assignments());
            SoloStatement { text, changes: there.into_iter().map(put).collect(), rows: found }
        }
        4 => {
            // Each key goes to the next one's place.
            let text =
                format!("UPDATE dbo.T SET k = k + 1, v = {} + v % 26 WHERE {range}", value * 26);
            let changes = there.iter().map(|k| none(*k)).chain(there.iter().map(|k| put(k + 1)));
            SoloStatement { text, changes: changes.collect(), rows: found }
        }
        _ => {
            let text = format!("DELETE dbo.T WHERE {range}");
            SoloStatement { text, changes: there.into_iter().map(none).collect(), rows: found }
        }
    }
}

fn solo_definition(p: &Oracle, id: i64, own: i64, r: &mut Random) -> SoloStatement {
    let tables = p.own(Place::Table, own * 1000, own * 1000 + 1000);
    let (text, change) = match (r.below(4), tables.first()) {
        (0, Some(old)) => (format!("DROP TABLE dbo.P{old}"), ((Place::Table, *old), None)),
        (1, Some(old)) => (format!("TRUNCATE TABLE dbo.P{old}"), ((Place::Table, *old), Some(0))),
        (2, _) => {
            let number = own * 1000 + id % 1000;
            let Step { text, .. } = index(number, false);
            (text, ((Place::Index, number), Some(number)))
        }
        _ => {
            let number = own * 1000 + id % 1000;
            (create(&format!("P{number}"), r), ((Place::Table, number), Some(0)))
        }
    };
    SoloStatement { text, changes: vec![change], rows: None }
}
