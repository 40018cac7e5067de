-- The whole table, wide rows too, in another order.
USE Big;
GO
SET NOCOUNT ON;
SELECT N'order', MAX(O.place), COUNT_BIG(*)
FROM
(
    SELECT
        place = ROW_NUMBER() OVER (ORDER BY B.filler, B.spread, B.id),
        B.filler
    FROM dbo.Big AS B
) AS O
WHERE O.filler <> 'z';
GO
