create database d
go
create table d.dbo.t (n int); insert d.dbo.t values (1)
alter database d set emergency
go
select state_desc from sys.databases where name = 'd'
select n from d.dbo.t
go
insert d.dbo.t values (2)
go
dbcc checkdb (d) with no_infomsgs
go
alter database d set online
go
insert d.dbo.t values (2)
select count(*) as n from d.dbo.t
go
