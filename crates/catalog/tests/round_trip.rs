//! What is written of definitions is what is read back; no T-SQL is linked here.

mod fakes;

use base::{DatabaseId, HobtId, IndexId, ObjectId};
use catalog::statistics::{Collector, StatisticsHeader};
use catalog::view::{
    AutoFill, Check, Column, ComputedColumn, DatabaseView, Default as Preset, Events, ForeignKey,
    ForeignKeyColumn, Identity, Index, IndexColumn, IndexKind, Module, ModuleKind, ModuleOptions,
    Object, Parameter, Partitions, ReferentialAction, RowHistory, Schema, SchemaId, Statistics,
    StatisticsContent, SystemObjects, Table, Trigger,
};
use catalog::{
    Builder as _, CatalogContents, Changes, DatabaseOption, Delta, HobtSpec, RecoveryModel, apply,
    load, object_dates,
};
use fakes::{FakeDatabase, work};
use std::sync::Arc;
use types::{Collation, ColumnTest, Relation, Requirement, Restriction, SqlType, Value};
use work::Work;

const ID: DatabaseId = DatabaseId(5);

fn column(n: usize, name: &str, sql_type: SqlType) -> Column {
    Column {
        column_id: n as i32 + 1,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable: n > 1,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some(n as u16),
    }
}

fn index(n: i32, name: &str, kind: IndexKind, key: &[usize]) -> Index {
    let part = |&column: &usize| IndexColumn { column, descending: column == 2 };
    Index {
        index_id: IndexId(n),
        name: name.into(),
        kind,
        unique: n == 1,
        primary_key: n == 1,
        unique_constraint: false,
        constraint_id: (n == 1).then_some(ObjectId(90_001)),
        system_named: n == 1,
        key: key.iter().map(part).collect(),
        included: Vec::new(),
        partitions: Partitions::one(HobtId(300 + n as u32)),
        fill_factor: 80,
        auto_fill: (n > 1).then_some(AutoFill {
            rows: 5,
            inserts: 1 << 40,
            growth: 7,
            appends: 0,
            splits: 3,
            spread: 40,
        }),
        padded: n == 1,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: StatisticsContent::default(),
    }
}

/// Of a whole number, a text that may be any, and NULL.
fn filter(columns: &[Column]) -> Restriction {
    let test = |column: usize, requirement| {
        let c = &columns[column];
        ColumnTest { column, sql_type: c.sql_type, collation: c.collation, requirement }
    };
    let at = |t: SqlType| columns.iter().position(|c| c.sql_type == t).expect("one of each");
    let texts = vec![Value::varchar("a,b = c"), Value::varchar("")];
    Restriction {
        text: "([c7]<>(-5) AND [c18] IN ('a,b = c', ''))".into(),
        tests: vec![
            test(at(SqlType::Int), Requirement::Compared(Relation::NotEqual, Value::Int(-5))),
            test(at(SqlType::varchar(8000)), Requirement::OneOf(texts)),
            test(at(SqlType::BigInt), Requirement::NotNull),
            test(at(SqlType::Float), Requirement::Null),
        ],
    }
}

