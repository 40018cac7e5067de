USE versions
GO
BEGIN TRAN
UPDATE dbo.Row_versions SET n = -1 WHERE id < 200
DELETE dbo.Heap_versions WHERE id > 900
WAITFOR DELAY '00:05:00'
GO
