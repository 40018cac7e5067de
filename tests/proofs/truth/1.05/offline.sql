create database d
go
create table d.dbo.t (n int); insert d.dbo.t values (1)
alter database d set offline
go
use d
go
select n from d.dbo.t
go
insert d.dbo.t values (2)
go
select name, state, state_desc from sys.databases where name = 'd'
select db_id('d') as id, db_name(5) as name, has_dbaccess('d') as access, databasepropertyex('d', 'status') as status
go
create database d
go
alter database d set online
go
select n from d.dbo.t
go