/// A table with something of everything.
fn orders() -> Table {
    let mut columns: Vec<Column> =
        types::ALL_TYPES.iter().enumerate().map(|(n, &t)| column(n, &format!("c{n}"), t)).collect();
    columns[1].identity =
        Some(Identity { seed: -(10_i128.pow(37)), increment: 3, not_for_replication: true });
    columns[2].default = Some(Preset {
        object_id: ObjectId(90_002),
        name: "DF_it".into(),
        system_named: false,
        text: "(getdate())".into(),
    });
    let mut computed = column(types::ALL_TYPES.len(), "twice", SqlType::Int);
    computed.physical = None;
    computed.computed = Some(ComputedColumn { text: "[c7]*(2)".into(), persisted: false });
    columns.push(computed);
    let mut second = index(2, "IX_2", IndexKind::Nonclustered, &[2, 0]);
    second.included = vec![5, 4];
    second.filter = Some(Arc::new(filter(&columns)));
    let check = |id, column| Check {
        object_id: ObjectId(id),
        name: format!("CK_{id}").into(),
        system_named: true,
        text: "c7 > 0 ".repeat(2000).into(),
        column,
        disabled: column.is_none(),
        not_trusted: column.is_some(),
        not_for_replication: true,
    };
    Table {
        database: ID,
        object_id: ObjectId(90_000),
        schema_id: SchemaId(5),
        schema_name: "sales".into(),
        name: "Orders".into(),
        columns,
        indexes: vec![index(1, "PK_Orders", IndexKind::Clustered, &[1]), second],
        statistics: Vec::new(),
        checks: vec![check(90_010, Some(7)), check(90_011, None)],
        foreign_keys: vec![ForeignKey {
            object_id: ObjectId(90_020),
            name: "FK_self".into(),
            system_named: false,
            referenced: ObjectId(90_000),
            key_index: IndexId(1),
            columns: vec![ForeignKeyColumn { column: 5, referenced: 2 }],
            on_delete: ReferentialAction::NoAction,
            on_update: ReferentialAction::SetDefault,
            disabled: true,
            not_trusted: true,
            not_for_replication: true,
        }],
        history: RowHistory::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

/// What was found out about 5,000 values, long ones among them.
fn gathered() -> StatisticsContent {
    let text = SqlType::varchar(500);
    let mut collector = Collector::new(&[(text, Collation::LATIN1_BIN2)]);
    collector.push(&[None]);
    for n in 0..5_000 {
        let value = format!("{n:0>300}");
        collector.push(&[Some(value.as_bytes())]);
    }
    let whole = StatisticsHeader { rows: 5_001, updated_ns: 12, modified: 99, columns: &[3] };
    let distribution = collector.finish(&whole).map(Arc::new);
    StatisticsContent { no_recompute: true, distribution }
}

#[test]
fn statistics_come_and_go_without_touching_their_table() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let sales = Schema { id: SchemaId(5), name: "sales".into(), properties: Vec::new() };
    changes.put_schema(work, &sales).expect("written");
    let mut table = orders();
    changes.put_table(work, None, &table).expect("written");
    let dates = object_dates(&database, work).expect("dates");
    let own = |stats_id, gathered| Statistics {
        stats_id: IndexId(stats_id),
        name: format!("s{stats_id}").into(),
        columns: vec![2, 0],
        gathered,
    };
    let mut with = table.clone();
    with.indexes[1].gathered = gathered();
    with.statistics = vec![own(3, gathered()), own(4, StatisticsContent::default())];
    let mut less = with.clone();
    less.indexes[1].gathered.distribution = None;
    less.statistics.remove(0);
    for after in [with, less, table.clone()] {
        changes.put_statistics(work, &table, &after).expect("written");
        let view = read(&database, work).view;
        assert_eq!(view.table(after.object_id).as_deref(), Some(&after));
        table = after;
    }
    assert_eq!(object_dates(&database, work).expect("dates"), dates);
}

fn procedure(text: &str) -> Module {
    Module {
        object_id: ObjectId(90_500),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: "p".into(),
        kind: ModuleKind::Procedure,
        text: text.into(),
        quoted_identifier: true,
        ansi_nulls: false,
        options: ModuleOptions::default(),
        columns: Vec::new(),
        parameters: Vec::new(),
        properties: Vec::new(),
        trigger: None,
        bound: Vec::new(),
    }
}

fn parameter(id: i32, name: &str) -> Parameter {
    Parameter {
        read_only: false,
        id,
        name: name.into(),
        sql_type: SqlType::decimal(9, 2),
        user_type_id: 108,
        output: id == 0,
        has_default: id == 2,
        cursor: id == 1,
    }
}

/// A column as a view has it.
fn bare(c: &Column) -> Column {
    Column { default: None, identity: None, computed: None, physical: None, ..c.clone() }
}

fn read(database: &FakeDatabase, work: &mut Work) -> CatalogContents {
    let system = Arc::new(SystemObjects::default());
    load(database, work, ID, "shop", system).expect("loads")
}

fn empty() -> DatabaseView {
    DatabaseView::new(ID, "shop", Collation::default(), Arc::new(SystemObjects::default()))
}

#[test]
fn what_is_written_is_read_back_after_every_change() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let mut view = empty();
    let mut publish = |database: &FakeDatabase, work: &mut Work, deltas: &[Delta]| {
        view = apply(&view, deltas);
        assert_eq!(read(database, work).view, view);
    };
    publish(&database, work, &[]);

    let sales = Schema { id: SchemaId(5), name: "sales".into(), properties: Vec::new() };
    changes.put_schema(work, &sales).expect("written");
    publish(&database, work, &[Delta::PutSchema(sales.clone())]);

    let table = orders();
    changes.put_table(work, None, &table).expect("written");
    publish(&database, work, &[Delta::PutObject(Object::Table(Arc::new(table.clone())))]);

    // An index more, a column's default less, a check switched on, a key the other way round.
    let mut changed = table.clone();
    changed.indexes.push(index(3, "IX_3", IndexKind::Nonclustered, &[8]));
    changed.indexes[1].key.reverse();
    changed.columns[2].default = None;
    changed.checks[1].disabled = false;
    changed.checks[0].text = "(1=1)".into();
    changes.put_table(work, Some(&table), &changed).expect("written");
    publish(&database, work, &[Delta::PutObject(Object::Table(Arc::new(changed.clone())))]);

    let text = "create procedure p as select N'𝄞'\r\n".repeat(1000);
    let (short, long) = (procedure("create proc p as"), procedure(&text));
    changes.put_module(work, None, &long).expect("written");
    publish(&database, work, &[Delta::PutObject(Object::Module(Arc::new(long.clone())))]);
    changes.put_module(work, Some(&long), &short).expect("written");
    publish(&database, work, &[Delta::PutObject(Object::Module(Arc::new(short.clone())))]);

    changes.remove_module(work, &short).expect("removed");
    changes.remove_table(work, &changed).expect("removed");
    changes.remove_schema(work, &sales).expect("removed");
    let gone = [
        Delta::RemoveObject(short.object_id),
        Delta::RemoveObject(changed.object_id),
        Delta::RemoveSchema(sales.id),
    ];
    publish(&database, work, &gone);
    for (name, rows) in database.system_rows() {
        assert!(rows.is_empty(), "{name} keeps rows of what is gone: {rows:?}");
    }
}

