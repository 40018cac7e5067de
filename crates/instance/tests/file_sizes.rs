//! Sizes that a disk refuses: MODIFY FILE, CREATE DATABASE, and tempdb at a start. On a simulated
//! disk that soon is full.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::Disk as _;
use session::{Login, Session};
use sim::{Disk, DiskOptions, Options, Simulation};
use std::path::Path;
use std::sync::Arc;
use types::Value;

const DATA: &str = "/data";
const CAPACITY: u64 = 48 << 20;
const FILES: &str =
    "SELECT size, max_size, growth FROM sys.master_files WHERE database_id = DB_ID('d')";

fn open(disk: &Disk) -> Arc<Instance> {
    let mut options = InstanceOptions { max_memory_bytes: 16 << 20, ..InstanceOptions::default() };
    options.sizing.data_pages = 256;
    options.sizing.data_growth.pages = 64;
    options.sizing.log.growth_bytes = 512 << 10;
    Instance::open(Arc::new(disk.clone()), Path::new(DATA), options).unwrap()
}

fn connect(instance: &Arc<Instance>) -> Session {
    let login = Login { user: "sa".to_owned(), odbc_defaults: true, ..Login::default() };
    instance.connect(login).unwrap()
}

fn rows(session: &mut Session, text: &str) -> Vec<Vec<i32>> {
    let number = |value: &Value| match value {
        Value::Int(n) => *n,
        other => panic!("{text}: {other:?}"),
    };
    let answer = Response::ask(session, text);
    assert!(answer.error().is_none(), "{text}: {:?}", answer.messages);
    answer.rows.iter().map(|row| row.iter().map(number).collect()).collect()
}

fn numbers_of(session: &mut Session, text: &str) -> Vec<i32> {
    Response::ask(session, text).errors().map(base::SqlError::number).collect()
}

fn line_of_log(disk: &Disk, text: &str) -> bool {
    let path = Path::new(DATA).join("errorlog");
    let how = os::disk::OpenMode { create: false, direct: false };
    let bytes = disk.open(&path, how).unwrap().len().unwrap() as usize;
    String::from_utf8_lossy(&disk.bytes_at(&path, 0, bytes)).lines().any(|l| l.contains(text))
}

/// What a full disk refuses leaves files and settings as they were, and nothing behind.
#[test]
fn a_size_that_the_disk_refuses_changes_nothing() {
    Simulation::run(1, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { capacity_bytes: CAPACITY, ..DiskOptions::default() });
        let instance = open(&disk);
        let mut s = connect(&instance);
        assert_eq!(numbers_of(&mut s, "CREATE DATABASE d"), []);
        let before = rows(&mut s, FILES);
        for file in ["d", "d_log"] {
            let change = format!("NAME = {file}, SIZE = 1GB, MAXSIZE = 2GB, FILEGROWTH = 128KB");
            let text = format!("ALTER DATABASE d MODIFY FILE ({change})");
            assert_eq!(numbers_of(&mut s, &text), [5149, 5069], "{file}");
        }
        assert_eq!(rows(&mut s, FILES), before);
        let large = "CREATE DATABASE e ON (NAME = e, SIZE = 20MB) LOG ON (NAME = l, SIZE = 1GB)";
        assert_eq!(numbers_of(&mut s, large), [5149, 1802]);
        assert!(!disk.exists(&Path::new(DATA).join("e.mdf")), "no file is left behind");
        let fits = "ALTER DATABASE d MODIFY FILE (NAME = d, SIZE = 20MB, MAXSIZE = 21MB); \
                    CREATE TABLE d.dbo.t (a int); INSERT d.dbo.t VALUES (1)";
        assert_eq!(numbers_of(&mut s, fits), []);
        assert_eq!(rows(&mut s, FILES)[0], [2560, 2688, 64]);
        drop(s);
        instance.stop().unwrap();
    });
}

/// A tempdb that cannot have its size is smaller, and the error log says so; it starts.
#[test]
fn tempdb_starts_where_its_size_is_refused() {
    Simulation::run(1, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { capacity_bytes: CAPACITY, ..DiskOptions::default() });
        let instance = open(&disk);
        let mut s = connect(&instance);
        let text = "ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, SIZE = 20MB)";
        assert_eq!(numbers_of(&mut s, text), []);
        drop(s);
        instance.stop().unwrap();
        let sizes = "SELECT size FROM tempdb.sys.database_files WHERE file_id = 1";
        let instance = open(&disk);
        assert_eq!(rows(&mut connect(&instance), sizes)[0], [2560]);
        instance.stop().unwrap();
        let how = os::disk::OpenMode { create: true, direct: false };
        let hog = disk.open(&Path::new(DATA).join("hog"), how).unwrap();
        let temporary = Path::new(DATA).join("tempdb.mdf");
        disk.remove(&temporary).unwrap();
        // All that tempdb gave back, and some more.
        let mut taken = 8 << 20;
        while hog.set_len(taken + (1 << 20)).is_ok() {
            taken += 1 << 20;
        }
        hog.set_len(taken - (6 << 20)).unwrap();
        let instance = open(&disk);
        let mut s = connect(&instance);
        assert!(rows(&mut s, sizes)[0][0] < 2560);
        assert!(line_of_log(&disk, "File 'tempdev' of tempdb is small: MODIFY FILE encountered"));
        assert_eq!(numbers_of(&mut s, "CREATE TABLE #t (a int); INSERT #t VALUES (1)"), []);
        drop(s);
        instance.stop().unwrap();
    });
}
