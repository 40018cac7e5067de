//! Tables as they become: columns, names, indexes; rows that stay whatever is rebuilt.

mod server;

use access::{Field, Isolation, LockPlan, TableSink as _};
use catalog::view::{Identity, IndexKind, Object, PhysicalColumn, SchemaId, Table};
use server::{Server, Session};
use types::{Value, decode_storage, encode_storage};

/// Puts rows of ints into a table's base and indexes' hobts are left to builds.
fn fill(session: &mut Session, table: &str, rows: &[&[Option<i32>]]) {
    let table = session.table(table);
    let layout = table.hobt_layout(table.base());
    let hobt = session.server.sites["shop"].storage.hobt(table.base().partitions.sole());
    session.work.begin(false, "");
    for row in rows {
        let bytes: Vec<Option<Vec<u8>>> = layout
            .columns
            .iter()
            .map(|at| match *at {
                PhysicalColumn::Column(n) => row[n].map(|v| {
                    let mut out = Vec::new();
                    encode_storage(&Value::Int(v), table.columns[n].sql_type, &mut out);
                    out
                }),
                PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => {
                    None
                }
            })
            .collect();
        let fields: Vec<Field<'_>> =
            bytes.iter().map(|b| b.as_deref().map_or(Field::Null, Field::Inline)).collect();
        let locks = LockPlan::change(Isolation::ReadCommitted);
        hobt.insert(&mut session.work, &fields, &locks).expect("inserted");
    }
    session.commit();
}

/// The int columns of an index's entries, by the names of the columns.
fn entries(session: &Session, table: &Table, index: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let view = session.view();
    let index = table.index(index, view.collation()).expect("the index is there");
    let layout = table.hobt_layout(index);
    let hobt = session.server.sites["shop"].storage.hobt(index.partitions.sole());
    let text = |row: &[Option<Vec<u8>>], name: &&str| {
        let ordinal = table.column(name, view.collation()).expect("the column is there");
        let at = layout.position(PhysicalColumn::Column(ordinal)).expect("the index has it");
        match &row[at] {
            None => "-".to_owned(),
            Some(bytes) => {
                let value = decode_storage(bytes, table.columns[ordinal].sql_type);
                let value = value.expect("a value");
                value.as_i64().map(|n| n.to_string()).or(value.as_text()).expect("shown")
            }
        }
    };
    hobt.rows().iter().map(|row| columns.iter().map(|c| text(row, c)).collect()).collect()
}

fn flat(rows: Vec<Vec<String>>) -> String {
    rows.iter().map(|r| r.join(" ")).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_table_is_what_its_text_says() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    session.quietly(
        "create table dbo.Test (id int identity(5, -2) primary key, n numeric(9, 2) not null, \
         s sysname, d datetime2(3) default getdate() , v varchar(max) collate Latin1_General_BIN2, \
         x int constraint DF_x default (-1) check (x > 0), y int default -5, unique (n, x desc), \
         index IX nonclustered (d) include (v) with (fillfactor = 70))",
    );
    let t = session.table("Test");
    let nullable: Vec<bool> = t.columns.iter().map(|c| c.nullable).collect();
    assert_eq!(nullable, [false, false, false, true, true, true, true]);
    let users: Vec<i32> = t.columns.iter().map(|c| c.user_type_id).collect();
    assert_eq!(users, [56, 108, 256, 42, 167, 56, 56]);
    assert_eq!(
        t.columns[0].identity,
        Some(Identity { seed: 5, increment: -2, not_for_replication: false })
    );
    let texts: Vec<&str> =
        t.columns.iter().filter_map(|c| c.default.as_ref()).map(|d| &*d.text).collect();
    assert_eq!(texts, ["(getdate())", "((-1))", "((-5))"]);
    let named: Vec<bool> =
        t.columns.iter().filter_map(|c| c.default.as_ref()).map(|d| d.system_named).collect();
    assert_eq!(named, [true, false, true]);
    assert_eq!((&*t.checks[0].text, t.checks[0].column), ("([x]>(0))", Some(5)));
    assert!(t.checks[0].name.starts_with("CK__Test__x__"), "{}", t.checks[0].name);
    let kinds: Vec<(i32, IndexKind, bool)> =
        t.indexes.iter().map(|i| (i.index_id.0, i.kind, i.unique)).collect();
    assert_eq!(
        kinds,
        [
            (1, IndexKind::Clustered, true),
            (2, IndexKind::Nonclustered, true),
            (3, IndexKind::Nonclustered, false)
        ]
    );
    assert!(t.indexes[0].name.starts_with("PK__Test__") && t.indexes[0].primary_key);
    assert!(t.indexes[1].name.starts_with("UQ__Test__") && t.indexes[1].key[1].descending);
    assert_eq!((t.indexes[2].fill_factor, &*t.indexes[2].included), (70, &[4][..]));
    server.check_system_tables();
}

