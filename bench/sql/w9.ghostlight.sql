CREATE TABLE tb_branches (bid int NOT NULL PRIMARY KEY, bbalance int, filler char(88));
CREATE TABLE tb_tellers (tid int NOT NULL PRIMARY KEY, bid int, tbalance int, filler char(84));
CREATE TABLE tb_accounts (aid int NOT NULL PRIMARY KEY, bid int, abalance int, filler char(84));
CREATE TABLE tb_history (tid int, bid int, aid int, delta int, mtime datetime2, filler char(22));
GO
INSERT tb_accounts
SELECT TOP (1000000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), 0, 0, ''
FROM master..spt_values x CROSS JOIN master..spt_values y;
UPDATE tb_accounts SET bid = (aid - 1) / 100000 + 1;
INSERT tb_branches SELECT aid, 0, '' FROM tb_accounts WHERE aid <= 10;
INSERT tb_tellers SELECT aid, (aid - 1) / 10 + 1, 0, '' FROM tb_accounts WHERE aid <= 100;
GO
CREATE PROCEDURE tpcb AS
SET NOCOUNT ON;
DECLARE @a int = 1 + 1000000 * RAND(), @b int = 1 + 10 * RAND(), @t int = 1 + 100 * RAND(),
        @d int = 10001 * RAND() - 5000, @x int;
BEGIN TRANSACTION;
UPDATE tb_accounts SET abalance += @d WHERE aid = @a;
SELECT @x = abalance FROM tb_accounts WHERE aid = @a;
UPDATE tb_tellers SET tbalance += @d WHERE tid = @t;
UPDATE tb_branches SET bbalance += @d WHERE bid = @b;
INSERT tb_history (tid, bid, aid, delta, mtime) VALUES (@t, @b, @a, @d, SYSDATETIME());
COMMIT TRANSACTION;
GO
CREATE PROCEDURE tpcb_loop @n int AS
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < @n BEGIN EXEC tpcb; SET @i += 1; END
GO
