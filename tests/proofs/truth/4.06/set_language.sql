SET NOCOUNT ON
GO
-- a name, an alias, in quotes, in brackets, in any case, of a variable
set language German; select @@language
GO
set language 'Deutsch'; select @@language
GO
set language N'british english'; select @@language
GO
set language [Français]; select @@language
GO
declare @l nvarchar(50) = N'BRAZILIAN'; set language @l; select @@language
GO
set language N'日本語'; select @@language, @@langid
GO
set language ENGLISH; select @@language
GO
-- what is none is 2740 and ends the statement; NULL is none either
set language nonsense; select @@language after_error
GO
declare @l sysname; set language @l; select @@language after_null
GO
-- TRY makes nothing of it
begin try set language nonsense; select 'inside' end try begin catch select 'caught' end catch
GO
-- the order of dates and the first day come along
set language German; select @@datefirst, cast('03/04/2024' as date), datepart(weekday, '20240315')
GO
set language us_english; select @@datefirst, cast('03/04/2024' as date), datepart(weekday, '20240315')
GO
-- but not where the batch has set them before
set datefirst 3; set language German; select @@datefirst
GO
set language German; select @@datefirst
GO
set dateformat mdy; set language French; select cast('03/04/2024' as date)
GO
set language French; select cast('03/04/2024' as date)
GO
set language French; set dateformat mdy; set datefirst 5; select cast('03/04/2024' as date), @@datefirst
GO
-- within EXEC and procedures nobody is told, and it ends with them
set language us_english
GO
exec('set language French; select @@language, datename(month, ''20240801'')'); select @@language, datename(month, '20240801')
GO
create procedure p as begin set language Italian; select @@language, @@datefirst, datename(month, '20240801') end
GO
exec p; select @@language, @@datefirst, datename(month, '20240801')
GO
exec sp_executesql N'set language Dutch; select datename(month, ''20240301'')'; select @@language
GO
-- the view of sessions and DBCC tell it
set language Spanish
select language, date_format, date_first from sys.dm_exec_sessions where session_id = @@spid
dbcc useroptions with no_infomsgs
GO
