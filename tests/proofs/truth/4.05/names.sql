SET NOCOUNT ON;
GO
-- The names are SQL Server's: 5,508 of them, 77 of SQL sort orders.
SELECT COUNT(*) AS names, SUM(CASE WHEN name LIKE 'SQL[_]%' THEN 1 ELSE 0 END) AS sql_names,
    SUM(CASE WHEN name LIKE '%[_]UTF8' THEN 1 ELSE 0 END) AS utf8,
    SUM(CASE WHEN name LIKE '%[_]SC' THEN 1 ELSE 0 END) AS sc,
    SUM(CASE WHEN name LIKE '%VSS%' THEN 1 ELSE 0 END) AS vss,
    COUNT(DISTINCT name) AS different
FROM sys.fn_helpcollations();
-- The page of the function has this as its example.
SELECT name, description FROM fn_helpcollations()
WHERE name LIKE 'L%' AND description LIKE '% binary sort' ORDER BY name;
SELECT name, description FROM sys.fn_helpcollations()
WHERE name IN ('SQL_Latin1_General_CP1_CI_AS', 'Turkish_CS_AI_KS', 'Chinese_PRC_90_CI_AS_SC',
    'SQL_Latin1_General_CP437_BIN2', 'Latin1_General_100_CI_AS_KS_WS_SC_UTF8') ORDER BY name;
SELECT TOP (4) name FROM sys.fn_helpcollations() WHERE name LIKE 'Japanese_XJIS_140%';
GO
SELECT n, CAST(COLLATIONPROPERTY(n, 'CodePage') AS int) AS page,
    CAST(COLLATIONPROPERTY(n, 'LCID') AS int) AS lcid,
    CAST(COLLATIONPROPERTY(n, 'ComparisonStyle') AS int) AS style,
    CAST(COLLATIONPROPERTY(n, 'Version') AS int) AS version
FROM (VALUES (N'Traditional_Spanish_CS_AS_KS_WS'), (N'Latin1_General_CI_AS'), (N'Greek_100_CI_AI'),
    (N'Chinese_PRC_Stroke_CI_AS'), (N'German_PhoneBook_CI_AS'), (N'Japanese_XJIS_140_CI_AS'),
    (N'Latin1_General_100_CI_AS_SC_UTF8'), (N'SQL_Polish_CP1250_CS_AS'), (N'Thai_BIN2'),
    (N'Klingon_CI_AS')) AS t (n);
SELECT SERVERPROPERTY('Collation') AS c, SERVERPROPERTY('SqlSortOrder') AS o,
    SERVERPROPERTY('SqlCharSetName') AS s, SERVERPROPERTY('LCID') AS l;
GO
SELECT 'a' COLLATE Klingon_CI_AS;
GO
CREATE TABLE t (a varchar(10) COLLATE Latin1_General_CI);
GO
-- What is Unicode alone has no varchar.
CREATE TABLE t (a varchar(10) COLLATE Indic_General_100_CI_AS);
GO
CREATE TABLE t (a nvarchar(10) COLLATE Indic_General_100_CI_AS, b varchar(10) COLLATE Thai_CI_AS,
    c char(3) COLLATE sql_hungarian_cp1250_ci_as);
SELECT name, collation_name FROM sys.columns WHERE object_id = OBJECT_ID('t') ORDER BY column_id;
GO
CREATE DATABASE polska COLLATE Polish_100_CI_AS;
GO
SELECT name, collation_name FROM sys.databases WHERE name = 'polska';
SELECT DATABASEPROPERTYEX('polska', 'Collation') AS c;
GO
USE polska;
CREATE TABLE k (a varchar(10));
INSERT k VALUES ('łan'), ('lasso'), ('mama'), ('lubin'), ('ŁAN');
SELECT a, ASCII(a) AS code FROM k ORDER BY a, code;
SELECT COUNT(*) AS n FROM k WHERE a = 'Łan';
SELECT collation_name FROM sys.columns WHERE object_id = OBJECT_ID('k');
GO
