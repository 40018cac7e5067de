//! What expressions, conditions and queries mean: text in, the tree's outline out.

mod outline;

use tsql::ast::StatementKind;
use tsql::{ParseOptions, parse, parse_condition, parse_expression};

fn expression(text: &str) -> String {
    match parse_expression(text, ParseOptions::default()) {
        Ok(e) => outline::expr(&e),
        Err(e) => e.to_string(),
    }
}

fn condition(text: &str) -> String {
    match parse_condition(text, ParseOptions::default()) {
        Ok(c) => outline::condition(&c),
        Err(e) => e.to_string(),
    }
}

fn query(text: &str) -> String {
    let parsed = parse(text, ParseOptions::default());
    assert_eq!(parsed.errors, [], "{text}");
    match &parsed.batch.statements.as_slice() {
        [one] => match &one.kind {
            StatementKind::Select(s) => outline::query(&s.query),
            other => panic!("{text}: {other:?}"),
        },
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn operators_bind_as_documented() {
    for (text, shape) in [
        ("1 + 2 * 3 - 4", "(1 + (2 * 3) - 4)"),
        ("a % b / c", "(a % b / c)"),
        ("a & b | c ^ d + 1", "(a & b | c ^ d + 1)"),
        ("(1 + 2) * 3", "((1 + 2) * 3)"),
        ("-a * ~b", "((-a) * (~b))"),
        ("- -1", "(-(-1))"),
        ("1--comment\n+2", "(1 + 2)"),
        ("a COLLATE Latin1_General_BIN + 'x'", "((a COLLATE Latin1_General_BIN) + 'x')"),
        ("d AT TIME ZONE 'UTC' AT TIME ZONE @z", "((d AT 'UTC') AT @z)"),
        ("a/*x /* nested */ */+/**/b", "(a + b)"),
    ] {
        assert_eq!(expression(text), shape, "{text}");
    }
}

#[test]
fn constants_keep_their_text() {
    for (text, shape) in [
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1000.", "1000.d"),
        (".5", ".5d"),
        ("1e5", "1e5f"),
        ("1.5E-3", "1.5E-3f"),
        ("1e", "1e0f"),
        ("$1.5", "$1.5"),
        ("$", "$0"),
        ("£20", "$20"),
        ("'it''s'", "'it's'"),
        ("N'naïve'", "N'naïve'"),
        ("0xABC", "0x0abc"),
        ("0x", "0x"),
        ("null", "NULL"),
        ("{ts '2024-01-01 00:00:00'}", "{ts 2024-01-01 00:00:00}"),
        ("{fn UCASE('a')}", "UPPER('a')"),
        ("@@SPID", "@@SPID"),
    ] {
        assert_eq!(expression(text), shape, "{text}");
    }
}

#[test]
fn names_and_functions() {
    for (text, shape) in [
        ("[a b]]c].[d]", "a b]c.d"),
        ("db..t.c", "db..t.c"),
        ("level", "level"),
        ("date", "date"),
        ("\"select\"", "select"),
        ("größe_ñ", "größe_ñ"),
        ("LEFT(a, 1)", "LEFT(a, 1)"),
        ("COALESCE(a, NULLIF(b, 0))", "COALESCE(a, NULLIF(b, 0))"),
        ("count(*)", "count(*)"),
        ("COUNT(DISTINCT a)", "COUNT(DISTINCT a)"),
        ("f(DEFAULT, 1)", "f(DEFAULT, 1)"),
        ("dbo.f()", "dbo.f()"),
        ("$PARTITION.pf(d)", "$PARTITION.pf(d)"),
        ("DATEADD(day, 1, GETDATE())", "DATEADD(day, 1, GETDATE())"),
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
        ("iif(a > 1 AND b = 2, 'x', 'y')", "IIF(AND(a > 1; b = 2), 'x', 'y')"),
        ("CAST(a AS decimal(12, 2))", "CAST(a AS decimal(12,2))"),
        ("TRY_CONVERT(varchar(max), a, 126)", "TRY_CONVERT(a AS varchar(max), 126)"),
        ("CAST(a AS national character varying(5))", "CAST(a AS nvarchar(5))"),
        ("CAST(a AS double precision)", "CAST(a AS float)"),
        ("PARSE('1' AS int USING 'de-DE')", "PARSE('1' AS int, 'de-DE')"),
        ("TRIM(a)", "TRIM(None  FROM a)"),
        ("TRIM(LEADING 'x' FROM a)", "TRIM(Some(Leading) 'x' FROM a)"),
        ("TRIM('x' FROM a)", "TRIM(None 'x' FROM a)"),
        ("@x.value('(/a)[1]', 'int')", "@x.value('(/a)[1]', 'int')"),
        ("hierarchyid::GetRoot()", "hierarchyid::GetRoot()"),
        ("NEXT VALUE FOR dbo.s", "NEXT(dbo.s)"),
        ("STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b DESC)", "STRING_AGG(a, ',') WITHIN(b DESC)"),
        ("CASE a WHEN 1 THEN 'x' ELSE 'y' END", "CASE a WHEN 1 THEN 'x' ELSE 'y' END"),
        ("CASE WHEN a IS NULL THEN 0 END", "CASE WHEN a IS NULL THEN 0 END"),
        ("((SELECT 1) + 1)", "((SELECT 1) + 1)"),
        ("((SELECT 1) UNION (SELECT 2))", "([(SELECT 1) Union (SELECT 2)])"),
    ] {
        assert_eq!(expression(text), shape, "{text}");
    }
}

#[test]
fn windows() {
    for (text, shape) in [
        ("SUM(a) OVER ()", "SUM(a) OVER( BY )"),
        ("ROW_NUMBER() OVER (ORDER BY (SELECT NULL))", "ROW_NUMBER() OVER( BY (SELECT NULL))"),
        (
            "SUM(a) OVER (PARTITION BY b, c ORDER BY d DESC ROWS UNBOUNDED PRECEDING)",
            "SUM(a) OVER(b, c BY d DESC Rows -inf TO 0)",
        ),
        (
            "LAG(a) IGNORE NULLS OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
            "LAG(a) IGNORE OVER( BY d Rows -2 TO +1)",
        ),
        (
            "MAX(a) OVER (ORDER BY d RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
            "MAX(a) OVER( BY d Range 0 TO +inf)",
        ),
    ] {
        assert_eq!(expression(text), shape, "{text}");
    }
}

#[test]
fn conditions_bind_as_documented() {
    for (text, shape) in [
        ("a = 1 OR b = 2 AND NOT c = 3", "OR(a = 1; AND(b = 2; NOT(c = 3)))"),
        ("(a = 1 OR b = 2) AND c = 3", "AND(OR(a = 1; b = 2); c = 3)"),
        ("((a)) + 1 > (b)", "(a + 1) > b"),
        ("(a + 1) * 2 >= 3 AND (b = 1)", "AND(((a + 1) * 2) >= 3; b = 1)"),
        ("a BETWEEN 1 AND 2 AND b = 3", "AND(a BETWEEN 1..2; b = 3)"),
        ("a NOT IN (1, 2)", "a NOT IN (1, 2)"),
        ("a IN (SELECT b FROM t)", "a IN (SELECT b FROM t)"),
        ("a IN ((SELECT 1), 2)", "a IN ((SELECT 1), 2)"),
        ("(((SELECT 1) < 2))", "(SELECT 1) < 2"),
        ("a LIKE 'x%' ESCAPE '!'", "a LIKE 'x%' ESCAPE '!'"),
        ("a IS NOT NULL", "a IS NOT NULL"),
        ("a IS NOT DISTINCT FROM b", "a IS NOT DISTINCT b"),
        ("a !< 1 AND b !> 2 AND c != 3", "AND(a >= 1; b <= 2; c <> 3)"),
        ("a < = 1", "a <= 1"),
        ("EXISTS (SELECT * FROM t)", "EXISTS (SELECT * FROM t)"),
        ("a > ALL (SELECT 1)", "a > All(SELECT 1)"),
        ("a = SOME (SELECT 1)", "a = Any(SELECT 1)"),
        ("(SELECT COUNT(*) FROM t) > 0", "(SELECT COUNT(*) FROM t) > 0"),
        ("(SELECT 1) + 1 > 0", "((SELECT 1) + 1) > 0"),
        ("((SELECT 1)) = 1", "((SELECT 1)) = 1"),
        ("UPDATE(a) OR UPDATE(b)", "OR(UPDATE(a); UPDATE(b))"),
        ("CONTAINS((a, b), 'x')", "CONTAINS([a,b], 'x')"),
        ("(a) COLLATE Latin1_General_BIN = 'x'", "(a COLLATE Latin1_General_BIN) = 'x'"),
    ] {
        assert_eq!(condition(text), shape, "{text}");
    }
}

#[test]
fn a_value_is_no_condition() {
    for (text, near) in [("1", "1"), ("a AND b = 1", "AND"), ("NOT a", "a"), ("(a)", ")")] {
        let message = "An expression of non-boolean type specified in a context where a condition";
        let expected =
            format!("Msg 4145, Level 15, State 1, Line 1: {message} is expected, near '{near}'.");
        assert_eq!(condition(text), expected, "{text}");
    }
    assert!(expression("a = b").contains("Incorrect syntax near '='"));
    assert!(condition("(a = b) = c").contains("Incorrect syntax near '='"));
}

#[test]
fn select_lists_and_sources() {
    for (text, shape) in [
        (
            "select a, b AS c, d e, f = g, 'h' = i, j 'k', t.*, *",
            "SELECT a, b AS c, d AS e, g AS f, i AS h, j AS k, t.*, *",
        ),
        ("SELECT @a = b, @c += 1", "SELECT @a Set b, @c Add 1"),
        ("SELECT DISTINCT TOP 10 * FROM t", "SELECT DISTINCT TOP 10 * FROM t"),
        (
            "SELECT TOP (@n) PERCENT WITH TIES a FROM t ORDER BY a DESC",
            "SELECT TOP @n% TIES a FROM t ORDER a DESC",
        ),
        ("SELECT 1 INTO #t FROM a, b c, d AS e", "SELECT 1 INTO #t FROM a, b AS c, d AS e"),
        (
            "SELECT 1 FROM t WITH (NOLOCK, INDEX(i, 2))",
            "SELECT 1 FROM t <NoLock Index([Name(Name { text: \"i\", line: 1 }), Id(2)])>",
        ),
        (
            "SELECT 1 FROM t (NOLOCK) JOIN u x (TABLOCKX) ON 1 = 1",
            "SELECT 1 FROM [t <NoLock> Inner u AS x <TableLockExclusive> ON 1 = 1]",
        ),
        ("SELECT 1 FROM t (NOLOCK)", "SELECT 1 FROM t <NoLock>"),
        ("SELECT 1 FROM f(DEFAULT, 1) AS x (a, b)", "SELECT 1 FROM f(DEFAULT, 1) AS x(a,b)"),
        (
            "SELECT 1 FROM a JOIN b ON a.x = b.x LEFT HASH JOIN c ON 1 = 1",
            "SELECT 1 FROM [a Inner b ON a.x = b.x LeftHash c ON 1 = 1]",
        ),
        (
            "SELECT 1 FROM a JOIN b JOIN c ON 1 = 2 ON 3 = 4",
            "SELECT 1 FROM [a Inner [b Inner c ON 1 = 2] ON 3 = 4]",
        ),
        (
            "SELECT 1 FROM a CROSS JOIN (b FULL OUTER JOIN c ON 1 = 1)",
            "SELECT 1 FROM [a Cross [b Full c ON 1 = 1]]",
        ),
        (
            "SELECT 1 FROM a OUTER APPLY f(a.x) g CROSS APPLY (SELECT 1) h (i)",
            "SELECT 1 FROM [a OuterApply f(a.x) AS g CrossApply (SELECT 1) AS h(i)]",
        ),
        (
            "SELECT 1 FROM (VALUES (1, 'a'), (2, 'b')) v(x, y)",
            "SELECT 1 FROM VALUES (1, 'a')(2, 'b') AS v(x,y)",
        ),
        (
            "SELECT 1 FROM @t AS t, @x.nodes('/a') n(c)",
            "SELECT 1 FROM @t AS t, @x.nodes('/a') AS n(c)",
        ),
        (
            "SELECT 1 FROM t PIVOT (SUM(a) FOR b IN ([1], [2])) p",
            "SELECT 1 FROM t PIVOT(SUM(a) FOR b IN 1,2) AS p",
        ),
        (
            "SELECT 1 FROM t UNPIVOT (v FOR n IN (a, b)) AS u",
            "SELECT 1 FROM t UNPIVOT(v FOR n IN a,b) AS u",
        ),
        ("SELECT 1 FROM srv.db.dbo.t, db..u", "SELECT 1 FROM srv.db.dbo.t, db..u"),
    ] {
        assert_eq!(query(text), shape, "{text}");
    }
}

#[test]
fn clauses_behind_from() {
    for (text, shape) in [
        (
            "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1",
            "SELECT a FROM t GROUP a HAVING COUNT(*) > 1",
        ),
        (
            "SELECT a FROM t GROUP BY ROLLUP(a, (b, c)), d",
            "SELECT a FROM t GROUP ROLLUP(a, (b, c)), d",
        ),
        (
            "SELECT a FROM t GROUP BY GROUPING SETS ((a, b), CUBE(a), ())",
            "SELECT a FROM t GROUP SETS((a, b), CUBE(a), ())",
        ),
        ("SELECT a FROM t GROUP BY (a), (b) + 1", "SELECT a FROM t GROUP a, (b + 1)"),
        (
            "SELECT a FROM t ORDER BY 1 OFFSET 5 ROWS FETCH NEXT @n ROWS ONLY",
            "SELECT a FROM t ORDER 1 OFFSET 5 FETCH @n",
        ),
        (
            "SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4",
            "[SELECT 1 UnionAll SELECT 2 Except [SELECT 3 Intersect SELECT 4]]",
        ),
        (
            "(SELECT 1 UNION SELECT 2) EXCEPT (SELECT 3) ORDER BY 1",
            "[([SELECT 1 Union SELECT 2]) Except (SELECT 3)] ORDER 1",
        ),
        (
            "SELECT a FROM t FOR XML PATH('r'), ROOT('x'), TYPE",
            "SELECT a FROM t FOR Xml PATH(r) ROOT,TYPE",
        ),
        (
            "SELECT a FROM t FOR JSON AUTO, WITHOUT_ARRAY_WRAPPER",
            "SELECT a FROM t FOR Json AUTO() WITHOUT_ARRAY_WRAPPER",
        ),
    ] {
        assert_eq!(query(text), shape, "{text}");
    }
}

#[test]
fn quoted_text_follows_the_option() {
    let off = ParseOptions { quoted_identifier: false };
    let e = parse_expression("\"it\"\"s\"", off).expect("a string");
    assert_eq!(outline::expr(&e), "'it\"s'");
    // SET within the batch counts from its place on.
    let text = "SET QUOTED_IDENTIFIER OFF SELECT \"it's\" SET QUOTED_IDENTIFIER ON SELECT \"a\"";
    let parsed = parse(text, ParseOptions::default());
    assert_eq!(parsed.errors, []);
    let selects = parsed.batch.statements.iter().filter_map(|s| match &s.kind {
        StatementKind::Select(q) => Some(outline::query(&q.query)),
        _ => None,
    });
    let selects: Vec<_> = selects.collect();
    assert_eq!(selects, ["SELECT 'it's'", "SELECT a"]);
}
