SET NOCOUNT ON
GO
-- styles with the names of months, and what has none
create table s (style int)
insert s values (0), (100), (106), (107), (109), (113), (6), (7), (120), (103)
GO
set language German; select style, convert(nvarchar(40), cast('2024-03-04T05:06:07.123' as datetime), style) from s
GO
set language French; select style, convert(nvarchar(40), cast('2024-02-04T05:06:07.123' as datetime), style) from s
GO
set language Czech; select style, convert(nvarchar(40), cast('2024-03-04T05:06:07' as datetime2(0)), style) from s where style <> 0
GO
set language Russian; select cast(cast('20241204' as datetime) as nvarchar(30)), cast(cast('20241204' as smalldatetime) as varchar(30)), cast(cast('20241204' as date) as nvarchar(30))
GO
set language Japanese; select convert(nvarchar(40), cast('20240304' as datetime), 100), convert(nvarchar(40), cast('20240304' as date), 106)
GO
-- months in the session's language are read, and in no other
set language German
select try_cast(t as datetime), try_cast(t as date), isdate(t) from (values (1, N'4 März 2024'), (2, N'4 mär 2024'), (3, N'März 4 2024'), (4, N'4 Dezember 2024 10:11'), (5, N'04.03.2024'), (6, N'4 March 2024'), (7, N'4 Mar 2024'), (8, N'4 maerz 2024')) v (n, t) order by n
GO
set language French
select try_cast(t as datetime), try_cast(t as date), isdate(t) from (values (1, N'5 mai 2020'), (2, N'4 janv 2024'), (3, N'4 FÉVRIER 2024'), (4, N'4 août 2024'), (5, N'4 aout 2024'), (6, N'4 March 2024'), (7, N'04/03/2024')) v (n, t) order by n
GO
select convert(date, '5 mai 2020'), convert(datetime, '5 mai 2020', 106), datediff(day, '5 mai 2020', '1 juin 2020'), datename(weekday, '5 mai 2020')
GO
-- listopad is November in Poland and October in Croatia
declare @d nvarchar(32) = '28 listopad 2018'
set language Polish; select convert(date, @d)
set language Croatian; select convert(date, @d)
GO
set language Japanese; select cast('2024 03 04' as date), cast('2024/03/04' as datetime), try_cast('4 Mar 2024' as date)
GO
set language Italian; select datename(month, '12/5/2007'); set language us_english; select datename(month, '12/5/2007')
GO
-- a kept plan is that of its language
create table d (id int identity, w datetime, t varchar(30))
GO
create procedure put as insert d (w, t) values ('01/02/2024', cast(cast('20241012' as datetime) as varchar(30)))
GO
exec put
GO
set language German
GO
exec put
GO
set language us_english
GO
exec put
GO
select * from d order by id
GO
create function f (@t nvarchar(30)) returns date as begin return cast(@t as date) end
GO
create view v as select cast('1 Mai 2024' as date) x
GO
select x from v
GO
set language German; select x, dbo.f('3 Oktober 2024') from v
GO
-- FORMAT and PARSE take the language's culture where none is given
set language German; select format(1234567.891, 'N'), format(cast('20240304' as date), 'D'), format(cast('20240304' as date), 'd MMM yyyy', 'en-US'), parse('4. März 2024' as date), parse('1.234,5' as money)
GO
set language N'British English'; select format(cast('20240304' as date), 'd'), format(12.5, 'C')
GO
set language Hungarian; select format(cast('20240304' as date), 'D')
GO
set language Greek; select format(cast('20240304' as date), 'D'), format(1234.5, 'C')
GO
set language Lithuanian; select format(cast('20240304' as date), 'D')
GO
set language us_english; select format(cast('20240304' as date), 'D'), parse('3/4/2024' as date)
GO
