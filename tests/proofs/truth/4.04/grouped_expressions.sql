-- What a query groups by is, as a whole, what its subqueries may read: wherever they stand, however
-- deep, and within whatever they calculate.
set nocount on
go
create table u (a int not null, c varchar(5)); insert u values (1, 'x'), (2, 'y'), (3, 'z')
create table b (a int); insert b values (1), (2), (3)
go
select a + 1 as k, (select max(b.a) from b where b.a < u.a + 1) as m from u group by a + 1 order by 1
select a + 1 + 5 as k, (select count(*) from b where b.a + 5 < u.a + 1 + 5 - 1) as n from u group by a + 1 + 5 order by 1
select a + 1 as k, (select min(b.a) from b where b.a * 2 > (u.a + 1) * 2 - 3) as m from u group by a + 1 order by 1
go
select a + 1 as k from u group by a + 1 having exists (select * from b where b.a = u.a + 1) order by k
select a % 2 as k from u group by a % 2 order by (select min(b.a) from b where b.a > u.a % 2) desc
select case when exists (select * from b where b.a = u.a * 2) then 'there' else 'none' end as k, count(*) as n from u group by a * 2 order by 1
go
select case a when 1 then 'one' else 'more' end as k, (select count(*) from b where case u.a when 1 then 'one' else 'more' end = 'one') as n from u group by case a when 1 then 'one' else 'more' end order by k
select upper(c) as k, (select count(*) from b where exists (select * from b as d where d.a = b.a and upper(u.c) = 'X')) as n from u group by upper(c) order by k
select cast(a as bigint) as k, (select max(b.a) from b where b.a = cast(u.a as bigint)) as m from u group by cast(a as bigint) order by k
select a, a + 1 as k, (select max(b.a) from b where b.a < u.a + 1 and b.a >= u.a) as m from u group by a, a + 1 order by 1
select a + 1 as k, (select count(*) from b where b.a < u.a + 1) as n from u group by rollup(a + 1) order by 1
select substring(c, 1, 1) + '!' as k, (select max(b.a) from b where substring(u.c, 1, 1) + '!' < 'y') as m from u group by substring(c, 1, 1) + '!' order by 1
go
select a + 1 as k, (select max(b.a) from b where b.a < u.a + 2) from u group by a + 1
go
select a + 1 as k, (select max(b.a) from b where b.a < u.a) from u group by a + 1
go
select a + 1 as k from u group by a + 1 having exists (select * from b where b.a = 1 + u.a)
go
select a + 1 as k from u group by a + 1 order by (select min(b.a) from b where b.a > u.a - 1)
go
