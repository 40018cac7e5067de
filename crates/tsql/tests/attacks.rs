//! Text made to hurt: deep, long, mangled, random. It must end in a tree or an error.

use proptest::prelude::*;
use tsql::{ParseOptions, parse};

const DEEP: usize = 100_000;

/// The numbers of a text's errors, found on a small stack.
fn numbers(text: &str) -> Vec<i32> {
    let work = || {
        let parsed = parse(text, ParseOptions::default());
        parsed.errors.iter().map(base::SqlError::number).collect()
    };
    std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(1 << 20);
        small.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

#[test]
fn nesting_of_every_kind_is_bounded() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("- ", "1", ""),
        ("~", "1", ""),
        ("(SELECT ", "1", ")"),
        ("f(", "1", ")"),
        ("CASE WHEN 1 = 1 THEN ", "1", " END"),
        ("CASE ", "1", " WHEN 1 THEN 1 END"),
        ("CAST(", "1", " AS int)"),
        ("CONVERT(int, ", "1", ")"),
        ("IIF(1 = 1, 1, ", "1", ")"),
        ("TRIM(", "1", ")"),
        ("{fn f(", "1", ")}"),
        ("@x.f(", "1", ")"),
        ("SUM(1) OVER (ORDER BY ", "1", ")"),
    ] {
        let text = format!("SELECT {}{middle}{}", open.repeat(DEEP), close.repeat(DEEP));
        assert_eq!(numbers(&text), [191], "{open}");
    }
    let chain = format!("SELECT a{}", " COLLATE b".repeat(DEEP));
    assert_eq!(numbers(&chain), [191]);
    let chain = format!("SELECT @x{}", ".f()".repeat(DEEP));
    assert_eq!(numbers(&chain), [191]);
}

#[test]
fn nesting_of_conditions_sources_and_statements_is_bounded() {
    for (before, open, middle, close) in [
        ("SELECT 1 WHERE ", "(", "1 = 1", ")"),
        ("SELECT 1 WHERE ", "NOT ", "1 = 1", ""),
        ("SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "1 = 1", ")"),
        ("SELECT 1 WHERE ", "1 IN (SELECT 1 WHERE ", "1 = 1", ")"),
        ("SELECT 1 WHERE ", "1 = ALL (SELECT 1 WHERE ", "1 = 1", ")"),
        ("SELECT 1 FROM ", "(", "a JOIN b ON 1 = 1", ")"),
        ("SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x"),
        ("SELECT 1 FROM ", "a JOIN ", "b", " ON 1 = 1"),
        ("SELECT 1 FROM t ", "PIVOT (SUM(a) FOR b IN (c)) d ", "", ""),
        ("SELECT 1 GROUP BY ", "ROLLUP(", "a", ")"),
        ("", "(", "SELECT 1", ")"),
        ("", "BEGIN ", "SELECT 1", " END"),
        ("", "IF 1 = 1 ", "SELECT 1", ""),
        ("", "IF 1 = 1 SELECT 1 ELSE ", "SELECT 1", ""),
        ("", "WHILE 1 = 1 ", "SELECT 1", ""),
        ("", "BEGIN TRY ", "SELECT 1", " END TRY BEGIN CATCH END CATCH"),
        ("SELECT 1 FROM ", "(INSERT t SELECT 1 FROM ", "t", ") x"),
        ("ALTER DATABASE x SET a = ", "ON (b = ", "ON", ")"),
    ] {
        let text = format!("{before}{}{middle}{}", open.repeat(DEEP), close.repeat(DEEP));
        assert_eq!(numbers(&text), [191], "{before}{open}");
    }
}

#[test]
fn nesting_that_people_write_is_accepted() {
    let parens = format!("SELECT {}1{}", "(".repeat(200), ")".repeat(200));
    let replaces = format!("SELECT {}a{}", "REPLACE(".repeat(100), ", 'x', 'y')".repeat(100));
    let blocks = format!("{}SELECT 1{}", "IF 1 = 1 BEGIN ".repeat(60), " END".repeat(60));
    for text in [parens, replaces, blocks] {
        assert_eq!(numbers(&text), [0; 0], "{text}");
    }
}

#[test]
fn length_is_no_depth() {
    for text in [
        format!("SELECT 1{}", "+1".repeat(DEEP)),
        format!("SELECT 1{}", "*1+1".repeat(DEEP)),
        format!("SELECT 1 WHERE 1=1{}", " AND 1=1".repeat(DEEP)),
        format!("SELECT 1 WHERE 1=1{}", " OR 1=1 AND 2=2".repeat(DEEP)),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(DEEP)),
        format!("SELECT 1{}", " INTERSECT SELECT 1".repeat(DEEP)),
        format!("SELECT 1 FROM a{}", " CROSS JOIN b".repeat(DEEP)),
        format!("SELECT 1 WHERE 1 IN (1{})", ",1".repeat(DEEP)),
        format!("SELECT 1 FROM (VALUES (1){}) x (a)", ",(1)".repeat(DEEP)),
        format!("INSERT t VALUES (1){}", ",(1)".repeat(999)),
        "SELECT 1;".repeat(DEEP),
        ";".repeat(DEEP),
    ] {
        assert_eq!(numbers(&text), [0; 0], "{}", &text[..40]);
    }
    let rows = format!("INSERT t VALUES (1){}", ",(1)".repeat(1000));
    assert_eq!(numbers(&rows), [10738]);
}

