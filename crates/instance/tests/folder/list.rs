//! CREATE DATABASE overwrites nothing, and the list of databases is never lost.

use super::{Folder, Server, log_says, populated};
use std::fs;

const FOREIGN: &[u8] = b"somebody's only copy";

/// 5170 and 1802, whichever of the files is there, and also where it is a folder.
#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new("overwritten");
    let mut server = Server::open(&folder.0);
    for file in ["x.mdf", "x_log.ldf"] {
        fs::write(folder.file(file), FOREIGN).unwrap();
        assert_eq!(server.errors("create database x"), [5170, 1802], "{file}");
        assert_eq!(fs::read(folder.file(file)).unwrap(), FOREIGN);
        fs::remove_file(folder.file(file)).unwrap();
        let other = if file == "x.mdf" { "x_log.ldf" } else { "x.mdf" };
        assert!(!folder.file(other).exists(), "nothing is left beside {file}");
    }
    fs::create_dir(folder.file("x.mdf")).unwrap();
    assert_eq!(server.errors("create database x"), [5170, 1802]);
    fs::remove_dir(folder.file("x.mdf")).unwrap();
    server.must("create database x");
    server.must("use x");
    server.stop();
}

/// Tempdb is made anew, but not over what is another's.
#[test]
fn tempdb_is_made_over_nothing_of_others() {
    let folder = populated("tempdb");
    let others: [Vec<u8>; 2] = [fs::read(folder.file("a.mdf")).unwrap(), FOREIGN.to_vec()];
    for other in others {
        let before = fs::read(folder.file("tempdb.mdf")).unwrap();
        fs::write(folder.file("tempdb.mdf"), &other).unwrap();
        let refused = Server::try_open(&folder.0).err().unwrap();
        assert!(refused.text().contains("tempdb.mdf"), "{}", refused.text());
        assert_eq!(fs::read(folder.file("tempdb.mdf")).unwrap(), other);
        fs::write(folder.file("tempdb.mdf"), &before).unwrap();
        Server::open(&folder.0).stop();
    }
    fs::write(folder.file("tempdb.mdf"), []).unwrap();
    Server::open(&folder.0).stop();
}

type Loss = fn(&Folder, &str);

/// What becomes of one file, or of both.
const LOSSES: [(&str, Loss); 4] = [
    ("removed", |folder, name| fs::remove_file(folder.file(name)).unwrap()),
    ("emptied", |folder, name| fs::write(folder.file(name), "").unwrap()),
    ("cut", |folder, name| {
        let text = fs::read(folder.file(name)).unwrap();
        fs::write(folder.file(name), &text[..text.len() / 2]).unwrap();
    }),
    ("flipped", |folder, name| {
        let mut text = fs::read(folder.file(name)).unwrap();
        let at = text.len() / 2;
        text[at] ^= 4;
        fs::write(folder.file(name), text).unwrap();
    }),
];

const LISTS: [&str; 2] = ["databases.list", "databases.list.copy"];

/// One copy lost: the other is the list. Both lost: it is made anew of the files. Numbers, names
/// and rows are as before, and the error log tells.
#[test]
fn a_list_that_is_lost_is_not_an_empty_one() {
    let whole = populated("lost");
    for (what, lose) in LOSSES {
        for files in [&LISTS[..1], &LISTS[1..], &LISTS[..]] {
            let folder = whole.copy(what);
            files.iter().for_each(|file| lose(&folder, file));
            let mut server = Server::open(&folder.0);
            assert_eq!(server.row("select db_id('a'), (select n from a.dbo.t)"), "5|1", "{what}");
            assert_eq!(server.row("select db_id('b'), (select n from b.dbo.t)"), "6|2", "{what}");
            assert_eq!(server.errors("create database a"), [1801]);
            let told = match files.len() {
                1 => log_says(&folder.0, &format!("The file {} is", files[0])),
                _ => log_says(&folder.0, "was made anew"),
            };
            assert!(told, "{what} {files:?}");
            server.stop();
            Server::open(&folder.0).stop();
            assert!(!log_says(&folder.0, "The file databases"), "both are whole again");
        }
    }
}

/// The list of the build before is read, and written anew.
#[test]
fn the_first_version_is_upgraded() {
    let folder = populated("first");
    fs::remove_file(folder.file(LISTS[1])).unwrap();
    let old = "1\tmaster\n3\tmodel\n4\tmsdb\n5\ta\n6\tb\n";
    fs::write(folder.file(LISTS[0]), old).unwrap();
    for _ in 0..2 {
        let mut server = Server::open(&folder.0);
        assert_eq!(server.row("select n from b.dbo.t"), "2");
        server.stop();
        let list = fs::read_to_string(folder.file(LISTS[0])).unwrap();
        assert!(list.starts_with("ghostlight databases 2\n"), "{list}");
        assert_eq!(fs::read_to_string(folder.file(LISTS[1])).unwrap(), list);
    }
}

/// Files of no database are told, and stay.
#[test]
fn files_of_no_database_are_told_and_stay() {
    let folder = populated("unlisted");
    fs::copy(folder.file("a.mdf"), folder.file("other.mdf")).unwrap();
    let mut server = Server::open(&folder.0);
    assert!(log_says(&folder.0, "other.mdf belongs to no database of the list"));
    assert_eq!(server.errors("create database other"), [5170, 1802]);
    server.stop();
    let same = fs::read(folder.file("a.mdf")).unwrap().len();
    assert_eq!(fs::read(folder.file("other.mdf")).unwrap().len(), same);
}

/// Names that are none of a file, long ones, and such that differ little: each has files of its
/// own in the folder, and is found again.
#[test]
fn every_name_has_its_files_in_the_folder() {
    let folder = Folder::new("names");
    let long = "\u{1F600}".repeat(63);
    let names: Vec<String> = vec![
        "..".into(),
        "../up".into(),
        "/etc/passwd".into(),
        "line\nbreak\ttab".into(),
        "con".into(),
        "x_log".into(),
        "x".into(),
        "x.mdf".into(),
        "ghostlight.lock".into(),
        "databases.list".into(),
        format!("{long}a"),
        format!("{long}b"),
        "Ж".repeat(128),
    ];
    let mut server = Server::open(&folder.0);
    for name in &names {
        server.must(&format!("create database [{name}]"));
    }
    assert_eq!(server.errors("create database X"), [1801]);
    server.stop();
    let mut server = Server::open(&folder.0);
    for name in &names {
        let n = server.row(&format!("select count(*) from sys.databases where name = N'{name}'"));
        assert_eq!(n, "1", "{name:?}");
        server.must(&format!("use [{name}]"));
    }
    server.must("use master");
    let files = fs::read_dir(&folder.0).unwrap();
    let data = files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "mdf"));
    assert_eq!(data.count(), names.len() + 4);
    for name in &names {
        server.must(&format!("drop database [{name}]"));
    }
    server.stop();
}
