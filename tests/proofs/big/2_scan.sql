-- Every row is read.
USE Big;
GO
SET NOCOUNT ON;
SELECT N'scan', COUNT_BIG(*), SUM(CONVERT(bigint, LEN(B.filler))) FROM dbo.Big AS B;
GO