#[test]
fn the_primary_key_is_clustered_unless_something_else_is() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    for (n, (text, clustered)) in [
        ("id int primary key", "PK"),
        ("id int primary key nonclustered", ""),
        ("id int primary key, b int unique clustered", "UQ"),
        ("id int, primary key (id), b int, index CX clustered (b)", "CX"),
        ("id int unique", ""),
    ]
    .into_iter()
    .enumerate()
    {
        session.quietly(&format!("create table t{n} ({text})"));
        let base = session.table(&format!("t{n}")).base().clone();
        assert!(base.name.starts_with(clustered) && base.name.is_empty() == clustered.is_empty());
    }
    session.settings.null_by_default = false;
    session.quietly("create table strict (a int, b int null)");
    let nullable: Vec<bool> = session.table("strict").columns.iter().map(|c| c.nullable).collect();
    assert_eq!(nullable, [false, true]);
}

/// Rows stay, in every index, whatever the table becomes; the system tables follow.
#[test]
fn rows_survive_every_rebuild() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    session.quietly("create table t (id int not null, a int, b int)");
    let some = [[3, 30, 1], [1, 10, 2], [2, 10, 3]].map(|r| r.map(Some));
    let mut rows: Vec<&[Option<i32>]> = some.iter().map(|r| &r[..]).collect();
    let null = [Some(4), None, Some(4)];
    rows.push(&null);
    fill(&mut session, "t", &rows);

    session.quietly("create index ia on t (a desc) include (b)");
    let t = session.table("t");
    assert_eq!(flat(entries(&session, &t, "ia", &["a", "b"])), "30 1, 10 2, 10 3, - 4");

    session.quietly("create unique clustered index c on t (id)");
    let t = session.table("t");
    assert_eq!(
        flat(entries(&session, &t, "c", &["id", "a", "b"])),
        "1 10 2, 2 10 3, 3 30 1, 4 - 4"
    );
    assert_eq!(flat(entries(&session, &t, "ia", &["a", "id"])), "30 3, 10 1, 10 2, - 4");

    session.quietly("drop index c on t");
    let t = session.table("t");
    assert_eq!(t.base().kind, IndexKind::Heap);
    assert_eq!(flat(entries(&session, &t, "ia", &["a", "b"])), "30 1, 10 2, 10 3, - 4");

    session.quietly("create clustered index c on t (a)");
    let t = session.table("t");
    assert_eq!(flat(entries(&session, &t, "c", &["a", "id"])), "- 4, 10 1, 10 2, 30 3");

    session.quietly("alter table t add e int, f varchar(5) not null default 'new' with values");
    let t = session.table("t");
    assert_eq!(
        flat(entries(&session, &t, "c", &["a", "e", "f"])),
        "- - new, 10 - new, 10 - new, 30 - new"
    );

    session.quietly("alter table t drop column e");
    let t = session.table("t");
    assert_eq!(t.columns.iter().map(|c| c.column_id).collect::<Vec<_>>(), [1, 2, 3, 5]);
    assert_eq!(flat(entries(&session, &t, "c", &["a", "f"])), "- new, 10 new, 10 new, 30 new");

    session.quietly("alter table t add constraint pk primary key (id)");
    session.quietly("alter index all on t rebuild with (fillfactor = 50)");
    let t = session.table("t");
    assert_eq!(flat(entries(&session, &t, "pk", &["id"])), "1, 2, 3, 4");
    assert!(t.indexes.iter().all(|i| i.fill_factor == 50));
    session.quietly("alter table t drop constraint pk");
    server.check_system_tables();
    assert_eq!(session.numbers("alter table t add g int not null"), [4901]);

    session.quietly("drop table t");
    server.check_system_tables();
    let dropped = server.sites["shop"].storage.dropped.lock().len();
    assert!(dropped > 10, "every hobt that went is to be freed: {dropped}");
}

#[test]
fn a_duplicate_ends_a_unique_build_and_says_where() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    session.quietly("create table t (id int not null, a int)");
    let rows = [[1, 7], [2, 8], [3, 7]].map(|r| r.map(Some));
    fill(&mut session, "t", &rows.each_ref().map(|r| &r[..]));
    let told = session.run("create unique index u on t (a)");
    let text = "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found \
                for the object name 'dbo.t' and the index name 'u'. The duplicate key value is (7).";
    assert_eq!((told[0].number(), told[0].text()), (1505, text));
    assert_eq!(session.numbers("alter table t add constraint q unique (a)"), [1505, 1750]);
    assert_eq!(session.table("t").indexes.len(), 1);
    session.quietly("create unique index u on t (a, id)");
    server.check_system_tables();
}

