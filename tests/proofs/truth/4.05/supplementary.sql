SET NOCOUNT ON;
GO
-- Without _SC a pair is two characters, with it one.
DECLARE @t nvarchar(10) = N'a😀b';
SELECT LEN(@t COLLATE Latin1_General_CI_AS) AS without, LEN(@t COLLATE Latin1_General_100_CI_AS_SC) AS sc,
    DATALENGTH(@t) AS bytes, LEN(@t COLLATE Japanese_XJIS_140_CI_AS) AS v140;
SELECT UNICODE(SUBSTRING(@t COLLATE Latin1_General_100_CI_AS, 2, 1)) AS without,
    UNICODE(SUBSTRING(@t COLLATE Latin1_General_100_CI_AS_SC, 2, 1)) AS sc;
SELECT LEFT(@t COLLATE Latin1_General_100_CI_AS_SC, 2) AS l, RIGHT(@t COLLATE Latin1_General_100_CI_AS_SC, 2) AS r,
    REVERSE(@t COLLATE Latin1_General_100_CI_AS_SC) AS v, STUFF(@t COLLATE Latin1_General_100_CI_AS_SC, 2, 1, N'-') AS s,
    CHARINDEX(N'b', @t COLLATE Latin1_General_100_CI_AS_SC) AS at, CHARINDEX(N'b', @t COLLATE Latin1_General_100_CI_AS) AS at_without;
SELECT CASE WHEN @t COLLATE Latin1_General_100_CI_AS_SC LIKE N'a_b' THEN 1 ELSE 0 END AS sc,
    CASE WHEN @t COLLATE Latin1_General_100_CI_AS LIKE N'a_b' THEN 1 ELSE 0 END AS without,
    CASE WHEN @t COLLATE Latin1_General_100_CI_AS LIKE N'a__b' THEN 1 ELSE 0 END AS two,
    PATINDEX(N'%b', @t COLLATE Latin1_General_100_CI_AS_SC) AS at;
SELECT NCHAR(128512) AS none;
GO
CREATE DATABASE pairs COLLATE Latin1_General_100_CI_AS_SC;
GO
USE pairs;
SELECT NCHAR(128512) AS face, UNICODE(NCHAR(128512)) AS code, LEN(NCHAR(128512)) AS n, UNICODE(N'😀') AS u;
SELECT REPLACE(N'a😀b', N'😀', N'x') AS r, TRANSLATE(N'a😀b', N'😀b', N'12') AS t, TRIM(N'😀' FROM N'😀a😀') AS tr;
GO
