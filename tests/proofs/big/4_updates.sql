-- 20,000 rows, drawn all over the table, are changed one by one.
USE Big;
GO
ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED;
GO
SET NOCOUNT, XACT_ABORT ON;

DECLARE
    @n integer = 0,
    @id bigint = 1;

WHILE @n < 20000
BEGIN
    SET @n += 1;
    SET @id = (@id * 48271) % 2147483647;

    BEGIN TRANSACTION;
    UPDATE dbo.Big SET filler = 'y' WHERE id = @id % 1048576;
    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;

SELECT N'updates', COUNT_BIG(*), 0 FROM dbo.Big AS B WHERE B.filler = 'y';
GO
