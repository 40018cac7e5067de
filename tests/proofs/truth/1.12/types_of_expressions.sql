set nocount on
go
print 'types and lengths'
select isnull('xy' + null + null, 'ABCDEFGHIJ') as i, isnull(N'xy' + null, N'ABCDEFGHIJ') as n, isnull(null + 'xy', 'ABCDEFGHIJ') as f, isnull(0x0102 + null, 0x0102030405) as b
select 'ab' + null as a, N'ab' + null + 'c' as b, coalesce('xy' + null, 'ABCDEFGHIJ') as c, iif(1 = 0, 'a', 'bcd') as d, case when 1 = 0 then 'a' else null end as e, nullif('abc', 'abcdef') as f, isnull('ab', 'abcdef') as g, isnull(null, 'abcdef') as h, coalesce(null, 'ab', N'abc') as i, isnull('a' + cast(null as varchar(3)), 'abcdefgh') as j, 0x01 + null as k, coalesce(1, 2.5) as l, isnull(1, 2.5) as m, nullif(1, 2.5) as n, iif(1 = 1, 1, 2.5) as o into w
select c.name, t.name as type, c.max_length, c.precision, c.scale, c.is_nullable from sys.columns c join sys.types t on t.user_type_id = c.user_type_id where c.object_id = object_id('w') order by c.column_id
go
