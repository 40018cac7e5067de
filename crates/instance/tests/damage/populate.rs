//! The database that is damaged, drawn from a seed: a clustered table with indexes of several
//! forms, one with uniquifiers, a heap with indexes and one without, values off the rows.

use crate::server::{DATABASE, Server};
use sim::Random;
use std::fmt::Write as _;

const TABLES: &[&str] = &[
    "create table dbo.Ordered (id int not null primary key clustered, v int not null, \
     name varchar(60) null, code nvarchar(20) not null, flag bit not null, filler varchar(300) null)",
    "create index by_v on dbo.Ordered (v)",
    "create index by_name on dbo.Ordered (name desc, v) include (code, flag)",
    "create unique index by_code on dbo.Ordered (code)",
    "create table dbo.Loose (k int not null, v bigint not null, filler varchar(200) null)",
    "create unique index by_k on dbo.Loose (k)",
    "create index by_v on dbo.Loose (v) include (filler)",
    "create table dbo.Plain (k int not null, filler varchar(300) not null)",
    "create table dbo.Groups (g int not null, n int not null, t varchar(40) null)",
    "create clustered index by_g on dbo.Groups (g)",
    "create index by_n on dbo.Groups (n)",
    "create table dbo.Documents (id int not null primary key, size int not null, \
     body varchar(max) null, note varchar(8000) null, more varchar(8000) null)",
    "create index by_size on dbo.Documents (size)",
];

fn word(r: &mut Random, most: u64) -> String {
    let n = 1 + r.below(most);
    (0..n).map(|_| char::from(b'a' + r.below(26) as u8)).collect()
}

fn ordered(r: &mut Random, id: u64) -> String {
    let name = if r.one_in(9) { "null".to_owned() } else { format!("'{}'", word(r, 40)) };
    let filler = "x".repeat(r.below(200) as usize);
    let (v, flag) = (r.below(100_000), r.below(2));
    format!("({id}, {v}, {name}, N'{}{id}', {flag}, '{filler}')", word(r, 8))
}

fn loose(r: &mut Random, k: u64) -> String {
    format!("({k}, {}, '{}')", r.below(5_000_000_000), "y".repeat(r.below(150) as usize))
}

fn plain(r: &mut Random, k: u64) -> String {
    format!("({k}, '{}')", "z".repeat(1 + r.below(250) as usize))
}

fn groups(r: &mut Random, n: u64) -> String {
    format!("({}, {n}, '{}')", r.below(60), word(r, 30))
}

fn documents(r: &mut Random, id: u64) -> String {
    let long = |r: &mut Random, most: u64| {
        let (c, n) = (char::from(b'a' + r.below(26) as u8), r.below(most));
        format!("replicate(cast('{c}' as varchar(max)), {n})")
    };
    let (body, note, more) = (long(r, 30_000), long(r, 8000), long(r, 8000));
    format!("({id}, {}, {body}, {note}, {more})", r.below(30_000))
}

type Row = fn(&mut Random, u64) -> String;

fn fill(server: &mut Server, r: &mut Random, table: &str, rows: u64, row: Row) {
    // Keys come in no order, so that pages split in the middle.
    let mut keys: Vec<u64> = (1..=rows).map(|n| n * 10).collect();
    for at in (1..keys.len()).rev() {
        keys.swap(at, r.below(at as u64 + 1) as usize);
    }
    for some in keys.chunks(50) {
        let rows: Vec<String> = some.iter().map(|k| row(r, *k)).collect();
        server.must(DATABASE, &format!("insert dbo.{table} values {}", rows.join(", ")));
    }
}

