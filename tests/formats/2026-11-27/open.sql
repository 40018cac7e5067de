-- A transaction that never ends.
USE kept
GO
BEGIN TRAN
UPDATE dbo.Ordered_rows SET f = f + 1 WHERE k < 100
DELETE dbo.Heap WHERE a > 1900
INSERT dbo.Late VALUES (100000, REPLICATE(CAST('never' AS varchar(max)), 9000))
CREATE TABLE dbo.Never (a int)
UPDATE dbo.EveryType SET c_varcharmax = 'never' WHERE id = 1
WAITFOR DELAY '00:05:00'
GO
