-- One index whose key only goes up: every session inserts at its right edge.
CREATE DATABASE OneEnd;
GO
ALTER DATABASE OneEnd SET DELAYED_DURABILITY = FORCED;
GO
USE OneEnd;
GO
CREATE TABLE dbo.Event
(
    EventId bigint IDENTITY NOT NULL,
    At datetime2 NOT NULL,
    Told char(60) NOT NULL,
    CONSTRAINT PK_Event PRIMARY KEY CLUSTERED (EventId)
);
GO
CREATE PROCEDURE dbo.AddAtEnd @count int
AS
BEGIN
    SET NOCOUNT ON;
    WHILE @count > 0
    BEGIN
        INSERT dbo.Event (At, Told) VALUES (SYSUTCDATETIME(), 'x');
        SET @count -= 1;
    END
END
GO
