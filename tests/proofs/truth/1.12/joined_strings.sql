set nocount on
go
-- Half as many characters have room in an nvarchar: the operand is cut, not the stream.
select len(replicate('x', 8000) + N'y') as a, len(N'y' + replicate('x', 8000)) as b, len(replicate('x', 8000) + replicate(N'y', 4001)) as c, right(replicate('x', 3999) + N'yz', 2) as d
select datalength(cast('x' as char(8000)) + cast(N'y' as nchar(4000))) as a, datalength(space(8000) + N'y') as b, datalength(replicate('x', 8000) + cast('y' as sysname)) as c
select len(max(v)) as m, len(min(v)) as n from (select replicate('x', 8000) + N'' as v union all select N'xx') q
select replicate('x', 8000) + N'y' as v into #t; select len(v) as l, datalength(v) as d from #t
select max_length from tempdb.sys.columns where object_id = object_id('tempdb..#t')
go
-- What has a max type stays whole.
select len(cast(replicate('x', 8000) as varchar(max)) + N'y') as a, len(replicate('x', 8000) + cast(N'y' as nvarchar(max))) as b
go
