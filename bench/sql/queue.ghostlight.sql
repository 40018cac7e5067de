CREATE TABLE queue (id bigint IDENTITY NOT NULL PRIMARY KEY CLUSTERED,
    producer int NOT NULL, n int NOT NULL, body char(60) NOT NULL);
GO
CREATE PROCEDURE produce @producer int, @from int, @count int AS
SET NOCOUNT ON;
DECLARE @n int = @from, @to int = @from + @count;
WHILE @n < @to
BEGIN
    INSERT queue (producer, n, body) VALUES (@producer, @n, 'x');
    SET @n += 1;
END
GO
CREATE PROCEDURE consume @count int AS
SET NOCOUNT ON;
DECLARE @n int = 0;
WHILE @n < @count
BEGIN
    DELETE TOP (1) queue WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) OUTPUT deleted.*;
    IF @@ROWCOUNT = 0 RETURN;
    SET @n += 1;
END
GO
