-- Defaults of columns that take none, and other definitions that were taken or told wrong.
CREATE TABLE t (a int, c AS a + 1, id int IDENTITY, v timestamp)
GO
ALTER TABLE t ADD CONSTRAINT d DEFAULT 1 FOR c
GO
ALTER TABLE t ADD DEFAULT 1 FOR id
GO
ALTER TABLE t ADD DEFAULT 0x01 FOR v
GO
ALTER TABLE t ADD DEFAULT 1 FOR nothing
GO
ALTER TABLE t ALTER COLUMN c int
GO
ALTER TABLE t ALTER COLUMN v int
GO
ALTER TABLE t DISABLE TRIGGER nowhere
GO
CREATE VIEW vw AS SELECT a FROM t
GO
CREATE INDEX i ON vw (a) WHERE a = 1
GO
TRUNCATE TABLE vw
GO
TRUNCATE TABLE nowhere
GO
-- INSERT … EXEC of what changes its table.
CREATE TABLE target (id int, result varchar(10))
GO
CREATE PROCEDURE changes AS
ALTER TABLE target ADD more int
SELECT 1, 'one'
GO
INSERT target (id, result) EXEC changes
PRINT 'not here'
GO
SELECT * FROM target
GO
EXEC sp_releaseapplock @Resource = 'r', @Resource = 'r', @LockOwner = 'Session'
GO
CREATE PROCEDURE takes @a int AS PRINT 'not here'
GO
EXEC takes @b = 1
GO
