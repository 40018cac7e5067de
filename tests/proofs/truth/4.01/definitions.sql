-- The example: what a definition refuses ends the batch and the transaction.
CREATE TABLE t (i int NOT NULL)
INSERT t VALUES (1), (1)
CREATE TABLE taken (i int PRIMARY KEY)
CREATE TABLE child (i int CONSTRAINT fk REFERENCES taken)
GO
BEGIN TRAN
INSERT t VALUES (2)
CREATE TABLE taken (i int)
PRINT 'not here'
GO
SELECT @@TRANCOUNT, COUNT(*) FROM t
GO
BEGIN TRAN
CREATE UNIQUE INDEX u ON t (i)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
TRUNCATE TABLE taken
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
ALTER TABLE t ADD CONSTRAINT positive CHECK (i > 1)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
-- A change that a constraint refuses ends its statement, as before.
BEGIN TRAN
INSERT child VALUES (5)
PRINT 'here'
SELECT @@TRANCOUNT
ROLLBACK
GO
-- Siblings: another table's row too long for its index, a sequence, a type, IDENTITY_INSERT.
CREATE TABLE wide (a varchar(900), b varchar(900))
CREATE INDEX ix ON wide (a, b)
CREATE TYPE ty FROM int
GO
BEGIN TRAN
INSERT wide VALUES (REPLICATE('a', 900), REPLICATE('b', 900))
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
CREATE SEQUENCE s AS varchar(3)
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
CREATE TYPE ty FROM int
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
BEGIN TRAN
SET IDENTITY_INSERT t ON
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
-- Caught, the transaction is doomed.
BEGIN TRAN
BEGIN TRY CREATE UNIQUE INDEX u ON t (i) END TRY
BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(); ROLLBACK END CATCH
SELECT @@TRANCOUNT
GO
-- Within a procedure its caller does not go on either.
CREATE PROCEDURE p AS ALTER TABLE t ADD c int NOT NULL
GO
BEGIN TRAN
EXEC p
PRINT 'not here'
GO
SELECT @@TRANCOUNT
GO
