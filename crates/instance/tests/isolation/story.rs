//! What sessions say: tables and their indexes, ways to read them, and changes, drawn as T-SQL.
//!
//! A value is `number * 26 + letter`; a row's filler is that letter `n` times. `u` is the key and
//! some thousands, so that no two rows have the same unless their keys are the same.

use crate::book::{ALL, ReadRequest, Row};
use crate::simulated::Random;

pub(crate) const KEYS: i64 = 36;
/// Rows with longer fillers are in the filtered index.
const FILTERED_FROM: i64 = 300;
/// Counters, from 1.
pub(crate) const COUNTERS: i64 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) at: usize,
    pub(crate) name: &'static str,
    pub(crate) heap: bool,
    /// Its index on `n` has all columns but the filler.
    wide: bool,
}

/// One or two tables of a seed.
pub(crate) fn tables(seed: u64) -> Vec<Table> {
    let of = |heaps: &[bool]| {
        let name = |heap| if heap { "H" } else { "T" };
        let wide = seed / 12 % 2 == 1;
        let table = |(at, &heap)| Table { at, name: name(heap), heap, wide };
        heaps.iter().enumerate().map(table).collect()
    };
    of([&[true][..], &[false], &[true, false]][(seed % 3) as usize])
}

impl Table {
    pub(crate) fn create(&self) -> [String; 5] {
        let (t, how) = (self.name, if self.heap { "NONCLUSTERED" } else { "CLUSTERED" });
        let key = if self.heap { ", k" } else { "" };
        let wide = if self.wide { format!(" INCLUDE (u, v{key})") } else { String::new() };
        [
            format!(
                "CREATE TABLE dbo.{t} (k int NOT NULL CONSTRAINT PK_{t} PRIMARY KEY {how}, \
                 u int NOT NULL, v bigint NOT NULL, n int NOT NULL, filler varchar(6000) NOT NULL)"
            ),
            format!("CREATE UNIQUE INDEX UX_{t} ON dbo.{t} (u)"),
            format!("CREATE INDEX IV_{t} ON dbo.{t} (v) INCLUDE (u, n{key})"),
            format!("CREATE INDEX IN_{t} ON dbo.{t} (n){wide}"),
            format!(
                "CREATE INDEX IF_{t} ON dbo.{t} (u) INCLUDE (v, n{key}) WHERE n >= {FILTERED_FROM}"
            ),
        ]
    }
}

pub(crate) const COUNTER_TABLES: [&str; 2] = [
    "CREATE TABLE dbo.C (id int NOT NULL CONSTRAINT PK_C PRIMARY KEY, n int NOT NULL, \
     pad varchar(6000) NOT NULL)",
    "CREATE TABLE dbo.C (id int NOT NULL CONSTRAINT PK_C PRIMARY KEY NONCLUSTERED, \
     n int NOT NULL, pad varchar(6000) NOT NULL)",
];

/// A row of a transaction's step.
pub(crate) fn row(k: i64, number: i64, r: &mut Random) -> Row {
    let letter = r.below(26) as i64;
    Row { u: k + 1000 * r.below(3) as i64, v: number * 26 + letter, n: length(r) }
}

/// From a few bytes to a third of a page.
fn length(r: &mut Random) -> i64 {
    match r.below(4) {
        0 => r.below(30) as i64,
        1 | 2 => r.below(700) as i64,
        _ => 700 + r.below(2200) as i64,
    }
}

pub(crate) fn letter(v: i64) -> char {
    char::from(b'A' + (v % 26) as u8)
}

fn filler(row: &Row) -> String {
    format!("REPLICATE('{}', {})", letter(row.v), row.n)
}

pub(crate) fn values(k: i64, row: &Row) -> String {
    format!("({k}, {}, {}, {}, {})", row.u, row.v, row.n, filler(row))
}

/// How a table is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Path {
    Any,
    Base,
    Key,
    Unique,
    Value,
    Length,
    Filtered,
    /// An OR that two indexes give, each of them every row.
    Either,
}

impl Path {
    pub(crate) const EACH: [Path; 8] = [
        Path::Any,
        Path::Base,
        Path::Key,
        Path::Unique,
        Path::Value,
        Path::Length,
        Path::Filtered,
        Path::Either,
    ];

    pub(crate) fn draw(table: &Table, r: &mut Random) -> Path {
        if table.wide && r.below(2) == 0 {
            return Path::Either;
        }
        Path::EACH[r.below(Path::EACH.len() as u64) as usize]
    }

    /// Whether rows of a read that leaves out fillers come from one place.
    pub(crate) fn is_one_place(self, table: &Table) -> bool {
        match self {
            Path::Base | Path::Value => true,
            Path::Key => !table.heap,
            Path::Length | Path::Either => table.wide,
            Path::Any | Path::Unique | Path::Filtered => false,
        }
    }

