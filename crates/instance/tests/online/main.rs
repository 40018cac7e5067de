//! Indexes built ONLINE = ON again and again while sessions change their table, on a simulated
//! machine that draws who goes on next: then each index has the rows of its table and no others.
//!
//! `GHOSTLIGHT_SEEDS=N` runs N seeds; `GHOSTLIGHT_SIM="seed=S case=0"` one of them.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![allow(clippy::disallowed_types, reason = "what is told outside of simulations")]

#[path = "../heard/mod.rs"]
mod heard;
#[path = "../simulated/mod.rs"]
mod simulated;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::wait::CancelReason;
use session::{Connection as _, Session};
use sim::Options;
use sim::harness::{Plan, try_crash_runs};
use simulated::{Random, check, login};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const DATABASE: &str = "online";
/// Where `GHOSTLIGHT_SEEDS` says nothing.
const SEEDS: u64 = 24;
const WRITERS: u64 = 4;
const BUILDS: u64 = 14;
/// Of the scheduler: behind that all wait for each other.
const CALLS_MAX: u64 = 40_000_000;
const KEYS: u64 = 60;

/// Of a writer or of a build that met one: a deadlock, a key that is there, two rows of one key.
const EXPECTED: [i32; 4] = [1205, 2627, 2601, 1505];

/// How rows are held; the clustered key of the last is not unique.
const TABLES: [&str; 3] = [
    "CREATE TABLE dbo.T (k int NOT NULL, u int NOT NULL, v varchar(40), w varchar(max), n int)",
    "CREATE TABLE dbo.T (k int NOT NULL, u int NOT NULL, v varchar(40), w varchar(max), n int, \
     CONSTRAINT PK PRIMARY KEY CLUSTERED (k))",
    "CREATE TABLE dbo.T (k int NOT NULL, u int NOT NULL, v varchar(40), w varchar(max), n int, \
     INDEX PK CLUSTERED (k))",
];

/// What is there from the beginning.
const INDEXES: [&str; 2] = [
    "CREATE INDEX IA ON dbo.T (n, k)",
    "CREATE INDEX IB ON dbo.T (v) INCLUDE (w) WHERE n > 10 WITH (ONLINE = ON)",
];

/// What each build is.
const ONLINE: [&str; 9] = [
    "CREATE INDEX IC ON dbo.T (v, n) INCLUDE (w) WITH (ONLINE = ON, DROP_EXISTING = {e})",
    "CREATE UNIQUE INDEX IU ON dbo.T (u) WITH (ONLINE = ON, DROP_EXISTING = {e})",
    "CREATE INDEX IF1 ON dbo.T (n DESC) INCLUDE (v) WHERE n > 20 WITH (ONLINE = ON, DROP_EXISTING = {e})",
    "CREATE UNIQUE INDEX IW ON dbo.T (u, v) INCLUDE (w) WITH (ONLINE = ON, DROP_EXISTING = {e})",
    "ALTER INDEX IA ON dbo.T REBUILD WITH (ONLINE = ON, FILLFACTOR = 60)",
    "ALTER INDEX IB ON dbo.T REBUILD WITH (ONLINE = ON)",
    "ALTER INDEX ALL ON dbo.T REBUILD WITH (ONLINE = ON)",
    "ALTER INDEX PK ON dbo.T REBUILD WITH (ONLINE = ON)",
    "ALTER INDEX ALL ON dbo.T REBUILD WITH (ONLINE = ON, FILLFACTOR = AUTO)",
];

/// Keys of a clustered index that moves all rows.
const KEYS_TO_MOVE_TO: [(&str, &str); 6] =
    [("", "k"), ("UNIQUE ", "u"), ("", "n, k"), ("", "k DESC"), ("", "v"), ("UNIQUE ", "k, u")];

/// Options that some seeds begin with: none, or one to all of these.
const AT_FIRST: [&str; 3] =
    ["ALLOW_SNAPSHOT_ISOLATION ON", "READ_COMMITTED_SNAPSHOT ON", "OPTIMIZED_LOCKING = ON"];

