SET NOCOUNT ON;
GO
CREATE TABLE u (a varchar(10) COLLATE Latin1_General_100_CI_AS_SC_UTF8, b char(4) COLLATE Latin1_General_100_BIN2_UTF8);
INSERT u VALUES (N'é日😀', N'é');
SELECT a, CAST(a AS varbinary(20)) AS bytes, LEN(a) AS chars, DATALENGTH(a) AS datalength, b + '|' AS b, CAST(b AS varbinary(4)) AS bb FROM u;
SELECT LEFT(a, 2) AS l, RIGHT(a, 1) AS r, SUBSTRING(a, 2, 1) AS s, REVERSE(a) AS v, UPPER(a) AS u, CHARINDEX(N'😀', a) AS at,
    UNICODE(RIGHT(a, 1)) AS code, STUFF(a, 2, 1, N'ж') AS st, REPLACE(a, N'É', 'e') AS re FROM u;
SELECT COUNT(*) AS n FROM u WHERE a = N'É日😀';
SELECT COUNT(*) AS n FROM u WHERE a LIKE N'_日_' AND a LIKE '%😀' COLLATE Latin1_General_100_CI_AS_SC_UTF8 OR a LIKE N'[é]日%';
-- varchar(10) is ten bytes.
INSERT u (a) VALUES (N'日本語か');
GO
INSERT u (a) VALUES (N'日本語'), ('plain'), (N'ZÉ'), (N'ze');
SELECT a FROM u WHERE a IS NOT NULL ORDER BY a;
SELECT a, CAST(a AS nvarchar(10)) AS wide, CAST(CAST(a AS nvarchar(10)) AS varchar(10)) AS again FROM u WHERE a LIKE N'日%';
SELECT CAST(N'日本語' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(7)) AS cut;
SELECT CAST(COLLATIONPROPERTY('Latin1_General_100_CI_AS_SC_UTF8', 'CodePage') AS int) AS page;
GO
CREATE DATABASE eight COLLATE Latin1_General_100_CI_AI_SC_UTF8;
GO
USE eight;
DECLARE @v varchar(30) = 'Ελλάδα 日本';
SELECT @v AS v, LEN(@v) AS n, DATALENGTH(@v) AS bytes, @v + ' é' AS s;
CREATE TABLE k (a varchar(30) CONSTRAINT pk_k PRIMARY KEY);
INSERT k VALUES ('żóraw'), ('日本'), ('ελλάδα');
INSERT k VALUES ('ZORAW');
GO
INSERT k VALUES ('Zóraw');
GO
SELECT a FROM k ORDER BY a;
SELECT a FROM k WHERE a = 'ΕΛΛΑΔΑ';
GO
