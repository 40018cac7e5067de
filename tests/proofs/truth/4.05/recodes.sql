SET NOCOUNT ON;
GO
-- Wherever two code pages meet, characters stay what they are.
CREATE TABLE r (c varchar(20) COLLATE Cyrillic_General_CI_AS, e varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8, n nvarchar(20));
INSERT r VALUES (N'Жук', N'жаба', N'ёж');
SELECT CASE WHEN n = N'ёж' THEN c COLLATE Cyrillic_General_CI_AS ELSE e END AS x, COALESCE(NULL, c COLLATE Latin1_General_100_CI_AS_SC_UTF8) AS y,
    IIF(1 = 0, c, N'нет') AS z, ISNULL(e, 'x') AS i FROM r;
SELECT c COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS x FROM r UNION ALL SELECT e FROM r UNION ALL SELECT 'plain' ORDER BY x;
SELECT c + '!' AS a, e + ' ' + (c COLLATE Latin1_General_100_CI_AS_SC_UTF8) AS b, CONCAT(c COLLATE Cyrillic_General_CI_AS, '-', e, '-', n) AS c FROM r;
SELECT STRING_AGG(c, ' и ') AS a, STRING_AGG(c, N' и ') AS b FROM (SELECT c FROM r UNION ALL SELECT c FROM r) AS t;
SELECT CASE WHEN c = N'ЖУК' THEN 1 ELSE 0 END AS wide, CASE WHEN c = e COLLATE Cyrillic_General_CI_AS THEN 1 ELSE 0 END AS other,
    CASE WHEN e COLLATE Cyrillic_General_CI_AS LIKE c COLLATE Cyrillic_General_CI_AS THEN 1 ELSE 0 END AS liked FROM r;
-- Through variables, which are in the database's page, and past them.
DECLARE @v varchar(20), @n nvarchar(20);
SELECT @v = c, @n = c FROM r;
SELECT @v AS v, @n AS n;
DECLARE @t TABLE (c varchar(20) COLLATE Cyrillic_General_CI_AS);
INSERT @t SELECT e FROM r;
INSERT @t EXEC (N'SELECT c FROM r UNION ALL SELECT N''Волк''');
SELECT c, CAST(c AS varbinary(10)) AS bytes FROM @t ORDER BY c;
SELECT CAST(CAST(c AS sql_variant) AS nvarchar(20)) AS v, SQL_VARIANT_PROPERTY(CAST(c AS sql_variant), 'Collation') AS p FROM r;
GO
CREATE PROCEDURE say @w nvarchar(20), @x nvarchar(40) OUTPUT AS SELECT @x = @w + N' ' + c FROM r;
GO
DECLARE @o nvarchar(40); EXEC say N'это', @o OUTPUT; SELECT @o AS o;
GO
DECLARE z CURSOR FOR SELECT c, e FROM r; DECLARE @a nvarchar(20), @b nvarchar(20);
OPEN z; FETCH z INTO @a, @b; CLOSE z; DEALLOCATE z; SELECT @a AS a, @b AS b;
SELECT (SELECT c, e FROM r FOR JSON PATH) AS j, (SELECT c, e FROM r FOR XML PATH('r')) AS x;
SELECT value FROM r CROSS APPLY STRING_SPLIT(c, N'у');
SELECT c, QUOTENAME(c) AS q, SUBSTRING(c, 2, 9) AS s, LTRIM(N' ' + c) AS l FROM r WHERE PATINDEX(N'%[т-ф]к', c) = 2;
GO
-- A column that gets another collation keeps its characters, and those that its page has not are lost.
ALTER TABLE r ALTER COLUMN c varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8;
SELECT c, DATALENGTH(c) AS bytes, LEN(c) AS n FROM r;
ALTER TABLE r ALTER COLUMN c varchar(20) COLLATE Greek_CI_AS;
SELECT c, DATALENGTH(c) AS bytes FROM r;
SELECT e INTO s FROM r;
SELECT c.collation_name, s.e FROM s CROSS JOIN sys.columns AS c WHERE c.object_id = OBJECT_ID('s');
GO
