//! Which number a definition that cannot be made gets, and that it then leaves nothing behind.

mod server;

use server::{Server, Session};

/// What is there before each statement.
const SETUP: &str = "
create schema sales;
create table sales.Orders (id int not null constraint PK_Orders primary key, a varchar(20),
    b int constraint DF_b default 5, constraint CK_b check (b > 0), index IX_a (a));
create table dbo.Heap (id int, name varchar(max), long varchar(2000));
create procedure dbo.Work @n int as select @n;
create table #t (id int primary key);";

const CASES: &[(&str, &[i32])] = &[
    // names
    ("create table sales.orders (id int)", &[2714]),
    ("create table dbo.PK_orders (id int)", &[]),
    ("create table sales.PK_orders (id int)", &[2714]),
    ("create table dbo.work (id int)", &[2714]),
    ("create table #T (id int)", &[2714]),
    ("create table nosuch.t (id int)", &[2760]),
    ("create table sys.t (id int)", &[2760]),
    ("create table nowhere.dbo.t (id int)", &[911]),
    ("create table a.b.c.d (id int)", &[40517]),
    ("create schema SALES", &[2714, 2759]),
    ("create schema dbo", &[2714, 2759]),
    ("create schema x authorization guest", &[40517]),
    // columns
    ("create table t (a int, A int)", &[2705]),
    ("create table t (a nosuchtype)", &[2715]),
    ("create table t (a dbo.int)", &[2715]),
    ("create table t (a int(4))", &[2716]),
    ("create table t (a varchar(9000))", &[131]),
    ("create table t (a varchar(0))", &[1001]),
    ("create table t (a time(8))", &[1002]),
    ("create table t (a decimal(40, 1))", &[2750]),
    ("create table t (a decimal(4, 5))", &[2751]),
    ("create table t (a hierarchyid)", &[40517]),
    ("create table t (a as 1)", &[40517]),
    ("create table t (a rowversion, b rowversion)", &[2738]),
    ("create table t (a int sparse)", &[40517]),
    ("create table t (a int collate Latin1_General_CI_AS)", &[447]),
    ("create table t (a varchar(3) collate Nowhere_CI_AS)", &[448]),
    ("create table t (a char(8000), b char(100))", &[1701]),
    // identity
    ("create table t (a varchar(3) identity)", &[2749]),
    ("create table t (a decimal(5, 1) identity)", &[2749]),
    ("create table t (a int identity, b int identity)", &[2744]),
    ("create table t (a int null identity)", &[8147]),
    ("create table t (a int identity default 1)", &[1754]),
    ("create table t (a tinyint identity(300, 1))", &[2752]),
    ("create table t (a int identity(1, 0))", &[2753]),
    // constraints
    ("create table t (a int null primary key)", &[8111, 1750]),
    ("create table t (a int primary key, b int primary key)", &[8110]),
    ("create table t (a int primary key clustered, b int unique clustered)", &[8112]),
    ("create table t (a int, primary key (b))", &[1911, 1750]),
    ("create table t (a int, primary key (a, a))", &[1909, 1750]),
    ("create table t (a varchar(max) primary key)", &[1919, 1750]),
    ("create table t (a char(901) primary key)", &[1944, 1750]),
    ("create table t (a varchar(901) primary key)", &[1945]),
    ("create table sales.t (a int constraint PK_ORDERS primary key)", &[2714, 1750]),
    ("create table t (a int constraint x primary key, b int constraint x unique)", &[8168]),
    ("create table t (a int constraint t primary key)", &[2714, 1750]),
    ("create table t (a int check (nosuch > 1))", &[207]),
    ("create table t (a int default nosuch)", &[128]),
    ("create table t (a int references dbo.Heap (id))", &[1776, 1750]),
    ("create table t (a int, foreign key (a) references dbo.Heap (id))", &[1776, 1750]),
    // options
    ("create table t (a int) on [PRIMARY]", &[]),
    ("create table t (a int) on other", &[1921]),
    ("create table t (a int) on scheme (a)", &[40517]),
    ("create table t (a int) with (memory_optimized = on)", &[40517]),
    ("create table t (a int) with (data_compression = page)", &[40517]),
    ("create procedure ##p as select 1", &[40517]),
    // indexes
    ("create index i on dbo.nosuch (a)", &[1088]),
    ("create index i on dbo.Work (a)", &[1088]),
    ("create index i on dbo.Heap (nosuch)", &[1911]),
    ("create index i on dbo.Heap (id) include (nosuch)", &[1911]),
    ("create index i on dbo.Heap (id, id)", &[1909]),
    ("create index i on dbo.Heap (id) include (id)", &[1909]),
    ("create index i on dbo.Heap (name)", &[1919]),
    ("create index i on dbo.Heap (long)", &[1945]),
    ("create index ix_A on sales.Orders (b)", &[1913]),
    ("create clustered index i on sales.Orders (b)", &[1902]),
    ("create index i on dbo.Heap (id) where id > 5 or id < 2", &[10735]),
    ("create index i on dbo.Heap (id) with (online = on, resumable = on)", &[40517]),
    ("drop index ix_A on sales.Orders with (online = on)", &[3745]),
    ("create index i on dbo.Heap (id) with (fillfactor = 0)", &[102]),
    ("create columnstore index i on dbo.Heap (id)", &[40517]),
    (
        "create index i on dbo.Heap (id) with (pad_index = off, statistics_norecompute = off, \
      ignore_dup_key = off, allow_row_locks = on, allow_page_locks = on, fillfactor = 80, \
      optimize_for_sequential_key = off, sort_in_tempdb = on, maxdop = 4) on [PRIMARY]",
        &[],
    ),
    ("drop index PK_Orders on sales.Orders", &[3723]),
    ("drop index nosuch on sales.Orders", &[3701]),
    ("drop index i on nosuch", &[3701]),
    ("drop index if exists nosuch on sales.Orders", &[]),
    ("drop index sales.Orders.IX_a", &[]),
    ("alter index nosuch on sales.Orders rebuild", &[3701]),
    ("alter index all on sales.Orders reorganize with (fillfactor = 70)", &[155]),
    ("create index nosuch on sales.Orders (id) with (drop_existing = on)", &[7999]),
    // drops
    ("drop table nosuch", &[3701]),
    ("drop table if exists nosuch, nowhere.dbo.t", &[]),
    ("drop table nowhere.dbo.t", &[3701]),
    ("drop table nosuch, dbo.Heap, nosuch2", &[3701, 3701]),
    ("drop table dbo.Work", &[3705]),
    ("drop procedure dbo.Heap", &[3705]),
    ("drop procedure nosuch", &[3701]),
    ("drop view if exists v", &[]),
    ("drop view v", &[3701]),
    ("drop schema sales", &[3729]),
    ("drop schema nosuch", &[15151]),
    ("drop schema dbo", &[15151]),
    ("drop schema if exists nosuch", &[]),
    ("drop table #nosuch", &[3701]),
    ("truncate table nosuch", &[4701]),
    ("truncate table dbo.Work", &[4708]),
    // procedures
    ("create procedure dbo.WORK as select 1", &[2714]),
    ("create procedure dbo.heap as select 1", &[2714]),
    ("alter procedure dbo.nosuch as select 1", &[208]),
    ("create or alter procedure dbo.Heap as select 1", &[2010]),
    ("create procedure p @a int, @A int as select 1", &[134]),
    ("create procedure p @a nosuchtype as select 1", &[2715]),
    ("create procedure p with encryption as select 1", &[40517]),
    ("create procedure p with recompile as select 1", &[]),
    ("create procedure #p as select 1", &[40517]),
    // tables altered
    ("alter table nosuch add a int", &[4902]),
    ("alter table dbo.Heap add id int", &[2705]),
    ("alter table sales.Orders add primary key (a)", &[1779, 1750]),
    ("alter table dbo.Heap add primary key (id)", &[8111, 1750]),
    ("alter table sales.Orders add default 1 for b", &[1781, 1750]),
    ("alter table sales.Orders add constraint c check (b < 999)", &[547]),
    ("alter table sales.Orders with nocheck add constraint c check (b < 999)", &[]),
    ("alter table sales.Orders drop constraint nosuch", &[3728, 3727]),
    ("alter table sales.Orders drop constraint if exists nosuch", &[]),
    ("alter table sales.Orders drop column nosuch", &[4924]),
    ("alter table sales.Orders drop column a", &[5074, 4922]),
    ("alter table sales.Orders drop column b", &[5074, 5074, 4922]),
    ("alter table sales.Orders nocheck constraint nosuch", &[4917, 4916]),
    ("alter table sales.Orders nocheck constraint PK_Orders", &[11415, 4916]),
    ("alter table dbo.Heap drop constraint PK_Orders", &[3728, 3727]),
    ("alter table dbo.Heap add default 1 for nosuch", &[1752, 1750]),
    ("create table t (a int, b int check (a > 0))", &[8141, 1750]),
    ("create table t (a int, b int, check (a > b))", &[]),
    ("alter table sales.Orders alter column a int", &[5074, 4922]),
    // what is not there yet
    ("create statistics s on dbo.Heap (id) where id > 1", &[40517]),
    ("create statistics s on dbo.Heap (id) with incremental = on", &[40517]),
    ("create statistics s on dbo.Heap (id) with resample", &[40517]),
    ("create statistics s on dbo.Heap (nowhere)", &[1911]),
    ("create statistics s on dbo.Heap (id, id)", &[1909]),
    ("create statistics s on dbo.nowhere (id)", &[1088]),
    ("update statistics dbo.nowhere", &[2706]),
    ("update statistics dbo.Heap nowhere", &[2767]),
    ("update statistics dbo.Heap with persist_sample_percent = on", &[40517]),
    ("drop statistics dbo.Heap.s", &[3701]),
];

