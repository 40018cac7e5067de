-- A table whose rows come in the order of its clustered key and in no order of its five others.
CREATE DATABASE WritePath;
GO
USE WritePath;
GO
CREATE TABLE dbo.Person
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
CREATE UNIQUE CLUSTERED INDEX Person_Id ON dbo.Person (PersonId);
CREATE INDEX Person_Name ON dbo.Person (FamilyName, GivenName);
CREATE INDEX Person_Born ON dbo.Person (Born);
CREATE INDEX Person_Place ON dbo.Person (Country, Town);
CREATE INDEX Person_Phone ON dbo.Person (Phone);
CREATE INDEX Person_Mail ON dbo.Person (Mail);
GO
CREATE PROCEDURE dbo.AddPersons @count int
AS
BEGIN
    SET NOCOUNT ON;
    WHILE @count > 0
    BEGIN
        INSERT dbo.Person (FamilyName, GivenName, IsMember, Born, Street, Town, PostCode, Country, Phone, Mail)
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
