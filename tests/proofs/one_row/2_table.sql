-- One integer, the key; one row.
DROP TABLE IF EXISTS dbo.Counter;
GO
CREATE TABLE dbo.Counter (id integer PRIMARY KEY CLUSTERED);
INSERT dbo.Counter (id) VALUES (0);
GO
CHECKPOINT;
GO
