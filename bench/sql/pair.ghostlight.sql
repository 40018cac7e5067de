CREATE TABLE a (id int NOT NULL PRIMARY KEY, v int NOT NULL, filler char(80));
CREATE TABLE b (id int NOT NULL PRIMARY KEY, v int NOT NULL, filler char(80));
INSERT a SELECT TOP (10000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), 0, ''
FROM master..spt_values x CROSS JOIN master..spt_values y;
INSERT b SELECT id, 0, '' FROM a;
GO
CREATE PROCEDURE update_a @n int AS
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < @n BEGIN UPDATE a SET v += 1 WHERE id = 1 + @i % 10000; SET @i += 1; END
GO
CREATE PROCEDURE update_b @n int AS
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < @n BEGIN UPDATE b SET v += 1 WHERE id = 1 + @i % 10000; SET @i += 1; END
GO
