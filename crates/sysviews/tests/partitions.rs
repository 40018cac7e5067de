//! A table of two partitions, made of rows of the catalog as CREATE TABLE ON a scheme will make it:
//! what looks at a whole table sees both of its partitions, what needs one hobt for a row refuses
//! it by name, and TRUNCATE and DROP leave nothing of either.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use access::{Field, Isolation, LockPlan};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId, SqlError};
use catalog::view::{
    Column, Index, IndexColumn, IndexKind, Partitions, SchemaId, SystemObjects, Table,
};
use catalog::{Changes, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use os::memory::Memory;
use session::{
    ClosedSink, Completion, Connection, EnvironmentChange, Login, Request, ResultColumn, ResultSink,
};
use std::path::Path;
use std::sync::Arc;
use types::{Collation, SqlType, Value};
use work::{CommitMode, Engine, Work};

const SHOP: DatabaseId = DatabaseId(5);
/// Rows of the table, and how many of them are in its first partition.
const ROWS: i32 = 500;
const IN_FIRST: i32 = 300;

fn column(id: i32, name: &str, sql_type: SqlType) -> Column {
    Column {
        column_id: id,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable: false,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some((id - 1) as u16),
    }
}

fn index(id: i32, kind: IndexKind, key: usize, partitions: Partitions) -> Index {
    Index {
        index_id: IndexId(id),
        name: format!("i{id}").into(),
        kind,
        unique: kind.is_clustered(),
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: vec![IndexColumn { column: key, descending: false }],
        included: Vec::new(),
        partitions,
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: Default::default(),
    }
}

/// `t (k int, name varchar(40))`, a clustered index and one by name, both in two partitions. Each
/// second partition has the smaller hobt.
fn table(object_id: ObjectId, mut hobt: impl FnMut() -> HobtId) -> Table {
    let mut two = || {
        let (second, first) = (hobt(), hobt());
        Partitions::numbered([first, second]).unwrap()
    };
    Table {
        database: SHOP,
        object_id,
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: "t".into(),
        columns: vec![column(1, "k", SqlType::Int), column(2, "name", SqlType::varchar(40))],
        indexes: vec![
            index(1, IndexKind::Clustered, 0, two()),
            index(2, IndexKind::Nonclustered, 1, two()),
        ],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

/// Makes the table in the files of the database, which no instance has open, and fills it. The
/// index by name lacks one row.
fn make(dir: &Path, lacking: Option<i32>) {
    let memory = Memory::new(64 << 20);
    let env = Environment {
        disk: Arc::new(RealDisk),
        pool: buffer::Pool::new(&memory, 512).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    };
    let files = Files::of(dir, "shop");
    let (db, _) = Database::open(&env, SHOP, "shop", &files, &Sizing::default()).unwrap();
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    work.begin(true, "");
    let table = table(db.ids().object(), || db.ids().hobt());
    let system = Arc::clone(db.hobts());
    let changes = Changes::new(&*system);
    for (index, partition) in table.partitions() {
        let spec = HobtSpec::of_hobt(&table, index, partition.hobt);
        let places = db.builder().create_hobt(&mut work, &spec).unwrap();
        changes.put_places(&mut work, partition.hobt, &places).unwrap();
    }
    changes.put_table(&mut work, None, &table).unwrap();
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let parts = |at: usize| table.indexes[at].partitions.iter().map(|p| p.hobt).collect::<Vec<_>>();
    let (rows, entries) = (parts(0), parts(1));
    for k in 0..ROWS {
        let (key, name) = (k.to_le_bytes(), format!("row {k:03}"));
        let (key, name) = (Field::Inline(&key), Field::Inline(name.as_bytes()));
        let hobt = db.hobts().get(rows[usize::from(k >= IN_FIRST)]).unwrap();
        hobt.insert(&mut work, &[key, name], &plan).unwrap();
        if lacking == Some(k) {
            continue;
        }
        // An index may be partitioned by another column than its table.
        let hobt = db.hobts().get(entries[usize::from(k % 2 == 1)]).unwrap();
        hobt.insert(&mut work, &[name, key], &plan).unwrap();
    }
    work.commit(CommitMode::Full).unwrap();
    drop((work, system));
    db.close(Vec::new()).unwrap();
}

#[derive(Default)]
struct HeardRows {
    rows: Vec<String>,
    errors: Vec<i32>,
    told: Vec<String>,
}

impl ResultSink for HeardRows {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), ClosedSink> {
        Ok(())
    }
    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        let cells: Vec<String> = values.iter().map(Value::to_string).collect();
        self.rows.push(cells.join(" "));
        Ok(())
    }
    fn message(&mut self, message: &SqlError) {
        self.told.push(message.text().to_string());
        if message.severity() > 10 {
            self.errors.push(message.number());
        }
    }
    fn done(&mut self, _: Completion) {}
    fn return_status(&mut self, _: i32) {}
    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}
    fn environment(&mut self, _: &EnvironmentChange) {}
}

