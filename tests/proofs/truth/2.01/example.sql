-- What stands behind a message is not lost, and counts are those of changes.
CREATE DATABASE test
GO
USE test; SELECT 1/0
GO
PRINT 'a'; PRINT 'b'
GO
CREATE TABLE t (a int); INSERT t VALUES (1), (2); UPDATE t SET a = 3 WHERE a = 2; SELECT a FROM t; DELETE t WHERE a = 9
GO
