-- The files of a database that is dropped offline stay, and nothing is made over them.
create database kept
go
create table kept.dbo.t (n int); insert kept.dbo.t values (1)
go
alter database kept set offline
drop database kept
go
create database kept
go
select count(*) as n from sys.databases where name = 'kept'
create database other
go
