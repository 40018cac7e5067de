-- Procedures, dynamic text, triggers, errors within.
CREATE TABLE t (a int)
GO
CREATE TRIGGER tr ON t AFTER INSERT AS PRINT 'fired'
GO
CREATE PROCEDURE counts AS BEGIN PRINT 'in'; INSERT t VALUES (1); RAISERROR('mine', 16, 1); SELECT a FROM t END
GO
CREATE PROCEDURE quiet AS BEGIN SET NOCOUNT ON; EXEC counts END
GO
EXEC counts; PRINT 'behind'
GO
EXEC quiet; EXEC ('INSERT t VALUES (2)'); EXEC sp_executesql N'DELETE t'
GO
