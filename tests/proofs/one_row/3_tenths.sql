-- The same 123,450 transactions by tenths; a row for each: its number and its microseconds.
SET NOCOUNT, XACT_ABORT ON;

DECLARE
    @n integer = 0,
    @tenth integer = 0,
    @start datetime2(7);

WHILE @tenth < 10
BEGIN
    SET @tenth += 1;
    SET @start = SYSDATETIME();

    WHILE @n < @tenth * 12345
    BEGIN
        BEGIN TRANSACTION;

        UPDATE TOP (1)
            dbo.Counter WITH (TABLOCKX)
        SET @n = id = @n + 1;

        COMMIT TRANSACTION
            WITH (DELAYED_DURABILITY = ON);
    END;

    SELECT N'tenth', @tenth, DATEDIFF(microsecond, @start, SYSDATETIME());
END;
GO