#[test]
fn what_a_module_says_beside_its_text_is_read_back() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let function = Module {
        object_id: ObjectId(90_501),
        name: "f".into(),
        kind: ModuleKind::InlineFunction,
        columns: orders().columns.iter().take(1).map(bare).collect(),
        parameters: vec![parameter(0, ""), parameter(1, "@a"), parameter(2, "@b")],
        ..procedure("create function f")
    };
    let trigger = Module {
        object_id: ObjectId(90_502),
        name: "tr".into(),
        kind: ModuleKind::Trigger,
        trigger: Some(Trigger {
            parent: orders().object_id,
            events: Events::INSERT.with(Events::DELETE),
            instead_of: true,
            disabled: true,
            not_for_replication: false,
            first: Events::DELETE,
            last: Events::INSERT,
        }),
        ..procedure("create trigger tr")
    };
    for module in [&function, &trigger] {
        changes.put_module(work, None, module).expect("written");
        let view = read(&database, work).view;
        let object = Object::Module(Arc::new(module.clone()));
        assert_eq!(view.by_id(module.object_id), Some(object));
    }
    let view = read(&database, work).view;
    let of_orders: Vec<_> = view.triggers_of(orders().object_id).collect();
    assert_eq!(of_orders, [Arc::new(trigger.clone())]);
    let view = apply(&view, &[Delta::RemoveObject(trigger.object_id)]);
    assert_eq!(view.triggers_of(orders().object_id).count(), 0);
    changes.remove_module(work, &function).expect("removed");
    changes.remove_module(work, &trigger).expect("removed");
    for (name, rows) in database.system_rows() {
        assert!(rows.is_empty(), "{name} keeps rows of what is gone: {rows:?}");
    }
}

/// A function that returns a table of `a int, c AS a * 2`, the second column PERSISTED.
fn doubling() -> Module {
    let computed = ComputedColumn { text: "[a]*(2)".into(), persisted: true };
    let a = column(0, "a", SqlType::Int);
    let c = Column { computed: Some(computed), ..column(1, "c", SqlType::Int) };
    Module {
        kind: ModuleKind::TableFunction,
        columns: vec![Column { physical: None, ..a }, Column { physical: None, ..c }],
        ..procedure("create function f() returns @t table(a int, c as a * 2 persisted)")
    }
}

#[test]
fn computed_columns_of_a_functions_table_are_read_back_and_go_with_it() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let (function, mut altered) = (doubling(), doubling());
    altered.columns.truncate(1);
    let stored = |work: &mut Work| read(&database, work).view.by_id(function.object_id);
    let mut before = None;
    for module in [&function, &altered, &function] {
        changes.put_module(work, before, module).expect("written");
        assert_eq!(stored(work), Some(Object::Module(Arc::new(module.clone()))));
        before = Some(module);
    }
    changes.remove_module(work, &function).expect("removed");
    for (name, rows) in database.system_rows() {
        assert!(rows.is_empty(), "{name} keeps rows of what is gone: {rows:?}");
    }
}

#[test]
fn a_function_whose_computed_texts_were_never_written_can_be_read_altered_and_dropped() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let function = doubling();
    changes.put_module(work, None, &function).expect("written");
    database.lose("sysobjvalues", "[a]*(2)");
    let mut found = function.clone();
    found.columns[1].computed = None;
    let stored = |work: &mut Work| read(&database, work).view.by_id(function.object_id);
    assert_eq!(stored(work), Some(Object::Module(Arc::new(found.clone()))));
    changes.put_module(work, Some(&found), &function).expect("altered");
    assert_eq!(stored(work), Some(Object::Module(Arc::new(function.clone()))));
    database.lose("sysobjvalues", "[a]*(2)");
    changes.remove_module(work, &found).expect("removed");
    assert!(database.system_rows().iter().all(|(_, rows)| rows.is_empty()));
}

