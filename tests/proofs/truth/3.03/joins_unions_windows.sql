SET NOCOUNT ON
GO
create table t (a int, b int); insert t values (1, 2), (2, 3), (3, 4); create table u (a int, s varchar(20))
GO
declare @q nvarchar(max) = (select N'select count(*) from (' + string_agg(cast(concat('select a + ', value, ' a from t') as nvarchar(max)), ' union ') + N') d' from generate_series(1, 300)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from (' + string_agg(cast(concat('select a from t where b <> ', value) as nvarchar(max)), ' except ') + N') d' from generate_series(1, 1200)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from t t0 ' + string_agg(cast(concat('join t t', value, ' on t', value, '.a = t', value - 1, '.a') as nvarchar(max)), ' ') from generate_series(1, 260)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from t t0 ' + string_agg(cast(concat('left join t t', value, ' on t', value, '.a = t', value - 1, '.b') as nvarchar(max)), ' ') from generate_series(1, 260)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from ' + string_agg(cast(concat('(select 1 a) d', value) as nvarchar(max)), ', ') from generate_series(1, 400)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select sum(s) from (select a, ' + string_agg(cast(concat('sum(a) over (partition by b % ', value, ')') as nvarchar(max)), '+') + N' s from t) d' from generate_series(1, 500)); exec (@q)
GO