#[test]
fn truncate_begins_the_identity_again_and_rebuilds_do_not() {
    struct NullStore;
    impl catalog::IdentityStore for NullStore {
        fn reserve(&self, _: base::HobtId, _: i128) -> base::SqlResult<()> {
            Ok(())
        }

        fn reserve_at_once(&self, _: base::HobtId, _: i128) -> base::SqlResult<()> {
            Ok(())
        }
    }
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    session.quietly("create table t (id int identity(10, 5) primary key, a int)");
    let next = |session: &Session| {
        let t = session.table("t");
        let identity = t.columns[0].identity.expect("there is one");
        let site = &session.server.sites["shop"];
        site.identities.next(t.counter(), identity, &NullStore).expect("given")
    };
    assert_eq!((next(&session), next(&session)), (10, 15));
    session.quietly("alter index all on t rebuild");
    assert_eq!(next(&session), 20);
    fill(&mut session, "t", &[&[Some(10), Some(1)]]);
    session.quietly("truncate table t");
    let t = session.table("t");
    assert_eq!(flat(entries(&session, &t, &t.base().name, &["id"])), "");
    assert_eq!(next(&session), 10);
    server.check_system_tables();
}

/// A temporary table is seen by its session alone, under its short name; tempdb has it under a
/// long one.
#[test]
fn temporary_tables_belong_to_their_session() {
    let server = Server::new();
    let (mut a, mut b) = (Session::new(&server, 51), Session::new(&server, 52));
    a.quietly("create table #t (id int primary key)");
    b.quietly("create table #T (name varchar(5))");
    assert_eq!(&*a.table("#t").columns[0].name, "id");
    assert_eq!(&*b.table("#t").columns[0].name, "name");
    a.quietly("create index i on #t (id); alter table #t add more int; truncate table #t");
    assert_eq!((a.table("#t").columns.len(), a.table("#t").indexes.len()), (2, 2));
    let tempdb = server.view("tempdb");
    let names: Vec<&str> = tempdb.objects().map(Object::name).collect();
    assert!(
        names.iter().all(|n| n.len() == 128 && n.to_lowercase().starts_with("#t____")),
        "{names:?}"
    );
    server.check_system_tables();
    a.quietly("drop table #t");
    assert!(!a.has_temp("#t") && b.has_temp("#t"));
    assert_eq!(server.view("tempdb").objects().count(), 1);
    server.check_system_tables();
}

/// What a transaction changes it sees at once, others after its commit; whoever comes too near
/// meanwhile waits (here: not at all).
#[test]
fn definitions_change_with_their_transaction() {
    let server = Server::new();
    let (mut a, mut b) = (Session::new(&server, 51), Session::new(&server, 52));
    a.quietly("create table old (id int)");
    a.begin();
    a.quietly("create table t (id int)");
    a.quietly("create index i on t (id)");
    a.quietly("drop table old");
    assert!(a.view().find(SchemaId::DBO, "t").is_some());
    assert!(a.view().find(SchemaId::DBO, "old").is_none());
    assert!(b.view().find(SchemaId::DBO, "t").is_none());
    assert_eq!(b.numbers("create table T (id int)"), [1222], "the name is taken or will be free");
    assert_eq!(b.numbers("create index i on old (id)"), [1222]);
    b.quietly("create table other (id int)");
    a.commit();
    for name in ["t", "other"] {
        assert!(b.view().find(SchemaId::DBO, name).is_some(), "{name}");
    }
    assert_eq!(b.numbers("create table T (id int)"), [2714]);
    assert_eq!(b.numbers("drop table old"), [3701]);
    server.check_system_tables();
}

#[test]
fn procedures_are_kept_as_they_were_written() {
    let server = Server::new();
    let mut session = Session::new(&server, 51);
    let text = |session: &Session| match session.view().find(SchemaId::DBO, "p") {
        Some(Object::Module(m)) => (m.object_id, m.text.to_string()),
        other => panic!("a procedure is there, not {other:?}"),
    };
    session
        .quietly("-- before\ncreate proc dbo.p @a int = 5, @b varchar(3) output as\n  select @a;");
    let (id, kept) = text(&session);
    assert!(
        kept.starts_with("-- before\ncreate proc dbo.p") && kept.contains("\n  select @a"),
        "{kept}"
    );
    session.quietly("alter procedure P as select 2");
    assert_eq!(text(&session), (id, "CREATE procedure P as select 2".to_owned()));
    session.quietly("create or alter proc p as select 3");
    assert_eq!(text(&session), (id, "create   proc p as select 3".to_owned()));
    let long = format!("create or alter proc p as select '{}'", "x".repeat(20_000));
    session.quietly(&long);
    server.check_system_tables();
    session.quietly("drop procedure p");
    assert!(session.view().objects().next().is_none());
    server.check_system_tables();
}
