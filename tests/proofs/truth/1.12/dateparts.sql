set nocount on
go
print 'dates'
select format(cast('00:00:00.12345' as time), 'c') as c, format(cast('13:10:37' as time), 'c') as whole, format(cast('13:10:37.5' as time), 't') as t, format(cast('13:10:37.5' as time), 'hh\:mm\:ss') as own
select datepart(ms, cast('2020-01-01 00:00:00.9999999' as datetime2)) as cut, datepart(ms, cast('2020-01-01 00:00:00.1237' as datetime2(4))) as cut4, datepart(ms, cast('00:00:00.9999999' as time)) as t, datepart(ms, cast('2020-01-01 00:00:00.997' as datetime)) as dt, datename(ms, cast('2020-01-01 00:00:00.003' as datetime)) as dt3, datepart(mcs, cast('2020-01-01 00:00:00.9999999' as datetime2)) as mcs, datepart(ns, cast('2020-01-01 00:00:00.9999999' as datetime2)) as ns
go
select dateadd(microsecond, 1, cast('2020-01-01' as datetime))
go
select dateadd(nanosecond, 100, cast('2020-01-01' as datetime))
go
select dateadd(mcs, 1, cast('2020-01-01' as smalldatetime))
go
select dateadd(hour, 1, cast('2020-01-01' as date))
go
select dateadd(day, 1, cast('10:00' as time))
go
select dateadd(mcs, 1, cast('2020-01-01' as datetime2)) as dt2, dateadd(ns, 100, cast('10:00' as time)) as t, dateadd(ms, 3, cast('2020-01-01' as datetime)) as dt
go
select datediff(day, cast('10:00' as time), cast('11:00' as time))
go
select datediff(hour, cast('10:00' as time), cast('11:00' as time)) as h, datediff(hour, cast('2020-01-01' as date), cast('2020-01-02' as date)) as d, datediff(mcs, cast('2020-01-01' as datetime), cast('2020-01-01 00:00:00.003' as datetime)) as mcs
go
select datetrunc(mcs, cast('2020-01-01' as datetime))
go
select datetrunc(ms, cast('2020-01-01' as smalldatetime))
go
select datetrunc(mcs, cast('2020-01-01' as datetime2(5)))
go
select datetrunc(ms, cast('2020-01-01 10:11:12.1234567' as datetime2(3))) as ms, datetrunc(mcs, cast('10:11:12.1234567' as time(6))) as mcs
go
