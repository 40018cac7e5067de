//! The data folder: what is in it is never overwritten, its list of databases is never lost, and
//! a damaged database stays in sight while all others are used.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "files are damaged behind the engine's back")]

mod damages;
#[path = "../heard/mod.rs"]
mod heard;
mod list;
mod unfinished;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::{Disk, RealDisk};
use session::Login;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use types::Value;

/// A folder that goes with its test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ghostlight-folder-{}-{name}-{n}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn copy(&self, name: &str) -> Folder {
        let copy = Folder::new(name);
        for entry in std::fs::read_dir(&self.0).unwrap() {
            let from = entry.unwrap().path();
            std::fs::copy(&from, copy.file(from.file_name().unwrap().to_str().unwrap())).unwrap();
        }
        copy
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> InstanceOptions {
    let mut options = InstanceOptions { max_memory_bytes: 32 << 20, ..InstanceOptions::default() };
    options.sizing.data_pages = 512;
    options.sizing.log.initial_bytes = 1 << 20;
    options
}

/// An instance, and a session of it.
pub(crate) struct Server {
    instance: Arc<Instance>,
    session: Option<session::Session>,
}

impl Server {
    pub(crate) fn open(dir: &Path) -> Server {
        Server::try_open(dir).unwrap()
    }

    pub(crate) fn try_open(dir: &Path) -> Result<Server, base::SqlError> {
        Server::on(Arc::new(RealDisk), dir)
    }

    pub(crate) fn on(disk: Arc<dyn Disk>, dir: &Path) -> Result<Server, base::SqlError> {
        let instance = Instance::open(disk, dir, options())?;
        Ok(Server { instance, session: None })
    }

    pub(crate) fn login(&self, database: &str) -> Result<session::Session, base::SqlError> {
        let database = database.to_owned();
        let login = Login { user: "sa".into(), database, odbc_defaults: true, ..Login::default() };
        self.instance.connect(login)
    }

    pub(crate) fn ask(&mut self, batch: &str) -> Response {
        if self.session.is_none() {
            self.session = Some(self.login("").unwrap());
        }
        let answer = Response::ask(self.session.as_mut().unwrap(), batch);
        if !answer.goes_on {
            self.session = None;
        }
        answer
    }

    /// The numbers of the errors, in order; none where all went well.
    pub(crate) fn errors(&mut self, batch: &str) -> Vec<i32> {
        self.ask(batch).errors().map(base::SqlError::number).collect()
    }

    pub(crate) fn must(&mut self, batch: &str) -> Vec<Vec<Value>> {
        let answer = self.ask(batch);
        assert!(answer.error().is_none(), "{batch}: {:?}", answer.messages);
        answer.rows
    }

    /// The first row, as text.
    pub(crate) fn row(&mut self, batch: &str) -> String {
        let rows = self.must(batch);
        let row = rows.first().unwrap_or_else(|| panic!("{batch}: no row"));
        row.iter().map(Value::to_string).collect::<Vec<_>>().join("|")
    }

    pub(crate) fn stop(mut self) {
        self.session = None;
        self.instance.stop().unwrap();
    }
}

/// Whether the error log of the last start says something.
pub(crate) fn log_says(dir: &Path, text: &str) -> bool {
    std::fs::read_to_string(dir.join("errorlog")).unwrap().contains(text)
}

/// Databases a and b with a row each, stopped in order.
pub(crate) fn populated(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut server = Server::open(&folder.0);
    for (name, n) in [("a", 1), ("b", 2)] {
        server.must(&format!("create database {name}"));
        server.must(&format!(
            "create table {name}.dbo.t (n int primary key); insert {name}.dbo.t values ({n})"
        ));
    }
    server.stop();
    folder
}

/// Two instances of one process exclude each other as two processes do.
#[test]
fn a_folder_has_one_instance() {
    let folder = Folder::new("one");
    let server = Server::open(&folder.0);
    let refused = Server::try_open(&folder.0).err().unwrap();
    assert_eq!(refused.number(), 50010);
    let holder = format!("process {} ", std::process::id());
    assert!(refused.text().contains(&holder), "{}", refused.text());
    server.stop();
    Server::open(&folder.0).stop();
}

