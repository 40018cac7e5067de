set nocount on
go
create database d2
go
use d2
go
create table t (v varchar(20)); insert t values ('d2 t')
go
create procedure helper as select 'd2 helper', db_name()
go
create procedure p as begin set nocount on; select v from t; exec helper; exec ('select v from t; select db_name()'); create table newone (i int); select db_name() end
go
create function fdb() returns sysname as begin return db_name() end
go
create trigger tr on t after insert as select db_name(), db_id() - db_id('d2')
go
use master
go
create table t (v varchar(20)); insert t values ('master t')
go
create procedure helper as select 'master helper'
go
exec d2.dbo.p
go
select d2.dbo.fdb(), db_name()
go
insert d2.dbo.t values ('x')
go
select count(*) from d2.sys.tables where name = 'newone'
select db_name()
go