/// What became of the builds of all seeds.
#[derive(Default)]
struct Counts {
    built: AtomicU64,
    /// Of them, those that gave rows other locators.
    moved: AtomicU64,
    duplicates: AtomicU64,
    cut: AtomicU64,
    changes: AtomicU64,
    taken_back: AtomicU64,
}

fn options() -> InstanceOptions {
    let mut options = InstanceOptions { max_memory_bytes: 12 << 20, ..InstanceOptions::default() };
    options.sizing.data_pages = 512;
    options
}

fn open(disk: Arc<sim::Disk>) -> Arc<Instance> {
    Instance::open(disk as Arc<dyn os::disk::Disk>, Path::new("/data"), options()).unwrap()
}

fn done(session: &mut Session, text: &str) {
    let heard = Response::ask(session, text);
    assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
}

fn value(r: &mut Random) -> String {
    match r.below(12) {
        0 => "NULL".to_owned(),
        1 => format!("'{}'", "x".repeat(40)),
        n => format!("'{}{}'", if r.below(2) == 0 { "v" } else { "V" }, n),
    }
}

fn large(r: &mut Random) -> String {
    match r.below(8) {
        0 => "REPLICATE(CONVERT(varchar(max), 'l'), 9000)".to_owned(),
        1 => "REPLICATE('m', 3000)".to_owned(),
        2 => "NULL".to_owned(),
        n => format!("'s{n}'"),
    }
}

/// One statement that changes something, or nothing.
fn change(r: &mut Random) -> String {
    let k = r.below(KEYS);
    let insert = |r: &mut Random| {
        format!(
            "INSERT dbo.T (k, u, v, w, n) VALUES ({k}, {}, {}, {}, {})",
            r.below(10_000),
            value(r),
            large(r),
            r.below(40)
        )
    };
    match r.below(11) {
        0..=2 => insert(r),
        3 => format!("DELETE dbo.T WHERE k = {k}"),
        4 => format!("UPDATE dbo.T SET n = n + 1, v = {} WHERE k = {k}", value(r)),
        5 => format!("UPDATE dbo.T SET u = {} WHERE k = {k}", r.below(10_000)),
        6 => format!("UPDATE dbo.T SET w = {} WHERE k = {k}", large(r)),
        7 => format!("UPDATE dbo.T SET k = {} WHERE k = {k}", r.below(KEYS)),
        8 => format!("UPDATE dbo.T SET n = 40 - n WHERE k BETWEEN {k} AND {k} + 5"),
        9 => {
            let two = format!("k IN ({k}, {})", r.below(KEYS));
            // Two rows that exchange what is unique.
            let sum = format!("(SELECT ISNULL(SUM(u), 0) FROM dbo.T WHERE {two})");
            format!("UPDATE dbo.T SET u = ({sum} - u) % 100000 WHERE {two}")
        }
        _ => format!("DELETE dbo.T WHERE n = {}", r.below(40)),
    }
}

/// Changes rows until the builds are over.
fn write(instance: &Instance, mut r: Random, over: &AtomicBool, counts: &Counts) {
    let mut session = instance.connect(login(DATABASE)).unwrap();
    while !over.load(Relaxed) {
        let mut text = "BEGIN TRAN".to_owned();
        let steps = 1 + r.below(4);
        for step in 0..steps {
            if step > 0 && r.below(4) == 0 {
                text = format!("{text}; SAVE TRAN s; {}; ROLLBACK TRAN s", change(&mut r));
            }
            text = format!("{text}; {}", change(&mut r));
        }
        let end = if r.below(3) == 0 { "ROLLBACK" } else { "COMMIT" };
        let heard = Response::ask(&mut session, &format!("{text}; IF @@TRANCOUNT > 0 {end}"));
        let strange = heard.errors().find(|e| !EXPECTED.contains(&e.number()));
        assert!(strange.is_none() && heard.goes_on, "{text}: {:?}", heard.messages);
        let count = if end == "COMMIT" { &counts.changes } else { &counts.taken_back };
        count.fetch_add(1, Relaxed);
        if r.below(3) == 0 {
            os::task::sleep_ns(r.below(3_000_000));
        }
    }
}

