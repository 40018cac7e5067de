-- And rows read: scans, searches, joins, groups, sorts, windows, texts and dates.
USE WritePath;
SET NOCOUNT ON;
GO
SELECT COUNT(*), SUM(Balance), AVG(Balance), MIN(Owner), MAX(Opened) FROM dbo.Account;
SELECT COUNT(*) FROM dbo.Person WHERE Mail LIKE 'EM12%' OR Street LIKE '%77';
SELECT Country, Town, COUNT(*) AS people, MAX(Born) FROM dbo.Person GROUP BY Country, Town ORDER BY people DESC;
SELECT TOP (100) p.FamilyName, a.Balance FROM dbo.Person AS p JOIN dbo.Account AS a ON a.AccountId = p.PersonId
WHERE p.Country = 'C3' ORDER BY a.Balance DESC, p.FamilyName;
SELECT COUNT(*) FROM dbo.Person AS p JOIN dbo.Person AS q ON q.Town = p.Town AND q.PersonId = p.PersonId + 1;
SELECT COUNT(*) FROM dbo.Person AS p
WHERE EXISTS (SELECT * FROM dbo.Account AS a WHERE a.AccountId = p.PersonId AND a.Balance > 500);
SELECT MAX(r), SUM(total) FROM
(
    SELECT ROW_NUMBER() OVER (PARTITION BY Country ORDER BY Born, PersonId) AS r,
        SUM(CAST(IsMember AS int)) OVER (PARTITION BY Town ORDER BY PersonId ROWS UNBOUNDED PRECEDING) AS total
    FROM dbo.Person
) AS w;
SELECT YEAR(Born), COUNT(DISTINCT PostCode), STRING_AGG(CAST(LEFT(GivenName, 3) AS varchar(max)), ',')
FROM dbo.Person WHERE PersonId <= 5000 GROUP BY YEAR(Born);
WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
SELECT SUM(i * i % 7), MAX(CONVERT(varchar(20), i) + 'x') FROM n OPTION (MAXRECURSION 0);
GO
DECLARE @n int = 0, @town varchar(30), @count int;
WHILE @n < 4000
BEGIN
    SET @n += 1;
    SELECT @town = Town FROM dbo.Person WHERE PersonId = 1 + @n * 104729 % 60000;
    SELECT @count = COUNT(*) FROM dbo.Person WHERE Phone = 'PN' + CAST(@n * 1000 AS varchar(10));
END
GO
SELECT PersonId, FamilyName, GivenName, Born, Town, Mail FROM dbo.Person WHERE PersonId <= 20000;
GO
ALTER DATABASE WritePath SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE;
GO
