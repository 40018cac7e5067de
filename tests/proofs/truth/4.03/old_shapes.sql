-- Shapes that old scripts have: a procedure that does nothing, functions of the system behind ::,
-- an alias behind a bare hint, an order behind a union of which one part has a TOP, operators whose
-- signs stand apart.
set nocount on
go
create procedure does_nothing as
go
create procedure does_nothing_too @a int = 1 with recompile as ;
go
declare @r int = 7
exec @r = does_nothing
exec does_nothing_too 5
select @r as status
go
select count(*) as files from ::fn_virtualfilestats(1, 1)
select objtype, objname, value from ::fn_listextendedproperty(null, null, null, null, null, null, null)
go
create table t (a int not null, b int not null)
insert t values (1, 10), (2, 20), (3, 30)
go
select a.a, b.b from t (nolock) a join t (nolock) as b on a.a = b.a where a.a > 1 order by a.a
select x.a from t (index(0)) x where x.a = 3
update x set b = 31 from t (updlock) x where x.a = 3
select b from t as y (holdlock) where y.a = 3
go
select * from (select a from t where a = 1 union all select top 1 a from t where a > 1 order by a) as x order by a
select count(*) as n from (select top 2 b as a from t union select a from t order by a) as x
go
select count(*) as n from t where a in (select a from t union select b from t order by a)
go
select a from t where a ! = 2
select a from t where a ! <  2 and a !	> 2
select a from t where a < > 2 and a > /* or */ = 2
go
create table j (a int identity not for replication, b int not null)
go
create table i (a int identity (3, 2) not for replication primary key, b int constraint ck_b check not for replication (b > 0), c int constraint fk_c references i (a) not for replication)
insert i (b) values (1), (2)
insert i (b) values (0)
go
select a, b from i
select is_not_for_replication as identity_is from sys.identity_columns where object_id = object_id('i')
select is_not_for_replication as check_is, is_not_trusted as untrusted from sys.check_constraints where parent_object_id = object_id('i')
select is_not_for_replication as key_is, is_not_trusted as untrusted from sys.foreign_keys where parent_object_id = object_id('i')
alter table i with check check constraint all
select is_not_trusted as untrusted from sys.foreign_keys where parent_object_id = object_id('i')
go
create table stamped (id int primary key, timestamp not null)
insert stamped (id) values (1)
select id, datalength(timestamp) as n from stamped
go
set tran isolation level serializable
select transaction_isolation_level as level from sys.dm_exec_sessions where session_id = @@spid
go
