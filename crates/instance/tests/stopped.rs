//! Statements that read many pages, and who is told to end while they do: DBCC CHECKDB and
//! CHECKTABLE, and the views that count pages. On a simulated disk, whose reads take time, with
//! less memory than the tables have pages.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use base::SqlError;
use heard::Response;
use instance::{Instance, InstanceOptions};
use os::wait::CancelReason;
use session::{Connection as _, Login, Session};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use std::path::Path;
use std::sync::Arc;
use types::Value;

const SCHEMA: [&str; 5] = [
    "CREATE TABLE dbo.T (k int NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, v bigint NOT NULL, \
     filler char(900) NOT NULL)",
    "CREATE TABLE dbo.H (k int NOT NULL, filler char(900) NOT NULL, large varchar(max) NOT NULL)",
    "DECLARE @i int = 0; BEGIN TRAN; WHILE @i < 4000 BEGIN \
     INSERT dbo.T VALUES (@i * 7919 % 4001, @i, 'x'); SET @i += 1 END; COMMIT",
    "INSERT dbo.H SELECT k, 'y', REPLICATE('z', 500 + k % 2 * 9000) FROM dbo.T WHERE k < 1200",
    "CREATE INDEX IX_T ON dbo.T (v)",
];
/// What is cut short, each with what ends it.
const LONG: [(&str, CancelReason); 6] = [
    ("DBCC CHECKDB", CancelReason::Attention),
    ("DBCC CHECKTABLE ('dbo.T')", CancelReason::Attention),
    ("DBCC CHECKTABLE ('dbo.H')", CancelReason::Kill),
    ("SELECT * FROM sys.dm_db_index_physical_stats(NULL, NULL, NULL, NULL, 'DETAILED')", {
        CancelReason::Attention
    }),
    ("SELECT * FROM sys.dm_db_partition_stats", CancelReason::Attention),
    ("DBCC CHECKDB", CancelReason::Kill),
];
const MOMENTS: u64 = 8;
/// Virtual time from being told to having ended: a few reads.
const PROMPT_NS: u64 = 100_000_000;

/// Two of the slowest reads of the simulated disk: who is told may just have begun one.
const READS_NS: u64 = 2_400_000;

/// Without an error.
fn run(session: &mut Session, text: &str) -> Response {
    let heard = Response::ask(session, text);
    let error = heard.error();
    assert!(error.is_none() && heard.goes_on, "{text}: {error:?}");
    heard
}

fn number(session: &mut Session, text: &str) -> i64 {
    match run(session, text).rows.as_slice() {
        [row] => match row[0] {
            Value::Int(n) => i64::from(n),
            Value::BigInt(n) => n,
            ref other => panic!("{text}: {other:?}"),
        },
        rows => panic!("{text}: {} rows", rows.len()),
    }
}

fn open(disk: &Disk, max_memory_bytes: usize) -> Arc<Instance> {
    let mut options =
        InstanceOptions { max_memory_bytes, embedded: true, ..InstanceOptions::default() };
    options.sizing.data_pages = 1024;
    options.sizing.data_growth.pages = 512;
    Instance::open(Arc::new(disk.clone()), Path::new("/data"), options).expect("it opens")
}

fn connect(instance: &Arc<Instance>, database: &str) -> Session {
    let (user, database) = ("sa".to_owned(), database.to_owned());
    let login = Login { user, database, odbc_defaults: true, ..Login::default() };
    instance.connect(login).expect("a session")
}

fn populate(disk: &Disk) {
    let instance = open(disk, 64 << 20);
    run(&mut connect(&instance, ""), "CREATE DATABASE long");
    let mut session = connect(&instance, "long");
    SCHEMA.iter().for_each(|text| drop(run(&mut session, text)));
    drop(session);
    instance.stop().expect("it stops");
}

/// Runs a statement and cuts it so long after its start; whether it was stopped, and what passed
/// between.
fn cut(instance: &Arc<Instance>, text: &str, why: CancelReason, after_ns: u64) -> Option<u64> {
    let mut session = connect(instance, "long");
    let waiter = session.waiter();
    let told = os::task::spawn("who cuts", move || {
        os::task::sleep_ns(after_ns);
        let now = os::clock::monotonic_ns();
        waiter.cancel(why);
        now
    });
    let heard = Response::ask(&mut session, text);
    let ended = os::clock::monotonic_ns();
    let told = told.join().expect("who cuts ends");
    if ended < told {
        return None;
    }
    assert!(heard.rows.is_empty(), "{text}: half an answer is none, not {} rows", heard.rows.len());
    let numbers: Vec<i32> = heard.messages.iter().map(SqlError::number).collect();
    match why {
        CancelReason::Attention => assert_eq!((numbers, heard.goes_on), (vec![], true), "{text}"),
        _ => assert_eq!((numbers, heard.goes_on), (vec![596], false), "{text}"),
    }
    if why == CancelReason::Attention {
        session.waiter().reset();
        assert_eq!(number(&mut session, "SELECT @@TRANCOUNT"), 0, "the session goes on");
    }
    Some(ended - told)
}

