-- In what order the leaves of each index lie, and how full they are.
USE WritePath;
GO
SELECT 'order', i.index_id, CAST(s.avg_fragmentation_in_percent * 100 AS int),
    CAST(s.avg_page_space_used_in_percent * 100 AS int), s.page_count, s.record_count
FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'dbo.Person'), NULL, NULL, 'DETAILED') AS s
JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id
WHERE s.index_level = 0
ORDER BY i.index_id;
GO
