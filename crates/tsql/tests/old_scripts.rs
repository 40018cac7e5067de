//! Shapes that scripts of public suites use: each must parse, or be refused by its name alone.

use tsql::{ParseOptions, batches, parse, parse_condition};

fn errors(text: &str) -> Vec<String> {
    let parsed = parse(text, ParseOptions::default());
    parsed.errors.iter().map(|e| format!("{}: {}", e.number(), e.text())).collect()
}

const PARSED: &[&str] = &[
    // A procedure may do nothing.
    "CREATE PROCEDURE p AS",
    "CREATE PROC p @a int = 1 WITH RECOMPILE AS ;",
    "CREATE OR ALTER PROCEDURE p AS -- nothing",
    // Functions of the system by their old name.
    "SELECT * FROM ::fn_helpcollations()",
    "SELECT * FROM ::fn_listextendedproperty(NULL, 'schema', 'dbo', DEFAULT, NULL, NULL, NULL) AS x",
    "SELECT * FROM t CROSS APPLY ::fn_virtualfilestats(t.a, NULL) f (a, b)",
    // Old hints stand before an alias as well as behind it.
    "SELECT * FROM t (NOLOCK) a JOIN u (NOLOCK) ON a.x = u.x",
    "SELECT * FROM t (NOLOCK, INDEX(1)) AS a, u b (HOLDLOCK)",
    "UPDATE a SET x = 1 FROM t (UPDLOCK) a",
    "CREATE TABLE t (a int IDENTITY NOT FOR REPLICATION, b int IDENTITY(1, 1) NOT FOR REPLICATION)",
    "CREATE TABLE t (x xml(CONTENT s.c), y xml(DOCUMENT c), z xml(c), w xml(content), v xml(s.c))",
    "ALTER DATABASE CURRENT SET QUERY_STORE CLEAR",
    "ALTER DATABASE d SET QUERY_STORE CLEAR ALL",
    "ALTER DATABASE d SET QUERY_STORE = ON (CLEANUP_POLICY = (STALE_QUERY_THRESHOLD_DAYS = 3))",
    "SET TRAN ISOLATION LEVEL SNAPSHOT",
    "CREATE TABLE t (id int, timestamp NOT NULL)",
    "CREATE TABLE t (timestamp NULL, b int CHECK (b > 0))",
    "CREATE TABLE t (a int PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 8))",
    "CREATE TABLE t (a int, CONSTRAINT c UNIQUE NONCLUSTERED HASH (a) WITH (BUCKET_COUNT = 8))",
    "CREATE TABLE t (a int, s xml COLUMN_SET FOR ALL_SPARSE_COLUMNS)",
    "CREATE TABLE t (a int) WITH (SYSTEM_VERSIONING = ON (HISTORY_RETENTION_PERIOD = 3 MONTHS))",
    "DROP INDEX i ON t WITH (ONLINE = OFF, MOVE TO [PRIMARY])",
    "ALTER TABLE t DROP CONSTRAINT c WITH (MOVE TO ps (a))",
    "UPDATE STATISTICS t WITH RESAMPLE ON PARTITIONS (1, 3 TO 5), NORECOMPUTE",
    "CREATE INDEX i ON t (a) WITH (XML_COMPRESSION = ON ON PARTITIONS (2, 3 TO 5))",
    "ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE 0x06",
    "GRANT SELECT ON dbo.t (a, b) TO u",
    "REVOKE UPDATE ON t(a) FROM u",
    "SELECT t.$IDENTITY, t.IDENTITYCOL, dbo.t.$ROWGUID, t.ROWGUIDCOL FROM t",
    "SELECT db.$PARTITION.f(1)",
    "SELECT @p.STX, (a).Lat.x(), t.f(1).STY FROM t",
    "DECLARE @m money = -$   10.12; SELECT ₩ 5, ￦7",
];

/// What the tree knows by its first words alone.
const OPAQUE: &[&str] = &[
    "ALTER ROLE r DROP MEMBER u",
    "ALTER SERVER ROLE r DROP MEMBER u",
    "ALTER SYMMETRIC KEY k DROP ENCRYPTION BY CERTIFICATE c",
    "ALTER EVENT SESSION s ON SERVER DROP EVENT a.b, DROP TARGET c.d",
    "ALTER FULLTEXT STOPLIST l DROP 'x' LANGUAGE 1033",
    "ALTER SERVER AUDIT SPECIFICATION s DROP (FAILED_LOGIN_GROUP)",
    "ALTER AVAILABILITY GROUP g GRANT CREATE ANY DATABASE",
    "CREATE COLUMN MASTER KEY k WITH (KEY_PATH = 'x')",
    "DROP COLUMN ENCRYPTION KEY k",
    "CREATE EXTERNAL DATA SOURCE s WITH (LOCATION = 'x')",
    "ALTER DATABASE SCOPED CREDENTIAL c WITH IDENTITY = 'x'",
    "DROP DATABASE AUDIT SPECIFICATION s",
    "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_256",
    "ALTER DATABASE d SET HADR AVAILABILITY GROUP = g",
    "DROP SECURITY POLICY IF EXISTS p",
    "CREATE SECURITY POLICY p ADD BLOCK PREDICATE f(a) ON t AFTER INSERT WITH (STATE = ON)",
    "ADD SIGNATURE TO p BY CERTIFICATE c",
    "END CONVERSATION @h WITH CLEANUP",
    "SEND ON CONVERSATION @h MESSAGE TYPE m ('x')",
    "RECEIVE TOP (1) * FROM q INTO @t",
    "GET CONVERSATION GROUP @g FROM q",
    "MOVE CONVERSATION @h TO @g",
    "CREATE TABLE t (a int) AS NODE",
    "CREATE TABLE e AS EDGE",
    "CREATE TABLE f AS FILETABLE WITH (FILETABLE_DIRECTORY = 'x')",
    "REVERT WITH COOKIE = @c",
    "CLOSE ALL SYMMETRIC KEYS",
    "BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') END",
];

