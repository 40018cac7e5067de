SET NOCOUNT ON;
GO
-- An index in the order of its language answers as the table does.
CREATE TABLE x (id int IDENTITY PRIMARY KEY, a nvarchar(20) COLLATE Czech_CI_AS NOT NULL, b varchar(20) COLLATE Czech_CI_AS NOT NULL);
INSERT x (a, b) VALUES (N'cena', 'cena'), (N'chata', 'chata'), (N'CHLEBA', 'CHLEBA'), (N'čaj', N'čaj'), (N'duben', 'duben'), (N'had', 'had'), (N'hrad', 'hrad'), (N'iris', 'iris'), (N'co-op', 'co-op'), (N'coop', 'coop');
CREATE INDEX ia ON x (a);
CREATE UNIQUE INDEX ib ON x (b);
GO
SELECT a FROM x WITH (INDEX (ia)) WHERE a BETWEEN N'h' AND N'i' ORDER BY a;
SELECT a FROM x WITH (INDEX (1)) WHERE a BETWEEN N'h' AND N'i' ORDER BY a;
SELECT b FROM x WITH (INDEX (ib)) WHERE b > 'D' ORDER BY b DESC;
SELECT a FROM x WITH (INDEX (ia)) WHERE a = N'CHATA';
SELECT b FROM x WITH (INDEX (ib)) WHERE b IN ('ČAJ', 'Hrad', N'čaj', 'chleba') ORDER BY b;
SELECT COUNT(*) AS n FROM x WITH (INDEX (ia)) WHERE a LIKE N'h%';
SELECT COUNT(*) AS n FROM x WITH (INDEX (1)) WHERE a LIKE N'h%';
SELECT MIN(a) AS least, MAX(a) AS greatest FROM x;
SELECT p.a FROM x AS p JOIN x AS q ON p.a = UPPER(q.a) AND p.id <> 0 WHERE q.id < 4 ORDER BY p.a;
INSERT x (a, b) VALUES (N'z', 'ChAtA');
GO
INSERT x (a, b) SELECT a + CAST(n.value AS nvarchar(5)), b + CAST(n.value AS varchar(5)) FROM x CROSS JOIN GENERATE_SERIES(1, 300) AS n;
SELECT COUNT(*) AS n FROM x AS p WHERE EXISTS (SELECT * FROM x AS q WITH (INDEX (ib)) WHERE q.b = UPPER(p.b));
SELECT COUNT(*) AS n FROM (SELECT a, LAG(a) OVER (ORDER BY a) AS before FROM x WITH (INDEX (ia))) AS t WHERE before > a;
DBCC CHECKTABLE (x) WITH NO_INFOMSGS;
ALTER TABLE x ALTER COLUMN a nvarchar(20) COLLATE Latin1_General_100_CS_AS NOT NULL;
GO
DROP INDEX ia ON x;
ALTER TABLE x ALTER COLUMN a nvarchar(20) COLLATE Latin1_General_100_CS_AS NOT NULL;
CREATE INDEX ia ON x (a);
SELECT TOP (3) a FROM x WITH (INDEX (ia)) WHERE a LIKE N'c%' ORDER BY a;
SELECT COUNT(*) AS n FROM x WITH (INDEX (ia)) WHERE a = N'CHATA';
GO
