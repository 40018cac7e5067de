-- The example: what is wrong with a procedure's text is told as it is made.
CREATE PROCEDURE twice AS DECLARE @a int; DECLARE @a int;
GO
CREATE PROCEDURE mixed AS
DECLARE @a int
SELECT @a = c1, c2 FROM nowhere
GO
CREATE PROCEDURE undeclared AS
PRINT 'first'
SELECT * FROM nowhere WHERE c = @a
SELECT @b
GO
CREATE PROCEDURE fetched AS
DECLARE @n int
FETCH NEXT FROM @n INTO @n
GO
CREATE PROCEDURE many AS RAISERROR('%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d', 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)
GO
CREATE PROCEDURE used AS USE master
GO
CREATE PROCEDURE cursors AS DECLARE c SCROLL CURSOR STATIC FOR SELECT 1
GO
EXEC twice
GO
EXEC mixed
GO
-- Names that are not there wait for the run; columns of what is there do not.
CREATE TABLE t (i int)
GO
CREATE PROCEDURE later AS SELECT * FROM nowhere EXEC nobody
GO
CREATE PROCEDURE columns AS
SELECT i FROM t
SELECT nothing FROM t
GO
EXEC later
GO
-- ALTER refuses as well, and leaves what was there.
CREATE PROCEDURE kept AS PRINT 'kept'
GO
ALTER PROCEDURE kept AS SET @nobody = 1
GO
EXEC kept
GO
-- A temporary table is made once in a text, whatever of it runs.
CREATE PROCEDURE halves AS
IF 1 = 1
    SELECT 1 AS a INTO #half
ELSE
    SELECT 2 AS a INTO #half
GO
CREATE PROCEDURE waits AS WAITFOR DELAY '00:00:99'
GO