/// Where the tree has no place for it, the name stands in the error.
const NAMED: &[(&str, &str)] = &[
    ("CREATE PROCEDURE p AS EXTERNAL NAME a.b.c", "EXTERNAL NAME"),
    ("CREATE FUNCTION f() RETURNS int AS EXTERNAL NAME a.b.c", "EXTERNAL NAME"),
    ("CREATE FUNCTION f() RETURNS TABLE (a int) AS EXTERNAL NAME a.b.c", "EXTERNAL NAME"),
    ("SELECT * FROM OPENROWSET(BULK 'f', SINGLE_BLOB) AS x", "OPENROWSET(BULK …)"),
    ("SELECT * FROM CHANGETABLE(CHANGES t, 10) AS c", "CHANGETABLE"),
    ("SELECT * FROM CONTAINSTABLE(t, *, 'x')", "CONTAINSTABLE"),
    ("SELECT 1 FROM a, b, c WHERE MATCH(a-(b)->c)", "MATCH"),
    ("ALTER TABLE t ALTER COLUMN a int MASKED WITH (FUNCTION = 'default()')", "MASKED"),
    ("WITH CHANGE_TRACKING_CONTEXT (0xff) DELETE t", "CHANGE_TRACKING_CONTEXT"),
];

#[test]
fn shapes_of_old_scripts_parse() {
    for text in PARSED {
        assert_eq!(errors(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_known_by_name_ends_where_its_statement_ends() {
    for text in OPAQUE {
        let parsed = parse(text, ParseOptions::default());
        assert_eq!(parsed.errors, [], "{text}");
        let kinds: Vec<String> =
            parsed.batch.statements.iter().map(|s| format!("{:?}", s.kind)).collect();
        assert!(matches!(&*kinds, [one] if one.starts_with("Opaque")), "{text}: {kinds:?}");
        // Another statement behind it is its own.
        let two = parse(&format!("{text}; SELECT 1"), ParseOptions::default());
        assert_eq!((two.errors.len(), two.batch.statements.len()), (0, 2), "{text}");
    }
}

#[test]
fn a_conversation_ends_within_a_block() {
    let text = "BEGIN END CONVERSATION @h; SELECT 1 END";
    let parsed = parse(text, ParseOptions::default());
    assert_eq!((parsed.errors.len(), parsed.batch.statements.len()), (0, 1));
}

#[test]
fn what_has_no_tree_is_refused_by_name() {
    for (text, name) in NAMED {
        let expected = format!(
            "40517: Keyword or statement option '{name}' is not supported in this version of \
             Ghostlight."
        );
        assert_eq!(errors(text), [expected], "{text}");
    }
}

/// Operators may have blanks and comments between their signs; what they mean stays.
#[test]
fn signs_of_an_operator_may_stand_apart() {
    for (apart, together) in [
        ("a ! = 1", "a != 1"),
        ("a !\n< 1", "a !< 1"),
        ("a! /* not */ >1", "a !> 1"),
        ("a < > 1", "a <> 1"),
        ("a < = 1", "a <= 1"),
        ("a > = 1", "a >= 1"),
    ] {
        let kind = |text: &str| match parse_condition(text, ParseOptions::default()) {
            Ok(c) => match c.kind {
                tsql::ast::ConditionKind::Compare { op, .. } => format!("{op:?}"),
                other => panic!("{text}: {other:?}"),
            },
            Err(e) => panic!("{text}: {e}"),
        };
        assert_eq!(kind(apart), kind(together), "{apart}");
    }
    assert!(errors("SELECT 1 WHERE a ! 1")[0].starts_with("4145"));
}

/// The documented signs of currency, and no other.
#[test]
fn every_currency_sign_begins_money() {
    let signs = "$¢£¤¥৲৳฿៛₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱﷼﹩＄￠￡￥￦";
    assert_eq!(signs.chars().count(), 34);
    for sign in signs.chars() {
        assert_eq!(errors(&format!("SELECT {sign}12.5, {sign}, -{sign}3")), Vec::<String>::new());
    }
    for other in ['₲', '₴', '₹', '₽', '₿'] {
        assert_eq!(errors(&format!("SELECT {other}1")).len(), 1, "{other}");
    }
}

/// What still is no statement.
#[test]
fn wrong_shapes_stay_wrong() {
    for (text, number) in [
        ("SELECT * FROM ::", 102),
        ("SELECT * FROM ::t", 102),
        ("SELECT * FROM ::dbo.f()", 102),
        ("SELECT * FROM t WITH (NOLOCK) a", 102),
        ("CREATE TRIGGER t ON u FOR INSERT AS", 102),
        ("CREATE FUNCTION f() RETURNS int AS BEGIN END", 156),
        ("ALTER ROLE r DROP TABLE", 102),
        ("DROP FUNCTION f()", 102),
    ] {
        let found = errors(text);
        let prefix = format!("{number}:");
        assert!(found.first().is_some_and(|e| e.starts_with(&prefix)), "{text}: {found:?}");
    }
    assert_eq!(batches::split("select 1\ngo").len(), 1);
}
