-- SET PARSEONLY ON has text parsed and nothing else: no name is looked for, nothing runs. It has its
-- effect when it is read, on its own batch too.
set nocount on
go
set parseonly on
select * from nosuch
select @undeclared
go
select @undeclared, nosuch.column_of_it from nosuch.dbo.nosuch
create table t (a nosuchtype)
print 'not this'
go
select 1 fromm t whre
go
create procedure p as select * from nowhere
go
set parseonly off
select 1 as runs
go
exec p
go
if 1 = 0 set parseonly on
select 2 as never
go
if 1 = 0 begin set parseonly off end
select 3 as runs
go
