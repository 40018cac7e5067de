SET NOCOUNT ON
GO
-- The last definition of a transaction costs what the first did.
begin tran; declare @i int = 0, @q nvarchar(200); while @i < 1500 begin set @q = concat('create table t', @i, ' (a int); insert t', @i, ' values (', @i, ')'); exec (@q); set @i += 1 end; select count(*), (select a from t1499) from sys.tables where name like 't%'
GO
save tran s; declare @i int = 0, @q nvarchar(200); while @i < 300 begin set @q = concat('alter table t', @i, ' add b int null'); exec (@q); set @i += 1 end; select count(*) from sys.columns where name = 'b' and object_name(object_id) like 't%'
GO
rollback tran s; select count(*) from sys.columns where name = 'b' and object_name(object_id) like 't%'
GO
commit; select count(*) from sys.tables where name like 't%'
GO
-- And so does its last lock by name.
begin tran; declare @i int = 0, @r int, @name nvarchar(32); while @i < 20000 begin set @name = concat('lock ', @i); exec @r = sp_getapplock @name, 'Exclusive'; if @r <> 0 print @r; set @i += 1 end; select count(*) from sys.dm_tran_locks where resource_type = 'APPLICATION'
GO
exec sp_releaseapplock 'lock 19999'; exec sp_getapplock 'lock 0', 'Exclusive'; exec sp_releaseapplock 'lock 0'; select count(*), applock_mode('public', 'lock 0', 'Transaction'), applock_mode('public', 'lock 19999', 'Transaction') from sys.dm_tran_locks where resource_type = 'APPLICATION'
GO
rollback; select count(*) from sys.dm_tran_locks where resource_type = 'APPLICATION'
GO
