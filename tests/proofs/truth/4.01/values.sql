-- The example: 517 ends only its statement, as every overflow does.
BEGIN TRAN
SELECT DATEADD(year, -300, CAST('20200101' AS datetime))
PRINT 'here'
SELECT CAST('20201301' AS datetime)
PRINT 'here'
SELECT CAST('99999999999' AS int) - 1
PRINT 'here'
SELECT CAST(99999999999 AS int)
PRINT 'here'
SELECT @@TRANCOUNT
ROLLBACK
GO
-- What is no value of its type ends the batch and the transaction.
BEGIN TRAN
SELECT CAST('x' AS int)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
SELECT DATEFROMPARTS(2020, 13, 1)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
SELECT ISNULL(JSON_VALUE('x', '$.a'), '')
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
SELECT CAST('<a>' AS xml)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
-- An argument of a call that does not convert ends the call.
CREATE PROCEDURE p @i int AS PRINT 'not here'
GO
BEGIN TRAN
EXEC p 'x'
PRINT 'here'
SELECT @@TRANCOUNT
ROLLBACK
GO
