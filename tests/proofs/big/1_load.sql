-- A table of 1 GB: 131,072 pages and more, seven rows a page.
CREATE DATABASE Big;
GO
USE Big;
GO
CREATE TABLE dbo.Big
(
    id integer NOT NULL CONSTRAINT PK_Big PRIMARY KEY CLUSTERED,
    spread integer NOT NULL,
    filler char(1000) NOT NULL
);
GO
SET NOCOUNT ON;

DECLARE
    @rows integer = 1;

INSERT dbo.Big (id, spread, filler) VALUES (0, 0, 'x');

WHILE @rows < 1048576
BEGIN
    INSERT dbo.Big WITH (TABLOCK) (id, spread, filler)
    SELECT
        B.id + @rows,
        CONVERT(integer, (CONVERT(bigint, B.id + @rows) * 7919) % 1048573),
        'x'
    FROM dbo.Big AS B WITH (TABLOCK)
    WHERE B.id < @rows AND B.id + @rows < 1048576;

    SET @rows *= 2;
END;

SELECT N'load', COUNT_BIG(*), MAX(B.id) FROM dbo.Big AS B;
GO
SELECT N'pages', S.page_count, S.index_depth
FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'dbo.Big', 'U'), 1, NULL, 'LIMITED') AS S;
GO
CHECKPOINT;
GO
