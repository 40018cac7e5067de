//! What statements mean: columns that clients are told of, dependencies, types that were chosen.

mod world;

use bind::{Environment, bind_condition, bind_scalar, check_definition};
use catalog::view::{Catalogs, Object, SchemaId};
use plan::{Statement, VariableId};
use types::SqlType;
use world::World;

/// Statement, then `name type` of each column, `?` behind one that may be NULL.
const COLUMNS: &[(&str, &str)] = &[
    (
        "select 1, 'ab' s, N'x' n, 2147483648 d, 1.50 e, 1e0 f, null g",
        "int s varchar(2) n nvarchar(1) d decimal(10,0) e decimal(3,2) f float g int?",
    ),
    ("select x = a, b from Heap", "x int? b varchar(10)?"),
    ("select * from Test", "id int"),
    ("select t.*, h.b from Test t left join Heap h on h.a = t.id", "id int b varchar(10)?"),
    ("select r.id from Heap h left join Test r on h.a = r.id", "id int?"),
    ("select coalesce(a, 0) z from Heap", "z int?"),
    (
        "select case a when 1 then 'x' else null end c, iif(a = 1, 2, 3.5) i from Heap",
        "c varchar(1)? i decimal(11,1)",
    ),
    (
        "select count(*) n, avg(Amount) m, max(Status) x from Orders",
        "n int? m decimal(38,6)? x char(1)?",
    ),
    ("select row_number() over (order by a) r from Heap", "r bigint?"),
    ("select a from Heap union all select 1.5", "a decimal(11,1)?"),
    ("select v.x, v.y from (values (1, 'a'), (null, 'bcd')) v(x, y)", "x int? y varchar(3)"),
    (
        "select @b + 1 s, len(@n) l, isnull(@s, 'longer than ten') i",
        "s bigint? l int? i varchar(10)",
    ),
    ("select b + N'x' from Heap", "nvarchar(11)?"),
    ("select s.page_count / 8 p from sys.stats(1, null) s", "p bigint?"),
];

#[test]
fn results_have_the_names_and_types_of_sql_server() {
    let world = World::new();
    for &(text, expected) in COLUMNS {
        let bound = world.bind(text).unwrap_or_else(|e| panic!("{text}: {}", e.text()));
        let Statement::Query(query) = &bound.plan.statement else { panic!("{text}") };
        let show = |c: &plan::ResultColumn| {
            let name = if c.name.is_empty() { String::new() } else { format!("{} ", c.name) };
            format!("{name}{}{}", c.sql_type, if c.nullable { "?" } else { "" })
        };
        let shown: Vec<String> = query.columns.iter().map(show).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }
}

#[test]
fn plans_say_what_they_depend_on() {
    let world = World::new();
    let bound = world.bind("select 1 from Test, #t, sys.waits").expect("three sources");
    let header = &bound.plan.header;
    assert_eq!(header.references.len(), 3);
    assert!(header.session_bound, "a temporary table belongs to one session");
    assert_eq!(header.databases[0].1, 7);
    let plain = world.bind("select 1 from Test option (recompile)").expect("one source");
    assert!(!plain.plan.header.session_bound && plain.plan.header.recompile);
    let into = world.bind("select 1 a into #new from Test").expect("SELECT INTO binds");
    assert_eq!(into.into.map(|i| i.name.to_string()).as_deref(), Some("#new"));
}

#[test]
fn correlated_subqueries_list_the_slots_they_read() {
    let world = World::new();
    let text = "select (select max(k) from Dup where v = h.a and exists \
                (select 1 from Test where id = h.a)) from Heap h";
    let bound = world.bind(text).expect("two levels");
    let [inner, outer] = bound.plan.subqueries.as_slice() else { panic!("two subqueries") };
    assert_eq!(inner.outer, outer.outer, "both read h.a, and nothing else from outside");
    assert_eq!(outer.outer.len(), 1);
}

#[test]
fn expressions_and_conditions_stand_alone() {
    let world = World::new();
    let environment = Environment {
        catalogs: &world,
        variables: &world,
        identity_insert: None,
        ansi_nulls: true,
        dialect: types::datetime::Dialect::default(),
        unguarded: bind::SkippedGuards::default(),
        deduction: None,
        watch: None,
    };
    let options = tsql::ParseOptions::default();
    let e = tsql::parse_expression("@i + '2' * 3", options).expect("an expression");
    let bound = bind_scalar(&environment, &e, Some(SqlType::BigInt)).expect("it has a meaning");
    assert_eq!(bound.plan.to_string(), "Scalar CAST((@0 + 6) AS bigint)\n");
    let c = tsql::parse_condition("@i < 123456 and exists (select * from Test)", options)
        .expect("a condition");
    let bound = bind_condition(&environment, &c).expect("it has a meaning");
    let text = bound.plan.to_string();
    assert!(text.starts_with("Condition @0 < 123456 AND EXISTS (subquery 0)\n"), "{text}");
    let column = tsql::parse_expression("a", options).expect("a name");
    let error = bind_scalar(&environment, &column, None).map(|_| ());
    assert_eq!(error.map_err(|e| e.number()), Err(128));
}

/// Constants are read by the session's DATEFORMAT; a plan for which another would have read them
/// otherwise names it, so that it is bound again under that one.
#[test]
fn plans_name_the_dateformat_that_decided_a_constant() {
    let world = World::new();
    let decided_by = |text: &str| {
        let plan = world.bind(text).expect("it binds").plan;
        assert!(!plan.to_string().contains("CAST"), "{text} is folded");
        plan.header.dialect
    };
    assert_eq!(decided_by("select 1 from Orders where Placed > '2020-05-06T00:00:00'"), None);
    assert_eq!(decided_by("select cast('20200506' as datetime)"), None);
    let mdy = Some(types::datetime::Dialect::default());
    assert_eq!(decided_by("select cast('05/06/2020' as datetime)"), mdy);
    assert_eq!(decided_by("select dateadd(day, 1, '05/06/2020')"), mdy);
}

#[test]
fn assignments_bind_to_columns_and_variables() {
    let world = World::new();
    let bound = world.bind("update Test set @i = id = @i + 1").expect("the loop's update");
    let Statement::Update(update) = &bound.plan.statement else { panic!("an update") };
    let [one] = update.assignments.as_slice() else { panic!("one assignment") };
    assert_eq!((one.column, one.variable.map(|v| v.0)), (Some(0), Some(VariableId(0))));
    assert_ne!(update.new[0], update.old.columns[0], "old and new are apart");
    assert!(update.target.indexes[0].key_changes);
}

#[test]
fn definitions_are_checked_before_they_are_stored() {
    let world = World::new();
    let environment = Environment {
        catalogs: &world,
        variables: &world,
        identity_insert: None,
        ansi_nulls: true,
        dialect: types::datetime::Dialect::default(),
        unguarded: bind::SkippedGuards::default(),
        deduction: None,
        watch: None,
    };
    let view = world.current();
    let Some(Object::Table(orders)) = view.find(SchemaId::DBO, "ORDERS") else {
        panic!("names are found in any case")
    };
    assert!(check_definition(&environment, &orders).is_ok());
    for (text, number) in
        [("(nope > 1)", 207), ("(1 in (select 1))", 1046), ("(count(*) > 1)", 147)]
    {
        let mut broken = (*orders).clone();
        broken.checks[0].text = text.into();
        let result = check_definition(&environment, &std::sync::Arc::new(broken));
        assert_eq!(result.map_err(|e| e.number()), Err(number), "{text}");
    }
}
