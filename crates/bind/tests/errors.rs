//! What has no meaning is refused with SQL Server's number, at the line it is on.

mod world;

use world::World;

/// Statement, number, line.
const CASES: &[(&str, i32, u32)] = &[
    // names
    ("select *\nfrom nothing", 208, 1),
    ("select nope from Test", 207, 1),
    ("select id,\n nope from Test", 207, 2),
    ("select t.nope from Test t", 207, 1),
    ("select x.id from Test t", 4104, 1),
    ("select Test.id from Test t", 4104, 1),
    ("select a.id from Test a join Test b on a.id = b.id where\nid = 1", 209, 2),
    ("select x.* from Test t", 107, 1),
    ("select *", 263, 1),
    ("select id", 207, 1),
    ("select 1 from Test t, Heap t", 1011, 1),
    ("select 1 from Test, Test", 1013, 1),
    ("select @nope", 137, 1),
    ("select 1 from @nope", 1087, 1),
    ("select nope(1)", 195, 1),
    ("select dbo.nope(1)", 4121, 1),
    ("select 1 from db.dbo.nope", 208, 1),
    ("select 1 from other.dbo.Test", 208, 1),
    ("select 1 from sys.stats", 216, 1),
    ("select 1 from sys.waits(1)", 215, 1),
    ("select 1 from sys.stats(1)", 313, 1),
    ("select 1 from sys.stats(1, 2, 3)", 8144, 1),
    // types
    ("select getdate() + cast('00:00' as time)", 402, 1),
    ("select cast(1 as date)", 529, 1),
    ("select id + cast(getdate() as date) from Test", 206, 1),
    ("select 1 where getdate() = cast(1 as uniqueidentifier)", 529, 1),
    ("select -'x', -cast(1 as bit)", 8117, 1),
    ("select cast(1 as nope)", 243, 1),
    ("select cast(1 as xml)", 529, 1),
    ("select len(1, 2)", 174, 1),
    ("select dateadd(nope, 1, getdate())", 155, 1),
    ("select a collate nope from Heap", 448, 1),
    (
        "select b collate Latin1_General_BIN from Heap where b collate Latin1_General_BIN = b collate Latin1_General_CI_AS",
        468,
        1,
    ),
    ("select case when 1 = 1 then null end", 8133, 1),
    // grouping
    ("select a, count(*) from Heap", 8120, 1),
    ("select b,\n a from Heap group by b", 8120, 2),
    ("select b from Heap group by b having a > 1", 8121, 1),
    ("select b from Heap group by b order by a", 8127, 1),
    ("select count(*) from Heap order by a", 8126, 1),
    ("select a from Heap where count(*) > 1", 147, 1),
    ("select sum(count(*)) from Heap", 130, 1),
    ("select sum((select 1)) from Heap", 130, 1),
    ("select 1 from Heap group by count(*)", 144, 1),
    ("select 1 from Heap group by 1", 164, 1),
    ("select sum(b) from Heap", 8117, 1),
    ("select a + 1, (select max(k) from Dup where k = h.a) from Heap h group by a + 1", 8120, 1),
    // order, top
    ("select a from Heap order by 2", 108, 1),
    ("select a from Heap order by 'a'", 408, 1),
    ("select distinct a from Heap order by b", 145, 1),
    ("select a from Heap order by a, a", 169, 1),
    ("select a from Heap union all select k from Dup order by a + 1", 104, 1),
    ("select top (1.5) a from Heap", 1060, 1),
    ("select top (1) with ties a from Heap", 1062, 1),
    // derived tables, subqueries
    ("select * from (select 1) d", 8155, 1),
    ("select * from (select 1 a, 2 a) d", 8156, 1),
    ("select * from (select 1 a, 2 b) d(x)", 8158, 1),
    ("select * from (select 1 a) d(x, y)", 8159, 1),
    ("select * from (select a from Heap order by a) d", 1033, 1),
    ("select (select a, b from Heap)", 116, 1),
    ("select 1 where 1 in (select a, b from Heap)", 116, 1),
    ("select 1 union all select 1, 2", 205, 1),
    ("select 1 from (values (1), (1, 2)) v(a)", 10709, 1),
    // windows
    ("select row_number() from Heap", 10753, 1),
    ("select row_number() over (partition by a) from Heap", 4112, 1),
    ("select a from Heap where row_number() over (order by a) = 1", 4108, 1),
    ("select row_number() over (order by 1) from Heap", 5308, 1),
    ("select lag(a) over (order by a rows 1 preceding) from Heap", 10752, 1),
    // hints
    ("select 1 from Heap with (rowlock, paglock)", 1047, 1),
    ("select 1 from Heap with (nolock, updlock)", 1047, 1),
    ("select 1 from Heap with (nolock, serializable)", 1047, 1),
    ("select 1 from Heap with (index(nope))", 308, 1),
    ("update Heap with (nolock) set a = 1", 1065, 1),
    ("update h set a = 1 from Heap h with (nolock)", 1065, 1),
    ("delete Heap with (readuncommitted)", 1065, 1),
    ("insert Heap with (index(1)) values (1, 'x')", 1069, 1),
    ("insert Heap with (readcommittedlock) values (1, 'x')", 4140, 1),
    ("select 1 option (use hint ('x'))", 40517, 1),
    // insert
    ("insert Heap (a, b) values (1)", 109, 1),
    ("insert Heap (a) values (1, 2)", 110, 1),
    ("insert Heap (a, b) select 1", 120, 1),
    ("insert Heap (a) select 1, 2", 121, 1),
    ("insert Heap values (1)", 213, 1),
    ("insert Heap (a, nope) values (1, 2)", 207, 1),
    ("insert Heap (a, A) values (1, 2)", 264, 1),
    ("insert Customer (CustomerId, LastName, FirstName, City) values (1, 'a', 'b', 'c')", 544, 1),
    ("insert Customer values (1, 'a', 'b', 'c', 'd')", 8101, 1),
    ("insert Heap (a) values (getdate())", 257, 1),
    ("insert sys.waits values (1, 2)", 259, 1),
    // update, delete
    ("update Heap set nope = 1", 207, 1),
    ("update Heap set a = 1,\n a = 2", 264, 2),
    ("update Customer set CustomerId = 1", 8102, 1),
    ("update Heap set a = count(*)", 157, 1),
    ("update Heap set x.a = 1", 4104, 1),
    ("update h set a = 1 from Heap x", 208, 1),
    ("update Heap set a = 1 from Heap x join Heap y on x.a = y.a", 8154, 1),
    ("delete nothing", 208, 1),
    ("select @i = 1, a from Heap", 141, 1),
];