/// Every word and sign the grammar knows, and some it doesn't.
const SOUP: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "(",
    ")",
    ",",
    "*",
    "=",
    "a",
    "t",
    "1",
    "'s'",
    "N'n'",
    "@v",
    "@@g",
    "#t",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "MERGE",
    "USING",
    "ON",
    "WHEN",
    "MATCHED",
    "THEN",
    "CREATE",
    "TABLE",
    "INDEX",
    "ALTER",
    "DATABASE",
    "DROP",
    "IF",
    "EXISTS",
    "ELSE",
    "BEGIN",
    "END",
    "TRY",
    "CATCH",
    "WHILE",
    "BREAK",
    "DECLARE",
    "int",
    "EXEC",
    "WITH",
    "AS",
    "UNION",
    "ALL",
    "JOIN",
    "LEFT",
    "CROSS",
    "APPLY",
    "GROUP",
    "BY",
    "ROLLUP",
    "ORDER",
    "OFFSET",
    "ROWS",
    "FETCH",
    "NEXT",
    "CASE",
    "NOT",
    "NULL",
    "IN",
    "LIKE",
    "BETWEEN",
    "AND",
    "OR",
    "OVER",
    "PARTITION",
    "FUNCTION",
    "PROCEDURE",
    "RETURNS",
    "RETURN",
    "TRIGGER",
    "VIEW",
    ";",
    ".",
    ":",
    "::",
    "{",
    "}",
    "$",
    "$action",
    "[x]",
    "+",
    "-",
    "/",
    "<",
    ">",
    "+=",
    "0x1",
    "1.5",
    "1e3",
    "COLLATE",
    "AT",
    "TIME",
    "ZONE",
    "CURSOR",
    "FOR",
    "OPEN",
    "PIVOT",
    "UNPIVOT",
    "TOP",
    "PERCENT",
    "OPTION",
    "OUTPUT",
    "DEFAULT",
    "IDENTITY",
    "PRIMARY",
    "KEY",
    "CHECK",
    "CONSTRAINT",
    "REFERENCES",
    "COLUMNSTORE",
    "CLUSTERED",
    "INCLUDE",
    "DBCC",
    "KILL",
    "GRANT",
    "TO",
    "USE",
    "COMMIT",
    "TRAN",
    "ROLLBACK",
    "THROW",
    "RAISERROR",
    "WAITFOR",
    "DELAY",
    "GOTO",
    "PRINT",
    "TRUNCATE",
    "STATISTICS",
    "SEQUENCE",
    "TYPE",
    "SCHEMA",
    "ADD",
    "COLUMN",
    "REBUILD",
    "FILE",
    "LOGIN",
    "BACKUP",
    "CURRENT",
    "OF",
    "XML",
    "PATH",
    "JSON",
    "CAST",
    "CONVERT",
    "TRIM",
    "IIF",
    "\n",
    "--c\n",
    "/*c*/",
    "¶",
    "é",
    "'",
    "\"",
    "/*",
];

const VALID: &[&str] = &[
    "SELECT TOP (3) a = t.b, COUNT(*) OVER (PARTITION BY c) FROM dbo.t AS t WITH (NOLOCK) LEFT JOIN u ON t.a = u.a WHERE x IN (1, 2) ORDER BY 1 OPTION (MAXDOP 1);",
    "CREATE TABLE dbo.t (a int NOT NULL IDENTITY(1, 1) PRIMARY KEY, b AS a * 2, INDEX i CLUSTERED COLUMNSTORE) WITH (DATA_COMPRESSION = PAGE);",
    "BEGIN TRY EXEC @r = dbo.p @a = 1, @b = N'x' OUTPUT; END TRY BEGIN CATCH THROW; END CATCH",
    "MERGE t USING (VALUES (1, 'a')) s(x, y) ON t.a = s.x WHEN MATCHED THEN UPDATE SET b = s.y WHEN NOT MATCHED THEN INSERT VALUES (1) OUTPUT $action;",
    "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
    "DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT 1 FOR READ ONLY; FETCH NEXT FROM c INTO @a",
    "CREATE FUNCTION f(@a int = 1) RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (@a); RETURN END",
];

/// Parsing ended; every place it gave lies in the text.
fn survives(text: &str) {
    for quoted_identifier in [true, false] {
        let parsed = parse(text, ParseOptions { quoted_identifier });
        for statement in &parsed.batch.statements {
            let span = statement.span;
            assert!(span.start < span.end && span.end as usize <= text.len(), "{text}: {span:?}");
            assert!(span.line >= 1 && text.is_char_boundary(span.end as usize));
        }
        for error in &parsed.errors {
            assert!(error.line() >= 1 || text.trim().is_empty(), "{text}: {error}");
        }
    }
    let _ = tsql::batches::split(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn soup_of_tokens_ends(words in prop::collection::vec(prop::sample::select(SOUP), 0..60)) {
        survives(&words.join(" "));
    }

    #[test]
    fn mangled_statements_end(
        which in 0..VALID.len(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..8),
    ) {
        let mut bytes = VALID[which].as_bytes().to_vec();
        for (at, byte, how) in cuts {
            if bytes.is_empty() { break; }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
        }
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_ends(text in any::<String>()) {
        survives(&text);
    }
}
