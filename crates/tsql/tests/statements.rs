//! Statements that must parse, what they become, and where they say they are.

use tsql::ast::*;
use tsql::{ParseOptions, batches, parse};

/// The statements of a text that parses.
fn statements(text: &str) -> Vec<Statement> {
    let parsed = parse(text, ParseOptions::default());
    assert_eq!(parsed.errors, [], "{text}");
    parsed.batch.statements
}

fn one(text: &str) -> StatementKind {
    let mut all = statements(text);
    assert_eq!(all.len(), 1, "{text}: {all:#?}");
    all.remove(0).kind
}

/// The variant's name.
fn kind(statement: &Statement) -> String {
    let text = format!("{:?}", statement.kind);
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

fn kinds(text: &str) -> String {
    statements(text).iter().map(kind).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_statement_has_its_node() {
    for (expected, texts) in [
        ("Select", SELECTS),
        ("Insert", INSERTS),
        ("Update", UPDATES),
        ("Delete", DELETES),
        ("Merge", MERGES),
        ("Execute", EXECUTES),
        ("SetOption", SET_OPTIONS),
        ("Transaction", TRANSACTIONS),
        ("Declare", DECLARES),
        ("CreateTable", TABLES),
        ("AlterTable", ALTER_TABLES),
        ("CreateIndex", INDEXES),
        ("AlterIndex", ALTER_INDEXES),
        ("CreateDatabase", DATABASES),
        ("AlterDatabase", ALTER_DATABASES),
        ("Drop", DROPS),
        ("Dbcc", DBCCS),
        ("Permission", PERMISSIONS),
        ("Opaque", OPAQUES),
    ] {
        for text in texts {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }
    for (expected, text) in OTHERS {
        assert_eq!(kinds(text), *expected, "{text}");
    }
}

const SELECTS: &[&str] = &[
    "SELECT 1",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "WITH a AS (SELECT 1 x), b (y) AS (SELECT x FROM a) SELECT * FROM b OPTION (MAXRECURSION 5)",
    "WITH XMLNAMESPACES ('urn:x' AS x, DEFAULT 'urn:y') SELECT 1 FOR XML PATH('a')",
    "SELECT a FROM t OPTION (MAXDOP 1, RECOMPILE, HASH JOIN, LOOP JOIN, FORCE ORDER, FAST 10)",
    "SELECT a FROM t OPTION (MIN_GRANT_PERCENT = 2.5, MAX_GRANT_PERCENT = 0, LABEL = 'x')",
    "SELECT a FROM t OPTION (OPTIMIZE FOR (@a = 1, @b UNKNOWN), OPTIMIZE FOR UNKNOWN, HASH GROUP)",
    "SELECT a FROM t OPTION (USE HINT ('X', 'Y'), QUERYTRACEON 4199, TABLE HINT(t, INDEX(i)))",
    "SELECT a FROM t OPTION (USE PLAN N'<x/>', KEEPFIXED PLAN, PARAMETERIZATION FORCED)",
    "SELECT * FROM t WITH (FORCESEEK (i (a, b)), INDEX = i, INDEX = (0), ROWLOCK UPDLOCK)",
    "SELECT * FROM t TABLESAMPLE SYSTEM (10 PERCENT) REPEATABLE (1)",
    "SELECT * FROM t FOR SYSTEM_TIME AS OF '2020-01-01' AS x WHERE x.a = 1",
    "SELECT * FROM OPENJSON(@j, '$.a') WITH (a int '$.a', b nvarchar(max) AS JSON) AS j",
    "SELECT * FROM OPENQUERY(srv, 'SELECT 1') q",
    "SELECT IDENTITY(int, 1, 1) AS n INTO #t FROM u",
    "SELECT * FROM (DELETE FROM t OUTPUT deleted.a) AS d (a)",
    "SELECT * FROM t WHERE CONTAINS(a, 'x') AND FREETEXT(*, 'y')",
    "SELECT a FROM t GROUP BY a WITH ROLLUP",
    "SELECT a, b INTO db.dbo.t ON [PRIMARY] FROM u",
    "SELECT 'a' 'b', N'c' AS N'd', e AS [f], g \"h\" FROM t FOR BROWSE",
    "SELECT level, pages, date, type, name, value, rows, [key], state, output FROM t window",
    "SELECT $IDENTITY, IDENTITYCOL, ROWGUIDCOL FROM t",
    "SELECT TOP 1.5 PERCENT a FROM t",
    "select substring(a.text, s/2 + 1, (case when e = -1 then len(convert(nvarchar(max), a.text)) * 2 else e end - s)/2) as [q] from t",
];

const INSERTS: &[&str] = &[
    "INSERT t VALUES (1, DEFAULT, NULL), (2, 'x', @a)",
    "INSERT INTO dbo.t WITH (TABLOCK) (a, b) SELECT 1, 2",
    "INSERT INTO dbo.t (a, b) OUTPUT inserted.a INTO @t (x) VALUES (1, 2)",
    "INSERT TOP (5) INTO t (a) OUTPUT inserted.* SELECT a FROM u ORDER BY a",
    "INSERT t DEFAULT VALUES",
    "INSERT t (a) EXEC dbo.p @x = 1",
    "INSERT t EXEC ('select 1')",
    "INSERT t (SELECT 1)",
    "INSERT @t (SELECT 1) UNION (SELECT 2)",
    "WITH c AS (SELECT 1 a) INSERT t SELECT a FROM c OPTION (MAXDOP 1)",
    "INSERT #t SELECT t.a % @m FROM (SELECT TOP (@n) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) a FROM m..v t1 CROSS JOIN m..v t2) t",
];

const UPDATES: &[&str] = &[
    "UPDATE TOP (1) dbo.t WITH (TABLOCKX) SET @i = id = @i + 1",
    "UPDATE x SET a = 1, b += 2, c = DEFAULT FROM t AS x JOIN u ON x.a = u.a WHERE u.b = 1",
    "UPDATE t SET a = 1 OUTPUT deleted.a, inserted.a WHERE CURRENT OF GLOBAL c",
    "UPDATE t SET a.WRITE('x', 0, NULL), @v = 1, @w |= 2, x.a ^= 1",
    "UPDATE t SET a = 1 WHERE CURRENT OF @c OPTION (MAXDOP 1)",
    "WITH c AS (SELECT 1 a) UPDATE c SET a = 2",
    "UPDATE @t SET a = (SELECT MAX(b) FROM u)",
];

const DELETES: &[&str] = &[
    "DELETE t",
    "DELETE FROM t WHERE a = 1",
    "DELETE TOP (10) PERCENT x OUTPUT deleted.* INTO log FROM t x LEFT JOIN u ON 1 = 1",
    "DELETE FROM t WITH (ROWLOCK) WHERE CURRENT OF c",
    "DELETE t OUTPUT deleted.a",
];

const MERGES: &[&str] = &[
    "MERGE INTO t WITH (HOLDLOCK) AS x USING u ON x.a = u.a WHEN MATCHED AND u.b = 1 THEN DELETE \
     WHEN MATCHED THEN UPDATE SET a = u.a, b += 1 WHEN NOT MATCHED BY TARGET THEN \
     INSERT (a) VALUES (u.a) WHEN NOT MATCHED BY SOURCE THEN DELETE \
     OUTPUT $action, inserted.a OPTION (MAXDOP 1);",
    "MERGE t USING (SELECT 1 a) AS s (a) ON 1 = 1 WHEN NOT MATCHED THEN INSERT DEFAULT VALUES;",
];

const EXECUTES: &[&str] = &[
    "sp_who 51",
    "dbo.p",
    "sp_helptext 'x';",
    "EXEC p",
    "EXECUTE @r = db..p @a = 1, @b = @c OUTPUT, @d = DEFAULT, @e = -1, @f = $2, @g = 0x1, @h = x",
    "EXEC @name 1, NULL, N'x', name, [a b], @@SPID",
    "EXEC ('select ' + @x + '1') AS USER = 'u'",
    "EXEC ('select ?', 1, @a OUTPUT) AT srv",
    "EXEC p;2 1 WITH RECOMPILE",
    "EXEC p WITH RESULT SETS ((a int NOT NULL, b varchar(10)), (c int))",
    "EXEC sp_executesql N'select @a', N'@a int', @a = 1",
    "{call dbo.p(1, @a)}",
    "EXEC p 1 /* no more */",
    "EXEC sp_configure 'show advanced options', 1",
    "EXEC sp_tableoption t, 'text in row', ON",
];

const SET_OPTIONS: &[&str] = &[
    "SET NOCOUNT, XACT_ABORT ON",
    "set statistics io, time on",
    "SET STATISTICS XML OFF",
    "SET LOCK_TIMEOUT -1",
    "SET LOCK_TIMEOUT 1800",
    "SET DATEFORMAT ymd",
    "SET DATEFIRST 7",
    "SET LANGUAGE us_english",
    "SET LANGUAGE [us_english]",
    "SET TEXTSIZE 2147483647",
    "SET ROWCOUNT @n",
    "SET DEADLOCK_PRIORITY LOW",
    "SET DEADLOCK_PRIORITY -5",
    "SET IMPLICIT_TRANSACTIONS OFF",
    "SET CONTEXT_INFO 0x1234",
    "SET FMTONLY ON",
    "SET SHOWPLAN_XML ON",
    "SET ANSI_NULL_DFLT_ON ON",
    "SET QUOTED_IDENTIFIER OFF",
];

const TRANSACTIONS: &[&str] = &[
    "BEGIN TRAN",
    "BEGIN TRANSACTION @name WITH MARK 'x'",
    "BEGIN DISTRIBUTED TRAN",
    "COMMIT",
    "COMMIT WORK",
    "COMMIT TRAN t WITH (DELAYED_DURABILITY = ON)",
    "COMMIT WITH (DELAYED_DURABILITY = OFF)",
    "ROLLBACK",
    "ROLLBACK TRANSACTION @s",
    "SAVE TRAN s",
];

const DECLARES: &[&str] = &[
    "DECLARE @a int = 1, @b AS nvarchar(max), @c sysname = N'x', @d dbo.MyType",
    "DECLARE @t TABLE (a int PRIMARY KEY, b int NOT NULL DEFAULT 0, INDEX i (b), CHECK (a > b))",
    "DECLARE @c CURSOR",
];

const TABLES: &[&str] = &[
    "CREATE TABLE dbo.t (id integer PRIMARY KEY CLUSTERED)",
    "CREATE TABLE t (a int IDENTITY, b varchar(25) COLLATE Latin1_General_BIN NOT NULL, c char(2) NULL)",
    "CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY NONCLUSTERED WITH (FILLFACTOR = 80) ON [PRIMARY])",
    "CREATE TABLE t (a int CONSTRAINT d DEFAULT (getdate()) WITH VALUES CHECK (a > 0), b AS (a + 1) PERSISTED NOT NULL UNIQUE)",
    "CREATE TABLE t (a int, b int, CONSTRAINT pk PRIMARY KEY (a DESC, b), UNIQUE CLUSTERED (b), \
     FOREIGN KEY (a, b) REFERENCES u (x, y) ON DELETE CASCADE ON UPDATE SET NULL NOT FOR REPLICATION)",
    "CREATE TABLE t (a int REFERENCES u, b uniqueidentifier ROWGUIDCOL DEFAULT newid(),)",
    "CREATE TABLE t (ID INT, INDEX C CLUSTERED COLUMNSTORE)",
    "CREATE TABLE #t (a int, b int INDEX ib UNIQUE, INDEX ia NONCLUSTERED (a, b DESC) INCLUDE (c) WHERE a > 1 WITH (FILLFACTOR = 50))",
    "CREATE TABLE t (d datetime) ON scheme (d) WITH (DATA_COMPRESSION = PAGE ON PARTITIONS (1, 3 TO 5))",
    "CREATE TABLE t (a varchar(max), timestamp) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]",
    "CREATE TABLE t (a int, s datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL, e datetime2 GENERATED ALWAYS AS ROW END, \
     PERIOD FOR SYSTEM_TIME (s, e)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))",
    "CREATE TABLE t (a int SPARSE, b varchar(9) MASKED WITH (FUNCTION = 'default()'), c xml(dbo.s), d int NOT NULL IDENTITY(-5, 2) NOT FOR REPLICATION)",
];

const ALTER_TABLES: &[&str] = &[
    "ALTER TABLE t ADD a int NOT NULL DEFAULT 0 WITH VALUES, b AS a + 1",
    "ALTER TABLE t WITH NOCHECK ADD CONSTRAINT c CHECK (a > 0), CONSTRAINT d DEFAULT 1 FOR b",
    "ALTER TABLE t DROP COLUMN IF EXISTS a, b, CONSTRAINT c WITH (ONLINE = ON)",
    "ALTER TABLE t DROP CONSTRAINT c",
    "ALTER TABLE t ALTER COLUMN a varchar(10) COLLATE Latin1_General_BIN NOT NULL WITH (ONLINE = ON)",
    "ALTER TABLE t ALTER COLUMN a ADD SPARSE",
    "ALTER TABLE t WITH CHECK CHECK CONSTRAINT ALL",
    "ALTER TABLE t NOCHECK CONSTRAINT a, b",
    "ALTER TABLE t DISABLE TRIGGER ALL",
    "ALTER TABLE t REBUILD PARTITION = ALL WITH (DATA_COMPRESSION = ROW)",
    "ALTER TABLE t SWITCH PARTITION 3 TO u PARTITION $PARTITION.f(1)",
    "ALTER TABLE t SET (LOCK_ESCALATION = AUTO)",
    "ALTER TABLE t ENABLE CHANGE_TRACKING WITH (TRACK_COLUMNS_UPDATED = ON)",
];

const INDEXES: &[&str] = &[
    "CREATE INDEX i ON dbo.t (a)",
    "CREATE UNIQUE CLUSTERED INDEX i ON t (a DESC, b ASC) WITH (DROP_EXISTING = ON, ONLINE = OFF) ON fg",
    "CREATE NONCLUSTERED INDEX i ON t (a) INCLUDE (b, c) WHERE a IS NOT NULL AND b > 1",
    "CREATE CLUSTERED COLUMNSTORE INDEX CCI ON t ORDER (a)",
    "CREATE NONCLUSTERED COLUMNSTORE INDEX i ON t (a, b) WITH (COMPRESSION_DELAY = 10 MINUTES)",
    "CREATE COLUMNSTORE INDEX i ON t (a)",
    "CREATE INDEX i ON t (a) WITH FILLFACTOR = 80, PAD_INDEX ON s (a)",
];

const ALTER_INDEXES: &[&str] = &[
    "ALTER INDEX ALL ON dbo.t REBUILD WITH (FILLFACTOR = 40)",
    "ALTER INDEX i ON t REORGANIZE PARTITION = 2 WITH (COMPRESS_ALL_ROW_GROUPS = ON)",
    "ALTER INDEX i ON t DISABLE",
    "ALTER INDEX i ON t SET (IGNORE_DUP_KEY = ON)",
    "ALTER INDEX i ON t REBUILD WITH (ONLINE = ON (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)))",
];

const DATABASES: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE DATABASE d ON PRIMARY (NAME = a, FILENAME = 'x.mdf', SIZE = 10 MB, MAXSIZE = UNLIMITED, FILEGROWTH = 10%), \
     FILEGROUP g DEFAULT (NAME = b, FILENAME = 'y.ndf') LOG ON (NAME = l, FILENAME = 'z.ldf', SIZE = 512KB) COLLATE Latin1_General_BIN",
    "CREATE DATABASE d ON (FILENAME = 'x') FOR ATTACH",
    "CREATE DATABASE s ON (NAME = a, FILENAME = 'x') AS SNAPSHOT OF d",
    "CREATE DATABASE d CONTAINMENT = PARTIAL WITH TRUSTWORTHY ON, DB_CHAINING ON",
];

const ALTER_DATABASES: &[&str] = &[
    "ALTER DATABASE CURRENT SET RECOVERY SIMPLE",
    "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE",
    "ALTER DATABASE d SET DELAYED_DURABILITY = ALLOWED WITH ROLLBACK AFTER 5 SECONDS",
    "ALTER DATABASE d SET ACCELERATED_DATABASE_RECOVERY = ON (PERSISTENT_VERSION_STORE_FILEGROUP = [g])",
    "ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = ON WITH ROLLBACK IMMEDIATE",
    "ALTER DATABASE d SET COMPATIBILITY_LEVEL = 150, SINGLE_USER WITH NO_WAIT",
    "ALTER DATABASE d SET RECOVERY FULL, PAGE_VERIFY CHECKSUM, TARGET_RECOVERY_TIME = 60 SECONDS",
    "ALTER DATABASE d SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE, CLEANUP_POLICY = (STALE_QUERY_THRESHOLD_DAYS = 30))",
    "ALTER DATABASE d SET READ_ONLY",
    "ALTER DATABASE d MODIFY NAME = e",
    "ALTER DATABASE d MODIFY FILE (NAME = a, SIZE = 20MB)",
    "ALTER DATABASE d ADD FILE (NAME = a, FILENAME = 'x') TO FILEGROUP g",
    "ALTER DATABASE d ADD LOG FILE (NAME = a, FILENAME = 'x')",
    "ALTER DATABASE d ADD FILEGROUP g CONTAINS MEMORY_OPTIMIZED_DATA",
    "ALTER DATABASE d REMOVE FILE a",
    "ALTER DATABASE d MODIFY FILEGROUP g DEFAULT",
    "ALTER DATABASE d COLLATE Latin1_General_BIN",
    "ALTER DATABASE SCOPED CONFIGURATION SET GHOST_CLEANUP_RULE = TRANSACTION",
    "ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET MAXDOP = 4",
    "ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE",
];

const DROPS: &[&str] = &[
    "DROP TABLE IF EXISTS dbo.t, #u",
    "DROP INDEX IF EXISTS i ON dbo.t, j ON u WITH (ONLINE = ON)",
    "DROP INDEX dbo.t.i, t.j",
    "DROP STATISTICS dbo.t.s",
    "DROP PROCEDURE IF EXISTS p",
    "DROP PROC dbo.p, dbo.q",
    "DROP VIEW v",
    "DROP FUNCTION IF EXISTS f",
    "DROP TRIGGER tr ON DATABASE",
    "DROP Database OltpDatabase",
    "DROP DATABASE IF EXISTS a, b",
    "DROP SCHEMA s",
    "DROP SEQUENCE IF EXISTS s",
    "DROP TYPE IF EXISTS dbo.t",
    "DROP SYNONYM s",
    "DROP PARTITION SCHEME s",
    "DROP PARTITION FUNCTION f",
    "DROP USER u",
    "DROP LOGIN l",
    "DROP ROLE r",
];

const DBCCS: &[&str] = &[
    "DBCC TRACEON (3604, -1)",
    "DBCC PAGE (db, 1, 499960, 3) WITH TABLERESULTS",
    "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)",
    "DBCC SQLPERF (\"sys.dm_os_wait_stats\", CLEAR) WITH NO_INFOMSGS",
    "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS",
    "DBCC FREESYSTEMCACHE('ALL')",
    "DBCC CHECKDB",
    "DBCC CHECKDB () WITH ALL_ERRORMSGS, NO_INFOMSGS",
    "DBCC CHECKDB ([a b], NOINDEX) WITH PHYSICAL_ONLY",
    "DBCC CHECKIDENT ('dbo.t', RESEED, @n)",
    "DBCC SHOW_STATISTICS (\"dbo.t\", i) WITH STAT_HEADER, HISTOGRAM",
];

const PERMISSIONS: &[&str] = &[
    "GRANT SELECT, UPDATE (a, b) ON dbo.t TO u, public WITH GRANT OPTION",
    "DENY EXECUTE ON OBJECT::dbo.p TO u CASCADE",
    "REVOKE GRANT OPTION FOR VIEW SERVER STATE FROM [a b]",
    "GRANT CONTROL ON SCHEMA::s TO u",
];

const OPAQUES: &[&str] = &[
    "BACKUP DATABASE d TO DISK = 'x' WITH INIT, COMPRESSION",
    "RESTORE DATABASE d FROM DISK = 'x' WITH MOVE 'a' TO 'b', REPLACE",
    "CREATE LOGIN l WITH PASSWORD = 'x', CHECK_POLICY = OFF",
    "CREATE USER u FOR LOGIN l WITH DEFAULT_SCHEMA = dbo",
    "ALTER ROLE db_owner ADD MEMBER u",
    "ALTER AUTHORIZATION ON SCHEMA::s TO u",
    "CREATE EVENT SESSION e ON SERVER ADD EVENT sqlserver.x (ACTION (a) WHERE (b > 1)) ADD TARGET t",
    "DROP EVENT SESSION e ON SERVER",
    "CREATE PRIMARY XML INDEX i ON t (x)",
    "BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b'",
    "WAITFOR (RECEIVE * FROM q), TIMEOUT 5",
];

const OTHERS: &[(&str, &str)] = &[
    ("Truncate", "TRUNCATE TABLE dbo.t WITH (PARTITIONS (1, 3 TO 5))"),
    ("BulkInsert", "BULK INSERT t FROM 'x' WITH (FIELDTERMINATOR = ',', ORDER (a DESC), TABLOCK)"),
    (
        "InsertBulk",
        "INSERT BULK t ([a] int, [b] nvarchar(10) COLLATE x NULL) WITH (TABLOCK, KEEP_NULLS)",
    ),
    ("SetVariable", "SET @a += (SELECT 1)"),
    ("SetVariable", "SET @c = CURSOR LOCAL FOR SELECT 1"),
    ("SetIsolation", "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"),
    ("SetIdentityInsert", "SET IDENTITY_INSERT dbo.t ON"),
    ("If", "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; ELSE SELECT 1"),
    ("While", "WHILE 1 = 1 BEGIN IF 2 = 2 BREAK; CONTINUE END"),
    ("Return Throw", "RETURN THROW"),
    ("Return", "RETURN (SELECT 1)"),
    ("Goto Label Select", "GOTO done done: SELECT 1"),
    ("Block", "BEGIN ; SELECT 1; ; END;"),
    ("TryCatch", "BEGIN TRY SELECT 1 END TRY BEGIN CATCH END CATCH"),
    ("Throw", "THROW 50001, 'text', 1"),
    ("Throw Select", "; THROW; SELECT 1"),
    ("RaiseError", "RAISERROR ('%d %s', 16, 1, @a, 'b') WITH NOWAIT, LOG, SETERROR"),
    ("RaiseError", "RAISERROR (50001, -1, @s)"),
    ("Print", "PRINT N'x' + @a"),
    ("ExecuteAs Revert", "EXECUTE AS USER = 'u' REVERT"),
    ("WaitFor WaitFor", "WAITFOR DELAY '00:00:01' WAITFOR TIME @t"),
    ("Use", "USE [a b]"),
    ("DeclareCursor", "DECLARE c INSENSITIVE SCROLL CURSOR FOR SELECT 1 FOR UPDATE OF a, b"),
    (
        "OpenCursor Fetch Fetch CloseCursor DeallocateCursor",
        "OPEN c FETCH NEXT FROM c INTO @a, @b FETCH ABSOLUTE -1 FROM @c CLOSE GLOBAL c DEALLOCATE c",
    ),
    (
        "CreateSchema",
        "CREATE SCHEMA s AUTHORIZATION dbo CREATE TABLE t (a int) GRANT SELECT ON t TO u",
    ),
    (
        "CreateStatistics UpdateStatistics",
        "CREATE STATISTICS s ON t (a, b) WHERE a > 1 WITH FULLSCAN, NORECOMPUTE UPDATE STATISTICS t (s) WITH SAMPLE 10 PERCENT",
    ),
    (
        "CreatePartitionFunction CreatePartitionScheme AlterPartitionFunction",
        "CREATE PARTITION FUNCTION f (datetime) AS RANGE RIGHT FOR VALUES ('20161231', '20170101') \
      CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY]) ALTER PARTITION FUNCTION f() SPLIT RANGE (5)",
    ),
    (
        "CreateType CreateType",
        "CREATE TYPE a FROM varchar(10) NOT NULL CREATE TYPE b AS TABLE (a int)",
    ),
    (
        "Sequence",
        "CREATE SEQUENCE s AS smallint START WITH 1 INCREMENT BY -1 NO MINVALUE CYCLE CACHE 600",
    ),
    ("Sequence", "ALTER SEQUENCE s RESTART WITH 5"),
    ("CreateSynonym", "CREATE SYNONYM dbo.s FOR srv.db.dbo.t"),
    ("SwitchTrigger", "DISABLE TRIGGER a, b ON DATABASE"),
    ("Checkpoint Checkpoint", "CHECKPOINT CHECKPOINT 10"),
    ("Kill", "KILL 51 WITH STATUSONLY"),
    ("Reconfigure", "RECONFIGURE WITH OVERRIDE"),
    ("Shutdown", "SHUTDOWN WITH NOWAIT"),
    ("AlterServerConfiguration", "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0 TO 3, 5"),
    ("AlterServerConfiguration", "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO"),
    (
        "Procedure",
        "CREATE OR ALTER PROC dbo.p (@a int = 1, @b nvarchar(9) = NULL OUTPUT, @t dbo.tt READONLY) \
      WITH RECOMPILE, EXECUTE AS OWNER AS SET NOCOUNT ON; SELECT 1; RETURN 2",
    ),
    ("Procedure", "ALTER PROCEDURE p @a int AS BEGIN SELECT 1 END"),
    (
        "View",
        "CREATE VIEW v (a) WITH SCHEMABINDING AS WITH c AS (SELECT 1 x) SELECT x FROM c WITH CHECK OPTION",
    ),
    (
        "Function",
        "CREATE FUNCTION f (@a int) RETURNS int WITH RETURNS NULL ON NULL INPUT AS BEGIN RETURN @a END",
    ),
    ("Function", "CREATE FUNCTION f () RETURNS TABLE AS RETURN (SELECT 1 a)"),
    (
        "Function",
        "CREATE FUNCTION f () RETURNS TABLE RETURN WITH c AS (SELECT 1 a) SELECT a FROM c",
    ),
    (
        "Function",
        "CREATE FUNCTION f () RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (1) RETURN END",
    ),
    (
        "Trigger",
        "CREATE TRIGGER tr ON t WITH EXECUTE AS SELF INSTEAD OF INSERT, UPDATE AS IF UPDATE(a) SELECT 1",
    ),
    ("Trigger", "CREATE TRIGGER tr ON DATABASE FOR CREATE_TABLE AS PRINT 'x'"),
];

#[test]
fn places_are_those_of_the_text() {
    let text = "\n  SELECT 1 ;\n-- x\nIF 1 = 1\n\tPRINT 'a';\nELSE PRINT 'b'\n";
    let all = statements(text);
    assert_eq!(all[0].span.of(ParsedText::whole(text)), "SELECT 1");
    assert_eq!(all[0].span.line, 2);
    assert_eq!(all[1].span.of(ParsedText::whole(text)), "IF 1 = 1\n\tPRINT 'a';\nELSE PRINT 'b'");
    let StatementKind::If(branch) = &all[1].kind else { panic!("an IF") };
    assert_eq!(branch.then.span.of(ParsedText::whole(text)), "PRINT 'a'");
    assert_eq!((branch.then.span.line, branch.condition.span.line), (5, 4));
}

#[test]
fn a_module_is_its_text() {
    let text = "-- before\nCREATE PROCEDURE p AS\nSELECT 1 -- inside\nSELECT 2;\n-- after";
    let all = statements(text);
    let StatementKind::Procedure(p) = &all[0].kind else { panic!("a procedure") };
    assert_eq!(p.body.len(), 2);
    assert!(
        all[0]
            .span
            .of(ParsedText::whole(text))
            .starts_with("CREATE PROCEDURE p AS\nSELECT 1 -- inside")
    );
    let text = "CREATE VIEW v AS SELECT 1 a WITH CHECK OPTION";
    let all = statements(text);
    let StatementKind::View(v) = &all[0].kind else { panic!("a view") };
    assert_eq!((v.query_span.of(ParsedText::whole(text)), v.check_option), ("SELECT 1 a", true));
}

#[test]
fn texts_of_definitions_parse_again() {
    let text = "CREATE TABLE t (a int DEFAULT (1 + 2), b AS (a * 2), CHECK ((a > 0) OR (b = 1)))";
    let StatementKind::CreateTable(t) = one(text) else { panic!("a table") };
    let default = t.definition.columns[0].default.as_ref().expect("it has one");
    assert_eq!(default.value.span.of(ParsedText::whole(text)), "(1 + 2)");
    let ColumnKind::Computed { expr, .. } = &t.definition.columns[1].kind else { panic!() };
    assert_eq!(expr.span.of(ParsedText::whole(text)), "(a * 2)");
    let ConstraintKind::Check { condition, .. } = &t.definition.constraints[0].kind else {
        panic!()
    };
    assert_eq!(condition.span.of(ParsedText::whole(text)), "(a > 0) OR (b = 1)");
    let again =
        tsql::parse_condition(condition.span.of(ParsedText::whole(text)), ParseOptions::default());
    assert!(
        matches!(again.expect("it parsed once").kind, ConditionKind::Or(parts) if parts.len() == 2)
    );
}

#[test]
fn pieces_parse_alone() {
    let p =
        tsql::parse_parameters("@a int, @b nvarchar(max) = N'x' output", ParseOptions::default());
    let p = p.expect("a list");
    assert_eq!((p.len(), p[1].output, &*p[1].name), (2, true, "@b"));
    assert_eq!(tsql::parse_parameters(" ", ParseOptions::default()).expect("none").len(), 0);
    let name = tsql::parse_object_name("[my db]..[a.b]").expect("a name");
    assert_eq!(
        (name.database.as_deref(), name.schema, &*name.object),
        (Some("my db"), None, "a.b")
    );
    let t = tsql::parse_type("numeric(38, 0)").expect("a type");
    assert_eq!(t.arguments, TypeArguments::Two(38, 0));
    assert!(tsql::parse_type("int x").is_err());
    assert!(tsql::parse_expression("1 2", ParseOptions::default()).is_err());
    assert!(tsql::parse_expression("'x", ParseOptions::default()).is_err());
}

#[test]
fn the_update_of_the_one_row_story() {
    let text = "UPDATE TOP (1) dbo.T WITH (TABLOCKX) SET @i = id = @i + 1;";
    let StatementKind::Update(u) = one(text) else { panic!("an update") };
    assert_eq!(u.target.hints[0].kind, TableHintKind::TableLockExclusive);
    let AssignmentKind::VariableColumn { variable, column, op, .. } = &u.assignments[0].kind else {
        panic!("{:?}", u.assignments)
    };
    assert_eq!((&**variable, column.to_string(), *op), ("@i", "id".into(), AssignOp::Set));
    let StatementKind::Transaction(c) = one("COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON)")
    else {
        panic!("a commit")
    };
    assert_eq!((c.verb, c.delayed_durability, c.name), (TransactionVerb::Commit, Some(true), None));
}

#[test]
fn a_script_of_many_kinds_parses_batch_by_batch() {
    let script = include_str!("script.sql");
    let parts = batches::split(script);
    assert_eq!(parts.len(), 9);
    for part in parts {
        let parsed = parse(part.text, ParseOptions::default());
        assert_eq!(parsed.errors, [], "batch at line {}", part.first_line);
        assert!(!parsed.batch.statements.is_empty());
    }
}
