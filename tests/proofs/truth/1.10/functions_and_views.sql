set nocount on
go
-- é é é 漢字
   create function f() returns @t table (a int, b as a * 11.0, c varchar(10) default 'é', d as cast(a as varchar(10)) + N'ü', check (a > 0)) as
begin
  insert @t (a) values (1), (2)
  return
end
go
select * from f()
go
-- é
alter function f() returns @t table (a int, b as a * 12.0, c varchar(10) default 'ä') as
begin
  insert @t (a) values (1), (2)
  return
end
go
select * from f()
exec sp_refreshsqlmodule 'f'
select * from f()
exec sp_helptext 'f'
go
/* v
*/ create view v as
select 1 as a,
  x
go
/* v
*/ create view v as
select 1 as a,
  2 as b
go
select * from v
exec sp_refreshview 'v'
exec sp_helptext 'v'
select view_definition from information_schema.views where table_name = 'v'
go
