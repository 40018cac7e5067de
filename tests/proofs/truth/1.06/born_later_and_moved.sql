set nocount on
go
create schema s1
go
create schema s2
go
create procedure s1.later as select v from born
go
create table dbo.born (v varchar(10)); insert dbo.born values ('dbo')
go
exec s1.later
go
create table s1.born (v varchar(10)); insert s1.born values ('s1')
go
exec s1.later
go
alter schema s2 transfer s1.later
go
exec s2.later
go
create procedure s1.make as create table made (i int); select schema_name(schema_id) from sys.tables where name = 'made'
go
exec s1.make
exec s1.make
go
