set nocount on
go
print 'long'
select len(formatmessage(replicate(N'x', 3000))) as l, right(formatmessage(replicate(N'x', 3000)), 5) as e, datalength(formatmessage(replicate(N'x', 2047))) as whole
select parsename(replicate('d', 129), 1) as p, len(parsename(replicate('d', 128), 1)) as l
select len(quotename(replicate('a', 128))) as q, quotename(replicate('a', 129)) as n, len(str(1, 8000)) as s, len(space(9000)) as sp, len(replicate('x', 9000)) as r
go
