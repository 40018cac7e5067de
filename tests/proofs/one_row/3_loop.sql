-- 123,456 transactions, each gives the row a new key.
SET NOCOUNT, XACT_ABORT ON;

DECLARE
    @n integer = 0;

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
