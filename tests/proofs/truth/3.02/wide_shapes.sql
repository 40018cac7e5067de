SET NOCOUNT ON
GO
create table p (a int, b int); insert p values (1, 2), (2, 3), (3, 4)
GO
-- 250 windows over other groups in another order each.
declare @q nvarchar(max) = (select N'select sum(' + string_agg(cast(concat('w', value) as nvarchar(max)), ' + ') + N') from (select ' + string_agg(cast(concat('count(*) over (partition by a + ', value, ' order by b + ', value, ') w', value) as nvarchar(max)), ', ') + N' from p) q' from generate_series(1, 250)); exec (@q)
GO
-- 2,000 EXISTS beside each other.
declare @q nvarchar(max) = (select N'select count(*) from p where a = 1 or ' + string_agg(cast(concat('exists (select 1 from p q where q.a = p.b + ', value, ')') as nvarchar(max)), ' or ') from generate_series(100, 2099)); exec (@q)
GO
-- 300 subqueries, each for the row outside.
declare @q nvarchar(max) = (select N'select sum(n) from (select ' + string_agg(cast(concat('(select count(*) from p q where q.b = p.a + 1 + 0 * ', value, ')') as nvarchar(max)), ' + ') + N' n from p) q' from generate_series(1, 300)); exec (@q)
GO
-- 1,500 ORs, all of which must hold; an index can seek each part.
create index pa on p (a); create index pb on p (b)
GO
declare @q nvarchar(max) = (select N'select count(*) from p where ' + string_agg(cast(concat('(a < ', value, ' or b = ', value, ' or (a = 2 and b = ', value, '))') as nvarchar(max)), ' and ') from generate_series(100, 1599)); exec (@q)
GO