/// Each partition has its row of sysrowsets; a number that is missing is damage.
#[test]
fn an_index_of_two_partitions_is_read_back() {
    let (database, work) = (FakeDatabase::new(ID.0), &mut work());
    let changes = Changes::new(&database);
    let mut table = orders();
    table.schema_id = SchemaId::DBO;
    table.schema_name = "dbo".into();
    let two = Partitions::numbered([HobtId(311), HobtId(310)]).expect("two");
    table.indexes[1].partitions = two.clone();
    changes.put_table(work, None, &table).expect("written");
    let loaded = read(&database, work);
    let found = loaded.view.table(table.object_id).expect("the table");
    assert_eq!(*found, table);
    let numbers = |t: &Table| -> Vec<(i32, HobtId)> {
        t.indexes[1].partitions.iter().map(|p| (p.number.0, p.hobt)).collect()
    };
    assert_eq!(numbers(&found), [(1, HobtId(311)), (2, HobtId(310))]);
    let mut one = table.clone();
    one.indexes[1].partitions = Partitions::one(HobtId(310));
    changes.put_table(work, Some(&table), &one).expect("written");
    let found = read(&database, work).view.table(table.object_id).expect("the table");
    assert_eq!(numbers(&found), [(1, HobtId(310))], "the row of 310 has another number");
}

#[test]
fn a_dropped_hobt_waits_in_the_list_until_its_pages_are_free() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    let mut table = orders();
    table.schema_id = SchemaId::DBO;
    table.schema_name = "dbo".into();
    let spec = HobtSpec::of(&table, table.base());
    let places = database.create_hobt(work, &spec).expect("made");
    changes.put_table(work, None, &table).expect("written");
    changes.put_places(work, spec.hobt, &places).expect("written");
    changes.put_identity(work, spec.hobt, 1000).expect("written");
    changes.put_identity(work, spec.hobt, 2000).expect("written");
    let loaded = read(&database, work);
    assert_eq!(loaded.places.get(&spec.hobt), Some(&places));
    assert_eq!(loaded.identities, [(spec.hobt, 2000)]);
    assert_eq!(loaded.ids.hobt(), HobtId(303), "after the highest of the table's hobts");

    let dropped = changes.drop_hobt(work, spec.hobt).expect("moved");
    changes.remove_table(work, &table).expect("removed");
    let loaded = read(&database, work);
    assert!(loaded.places.is_empty() && loaded.identities.is_empty());
    assert_eq!(loaded.dropped, dropped);
    assert_eq!(dropped[0].places, places.units[0]);
    assert_eq!(loaded.ids.unit().0, dropped[0].places.unit.0 + 1, "a unit to free has its number");
    changes.finish_drop(work, dropped[0].places.unit).expect("struck off");
    assert!(read(&database, work).dropped.is_empty());
}

#[test]
fn options_and_dates_stay() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let changes = Changes::new(&database);
    assert_eq!(read(&database, work).options, catalog::DatabaseOptions::default());
    for model in [RecoveryModel::BulkLogged, RecoveryModel::Simple] {
        changes.put_option(work, DatabaseOption::Recovery(model)).expect("written");
        assert_eq!(read(&database, work).options.recovery, model);
    }
    let (before, after) = (procedure("create proc p as"), procedure("create proc p as select 1"));
    changes.put_module(work, None, &before).expect("written");
    let made = object_dates(&database, work).expect("read")[0];
    changes.put_module(work, Some(&before), &after).expect("written");
    let changed = object_dates(&database, work).expect("read")[0];
    assert_eq!(made.object, before.object_id);
    assert_eq!(changed.created_ns, made.created_ns, "a change keeps the time of creation");
    assert!(changed.modified_ns >= made.modified_ns && made.created_ns > 0);
}

#[test]
fn rows_that_make_no_sense_are_an_error_and_no_panic() {
    let database = FakeDatabase::new(ID.0);
    let work = &mut work();
    let mut table = orders();
    table.schema_id = SchemaId::DBO;
    Changes::new(&database).put_table(work, None, &table).expect("written");
    // One after the other, a system table loses its rows.
    for lost in
        ["syscolpars", "sysidxstats", "sysiscols", "sysrowsets", "sysobjvalues", "sysschobjs"]
    {
        let damaged = FakeDatabase::new(ID.0);
        let changes = Changes::new(&damaged);
        changes.put_table(work, None, &table).expect("written");
        damaged.empty(lost);
        let system = Arc::new(SystemObjects::default());
        let result = load(&damaged, work, ID, "shop", system);
        assert_eq!(result.map(drop).map_err(|e| e.number()), Err(50001), "{lost}");
    }
}
