-- What 10,000 transactions of one row write to the log.
USE WritePath;
GO
DECLARE @before TABLE (file_id int, num_of_writes bigint, num_of_bytes_written bigint);
INSERT @before SELECT file_id, num_of_writes, num_of_bytes_written FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL);
EXEC dbo.AddPersons 10000;
SELECT 'files', now.num_of_writes - old.num_of_writes, now.num_of_bytes_written - old.num_of_bytes_written
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS now
JOIN @before AS old ON old.file_id = now.file_id
WHERE now.file_id = 2;
GO
