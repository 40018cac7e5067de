-- A function may change its table variables, by an alias or a CTE as well as by their names; and
-- nothing else.
set nocount on
go
create function f() returns int as
begin
  declare @t table (a int, b int)
  insert @t values (1, 1), (2, 2), (3, 3)
  update c set b = c.b * 10 from @t c where c.a > 1
  update x set b = x.b + y.b from @t x join @t as y on y.a = x.a + 1
  delete d from @t as d where d.a = 3;
  with e as (select a, b from @t), g as (select * from e) update g set b += 1;
  return (select sum(b) from @t)
end
go
select dbo.f() as f
go
create function tf() returns @r table (a int, b int) as
begin
  insert @r values (1, 1), (2, 2)
  update q set b = 7 from @r as q where a = 2
  return
end
go
select a, b from dbo.tf()
go
create table real_one (a int)
go
create function g() returns int as begin declare @t table (a int); update r set a = 1 from real_one r join @t t on t.a = r.a; return 1 end
go
create function g() returns int as begin declare @t table (a int); with c as (select a from real_one) delete c; return 1 end
go
create function g() returns int as begin declare @t table (a int); update t set a = 1 from real_one t, @t u; return 1 end
go
