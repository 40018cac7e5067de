-- What the table consists of.
SELECT
    S.index_level,
    S.page_count,
    CONVERT(varchar(10), FORMAT(S.avg_page_space_used_in_percent, 'N4')),
    S.avg_record_size_in_bytes,
    S.record_count,
    S.ghost_record_count,
    S.version_record_count,
    S.version_ghost_record_count
FROM sys.dm_db_index_physical_stats
(
    DB_ID(),
    OBJECT_ID(N'dbo.Counter', 'U'),
    1,
    NULL,
    'DETAILED'
) AS S
ORDER BY
    S.index_level;
GO
