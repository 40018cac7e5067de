set nocount on
go
create table t (i int constraint ck check (i > 0), /* é漢 */ j int constraint df default (/* é */ 5), k as /* ü */ i + j)
go
-- trigger

create trigger tr on t after insert as

  declare @x int = (select count(*) from inserted)
  select @x / 0
go
insert t (i) values (1)
go
select object_definition(object_id('ck')), object_definition(object_id('df')), object_definition(object_id('t'))
exec sp_helptext 'ck'
exec sp_helptext 'df'
exec sp_helptext 't', 'k'
exec sp_helptext 't', 'i'
exec sp_helptext 't', 'nope'
exec sp_helptext 'tr'
go
-- first
create function g(@x int) returns int as

begin
  return 1 / @x
end
go
select dbo.g(0)
go
