//! What text that isn't T-SQL answers: number, line and words as SQL Server's.

use tsql::{ParseOptions, parse};

/// Each error of a text as `number:line:text`.
fn errors(text: &str) -> Vec<String> {
    let parsed = parse(text, ParseOptions::default());
    let spelled = |e: &base::SqlError| {
        assert!((15..=16).contains(&e.severity()), "{text}: {e}");
        format!("{}:{}:{}", e.number(), e.line(), e.text())
    };
    parsed.errors.iter().map(spelled).collect()
}

fn first(text: &str) -> String {
    errors(text).into_iter().next().unwrap_or_else(|| panic!("{text} parsed"))
}

#[test]
fn the_offending_token_is_named_with_its_line() {
    for (text, expected) in [
        ("select 1 +", "102:1:Incorrect syntax near '+'."),
        ("select\n*\nfrom", "102:3:Incorrect syntax near 'from'."),
        ("select from t", "156:1:Incorrect syntax near the keyword 'from'."),
        ("select 1\nwhere", "102:2:Incorrect syntax near 'where'."),
        ("select a b c", "102:1:Incorrect syntax near 'c'."),
        ("select 1 'a' 'b c'", "102:1:Incorrect syntax near 'b c'."),
        ("select 1 [a] [b]", "102:1:Incorrect syntax near 'b'."),
        ("select (1", "102:1:Incorrect syntax near '1'."),
        ("select 1)", "102:1:Incorrect syntax near ')'."),
        ("select 1 from t where a == 1", "102:1:Incorrect syntax near '='."),
        ("select a = b = c", "102:1:Incorrect syntax near '='."),
        ("insert t values (1, )", "102:1:Incorrect syntax near ')'."),
        ("update t\nset a\n= 1,\nwhere b = 2", "156:4:Incorrect syntax near the keyword 'where'."),
        ("create table t (a int,, b int)", "102:1:Incorrect syntax near ','."),
        ("create table t (key int)", "156:1:Incorrect syntax near the keyword 'key'."),
        ("declare @a", "102:1:Incorrect syntax near '@a'."),
        ("begin", "102:1:Incorrect syntax near 'begin'."),
        ("begin end", "156:1:Incorrect syntax near the keyword 'end'."),
        ("if 1 = 1", "102:1:Incorrect syntax near '1'."),
        ("if 1 = 1 select 1 else", "102:1:Incorrect syntax near 'else'."),
        ("begin try select 1 end try", "102:1:Incorrect syntax near 'try'."),
        ("select ¶", "102:1:Incorrect syntax near '¶'."),
        ("use", "102:1:Incorrect syntax near 'use'."),
        ("select count(* from t", "156:1:Incorrect syntax near the keyword 'from'."),
        ("select case when 1 = 1 then 2", "102:1:Incorrect syntax near '2'."),
        ("select * from (select 1 a)", "102:1:Incorrect syntax near ')'."),
        ("select * from t join u", "102:1:Incorrect syntax near 'u'."),
        ("save tran", "102:1:Incorrect syntax near 'tran'."),
        (
            "declare c scroll cursor static for select 1",
            "1049:1:Mixing old and new syntax to specify cursor options is not allowed.",
        ),
        (
            "create table t (a int,\nreferences u (b))",
            "142:2:Incorrect syntax for definition of the 'TABLE' constraint.",
        ),
        (
            "rollback tran a23456789012345678901234567890123",
            "103:1:The identifier that starts with 'a23456789012345678901234567890123' is too long. \
             Maximum length is 32.",
        ),
    ] {
        assert_eq!(first(text), expected, "{text}");
    }
}

#[test]
fn what_has_no_end() {
    assert_eq!(
        errors("select 1,\n'abc\n"),
        [
            "105:2:Unclosed quotation mark after the character string 'abc\n'.",
            "102:2:Incorrect syntax near 'abc\n'.",
        ]
    );
    assert_eq!(
        first("select [abc"),
        "105:1:Unclosed quotation mark after the character string 'abc'."
    );
    assert_eq!(
        first("select N'x"),
        "105:1:Unclosed quotation mark after the character string 'x'."
    );
    assert_eq!(errors("select 1\n/* /* */"), ["113:2:Missing end comment mark '*/'."]);
    let both = errors("selec from\nselect 'a");
    assert_eq!(both[0], "156:1:Incorrect syntax near the keyword 'from'.");
    assert_eq!(both[1], "105:2:Unclosed quotation mark after the character string 'a'.");
}

#[test]
fn errors_with_numbers_of_their_own() {
    for (text, expected) in [
        (
            "declare @a int\nwith c as (select 1 x) select * from c",
            "319:2:Incorrect syntax near the keyword 'with'. If",
        ),
        (
            "select * from t\nwith c as (select 1 x) select * from c",
            "336:2:Incorrect syntax near 'c'. If",
        ),
        (
            "select 1\ncreate procedure p as select 1",
            "111:2:'CREATE/ALTER PROCEDURE' must be the first statement",
        ),
        (
            "select 1\ncreate view v as select 1 a",
            "111:2:'CREATE VIEW' must be the first statement",
        ),
        (
            "use x alter function f() returns int as begin return 1 end",
            "111:1:'ALTER FUNCTION' must be",
        ),
        ("select 1 create schema s", "111:1:'CREATE SCHEMA' must be the first statement"),
        ("select 1\nbreak", "135:2:Cannot use a BREAK statement outside"),
        ("continue", "136:1:Cannot use a CONTINUE statement outside"),
        ("goto nowhere", "133:1:A GOTO statement references the label 'nowhere'"),
        ("a: select 1\nA: select 2", "132:2:The label 'A' has already been declared."),
        ("select 1 as []", "1038:1:An object or column name is missing or empty."),
        ("select * from a.b.c.d.e", "117:1:The object name 'a.b.c.d' contains more than"),
        ("set nocount, nosuch on", "195:1:'nosuch' is not a recognized SET option."),
        ("select * from t with (nolok)", "321:1:\"nolok\" is not a recognized table hints option."),
        ("drop index i", "159:1:Must specify the table name and index name"),
        ("create nonsense x", "343:1:Unknown object type 'nonsense' used"),
        ("select 1 where 1", "4145:1:An expression of non-boolean type"),
        (
            "if 1 print 'x'",
            "4145:1:An expression of non-boolean type specified in a context where a condition is expected, near 'print'.",
        ),
        (
            "merge t using s on 1 = 1 when matched then delete",
            "10713:1:A MERGE statement must be terminated",
        ),
        (
            "declare @a varchar(99999999999)",
            "1001:1:Line 1: Length or precision specification 99999999999",
        ),
    ] {
        let error = first(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let long = "x".repeat(129);
    let expected = format!(
        "103:1:The identifier that starts with '{}' is too long. Maximum length is 128.",
        &long[1..]
    );
    assert_eq!(first(&format!("select {long}")), expected);
    assert_eq!(errors(&format!("select {}", &long[1..])), [""; 0]);
}

#[test]
fn what_stands_before_an_error_is_kept() {
    let parsed = parse("select 1; select 2; select", ParseOptions::default());
    assert_eq!((parsed.batch.statements.len(), parsed.errors.len()), (2, 1));
}
