set nocount on
go
print 'identity insert'
create table i1 (a int identity); create table i2 (a int identity)
set identity_insert i1 on
drop table i1
set identity_insert i2 on
insert i2 (a) values (5)
select * from i2
create table i1 (a int identity)
go
insert i1 (a) values (5)
go
set identity_insert i1 on
go
set identity_insert i2 off
set identity_insert dbo.i1 on
insert i1 (a) values (6)
set identity_insert i2 on
go
create table #i (a int identity)
set identity_insert dbo.i1 off
set identity_insert #i on
drop table #i
set identity_insert i2 on
go
create schema s
go
alter schema s transfer dbo.i2
set identity_insert i1 on
go