/// Nobody waits for what a stopped statement had locked, and what it read is as it was.
fn others_work(instance: &Arc<Instance>) {
    let mut session = connect(instance, "long");
    let held = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'OBJECT'";
    assert_eq!(number(&mut session, held), 0, "locks that nobody gives back");
    run(&mut session, "SET LOCK_TIMEOUT 0; UPDATE dbo.T SET v += 10000 WHERE k = 17");
    run(&mut session, "UPDATE dbo.H SET filler = 'u' WHERE k = 17; CREATE TABLE dbo.N (n int)");
    run(&mut session, "DROP TABLE dbo.N");
}

/// A statement that is cut anywhere ends at once, tells nothing, and holds nothing.
#[test]
fn who_is_told_to_end_while_pages_are_read_ends_at_once() {
    Simulation::run(11, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed: 11, ..DiskOptions::default() });
        populate(&disk);
        let mut random = Random::new(11);
        for (text, why) in LONG {
            let instance = open(&disk, 6 << 20);
            let from = os::clock::monotonic_ns();
            let whole = run(&mut connect(&instance, "long"), text);
            let took = os::clock::monotonic_ns() - from;
            assert!(!whole.rows.is_empty() || !whole.messages.is_empty(), "{text} answers");
            instance.stop().expect("it stops");
            let mut stopped = 0;
            for moment in 0..MOMENTS {
                // A start has forgotten what was read, and how many rows there are.
                let instance = open(&disk, 6 << 20);
                let after = took / MOMENTS * moment + random.below(took / MOMENTS);
                if let Some(passed) = cut(&instance, text, why, after) {
                    assert!(passed < PROMPT_NS, "{text}: {passed} ns at {after} of {took}");
                    let at_once = (took / 4).max(READS_NS);
                    assert!(passed < at_once, "{text}: {passed} ns is not at once in {took}");
                    stopped += 1;
                }
                others_work(&instance);
                instance.stop().expect("it stops");
            }
            assert!(stopped * 2 >= MOMENTS, "{text} was stopped {stopped} times of {MOMENTS}");
        }
        let instance = open(&disk, 6 << 20);
        let whole = run(&mut connect(&instance, "long"), "DBCC CHECKDB WITH NO_INFOMSGS");
        assert!(whole.messages.is_empty(), "{:?}", whole.messages);
        instance.stop().expect("it stops");
    });
}

/// LIMITED and the views that count pages read no leaf, and tell the same pages as a reading of
/// all.
#[test]
fn pages_are_counted_without_reading_the_leaves() {
    let levels =
        |mode: &str| format!("sys.dm_db_index_physical_stats(DB_ID(), 0, -1, 0, '{mode}')");
    let (limited, detailed) = (levels("LIMITED"), levels("DETAILED"));
    Simulation::run(12, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed: 12, count_reads: true, ..DiskOptions::default() });
        populate(&disk);
        let reads = |text: &str| {
            let instance = open(&disk, 64 << 20);
            let mut session = connect(&instance, "long");
            let before = disk.operations();
            let found = number(&mut session, text);
            let reads = disk.operations() - before;
            drop(session);
            instance.stop().expect("it stops");
            (found, reads as i64)
        };
        let count = |of: &str| format!("SELECT SUM(page_count) FROM {of}");
        let (pages, all) = reads(&count(&detailed));
        assert!(pages > 500 && all > pages, "{all} reads of {pages} pages and what is above");
        let (leaves, few) = reads(&count(&limited));
        assert!(leaves > 500 && leaves < pages, "{leaves} leaves of {pages} pages");
        assert!(few * 10 < all, "LIMITED: {few} reads, DETAILED {all}");
        let (used, few) = reads("SELECT SUM(used_pages) FROM sys.allocation_units");
        assert!(used >= pages && few * 10 < all, "{used} pages, {few} reads");

        let instance = open(&disk, 64 << 20);
        let mut session = connect(&instance, "long");
        let same = format!(
            "SELECT COUNT(*) FROM {limited} l JOIN {detailed} d ON l.hobt_id = d.hobt_id \
             AND l.index_level = d.index_level \
             JOIN sys.dm_db_partition_stats p ON p.partition_id = l.hobt_id \
             WHERE l.page_count = d.page_count AND l.fragment_count = d.fragment_count \
             AND l.avg_fragmentation_in_percent = d.avg_fragmentation_in_percent \
             AND l.avg_fragment_size_in_pages = d.avg_fragment_size_in_pages \
             AND l.index_depth = d.index_depth AND p.in_row_data_page_count = d.page_count \
             AND l.record_count IS NULL AND d.record_count = p.row_count \
             AND l.avg_page_space_used_in_percent IS NULL AND l.max_record_size_in_bytes IS NULL"
        );
        assert_eq!(number(&mut session, &same), 3, "a heap, a tree, and an index");
        let broken = format!("SELECT COUNT(*) FROM {limited} WHERE fragment_count > 1");
        assert!(number(&mut session, &broken) > 0, "something is out of order");
        drop(session);
        instance.stop().expect("it stops");
    });
}
