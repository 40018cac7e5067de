set nocount on
go
-- before, é
create procedure p as
  declare @h varbinary(64)
  select top 1 @h = sql_handle from sys.dm_exec_query_stats where 1 = 0
  select 42 as forty_two /* 漢 */
go
exec p
go
select substring(t.text, s.statement_start_offset / 2 + 1, (s.statement_end_offset - s.statement_start_offset) / 2 + 1) from sys.dm_exec_query_stats s cross apply sys.dm_exec_sql_text(s.sql_handle) t where t.objectid = object_id('p') order by s.statement_start_offset
go
exec sp_rename 'p', 'p2'
go
exec p2
exec sp_helptext 'p2'
go
exec ('-- dynamic
create procedure p3 as select 3')
exec p3
exec sp_helptext 'p3'
go
;create procedure p4 as select 4
go
exec p4
exec sp_helptext 'p4'
alter schema dbo transfer dbo.p4
go
-- syntax


create procedure p5 as
  selec 1
  from
go
