-- What runs outside of transactions and is refused takes nothing from what the open one has defined.
begin tran; create table kept (n int); insert kept values (1)
GO
dbcc checktable ('nosuch')
GO
alter table kept add m int null
GO
dbcc checktable ('nosuch')
GO
commit; select n, m from kept
GO
-- Rolled back, nothing of it is left, neither in sight nor in the way.
begin tran; create table gone (n int); alter table kept add o int null
GO
dbcc checktable ('nosuch')
GO
rollback; select * from kept
GO
select * from gone
GO
create table gone (other int); insert gone values (2); select * from gone
GO
alter table kept add o varchar(10) null; select * from kept
GO
-- To a savepoint.
begin tran; save tran s; drop table gone
GO
dbcc checktable ('nosuch')
GO
rollback tran s; select * from gone; commit; select @@trancount
GO
truncate table kept; drop table kept, gone
GO
