-- The records of 100,000 transactions of one row, which an open transaction keeps in the log.
USE WritePath;
GO
CHECKPOINT;
GO
DECLARE @from nvarchar(25) = (SELECT '0x' + MAX([Current LSN]) FROM fn_dblog(NULL, NULL));
EXEC dbo.AddPersons 100000;
SELECT 'records', CASE Context WHEN 'LCX_CLUSTERED' THEN 1 ELSE 5 END, COUNT_BIG(*),
    SUM(CAST([Log Record Length] AS bigint)), SUM(CAST([Log Reserve] AS bigint))
FROM fn_dblog(@from, NULL)
WHERE Operation = 'LOP_INSERT_ROWS' AND Context IN ('LCX_CLUSTERED', 'LCX_INDEX_LEAF') AND [Num Elements] = 1
GROUP BY Context;
SELECT 'splits', COUNT_BIG(*), COUNT(DISTINCT AllocUnitName)
FROM fn_dblog(@from, NULL)
WHERE Operation = 'LOP_DELETE_SPLIT';
SELECT 'of index', COUNT_BIG(*), AllocUnitName
FROM fn_dblog(@from, NULL)
WHERE Operation = 'LOP_DELETE_SPLIT'
GROUP BY Context, AllocUnitName
ORDER BY 2 DESC;
-- What works in the background writes a record now and then: sums that one came between are taken again.
DECLARE @before bigint = -1, @after bigint = 0, @records bigint, @blocks bigint, @rounds int = 0;
WHILE @before <> @after AND @rounds < 10
BEGIN
    SET @rounds += 1;
    SELECT @before = SUM(record_bytes) FROM sys.dm_db_log_blocks(@from, NULL);
    SELECT @records = SUM(CAST([Log Record Length] AS bigint)) FROM fn_dblog(@from, NULL);
    SELECT @after = SUM(record_bytes), @blocks = SUM(block_bytes) FROM sys.dm_db_log_blocks(@from, NULL);
END
SELECT 'all', @records, @after, @blocks;
GO