fn ask(session: &mut dyn Connection, batch: &str) -> Vec<String> {
    let mut heard = HeardRows::default();
    session.run(Request::Batch(batch.to_owned()), &mut heard);
    assert!(heard.errors.is_empty(), "{batch}: {:?}", heard.errors);
    heard.rows
}

fn error(session: &mut dyn Connection, batch: &str) -> Vec<i32> {
    let mut heard = HeardRows::default();
    session.run(Request::Batch(batch.to_owned()), &mut heard);
    heard.errors
}

fn open(dir: &Path) -> (Arc<Instance>, Box<dyn Connection>) {
    let instance = Instance::open(Arc::new(RealDisk), dir, InstanceOptions::default()).unwrap();
    let session = instance.connect(Login::default()).unwrap();
    (instance, Box::new(session))
}

/// An instance with the table, and a session in its database.
fn partitioned(
    name: &str,
    lacking: Option<i32>,
) -> (std::path::PathBuf, Arc<Instance>, Box<dyn Connection>) {
    let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let (instance, mut session) = open(&dir);
    ask(&mut *session, "create database shop");
    assert_eq!(ask(&mut *session, "select db_id('shop')"), [SHOP.0.to_string()]);
    drop(session);
    instance.stop().unwrap();
    drop(instance);
    make(&dir, lacking);
    let (instance, mut session) = open(&dir);
    ask(&mut *session, "use shop");
    (dir, instance, session)
}

/// Index, number and rows of each partition.
const PARTITIONS: &str = "select index_id, partition_number, rows from sys.partitions
    where object_id = object_id('t') order by index_id, partition_number";

/// Views that list or count a table show the partitions of each index by their numbers.
#[test]
fn views_show_each_partition() {
    let (dir, instance, mut session) = partitioned("partitions-views", None);
    let session = &mut *session;
    assert_eq!(ask(session, PARTITIONS), ["1 1 300", "1 2 200", "2 1 250", "2 2 250"]);
    let stats = PARTITIONS.replace(
        "rows from sys.partitions",
        "row_count rows
        from sys.dm_db_partition_stats",
    );
    assert_eq!(ask(session, &stats), ["1 1 300", "1 2 200", "2 1 250", "2 2 250"]);
    let units = "select count(distinct a.allocation_unit_id), count(distinct p.hobt_id)
        from sys.allocation_units a join sys.partitions p on p.hobt_id = a.container_id
        where p.object_id = object_id('t')";
    assert_eq!(ask(session, units), ["4 4"]);
    for (arguments, expected) in [
        ("null, null", &["1 1 300", "1 2 200", "2 1 250", "2 2 250"][..]),
        ("1, 2", &["1 2 200"]),
        ("null, 3", &[]),
    ] {
        let physical = format!(
            "select index_id, partition_number, record_count from
             sys.dm_db_index_physical_stats(5, object_id('t'), {arguments}, 'DETAILED')
             where index_level = 0 order by index_id, partition_number"
        );
        assert_eq!(ask(session, &physical), expected, "{arguments}");
        let numbers: Vec<&str> = expected.iter().map(|e| &e[..3]).collect();
        let done = format!(
            "select index_id, partition_number from
             sys.dm_db_index_operational_stats(5, object_id('t'), {arguments}) order by 1, 2"
        );
        assert_eq!(ask(session, &done), numbers, "{arguments}");
        let pages = format!(
            "select distinct index_id, partition_id from
             sys.dm_db_database_page_allocations(5, object_id('t'), {arguments}, 'LIMITED')
             order by 1, 2"
        );
        assert_eq!(ask(session, &pages), numbers, "{arguments}");
    }
    let pages = ask(session, "dbcc ind(5, 't', -1)");
    let numbers: std::collections::BTreeSet<String> = pages
        .iter()
        .map(|row| row.split(' ').skip(5).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), ["1 1", "1 2", "2 1", "2 2"]);
    let whole = "select indid, rowcnt, rows from sysindexes where id = object_id('t') order by 1";
    assert_eq!(ask(session, whole), ["1 500 500", "2 500 500"], "a row for each index");
    let rows = "declare @s table (name sysname, rows varchar(20), a varchar(20), b varchar(20),
        c varchar(20), d varchar(20));
        insert @s exec sp_spaceused 't'; select trim(rows) from @s";
    assert_eq!(ask(session, rows), ["500"]);
    let told = ask(session, "exec sp_statistics 't'");
    let cardinality = told.iter().map(|row| row.split(' ').nth(10).unwrap());
    assert_eq!(
        cardinality.collect::<Vec<_>>(),
        ["500", "500", "500"],
        "of the table and its indexes"
    );
    let rows = "select objectpropertyex(object_id('t'), 'Cardinality')";
    assert_eq!(ask(session, rows), ["500"]);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}

