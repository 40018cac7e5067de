SET NOCOUNT ON
GO
create table p (a int, b int); insert p values (1, 2), (2, 3), (3, 4)
GO
declare @q nvarchar(max) = (select N'select count(*) from p p0 where ' + string_agg(cast(concat('exists (select 1 from p p', value, ' where p', value, '.a = p', value - 1, '.a and ') as nvarchar(max)), '') + N'1 = 1' + replicate(N')', 30) from generate_series(1, 30)); exec (@q)
GO
declare @q nvarchar(max) = replicate(cast(N'select a from p q where exists (' as nvarchar(max)), 40) + N'select 1' + replicate(N')', 40); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from p p0 where ' + string_agg(cast(concat('p', value - 1, '.a in (select p', value, '.a from p p', value, ' where ') as nvarchar(max)), '') + N'1 = 1' + replicate(N')', 30) from generate_series(1, 30)); exec (@q)
GO
declare @q nvarchar(max) = (select N'select count(*) from p p0 where ' + string_agg(cast(concat('p', value - 1, '.a not in (select p', value, '.a from p p', value, ' where p', value, '.b = p', value - 1, '.b + 9 and ') as nvarchar(max)), '') + N'1 = 1' + replicate(N')', 30) from generate_series(1, 30)); exec (@q)
GO
