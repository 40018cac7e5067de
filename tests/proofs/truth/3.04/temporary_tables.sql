SET NOCOUNT ON
GO
declare @i int = 0, @q nvarchar(200); while @i < 1500 begin set @q = concat('create table ##g', @i, ' (a int); insert ##g', @i, ' values (', @i, ')'); exec (@q); set @i += 1 end; select count(*) from tempdb.sys.tables where name like '##g%'
GO
declare @q nvarchar(max) = (select string_agg(cast(concat('create table #t', value, ' (a int primary key); insert #t', value, ' values (', value, ');') as nvarchar(max)), ' ') from generate_series(1, 1500)) + N' select (select a from #t1), (select a from #T1500), (select count(*) from #t750); drop table #t1, #t1500'; exec (@q)
GO
declare @q nvarchar(max) = (select N'declare ' + string_agg(cast(concat('@v', value, ' int = ', value) as nvarchar(max)), ', ') + N'; select @v1, @V5000' from generate_series(1, 5000)); exec (@q)
GO
create function dbo.listed (@n int) returns int as begin declare @t table (a int primary key, b int identity); insert @t (a) values (@n), (@n + 1); return (select max(a) + max(b) from @t) end
GO
select sum(dbo.listed(value)) from generate_series(1, 1000)
GO
