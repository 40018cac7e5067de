-- EXECUTE AS in modules: every session is dbo, so that the caller, the owner and dbo are one.
set nocount on
go
create table t (a int)
go
create procedure none as select user_name() as who
go
create procedure caller with execute as caller as select user_name() as who
go
create procedure owner with execute as owner, recompile as select user_name() as who
go
create procedure self with exec as self as select user_name() as who
go
create procedure named with execute as 'dbo' as select user_name() as who
go
create function scalar() returns int with execute as owner as begin return 1 end
go
create function tabled() returns @t table (a int) with execute as self, schemabinding as begin insert @t values (1) return end
go
create trigger fires on t with execute as 'DBO' after insert as print user_name()
go
select object_name(object_id) as module, execute_as_principal_id as principal from sys.sql_modules order by module
exec owner
exec self
insert t values (1)
select dbo.scalar() as s, (select a from dbo.tabled()) as t
go
alter procedure owner with execute as caller as select 1 as altered
go
select execute_as_principal_id as principal from sys.sql_modules where object_id = object_id('owner')
go
create procedure p with execute as 'nobody' as select 1
go
create procedure p with execute as 'guest' as select 1
go
create function f() returns table with execute as owner as return select 1 as a
go
