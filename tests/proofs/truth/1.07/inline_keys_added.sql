set nocount on
go
create view keys as select i.name as ix, i.is_unique as u, i.is_primary_key as pk, c.name as col, ic.key_ordinal as k
from sys.indexes i join sys.index_columns ic on ic.object_id = i.object_id and ic.index_id = i.index_id join sys.columns c on c.object_id = ic.object_id and c.column_id = ic.column_id where i.object_id = object_id('t')
go
create table t (a int, d int)
go
alter table t add index ix (a desc)
go
alter table t add b int index ix2, c int not null default 0 constraint pk primary key nonclustered (c), index ix3 unique (b, c), e int index ix4 (d)
go
select * from keys order by ix, k
go
alter table t add constraint d1 default 7 for a, default 8 for d
insert t (c) values (1); select * from t
go
alter table t add constraint d2 default 7 for a
go
