//! Statements about databases as a whole: what the instance is asked, and what is refused.

mod server;

use server::{Server, Session};

fn asked(text: &str) -> (Vec<i32>, Vec<String>) {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    let numbers = session.numbers(text);
    let asked = std::mem::take(&mut *server.asked.lock());
    (numbers, asked)
}

/// The script that users begin with.
#[test]
fn the_options_of_the_first_script_are_set() {
    let (numbers, asked) = asked(
        "ALTER DATABASE CURRENT SET RECOVERY SIMPLE;
         ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE;
         ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION OFF;
         ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED;
         ALTER DATABASE CURRENT SET ACCELERATED_DATABASE_RECOVERY = OFF;",
    );
    assert_eq!(numbers, [5060]);
    assert_eq!(
        asked,
        [
            "shop Recovery(Simple) Forever",
            "shop ReadCommittedSnapshot(false) RollBackAfter(0)",
            "shop SnapshotIsolation(false) Forever",
            "shop DelayedDurability(Allowed) Forever",
            "shop AcceleratedRecovery(false) Forever",
        ]
    );
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    for (text, numbers, named) in [
        ("alter database shop set auto_shrink on", &[40517][..], "AUTO_SHRINK ON"),
        ("alter database shop set page_verify none", &[40517], "PAGE_VERIFY none"),
        ("alter database shop set broker_thing on", &[40517], "BROKER_THING"),
        ("alter database shop set recovery simple, auto_close on", &[40517], "AUTO_CLOSE ON"),
        ("alter database shop set compatibility_level = 90", &[15048], "100"),
        ("alter database nosuch set recovery simple", &[5011, 5069], ""),
        ("alter database shop set recovery simple with no_wait", &[5070, 5069], ""),
        ("alter database shop collate Latin1_General_CI_AS", &[40517], "COLLATE"),
        ("alter database shop add file (name = f, filename = 'f')", &[40517], "ADD FILE"),
        ("create database d for attach", &[40517], "FOR ATTACH"),
        ("create database d collate Nowhere_CI_AS", &[448], "Nowhere"),
        ("dbcc shrinkdatabase (0)", &[40510], "DBCC SHRINKDATABASE"),
        ("dbcc shrinkfile (1, emptyfile)", &[40517], "EMPTYFILE"),
        ("dbcc shrinkfile (2, -1)", &[2560], "2"),
        ("dbcc shrinkfile (2, 1, truncate)", &[2560], "3"),
        ("dbcc shrinkfile", &[2583], ""),
        ("dbcc sqlperf (umsstats)", &[40517], "DBCC SQLPERF"),
        ("dbcc loginfo (99)", &[911], "99"),
        ("dbcc loginfo (1, 2)", &[2583], ""),
        ("dbcc loginfo with tableresults", &[40517], "TABLERESULTS"),
        ("dbcc checkdb (shop, repair_rebuild)", &[40517], "repair_rebuild"),
        ("dbcc checkdb (nosuch)", &[911], "nosuch"),
    ] {
        let server = Server::new();
        let mut session = Session::new(&server, 51);
        let told = session.run(text);
        assert_eq!(told.iter().map(|e| e.number()).collect::<Vec<_>>(), numbers, "{text}");
        assert!(told.last().is_some_and(|e| e.text().contains(named)), "{text}: {told:?}");
        assert!(server.asked.lock().is_empty(), "{text}: nothing was done");
    }
}

/// Accelerated recovery in each spelling of its grammar. Its version store has one filegroup to be
/// in.
#[test]
fn accelerated_recovery_is_understood() {
    const OPTION: &str = "alter database shop set accelerated_database_recovery";
    for (rest, on, waiting) in [
        (" = on", true, "Forever"),
        (" = OFF with rollback after 5 seconds", false, "RollBackAfter(5)"),
        (" = on (persistent_version_store_filegroup = [primary])", true, "Forever"),
        (
            " = ON ( PERSISTENT_VERSION_STORE_FILEGROUP = PRIMARY ) WITH ROLLBACK IMMEDIATE",
            true,
            "RollBackAfter(0)",
        ),
        (" = off (persistent_version_store_filegroup = \"PRIMARY\")", false, "Forever"),
    ] {
        let (_, asked) = asked(&format!("{OPTION}{rest}"));
        assert_eq!(asked, [format!("shop AcceleratedRecovery({on}) {waiting}")], "{rest}");
    }
    for (rest, numbers) in [
        ("", &[102][..]),
        (" = 1", &[102]),
        (" (persistent_version_store_filegroup = primary)", &[102]),
        (" = on (filegroup = primary)", &[102]),
        (" = on (persistent_version_store_filegroup = 'primary')", &[102]),
        (" = on (persistent_version_store_filegroup = elsewhere)", &[1921, 5069]),
        (" = on with no_wait", &[5070, 5069]),
    ] {
        let (told, asked) = asked(&format!("{OPTION}{rest}"));
        assert_eq!((&told[..], asked), (numbers, Vec::new()), "{rest}");
    }
}

