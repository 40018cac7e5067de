SET NOCOUNT ON
GO
create table t (a int, b int); insert t values (1, 2), (2, 3), (3, 4); create table u (a int, s varchar(20))
GO
declare @q nvarchar(max) = (select N'insert u (a, s) values ' + string_agg(cast(concat('((select max(a) from t where b < ', value, '), concat(''v'', ', value, '))') as nvarchar(max)), ',') from generate_series(1, 1000)); exec (@q); select count(*), sum(isnull(a, 0)), count(distinct s) from u
GO
declare @q nvarchar(max) = (select N'insert u (a, s) values ' + string_agg(cast(concat('(', value, ', null)') as nvarchar(max)), ',') from generate_series(1, 1001)); exec (@q)
GO
declare @q nvarchar(max) = (select N'insert u (a) select a from (values ' + string_agg(cast(concat('(', value, ')') as nvarchar(max)), ',') + N') v (a)' from generate_series(1, 5000)); exec (@q)
GO
