-- A large table to watch recovery with: AdventureWorks_dbi and dbo.bigTransactionHistory.
--
-- Its shape and indexes are those of the table of that name which many people add to the sample
-- database AdventureWorks: about 31 million sales of 25,200 products, in the order of their dates.
-- How many rows are made here says @rows: five million take about 300 MB with their index.

USE master;
DROP DATABASE IF EXISTS AdventureWorks_dbi;
CREATE DATABASE AdventureWorks_dbi;
ALTER DATABASE AdventureWorks_dbi SET RECOVERY SIMPLE;
GO
USE AdventureWorks_dbi;
CREATE TABLE dbo.bigTransactionHistory
(
    TransactionID int NOT NULL CONSTRAINT pk_bigTransactionHistory PRIMARY KEY CLUSTERED,
    ProductID int NOT NULL,
    TransactionDate datetime NULL,
    Quantity int NULL,
    ActualCost money NULL
);
GO
SET NOCOUNT ON;

DECLARE
    @rows integer = 5000000,
    @from integer = 1,
    @to integer;

-- A million rows a transaction: the log is used again, however many there are.
WHILE @from <= @rows
BEGIN
    SET @to = IIF(@rows - @from < 1000000, @rows, @from + 999999);

    INSERT dbo.bigTransactionHistory (TransactionID, ProductID, TransactionDate, Quantity, ActualCost)
    SELECT
        S.value,
        1001 + CAST(S.value AS bigint) * 7919 % 25200,
        DATEADD(day, CAST(S.value AS bigint) * 2048 / @rows, CAST('20050101' AS datetime)),
        1 + S.value % 97,
        (1 + S.value % 97) * CAST(S.value % 3571 AS money)
    FROM GENERATE_SERIES(@from, @to) AS S;

    SET @from = @to + 1;
END;
GO
CREATE NONCLUSTERED INDEX IX_ProductId_TransactionDate
    ON dbo.bigTransactionHistory (ProductID, TransactionDate)
    INCLUDE (Quantity, ActualCost);
CHECKPOINT;
GO
-- What there is now.
SELECT
    [index] = I.name,
    [level] = S.index_level,
    [pages] = S.page_count,
    [rows] = S.record_count,
    [record bytes] = S.avg_record_size_in_bytes
FROM sys.dm_db_index_physical_stats
(
    DB_ID(),
    OBJECT_ID(N'dbo.bigTransactionHistory', 'U'),
    NULL,       -- both indexes
    NULL,       -- every partition
    'DETAILED'
) AS S
JOIN sys.indexes AS I
    ON I.object_id = S.object_id
    AND I.index_id = S.index_id
ORDER BY
    I.index_id,
    S.index_level;