#[test]
fn files_and_sizes_are_understood() {
    let (numbers, asked) = asked(
        "create database d on primary (name = d1, filename = '/x/d.mdf', size = 10, \
         maxsize = unlimited, filegrowth = 64 MB) log on (name = 'd_log', filename = 'l', \
         size = 512 KB, maxsize = 2 GB, filegrowth = 10 %) collate latin1_general_bin2",
    );
    assert_eq!(numbers, []);
    assert_eq!(asked.len(), 1);
    for part in [
        "size: Some(10485760), size_max: Some(Unlimited), growth: Some(Bytes(67108864))",
        "size: Some(524288), size_max: Some(Bytes(2147483648)), growth: Some(Percent(10))",
        "collation: Some(Latin1_General_BIN2)",
        "path: Some(\"/x/d.mdf\")",
    ] {
        assert!(asked[0].contains(part), "{part} in {}", asked[0]);
    }
}

/// What a change of a file says reaches the instance in whole extents; nothing else is asked.
#[test]
fn a_change_of_a_file_is_understood() {
    let (numbers, asked) = asked(
        "alter database shop modify file (name = 'the data', newname = [x y], size = 65 KB, \
         maxsize = 1 GB, filegrowth = 0)",
    );
    assert_eq!((numbers.as_slice(), asked.len()), (&[5021][..], 1));
    for part in [
        "FileChange { name: \"the data\", offline: false, change: NewFile { name: Some(\"x y\")",
        "size: Some(131072), size_max: Some(Bytes(1073741824)), growth: Some(Bytes(0))",
    ] {
        assert!(asked[0].contains(part), "{part} in {}", asked[0]);
    }
    let (numbers, _) = self::asked("alter database shop modify file (name = d, offline)");
    assert_eq!(numbers, []);
    for (spec, number) in [
        ("size = 5", 1036),
        ("name = d, name = e", 153),
        ("name = d, size = 5 %", 153),
        ("name = d, maxsize = 3000000 TB", 1842),
        ("name = d, filegrowth = -1", 102),
        ("name = d, size", 102),
        ("name = 5", 102),
        ("name = d, newname = ''", 1038),
    ] {
        let (numbers, asked) = self::asked(&format!("alter database shop modify file ({spec})"));
        assert_eq!((numbers.as_slice(), asked.len()), (&[number][..], 0), "{spec}");
    }
}

#[test]
fn checks_and_checkpoints_reach_the_instance() {
    for (text, numbers, wanted) in [
        ("checkpoint", &[][..], &["checkpoint 5"][..]),
        ("dbcc checkdb", &[8989, 2528], &["check 5 true"]),
        ("dbcc checkdb with no_infomsgs", &[], &["check 5 true"]),
        ("dbcc checkdb (tempdb, noindex)", &[8989, 2528], &["check 2 false"]),
        ("dbcc checkdb (0)", &[8989, 2528], &["check 5 true"]),
        ("dbcc sqlperf ('sys.dm_os_wait_stats', clear)", &[2528], &[]),
        ("dbcc sqlperf (logspace)", &[2528], &["all logs"]),
        ("dbcc loginfo", &[2528], &["log of 5"]),
        ("dbcc loginfo (0) with no_infomsgs", &[], &["log of 5"]),
        ("dbcc loginfo (tempdb)", &[2528], &["log of 2"]),
        ("dbcc loginfo (2)", &[2528], &["log of 2"]),
        (
            "dbcc shrinkfile ('l', 2)",
            &[9008, 2528],
            &["Name(\"l\") of 5: ShrinkRequest { bytes: Some(2097152), moving: true }"],
        ),
        (
            "dbcc shrinkfile (2, 3)",
            &[2528],
            &["Id(FileId(2)) of 5: ShrinkRequest { bytes: Some(3145728), moving: true }"],
        ),
        (
            "dbcc shrinkfile (l, truncateonly) with no_infomsgs",
            &[],
            &["Name(\"l\") of 5: ShrinkRequest { bytes: Some(0), moving: false }"],
        ),
        ("alter database shop modify name = store", &[], &["rename shop store"]),
    ] {
        let (told, asked) = asked(text);
        assert_eq!((told.as_slice(), asked.len()), (numbers, wanted.len()), "{text}");
        assert_eq!(asked, wanted);
    }
}