#[test]
fn every_mistake_has_its_number_and_changes_nothing() {
    for &(statement, numbers) in CASES {
        let server = Server::new();
        let mut session = Session::new(&server, 51);
        for one in SETUP.split_inclusive(';') {
            session.quietly(one);
        }
        let before = server.view("shop");
        assert_eq!(session.numbers(statement), numbers, "{statement}");
        server.check_system_tables();
        let failed = numbers.last().is_some_and(|n| *n != 1945) && !statement.contains("Heap, ");
        let same = server.view("shop").objects().eq(before.objects());
        assert!(!failed || same, "{statement} failed and changed something");
    }
}

#[test]
fn texts_name_what_they_are_about() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    for one in SETUP.split_inclusive(';') {
        session.quietly(one);
    }
    for (statement, text) in [
        (
            "\n\ncreate table sales.Orders (id int)",
            "Msg 2714, Level 16, State 6, Line 3: There is already an object named 'Orders' in the database.",
        ),
        (
            "drop table dbo.nosuch",
            "Msg 3701, Level 11, State 5, Line 1: Cannot drop the table 'dbo.nosuch', because it does not exist or you do not have permission.",
        ),
        (
            "drop index PK_Orders on sales.Orders",
            "Msg 3723, Level 16, State 4, Line 1: An explicit DROP INDEX is not allowed on index 'sales.Orders.PK_Orders'. It is being used for PRIMARY KEY constraint enforcement.",
        ),
        (
            "create table t (a int,\n b varchar(9000))",
            "Msg 131, Level 15, State 2, Line 2: The size (9000) given to the column 'b' exceeds the maximum allowed for any data type (8000).",
        ),
        (
            "create table t (a int, b nope)",
            "Msg 2715, Level 16, State 6, Line 1: Column, parameter, or variable #2: Cannot find data type nope.",
        ),
    ] {
        let told = session.run(statement);
        assert_eq!(told.last().map(|e| e.to_string()).as_deref(), Some(text));
    }
}

#[test]
fn some_statements_do_not_go_with_a_transaction() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    session.begin();
    assert_eq!(session.numbers("create database d"), [226]);
    assert_eq!(session.numbers("alter database current set recovery simple"), [226]);
    assert_eq!(session.numbers("drop database shop"), [574]);
    assert!(server.asked.lock().is_empty());
    session.commit();
    assert_eq!(session.numbers("create database shop"), [1801]);
    assert_eq!(session.numbers("drop database nosuch"), [3701]);
    assert_eq!(session.numbers("drop database if exists nosuch"), []);
}
