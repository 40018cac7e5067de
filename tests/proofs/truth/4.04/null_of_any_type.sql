-- The word NULL goes into a column of any type, also by way of INSERT ... EXECUTE; a NULL that has a
-- type goes where its type goes.
set nocount on
go
create table t (x xml, c text, w ntext, i image, b varbinary(8), v sql_variant, d date, g uniqueidentifier)
go
create procedure p as select null, null, null, null, null, null, null, null
go
insert t exec p
insert t exec ('select null, null, null, null, null, null, null, null union all select null, null, null, null, null, null, null, null')
insert t exec sp_executesql N'select null as a, null as b, null, null, null, null, null, null where 1 = @n', N'@n int', @n = 1
select count(*) as n, count(x) as x, count(b) as b, count(v) as v, count(d) as d from t
go
insert t (x) exec ('select cast(null as int)')
go
insert t (d) exec ('select convert(int, null)')
go
insert t (c) exec ('select nullif(1, 1)')
go
insert t (x) exec ('select ''<a/>'''); insert t (x, d) exec ('select ''<b/>'', null')
select cast(x as varchar(10)) as x, d from t where x is not null
go