#[test]
fn what_has_no_meaning_is_refused_by_number_and_line() {
    let world = World::new();
    let mut wrong = Vec::new();
    for &(text, number, line) in CASES {
        match world.bind(text) {
            Ok(bound) => wrong.push(format!("{text}: expected {number}, bound as\n{}", bound.plan)),
            Err(e) if (e.number(), e.line()) == (number, line) => {}
            Err(e) => {
                let got = (e.number(), e.line());
                wrong.push(format!(
                    "{text}: expected {:?}, got {got:?} {}",
                    (number, line),
                    e.text()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn depth_ends_in_191_and_never_in_a_crash() {
    let world = World::new();
    for text in [
        format!("select {}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("select 1{}", " + 1".repeat(5000)),
        format!("select {}1{}", "coalesce(null, ".repeat(240), ")".repeat(240)),
        format!("select 1{}", " + @i".repeat(300)),
        format!("select {}1{}", "(select ".repeat(240), ")".repeat(240)),
    ] {
        if let Err(e) = world.bind(&text) {
            assert_eq!(e.number(), 191, "{}: {}", &text[..60], e.text());
        }
    }
    let nested = format!("select {}1{}", "abs(1 + ".repeat(250), ")".repeat(250));
    assert!(world.bind(&nested).is_err_and(|e| e.number() == 191));
    let joined = (0..300).map(|n| format!(" cross join (select 1 x) d{n}")).collect::<String>();
    assert!(world.bind(&format!("select * from Test{joined}")).is_ok(), "width is no depth");
    let chain = format!("select a from Heap where {}", vec!["a = 1"; 3000].join(" or "));
    assert!(world.bind(&chain).is_ok());
}

#[test]
fn simple_case_does_not_double_its_operand() {
    let world = World::new();
    let mut text = "a".to_owned();
    for _ in 0..40 {
        text = format!("case {text} + 1 when 1 then 2 when 2 then 3 else 4 end");
    }
    let bound = world.bind(&format!("select {text} from Heap")).expect("forty levels bind");
    assert!(bound.plan.to_string().len() < 20_000);
}
