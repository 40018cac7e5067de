SET NOCOUNT ON
GO
create table t (a int, b int); insert t values (1, 2), (2, 3), (3, 4); create table u (a int, s varchar(20))
GO
declare @q nvarchar(max) = N'select a' + replicate(cast(N' + a' as nvarchar(max)), 20000) + N' from t order by 1'; exec (@q)
GO
declare @q nvarchar(max) = N'select datalength(s' + replicate(cast(N' + s' as nvarchar(max)), 5000) + N') from (select cast(''xy'' as varchar(max)) s) d'; exec (@q)
GO
declare @q nvarchar(max) = N'select sum(a' + replicate(cast(N' - 1' as nvarchar(max)), 3000) + N'), (max(b)' + replicate(cast(N' - 1' as nvarchar(max)), 3000) + N') from t'; exec (@q)
GO
declare @q nvarchar(max) = (select N'select sum(case ' + string_agg(cast(concat('when a + b = ', value, ' then ', value) as nvarchar(max)), ' ') + N' end) from t' from generate_series(1, 3000)); exec (@q)
GO
