-- An index over the whole table, its order unlike the table's.
USE Big;
GO
SET NOCOUNT ON;
CREATE NONCLUSTERED INDEX IX_Big_spread ON dbo.Big (spread);
GO
SELECT N'index', COUNT_BIG(*), SUM(CONVERT(bigint, B.spread))
FROM dbo.Big AS B
WHERE B.spread BETWEEN 0 AND 999;
GO