/// Of an index and of its table: they are of one moment where there are versions.
const BOTH: &str = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; \
     SELECT (SELECT COUNT(*) FROM dbo.T WITH (INDEX (IA)) WHERE n >= 0), \
     (SELECT COUNT(*) FROM dbo.T WITH (INDEX (0)) WHERE n >= 0), \
     (SELECT SUM(k + n) FROM dbo.T WITH (INDEX (IA)) WHERE n >= 0), \
     (SELECT SUM(k + n) FROM dbo.T WITH (INDEX (0)) WHERE n >= 0)";

/// Reads by an index and by the table, and checks the table, until the builds are over.
fn read(instance: &Instance, mut r: Random, versions: bool, over: &AtomicBool) {
    let mut session = instance.connect(login(DATABASE)).unwrap();
    while !over.load(Relaxed) {
        let text = match r.below(5) {
            0 => "DBCC CHECKTABLE ('dbo.T') WITH NO_INFOMSGS",
            4 => "DBCC CHECKDB WITH NO_INFOMSGS",
            1 => "SELECT n FROM dbo.T WITH (INDEX (IA), SERIALIZABLE) WHERE n > 30",
            _ if versions => BOTH,
            _ => "SELECT COUNT(*) FROM dbo.T WITH (INDEX (IA))",
        };
        let heard = Response::ask(&mut session, text);
        let strange = heard.errors().find(|e| !EXPECTED.contains(&e.number()));
        assert!(strange.is_none() && heard.goes_on, "{text}: {:?}", heard.messages);
        if let Some([count, of_base, sum, sum_of_base]) = heard.rows.first().map(|row| &row[..]) {
            let (by_index, by_base) = ((count, sum), (of_base, sum_of_base));
            assert_eq!(by_index, by_base, "an index and its table at one moment");
        }
        done(&mut session, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        os::task::sleep_ns(r.below(4_000_000));
    }
}

/// Whether the table has an index of that name.
fn has(session: &mut Session, name: &str) -> bool {
    let text = format!("SELECT COUNT(*) FROM sys.indexes WHERE name = '{name}'");
    Response::numbers(session, &text)[0][0] > 0
}

/// A build that gives rows other locators: of the heap, or of a clustered index of no constraint.
fn moving(session: &mut Session, r: &mut Random, kind: u64) -> Option<String> {
    let name = match kind {
        0 => "CX",
        2 => "PK",
        _ => return None,
    };
    let there = has(session, name);
    let drop = r.below(5);
    if !there && drop == 0 {
        return Some("ALTER TABLE dbo.T REBUILD WITH (ONLINE = ON)".to_owned());
    }
    if there && kind == 0 && drop < 3 {
        let online = if drop < 2 { "WITH (ONLINE = ON)" } else { "" };
        return Some(format!("DROP INDEX CX ON dbo.T {online}"));
    }
    let (unique, key) = KEYS_TO_MOVE_TO[r.below(KEYS_TO_MOVE_TO.len() as u64) as usize];
    let there = if there { "ON" } else { "OFF" };
    Some(format!(
        "CREATE {unique}CLUSTERED INDEX {name} ON dbo.T ({key}) \
         WITH (ONLINE = ON, DROP_EXISTING = {there})"
    ))
}

/// One build, which is cut short now and then.
fn build(instance: &Instance, r: &mut Random, kind: u64, counts: &Counts) {
    let mut session = instance.connect(login(DATABASE)).unwrap();
    let mut text = ONLINE[r.below(ONLINE.len() as u64) as usize].to_owned();
    if kind == 0 && text.contains("INDEX PK") {
        text = ONLINE[6].to_owned();
    }
    if let Some(name) = text.split("INDEX ").nth(1).and_then(|t| t.split(' ').next())
        && text.contains("{e}")
    {
        let there = if has(&mut session, name) { "ON" } else { "OFF" };
        text = text.replace("{e}", there);
    }
    if r.below(3) == 0
        && let Some(moving) = moving(&mut session, r, kind)
    {
        text = moving;
    }
    if r.below(4) == 0 {
        // What has failed in it is taken back alone.
        let end = if r.below(2) == 0 { "ROLLBACK" } else { "COMMIT" };
        let (before, behind) = (change(r), change(r));
        text = format!("BEGIN TRAN; {before}; {text}; {behind}; IF @@TRANCOUNT > 0 {end}");
    }
    let cut = (r.below(5) == 0).then(|| {
        let (waiter, after) = (session.waiter(), r.below(20_000_000));
        os::task::spawn("who cuts", move || {
            os::task::sleep_ns(after);
            waiter.cancel(CancelReason::Attention);
        })
    });
    let heard = Response::ask(&mut session, &text);
    if let Some(cut) = cut {
        cut.join().unwrap();
    }
    let was_cut = session.waiter().cancellation().is_some();
    session.waiter().reset();
    done(&mut session, "IF @@TRANCOUNT > 0 ROLLBACK");
    let strange = heard.errors().find(|e| !EXPECTED.contains(&e.number()));
    assert!(strange.is_none() && heard.goes_on, "{text}: {:?}", heard.messages);
    let moves = ["CLUSTERED INDEX", "DROP INDEX", "ALTER TABLE"].iter().any(|w| text.contains(w));
    if moves && !was_cut && heard.error().is_none() {
        counts.moved.fetch_add(1, Relaxed);
    }
    match heard.error().map(|e| e.number()) {
        None if was_cut => &counts.cut,
        None => &counts.built,
        Some(1505) => &counts.duplicates,
        Some(_) => &counts.cut,
    }
    .fetch_add(1, Relaxed);
}

/// Each index has what its table has; after a crash there may be neither yet.
fn look(instance: &Instance) {
    let text = format!("SELECT COUNT(*) FROM sys.databases WHERE name = '{DATABASE}'");
    let mut session = instance.connect(login("")).unwrap();
    if Response::numbers(&mut session, &text)[0][0] == 0 {
        return;
    }
    drop(session);
    let mut session = instance.connect(login(DATABASE)).unwrap();
    let names = Response::ask(
        &mut session,
        "SELECT name, ISNULL(filter_definition, '1 = 1') FROM sys.indexes \
         WHERE object_id = OBJECT_ID('dbo.T') AND index_id > 1",
    );
    for row in &names.rows {
        let (name, filter) = (row[0].as_text().unwrap(), row[1].as_text().unwrap());
        let of = |hint: &str| {
            format!("SELECT k, u, v, w, n FROM dbo.T WITH (INDEX ({hint})) WHERE {filter}")
        };
        for (a, b) in [(&*name, "0"), ("0", &*name)] {
            let text = format!(
                "SELECT COUNT(*) FROM ({} EXCEPT {}) AS d UNION ALL \
                 SELECT COUNT(*) FROM dbo.T WITH (INDEX ({a})) WHERE {filter}",
                of(a),
                of(b)
            );
            let found = Response::numbers(&mut session, &text);
            assert_eq!(found[0][0], 0, "{name}: rows of {a} that {b} has not");
        }
        let count =
            |hint: &str| format!("SELECT COUNT(*) FROM dbo.T WITH (INDEX ({hint})) WHERE {filter}");
        let [of_index, of_base] =
            [&*name, "0"].map(|h| Response::numbers(&mut session, &count(h))[0][0]);
        assert_eq!(of_index, of_base, "{name}: as many rows");
    }
    check(&mut session, DATABASE);
}

fn workload(disk: Arc<sim::Disk>, seed: u64, counts: &Arc<Counts>, fault: bool) {
    let instance = open(disk);
    done(&mut instance.connect(login("")).unwrap(), &format!("CREATE DATABASE {DATABASE}"));
    let mut r = Random(seed);
    let kind = seed % 3;
    let mut session = instance.connect(login(DATABASE)).unwrap();
    done(&mut session, TABLES[kind as usize]);
    INDEXES.iter().for_each(|text| done(&mut session, text));
    for k in 0..KEYS * 2 / 3 {
        let (u, v, w, n) = (r.below(10_000), value(&mut r), large(&mut r), r.below(40));
        done(
            &mut session,
            &format!("INSERT dbo.T (k, u, v, w, n) VALUES ({k}, {u}, {v}, {w}, {n})"),
        );
    }
    drop(session);
    let mut session = instance.connect(login("")).unwrap();
    for option in &AT_FIRST[..(seed / 3 % 4) as usize] {
        done(&mut session, &format!("ALTER DATABASE {DATABASE} SET {option}"));
    }
    drop(session);
    plant(&instance, fault);
    let over = Arc::new(AtomicBool::new(false));
    let writer = |n: u64| {
        let (instance, over, counts) =
            (Arc::clone(&instance), Arc::clone(&over), Arc::clone(counts));
        let r = Random(seed ^ (n + 1) << 32);
        os::task::spawn(&format!("writer {n}"), move || write(&instance, r, &over, &counts))
    };
    let writers: Vec<_> = (0..WRITERS).map(writer).collect();
    let (inside, until) = (Arc::clone(&instance), Arc::clone(&over));
    let (r_of_reader, versions) = (Random(seed + 77), !(seed / 3).is_multiple_of(4));
    let reader = os::task::spawn("reader", move || read(&inside, r_of_reader, versions, &until));
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..BUILDS {
            build(&instance, &mut r, kind, counts);
        }
    }));
    over.store(true, Relaxed);
    for writer in writers.into_iter().chain([reader]) {
        if let Err(panic) = writer.join() {
            std::panic::resume_unwind(panic);
        }
    }
    if let Err(panic) = built {
        std::panic::resume_unwind(panic);
    }
    look(&instance);
    instance.stop().unwrap();
}

