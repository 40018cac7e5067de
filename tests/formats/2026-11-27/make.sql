-- What a folder of tests/formats holds. Run by the build that the folder is of.
SET NOCOUNT ON
GO
CREATE DATABASE kept
GO
USE kept
GO
CREATE SCHEMA s
GO
CREATE TYPE dbo.Phone FROM varchar(20) NOT NULL
GO
CREATE TYPE dbo.Pairs AS TABLE (a int PRIMARY KEY, b nvarchar(10))
GO
CREATE SEQUENCE dbo.Numbers AS int START WITH 10 INCREMENT BY 5
GO
CREATE TABLE dbo.EveryType (
    id int NOT NULL CONSTRAINT pk_EveryType PRIMARY KEY,
    c_bit bit, c_tinyint tinyint, c_smallint smallint, c_bigint bigint,
    c_decimal decimal(38, 10), c_numeric numeric(9, 2), c_money money, c_smallmoney smallmoney,
    c_float float, c_real real,
    c_date date, c_time0 time(0), c_time7 time(7), c_datetime datetime, c_smalldatetime smalldatetime,
    c_datetime2 datetime2(7), c_datetime2_3 datetime2(3), c_offset datetimeoffset(7),
    c_char char(10), c_varchar varchar(30), c_nchar nchar(10), c_nvarchar nvarchar(30),
    c_binary binary(6), c_varbinary varbinary(20), c_guid uniqueidentifier,
    c_variant sql_variant, c_xml xml, c_version rowversion, c_phone dbo.Phone,
    c_varcharmax varchar(max), c_nvarcharmax nvarchar(max), c_varbinarymax varbinary(max),
    c_text text, c_ntext ntext, c_image image,
    c_greek varchar(20) COLLATE Latin1_General_BIN2,
    c_sum AS id + c_smallint PERSISTED, c_now AS CAST(c_bigint AS decimal(38)) * 2,
    c_default int DEFAULT 7, c_check int CONSTRAINT ck_EveryType CHECK (c_check > 0))
GO
INSERT dbo.EveryType (id, c_bit, c_tinyint, c_smallint, c_bigint, c_decimal, c_numeric, c_money, c_smallmoney, c_float, c_real,
    c_date, c_time0, c_time7, c_datetime, c_smalldatetime, c_datetime2, c_datetime2_3, c_offset, c_char, c_varchar, c_nchar,
    c_nvarchar, c_binary, c_varbinary, c_guid, c_variant, c_xml, c_phone, c_varcharmax, c_nvarcharmax, c_varbinarymax,
    c_text, c_ntext, c_image, c_greek, c_check)
VALUES (1, 1, 255, -32768, 9223372036854775807, 1234567890123456789012345678.0123456789, -1234567.89, 922337203685477.5807, -214748.3648,
    1.5e300, -2.5e-30, '0001-01-01', '23:59:59', '23:59:59.9999999', '9999-12-31T23:59:59.997', '2079-06-06T23:59:00',
    '9999-12-31T23:59:59.9999999', '1753-01-01T00:00:00.001', '2026-11-27T03:00:00.1234567+05:30', 'abc', 'Grüße', N'日本', N'Ελληνικά 🙂',
    0x010203, 0xFFEE, '6F9619FF-8B86-D011-B42D-00C04FC964FF', CAST(CAST(12.50 AS decimal(9, 2)) AS sql_variant), '<a b="1"><c>text</c></a>', '555-1234',
    REPLICATE(CAST('v' AS varchar(max)), 20000), REPLICATE(CAST(N'ñ' AS nvarchar(max)), 9000), CAST(REPLICATE(CAST('b' AS varchar(max)), 30000) AS varbinary(max)),
    REPLICATE(CAST('t' AS varchar(max)), 12000), N'short', 0x00FF00, 'abc', 5),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '2000-02-29', '00:00', '00:00', '1900-01-01', '1900-01-01', '1900-01-01', '1900-01-01', '1900-01-01T00:00:00-14:00',
    '', '', N'', N'', 0x, 0x, '00000000-0000-0000-0000-000000000000', CAST(N'variant' AS sql_variant), '', '0', '', N'', 0x, '', N'', 0x, '', 1)
GO
CREATE TABLE dbo.Heap (a int, b varchar(3000))
GO
WITH n AS (SELECT TOP (2000) ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS i FROM sys.all_columns a CROSS JOIN sys.all_columns b)
INSERT dbo.Heap SELECT i, REPLICATE('h', i % 50) FROM n
GO
CREATE INDEX ix_Heap ON dbo.Heap (a DESC) INCLUDE (b)
GO
-- Rows that outgrow their pages are forwarded; others are gone.
UPDATE dbo.Heap SET b = REPLICATE('f', 2500) WHERE a % 100 = 0
DELETE dbo.Heap WHERE a % 7 = 0
GO
CREATE TABLE dbo.Ordered_rows (k int NOT NULL, r int NOT NULL, v nvarchar(100), d date, f decimal(9, 2),
    CONSTRAINT pk_Ordered_rows PRIMARY KEY CLUSTERED (k, r DESC))
