-- As many groups as rows, with wide keys.
USE Big;
GO
SET NOCOUNT ON;
SELECT N'group', COUNT_BIG(*), MAX(G.n)
FROM
(
    SELECT B.spread, B.filler, n = COUNT_BIG(*)
    FROM dbo.Big AS B
    GROUP BY B.spread, B.filler
) AS G;
GO
