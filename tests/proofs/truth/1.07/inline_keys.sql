set nocount on
go
create view keys as select i.name as ix, i.type_desc as kind, i.is_unique as u, i.is_primary_key as pk, c.name as col, ic.key_ordinal as k, ic.is_descending_key as d, ic.is_included_column as inc
from sys.indexes i join sys.index_columns ic on ic.object_id = i.object_id and ic.index_id = i.index_id join sys.columns c on c.object_id = ic.object_id and c.column_id = ic.column_id where i.object_id = object_id('t')
go
print 'a key behind a column that lists another'
create table t (a int not null, b int not null constraint pk primary key (a))
select * from keys; drop table t
go
print 'of both, one downwards'
create table t (a int not null, b int not null constraint pk primary key nonclustered (b desc, a))
select * from keys order by k; drop table t
go
print 'after a computed column'
create table t (a int not null, c as a + 1 constraint pk primary key (a), d int)
select * from keys; drop table t
go
print 'unique, listed behind a column'
create table t (a int, b int constraint uq unique clustered (a), c int constraint uq2 unique)
select * from keys order by ix; drop table t
go
print 'without a name'
create table t (a int not null, b int not null primary key (a))
select col, pk from keys; drop table t
go
print 'index behind a column'
create table t (a int index ix, b int index ix2 unique, c int index ix3 clustered, d int index ix4 (a, d desc))
select * from keys order by ix, k; drop table t
go
print 'index without columns'
create table t (a int, index ix)
go
create table t (a int, index ix unique)
go
create table t (a int, index ix nonclustered)
go
create table t (a int, index ix unique clustered, b int)
go
declare @t table (a int, index ix)
go
declare @t table (a int, index ix unique)
go
create type tt as table (a int, index ix unique)
go
create table #t (a int, index ix)
go
create function f() returns @r table (a int, index ix unique) as begin return end
go
print 'index of the table'
create table t (a int, b int, c int, index ix unique clustered (b desc), index ix2 (a) include (b, c) where a > 5)
select * from keys order by ix, inc, k; drop table t
go
