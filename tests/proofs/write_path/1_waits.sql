-- What 100,000 transactions of one row waited for, idle waits of background threads left out.
USE WritePath;
GO
DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR) WITH NO_INFOMSGS;
GO
EXEC dbo.AddPersons 100000;
GO
WITH waits AS
(
    SELECT wait_type, wait_time_ms, signal_wait_time_ms, waiting_tasks_count,
        100. * wait_time_ms / SUM(wait_time_ms) OVER () AS share,
        ROW_NUMBER() OVER (ORDER BY wait_time_ms DESC) AS place
    FROM sys.dm_os_wait_stats
    WHERE wait_type NOT IN (N'LAZYWRITER_SLEEP', N'SLEEP_TASK', N'SLEEP_SYSTEMTASK', N'WAITFOR', N'LOGMGR_QUEUE',
        N'CHECKPOINT_QUEUE', N'REQUEST_FOR_DEADLOCK_SEARCH', N'DISPATCHER_QUEUE_SEMAPHORE', N'ONDEMAND_TASK_QUEUE',
        N'SLEEP_BPOOL_FLUSH', N'SLEEP_DBSTARTUP', N'DIRTY_PAGE_POLL')
)
SELECT 'waits', wait_type, waiting_tasks_count, CAST(share AS decimal(5, 1)),
    CAST((wait_time_ms - signal_wait_time_ms) / waiting_tasks_count AS decimal(14, 4))
FROM waits WHERE place = 1;
GO
