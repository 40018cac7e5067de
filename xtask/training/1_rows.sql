-- What a release build is guided by: rows put, changed and removed one by one and in sets.
ALTER DATABASE WritePath SET DELAYED_DURABILITY = FORCED;
GO
USE WritePath;
SET NOCOUNT ON;
GO
EXEC dbo.AddPersons 60000;
GO
EXEC sp_flush_log;
GO
ALTER DATABASE WritePath SET DELAYED_DURABILITY = DISABLED;
GO
EXEC dbo.AddPersons 25000;
GO
CREATE TABLE dbo.Account
(
    AccountId int NOT NULL PRIMARY KEY,
    Owner nvarchar(40) NOT NULL,
    Balance decimal(12, 2) NOT NULL,
    Opened datetime2(3) NOT NULL,
    Note varchar(200) NULL,
    INDEX Account_Owner NONCLUSTERED (Owner)
);
GO
INSERT dbo.Account (AccountId, Owner, Balance, Opened, Note)
SELECT PersonId, FamilyName + ' ' + GivenName, PersonId % 1000, DATEADD(second, PersonId, '2020-01-01'),
    CASE WHEN PersonId % 3 = 0 THEN REPLICATE('n', PersonId % 50) END
FROM dbo.Person WHERE PersonId <= 40000;
GO
DECLARE @n int = 0, @id int, @balance decimal(12, 2);
WHILE @n < 6000
BEGIN
    SET @n += 1;
    SET @id = 1 + @n * 7919 % 40000;
    BEGIN TRANSACTION;
    SELECT @balance = Balance FROM dbo.Account WHERE AccountId = @id;
    UPDATE dbo.Account SET Balance = Balance + 1, Note = CONCAT('turn ', @n) WHERE AccountId = @id;
    IF @n % 100 = 0 ROLLBACK ELSE COMMIT WITH (DELAYED_DURABILITY = ON);
END
GO
UPDATE dbo.Account SET Owner = UPPER(Owner) WHERE AccountId % 5 = 0;
DELETE dbo.Account WHERE AccountId % 11 = 0;
GO
ALTER DATABASE WritePath SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE;
GO
UPDATE dbo.Account SET Balance *= 1.01 WHERE AccountId % 3 = 0;
MERGE dbo.Account AS t
USING (SELECT PersonId, FamilyName FROM dbo.Person WHERE PersonId BETWEEN 39000 AND 42000) AS s
ON t.AccountId = s.PersonId
WHEN MATCHED THEN UPDATE SET Note = s.FamilyName
WHEN NOT MATCHED THEN INSERT (AccountId, Owner, Balance, Opened)
    VALUES (s.PersonId, s.FamilyName, 0, SYSUTCDATETIME());
GO
CREATE INDEX Account_Opened ON dbo.Account (Opened) INCLUDE (Balance);
ALTER INDEX ALL ON dbo.Person REBUILD;
CHECKPOINT;
GO
