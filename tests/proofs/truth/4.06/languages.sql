SET NOCOUNT ON
GO
-- every language: what it is called, its first day, the months and days of DATENAME
declare @n sysname, @i int = 0
while @i < 34
begin
  select @n = name from sys.syslanguages where langid = @i
  set language @n
  select @@language, @@langid, @@datefirst, datename(month, '20240315'), datename(weekday, '20240315')
  set @i += 1
end
GO
set language us_english
select langid, dateformat, datefirst, upgrade, alias, lcid, msglangid from sys.syslanguages order by langid
GO
select count(*), count(distinct name), count(distinct alias), sum(case datefirst when 7 then 1 else 0 end) from sys.syslanguages
GO
select name, months, shortmonths, days from sys.syslanguages where alias in ('German', 'Czech', 'Greek', 'Japanese', 'Arabic', 'Thai') order by langid
GO
exec sp_helplanguage 'Deutsch'
GO
exec sp_helplanguage @language = N'swedish'
GO
exec sp_helplanguage klingon
GO
