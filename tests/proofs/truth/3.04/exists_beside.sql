SET NOCOUNT ON
GO
set nocount on; create table c (id int not null primary key, cust int null, s varchar(10) null); create table o (id int not null primary key, cust int null, s varchar(10) null, k int null)
GO
insert c select value, nullif(value % 50, 0), concat('s', value % 20) from generate_series(1, 3000); insert o select value, nullif(value % 900, 0) * 3, concat('S', value % 7), value % 5 from generate_series(1, 4000)
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o where o.cust = c.id)
GO
select count(*) from c where c.cust = 1 or not exists (select 1 from o where o.cust = c.id)
GO
select count(*) from c where not (c.cust = 1 and exists (select 1 from o where o.cust = c.id))
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o where o.cust = c.cust and o.s = c.s and o.k > 2)
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o where o.cust + 1 = c.id and o.id % 3 = 1)
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o where o.cust = c.id and o.k < c.cust)
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o join o p on p.id = o.k where o.cust = c.id)
GO
select sum(n) from (select case when exists (select 1 from o where o.cust = c.id) then 1 when exists (select 1 from o where o.id = c.id + 1000 and o.s = c.s) then 10 else 100 end n from c) d
GO
select count(*) from c where (c.cust = 1 or exists (select 1 from o where o.cust = c.id)) and exists (select 1 from o where o.id = c.id and o.k = 1)
GO
select count(*) from c where c.cust = 1 or exists (select top (1) 1 from o where o.cust = c.id order by o.k) or exists (select distinct o.s from o where o.cust = c.cust + 3)
GO
select count(*) from c where c.cust = 1 or exists (select count(*) from o where o.cust = c.id) 
GO
select count(*) from c where c.cust = 1 or exists (select o.s from o where o.cust = c.id group by o.s having count(*) > 1)
GO
select count(*) from c where c.cust is null and exists (select 1 from o where o.cust = c.cust) or c.id < 0
GO
update c set s = 'hit' where cust = 1 or exists (select 1 from o where o.cust = c.id); select count(*) from c where s = 'hit'
GO
delete c where cust = 2 or exists (select 1 from o where o.cust = c.id and o.k = 4); select count(*) from c
GO
set showplan_text on
GO
select count(*) from c where c.cust = 1 or exists (select 1 from o where o.cust = c.id)
GO
set showplan_text off
GO
