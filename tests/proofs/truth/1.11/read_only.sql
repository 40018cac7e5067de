create database d
go
use d
create table t (n int primary key, i int identity, v rowversion); insert t (n) values (1)
go
create sequence s
go
alter database d set read_only
go
insert t (n) values (2)
go
update t set n = 2
go
delete t
go
select * into u from t
go
create table u (n int)
go
select next value for s
go
create table #t (n int); insert #t select n from t; select n from #t
go
alter database d set recovery simple
go
alter database d set read_write
insert t (n) values (2)
select count(*) as n from t
go
