-- The records of 100,000 transactions of one row, which an open transaction keeps in the log.
USE WritePath;
GO
CHECKPOINT;
GO
-- From the first record of the last block, as blocks are summed whole: the checkpoint's begin and end may share one.
DECLARE @from nvarchar(25) = (SELECT '0x' + LEFT(MAX([Current LSN]), 18) + '0001' FROM fn_dblog(NULL, NULL));
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
SELECT 'all', SUM(CAST([Log Record Length] AS bigint)),
    (SELECT SUM(record_bytes) FROM sys.dm_db_log_blocks(@from, NULL)),
    (SELECT SUM(block_bytes) FROM sys.dm_db_log_blocks(@from, NULL))
FROM fn_dblog(@from, NULL);
GO