/// CHECKDB compares all rows with all entries, whichever partition has them; statistics are of the
/// whole table; a statement that needs one hobt for a row is refused.
#[test]
fn whole_work_goes_over_both_and_rows_are_refused() {
    let (dir, instance, mut session) = partitioned("partitions-work", None);
    let session = &mut *session;
    ask(session, "dbcc checktable('t')");
    ask(session, "dbcc checkdb");
    ask(session, "update statistics t with fullscan");
    let known = "select s.stats_id, rows from sys.stats s
        cross apply sys.dm_db_stats_properties(s.object_id, s.stats_id)
        where s.object_id = object_id('t') order by 1";
    assert_eq!(ask(session, known), ["1 500", "2 500"]);
    ask(session, "alter index all on t reorganize");
    for refused in [
        "select * from t",
        "select count(*) from t with (index (i2))",
        "insert t values (1000, 'x')",
        "insert t select 1000, 'x'",
        "update t set name = 'x'",
        "delete t",
        "delete t where k = 1",
        "merge t using (select 1 a) s on s.a = t.k when matched then delete;",
        "create index i3 on t (name)",
        "create index i2 on t (k) with (drop_existing = on)",
        "create index i3 on t (name) with (online = on)",
        "alter index i1 on t rebuild",
        "alter index i2 on t rebuild with (online = on)",
        "alter table t rebuild",
        "alter table t add primary key (name)",
        "drop index i1 on t",
        "declare c cursor for select k from t for update; open c",
        "alter table t add check (k > 0)",
        "alter table t add r rowversion",
        "alter table t add g uniqueidentifier not null default newid()",
        "select * into u from t",
    ] {
        let errors = error(session, refused);
        assert!(errors.contains(&40517), "{refused}: {errors:?}");
    }
    assert_eq!(
        error(session, "create partition function f (int) as range for values (1)"),
        [40510]
    );
    ask(session, "alter table t add c int null");
    ask(session, "dbcc checktable('t')");
    ask(session, "truncate table t");
    assert_eq!(ask(session, PARTITIONS), ["1 1 0", "1 2 0", "2 1 0", "2 2 0"]);
    ask(session, "drop index i2 on t");
    assert_eq!(ask(session, PARTITIONS), ["1 1 0", "1 2 0"]);
    ask(session, "drop table t");
    ask(session, "dbcc checkdb");
    let left = "select count(*) from sys.partitions where object_id > 1000";
    assert_eq!(ask(session, left), ["0"]);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A row of the second partition without its entry is named, and it alone.
#[test]
fn checkdb_finds_what_a_partition_lacks() {
    let (dir, instance, mut session) = partitioned("partitions-check", Some(IN_FIRST + 50));
    let mut heard = HeardRows::default();
    session.run(Request::Batch("dbcc checktable('t')".to_owned()), &mut heard);
    let told: Vec<i32> = heard.errors.iter().copied().filter(|&e| e == 8951).collect();
    assert_eq!(told, [8951], "{:?}", heard.errors);
    assert!(heard.told.iter().any(|m| m.contains("350")), "{:?}", heard.told);
    drop(session);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}
