SET NOCOUNT ON
GO
-- a table has 1,024 columns, also where they come one after the other
declare @q nvarchar(max) = N'create table w (' + (select string_agg(cast(concat('c', value, ' int null') as nvarchar(max)), ', ') from generate_series(1, 1023)) + N')'; exec (@q)
GO
alter table w add c1024 int null; select count(*) from sys.columns where object_id = object_id('w')
GO
alter table w add c1025 int null
GO
alter table w add twice as c1 * 2
GO
alter table w drop column c5, c6
GO
alter table w add d1 int null, d2 int null, d3 int null
GO
select count(*) from sys.columns where object_id = object_id('w')
GO
alter table w add d1 int not null default 5, d2 as c1 + 1
GO
insert w (c1) values (7); select d1, d2, c1024 from w
GO
alter table w add d3 int null
GO
-- a variable, and a table made of a query
declare @q nvarchar(max) = N'declare @t table (' + (select string_agg(cast(concat('c', value, ' int') as nvarchar(max)), ', ') from generate_series(1, 1025)) + N')'; exec (@q)
GO
declare @q nvarchar(max) = N'select ' + (select string_agg(cast(concat('1 c', value) as nvarchar(max)), ', ') from generate_series(1, 1025)) + N' into made'; exec (@q)
GO
