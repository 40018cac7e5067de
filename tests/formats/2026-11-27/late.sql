-- What the killed folder has besides: changes behind the last checkpoint.
SET NOCOUNT ON
USE versions
CHECKPOINT
GO
DELETE dbo.Row_versions WHERE id % 13 = 0
UPDATE dbo.Row_versions SET n = n + 1 WHERE id % 2 = 0
DELETE dbo.Heap_versions WHERE id % 9 = 0
GO
USE kept
CHECKPOINT
GO
DELETE dbo.Heap WHERE a % 11 = 0
UPDATE dbo.EveryType SET c_varcharmax = REPLICATE(CAST('z' AS varchar(max)), 40000), c_varchar = 'late' WHERE id = 3
INSERT dbo.NotUnique SELECT 9, CONCAT('late', a) FROM dbo.Heap WHERE a < 300
CREATE TABLE dbo.Late (a int PRIMARY KEY, b varchar(max))
INSERT dbo.Late SELECT a, REPLICATE(CAST('l' AS varchar(max)), a * 10) FROM dbo.Heap WHERE a < 200
DELETE s.Child WHERE id % 2 = 0
GO
