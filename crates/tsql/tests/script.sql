USE master

IF DB_ID('Shop') IS NOT NULL
    DROP Database Shop

GO
CREATE DATABASE Shop
go
USE Shop
CREATE TABLE Buyer
(
    BuyerId   int IDENTITY,
    LastName  varchar(25) NOT NULL,
    Born      date NOT NULL,
    Phone     varchar(16) NULL
)
GO
CREATE UNIQUE CLUSTERED INDEX PK_Buyer ON Buyer (BuyerId)
GO
CREATE PROCEDURE FillBuyers @Rows int
AS
BEGIN
    SET NOCOUNT ON

    WHILE @Rows > 0
    BEGIN
        INSERT INTO Buyer
        (
            LastName, Born, Phone
        )
        VALUES
        (
            'LN' + CAST(CAST((10000 * RAND()) AS int) AS varchar(max)),
            DATEADD(day, CAST((-10000 * RAND()) AS int), GETUTCDATE()),
            'P' + CAST(CAST((10 * RAND()) AS int) AS varchar(max))
        )

        SET @Rows -= 1
    END
END
GO
EXEC FillBuyers 1000

SELECT
    [level] = S.index_level,
    [used %] = FORMAT(S.avg_page_space_used_in_percent, 'N4')
FROM sys.dm_db_index_physical_stats
(
    DB_ID(),
    OBJECT_ID(N'dbo.Buyer', 'U'),
    1,      -- index id
    NULL,   -- partition
    'DETAILED'
) AS S
ORDER BY
    S.index_level;
GO
WITH waits
AS (SELECT wait_type,
    CAST(wait_time_ms / 1000. AS DECIMAL(12, 2)) AS [wait_s],
    CAST(100. * wait_time_ms / SUM(wait_time_ms) OVER () AS decimal(12,2)) AS [percentage]
    FROM sys.dm_os_wait_stats WITH (NOLOCK)
    WHERE wait_type NOT IN (N'A', N'B')),
running
AS (SELECT *,
    SUM([percentage]) OVER(ORDER BY [percentage] DESC ROWS UNBOUNDED PRECEDING) AS [sum]
    FROM waits)
SELECT wait_type FROM running WHERE [sum] - [percentage] <= 99 ORDER BY [sum] OPTION (RECOMPILE);
GO
CREATE OR ALTER PROCEDURE
dbo.Counted AS
BEGIN
SET NOCOUNT ON;
SELECT ca.cnt
FROM Buyer b
OUTER APPLY
(
	SELECT COUNT(DISTINCT LastName)
	FROM Buyer
	WHERE BuyerId > b.BuyerId
) ca (cnt)
OPTION (MIN_GRANT_PERCENT = 2.5)
END;
GO
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
-- stays open
BEGIN TRANSACTION;
    SELECT COUNT_BIG(*) FROM dbo.Buyer AS B;
UPDATE Buyer
SET Phone = Phone + '1'
GO 100
