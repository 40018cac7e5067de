-- One row, changed 123,456 times.
--
-- Each change gives the row a new key: the old record becomes a ghost and a new one is inserted
-- beside it. An engine that leaves such ghosts to a cleaner grows by hundreds of pages here, and
-- each change is slower than the one before. Here whoever deletes a row also clears it away when
-- the transaction commits, so at the end the table is what it should be: one row on one page.

-- A database of its own: master allows snapshots, so that its rows carry 14 bytes for a version.
USE master;
DROP DATABASE IF EXISTS OneRow;
CREATE DATABASE OneRow;
GO
USE OneRow;
ALTER DATABASE CURRENT
    SET DELAYED_DURABILITY = ALLOWED;
GO
CREATE TABLE dbo.Counter (id integer PRIMARY KEY CLUSTERED);
INSERT dbo.Counter (id) VALUES (0);
GO
CHECKPOINT;
GO
SET NOCOUNT, XACT_ABORT ON;

DECLARE
    @n integer = 0;

-- A transaction for each change; delayed durability spares each its own wait for the disk.
WHILE @n < 123456
BEGIN
    BEGIN TRANSACTION;

    UPDATE TOP (1)
        dbo.Counter WITH (TABLOCKX)
    SET @n = id = @n + 1;

    COMMIT TRANSACTION
        WITH (DELAYED_DURABILITY = ON);
END;
GO
-- What the table consists of now: level 0, 1 page, 0.1359 % used by a record of 11 bytes.
SELECT
    [level] = S.index_level,
    [pages] = S.page_count,
    [used %] = CONVERT(varchar(10), FORMAT(S.avg_page_space_used_in_percent, 'N4')),
    [record bytes] = S.avg_record_size_in_bytes,
    [rows] = S.record_count,
    [ghosts] = S.ghost_record_count,
    [versions] = S.version_record_count,
    [ghost versions] = S.version_ghost_record_count
FROM sys.dm_db_index_physical_stats
(
    DB_ID(),
    OBJECT_ID(N'dbo.Counter', 'U'),
    1,          -- the clustered index
    NULL,       -- every partition
    'DETAILED'
) AS S
ORDER BY
    S.index_level;
