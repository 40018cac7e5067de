-- What is not built parses, and its name is told; a schema collection that is not there is 6314.
set nocount on
go
create table t (x xml(content dbo.c))
go
declare @x xml(document c)
go
select cast('<a/>' as xml(nosuch))
go
create table t (x xml(content))
go
begin atomic with (transaction isolation level = snapshot, language = N'us_english') select 1 end
go
create procedure p as begin atomic with (transaction isolation level = snapshot, language = N'us_english') select 1 end
go
exec p
go
create table h (a int not null primary key nonclustered hash with (bucket_count = 8))
go
alter role db_owner drop member nobody
go
create column master key k with (key_path = 'x')
go
select * from openrowset(bulk 'f', single_blob) as x
go
alter database scoped credential c with identity = 'x'
go
drop security policy if exists p
go
select * from a, b, c where match(a-(b)->c)
go
create function f() returns int as external name a.b.c
go
exec sp_bindrule 'r', 't.a'
go
