-- An assignment counts no rows that anybody sees, nor do options, conditions, cursors.
CREATE TABLE t (a int)
INSERT t VALUES (1)
DECLARE @x int = 1, @y int
SET @x = 2
SELECT @y = a FROM t
SELECT @y = 5
IF @x = 2 PRINT 'two'
DECLARE c CURSOR FOR SELECT a FROM t
OPEN c
FETCH c INTO @x
CLOSE c
DEALLOCATE c
SELECT a INTO u FROM t
SET NOCOUNT ON
INSERT t VALUES (2)
SELECT a FROM t
PRINT 'end'
GO
