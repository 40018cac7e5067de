set nocount on
go
create view keys as select i.name as ix, i.type_desc as kind, i.is_unique as u, i.is_primary_key as pk, c.name as col, ic.key_ordinal as k, ic.is_descending_key as d, ic.is_included_column as inc
from sys.indexes i join sys.index_columns ic on ic.object_id = i.object_id and ic.index_id = i.index_id join sys.columns c on c.object_id = ic.object_id and c.column_id = ic.column_id where i.object_id = object_id('t')
go
print 'variables, types, functions, temporary'
declare @t table (a int not null, b int not null primary key (a)); insert @t values (1, 1), (2, 1); select * from @t; begin try insert @t values (1, 5) end try begin catch select error_number() as error end catch
go
create type ty as table (a int not null, b int not null primary key (a), index ix (b))
go
declare @t ty; insert @t values (1, 1), (2, 1); select * from @t; begin try insert @t values (1, 5) end try begin catch select error_number() as error end catch
go
create function fr() returns @r table (a int not null, b int not null primary key (a)) as begin insert @r values (1, 1), (2, 1); return end
go
select * from fr()
go
create table #t (a int not null, b int not null unique (a)); insert #t values (1, 1), (2, 1); select * from #t; begin try insert #t values (1, 5) end try begin catch select error_number() as error end catch
go
create table t (a int not null, b int not null); alter table t add constraint pk primary key (b); alter table t add c int not null default 7 primary key (a)
go
alter table t add c int not null default 7 constraint uq unique (a); insert t (a, b) values (1, 1), (2, 2); insert t (a, b) values (1, 3); select * from keys where pk = 0; drop table t
go