    fn hint(self, t: &str) -> String {
        match self {
            Path::Any => String::new(),
            Path::Base => " WITH (INDEX(0))".to_owned(),
            Path::Key => format!(" WITH (INDEX(PK_{t}))"),
            Path::Unique => format!(" WITH (INDEX(UX_{t}))"),
            Path::Value => format!(" WITH (INDEX(IV_{t}))"),
            Path::Length => format!(" WITH (INDEX(IN_{t}))"),
            Path::Filtered => format!(" WITH (INDEX(IF_{t}))"),
            Path::Either => " WITH (FORCESEEK)".to_owned(),
        }
    }

    /// What is asked, so that no more can be sought than this path is to seek.
    fn condition(self, asked: &ReadRequest) -> String {
        match self {
            Path::Either => {
                format!("(n >= 0 OR v >= 0) AND {}", condition(asked, ["k + 0", "u + 0", "n + 0"]))
            }
            _ => condition(asked, ["k", "u", "n"]),
        }
    }
}

/// Which rows: some keys, now and then of some lengths or of one `u`.
pub(crate) fn asked(table: &Table, r: &mut Random) -> ReadRequest {
    let at = table.at;
    let from = r.below(KEYS as u64) as i64;
    let keys = match r.below(4) {
        0 => (0, KEYS - 1),
        1 => (from, from),
        _ => (from, (from + r.below(9) as i64).min(KEYS - 1)),
    };
    let lengths = match r.below(4) {
        0 => (FILTERED_FROM, i64::MAX),
        1 => (r.below(900) as i64, 900 + r.below(2000) as i64),
        _ => ALL,
    };
    let u = (r.below(8) == 0).then(|| from + 1000 * r.below(3) as i64);
    match u {
        Some(u) => ReadRequest { table: at, keys: (u % 1000, u % 1000), lengths: ALL, u: Some(u) },
        None => ReadRequest { table: at, keys, lengths, u: None },
    }
}

/// What makes a read one that a filtered index can answer.
pub(crate) fn fit(asked: ReadRequest, path: Path) -> ReadRequest {
    match path {
        Path::Filtered => {
            let (from, to) = asked.lengths;
            ReadRequest { lengths: (from.max(FILTERED_FROM), to), ..asked }
        }
        _ => asked,
    }
}

fn condition(asked: &ReadRequest, [k, u, n]: [&str; 3]) -> String {
    let (from, to) = asked.keys;
    let mut text = match (asked.u, from == to) {
        (Some(of), _) => format!("{u} = {of}"),
        (None, true) => format!("{k} = {from}"),
        (None, false) => format!("{k} BETWEEN {from} AND {to}"),
    };
    match asked.lengths {
        ALL => {}
        (from, i64::MAX) => text.push_str(&format!(" AND {n} >= {from}")),
        (from, to) => text.push_str(&format!(" AND {n} >= {from} AND {n} <= {to}")),
    }
    text
}

/// A read, without its order; with fillers, or only of columns that some index has.
pub(crate) fn select(
    tag: i64,
    table: &Table,
    path: Path,
    asked: &ReadRequest,
    fillers: bool,
) -> String {
    let filler = if fillers { "filler" } else { "NULL" };
    format!(
        "SELECT {tag} AS tag, k, u, v, n, CAST({filler} AS varchar(6000)) AS filler \
         FROM dbo.{}{} WHERE {}",
        table.name,
        path.hint(table.name),
        path.condition(asked),
    )
}

pub(crate) fn order(r: &mut Random) -> &'static str {
    ["", "", " ORDER BY k", " ORDER BY k DESC", " ORDER BY v DESC"][r.below(5) as usize]
}

/// Two paths side by side: what one of them gives and the other does not.
pub(crate) fn difference(
    table: &Table,
    paths: [Path; 2],
    asked: &ReadRequest,
    r: &mut Random,
) -> String {
    let (t, [a, b]) = (table.name, paths.map(|p| p.hint(table.name)));
    let [of_a, of_b] = paths.map(|p| p.condition(asked));
    match r.below(2) {
        0 => format!(
            "SELECT 3 AS tag, k, u, v, n, NULL FROM dbo.{t}{a} WHERE {of_a} EXCEPT \
             SELECT 3, k, u, v, n, NULL FROM dbo.{t}{b} WHERE {of_b}"
        ),
        _ => format!(
            "SELECT 3 AS tag, ISNULL(a.k, b.k), ISNULL(a.u, b.u), ISNULL(a.v, b.v), \
             ISNULL(a.n, b.n), NULL \
             FROM (SELECT * FROM dbo.{t}{a} WHERE {of_a}) AS a \
             FULL JOIN (SELECT * FROM dbo.{t}{b} WHERE {of_b}) AS b \
             ON a.k = b.k AND a.u = b.u AND a.v = b.v AND a.n = b.n AND a.filler = b.filler \
             WHERE a.k IS NULL OR b.k IS NULL"
        ),
    }
}