/// Files that have names in two folders are one instance's.
#[test]
fn files_with_names_in_two_folders_have_one_instance() {
    let folder = populated("linked");
    let other = Folder::new("links");
    for entry in std::fs::read_dir(&folder.0).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_str().unwrap();
        if name != "ghostlight.lock" {
            std::fs::hard_link(&from, other.file(name)).unwrap();
        }
    }
    let mut server = Server::open(&folder.0);
    let refused = Server::try_open(&other.0).err().unwrap();
    assert!(refused.text().contains("in use by another process"), "{}", refused.text());
    server.must("insert a.dbo.t values (2)");
    server.stop();
    let mut server = Server::open(&other.0);
    assert_eq!(server.row("select count(*) from a.dbo.t"), "2");
    server.stop();
}

/// What was configured and cannot be read is named, with what to do.
#[test]
fn a_damaged_configuration_is_named() {
    let folder = populated("configured");
    for damaged in [&b"\0\0\0\0"[..], b"117\tx\n", b"117\n", b"\xff"] {
        std::fs::write(folder.file("configuration.list"), damaged).unwrap();
        let refused = Server::try_open(&folder.0).err().unwrap();
        assert!(refused.text().contains("configuration.list is damaged"), "{}", refused.text());
    }
    std::fs::remove_file(folder.file("configuration.list")).unwrap();
    Server::open(&folder.0).stop();
}

/// A data file that is too short for its doublewrite area is named.
#[test]
fn a_file_that_is_cut_short_is_named() {
    let folder = populated("short");
    std::fs::File::options()
        .write(true)
        .open(folder.file("model.mdf"))
        .and_then(|file| file.set_len(163_840))
        .unwrap();
    let refused = Server::try_open(&folder.0).err().unwrap();
    assert!(refused.text().contains("model.mdf"), "{}", refused.text());
}

/// Two databases that name one file by two names: one of them is open.
#[test]
fn a_file_is_one_databases() {
    let folder = populated("shared");
    for (from, to) in [("a.mdf", "b.mdf"), ("a_log.ldf", "b_log.ldf")] {
        std::fs::remove_file(folder.file(to)).unwrap();
        std::fs::hard_link(folder.file(from), folder.file(to)).unwrap();
    }
    let mut server = Server::open(&folder.0);
    let states = "select count(*), min(state_desc) from sys.databases where name in ('a', 'b') \
                  and state_desc <> 'ONLINE'";
    assert_eq!(server.row(states), "1|RECOVERY_PENDING");
    server.stop();
}

/// A server whose folder was moved changes nothing in the one that took its place.
#[test]
fn what_took_a_folders_place_is_left_alone() {
    let folder = populated("moved");
    let elsewhere = Folder::new("elsewhere");
    std::fs::remove_dir(&elsewhere.0).unwrap();
    let mut server = Server::open(&folder.0);
    std::fs::rename(&folder.0, &elsewhere.0).unwrap();
    let mut second = Server::open(&folder.0);
    second.must("create database a; create table a.dbo.other (n int)");
    for change in
        ["create database c", "drop database a", "alter database a set offline", "drop database b"]
    {
        assert!(!server.errors(change).is_empty(), "{change}");
    }
    assert_eq!(server.row("select count(*) from a.dbo.t"), "1", "it goes on with its own");
    second.must("insert a.dbo.other values (1); create database d");
    second.stop();
    let mut second = Server::open(&folder.0);
    assert_eq!(second.row("select count(*) from a.dbo.other"), "1");
    second.stop();
    std::fs::remove_dir_all(&folder.0).unwrap();
    std::fs::rename(&elsewhere.0, &folder.0).unwrap();
    server.must("create database c; insert a.dbo.t values (2)");
    server.stop();
    let mut server = Server::open(&folder.0);
    assert_eq!(server.row("select count(*) from a.dbo.t"), "2");
    assert_eq!(server.row("select count(*) from sys.databases where name in ('b', 'c')"), "2");
    server.stop();
}

/// A folder that cannot be written says so; it is one because its lock's file is a folder.
#[test]
fn a_folder_that_cannot_be_locked_is_not_opened() {
    let folder = Folder::new("unlocked");
    std::fs::create_dir(folder.file("ghostlight.lock")).unwrap();
    let refused = Server::try_open(&folder.0).err().unwrap();
    assert_eq!(refused.number(), 50011, "{}", refused.text());
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "nothing was written");
}
