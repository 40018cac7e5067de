SET NOCOUNT ON
GO
create table t (a int, b int); insert t values (1, 2), (2, 3), (3, 4); create table u (a int, s varchar(20))
GO
declare @q nvarchar(max) = (select N'select count(*) from (select ' + string_agg(cast(concat(value, ' c', value) as nvarchar(max)), ',') + N') d' from generate_series(1, 4096)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from (select ' + string_agg(cast(concat(value, ' c', value) as nvarchar(max)), ',') + N') d' from generate_series(1, 4097)); exec (@q)
GO
declare @q nvarchar(max) = (select N'create table w (' + string_agg(cast(concat('c', value, ' int') as nvarchar(max)), ',') + N')' from generate_series(1, 1024)); exec (@q); alter table w add c1025 int
GO
declare @q nvarchar(max) = (select N'create table x (' + string_agg(cast(concat('c', value, ' int') as nvarchar(max)), ',') + N')' from generate_series(1, 1025)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from t t0 ' + string_agg(cast(concat('join t t', value, ' on t', value, '.a = t', value - 1, '.a') as nvarchar(max)), ' ') from generate_series(1, 2000)); exec (@q)
GO