/// What a change does to the keys that it names.
pub(crate) enum Effect {
    /// Puts a row.
    Insert(i64, Row),
    /// Puts or takes the one row of a key, and says only how many.
    One(i64, Vec<(i64, Option<Row>)>),
    /// Tells what was there and what is.
    Told(ReadRequest),
}

pub(crate) struct Change {
    pub(crate) text: String,
    pub(crate) effect: Effect,
    /// Keys, and whether they may go.
    pub(crate) touches: Vec<(i64, bool)>,
}

const GONE: &str = "OUTPUT deleted.k, deleted.u, deleted.v, deleted.n";
const BOTH: &str = "OUTPUT deleted.k, deleted.u, deleted.v, deleted.n, \
                    inserted.k, inserted.u, inserted.v, inserted.n";

/// One change by a transaction's step, whose number its values have.
pub(crate) fn change(table: &Table, number: i64, r: &mut Random) -> Change {
    let (k, to) = (r.below(KEYS as u64) as i64, r.below(KEYS as u64) as i64);
    match r.below(16) {
        0..=3 => insert(table, k, number, r),
        4 | 5 => replace(table, k, number, r),
        6 | 7 if k != to => rename(table, (k, to), number, r),
        8 | 9 => delete(table, k, r),
        10 => told_delete(table, r),
        _ => in_place(table, number, r),
    }
}

fn insert(table: &Table, k: i64, number: i64, r: &mut Random) -> Change {
    let (row, t) = (row(k, number, r), table.name);
    let text = format!("INSERT dbo.{t} (k, u, v, n, filler) VALUES {}", values(k, &row));
    Change { text, effect: Effect::Insert(k, row), touches: vec![(k, false)] }
}

fn assignments(row: &Row) -> String {
    format!("u = {}, v = {}, n = {}, filler = {}", row.u, row.v, row.n, filler(row))
}

/// All of a row but its key: it grows or shrinks.
fn replace(table: &Table, k: i64, number: i64, r: &mut Random) -> Change {
    let (row, t) = (row(k, number, r), table.name);
    let text = format!("UPDATE dbo.{t} SET {} WHERE k = {k}", assignments(&row));
    Change { text, effect: Effect::One(k, vec![(k, Some(row))]), touches: vec![(k, false)] }
}

fn rename(table: &Table, (k, to): (i64, i64), number: i64, r: &mut Random) -> Change {
    let (row, t) = (row(to, number, r), table.name);
    let text = format!("UPDATE dbo.{t} SET k = {to}, {} WHERE k = {k}", assignments(&row));
    let effect = Effect::One(k, vec![(k, None), (to, Some(row))]);
    Change { text, effect, touches: vec![(k, true), (to, false)] }
}

fn delete(table: &Table, k: i64, r: &mut Random) -> Change {
    let t = table.name;
    let (text, effect) = match r.below(2) {
        0 => (format!("DELETE dbo.{t} WHERE k = {k}"), Effect::One(k, vec![(k, None)])),
        _ => {
            let asked = ReadRequest { table: table.at, keys: (k, k), lengths: ALL, u: None };
            (format!("DELETE dbo.{t} {GONE} WHERE k = {k}"), Effect::Told(asked))
        }
    };
    Change { text, effect, touches: vec![(k, true)] }
}

/// Of few keys, so that tables do not become empty.
fn few(table: &Table, r: &mut Random) -> ReadRequest {
    let asked = asked(table, r);
    let (from, to) = asked.keys;
    ReadRequest { keys: (from, to.min(from + 4)), ..asked }
}

fn told_delete(table: &Table, r: &mut Random) -> Change {
    let asked = few(table, r);
    let text = format!("DELETE dbo.{} {GONE} WHERE {}", table.name, Path::Any.condition(&asked));
    let touches = (asked.keys.0..=asked.keys.1).map(|k| (k, true)).collect();
    Change { text, effect: Effect::Told(asked), touches }
}

/// Other values of the same length, or rows that grow by some bytes.
fn in_place(table: &Table, number: i64, r: &mut Random) -> Change {
    let asked = few(table, r);
    let more = ["", ", n = n + 40, filler = filler + REPLICATE(LEFT(filler, 1), 40)"];
    let more = more[usize::from(r.below(3) == 0 && asked.lengths.0 > 0)];
    let paths = [Path::Any, Path::Either, Path::Base, Path::Unique, Path::Value, Path::Length];
    let path = paths[r.below(6) as usize];
    let hint = path.hint(table.name);
    let text = format!(
        "UPDATE t SET v = {} + t.v % 26{more} {BOTH} FROM dbo.{} AS t{hint} WHERE {}",
        number * 26,
        table.name,
        path.condition(&asked)
    );
    let touches = (asked.keys.0..=asked.keys.1).map(|k| (k, false)).collect();
    Change { text, effect: Effect::Told(asked), touches }
}
