//! A damaged database stays in sight: whatever is done to its files, the server starts, the others
//! are used, it has a state, and nothing of its files is changed.

use super::{Folder, Server, log_says, populated};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: usize = 8192;

fn alter(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// The boot page as a build of later would have written it.
fn of_later_version(bytes: &mut [u8]) {
    let boot: &mut page::PageBytes =
        (&mut bytes[9 * PAGE..10 * PAGE]).try_into().expect("a page has this many bytes");
    boot[100] += 10;
    page::seal(boot);
}

type Damage = Box<dyn Fn(&Folder)>;
type PlainDamage = fn(&Folder);

/// What is done to the files of database a; and whether it cannot be opened then.
fn damages() -> Vec<(String, bool, Damage)> {
    let mut all: Vec<(String, bool, Damage)> = Vec::new();
    for page in 0..16 {
        let flip = move |folder: &Folder| {
            alter(&folder.file("a.mdf"), |b| b[page * PAGE + 100 + page] ^= 1);
        };
        let needed = page == 0 || page == 9;
        all.push((format!("a byte of page {page}"), needed, Box::new(flip)));
    }
    let fixed: [(&str, bool, PlainDamage); 10] = [
        ("a later version's boot page", true, |f| alter(&f.file("a.mdf"), |b| of_later_version(b))),
        ("data cut to nothing", true, |f| alter(&f.file("a.mdf"), Vec::clear)),
        ("data cut to half a page", true, |f| alter(&f.file("a.mdf"), |b| b.truncate(PAGE / 2))),
        ("data removed", true, |f| fs::remove_file(f.file("a.mdf")).unwrap()),
        ("log removed", true, |f| fs::remove_file(f.file("a_log.ldf")).unwrap()),
        ("both removed", true, |f| {
            fs::remove_file(f.file("a.mdf")).unwrap();
            fs::remove_file(f.file("a_log.ldf")).unwrap();
        }),
        ("logs swapped", true, |f| {
            fs::rename(f.file("a_log.ldf"), f.file("x")).unwrap();
            fs::copy(f.file("b_log.ldf"), f.file("a_log.ldf")).unwrap();
            fs::remove_file(f.file("x")).unwrap();
        }),
        ("the log's header zeroed", true, |f| {
            alter(&f.file("a_log.ldf"), |b| b[..PAGE].fill(0));
        }),
        ("a folder in place of the data", true, |f| {
            fs::remove_file(f.file("a.mdf")).unwrap();
            fs::create_dir(f.file("a.mdf")).unwrap();
        }),
        ("a folder in place of the log", true, |f| {
            fs::remove_file(f.file("a_log.ldf")).unwrap();
            fs::create_dir(f.file("a_log.ldf")).unwrap();
        }),
    ];
    all.extend(fixed.map(|(name, closed, f)| (name.to_owned(), closed, Box::new(f) as Damage)));
    all
}

/// Everything that is in the files of database a.
fn image(folder: &Folder) -> BTreeMap<String, Option<Vec<u8>>> {
    let names = ["a.mdf", "a_log.ldf"].map(str::to_owned);
    names.into_iter().map(|n| (n.clone(), fs::read(folder.file(&n)).ok())).collect()
}

#[test]
fn a_damaged_database_stays_in_sight() {
    let whole = populated("sight");
    for (what, closed, damage) in damages() {
        let folder = whole.copy("damaged");
        damage(&folder);
        let before = image(&folder);
        let mut server = Server::open(&folder.0);
        assert_eq!(server.row("select n from b.dbo.t"), "2", "{what}");
        let state =
            server.row("select state from sys.databases where name = 'a' and database_id = 5");
        match closed {
            true => {
                assert!(state == "3" || state == "4", "{what}: {state}");
                closed_as_sql_server_has_it(&mut server, &folder, &what, &state);
                assert!(image(&folder) == before, "{what}: its files were changed");
                dropped(&mut server, &folder, &what);
            }
            // Pages that are read when they are asked for: by rows or by an error.
            false => drop(server.ask("select n from a.dbo.t")),
        }
        server.stop();
    }
}

fn closed_as_sql_server_has_it(server: &mut Server, folder: &Folder, what: &str, state: &str) {
    let (number, name) = match state {
        "3" => (945, "RECOVERY_PENDING"),
        _ => (926, "SUSPECT"),
    };
    let said =
        server.row("select databasepropertyex('a', 'Status'), has_dbaccess('a'), db_name(5)");
    assert_eq!(said, format!("{name}|0|a"), "{what}");
    assert_eq!(server.errors("use a"), [number], "{what}");
    assert_eq!(server.errors("select * from a.dbo.t"), [number], "{what}");
    assert_eq!(server.errors("insert a.dbo.t values (9)"), [number], "{what}");
    assert_eq!(server.errors("create table a.dbo.u (n int)"), [number], "{what}");
    assert_eq!(server.errors("create database a"), [1801], "{what}");
    assert_eq!(server.login("a").err().map(|e| e.number()), Some(4060), "{what}");
    let again = server.errors("alter database a set online");
    assert!(again.contains(&number) && again.last() == Some(&5069), "{what}: {again:?}");
    let later = what.starts_with("a later version") && state == "3";
    assert_eq!(log_says(&folder.0, "This server supports version"), later, "{what}");
    let line = if state == "4" { "Error: 3414, Severity: 21" } else { "Error: 945, Severity: 14" };
    assert!(log_says(&folder.0, line), "{what}: {line}");
}

/// It goes with what is there of its files, and its name can be had again.
fn dropped(server: &mut Server, folder: &Folder, what: &str) {
    server.must("drop database a");
    assert_eq!(server.row("select count(*) from sys.databases where name = 'a'"), "0", "{what}");
    let left = ["a.mdf", "a_log.ldf"].into_iter().any(|name| folder.file(name).is_file());
    assert!(!left, "{what}");
    for name in ["a.mdf", "a_log.ldf"] {
        let _ = fs::remove_dir(folder.file(name));
    }
    server.must("create database a");
    server.must("use a");
    server.must("use master");
}

/// What makes it whole again brings it back, without a restart.
#[test]
fn a_database_whose_file_comes_back_goes_online() {
    let folder = populated("back");
    fs::rename(folder.file("a.mdf"), folder.file("away")).unwrap();
    let mut server = Server::open(&folder.0);
    assert_eq!(server.errors("alter database a set online"), [5120, 945, 5069]);
    server.must("alter database a set offline");
    assert_eq!(server.errors("use a"), [942]);
    fs::rename(folder.file("away"), folder.file("a.mdf")).unwrap();
    server.must("alter database a set online");
    assert_eq!(server.row("select n, databasepropertyex('a', 'status') from a.dbo.t"), "1|ONLINE");
    server.stop();
}

/// msdb may be gone; without master and model there is no server, and the file is named.
#[test]
fn the_system_needs_master_and_model() {
    let whole = populated("system");
    for damaged in [false, true] {
        let spoil = |folder: &Folder, name: &str| match damaged {
            true => alter(&folder.file(name), |bytes| bytes[100] ^= 1),
            false => fs::remove_file(folder.file(name)).unwrap(),
        };
        let folder = whole.copy("msdb");
        spoil(&folder, "msdb.mdf");
        let mut server = Server::open(&folder.0);
        assert_eq!(server.row("select state from sys.databases where name = 'msdb'"), "3");
        assert_eq!(server.row("select n from a.dbo.t"), "1");
        server.stop();
        for name in ["master", "model"] {
            let folder = whole.copy(name);
            spoil(&folder, &format!("{name}.mdf"));
            let refused = Server::try_open(&folder.0).err().unwrap();
            assert!(refused.text().contains(&format!("{name}.mdf")), "{}", refused.text());
        }
    }
}

/// OFFLINE and READ_ONLY are so after a restart, too; nothing of the files is written meanwhile.
#[test]
fn how_a_database_stands_survives_a_restart() {
    let folder = populated("stands");
    let mut server = Server::open(&folder.0);
    server.must("alter database a set read_only");
    server.must("alter database b set offline");
    assert_eq!(server.errors("insert a.dbo.t values (5)"), [3906]);
    let before = image(&folder);
    server.stop();
    for _ in 0..2 {
        let mut server = Server::open(&folder.0);
        assert_eq!(server.row("select n from a.dbo.t"), "1");
        assert_eq!(server.errors("insert a.dbo.t values (5)"), [3906]);
        assert_eq!(server.errors("use b"), [942]);
        server.stop();
        assert!(image(&folder) == before, "its files were changed");
    }
    let mut server = Server::open(&folder.0);
    server.must("alter database a set read_write; alter database b set online");
    server.must("insert a.dbo.t values (5); insert b.dbo.t values (5)");
    server.stop();
}
