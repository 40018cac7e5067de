set nocount on
go
create table n (a varchar(10), b varchar(10))
go
print 'permissions'
select has_perms_by_name(null, null, 'VIEW SERVER STATE') as server, has_perms_by_name(db_name(), 'DATABASE', 'ANY') as db, has_perms_by_name('dbo.n', 'OBJECT', 'SELECT') as obj, has_perms_by_name(null, null, null) as no_permission, has_perms_by_name('dbo.n', 'NOTHING', 'SELECT') as no_class, has_perms_by_name('dbo.n', 'OBJECT', 'SELECT', 'a', 'COLUMN') as col
go
print 'sp_lock'
create database other
go
create table lk (a int primary key, b int index lk_b)
create table other.dbo.lk2 (a int primary key)
go
begin tran
insert lk values (1, 2); insert other.dbo.lk2 values (1)
declare @l table (spid int, dbid int, ObjId int, IndId int, Type nvarchar(4), Resource nvarchar(32), Mode nvarchar(8), Status nvarchar(5))
insert @l exec sp_lock @@spid
select distinct db_name(dbid) as db, object_name(ObjId, dbid) as obj, IndId, Type, Mode from @l where db_name(dbid) <> 'tempdb' and (ObjId = 0 or ObjId > 100) order by 1, 2, 3, 4, 5
rollback
go
