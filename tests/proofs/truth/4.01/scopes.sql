-- What is found as a statement is bound ends its batch or procedure, and nothing of the transaction.
CREATE TABLE t (i int, c AS i + 1)
GO
BEGIN TRAN
GO
ALTER TABLE nowhere ADD c int
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
CREATE PROCEDURE p AS ALTER TABLE t ADD CONSTRAINT d DEFAULT 1 FOR c
PRINT 'not here'
GO
EXEC p
PRINT 'the caller goes on'
SELECT @@TRANCOUNT
GO
-- TRY around it does not get it, TRY around its call does.
BEGIN TRY
    ALTER TABLE t ADD x dog
END TRY
BEGIN CATCH PRINT 'not here' END CATCH
PRINT 'not here'
GO
BEGIN TRY
    EXEC('ALTER TABLE t ADD x dog')
END TRY
BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() END CATCH
GO
SELECT @@TRANCOUNT
ROLLBACK
GO
-- Under XACT_ABORT it takes the transaction along; a text that does not parse does not.
SET XACT_ABORT ON
BEGIN TRAN
GO
SELECT nothing FROM t
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
GO
SELECT FROM t
GO
DECLARE @a int DECLARE @a int
GO
GOTO nowhere
GO
SELECT @@TRANCOUNT
COMMIT
GO
