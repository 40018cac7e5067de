-- Three tables whose rows come in different places, each with a procedure that adds some.
IF DB_ID(N'FillFactors') IS NOT NULL
    DROP DATABASE FillFactors;
GO
CREATE DATABASE FillFactors;
GO
ALTER DATABASE FillFactors SET DELAYED_DURABILITY = FORCED;
GO
USE FillFactors;
GO
-- In the order of its clustered key, in no order of its five others.
CREATE TABLE dbo.AllOver
(
    PersonId int IDENTITY NOT NULL,
    FamilyName varchar(25) NOT NULL,
    GivenName varchar(20) NOT NULL,
    IsMember bit NOT NULL,
    Born date NOT NULL,
    Street varchar(48) NOT NULL,
    Town varchar(30) NOT NULL,
    PostCode varchar(10) NOT NULL,
    Country char(2) NOT NULL,
    Phone varchar(16) NULL,
    Mail varchar(48) NULL
);
CREATE UNIQUE CLUSTERED INDEX AllOver_Id ON dbo.AllOver (PersonId) WITH (FILLFACTOR = AUTO);
CREATE INDEX AllOver_Name ON dbo.AllOver (FamilyName, GivenName) WITH (FILLFACTOR = AUTO);
CREATE INDEX AllOver_Born ON dbo.AllOver (Born) WITH (FILLFACTOR = AUTO);
CREATE INDEX AllOver_Place ON dbo.AllOver (Country, Town) WITH (FILLFACTOR = AUTO);
CREATE INDEX AllOver_Phone ON dbo.AllOver (Phone) WITH (FILLFACTOR = AUTO);
CREATE INDEX AllOver_Mail ON dbo.AllOver (Mail) WITH (FILLFACTOR = AUTO);
GO
CREATE PROCEDURE dbo.AddAllOver @count int, @early bit
AS
BEGIN
    SET NOCOUNT ON;
    WHILE @count > 0
    BEGIN
        INSERT dbo.AllOver (FamilyName, GivenName, IsMember, Born, Street, Town, PostCode, Country, Phone, Mail)
        VALUES
        (
            'LN' + CAST(CAST(10000 * RAND() AS int) AS varchar(max)),
            'FN' + CAST(CAST(10000 * RAND() AS int) AS varchar(max)),
            CAST(2 * RAND() AS bit),
            DATEADD(day, CAST(-10000 * RAND() AS int), GETUTCDATE()),
            'SA' + CAST(CAST(10000000 * RAND() AS int) AS varchar(max)),
            'CI' + CAST(CAST(100 * RAND() AS int) AS varchar(max)),
            'PC' + CAST(CAST(1000 * RAND() AS int) AS varchar(max)),
            'C' + CAST(CAST(10 * RAND() AS int) AS varchar(max)),
            'PN' + CAST(CAST(10000000 * RAND() AS int) AS varchar(max)),
            'EM' + CAST(CAST(10000000 * RAND() AS int) AS varchar(max))
        );
        SET @count -= 1;
    END
END
GO
-- In the order of all its indexes.
CREATE TABLE dbo.InOrder
(
    EventId bigint IDENTITY NOT NULL,
    At datetime2 NOT NULL,
    Told char(60) NOT NULL
);
CREATE UNIQUE CLUSTERED INDEX InOrder_Id ON dbo.InOrder (EventId) WITH (FILLFACTOR = AUTO);
CREATE INDEX InOrder_At ON dbo.InOrder (At) WITH (FILLFACTOR = AUTO);
GO
CREATE PROCEDURE dbo.AddInOrder @count int, @early bit
AS
BEGIN
    SET NOCOUNT ON;
    WHILE @count > 0
    BEGIN
        INSERT dbo.InOrder (At, Told) VALUES (SYSUTCDATETIME(), 'x');
        SET @count -= 1;
    END
END
GO
-- The early ones all over, the others within a hundredth of both indexes' keys.
CREATE TABLE dbo.OnePlace
(
    Place int NOT NULL,
    Tag int NOT NULL,
    Told char(60) NOT NULL
);
CREATE CLUSTERED INDEX OnePlace_Place ON dbo.OnePlace (Place) WITH (FILLFACTOR = AUTO);
CREATE INDEX OnePlace_Tag ON dbo.OnePlace (Tag) WITH (FILLFACTOR = AUTO);
GO
CREATE PROCEDURE dbo.AddOnePlace @count int, @early bit
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @from int = CASE @early WHEN 1 THEN 0 ELSE 600000000 END;
    DECLARE @width int = CASE @early WHEN 1 THEN 1000000000 ELSE 10000000 END;
    WHILE @count > 0
    BEGIN
        INSERT dbo.OnePlace (Place, Tag, Told) VALUES (@from + @width * RAND(), @from + @width * RAND(), 'x');
        SET @count -= 1;
    END
END
GO
