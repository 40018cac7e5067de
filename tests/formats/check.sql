-- Whether a folder of tests/formats is as the build that made it left it, and can be used on.
SET NOCOUNT ON
SELECT name, state_desc, is_read_committed_snapshot_on AS rcsi, snapshot_isolation_state AS si, recovery_model_desc AS model,
    compatibility_level AS level, is_recursive_triggers_on AS rt, is_auto_create_stats_on AS acs, delayed_durability_desc AS dd,
    target_recovery_time_in_seconds AS trt
FROM sys.databases WHERE database_id > 4 ORDER BY name
GO
USE kept
GO
SELECT c_bit, c_tinyint, c_smallint, c_bigint, c_decimal, c_numeric, c_money, c_smallmoney, c_float, c_real FROM dbo.EveryType ORDER BY id
SELECT c_date, c_time0, c_time7, c_datetime, c_smalldatetime, c_datetime2, c_datetime2_3, c_offset FROM dbo.EveryType ORDER BY id
SELECT c_char, c_varchar, c_nchar, c_nvarchar, c_binary, c_varbinary, c_guid FROM dbo.EveryType ORDER BY id
SELECT c_variant, SQL_VARIANT_PROPERTY(c_variant, 'BaseType') AS base, CAST(c_xml AS nvarchar(100)) AS x, c_phone, c_greek, c_sum, c_now, c_default, c_check,
    CASE WHEN c_version > 0x0 THEN 1 ELSE 0 END AS versioned FROM dbo.EveryType ORDER BY id
SELECT DATALENGTH(c_varcharmax) AS l1, DATALENGTH(c_nvarcharmax) AS l2, DATALENGTH(c_varbinarymax) AS l3, DATALENGTH(c_text) AS l4,
    DATALENGTH(c_ntext) AS l5, DATALENGTH(c_image) AS l6,
    CONVERT(varchar(16), HASHBYTES('MD5', c_varcharmax), 2) AS h1, CONVERT(varchar(16), HASHBYTES('MD5', c_nvarcharmax), 2) AS h2,
    CONVERT(varchar(16), HASHBYTES('MD5', c_varbinarymax), 2) AS h3,
    CONVERT(varchar(16), HASHBYTES('MD5', CAST(c_text AS varchar(max))), 2) AS h4 FROM dbo.EveryType ORDER BY id
GO
SELECT COUNT(*) AS n, SUM(a) AS a, SUM(LEN(b)) AS b FROM dbo.Heap
SELECT COUNT(*) AS n, SUM(a) AS a, SUM(LEN(b)) AS b FROM dbo.Heap WITH (INDEX (ix_Heap))
SELECT COUNT(*) AS n, SUM(k * 10 + r) AS kr, COUNT(DISTINCT v) AS v, MIN(d) AS first_day, MAX(d) AS last_day, SUM(f) AS f FROM dbo.Ordered_rows
SELECT k, r, v, d, f FROM dbo.Ordered_rows WHERE v = N'row 1234'
SELECT COUNT(*) AS n, SUM(f) AS f FROM dbo.Ordered_rows WITH (INDEX (ix_filtered)) WHERE f > 500
SELECT name, type_desc, is_unique, has_filter, is_disabled, fill_factor FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.Ordered_rows') ORDER BY index_id
SELECT a, COUNT(*) AS n, MAX(b) AS b FROM dbo.NotUnique GROUP BY a ORDER BY a
SELECT COUNT(*) AS n, MIN(id) AS first_id, MAX(id) AS last_id, SUM(DATALENGTH(note)) AS note FROM s.Child
SELECT a, b, d FROM dbo.Altered ORDER BY a
SELECT id, LEN(a) AS a, LEN(b) AS b, LEN(c) AS c FROM dbo.Wide ORDER BY id
SELECT COUNT(*) AS n FROM s.Few
SELECT dbo.Twice(21) AS twice
SELECT k, r FROM dbo.First_rows(3)
SELECT a, b FROM dbo.Filled(4) ORDER BY a
SELECT value FROM fn_listextendedproperty(NULL, 'SCHEMA', 'dbo', 'TABLE', 'Heap', NULL, NULL)
SELECT name FROM sys.stats WHERE object_id = OBJECT_ID('dbo.Ordered_rows') AND user_created = 1
GO
ALTER INDEX ix_disabled ON dbo.Ordered_rows REBUILD
GO
-- It goes on: rows come, change and go, by modules, too.
DECLARE @count int
EXEC s.Add_child @k = 7, @count = @count OUTPUT
SELECT @count AS children, NEXT VALUE FOR dbo.Numbers AS number
SELECT TOP (1) what, n FROM dbo.Audit ORDER BY n DESC
INSERT dbo.EveryType (id, c_varcharmax, c_phone) VALUES (1000, REPLICATE(CAST('w' AS varchar(max)), 50000), '')
UPDATE dbo.EveryType SET c_nvarcharmax = N'new', c_smallint = 1 WHERE id = 1
UPDATE dbo.Heap SET b = REPLICATE('g', 2900) WHERE a % 50 = 1
DELETE dbo.Ordered_rows WHERE k BETWEEN 50 AND 60
INSERT dbo.NotUnique SELECT a, b FROM dbo.NotUnique
SELECT (SELECT COUNT(*) FROM dbo.Heap) AS heap, (SELECT COUNT(*) FROM dbo.Ordered_rows WITH (INDEX (ix_disabled))) AS ordered_rows,
    (SELECT COUNT(*) FROM s.Child) AS child, (SELECT COUNT(*) FROM dbo.NotUnique) AS not_unique
INSERT dbo.EveryType (id, c_phone, c_check) VALUES (1001, '', -1)
GO
USE versions
GO
SELECT COUNT(*) AS n, SUM(n) AS s, MAX(n) AS m FROM dbo.Row_versions
SELECT COUNT(*) AS n, SUM(n) AS s, MAX(n) AS m FROM dbo.Row_versions WITH (INDEX (ix_n))
SELECT COUNT(*) AS n, SUM(n) AS s FROM dbo.Heap_versions
UPDATE dbo.Row_versions SET n = n + 1
DELETE dbo.Heap_versions WHERE id % 2 = 0
SET TRANSACTION ISOLATION LEVEL SNAPSHOT
BEGIN TRAN
SELECT COUNT(*) AS n, SUM(n) AS s FROM dbo.Row_versions
SELECT COUNT(*) AS n, SUM(n) AS s FROM dbo.Heap_versions
COMMIT
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
GO
USE options
GO
SELECT a FROM dbo.t
SELECT name, value FROM sys.database_scoped_configurations WHERE name = 'MAXDOP'
GO
DBCC CHECKDB (master) WITH NO_INFOMSGS
DBCC CHECKDB (model) WITH NO_INFOMSGS
DBCC CHECKDB (msdb) WITH NO_INFOMSGS
DBCC CHECKDB (kept) WITH NO_INFOMSGS
DBCC CHECKDB (versions) WITH NO_INFOMSGS
DBCC CHECKDB (options) WITH NO_INFOMSGS
GO
