-- 123,455 transactions, each gives the row a new key; the row itself is the 123,456th record.
SET NOCOUNT, XACT_ABORT ON;
SET STATISTICS XML OFF;

DECLARE
    @i integer = 1;

WHILE @i < 123456
BEGIN
    BEGIN TRANSACTION;

    UPDATE TOP (1)
        dbo.Counter WITH (TABLOCKX)
    SET @i = id = @i + 1;

    COMMIT TRANSACTION
        WITH (DELAYED_DURABILITY = ON);
END;
GO