GO
WITH n AS (SELECT TOP (3000) ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS i FROM sys.all_columns a CROSS JOIN sys.all_columns b)
INSERT dbo.Ordered_rows SELECT i / 10, i % 10, CONCAT(N'row ', i), DATEADD(DAY, i, '2020-01-01'), i / 3.0 FROM n
GO
CREATE UNIQUE INDEX ix_unique ON dbo.Ordered_rows (v)
CREATE INDEX ix_filtered ON dbo.Ordered_rows (d) INCLUDE (f) WHERE f > 500
CREATE INDEX ix_disabled ON dbo.Ordered_rows (f)
ALTER INDEX ix_disabled ON dbo.Ordered_rows DISABLE
GO
CREATE TABLE dbo.NotUnique (a int, b char(200))
CREATE CLUSTERED INDEX cx ON dbo.NotUnique (a) WITH (FILLFACTOR = 60)
GO
WITH n AS (SELECT TOP (1500) ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS i FROM sys.all_columns a CROSS JOIN sys.all_columns b)
INSERT dbo.NotUnique SELECT i % 5, CONCAT('n', i) FROM n
GO
CREATE TABLE s.Child (id int IDENTITY (100, 3) PRIMARY KEY, k int NOT NULL, r int NOT NULL, note varchar(max),
    FOREIGN KEY (k, r) REFERENCES dbo.Ordered_rows (k, r) ON DELETE CASCADE)
GO
INSERT s.Child (k, r, note) SELECT k, r, REPLICATE(CAST('x' AS varchar(max)), 10 + k * 100) FROM dbo.Ordered_rows WHERE k < 100 AND r = 0
GO
CREATE STATISTICS st ON dbo.Ordered_rows (d, f)
GO
-- A table whose columns came and went.
CREATE TABLE dbo.Altered (a int, b varchar(10), c int)
INSERT dbo.Altered VALUES (1, 'one', 1), (2, 'two', 2)
GO
ALTER TABLE dbo.Altered DROP COLUMN c
ALTER TABLE dbo.Altered ADD d int NOT NULL DEFAULT 42
ALTER TABLE dbo.Altered ALTER COLUMN b varchar(400)
INSERT dbo.Altered (a, b) VALUES (3, REPLICATE('three', 60))
GO
CREATE TABLE dbo.Wide (id int PRIMARY KEY, a varchar(5000), b varchar(5000), c nvarchar(3000))
INSERT dbo.Wide VALUES (1, REPLICATE('a', 5000), REPLICATE('b', 5000), REPLICATE(N'c', 3000)), (2, 'a', 'b', N'c')
GO
CREATE VIEW s.Few AS SELECT k, r, v FROM dbo.Ordered_rows WHERE k < 3
GO
CREATE FUNCTION dbo.Twice (@n int) RETURNS int AS BEGIN RETURN @n * 2 END
GO
CREATE FUNCTION dbo.First_rows (@n int) RETURNS TABLE AS RETURN SELECT TOP (@n) k, r FROM dbo.Ordered_rows ORDER BY k, r
GO
CREATE FUNCTION dbo.Filled (@n int) RETURNS @t TABLE (a int PRIMARY KEY, b AS a * 1.5) AS BEGIN INSERT @t (a) VALUES (@n), (@n + 1) RETURN END
GO
CREATE PROCEDURE s.Add_child @k int, @count int OUTPUT AS
BEGIN
    INSERT s.Child (k, r, note) VALUES (@k, 0, 'by procedure')
    SELECT @count = COUNT(*) FROM s.Child
END
GO
CREATE TABLE dbo.Audit (what varchar(20), n int)
GO
CREATE TRIGGER s.tr_Child ON s.Child AFTER INSERT, DELETE AS
INSERT dbo.Audit SELECT 'changed', (SELECT COUNT(*) FROM inserted) + (SELECT COUNT(*) FROM deleted)
GO
CREATE SYNONYM dbo.Kids FOR s.Child
GO
EXEC sp_addextendedproperty N'MS_Description', N'kept by every build', N'SCHEMA', N'dbo', N'TABLE', N'Heap'
GO
SELECT NEXT VALUE FOR dbo.Numbers AS first_number
GO
CREATE DATABASE versions
GO
ALTER DATABASE versions SET READ_COMMITTED_SNAPSHOT ON
ALTER DATABASE versions SET ALLOW_SNAPSHOT_ISOLATION ON
GO
USE versions
GO
CREATE TABLE dbo.Row_versions (id int PRIMARY KEY, n int, pad char(100))
CREATE TABLE dbo.Heap_versions (id int, n int)
CREATE INDEX ix_n ON dbo.Row_versions (n)
GO
WITH n AS (SELECT TOP (1000) ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS i FROM sys.all_columns a CROSS JOIN sys.all_columns b)
INSERT dbo.Row_versions SELECT i, i, 'v' FROM n
INSERT dbo.Heap_versions SELECT id, n FROM dbo.Row_versions
GO
UPDATE dbo.Row_versions SET n = n + 10000 WHERE id % 3 = 0
DELETE dbo.Row_versions WHERE id % 11 = 0
UPDATE dbo.Heap_versions SET n = -n WHERE id % 5 = 0
GO
CREATE DATABASE options
GO
ALTER DATABASE options SET RECOVERY SIMPLE
ALTER DATABASE options SET DELAYED_DURABILITY = ALLOWED
ALTER DATABASE options SET RECURSIVE_TRIGGERS ON
ALTER DATABASE options SET AUTO_CREATE_STATISTICS OFF
ALTER DATABASE options SET TARGET_RECOVERY_TIME = 30 SECONDS
ALTER DATABASE options SET COMPATIBILITY_LEVEL = 140
GO
USE options
GO
ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 3
GO
CREATE TABLE dbo.t (a int)
INSERT dbo.t VALUES (1)
GO
