-- A plan that reads what it writes meets each row once: keys that move forward, and a table that
-- is inserted into itself.
CREATE DATABASE Once;
GO
USE Once;
GO
SET NOCOUNT ON;
CREATE TABLE dbo.T
(
    k bigint NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED,
    was bigint NOT NULL,
    filler char(100) NOT NULL
);
CREATE INDEX IX_T ON dbo.T (was, k);
GO
INSERT dbo.T (k, was, filler)
SELECT V.number * 10 - 10000, V.number * 10 - 10000, 'x'
FROM master.dbo.spt_values AS V
WHERE V.type = N'P' AND V.number BETWEEN 1 AND 2000;

UPDATE dbo.T SET k = k + 10 WHERE k > 0;
SELECT N'moved once', @@ROWCOUNT, (SELECT COUNT_BIG(*) FROM dbo.T WHERE k > 0 AND k = was + 10),
    (SELECT COUNT_BIG(*) FROM dbo.T WHERE k <= 0 AND k = was), (SELECT COUNT_BIG(*) FROM dbo.T);

UPDATE dbo.T SET was = was + 1 WHERE was > 0;
SELECT N'index once', @@ROWCOUNT, (SELECT COUNT_BIG(*) FROM dbo.T WHERE k > 0 AND k = was + 9),
    (SELECT SUM(was) FROM dbo.T), 0;

INSERT dbo.T (k, was, filler) SELECT k + 1000000, was, filler FROM dbo.T;
SELECT N'doubled once', @@ROWCOUNT, (SELECT COUNT_BIG(*) FROM dbo.T WHERE k > 500000),
    (SELECT COUNT_BIG(*) FROM dbo.T), 0;

DELETE dbo.T WHERE k IN (SELECT k - 1000000 FROM dbo.T);
SELECT N'deleted once', @@ROWCOUNT, (SELECT COUNT_BIG(*) FROM dbo.T), 0, 0;
GO