fn plant(instance: &Instance, fault: bool) {
    #[cfg(feature = "mutations")]
    if fault {
        instance.plant(txn::Mutation::DeletesForgotten);
    }
    #[cfg(not(feature = "mutations"))]
    let _ = (instance, fault);
}

fn run(
    seeds: std::ops::Range<u64>,
    cases: u64,
    counts: &Arc<Counts>,
    fault: bool,
) -> Result<sim::harness::Counts, String> {
    let options = Options { calls_max: CALLS_MAX, ..Options::default() };
    let plan = Plan { seeds, cases, depth: 2, options, ..Plan::default() };
    let verify = |disk: Arc<sim::Disk>, _: Arc<()>| {
        let instance = open(disk);
        look(&instance);
        instance.stop().unwrap();
    };
    let work = |disk, seed, _: Arc<()>| workload(disk, seed, counts, fault);
    try_crash_runs(&plan, work, verify)
}

fn seeds() -> u64 {
    std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS)
}

#[test]
fn an_index_that_is_built_beside_writers_has_their_rows() {
    let counts = Arc::new(Counts::default());
    run(0..seeds(), 0, &counts, false).unwrap_or_else(|e| panic!("{e}"));
    let told: BTreeMap<&str, u64> = [
        ("built", &counts.built),
        ("moved", &counts.moved),
        ("duplicates", &counts.duplicates),
        ("cut", &counts.cut),
        ("changes", &counts.changes),
        ("taken back", &counts.taken_back),
    ]
    .map(|(what, n)| (what, n.load(Relaxed)))
    .into();
    println!("{told:?}");
    let one_case = std::env::var_os("GHOSTLIGHT_SIM").is_some();
    assert!(
        one_case
            || told["built"] > 3 * seeds() && told["duplicates"] > 0 && told["moved"] > seeds(),
        "{told:?}"
    );
}

/// A build that a crash ends leaves nothing, one that has ended is there.
#[test]
fn a_crash_leaves_an_index_whole_or_none() {
    let counts = run(100..104, 6, &Arc::default(), false).unwrap_or_else(|e| panic!("{e}"));
    println!("{} crash points", counts.crash_points());
}

/// The planted fault is caught.
#[cfg(feature = "mutations")]
#[test]
fn who_forgets_deletes_is_caught() {
    let caught = (0..12).find_map(|seed| {
        run(seed..seed + 1, 0, &Arc::default(), true).err().map(|text| (seed, text))
    });
    let (seed, text) = caught.expect("forgotten deletes are seen");
    println!("seed {seed}: {}", text.lines().next().unwrap_or_default());
}
