set nocount on
go
-- a comment
/* another, é 漢字 */

create procedure p as
  select 'p'
  select 1/0
-- behind
go
exec p
go
select definition from sys.sql_modules where object_id = object_id('p')
select object_definition(object_id('p'))
select text, len(text) from sys.syscomments where id = object_id('p')
exec sp_helptext 'p'
go
-- altered


alter procedure p as

  select 'q', error_line()
  begin try select 1/0 end try begin catch select error_line(), error_procedure() end catch
  raiserror('x', 16, 1)
go
exec p
exec sp_helptext 'p'
go
-- either
create /* a */ or /* b */ alter procedure p as select 'r'
go
exec p
exec sp_helptext 'p'
go
