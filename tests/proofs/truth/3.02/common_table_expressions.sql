SET NOCOUNT ON
GO
create table p (a int, b int); insert p values (1, 2), (2, 3), (3, 4)
GO
declare @q nvarchar(max) = (select N'with c0 as (select 1 x)' + string_agg(cast(concat(', c', value, ' as (select a.x from c', value - 1, ' a cross join c', value - 1, ' b)') as nvarchar(max)), '') + N' select count(*) from c24' from generate_series(1, 24)); exec (@q)
GO
declare @q nvarchar(max) = (select N'with c0 as (select a x from p)' + string_agg(cast(concat(', c', value, ' as (select x from c', value - 1, ' union all select x + 1 from c', value - 1, ')') as nvarchar(max)), '') + N' select count(*) from c24' from generate_series(1, 24)); exec (@q)
GO