/// Makes the database, its tables and their rows; rows come, go, grow and move.
pub(crate) fn populate(server: &mut Server, seed: u64) {
    server.must("", &format!("create database {DATABASE}"));
    server.leave();
    for table in TABLES {
        server.must(DATABASE, table);
    }
    let mut r = Random::new(seed);
    fill(server, &mut r, "Ordered", 1200, ordered);
    fill(server, &mut r, "Loose", 800, loose);
    fill(server, &mut r, "Plain", 250, plain);
    fill(server, &mut r, "Groups", 900, groups);
    fill(server, &mut r, "Documents", 60, documents);
    let mut batch = String::new();
    for _ in 0..40 {
        let (a, b) = (10 + 10 * r.below(1000), 10 + 10 * r.below(700));
        let _ = writeln!(batch, "delete dbo.Ordered where id = {a}");
        let _ = writeln!(batch, "update dbo.Ordered set v = v + 1, name = '{a}' where id = {b}");
        let _ = writeln!(batch, "update dbo.Loose set filler = replicate('w', 190) where k = {b}");
        let _ = writeln!(batch, "delete dbo.Loose where k = {}", b + 10);
        let _ = writeln!(batch, "delete dbo.Groups where n = {a}");
        let _ = writeln!(batch, "update dbo.Groups set g = g + 1 where n = {b}");
        let _ = writeln!(batch, "delete dbo.Plain where k = {a}");
    }
    let _ = writeln!(batch, "update dbo.Documents set body = more, note = null where id < 100");
    server.must(DATABASE, &batch);
}

/// Changes that are never committed, for a crash.
pub(crate) const UNCOMMITTED: &str = "begin transaction; \
     delete dbo.Ordered where id % 7 = 0; update dbo.Ordered set id = id + 5, v = -v; \
     delete dbo.Loose where v % 3 = 0; update dbo.Loose set filler = replicate('u', 200); \
     update dbo.Groups set g = g + 30; delete dbo.Documents where id % 20 = 0; \
     insert dbo.Plain select k + 100000, filler from dbo.Plain";

/// Questions whose answers are known from the undamaged database.
pub(crate) const QUESTIONS: &[&str] = &[
    "select id, v, name, code, flag, filler from dbo.Ordered",
    "select v, id from dbo.Ordered with (index(by_v)) order by v, id",
    "select name, v, code, flag from dbo.Ordered with (index(by_name)) order by name, v, code",
    "select code from dbo.Ordered with (index(by_code)) order by code",
    "select id, filler from dbo.Ordered where id between 2000 and 2600",
    "select id, filler from dbo.Ordered with (index(by_v)) where v between 100 and 30000 order by id",
    "select count(*), sum(v), max(k) from dbo.Loose",
    "select k, v, filler from dbo.Loose with (index(by_k)) where k between 10 and 4000 order by k",
    "select v, filler from dbo.Loose with (index(by_v)) order by v",
    "select k, filler from dbo.Plain order by k",
    "select g, n, t from dbo.Groups order by g, n",
    "select n, t from dbo.Groups with (index(by_n)) where n < 5000 order by n",
    "select g, count(*) from dbo.Groups group by g order by g",
    "select id, size, len(body), len(note), len(more) from dbo.Documents order by id",
    "select size, id from dbo.Documents with (index(by_size)) order by size, id",
];

/// Changes: whatever is damaged, each is done or refused.
pub(crate) const CHANGES: &[&str] = &[
    "insert dbo.Ordered values (-1, 5, 'a', N'a', 0, 'b'), (505, 5, 'a', N'b', 1, null), \
     (888888, 99999, 'z', N'c', 0, 'c')",
    "update dbo.Ordered set v = v + 1 where id % 3 = 0",
    "update dbo.Ordered set id = id + 1000000 where id < 3000",
    "update dbo.Ordered set filler = replicate('w', 220) where id > 2000",
    "delete dbo.Ordered where id % 20 = 0",
    "insert dbo.Loose select k + 1, v + 1, filler from dbo.Loose where k < 3000",
    "update dbo.Loose set filler = replicate('v', 200)",
    "delete dbo.Loose where v % 2 = 0",
    "insert dbo.Plain select k, replicate('p', 300) from dbo.Plain",
    "update dbo.Plain set filler = 'q' where k % 20 = 0",
    "update dbo.Plain set filler = replicate('w', 250)",
    "delete dbo.Plain where k % 30 = 0",
    "update dbo.Groups set g = 61 - g",
    "insert dbo.Groups select g, n + 1, t from dbo.Groups",
    "delete dbo.Groups where g < 20",
    "update dbo.Documents set body = replicate(cast('n' as varchar(max)), 20000)",
    "delete dbo.Documents where id % 3 = 0",
    "create index another on dbo.Plain (k)",
    "create table dbo.Fresh (a int not null primary key, b varchar(8000)); \
     insert dbo.Fresh select id, replicate('f', 4000) from dbo.Ordered where id < 500",
    "truncate table dbo.Groups",
    "drop table dbo.Loose",
];
