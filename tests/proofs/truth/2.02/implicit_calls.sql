-- A transaction that IMPLICIT_TRANSACTIONS begins within a procedure or dynamic text is the client's to end: no 266.
create table t (id int)
GO
create procedure adds as insert t values (1)
GO
create procedure reads as begin declare @n int = (select count(*) from t); print concat(@n, ' rows, ', @@trancount, ' open') end
GO
create procedure outer_one as exec adds
GO
set implicit_transactions on
GO
exec sp_executesql N'insert t values (1)'; select @@trancount; rollback
GO
exec ('insert t values (1)'); select @@trancount; rollback
GO
exec adds; select @@trancount; rollback
GO
exec outer_one; select @@trancount; rollback
GO
exec reads; select @@trancount; rollback
GO
exec sp_executesql N'create table made (i int)'; select @@trancount; rollback
GO
exec sp_executesql N'select id from t where id = @p', N'@p int', 1; select @@trancount; rollback
GO
begin try exec adds; print 'no error' end try begin catch print error_message() end catch; commit; select count(*) from t
GO

-- What a procedure ends, or begins by itself, and does not balance, is told.
create procedure ends as commit
GO
commit; exec adds; exec ends; select @@trancount
GO
create procedure ends_and_adds as begin commit; insert t values (2) end
GO
commit; exec adds; exec ends_and_adds; select @@trancount; rollback
GO
create procedure begins as begin tran
GO
commit; exec begins; select @@trancount; rollback
GO

-- BEGIN TRANSACTION is the second of what it begins; ROLLBACK ends both.
begin tran; select @@trancount; commit; select @@trancount; commit; select @@trancount
GO
begin tran; begin tran; select @@trancount; rollback; select @@trancount
GO
begin tran named; insert t values (3); rollback tran named; select @@trancount
GO

-- What begins one: statements that read or change tables, definitions, cursors.
select @@trancount, 1; declare @x int = 1; set @x = 2; select @x = 3; print 'x'; if @x = 3 print 'y'; select @@trancount
GO
declare @x int; select @x = id from t; select @@trancount; rollback
GO
declare @x int = (select count(*) from t); select @@trancount; rollback
GO
declare @v table (i int); select @@trancount; select * from @v; select @@trancount; rollback
GO
if exists (select * from t) select @@trancount; rollback
GO
truncate table t; select @@trancount; rollback
GO
select id into made from t; select @@trancount; rollback
GO
merge t using (values (1)) s (i) on id = i when matched then delete; select @@trancount; rollback
GO
waitfor delay '00:00'; use master; raiserror('x', 0, 1); select @@trancount
GO
declare c cursor for select 9876; select @@trancount; commit
GO
open c; select @@trancount; commit
GO
fetch c; select @@trancount; commit
GO
close c; select @@trancount; deallocate c; select @@trancount
GO
save tran s
GO
commit
GO
rollback
GO

-- A statement that fails leaves it open; so does one that finds nothing.
insert t values ('x')
GO
select @@trancount
GO
insert t values (1 / 0); select @@trancount; rollback
GO
delete t where id = 99; select @@trancount; rollback
GO

-- The setting of a procedure ends with it, its transaction does not.
set implicit_transactions off
GO
create procedure sets as begin set implicit_transactions on; insert t values (5) end
GO
exec sets; select @@trancount, @@options & 2; rollback; insert t values (6); select @@trancount
GO
set implicit_transactions on; exec ('set implicit_transactions off; insert t values (7); select @@trancount'); select @@options & 2; insert t values (8); select @@trancount
GO

-- Turned off, what it began goes on.
set implicit_transactions off; select @@trancount; insert t values (9); rollback; select count(*) from t where id > 5
GO

-- Triggers and INSERT … EXEC are within it.
set implicit_transactions on
GO
create trigger tr on t after insert as print concat(@@trancount, ' open')
GO
commit; insert t values (10); select @@trancount; commit
GO
insert t exec ('select 11'); select @@trancount; commit
GO
insert t exec ('commit; select 11')
GO
select @@trancount; select count(*) from t where id > 9
GO
