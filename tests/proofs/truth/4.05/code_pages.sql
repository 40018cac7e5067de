SET NOCOUNT ON;
GO
-- varchar is in the code page of its collation.
CREATE TABLE p (
    latin varchar(20) COLLATE Latin1_General_CI_AS,
    cyrillic varchar(20) COLLATE Cyrillic_General_CI_AS,
    greek varchar(20) COLLATE Greek_CI_AS,
    polish varchar(20) COLLATE Polish_CI_AS,
    japanese varchar(20) COLLATE Japanese_CI_AS,
    chinese varchar(20) COLLATE Chinese_PRC_CI_AS,
    dos varchar(20) COLLATE SQL_Latin1_General_CP850_CI_AS);
DECLARE @t nvarchar(20) = N'é Ж ł 日';
INSERT p VALUES (@t, @t, N'αβγ Ж', @t, N'é Ж 日', N'é Ж 日', N'é Ж');
SELECT * FROM p;
SELECT CAST(cyrillic AS varbinary(20)) AS cyrillic, CAST(greek AS varbinary(20)) AS greek,
    CAST(polish AS varbinary(20)) AS polish, CAST(japanese AS varbinary(20)) AS japanese,
    CAST(dos AS varbinary(20)) AS dos FROM p;
-- One in the other's page.
UPDATE p SET latin = cyrillic, greek = japanese;
SELECT latin, greek FROM p;
SELECT CAST(cyrillic AS nvarchar(20)) AS wide, cyrillic + N'!' AS sum, UNICODE(SUBSTRING(cyrillic, 3, 1)) AS code,
    ASCII(SUBSTRING(cyrillic, 3, 1)) AS byte FROM p;
-- COLLATE takes the characters into the page, as far as it has them.
SELECT kept, kept COLLATE Latin1_General_CI_AS AS gone, CAST(N'Жук' AS varchar(10)) AS lost
FROM (SELECT CAST(N'Жук' COLLATE Cyrillic_General_CI_AS AS varchar(10)) AS kept) AS t;
-- A literal is in the database's page.
UPDATE p SET cyrillic = 'Жук';
SELECT cyrillic FROM p;
UPDATE p SET cyrillic = N'Жук', japanese = N'東京タワー';
SELECT cyrillic, UPPER(cyrillic) AS u, LOWER(cyrillic) AS l, REVERSE(cyrillic) AS r, REPLACE(cyrillic, N'у', N'о') AS x,
    LEN(japanese) AS n, DATALENGTH(japanese) AS bytes, LEFT(japanese, 2) AS two, CHARINDEX(N'タ', japanese) AS at,
    SUBSTRING(japanese, 3, 2) AS part FROM p;
SELECT COUNT(*) AS n FROM p WHERE cyrillic = N'жУК';
SELECT COUNT(*) AS n FROM p WHERE cyrillic LIKE N'Ж_к' AND japanese LIKE N'東_%ワ[ー]' AND cyrillic LIKE N'%[а-я]к';
GO
-- So long in bytes as the column says.
CREATE TABLE s (j varchar(4) COLLATE Japanese_CI_AS);
INSERT s VALUES (N'東京');
INSERT s VALUES (N'東京都');
GO
SELECT j FROM s;
SELECT CAST(N'東京都' COLLATE Japanese_CI_AS AS varchar(5)) AS cut, CAST(N'東' COLLATE Japanese_CI_AS AS char(4)) + '|' AS filled;
GO
CREATE DATABASE rus COLLATE Cyrillic_General_CI_AS;
GO
USE rus;
DECLARE @v varchar(20) = 'Привет';
SELECT @v AS v, CAST(@v AS varbinary(20)) AS bytes, UPPER(@v) AS u, CHAR(198) AS c, ASCII('Ж') AS a, N'Ж' + 'ж' AS w;
SELECT CASE WHEN 'ПРИВЕТ' = @v THEN 'same' ELSE 'other' END AS c, PATINDEX('%в_т', @v) AS at, STUFF(@v, 1, 3, 'от') AS s;
PRINT @v;
SELECT CAST('не число' AS int);
GO
